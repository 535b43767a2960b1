import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CountedLane, covered, growth } from './counted';
import type { Span } from './history';

/** Spans in order and apart, as lengths and the gaps before them. */
const spansOf = (steps: readonly (readonly [gap: number, length: number])[]): Span[] => {
  let at = 0;
  return steps.map(([gap, length]) => {
    const from = at + gap;
    at = from + length;
    return { from, to: at };
  });
};

const lanes = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 50_000 }), fc.integer({ min: 1, max: 50_000 })), { maxLength: 8 })
  .map(spansOf);

describe('a count that rises with time', () => {
  it('tells to the microsecond where it rose', () => {
    fc.assert(
      fc.property(lanes, (spans) => {
        const count = (at: number) => covered(spans, at);
        const end = 1_000_000;
        expect(growth([0, 0], [end, count(end)], count)).toEqual(spans);
      }),
    );
  });

  it('is not asked where it stood still', () => {
    expect(growth([0, 5], [1_000_000, 5], () => expect.unreachable())).toEqual([]);
  });
});

describe('a counted lane', () => {
  const unasked = () => expect.unreachable();

  it('is what the events tell of while that adds up', () => {
    const told = [{ from: 10, to: 20 }];
    const lane = new CountedLane(told);
    lane.agree(50, 10, unasked);
    told.push({ from: 60, to: Number.POSITIVE_INFINITY });
    lane.agree(65, 15, unasked);
    expect(lane.spans).toBe(told);
  });

  it('is what was counted from the first disagreement on, in however many steps', () => {
    fc.assert(
      fc.property(lanes, fc.array(fc.integer({ min: 1, max: 1_000_000 })), (spans, stops) => {
        const count = (at: number) => covered(spans, at);
        const lane = new CountedLane([]);
        for (const at of [...stops.sort((a, b) => a - b), 1_000_000]) lane.agree(at, count(at), count);
        expect(lane.spans).toEqual(spans);
      }),
    );
  });
});
