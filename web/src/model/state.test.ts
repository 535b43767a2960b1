import { describe, expect, it } from 'vitest';
import { Engine } from '../engine/engine';
import { EVENT, KIND } from '../engine/layout';
import { dialect } from '../i18n/dialect';
import { translator } from '../i18n/translate';
import { loadEngine } from '../testing/wasm';
import { type ClusterView, readCluster } from './cluster';
import { observersOf, type PeerScheme } from './peers';
import type { Scenario } from './scenario';
import { entryText, lagOf, opinionText, partText, roleText, stateText, syncText } from './state';

const t = (scheme: PeerScheme) => dialect(translator('en'), scheme, 'en');

/** A run, and what is seen of it at an instant. */
async function watch(scenario: Scenario & { scheme: PeerScheme }) {
  const engine = await Engine.open(loadEngine, JSON.stringify({ tenure: 1, duration: '60s', ...scenario }));
  const actors = engine.actors();
  const reading = { scheme: scenario.scheme, observers: observersOf(scenario), groups: 1 };
  const at = (us: number): ClusterView => {
    engine.seek(us);
    return readCluster(engine.frame(), actors, reading);
  };
  /** What is seen at each event up to an instant. */
  const upTo = (us: number): ClusterView[] => {
    engine.seek(us);
    const events = engine.events();
    const times = new Set<number>();
    for (let i = 0; i < events.length; i += EVENT.stride) {
      if (events[i + EVENT.kind] !== KIND.send) times.add(events[i + EVENT.time]);
    }
    return [...times].map(at);
  };
  return { at, upTo };
}

describe('ZooKeeper’s own election', () => {
  it('shows rounds and votes, and tells who is elected from who is established', async () => {
    const { at, upTo } = await watch({ scheme: 'zab', nodes: 4, zab: { observers: 1 } });
    const said = upTo(600_000).flatMap((cluster) =>
      cluster.nodes.map((node) => stateText(node, cluster, t('zab'))),
    );
    for (const known of ['looking: n3 3/2', 'discovering 1/2', 'synchronising 1/2', 'observing'])
      expect(said).toContain(known);
    const { nodes, voters } = at(2_000_000);
    expect(voters).toBe(3);
    expect(nodes.map((node) => roleText(node, t('zab')))).toEqual([
      'following',
      'following',
      'leading',
      'observing',
    ]);
    for (const { own, logTerm, logIndex } of nodes) {
      if (own?.scheme !== 'zab') throw new Error('a server of ZooKeeper');
      expect(own).toMatchObject({ phase: 'broadcast', accepted: 1, current: 1 });
      expect(own.vote).toMatchObject({ leader: 2, epoch: 1 });
      expect(entryText(own.zxid)).toBe(`${logTerm}.${logIndex}`);
    }
  });

  it('shows a second round and the next epoch after a crash, and nothing of who is down', async () => {
    const faults = [{ at: '2s', crash: 'leader' }];
    const { at } = await watch({ scheme: 'zab', nodes: 3, faults });
    const { nodes } = at(4_000_000);
    expect(nodes[2]).toMatchObject({ status: 'crashed', own: null });
    expect(nodes[0].own).toMatchObject({ round: 2, accepted: 2, current: 2 });
  });
});

describe('Redis Sentinel', () => {
  const crash: Scenario & { scheme: PeerScheme } = {
    scheme: 'sentinel',
    nodes: 3,
    sentinel: { downAfter: '3s', failoverTimeout: '10s' },
    faults: [
      { at: '5s', crash: 'leader' },
      { at: '20s', restart: 's1' },
    ],
  };

  it('shows opinions, votes and the failover of whoever is elected', async () => {
    const { upTo } = await watch(crash);
    const seen = upTo(12_000_000);
    const said = new Set(
      seen.flatMap((cluster) => cluster.nodes.map((node) => stateText(node, cluster, t('sentinel')))),
    );
    for (const known of [
      'watching',
      's1 SDOWN 1/2',
      's1 ODOWN',
      'asks for votes 2/2',
      'redirects the replicas',
    ])
      expect([...said]).toContain(known);
    expect([...said].some((words) => /^waits for s[23] to lead$/.test(words))).toBe(true);
    const votes = seen.flatMap(({ nodes }) =>
      nodes.flatMap(({ own }) => (own?.scheme === 'sentinel' ? [own.watches[0].vote] : [])),
    );
    expect(votes).toContainEqual({ sentinel: expect.any(Number), epoch: 1 });
  });

  it('shows who is the master by the highest configuration, whom others copy from, and by how much they lag', async () => {
    const { at } = await watch(crash);
    const before = at(4_000_000);
    expect(before.resources).toEqual([]);
    expect(before.summary.leader).toBe(before.servers[0].id);
    expect(before.servers.map((server) => partText(server, before, t('sentinel')))).toEqual([
      'master',
      'follows s1',
      'follows s1',
    ]);
    expect(before.servers.map((server) => lagOf(server, before) ?? -1)).toEqual([-1, 0, 0]);
    const after = at(15_000_000);
    const master = after.servers.find(({ epoch }) => epoch === 1)!;
    expect(after.summary).toMatchObject({ leader: master.id, leaderTerm: 1 });
    expect(partText(after.servers[0], after, t('sentinel'))).toBe('crashed');
    const own = after.nodes[0].own;
    if (own?.scheme !== 'sentinel') throw new Error('a sentinel');
    expect(opinionText(own.watches[0], after, t('sentinel'))).toBe(`${master.name} up`);
    // The old master is back, and nobody has told it yet.
    const back = at(21_000_000);
    expect(partText(back.servers[0], back, t('sentinel'))).toBe('master, not named');
  });
});

describe('Kafka’s controllers', () => {
  it('shows the states of the quorum, and who may act as the controller', async () => {
    const faults = [
      { at: '4s', crash: 'leader' },
      { at: '5s', restart: 'crashed' },
    ];
    const { at, upTo } = await watch({ scheme: 'kraft', nodes: 4, kraft: { observers: 1 }, faults });
    const said = new Set(
      upTo(5_400_000).flatMap((cluster) => cluster.nodes.map((node) => stateText(node, cluster, t('kraft')))),
    );
    for (const known of [
      'unattached',
      'prospective 1/2',
      'candidate 2/2',
      'leader, not active',
      'active controller',
      'resigned',
      'observer',
    ])
      expect([...said]).toContain(known);
    const { nodes } = at(3_500_000);
    const active = nodes.filter(({ own }) => own?.scheme === 'kraft' && own.active);
    expect(active.map(({ leading }) => leading)).toEqual([true]);
    for (const { own } of nodes) {
      if (own?.scheme !== 'kraft') throw new Error('a controller');
      expect(own.highWatermark).toBeGreaterThan(0);
      expect(own.logEnd).toBeGreaterThanOrEqual(own.highWatermark);
    }
    expect(nodes.map(({ own }) => own?.scheme === 'kraft' && own.voter)).toEqual([true, true, true, false]);
  });
});

describe('Kafka’s brokers', () => {
  const two = { scheme: 'kraft', nodes: 3, seed: '1', brokers: {}, client: { every: '100ms' } } as const;
  const parts = (cluster: ClusterView) =>
    cluster.servers.map((server) => partText(server, cluster, t('kraft')));

  it('shows who leads the partition, who follows and who is in sync', async () => {
    const { at } = await watch(two);
    expect(at(0).partition).toEqual({ leader: null, epoch: null, isr: [], elr: [], highWatermark: null });
    expect(parts(at(0))).toEqual(['no replica', 'no replica', 'no replica']);
    const cluster = at(8_000_000);
    const { partition, servers } = cluster;
    const leader = servers.find(({ part }) => part === 'leader')!;
    expect(partition).toMatchObject({ leader: leader.id, epoch: 1, isr: [3, 4, 5], elr: [] });
    expect(partition!.highWatermark).toBe(leader.broker!.highWatermark);
    expect(parts(cluster)).toEqual(
      servers.map(({ id }) => (id === leader.id ? 'leader' : `follows ${leader.name}`)),
    );
    expect(servers.map(({ broker }) => [broker!.registered, syncText(broker!, t('kraft'))])).toEqual(
      servers.map(() => ['unfenced', 'ISR']),
    );
    // Its clients write to it, and at no guarded resource.
    expect(cluster.resources).toEqual([]);
    expect(cluster.summary.acknowledged).toBeGreaterThan(10);
  });

  it('shows the next leader, the smaller ISR, and what the old leader still believes', async () => {
    const first = (await watch(two)).at(8_000_000).servers.find(({ part }) => part === 'leader')!.name;
    const others = ['n1', 'n2', 'n3', 'b1', 'b2', 'b3'].filter((name) => name !== first);
    const { at } = await watch({ ...two, faults: [{ at: '10s', partition: [[first], others] }] });
    const cluster = at(24_000_000);
    const { partition, servers } = cluster;
    const old = servers.find(({ name }) => name === first)!;
    expect(partition!.leader).not.toBe(old.id);
    expect(partition).toMatchObject({
      epoch: 2,
      isr: servers.map(({ id }) => id).filter((id) => id !== old.id),
    });
    expect(old.broker!.registered).toBe('fenced');
    expect(partText(old, cluster, t('kraft'))).toBe('leader, replaced');
    expect(syncText(old.broker!, t('kraft'))).toBe('out of sync');
  });

  it('shows who is eligible when nobody else is left, and a leader that takes nothing', async () => {
    const faults = [
      { at: '10s', crash: 'b1' },
      { at: '12s', crash: 'b3' },
    ];
    const cluster = (await watch({ ...two, faults })).at(30_000_000);
    expect(cluster.partition).toMatchObject({ leader: 4, isr: [4] });
    expect(cluster.partition!.elr).toHaveLength(1);
    expect(parts(cluster)).toEqual(['crashed', 'leader, takes nothing', 'crashed']);
  });
});
