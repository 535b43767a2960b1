import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadEngine } from '../testing/wasm';
import { isPeerScheme, PEER_FIELDS, PEERS, type PeerField, type PeerValue } from './peers';
import {
  presetOf,
  readFaults,
  readPeer,
  readSetting,
  SCHEMES,
  type Scenario,
  type Setting,
  titleOf,
  ttlOf,
  USUAL,
  withPeer,
  withPreset,
  withRule,
  withScheme,
  withSetting,
} from './scenario';

/** The scenario as the engine writes it, whole. */
async function asRun(fields: object): Promise<Scenario> {
  const { World } = await loadEngine();
  return JSON.parse(new World(JSON.stringify({ tenure: 1, scheme: 'raft', ...fields })).scenario());
}

const settings: fc.Arbitrary<Setting> = fc.record({
  scheme: fc.constant('raft' as const),
  servers: fc.constant(1),
  ttl: fc.constant(Number.NaN),
  renew: fc.constant(Number.NaN),
  retry: fc.constant(Number.NaN),
  renewDeadline: fc.constant(Number.NaN),
  margin: fc.constant(Number.NaN),
  rateBound: fc.constant(Number.NaN),
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
    const changed = withSetting(scenario, { nodes: 3 });
    expect(changed).toMatchObject({
      nodes: 3,
      raft: { rateBound: '1%' },
      network: { duplicate: '2%' },
      faults: [{ at: '1s', crash: 'leader' }],
    });
  });

  it('falls back to the defaults of the engine, every one of them', async () => {
    const whole = await asRun({});
    expect(whole).toMatchObject(USUAL);
    expect(readSetting({})).toEqual(readSetting(whole));
    expect(readSetting({})).toMatchObject({ nodes: 5, electionMin: 150, electionMax: 300, safeMode: true });
  });

  it('reads what the engine writes, in every unit', async () => {
    const whole = await asRun({
      raft: { electionTimeout: ['1s', '0.5min'], heartbeat: '1500us' },
      client: { every: '1min', think: '90s' },
    });
    expect(readSetting(whole)).toMatchObject({
      electionMin: 1000,
      electionMax: 30_000,
      heartbeat: 1.5,
      clientEvery: 60_000,
      clientThink: 90_000,
    });
    expect(withSetting(whole, { nodes: 3 })).toEqual({ ...whole, nodes: 3 });
  });

  it('changes a lease, and with its ttl what goes by it', async () => {
    const whole = await asRun({ scheme: 'etcd', lease: { ttl: '9s' } });
    expect(ttlOf(whole)).toBe(9_000_000);
    expect(readSetting(whole)).toMatchObject({ scheme: 'etcd', ttl: 9000, renew: 3000, rateBound: 1 });
    const renewed = withSetting(whole, { renew: 2000, rateBound: 5 });
    expect(readSetting(renewed)).toMatchObject({ ttl: 9000, renew: 2000, retry: 1000, rateBound: 5 });
    const longer = await asRun(withSetting(renewed, { ttl: 30_000 }));
    expect(readSetting(longer)).toMatchObject({ ttl: 30_000, renew: 10_000, rateBound: 5 });
    expect(withSetting(whole, { nodes: 3 })).toEqual({ ...whole, nodes: 3 });
  });

  it('goes by the parameters of a system, and by its own once one is changed by hand', async () => {
    const whole = await asRun({ scheme: 'kubernetes', nodes: 3, lease: { rateBound: '2%' } });
    const openshift = await asRun(withPreset(whole, 'openshift'));
    expect(presetOf(openshift)).toBe('openshift');
    expect(readSetting(openshift)).toMatchObject({ ttl: 137_000, renewDeadline: 107_000, rateBound: 2 });
    expect(openshift.leaderWithin).toBe('274s');
    expect(presetOf(await asRun(withSetting(openshift, { nodes: 5, rateBound: 1 })))).toBe('openshift');
    const own = await asRun(withSetting(openshift, { renew: 20_000 }));
    expect(presetOf(own)).toBeNull();
    expect(readSetting(own)).toMatchObject({ ttl: 137_000, renew: 20_000, renewDeadline: 107_000 });
    expect(readSetting(await asRun(withPreset(own, null)))).toMatchObject({ ttl: 9000, renewDeadline: 6000 });
  });

  it('keeps the servers and the bounds of a lease whose times change', async () => {
    const whole = await asRun({ scheme: 'redlock', lease: { servers: 3, latency: '20ms' } });
    for (const changed of [withSetting(whole, { ttl: 12_000 }), withPreset(whole, 'redsync')]) {
      expect(await asRun(changed)).toMatchObject({ lease: { servers: 3, latency: '20ms' } });
    }
  });

  it('bounds the wait for a leader by the lease there is', async () => {
    const whole = await asRun({ scheme: 'etcd' });
    expect((await asRun(withSetting(whole, { ttl: 25_000 }))).leaderWithin).toBe('50s');
    expect((await asRun(withSetting({ ...whole, leaderWithin: '7s' }, { nodes: 3 }))).leaderWithin).toBe(
      '7s',
    );
  });

  it('switches rules off, and on again', () => {
    const two = withRule(withRule({ tenure: 1 }, 'nonce', false), 'demote-by-timer', false);
    expect(two.rulesOff).toEqual(['nonce', 'demote-by-timer']);
    expect(withRule(two, 'nonce', false).rulesOff).toEqual(['demote-by-timer', 'nonce']);
    expect(withRule(two, 'nonce', true)).toEqual({ tenure: 1, rulesOff: ['demote-by-timer'] });
  });

  it('is told what follows from a lease, and of Raft nothing', async () => {
    const { World } = await loadEngine();
    const budget = (fields: object) => new World(JSON.stringify({ tenure: 1, ...fields })).budget();
    const [short, long] = ['9s', '30s'].map((ttl) => budget({ scheme: 'etcd', lease: { ttl } })!);
    expect(short.belief).toBeLessThan(9_000_000);
    expect(short.takeover).toBeGreaterThan(9_000_000);
    expect(long.outage).toBeGreaterThan(short.outage);
    expect(budget({ scheme: 'raft' })).toBeUndefined();
  });

  it('goes over to every scheme that the engine knows, and back', async () => {
    for (const scheme of SCHEMES) {
      const there = await asRun(withScheme(await asRun({ nodes: 3, seed: '7' }), scheme));
      expect(readSetting(there)).toMatchObject({ scheme, nodes: 3 });
      expect(readSetting(await asRun(withScheme(there, 'raft')))).toMatchObject({ scheme: 'raft', nodes: 3 });
      expect(ttlOf(there) > 0).toBe(scheme !== 'raft' && !isPeerScheme(scheme));
    }
  });

  it('goes over from each scheme of peers to each other, whatever connections those take', async () => {
    for (const from of PEERS) {
      for (const to of PEERS) {
        const there = await asRun(withScheme(await asRun({ scheme: from, nodes: 3 }), to));
        expect(readSetting(there)).toMatchObject({ scheme: to, nodes: 3 });
      }
    }
  });

  it('reads and changes every field of a scheme of peers, as the engine has them', async () => {
    for (const scheme of PEERS) {
      const whole = await asRun({ scheme, nodes: 5, ...(scheme === 'kraft' && { brokers: {} }) });
      const values = readPeer(whole);
      expect(Object.keys(values)).toEqual(PEER_FIELDS[scheme].map(({ name }) => name));
      for (const field of PEER_FIELDS[scheme]) {
        const before = values[field.name];
        if (field.optional) expect(before, field.name).toBeNaN();
        else if (field.unit === 'flag') expect(typeof before, field.name).toBe('boolean');
        else if (field.options) expect(field.options, field.name).toContain(before);
        else expect(before, field.name).toBeGreaterThanOrEqual(0);
        const other = another(field, before);
        const changed = await asRun(withPeer(whole, field.name, other));
        expect(readPeer(changed), field.name).toMatchObject({ [field.name]: other });
      }
    }
    expect(readPeer(await asRun({}))).toEqual({});
  });

  it('has brokers, and what can be set of them, where there are to be some', async () => {
    const none = await asRun({ scheme: 'kraft', nodes: 3 });
    expect(readPeer(none)).toMatchObject({ count: 0 });
    expect(readPeer(none)).not.toHaveProperty('acks');
    const some = await asRun(withPeer(none, 'count', 4));
    expect(readPeer(some)).toMatchObject({ count: 4, replicationFactor: 3, acks: 'all' });
    expect(await asRun(withPeer(some, 'count', 0))).toEqual(none);
  });

  it('leaves out again what may be left out, and bounds the wait for a leader anew', async () => {
    const whole = await asRun({ scheme: 'sentinel' });
    const two = await asRun(withPeer(whole, 'quorum', 2));
    expect(two.sentinel).toMatchObject({ quorum: 2 });
    expect((await asRun(withPeer(two, 'quorum', Number.NaN))).sentinel).toEqual(whole.sentinel);
    const patient = await asRun(withPeer(whole, 'failoverTimeout', 300_000));
    expect(patient.leaderWithin).not.toBe(whole.leaderWithin);
  });

  it('begins with sentinels that are worth watching', async () => {
    const there = await asRun(withScheme(await asRun({}), 'sentinel'));
    expect(readPeer(there)).toMatchObject({ downAfter: 3000, failoverTimeout: 10_000 });
  });

  it('never writes over what it cannot read', () => {
    const scenario = { client: { every: 'often' }, network: { loss: 'some' } };
    const setting = readSetting(scenario);
    expect(setting).toMatchObject({ clientEvery: Number.NaN, loss: Number.NaN });
    expect(withSetting(scenario, { nodes: 3 })).toMatchObject({ nodes: 3, ...scenario });
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
        { at: '9600ms', flap: { between: ['n1', 'leader'], down: '100ms', up: '200ms' } },
        { at: '9700ms', disconnect: ['n1', 'n2'] },
        { at: '9800ms', slow: { node: 'n1', by: '20ms' } },
      ],
    });
    expect(faults).toEqual([
      { at: 500_000, what: 'crash', whom: ['leader'], how: [] },
      { at: 8_000_000, what: 'partition', whom: ['n1', 'n2', '|', 'n3'], how: [] },
      { at: 9_000_000, what: 'cut', whom: ['n1', '→', 'n2'], how: [] },
      {
        at: 9_500_000,
        what: 'network',
        whom: [],
        how: [
          ['latency', '5ms–9ms'],
          ['loss', '1%'],
        ],
      },
      {
        at: 9_600_000,
        what: 'flap',
        whom: ['n1', '–', 'leader'],
        how: [
          ['down', '100ms'],
          ['up', '200ms'],
        ],
      },
      { at: 9_700_000, what: 'disconnect', whom: ['n1', '–', 'n2'], how: [] },
      { at: 9_800_000, what: 'slow', whom: ['n1'], how: [['by', '20ms']] },
    ]);
    expect(readFaults({})).toEqual([]);
  });

  it('leave out what the engine writes and is as usual', async () => {
    const how = async (fault: object) => {
      const whole = await asRun({ faults: [{ at: '1s', ...fault }] });
      return readFaults(whole)[0].how;
    };
    expect(await how({ network: {} })).toEqual([['latency', '5ms–10ms']]);
    expect(await how({ network: { order: 'fifo' } })).toContainEqual(['order', 'fifo']);
    expect(await how({ network: { replay: '1%' } })).toContainEqual(['replayAfter', '100ms–2s']);
    expect(await how({ disk: { node: 'n1', write: '7ms' } })).toEqual([['write', '7ms']]);
  });

  it('list who takes part, and nobody where nobody learns', async () => {
    const change = async (members: object) => {
      const whole = await asRun({ raft: { log: true }, faults: [{ at: '1s', change: members }] });
      return readFaults(whole)[0].how;
    };
    expect(await change({ voters: ['n1', 'n2', 'n3'], learners: [] })).toEqual([['voters', 'n1, n2, n3']]);
    expect(await change({ voters: ['n1'], learners: ['n2', 'n3'] })).toEqual([
      ['voters', 'n1'],
      ['learners', 'n2, n3'],
    ]);
  });

  it('stand where the engine puts them, in every unit', async () => {
    const faults = ['1min', '0.25min', '2s', '3ms', '4us'].map((at) => ({ at, crash: 'n1' }));
    const whole = await asRun({ duration: '2min', faults });
    expect(readFaults(whole).map(({ at }) => at)).toEqual([4, 3000, 2_000_000, 15_000_000, 60_000_000]);
    expect(() => readFaults({ faults: [{ at: 'soon', crash: 'n1' }] })).toThrow(RangeError);
  });
});

describe('titles', () => {
  it('come in the language asked for, or in another', () => {
    expect(titleOf({ title: { en: 'One', zh: '一' } }, 'zh')).toBe('一');
    expect(titleOf({ title: { en: 'One' } }, 'zh')).toBe('One');
    expect(titleOf({}, 'en')).toBe('');
  });
});

/** A value of a field that can be in its place. */
function another({ name, unit, options }: PeerField, before: PeerValue): PeerValue {
  if (unit === 'flag') return !before;
  if (options) return options.find((option) => option !== before)!;
  if (unit === 'span') return Number(before) + 1000;
  // No fewer brokers than there are to be replicas.
  return name === 'count' ? 5 : before === 2 ? 1 : 2;
}
