import type { Key } from '../i18n/en';
import type { Translate } from '../i18n/translate';
import { type BrokerView, type ClusterView, type NodeView, quorum, type ServerView } from './cluster';
import type { Entry, Failover, WatchView } from './particulars';

/** What a node is, in a word or two, as its scheme says it. */
export function roleText({ role, own }: NodeView, t: Translate): string {
  return t(own?.scheme === 'kraft' && own.state === 'resigned' ? 'role.resigned' : `role.${role}`);
}

/** What a node is doing, with whatever it counts while it does. */
export function stateText(node: NodeView, cluster: ClusterView, t: Translate): string {
  if (node.status !== 'up') return t(`status.${node.status}`);
  if (node.own?.scheme === 'sentinel') return watchText(node.own.watches, cluster, t);
  const role = roleText(node, t);
  const counted = COUNTING[node.own?.scheme ?? 'raft'];
  if (!counted.has(node.role)) return role;
  const agreed = { role, granted: node.granted, needed: quorum(cluster.voters) };
  if (node.own?.scheme !== 'zab' || node.role !== 'looking') return t('node.votes', agreed);
  return t('node.proposes', { ...agreed, name: nameIn(cluster, node.own.vote.leader, t) });
}

/** In which roles a node waits for others to agree. A server of ZooKeeper's counts promises and acknowledgements, too. */
const COUNTING: Record<'raft' | 'zab' | 'kraft', ReadonlySet<string>> = {
  raft: new Set(['candidate', 'pre-candidate']),
  kraft: new Set(['candidate', 'pre-candidate']),
  zab: new Set(['looking', 'candidate', 'elected']),
};

/** What a sentinel is doing about the first master that it finds wanting, or the first at all. */
function watchText(watches: readonly WatchView[], cluster: ClusterView, t: Translate): string {
  const busy = watches.find(({ failover }) => failover) ?? watches.find(({ opinion }) => opinion !== 'up');
  if (!busy) return t('role.follower');
  return busy.failover ? failoverText(busy.failover, cluster, t) : opinionText(busy, cluster, t);
}

export function failoverText(
  { stage, promotes, votes, voters }: Failover,
  cluster: ClusterView,
  t: Translate,
) {
  return t(`failing.${stage}`, { name: nameIn(cluster, promotes, t), votes, needed: quorum(voters) });
}

/** What a sentinel holds of a master, and how many agree as long as they have to. */
export function opinionText(
  { master, opinion, agree, quorum }: WatchView,
  cluster: ClusterView,
  t: Translate,
) {
  const key: Key = opinion === 'sdown' ? 'opinion.agree' : 'opinion.of';
  return t(key, { master: nameIn(cluster, master, t), opinion: t(`opinion.${opinion}`), agree, quorum });
}

/** What a server with data of its own is among its like. */
export function partText(server: ServerView, cluster: ClusterView, t: Translate) {
  const { part, follows, linked, held, status, epoch, broker } = server;
  if (status !== 'up') return t(`status.${status}`);
  if (broker) return brokerText(server, broker, cluster, t);
  if (follows !== null) {
    return t(linked ? 'part.follows' : 'part.apart', { name: nameIn(cluster, follows, t) });
  }
  if (part === 'master' && held && epoch === null) return t('part.untold');
  return t(part === 'master' ? 'part.master' : 'part.replica');
}

/** What a broker makes of the partition: what it knows may be out of date. */
function brokerText(
  { part, follows, held, epoch }: ServerView,
  { place }: BrokerView,
  cluster: ClusterView,
  t: Translate,
) {
  if (part === 'leader') {
    return t(epoch === null ? 'part.overtaken' : held ? 'part.leader' : 'part.leader.shut');
  }
  if (part === 'broker') return t(place === 'none' ? 'part.none' : 'part.reads');
  return follows === null ? t('part.waits') : t('part.follows', { name: nameIn(cluster, follows, t) });
}

/** Whether a broker's copy of the partition is in sync, or good enough to lead from when none is. */
export function syncText({ place }: BrokerView, t: Translate): string {
  if (place === 'none') return t('value.none');
  return t(place === 'out' ? 'sync.out' : place === 'eligible' ? 'sync.elr' : 'sync.isr');
}

/** By how much a server has less than the one it copies from; null where it copies from nobody. */
export function lagOf({ follows, end }: ServerView, { servers }: ClusterView): number | null {
  const source = servers.find(({ id }) => id === follows);
  return source ? source.end - end : null;
}

/** The name of an entry. */
export function entryText({ epoch, index }: Entry): string {
  return `${epoch}.${index}`;
}

/** The name of a node or a server. */
export function nameIn({ nodes, servers }: ClusterView, id: number | null, t: Translate): string {
  return [...nodes, ...servers].find((it) => it.id === id)?.name ?? t('value.none');
}
