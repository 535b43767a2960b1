import fiveNodes from '../../../scenarios/five-nodes.json';
import type { Scenario } from '../model/scenario';

/** What the page opens with: it comes with the page itself, the rest of the gallery when it is asked for. */
export const FIRST = { id: 'five-nodes', scenario: fiveNodes as Scenario };

/** The gallery in the order of a first course, by what the scenarios are about. */
export const GROUPS = [
  { about: 'elections', ids: ['five-nodes', 'three-node-election', 'cold-start', 'split-vote'] },
  {
    about: 'failover',
    ids: ['leader-crash', 'graceful-resignation', 'majority-lost', 'jitter', 'slow-leader', 'slow-disk'],
  },
  {
    about: 'partitions',
    ids: [
      'minority-leader',
      'plain-raft-minority-leader',
      'prevote-returning-node',
      'plain-raft-returning-node',
      'one-way-link',
      'flapping-link',
      'star-partition',
    ],
  },
  { about: 'replication', ids: ['uncommitted-tail', 'constrained-election', 'stale-lease-read'] },
  { about: 'fencing', ids: ['paused-leader', 'delayed-write', 'read-before-fence'] },
  {
    about: 'stores',
    ids: [
      'etcd-leader-crash',
      'etcd-resign-before-stop',
      'sql-lease-1s',
      'sql-lease-9s',
      'sql-lease-60s',
      'etcd-leader-paused',
      'etcd-delayed-write',
      'etcd-read-before-fence',
      'etcd-partition-two-writers',
      'etcd-partition-one-writer',
      'etcd-job-taken-over',
      'etcd-job-run-twice',
    ],
  },
  {
    about: 'schemes',
    ids: [
      'etcd-single-herd',
      'milvus-standby',
      'zookeeper-session-lost',
      'zookeeper-own-leader-crash',
      'zookeeper-controller-paused',
      'kubernetes-counted-from-answer',
      'kubernetes-counted-from-send',
      'sql-clock-jump',
      'sql-session-half-open',
      'redis-failover',
      'redlock-clock-jump',
    ],
  },
  {
    about: 'peers',
    ids: [
      'zab-elected-not-established',
      'zab-longer-log-older-epoch',
      'zab-deserted-leader',
      'zab-observers-counted',
      'zab-epoch-before-history',
      'zab-lost-disk',
      'zab-stale-sync',
      'zab-sync-by-quorum',
      'sentinel-master-crash',
      'sentinel-lost-writes',
      'sentinel-min-replicas',
      'sentinel-double-promotion',
      'sentinel-one-promotion',
      'sentinel-minority-failover',
      'sentinel-empty-master',
      'sentinel-old-data-back',
      'sentinel-woke-late',
      'kraft-minority-leader',
      'kraft-unchecked-leader',
      'kraft-claim-too-early',
      'kraft-followers-refuse',
      'kafka-leader-crash',
      'kafka-acks-one',
      'kafka-unclean-election',
      'kafka-zombie-broker',
      'kafka-shutdown-in-isr',
      'kafka-lying-disks',
    ],
  },
  { about: 'work', ids: ['writers-without-leader', 'scheduler-takeover', 'scheduler-paused'] },
  {
    about: 'limits',
    ids: ['clock-rate-within-bound', 'clock-rate-beyond-bound', 'wiped-disk', 'lying-disk'],
  },
] as const;

export type GalleryId = (typeof GROUPS)[number]['ids'][number];

/** A scenario of the gallery, whole. Rejects when it cannot be fetched. */
export async function fromGallery(id: GalleryId): Promise<Scenario> {
  if (id === FIRST.id) return FIRST.scenario;
  const { GALLERY } = await import('./gallery');
  return GALLERY[id];
}

export function isInGallery(id: string): id is GalleryId {
  return GROUPS.some(({ ids }) => (ids as readonly string[]).includes(id));
}
