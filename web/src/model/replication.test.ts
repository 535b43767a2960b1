import { describe, expect, it } from 'vitest';
import { extentOf, type LogView, readErrands, readLogs, stretchesOf, termAt } from './replication';

/** Node, base and its term, last, committed, applied, durable; runs; followers. */
function rows(
  ...logs: { head: number[]; runs?: [number, number][]; followers?: [number, number, number, number][] }[]
): Float64Array {
  return new Float64Array(
    logs.flatMap(({ head, runs = [], followers = [] }) => [
      ...head,
      runs.length,
      followers.length,
      ...runs.flat(),
      ...followers.flat(),
    ]),
  );
}

const log = (fields: Partial<LogView>): LogView => ({
  node: 0,
  base: 0,
  last: 0,
  committed: 0,
  applied: 0,
  durable: 0,
  runs: [],
  progress: null,
  ...fields,
});

describe('readLogs', () => {
  it('reads logs of any length one after the other', () => {
    const data = rows(
      {
        head: [0, 48, 1, 60, 58, 57, 59],
        runs: [
          [1, 2],
          [3, 10],
        ],
        followers: [[1, 48, 49, 3]],
      },
      { head: [1, 0, 0, 4, -1, -1, 4], runs: [[1, 4]] },
    );
    const [first, second] = readLogs(data, [3, 1]);
    expect(first).toMatchObject({
      base: 48,
      last: 60,
      committed: 58,
      applied: 57,
      durable: 59,
      progress: null,
    });
    expect(first.runs).toEqual([
      { term: 1, from: 49, to: 50 },
      { term: 3, from: 51, to: 60 },
    ]);
    expect(second).toMatchObject({ committed: null, applied: null });
    expect(second.progress).toEqual({ leader: 0, match: 48, next: 49, pace: 'snapshot' });
    expect(readLogs(new Float64Array(), [])).toEqual([]);
  });

  it('of two leaders believes the newer', () => {
    const data = rows(
      {
        head: [0, 0, 0, 5, 5, 5, 5],
        runs: [[1, 5]],
        followers: [
          [1, 5, 6, 2],
          [2, 1, 2, 0],
        ],
      },
      {
        head: [1, 0, 0, 6, 5, 5, 6],
        runs: [
          [1, 5],
          [2, 1],
        ],
        followers: [
          [0, 5, 6, 2],
          [2, 3, 4, 1],
        ],
      },
      { head: [2, 0, 0, 3, 3, 3, 3], runs: [[1, 3]] },
    );
    const logs = readLogs(data, [1, 2, 2]);
    expect(logs.map(({ progress }) => progress?.leader ?? null)).toEqual([1, null, 1]);
    expect(logs[2].progress).toEqual({ leader: 1, match: 3, next: 4, pace: 'probing' });
  });
});

describe('stretchesOf', () => {
  it('cuts where the term, the committed part and the durable part end', () => {
    const runs = [
      { term: 1, from: 11, to: 14 },
      { term: 2, from: 15, to: 18 },
    ];
    expect(stretchesOf(log({ base: 10, last: 18, committed: 12, durable: 16, runs }))).toEqual([
      { term: 1, from: 11, to: 12, committed: true, durable: true },
      { term: 1, from: 13, to: 14, committed: false, durable: true },
      { term: 2, from: 15, to: 16, committed: false, durable: true },
      { term: 2, from: 17, to: 18, committed: false, durable: false },
    ]);
  });

  it('knows nothing committed of a process that is down but its snapshot', () => {
    const down = log({ base: 2, last: 3, committed: null, durable: 3, runs: [{ term: 1, from: 3, to: 3 }] });
    expect(stretchesOf(down)).toEqual([{ term: 1, from: 3, to: 3, committed: false, durable: true }]);
  });

  it('covers every entry once', () => {
    const runs = [
      { term: 1, from: 1, to: 1 },
      { term: 4, from: 2, to: 5 },
    ];
    for (let committed = 0; committed <= 5; committed += 1) {
      for (let durable = 0; durable <= 5; durable += 1) {
        const all = stretchesOf(log({ last: 5, committed, durable, runs }));
        const each = all.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, i) => from + i));
        expect(each).toEqual([1, 2, 3, 4, 5]);
        for (const { to, ...stretch } of all)
          expect(stretch).toMatchObject({ committed: to <= committed, durable: to <= durable });
      }
    }
  });
});

describe('the logs together', () => {
  it('reach from the earliest entry kept to the latest, or the next to be sent', () => {
    const progress = { leader: 0, match: 40, next: 61, pace: 'stream' } as const;
    const logs = [log({ base: 48, last: 60 }), log({ base: 30, last: 40, progress })];
    expect(extentOf(logs)).toEqual({ first: 31, last: 61 });
  });

  it('tell the term of an entry, where there is one', () => {
    const one = log({ base: 4, last: 6, runs: [{ term: 2, from: 5, to: 6 }] });
    expect([4, 5, 6, 7].map((index) => termAt(one, index))).toEqual([null, 2, 2, null]);
  });
});

describe('readErrands', () => {
  it('adds up what the clients ask for', () => {
    const clients = new Float64Array([
      ...[8, 0, 100, 5, 1, 0, 0, 2],
      ...[9, -1, -1, 7, 0, 3, 1, 0],
      ...[10, 0, 90, 0, 0, 0, 0, 0],
    ]);
    expect(readErrands(clients)).toEqual([
      { errand: 'write', answered: 12, waiting: 2 },
      { errand: 'log-read', answered: 1, waiting: 0 },
      { errand: 'confirmed-read', answered: 3, waiting: 0 },
      { errand: 'leased-read', answered: 1, waiting: 0 },
      { errand: 'lease', answered: 2, waiting: 0 },
    ]);
  });
});
