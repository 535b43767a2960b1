import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Bench, COMMANDS, command } from '../actions';
import { isolate, minorityWith } from '../actions/cluster';
import { commandFor, keyOf, keyText, perform } from '../actions/command';
import { Engine } from '../engine/engine';
import { EngineError, pageProblem, toEngineError } from '../engine/errors';
import type { WorldModule } from '../engine/world';
import { en } from '../i18n/en';
import { enPeers } from '../i18n/en-peers';
import { LANGS } from '../i18n/translate';
import type { Span } from '../model/history';
import { decodeLink } from '../model/link';
import { problemText } from '../model/text';
import { FIRST, fromGallery } from '../scenarios';
import { totalUntil } from '../testing/fixtures';
import { loadEngine } from '../testing/wasm';
import { Lab } from './lab.svelte';
import { Notices } from './notices.svelte';
import { Preferences } from './preferences.svelte';
import { linkTo, openFile, openLink, openShared } from './share';
import { Ui } from './ui.svelte';

let module: WorldModule;
beforeAll(async () => {
  module = await loadEngine();
});

let lab: Lab;
let bench: Bench;
beforeEach(async () => {
  const engine = await Engine.open(async () => module, JSON.stringify(FIRST.scenario));
  lab = new Lab(engine, new Notices(), FIRST.id, () => 0);
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

  it('goes on from the end with all that was done, up to a limit, and can then be run again as it was', () => {
    lab.seek(second);
    lab.act({ crash: lab.leader!.name });
    lab.seek(lab.duration);
    const { duration, faults } = lab;
    press('x');
    expect(lab).toMatchObject({ playing: true, builtIn: FIRST.id, faults });
    expect(lab.cluster.now).toBe(duration);
    expect(lab.duration).toBe(duration + 60 * second);
    expect(lab.canExtend).toBe(false);
    for (let i = 0; i < 20 && lab.duration < 600 * second; i += 1) {
      lab.seek(lab.duration);
      lab.extend();
    }
    lab.seek(lab.duration);
    expect(lab).toMatchObject({ duration: 600 * second, canExtend: false });
    lab.rerun();
    expect(lab).toMatchObject({ duration: 600 * second, faults: [] });
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

  it('can be taken back as far as the engine keeps them, and no further', () => {
    lab.seek(second);
    for (let i = 0; i < 105; i += 1) lab.act(i % 2 ? { resume: 'n1' } : { pause: 'n1' });
    let undone = 0;
    for (; lab.canUndo; undone += 1) lab.undo();
    expect(undone).toBe(100);
    expect(lab.faults).toHaveLength(5);
    expect(lab.canRedo).toBe(true);
    lab.rerun();
    expect(lab).toMatchObject({ canUndo: false, canRedo: false });
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
    lab.act({ crash: 'n1' }, { pause: 'n2' });
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
    expect(lab).toMatchObject({ seed: FIRST.scenario.seed, builtIn: null, changed: true });
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

  it('keeps a seed of 64 bits to the last digit, and takes none that a number would change', async () => {
    const file = (seed: string) => new File([`{"tenure":1,"scheme":"raft","seed":${seed}}`], 'a.json');
    await openFile(lab, file('"18446744073709551615"'));
    expect(lab.scenario.seed).toBe('18446744073709551615');
    expect(lab.change({ nodes: 3 })).toBe(true);
    expect(lab.seed).toBe('18446744073709551615');
    await openFile(lab, file('9007199254740993'));
    expect(lab.notices.list[0].problem?.code).toBe('inexact-seed');
    expect(lab.seed).toBe('18446744073709551615');
    await openFile(lab, file('12'));
    expect(lab.scenario.seed).toBe('12');
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
    lab.load(await fromGallery('leader-crash'), 'leader-crash', 'notice.setting');
    expect(await openShared(lab, await decodeLink(link!))).toBe(true);
    expect(lab.traceHash).toBe(traceHash);
    expect(lab.cluster).toEqual(cluster);
    expect(lab.notices.list.map(({ title }) => title)).toEqual(['notice.opened']);
  });

  it('tell when another release computes another run', async () => {
    lab.seek(second);
    const run = await decodeLink((await linkTo(lab))!);
    await openShared(lab, { ...run, hash: '0000000000000000' });
    expect(lab.notices.list.map(({ title }) => title)).toEqual(['notice.differs']);
  });

  it('with a scenario that the engine refuses leave the page as it is', async () => {
    lab.seek(second);
    const run = { scenario: { tenure: 1, scheme: 'raft', nodez: 3 }, at: 0, to: 0, hash: '' };
    expect(await openShared(lab, run)).toBe(false);
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

describe('what runs another scheme', () => {
  it('is waited for while the present run goes on, and not put in place of what was started since', async () => {
    const fetched: (() => void)[] = [];
    const engine = await Engine.open(async (build) => {
      if (build !== 'raft') await new Promise<void>((resolve) => fetched.push(resolve));
      return { ...module, build };
    }, JSON.stringify(FIRST.scenario));
    lab = new Lab(engine, new Notices(), FIRST.id, () => 0);
    const first = lab.elect('etcd');
    expect(lab.setting.scheme).toBe('raft');
    expect(lab.change({ nodes: 3 })).toBe(true);
    const [second, third] = [lab.elect('redlock'), lab.elect('sql')];
    for (const resolve of fetched) resolve();
    expect(await Promise.all([first, second, third])).toEqual([false, false, true]);
    expect([lab.setting.scheme, lab.setting.nodes]).toEqual(['sql', 3]);
    await lab.elect('kubernetes');
    await lab.elect('raft');
    expect(fetched).toHaveLength(3);
    expect(lab.notices.list).toEqual([]);
  });
});

describe('a failure', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  /** Vitest shows what is logged; here it is meant. */
  const quiet = () => vi.spyOn(console, 'error').mockImplementationOnce(() => undefined);
  const trap = () => {
    throw new EngineError(pageProblem('engine-stopped', 'engine', { reason: 'unreachable' }), true);
  };
  const told = () => lab.notices.list.map(({ title, problem, after }) => [title, problem?.code, after]);

  it('of a command that goes on beside is told in words', async () => {
    const logged = quiet();
    const replaceState = () => {
      throw new DOMException('too many calls', 'SecurityError');
    };
    bench.page = { history: { replaceState } } as unknown as Window;
    perform(command('share'), bench);
    await vi.waitFor(() => expect(told()).toEqual([['notice.problem', 'page-failed', null]]));
    expect(logged).toHaveBeenCalledOnce();
    for (const lang of LANGS) {
      const said = problemText(lab.notices.list[0].problem!, lang);
      for (const part of [said.place, said.reason, said.remedy]) expect(part).toMatch(/\S{2}/);
      expect(said.reason).toContain('too many calls');
    }
  });

  it('to read a file is told, and the run goes on', async () => {
    const file = new File(['{}'], 'gone.json');
    file.text = () => Promise.reject(new DOMException('it is gone', 'NotReadableError'));
    await openFile(lab, file);
    expect(told()).toEqual([['notice.file', 'file-unreadable', null]]);
    expect(lab.notices.list[0].problem?.place).toBe('gone.json');
    lab.seek(second);
    expect(lab.cluster.now).toBe(second);
  });

  it('to fetch what another scheme takes is told, and the present run goes on', async () => {
    let there = false;
    const engine = await Engine.open(async (build) => {
      if (build !== 'raft' && !there)
        throw new EngineError(pageProblem('scheme-not-loaded', 'engine', { reason: '404' }));
      return { ...module, build };
    }, JSON.stringify(FIRST.scenario));
    lab = new Lab(engine, new Notices(), FIRST.id, () => 0);
    lab.seek(second);
    expect(await lab.elect('etcd')).toBe(false);
    expect(told()).toEqual([['notice.setting', 'scheme-not-loaded', null]]);
    for (const lang of LANGS) expect(problemText(lab.notices.list[0].problem!, lang).reason).toContain('404');
    lab.seek(2 * second);
    expect([lab.cluster.now, lab.setting.scheme, lab.builtIn]).toEqual([2 * second, 'raft', FIRST.id]);
    there = true;
    expect(await lab.elect('etcd')).toBe(true);
    expect(lab.byStore).toBe(true);
  });

  it('inside a link is told, be it of the link, a refusal or a trap, and the page stays usable', async () => {
    lab.seek(second);
    const link = (await linkTo(lab))!;
    expect(await openLink(lab, '#hello')).toBe(false);
    expect(told()).toEqual([['notice.link', 'link-not-ours', 'notice.link.default']]);
    vi.spyOn(lab.engine, 'traceHash').mockImplementationOnce(() => {
      throw toEngineError({ code: 'full', place: 'run', reason: 'no room', remedy: 'shorten it' });
    });
    await openLink(lab, link);
    expect(told().map(([, code]) => code)).toContain('full');
    vi.spyOn(lab.engine, 'seek').mockImplementationOnce(trap);
    await openLink(lab, link);
    await vi.waitFor(() =>
      expect(told()).toContainEqual(['notice.engine', 'engine-stopped', 'notice.engine.recovered']),
    );
    lab.seek(2 * second);
    expect(lab.cluster.now).toBe(2 * second);
    expect(await openLink(lab, link)).toBe(true);
  });

  it('of the page in one frame stops the run, not the page', () => {
    const logged = quiet();
    lab.play();
    vi.spyOn(lab.engine, 'frame').mockImplementationOnce(() => {
      throw new TypeError('no frame');
    });
    lab.advance(50);
    expect(told()).toEqual([['notice.problem', 'page-failed', null]]);
    expect(lab.playing).toBe(false);
    expect(logged).toHaveBeenCalledOnce();
    lab.play();
    lab.advance(50);
    expect(lab.cluster.now).toBeGreaterThan(0);
  });
});

describe('commands', () => {
  it('have a name in the page’s words and a key of their own', () => {
    const keys = COMMANDS.flatMap((it) => it.keys);
    for (const it of COMMANDS) {
      expect({ ...en, ...enPeers }).toHaveProperty([it.label(bench)]);
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

describe('a setting that is changed', () => {
  const store = (scheme: string) =>
    lab.open(JSON.stringify({ tenure: 1, scheme, nodes: 3 }), null, 'notice.file');

  it('goes by the parameters of a system, and tells what follows', async () => {
    expect(lab.presets).toEqual([]);
    await store('zookeeper');
    expect(lab.presets).toEqual(['curator', 'solr']);
    const usual = lab.budget!;
    expect(lab.goBy('curator')).toBe(true);
    expect(lab).toMatchObject({ ttl: 60 * second, changed: true });
    expect(lab.budget!.takeover).toBeGreaterThan(usual.takeover);
    expect(lab.goBy(null)).toBe(true);
    expect(lab.budget).toEqual(usual);
  });

  it('stays as it is when a system ships with what leaves no slack', async () => {
    await store('kubernetes');
    const { ttl } = lab;
    expect(lab.goBy('flink')).toBe(false);
    expect(lab.ttl).toBe(ttl);
    expect(lab.notices.list.at(-1)?.problem?.code).toBe('deadline-too-long');
  });

  it('runs without a rule, and shows what breaks', async () => {
    expect(lab.rules).toContain('pre-vote');
    await store('kubernetes');
    expect(lab.rules).toContain('demote-by-timer');
    expect(lab.rules).not.toContain('pre-vote');
    expect(lab.keep('demote-by-timer', false)).toBe(true);
    expect(lab.scenario.rulesOff).toEqual(['demote-by-timer']);
    lab.seek(5 * second);
    lab.act({ partition: [[lab.leader!.name], ['rest']] });
    lab.seek(40 * second);
    expect(lab.cluster.summary.overlapUs).toBeGreaterThan(0);
    expect(lab.keep('demote-by-timer', true)).toBe(true);
    expect(lab.scenario.rulesOff ?? []).toEqual([]);
  });
});

describe('the lanes of the whole cluster', () => {
  const faults = [
    { at: '1s', pause: 'leader' },
    { at: '2s', resume: 'paused' },
    { at: '3s', partition: [['leader', 'follower'], ['rest']] },
    { at: '4500ms', heal: 'all' },
  ];
  const broken = {
    'no lease: a frozen leader believes on': { raft: { safeMode: false } },
    'a lapse without an event': { rulesOff: ['lapse-deposes'] },
    'validity counted from the answer': { rulesOff: ['validity-from-send'] },
    'a promise that binds nobody': { rulesOff: ['promise-binds-voter', 'promise-binds-candidate'] },
  };

  for (const [name, rules] of Object.entries(broken)) {
    it(`are those that the engine counts, played and at once: ${name}`, () => {
      const scenario = { tenure: 1, scheme: 'raft', nodes: 5, seed: '1', duration: '6s', faults, ...rules };
      expect(lab.load(scenario, null, 'notice.file')).toBe(true);
      const lanes = () =>
        [lab.history.overlaps, lab.history.leaderless].map((spans) => totalUntil(spans, lab.cluster.now));
      for (let at = 0; at <= lab.duration; at += 37_000) {
        lab.seek(at);
        const { overlapUs, leaderlessUs } = lab.cluster.summary;
        expect(lanes(), `at ${at}`).toEqual([overlapUs, leaderlessUs]);
      }
      const played = clipped(lab.history.overlaps, lab.duration);
      lab.rerun();
      lab.seek(lab.duration);
      expect(clipped(lab.history.overlaps, lab.duration)).toEqual(played);
    });
  }

  it('are right ahead of the cursor too, after an undo', () => {
    const scenario = {
      tenure: 1,
      scheme: 'raft',
      nodes: 3,
      seed: '1',
      duration: '6s',
      raft: { safeMode: false },
      faults,
    };
    lab.load(scenario, null, 'notice.file');
    lab.seek(lab.duration);
    const before = clipped(lab.history.overlaps, lab.duration);
    expect(before).not.toEqual([]);
    lab.seek(500_000);
    lab.act({ pause: 'n1' });
    lab.undo();
    expect(lab.cluster.now).toBe(500_000);
    expect(clipped(lab.history.overlaps, lab.duration)).toEqual(before);
  });

  const clipped = (spans: readonly Span[], end: number) =>
    spans.map(({ from, to }) => ({ from, to: Math.min(to, end) }));
});

describe('a zoomed timeline', () => {
  it('is left alone while the run plays elsewhere, and follows again when the run leaves it', () => {
    lab.seek(second);
    lab.zoom(0.5, second / 2);
    const away = lab.window;
    lab.play();
    lab.panned = { from: 0, span: 100_000 };
    lab.advance(50);
    expect(lab.panned).toEqual({ from: 0, span: 100_000 });
    lab.panned = { from: lab.cluster.now - 1000, span: 2000 };
    lab.advance(50);
    expect(lab.panned).toBeNull();
    expect(lab.window.span).toBe(away.span);
  });
});
