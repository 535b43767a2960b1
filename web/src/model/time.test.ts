import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadEngine } from '../testing/wasm';
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

  it('are read exactly in every unit', () => {
    const read = [
      '7us',
      '1.5ms',
      '0.000001s',
      '1min',
      '0.5min',
      '90min',
      '0ms',
      '0.10ms',
      '33.333333s',
      '2h',
    ];
    expect(read.map(parseDuration)).toEqual([
      7, 1500, 1, 60_000_000, 30_000_000, 5_400_000_000, 0, 100, 33_333_333, 7_200_000_000,
    ]);
  });

  it('are refused where they are none', () => {
    const none = ['150', 'ms', '-1ms', '1.5us', '1 h', '', '1m', '1µs', '1s ', ' 1s', '1.s', '.5s', '1e3ms'];
    for (const text of [...none, '0.0001ms', '1.2.3s', '99999999999999999999us'])
      expect(parseDuration(text), text).toBeNull();
  });

  it('are those of the engine', async () => {
    const { World } = await loadEngine();
    const written = (think: string) => {
      try {
        const world = new World(
          JSON.stringify({ tenure: 1, scheme: 'raft', client: { think, every: '1h' } }),
        );
        return JSON.parse(world.scenario()).client.think;
      } catch {
        return null;
      }
    };
    const texts = [
      '0us',
      '1us',
      '999us',
      '1.5ms',
      '1500ms',
      '60s',
      '1min',
      '0.5min',
      '90s',
      '0.0001min',
      '1h',
      '1.5h',
    ];
    for (const text of [...texts, '1m', '1µs', '1s ', '1.s', '0.0001ms', '5', '1d']) {
      const us = parseDuration(text);
      expect(us === null ? null : writeDuration(us), text).toBe(written(text));
    }
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
