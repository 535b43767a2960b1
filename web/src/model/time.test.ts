import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  clockText,
  historyExtent,
  instantText,
  parseDuration,
  spanText,
  tickStep,
  writeDuration,
} from './time';

describe('text', () => {
  it('fits the size', () => {
    expect([0, 850, 12_500, 150_000, 3_400_000].map(spanText)).toEqual([
      '0 µs',
      '850 µs',
      '12.5 ms',
      '150 ms',
      '3.4 s',
    ]);
    expect(spanText(100_000)).toBe('100 ms');
    expect(spanText(20_000_000)).toBe('20 s');
    expect(instantText(1_234_567)).toBe('1.235 s');
    expect(clockText(1_234_567)).toEqual({ seconds: '1.234', micros: '567' });
  });
});

describe('durations', () => {
  it('come back as they were written', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10_000_000_000 }), (us) => {
        expect(parseDuration(writeDuration(us))).toBe(us);
      }),
    );
  });

  it('are refused without a unit or with a part of a microsecond', () => {
    for (const text of ['150', 'ms', '-1ms', '1.5us', '1 h', '']) expect(parseDuration(text)).toBeNull();
    expect(parseDuration('1.5ms')).toBe(1500);
  });
});

describe('axis', () => {
  it('has round steps that leave room for labels', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1000, max: 600_000_000 }),
        fc.integer({ min: 200, max: 2600 }),
        (span, room) => {
          const step = tickStep(span, room, 80);
          expect((step / span) * room).toBeGreaterThanOrEqual(79.99);
          expect(String(step)).toMatch(/^(1|2|5)0*$/);
        },
      ),
    );
  });

  it('grows in steps up to the end of the run', () => {
    expect(historyExtent(0, 60_000_000)).toBe(2_000_000);
    expect(historyExtent(1_900_000, 60_000_000)).toBe(5_000_000);
    expect(historyExtent(59_000_000, 60_000_000)).toBe(60_000_000);
    expect(historyExtent(0, 1_000_000)).toBe(1_000_000);
  });
});
