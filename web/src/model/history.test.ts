import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type EventRow, eventRows } from '../testing/fixtures';
import { History, type Span, visible } from './history';

const OPEN = Number.POSITIVE_INFINITY;

function read(rows: EventRow[], nodes = 3): History {
  const history = new History(nodes);
  history.read(eventRows(rows), 0);
  return history;
}

const span = ({ from, to }: Span) => [from, to];

describe('leadership bars', () => {
  it('are outlined from the election and solid from establishment to deposition', () => {
    const { lanes, tenures } = read([
      { at: 10, kind: 'elected', actor: 1, term: 2 },
      { at: 15, kind: 'established', actor: 1, term: 2 },
      { at: 90, kind: 'deposed', actor: 1, term: 2 },
    ]);
    expect(lanes[1].leads.map(({ from, to, style }) => [from, to, style])).toEqual([
      [10, 15, 'elected'],
      [15, 90, 'acting'],
    ]);
    expect(tenures.map(span)).toEqual([[15, 90]]);
  });

  it('are hatched while the leader is frozen, and end where it wakes deposed', () => {
    const { lanes } = read([
      { at: 10, kind: 'established', actor: 0, term: 1 },
      { at: 20, kind: 'pause', actor: 0 },
      { at: 60, kind: 'resume', actor: 0 },
      { at: 60, kind: 'deposed', actor: 0, term: 1 },
    ]);
    expect(lanes[0].leads.map(({ from, to, style }) => [from, to, style])).toEqual([
      [10, 20, 'acting'],
      [20, 60, 'zombie'],
    ]);
    expect(lanes[0].status).toEqual([{ from: 20, to: 60, status: 'paused' }]);
  });

  it('are of the servers where those lead: hatched while clients are told of another', () => {
    const history = new History(5, true);
    const rows: EventRow[] = [
      { at: 0, kind: 'serves', actor: 3, term: 0, a: 1, b: 1 },
      { at: 10, kind: 'crash', actor: 3 },
      { at: 11, kind: 'serves', actor: 3, term: 0 },
      { at: 20, kind: 'elected', actor: 1, term: 2 },
      { at: 30, kind: 'serves', actor: 4, term: 0, a: 1 },
      { at: 40, kind: 'established', actor: 1, term: 2 },
      { at: 40, kind: 'following', actor: 1, other: 4, term: 1 },
      { at: 40, kind: 'serves', actor: 4, term: 2, a: 1, b: 1 },
      { at: 50, kind: 'deposed', actor: 1, term: 2 },
    ];
    history.read(eventRows(rows), 0);
    const bars = (lane: number) => history.lanes[lane].leads.map(({ from, to, style }) => [from, to, style]);
    expect(bars(3)).toEqual([[0, 10, 'acting']]);
    expect(bars(4)).toEqual([
      [30, 40, 'zombie'],
      [40, OPEN, 'acting'],
    ]);
    // Who was elected to replace a master leads that, and nothing else.
    expect(bars(1)).toEqual([[20, 50, 'elected']]);
    expect(history.lanes[1].terms.map(({ term }) => term)).toEqual([2]);
    expect(history.tenures.map(({ node, from, to }) => [node, from, to])).toEqual([
      [3, 0, 10],
      [4, 40, OPEN],
    ]);
  });

  it('go on solid when the leader wakes within its lease', () => {
    const { lanes } = read([
      { at: 10, kind: 'established', actor: 0, term: 1 },
      { at: 20, kind: 'pause', actor: 0 },
      { at: 30, kind: 'resume', actor: 0 },
    ]);
    expect(lanes[0].leads.map(({ style }) => style)).toEqual(['acting', 'zombie', 'acting']);
  });

  it('end with a crash even when no deposition is told', () => {
    const { lanes } = read([
      { at: 10, kind: 'established', actor: 0, term: 1 },
      { at: 20, kind: 'crash', actor: 0 },
      { at: 50, kind: 'boot', actor: 0, a: 2 },
    ]);
    expect(lanes[0].leads.map(span)).toEqual([[10, 20]]);
    expect(lanes[0].status).toEqual([{ from: 20, to: 50, status: 'crashed' }]);
  });
});

describe('the lanes of the whole cluster', () => {
  it('are what the engine kept, open ones without an end', () => {
    const history = new History(3);
    history.readSpans({
      overlaps: Float64Array.of(30, 45),
      leaderless: Float64Array.of(0, 10, 60, -1),
    });
    expect(history.overlaps.map(span)).toEqual([[30, 45]]);
    expect(history.leaderless.map(span)).toEqual([
      [0, 10],
      [60, OPEN],
    ]);
  });
});

describe('term lines', () => {
  it('change colour where a node learns of a term', () => {
    const { lanes } = read([
      { at: 5, kind: 'role', actor: 0, term: 1, a: 2 },
      { at: 9, kind: 'following', actor: 0, other: 1, term: 1 },
      { at: 20, kind: 'persist', actor: 0, term: 3, a: 2, b: 2 },
      { at: 22, kind: 'following', actor: 0, other: -1, term: -1 },
      { at: 25, kind: 'following', actor: 0, other: 2, term: 3 },
    ]);
    expect(lanes[0].terms).toEqual([
      { from: 5, to: 20, term: 1 },
      { from: 20, to: OPEN, term: 3 },
    ]);
    expect(lanes[0].ticks).toHaveLength(1);
  });
});

describe('marks', () => {
  it('find what is worth a jump before and after an instant', () => {
    const history = read([
      { at: 0, kind: 'boot', actor: 0, a: 1 },
      { at: 10, kind: 'established', actor: 0, term: 1 },
      { at: 15, kind: 'send', actor: 0, other: 1 },
      { at: 20, kind: 'crash', actor: 0 },
      { at: 20, kind: 'deposed', actor: 0, term: 1 },
    ]);
    expect(history.around(0)).toMatchObject({ previous: null, next: { at: 10 } });
    expect(history.around(20)).toMatchObject({ previous: { at: 10 }, next: null });
    expect(history.latest(12)).toMatchObject({ at: 10 });
    expect(history.latest(5)).toBeNull();
  });

  it('keep the writes of each resource', () => {
    const { writes } = read([
      { at: 1, kind: 'write-accepted', actor: 4, other: 0, term: 2 },
      { at: 2, kind: 'write-refused', actor: 4, other: 1, term: 1 },
      { at: 3, kind: 'write-accepted', actor: 5, other: 1, term: 1, a: 1 },
    ]);
    expect(writes.get(4)).toHaveLength(2);
    expect(writes.get(5)?.[0].a).toBe(1);
  });
});

/** Plausible event streams: any node may be elected, established, deposed, paused, woken, crashed or restarted. */
const streams = fc
  .array(
    fc.record({
      gap: fc.integer({ min: 0, max: 50 }),
      kind: fc.constantFrom(
        'elected' as const,
        'established' as const,
        'deposed' as const,
        'pause' as const,
        'resume' as const,
        'crash' as const,
        'boot' as const,
        'following' as const,
      ),
      actor: fc.integer({ min: 0, max: 2 }),
      term: fc.integer({ min: 1, max: 9 }),
    }),
    { maxLength: 60 },
  )
  .map((steps) => {
    let at = 0;
    return steps.map(({ gap, ...rest }) => {
      at += gap;
      return { at, ...rest };
    });
  });

describe('brokers of one partition', () => {
  const news = (at: number, actor: number, a: number, term: number) =>
    ({ at, kind: 'news', actor, a, term }) as const;
  const told = [news(10, 1, 45, 1), news(11, 2, 46, 1)];

  it('have lanes beside the nodes, in which whoever was replaced is left behind', () => {
    const history = new History(3, false, 1);
    history.read(eventRows([...told, news(40, 2, 45, 2), news(60, 1, 46, 2)]), 0);
    expect(history.lanes[1].leads).toMatchObject([
      { from: 10, to: 40, term: 1, style: 'acting' },
      { from: 40, to: 60, term: 1, style: 'zombie' },
    ]);
    expect(history.lanes[2].leads).toMatchObject([{ from: 40, to: OPEN, term: 2, style: 'acting' }]);
    expect(history.lanes[2].terms).toMatchObject([{ term: 1 }, { term: 2 }]);
    // Nobody of them leads the nodes.
    expect(history.tenures).toEqual([]);
  });

  it('show who wakes up after it was replaced as what it is', () => {
    const history = new History(3, false, 1);
    const rows = [{ at: 20, kind: 'pause', actor: 1 } as const, news(40, 2, 45, 2)];
    history.read(eventRows([...told, ...rows, { at: 50, kind: 'resume', actor: 1 }]), 0);
    expect(history.lanes[1].leads.at(-1)).toMatchObject({ from: 20, to: OPEN, style: 'zombie' });
  });

  it('are left out where what they tell may be of several', () => {
    const history = new History(3);
    history.read(eventRows([...told]), 0);
    expect(history.lanes[1].leads).toEqual([]);
  });
});

describe('reading on', () => {
  it('gives what reading at once gives', () => {
    fc.assert(
      fc.property(streams, fc.nat(60), (rows, cut) => {
        const events = eventRows(rows);
        const once = new History(3);
        once.read(events, 0);
        const steps = new History(3);
        steps.read(events.subarray(0, Math.min(cut, rows.length) * 8), 0);
        steps.read(events, 0);
        expect(steps.lanes).toEqual(once.lanes);
        expect(steps.tenures).toEqual(once.tenures);
      }),
    );
  });

  it('starts again when the past changed', () => {
    const history = new History(3);
    history.read(eventRows([{ at: 10, kind: 'established', actor: 0, term: 1 }]), 0);
    const before = history.version;
    history.read(eventRows([{ at: 12, kind: 'established', actor: 1, term: 1 }]), 1);
    expect(history.tenures).toMatchObject([{ node: 1, from: 12 }]);
    expect(history.version).toBeGreaterThan(before);
  });

  it('keeps the spans of a lane in order and apart, so that they can be searched', () => {
    fc.assert(
      fc.property(streams, (rows) => {
        const history = read(rows);
        const lists = [...history.lanes.flatMap((lane): Span[][] => [lane.terms, lane.leads, lane.status])];
        for (const list of lists) {
          list.forEach((item, i) => {
            expect(item.to).toBeGreaterThanOrEqual(item.from);
            if (i > 0) expect(item.from).toBeGreaterThanOrEqual(list[i - 1].to);
          });
        }
      }),
    );
  });
});

describe('searching', () => {
  const spans = [
    { from: 0, to: 10 },
    { from: 20, to: 30 },
    { from: 40, to: OPEN },
  ];

  it('finds what a window touches', () => {
    expect(visible(spans, 12, 18)).toEqual([1, 1]);
    expect(visible(spans, 5, 25)).toEqual([0, 2]);
    expect(visible(spans, 100, 200)).toEqual([2, 3]);
  });
});
