import { CLIENT, ERRANDS, type Errand, FOLLOWER, LOG, PACES, type Pace, RUN } from '../engine/layout';

/** Entries of one term that follow each other, both ends included. */
export interface Run {
  term: number;
  from: number;
  to: number;
}

/** What a leader knows of a follower's log. */
export interface Progress {
  leader: number;
  match: number;
  next: number;
  pace: Pace;
}

/** The log of one node. */
export interface LogView {
  node: number;
  /** The last entry that is in the snapshot; 0 when there is none. */
  base: number;
  last: number;
  /** Up to where the node knows it committed, applied it, and has it on disk; null where it says nothing: it is down. */
  committed: number | null;
  applied: number | null;
  durable: number;
  runs: Run[];
  /** As whoever leads with the highest term knows it; null when nobody does, and of that leader itself. */
  progress: Progress | null;
}

/** Entries of a log that are drawn alike. */
export interface Stretch extends Run {
  committed: boolean;
  durable: boolean;
}

/** All clients of the store together: what they ask for, how much was answered and how many wait. */
export interface ErrandView {
  errand: Errand;
  answered: number;
  waiting: number;
}

/** Reads the logs of all nodes. `terms` are those of the nodes: of two leaders, the newer knows better. */
export function readLogs(data: Float64Array, terms: readonly number[]): LogView[] {
  const logs: LogView[] = [];
  const known: (Progress & { of: number })[] = [];
  for (let at = 0; at + LOG.stride <= data.length; ) {
    const node = data[at + LOG.node];
    const base = data[at + LOG.base];
    const log: LogView = {
      node,
      base,
      last: data[at + LOG.last],
      committed: orNull(data[at + LOG.committed]),
      applied: orNull(data[at + LOG.applied]),
      durable: data[at + LOG.durable],
      runs: [],
      progress: null,
    };
    const runs = data[at + LOG.runs];
    const followers = data[at + LOG.followers];
    at += LOG.stride;
    let before = base;
    for (let i = 0; i < runs; i += 1, at += RUN.stride) {
      const to = before + data[at + RUN.count];
      log.runs.push({ term: data[at + RUN.term], from: before + 1, to });
      before = to;
    }
    for (let i = 0; i < followers; i += 1, at += FOLLOWER.stride) {
      known.push({
        of: data[at + FOLLOWER.node],
        leader: node,
        match: data[at + FOLLOWER.match],
        next: data[at + FOLLOWER.next],
        pace: PACES[data[at + FOLLOWER.pace]] ?? 'probe',
      });
    }
    logs.push(log);
  }
  const newest = known.reduce((best, { leader }) => Math.max(best, terms[leader] ?? 0), 0);
  for (const { of, ...progress } of known) {
    const log = logs.find(({ node }) => node === of);
    if (log && terms[progress.leader] === newest) log.progress = progress;
  }
  return logs;
}

/** Reads the clients of the store, together. */
export function readErrands(data: Float64Array): ErrandView[] {
  const errands = ERRANDS.map((errand): ErrandView => ({ errand, answered: 0, waiting: 0 }));
  for (let at = 0; at + CLIENT.stride <= data.length; at += CLIENT.stride) {
    errands.forEach((errand, code) => {
      errand.answered += data[at + CLIENT.answered + code];
      if (data[at + CLIENT.errand] === code) errand.waiting += 1;
    });
  }
  return errands;
}

/** The first and the last index that any log has, between which all of them are aligned. */
export function extentOf(logs: readonly LogView[]): { first: number; last: number } {
  return {
    first: Math.min(...logs.map(({ base }) => base)) + 1,
    last: Math.max(...logs.map(({ last, progress }) => Math.max(last, progress?.next ?? 0))),
  };
}

/** A log cut where its term changes, where what is committed ends, and where what is on disk ends. */
export function stretchesOf({ runs, base, committed, durable }: LogView): Stretch[] {
  // What a process that is down had committed nobody knows but by its snapshot.
  const upTo = committed ?? base;
  const ends = [upTo, durable];
  return runs.flatMap(({ term, from, to }) => {
    const cuts = [from - 1, ...ends.filter((end) => end >= from && end < to).sort((a, b) => a - b), to];
    return cuts.slice(1).flatMap((end, i) => {
      const begin = cuts[i] + 1;
      if (begin > end) return [];
      return [{ term, from: begin, to: end, committed: end <= upTo, durable: end <= durable }];
    });
  });
}

/** The term of an entry; null where the log has none. */
export function termAt({ runs }: LogView, index: number): number | null {
  return runs.find(({ from, to }) => index >= from && index <= to)?.term ?? null;
}

function orNull(index: number): number | null {
  return index < 0 ? null : index;
}
