import { FAILOVERS, KRAFT, OPINIONS, PHASES, QUORUM_STATES, SENTINEL, ZAB } from '../engine/layout';
import type { Scheme } from './scenario';

/** The name of an entry: the epoch of who proposed it, and its place in the log. */
export interface Entry {
  epoch: number;
  index: number;
}

/** A node of ZooKeeper's own election. */
export interface ZabView {
  scheme: 'zab';
  phase: (typeof PHASES)[number];
  round: number;
  /** Whom it proposes, or was decided for; the end of that one's log and its epoch, as they were proposed. */
  vote: { leader: number; zxid: Entry | null; epoch: number };
  accepted: number;
  current: number;
  zxid: Entry;
}

/** What a sentinel holds of one master. */
export interface WatchView {
  master: number;
  configEpoch: number;
  opinion: (typeof OPINIONS)[number];
  /** How many sentinels hold it to be down, as far as this one was told and itself included, of how many that it takes. */
  agree: number;
  quorum: number;
  vote: { sentinel: number; epoch: number } | null;
  failover: Failover | null;
}

export interface Failover {
  stage: Exclude<(typeof FAILOVERS)[number], 'none'>;
  epoch: number;
  promotes: number | null;
  votes: number;
  voters: number;
}

export interface SentinelView {
  scheme: 'sentinel';
  /** The masters it watches; clients use the first. */
  watches: WatchView[];
  /** It only watches, for its clock made a leap. */
  tilt: boolean;
}

/** A node of Kafka's controllers. */
export interface KraftView {
  scheme: 'kraft';
  state: (typeof QUORUM_STATES)[number];
  voter: boolean;
  highWatermark: number;
  logEnd: number;
  /** It leads, and may act as the controller. */
  active: boolean;
  /** It has fetched from the leader that it follows. */
  fetched: boolean;
}

export type Particulars = ZabView | SentinelView | KraftView;

/** What is particular to each node, by its number; nothing of those that are down, and of other schemes. */
export function readParticulars(data: Float64Array, scheme: Scheme): Map<number, Particulars> {
  switch (scheme) {
    case 'zab':
      return new Map(rows(data, ZAB.stride).map((row) => [row[ZAB.node], zab(row)]));
    case 'kraft':
      return new Map(rows(data, KRAFT.stride).map((row) => [row[KRAFT.node], kraft(row)]));
    case 'sentinel':
      return sentinels(data);
    default:
      return new Map();
  }
}

function zab(row: Float64Array): ZabView {
  const proposed = { epoch: row[ZAB.proposedZxidEpoch], index: row[ZAB.proposedZxidIndex] };
  return {
    scheme: 'zab',
    phase: PHASES[row[ZAB.phase]],
    round: row[ZAB.round],
    vote: {
      leader: row[ZAB.proposes],
      zxid: proposed.index < 0 ? null : proposed,
      epoch: row[ZAB.proposedEpoch],
    },
    accepted: row[ZAB.acceptedEpoch],
    current: row[ZAB.currentEpoch],
    zxid: { epoch: row[ZAB.zxidEpoch], index: row[ZAB.zxidIndex] },
  };
}

function kraft(row: Float64Array): KraftView {
  return {
    scheme: 'kraft',
    state: QUORUM_STATES[row[KRAFT.state]],
    voter: row[KRAFT.voter] === 1,
    highWatermark: row[KRAFT.highWatermark],
    logEnd: row[KRAFT.logEnd],
    active: row[KRAFT.active] === 1,
    fetched: row[KRAFT.fetched] === 1,
  };
}

function sentinels(data: Float64Array): Map<number, SentinelView> {
  const all = new Map<number, SentinelView>();
  for (const row of rows(data, SENTINEL.stride)) {
    const node = row[SENTINEL.node];
    const one = all.get(node) ?? { scheme: 'sentinel', watches: [], tilt: row[SENTINEL.tilt] === 1 };
    one.watches.push(watch(row));
    all.set(node, one);
  }
  return all;
}

function watch(row: Float64Array): WatchView {
  const stage = FAILOVERS[row[SENTINEL.failover]];
  const voted = row[SENTINEL.votedFor];
  return {
    master: row[SENTINEL.master],
    configEpoch: row[SENTINEL.configEpoch],
    opinion: OPINIONS[row[SENTINEL.opinion]],
    agree: row[SENTINEL.agree],
    quorum: row[SENTINEL.quorum],
    vote: voted < 0 ? null : { sentinel: voted, epoch: row[SENTINEL.voteEpoch] },
    failover:
      stage === 'none'
        ? null
        : {
            stage,
            epoch: row[SENTINEL.failoverEpoch],
            promotes: row[SENTINEL.promotes] < 0 ? null : row[SENTINEL.promotes],
            votes: row[SENTINEL.votes],
            voters: row[SENTINEL.voters],
          },
  };
}

function rows(data: Float64Array, stride: number): Float64Array[] {
  return Array.from({ length: Math.floor(data.length / stride) }, (_, i) =>
    data.subarray(i * stride, (i + 1) * stride),
  );
}
