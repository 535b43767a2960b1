import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Bench, COMMANDS, command } from '../actions';
import { isolate, minorityWith } from '../actions/cluster';
import { commandFor, keyOf, keyText } from '../actions/command';
import { Engine } from '../engine/engine';
import type { WorldModule } from '../engine/world';
import { en } from '../i18n/en';
import { decodeLink } from '../model/link';
import { BUILT_IN } from '../scenarios';
import { loadEngine } from '../testing/wasm';
import { Lab } from './lab.svelte';
import { Notices } from './notices.svelte';
import { Preferences } from './preferences.svelte';
import { linkTo, openFile, openShared } from './share';
import { Ui } from './ui.svelte';

let module: WorldModule;
beforeAll(async () => {
  module = await loadEngine();
});

let lab: Lab;
let bench: Bench;
beforeEach(async () => {
  const [first] = BUILT_IN;
  const engine = await Engine.open(async () => module, JSON.stringify(first.scenario));
  lab = new Lab(engine, new Notices(), first.scenario, first.id, () => 0);
  bench = { lab, prefs: new Preferences(null, ['en']), ui: new Ui(), page: {} as Window };
});

const press = (key: string) => commandFor(key, COMMANDS, bench)?.run(bench);
const second = 1_000_000;

describe('time', () => {
  it('passes by the speed while it plays, and stands while it does not', () => {
    lab.advance(50);
    expect(lab.cluster.now).toBe(0);
    lab.play();
    lab.advance(50);
    expect(lab.cluster.now).toBe(50_000 * lab.speed);
  });

  it('does not leap after a tab was away', () => {
    lab.play();
    lab.advance(60_000);
    expect(lab.cluster.now).toBe(100_000 * lab.speed);
  });

  it('stops at the end of the run', () => {
    lab.seek(lab.duration - 1);
    lab.play();
    lab.advance(100);
    expect(lab).toMatchObject({ playing: false, atEnd: true });
    lab.play();
    expect(lab).toMatchObject({ playing: true, cluster: { now: 0 } });
  });

  it('steps event by event, and back the same way', () => {
    lab.seek(200_000);
    const visited = [lab.cluster.now];
    for (let i = 0; i < 10; i += 1) {
      lab.step();
      visited.push(lab.cluster.now);
    }
    for (let i = 1; i < visited.length; i += 1) expect(visited[i]).toBeGreaterThan(visited[i - 1]);
    for (let i = visited.length - 2; i > 0; i -= 1) {
      lab.back();
      expect(lab.cluster.now).toBe(visited[i]);
    }
  });

  it('jumps to what is worth it, ahead of what was computed too', () => {
    lab.jumpNext();
    expect(lab.leader).not.toBeNull();
    const established = lab.cluster.now;
    lab.seek(second);
    lab.jumpPrevious();
    expect(lab.cluster.now).toBe(established);
    lab.jumpPrevious();
    expect(lab.cluster.now).toBe(0);
  });

  it('shows the same state on the way back as on the way there', () => {
    lab.seek(second);
    const there = JSON.stringify(lab.cluster.nodes);
    lab.seek(3 * second);
    lab.seek(second);
    expect(JSON.stringify(lab.cluster.nodes)).toBe(there);
  });
});

describe('interventions', () => {
  it('change the future, can be undone to the former one, and made again', () => {
    lab.seek(4 * second);
    const former = lab.traceHash;
    lab.seek(second);
    press('Shift+C');
    expect(lab.leader).toBeNull();
    lab.seek(4 * second);
    const forked = lab.traceHash;
    expect(forked).not.toBe(former);
    expect(lab.faults).toHaveLength(1);
    lab.seek(2 * second);
    press('u');
    expect(lab.cluster).toMatchObject({ now: 2 * second, horizon: 4 * second });
    expect(lab.traceHash).toBe(former);
    expect(lab.faults).toHaveLength(0);
    press('Shift+U');
    expect(lab.cluster).toMatchObject({ now: 2 * second, horizon: 4 * second });
    expect(lab.traceHash).toBe(forked);
  });

  it('cut the leader off with a minority: another takes over, and never two at once', () => {
    lab.seek(second);
    const first = lab.leader?.id;
    press('m');
    lab.seek(3 * second);
    expect(lab.leader).not.toBeNull();
    expect(lab.leader?.id).not.toBe(first);
    expect(lab.cluster.summary.overlapUs).toBe(0);
    press('h');
    expect(lab.cluster.cut.flat()).not.toContain(true);
  });

  it('act on the chosen node, each where it applies', () => {
    lab.seek(second);
    expect(command('crash').applies(bench)).toBe(false);
    lab.select(2);
    press('c');
    expect(lab.node?.status).toBe('crashed');
    expect(command('crash').applies(bench)).toBe(false);
    press('r');
    expect(lab.node?.status).toBe('up');
    press('p');
    expect(lab.node?.status).toBe('paused');
    press('p');
    expect(lab.node?.status).toBe('up');
    press('Escape');
    expect(lab.selected).toBeNull();
  });

  it('bring everybody back at once', () => {
    lab.seek(second);
    lab.act({ do: 'crash', node: 0 }, { do: 'pause', node: 1 });
    press('Shift+R');
    expect(lab.cluster.nodes.map(({ status }) => status)).toEqual(Array(5).fill('up'));
  });

  it('split into the largest minority that holds the leader, and the rest', () => {
    expect(minorityWith(5, 4)).toEqual([
      [0, 4],
      [1, 2, 3],
    ]);
    expect(minorityWith(3, 1)).toEqual([[1], [0, 2]]);
    expect(isolate(3, 2)).toEqual([[2], [0, 1]]);
  });
});

describe('the inspector', () => {
  it('marks what the last event changed', () => {
    lab.select(0);
    lab.jumpTo('role');
    const acted = lab.history.lanes.findIndex(({ ticks }) => ticks.length > 0);
    lab.select(acted);
    expect(lab.inspection?.changed).toContain('role');
    expect(lab.inspection?.changed).not.toContain('name');
  });
});

describe('the setting', () => {
  it('starts the run again with the same seed', () => {
    lab.seek(second);
    expect(lab.change({ nodes: 3 })).toBe(true);
    expect(lab.cluster).toMatchObject({ now: 0 });
    expect(lab.cluster.nodes).toHaveLength(3);
    expect(lab).toMatchObject({ seed: BUILT_IN[0].scenario.seed, builtIn: null, changed: true });
  });

  it('that is unsafe is refused with place, reason and remedy, and the run goes on', () => {
    lab.seek(second);
    expect(lab.change({ heartbeat: 5000 })).toBe(false);
    const [notice] = lab.notices.list;
    expect(notice.title).toBe('notice.setting');
    for (const part of ['place', 'reason', 'remedy'] as const) expect(notice.problem?.[part]).toBeTruthy();
    expect(lab.cluster.now).toBe(second);
    expect(lab.setting.heartbeat).toBe(50);
  });

  it('takes another seed for another run', () => {
    lab.seek(second);
    const before = lab.traceHash;
    lab.newSeed();
    expect(lab.seed).toMatch(/^\d+$/);
    lab.seek(second);
    expect(lab.traceHash).not.toBe(before);
    expect(lab.setSeed('no seed')).toBe(false);
  });
});

describe('links and files', () => {
  it('bring the run back as it was, interventions and cursor included', async () => {
    lab.seek(second);
    press('Shift+C');
    lab.seek(3 * second);
    lab.seek(2 * second);
    const { traceHash, cluster } = lab;
    const link = await linkTo(lab);
    lab.load(BUILT_IN[1].scenario, BUILT_IN[1].id, 'notice.setting');
    expect(openShared(lab, await decodeLink(link!))).toBe(true);
    expect(lab.traceHash).toBe(traceHash);
    expect(lab.cluster).toEqual(cluster);
    expect(lab.notices.list.map(({ title }) => title)).toEqual(['notice.opened']);
  });

  it('tell when another release computes another run', async () => {
    lab.seek(second);
    const run = await decodeLink((await linkTo(lab))!);
    openShared(lab, { ...run, hash: '0000000000000000' });
    expect(lab.notices.list.map(({ title }) => title)).toEqual(['notice.differs']);
  });

  it('with a scenario that the engine refuses leave the page as it is', async () => {
    lab.seek(second);
    const run = { scenario: { tenure: 1, scheme: 'raft', nodez: 3 }, at: 0, to: 0, hash: '' };
    expect(openShared(lab, run)).toBe(false);
    expect(lab.notices.list[0].title).toBe('notice.link');
    expect(lab.cluster.now).toBe(second);
  });

  it('are refused when they are no scenario', async () => {
    await openFile(lab, new File(['{ nonsense'], 'a.json'));
    expect(lab.notices.list[0].problem?.code).toBe('syntax');
    expect(lab.notices.list[0].problem?.place).toContain('line 1');
    await openFile(lab, new File(['{"tenure":1,"scheme":"raft","nodes":0}'], 'b.json'));
    expect(lab.notices.list[1].problem?.remedy).toBeTruthy();
    await openFile(lab, new File(['{"tenure":1,"scheme":"raft","nodes":3}'], 'c.json'));
    expect(lab.cluster.nodes).toHaveLength(3);
  });
});

describe('commands', () => {
  it('have a name in the page’s words and a key of their own', () => {
    const keys = COMMANDS.flatMap((it) => it.keys);
    for (const it of COMMANDS) {
      expect(en).toHaveProperty([it.label(bench)]);
      expect(it.keys.length).toBeGreaterThan(0);
    }
    // Pause and resume share a key: never do both apply.
    expect(keys.filter((key, i) => keys.indexOf(key) !== i)).toEqual(['p']);
  });

  it('know keys by what is pressed', () => {
    const none = { ctrlKey: false, metaKey: false, shiftKey: false, altKey: false };
    expect(keyOf({ ...none, key: ' ' })).toBe('Space');
    expect(keyOf({ ...none, key: 'C', shiftKey: true })).toBe('Shift+C');
    expect(keyOf({ ...none, key: '?', shiftKey: true })).toBe('?');
    expect(keyOf({ ...none, key: 'z', metaKey: true })).toBe('Ctrl+z');
    expect(keyOf({ ...none, key: 'ArrowLeft', shiftKey: true })).toBe('Shift+ArrowLeft');
    expect(keyText('Shift+ArrowLeft')).toBe('⇧ ←');
  });

  it('do nothing where they do not apply', () => {
    expect(commandFor('u', COMMANDS, bench)).toBeNull();
    expect(commandFor('r', COMMANDS, bench)).toBeNull();
  });
});
