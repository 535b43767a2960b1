import type { Explained } from './explained';

/** The systems whose parameters can be taken, and where those come from, in English. By their names in files. */
export const PRESETS: Explained = {
  'client-go': {
    name: 'client-go',
    text: 'Kubernetes’ own components and controller-runtime: LeaseDuration 15 s, RenewDeadline 10 s, RetryPeriod 2 s.',
  },
  openshift: {
    name: 'OpenShift operators',
    text: 'library-go: 137, 107 and 26 s, to live through a minute without an API server.',
  },
  'leader-elector': {
    name: 'leader-elector',
    text: 'The sidecar of kubernetes/contrib: a lease of 10 s, a deadline of 5 and a period of 2.5.',
  },
  flink: {
    name: 'Flink',
    text: 'high-availability.kubernetes.leader-election: lease-duration 15 s, renew-deadline 15 s, retry-period 5 s.',
  },
  'etcd-session': {
    name: 'concurrency.NewSession',
    text: 'etcd’s client: a lease of 60 s, kept alive every third of it, a broken stream opened anew after 0.5 s.',
  },
  'etcdctl-lock': {
    name: 'etcdctl lock',
    text: 'A lease of 10 s (--ttl); two seconds to dial and one to answer.',
  },
  patroni: {
    name: 'Patroni',
    text: 'ttl 30 s, loop_wait 10 s; stops 5 s before the end, as its watchdog does.',
  },
  milvus: {
    name: 'Milvus coordinators',
    text: 'common.session.ttl 30 s.',
  },
  curator: {
    name: 'Curator',
    text: 'LeaderLatch over a client with its defaults: a session of 60 s, 15 s for a connection.',
  },
  solr: {
    name: 'Solr',
    text: 'The overseer: zkClientTimeout 30 s, zkConnectTimeout 15 s.',
  },
  shedlock: {
    name: 'ShedLock',
    text: 'KeepAliveLockProvider with the least it takes: lockAtMostFor 30 s, extended every half of it.',
  },
  quartz: {
    name: 'Quartz',
    text: 'clusterCheckinInterval 7.5 s; dead after twice as long.',
  },
  redisson: {
    name: 'Redisson',
    text: 'lockWatchdogTimeout 30 s, extended every third of it.',
  },
  redsync: {
    name: 'redsync',
    text: 'WithExpiry 8 s, 250 ms between tries, 0.4 s for each server.',
  },
  'node-redlock': {
    name: 'node-redlock',
    text: 'using() with the 5 s of its manual, extended 500 ms before the end.',
  },
};
