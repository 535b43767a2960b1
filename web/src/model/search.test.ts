import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventRows } from '../testing/fixtures';
import { eventsBefore, eventsUntil, firstAfter, firstFrom, firstWhere, timeBefore } from './search';

const times = fc.array(fc.nat(50), { maxLength: 30 }).map((list) => list.sort((a, b) => a - b));

describe('searching in order of time', () => {
  it('finds what looking at each would find', () => {
    fc.assert(
      fc.property(times, fc.integer({ min: -1, max: 51 }), (list, now) => {
        const marks = list.map((at) => ({ at }));
        const events = eventRows(list.map((at) => ({ at, kind: 'send' as const })));
        const after = list.filter((at) => at <= now).length;
        const from = list.filter((at) => at < now).length;
        expect(firstAfter(marks, now)).toBe(after);
        expect(firstFrom(marks, now)).toBe(from);
        expect(eventsUntil(events, now)).toBe(after);
        expect(eventsBefore(events, now)).toBe(from);
        expect(timeBefore(events, now)).toBe(list.filter((at) => at < now).at(-1) ?? 0);
      }),
    );
  });

  it('says the length when nothing holds', () => {
    expect(firstWhere(5, () => false)).toBe(5);
    expect(firstWhere(0, () => true)).toBe(0);
  });
});
