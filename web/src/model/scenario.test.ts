import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readFaults, readSetting, type Setting, titleOf, withSetting } from './scenario';

const settings: fc.Arbitrary<Setting> = fc.record({
  nodes: fc.constantFrom(3, 5, 7),
  electionMin: fc.integer({ min: 1, max: 5000 }),
  electionMax: fc.integer({ min: 1, max: 5000 }),
  heartbeat: fc.integer({ min: 1, max: 5000 }),
  safeMode: fc.boolean(),
  latencyMin: fc.integer({ min: 0, max: 5000 }),
  latencyMax: fc.integer({ min: 0, max: 5000 }),
  loss: fc.integer({ min: 0, max: 100 }),
  disk: fc.integer({ min: 0, max: 5000 }),
  clientEvery: fc.integer({ min: 1, max: 5000 }),
  clientThink: fc.integer({ min: 0, max: 5000 }),
  writeDelay: fc.integer({ min: 0, max: 5000 }),
  takeover: fc.constantFrom('fence-first', 'read-first'),
});

describe('the setting panel', () => {
  it('reads back what it wrote', () => {
    fc.assert(
      fc.property(settings, (setting) => {
        expect(readSetting(withSetting({ tenure: 1, scheme: 'raft' }, setting))).toEqual(setting);
      }),
    );
  });

  it('keeps what it does not know', () => {
    const scenario = {
      tenure: 1,
      raft: { rateBound: '1%' },
      network: { duplicate: '2%' },
      faults: [{ at: '1s', crash: 'leader' }],
    };
    const changed = withSetting(scenario, { ...readSetting(scenario), nodes: 3 });
    expect(changed).toMatchObject({
      nodes: 3,
      raft: { rateBound: '1%' },
      network: { duplicate: '2%' },
      faults: [{ at: '1s', crash: 'leader' }],
    });
  });

  it('falls back to the defaults of the format', () => {
    expect(readSetting({})).toMatchObject({ nodes: 5, electionMin: 150, electionMax: 300, safeMode: true });
    expect(readSetting({ network: { latency: '8ms' } })).toMatchObject({ latencyMin: 8, latencyMax: 8 });
  });
});

describe('faults of a scenario', () => {
  it('are listed in order of time, whatever they are', () => {
    const faults = readFaults({
      faults: [
        { at: '8s', partition: [['n1', 'n2'], ['n3']] },
        { at: '500ms', crash: 'leader' },
        { at: '9s', cut: ['n1', 'n2'] },
        { at: '9500ms', network: { latency: ['5ms', '9ms'], loss: '1%' } },
      ],
    });
    expect(faults).toEqual([
      { at: 500_000, what: 'crash', whom: ['leader'] },
      { at: 8_000_000, what: 'partition', whom: ['n1', 'n2', '|', 'n3'] },
      { at: 9_000_000, what: 'cut', whom: ['n1', '→', 'n2'] },
      { at: 9_500_000, what: 'network', whom: ['latency 5ms–9ms', 'loss 1%'] },
    ]);
    expect(readFaults({})).toEqual([]);
  });
});

describe('titles', () => {
  it('come in the language asked for, or in another', () => {
    expect(titleOf({ title: { en: 'One', zh: '一' } }, 'zh')).toBe('一');
    expect(titleOf({ title: { en: 'One' } }, 'zh')).toBe('One');
    expect(titleOf({}, 'en')).toBe('');
  });
});
