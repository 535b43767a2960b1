import type { Explained } from './explained';

/** The systems whose parameters can be taken, and where those come from, in Chinese. */
export const PRESETS_ZH: Explained = {
  'client-go': {
    name: 'client-go',
    text: 'Kubernetes 自带组件与 controller-runtime：LeaseDuration 15 秒，RenewDeadline 10 秒，RetryPeriod 2 秒。',
  },
  openshift: {
    name: 'OpenShift 的 operator',
    text: 'library-go：137、107 和 26 秒，为的是 API 服务器中断一分钟也能撑过去。',
  },
  'leader-elector': {
    name: 'leader-elector',
    text: 'kubernetes/contrib 的边车容器：租约 10 秒，续约期限 5 秒，间隔 2.5 秒。',
  },
  flink: {
    name: 'Flink',
    text: 'high-availability.kubernetes.leader-election：lease-duration 15 秒，renew-deadline 15 秒，retry-period 5 秒。',
  },
  'etcd-session': {
    name: 'concurrency.NewSession',
    text: 'etcd 客户端：租约 60 秒，每过三分之一续约一次，连接断开 0.5 秒后重连。',
  },
  'etcdctl-lock': {
    name: 'etcdctl lock',
    text: '租约 10 秒（--ttl），连接两秒，答复一秒。',
  },
  patroni: {
    name: 'Patroni',
    text: 'ttl 30 秒，loop_wait 10 秒；与它的看门狗一样，到期前 5 秒停止。',
  },
  milvus: {
    name: 'Milvus 协调器',
    text: 'common.session.ttl 30 秒。',
  },
  curator: {
    name: 'Curator',
    text: 'LeaderLatch 加默认客户端：会话 60 秒，连接 15 秒。',
  },
  solr: {
    name: 'Solr',
    text: 'Overseer：zkClientTimeout 30 秒，zkConnectTimeout 15 秒。',
  },
  shedlock: {
    name: 'ShedLock',
    text: 'KeepAliveLockProvider 允许的最小值：lockAtMostFor 30 秒，过半就续。',
  },
  quartz: {
    name: 'Quartz',
    text: 'clusterCheckinInterval 7.5 秒，超过两倍时间未签到即视为已死。',
  },
  redisson: {
    name: 'Redisson',
    text: 'lockWatchdogTimeout 30 秒，每过三分之一续期一次。',
  },
  redsync: {
    name: 'redsync',
    text: 'WithExpiry 8 秒，两次尝试间隔 250 毫秒，每台服务器 0.4 秒。',
  },
  'node-redlock': {
    name: 'node-redlock',
    text: '按手册用 using()，5 秒，到期前 500 毫秒续期。',
  },
};
