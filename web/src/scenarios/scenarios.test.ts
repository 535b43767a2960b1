import { beforeAll, describe, expect, it } from 'vitest';
import { buildFor } from '../engine/build';
import { Engine } from '../engine/engine';
import { EVENT, EVENT_KINDS, MESSAGES } from '../engine/layout';
import type { WorldModule } from '../engine/world';
import { enPeers } from '../i18n/en-peers';
import { language, loadLanguage } from '../i18n/languages';
import { type Translate, translator } from '../i18n/translate';
import { readCluster } from '../model/cluster';
import { leaves } from '../model/diff';
import { History } from '../model/history';
import { readEvent } from '../model/log';
import { readErrands, readLogs, termAt } from '../model/replication';
import { checkText, eventText, fieldText, isJudged, valueText } from '../model/text';
import { totalUntil } from '../testing/fixtures';
import { loadEngine } from '../testing/wasm';
import { fromGallery, type GalleryId, GROUPS, isInGallery } from '.';
import { GALLERY } from './gallery';

let module: WorldModule;
beforeAll(async () => {
  module = await loadEngine();
  await loadLanguage('zh');
});

const IDS: readonly GalleryId[] = GROUPS.flatMap(({ ids }) => ids);

async function open(id: GalleryId) {
  const scenario = await fromGallery(id);
  const engine = await Engine.open(async () => module, JSON.stringify(scenario));
  const actors = engine.actors();
  const history = new History(actors.filter(({ kind }) => kind === 'node').length);
  const at = (time: number) => {
    engine.seek(time);
    const frame = engine.frame();
    const cluster = readCluster(frame, actors);
    history.readSpans(frame);
    history.read(engine.events(), engine.epoch);
    return cluster;
  };
  const verdict = (check: string) => engine.verdicts().find((known) => known.check === check)?.verdict;
  return { scenario, engine, history, at, verdict };
}

describe('the engine and the page', () => {
  it('number the events alike', () => {
    expect(module.eventKinds()).toEqual([...EVENT_KINDS]);
  });
});

describe('every scenario of the gallery', () => {
  it('is in the list, once', () => {
    expect([...IDS].sort()).toEqual(Object.keys(GALLERY).sort());
    expect(isInGallery('no-such-scenario')).toBe(false);
  });

  it('is accepted, has title and lesson in both languages, and breaks no check but as it says', async () => {
    for (const id of IDS) {
      const { scenario, engine, at } = await open(id);
      at(engine.duration);
      for (const lang of ['en', 'zh'] as const)
        expect(language(lang).titles[id], id).toBe(scenario.title?.[lang]);
      for (const text of [scenario.title, scenario.lesson]) {
        expect(text?.en, id).toMatch(/[a-z]/);
        expect(text?.zh, id).toMatch(/[\u4e00-\u9fff]/);
      }
      const expected = scenario.expect as Record<string, string>;
      for (const { check, verdict } of engine.verdicts()) {
        if (!isJudged(check)) continue;
        if (check in expected) expect(verdict, `${id}: ${check}`).toBe(expected[check]);
        else expect(verdict, `${id}: ${check}`).not.toBe('broken');
      }
    }
  });

  it('is told of in the words that come with its scheme', async () => {
    const said = new Set<string>();
    const speak: Translate = (key, params) => {
      said.add(key);
      return translator('en')(key, params);
    };
    for (const id of IDS) {
      const { scenario, engine, at } = await open(id);
      if (buildFor(JSON.stringify(scenario)) === 'peers') continue;
      at(engine.duration);
      const actors = engine.actors();
      const events = engine.events();
      for (let i = 0; i < events.length / EVENT.stride; i++) eventText(readEvent(events, i), actors, speak);
      for (const { kind, id } of actors) {
        if (kind !== 'node') continue;
        for (const leaf of leaves(engine.inspect(id))) {
          fieldText(leaf.path, speak);
          valueText(leaf, speak);
        }
      }
      for (const { check } of engine.verdicts()) checkText(check, speak);
    }
    expect(said.size).toBeGreaterThan(100);
    expect([...said].filter((key) => key in enPeers)).toEqual([]);
  });

  it('has lanes that add up to what the engine itself counts', async () => {
    for (const id of IDS) {
      const { engine, history, at } = await open(id);
      const { now, summary } = at(engine.duration);
      expect(totalUntil(history.overlaps, now), id).toBe(summary.overlapUs);
      expect(totalUntil(history.leaderless, now), id).toBe(summary.leaderlessUs);
      expect(history.tenures, id).toHaveLength(summary.established);
    }
  });
});

describe('the scenario', () => {
  it('five nodes: has a leader within the first moments', async () => {
    const { at } = await open('five-nodes');
    expect(at(300_000).summary.leader).not.toBeNull();
  });

  it('leader crash: another leads, and the one that comes back follows', async () => {
    const { at } = await open('leader-crash');
    const first = at(990_000).summary.leader;
    const second = at(2_400_000).summary.leader;
    expect(second).not.toBeNull();
    expect(second).not.toBe(first);
    const { nodes } = at(4_000_000);
    expect(nodes[first!]).toMatchObject({ status: 'up', role: 'follower', follows: second });
  });

  it('minority leader: the leader is in the minority and loses it; nobody ever leads beside it', async () => {
    const { at, verdict } = await open('minority-leader');
    const first = at(990_000).summary.leader!;
    const split = at(2_400_000);
    expect(split.cut[first].filter(Boolean)).toHaveLength(3);
    expect(split.cut[first][split.summary.leader!]).toBe(true);
    expect(split.summary.overlapUs).toBe(0);
    expect(verdict('believed-leaders')).toBe('holds');
  });

  it('paused leader: its late write gets into the unfenced resource and not into the fenced one', async () => {
    const { at, verdict } = await open('paused-leader');
    const { summary } = at(4_000_000);
    expect(summary.staleUnfenced).toBeGreaterThan(0);
    expect(summary.staleFenced).toBe(0);
    expect(summary.refused).toBeGreaterThan(0);
    expect(verdict('stale-write-fenced')).toBe('holds');
  });

  it('writers without a leader: what was acknowledged is lost, and the fence admits nobody', async () => {
    const { at, verdict } = await open('writers-without-leader');
    const [fenced, unfenced] = at(19_000_000).resources;
    expect(fenced.accepted).toBe(0);
    expect(unfenced.accepted).toBeGreaterThan(unfenced.value);
    expect(verdict('jobs-lost')).toBeUndefined();
  });

  it('scheduler takeover: the job of the dead leader is taken over, none is lost and none done twice', async () => {
    const { engine, at, verdict } = await open('scheduler-takeover');
    at(4_000_000);
    const events = engine.events();
    const kinds = Array.from({ length: events.length / EVENT.stride }, (_, i) => readEvent(events, i));
    const over = kinds.filter(({ kind, b }) => kind === 'job-claimed' && b >= 0);
    expect(over.map(({ a }) => a)).toEqual([4, 4]);
    const said = eventText(over[0], engine.actors(), translator('en'));
    expect(said).toMatch(/gives job 4 to n2, token 2: token 1 had begun it$/);
    for (const check of ['jobs-lost', 'jobs-run-twice-fenced', 'jobs-run-twice-unfenced', 'jobs-concurrent'])
      expect(verdict(check), check).toBe('holds');
  });

  it('scheduler paused: it runs a job a second time where no guard is', async () => {
    const { at, verdict } = await open('scheduler-paused');
    at(5_000_000);
    expect(verdict('jobs-run-twice-unfenced')).toBe('broken-by-design');
    expect(verdict('jobs-run-twice-fenced')).toBe('holds');
    expect(verdict('jobs-concurrent')).toBe('holds');
  });

  it('uncommitted tail: what no majority had gives way to the entries of the next term', async () => {
    const { engine, at } = await open('uncommitted-tail');
    const logs = (time: number) => {
      const { nodes } = at(time);
      return readLogs(
        engine.logs(),
        nodes.map(({ term }) => term),
      );
    };
    const [before] = logs(1_560_000);
    expect(before.last - before.committed!).toBeGreaterThan(4);
    expect(termAt(before, before.last)).toBe(1);
    const after = logs(3_500_000);
    for (const log of after) expect(log.committed).toBeGreaterThan(before.last);
    expect(after[0].runs.map(({ term }) => term)).toEqual([2]);
    expect(after[0].progress).toMatchObject({ leader: 4, pace: 'stream' });
    // Beyond what was committed the leader's and a follower's log may differ by what is under way alone.
    for (const { last } of after) expect(Math.abs(last - after[2].last)).toBeLessThan(8);
  });

  it('constrained election: the node with the short log fetches what it lacks, and wins', async () => {
    const { engine, at } = await open('constrained-election');
    at(2_000_000);
    const [, short, , , other] = readLogs(engine.logs(), []);
    expect(other.last - short.last).toBeGreaterThan(10);
    expect(at(2_400_000).summary).toMatchObject({ leader: 1, leaderTerm: 2 });
    const [, winner] = readLogs(engine.logs(), []);
    expect(winner.committed).toBeGreaterThanOrEqual(other.committed!);
    const kinds = (kind: string) => {
      const events = engine.events();
      return Array.from({ length: events.length / EVENT.stride }, (_, i) => readEvent(events, i)).filter(
        (event) => event.kind === 'send' && MESSAGES[event.a] === kind,
      );
    };
    expect(kinds('Fetch').map(({ actor, other }) => [actor, other])).toEqual([[1, 4]]);
    expect(kinds('Suffix').map(({ actor, other }) => [actor, other])).toEqual([[4, 1]]);
  });

  it('stale lease read: reads by lease are answered on both sides, and two believe that they lead', async () => {
    const { engine, at, verdict } = await open('stale-lease-read');
    const leased = (time: number) => {
      at(time);
      return readErrands(engine.clients()).find(({ errand }) => errand === 'leased-read')!.answered;
    };
    expect(leased(3_400_000)).toBeGreaterThan(leased(2_200_000));
    expect(at(3_277_300).summary.believedLeaders).toBe(2);
    expect(verdict('log-matching')).toBe('holds');
    expect(verdict('leader-completeness')).toBe('holds');
  });

  it('leases of 1 s, 9 s and 60 s: the network deposes by the shortest alone, the crash costs most with the longest', async () => {
    const led = async (id: GalleryId) => {
      const { at } = await open(id);
      const slow = at(25_000_000).summary;
      const before = slow.leaderlessUs;
      return { tenures: slow.established, waited: at(90_000_000).summary.leaderlessUs - before };
    };
    const [short, usual, long] = [
      await led('sql-lease-1s'),
      await led('sql-lease-9s'),
      await led('sql-lease-60s'),
    ];
    expect([short.tenures, usual.tenures, long.tenures]).toEqual([8, 1, 1]);
    expect(short.waited).toBeLessThan(2_000_000);
    expect(usual.waited).toBeLessThan(9_000_000);
    expect(long.waited).toBeGreaterThan(50_000_000);
  });

  it('late answer: two lead where it counts from its arrival, and never where it counts from its request', async () => {
    const overlap = async (id: GalleryId) => (await open(id)).at(50_000_000).summary.overlapUs;
    expect(await overlap('kubernetes-counted-from-answer')).toBeGreaterThan(3_000_000);
    expect(await overlap('kubernetes-counted-from-send')).toBe(0);
  });
});
