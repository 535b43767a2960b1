import type { Key } from '../i18n/en';
import type { Translate } from '../i18n/translate';
import { type ClusterView, type NodeView, quorum, type ServerView } from './cluster';
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
export function partText(
  { part, follows, linked, held, status, epoch }: ServerView,
  cluster: ClusterView,
  t: Translate,
) {
  if (status !== 'up') return t(`status.${status}`);
  if (follows !== null) {
    return t(linked ? 'part.follows' : 'part.apart', { name: nameIn(cluster, follows, t) });
  }
  if (part === 'master' && held && epoch === null) return t('part.untold');
  return t(part === 'master' ? 'part.master' : 'part.replica');
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
