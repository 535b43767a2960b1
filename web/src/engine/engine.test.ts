import { describe, expect, it } from 'vitest';
import type { Build } from './build';
import { Engine } from './engine';
import { EngineError, pageProblem, toEngineError } from './errors';
import { EVENT_KINDS, KIND, kindMask } from './layout';
import type { Action, World, WorldModule } from './world';

/**
 * A stand-in for the WASM module that keeps real WebAssembly memory, so that growth detaches views as it does in the
 * browser, and that can be made to trap. It simulates nothing: `seek` moves a clock and writes it into the buffers.
 */
function standIn() {
  const made: { scenario: string; build: Build; calls: string[] }[] = [];
  const faults = { trap: false };
  const memory = () => new WebAssembly.Memory({ initial: 1, maximum: 64 });
  const instantiate = async (build: Build): Promise<WorldModule> => {
    const own = memory();
    class Stand {
      now = 0;
      horizon = 0;
      duration = 1000;
      canUndo = false;
      canRedo = false;
      calls: string[] = [];
      private text: string;
      constructor(text: string, _seed?: string) {
        if (text === 'bad') throw { code: 'c', place: 'p', reason: 'r', remedy: 'm' };
        this.text = text;
        made.push({ scenario: text, build, calls: this.calls });
      }
      free() {}
      seek(to: number) {
        if (faults.trap) throw new WebAssembly.RuntimeError('unreachable');
        this.now = Math.min(to, this.duration);
        this.horizon = Math.max(this.horizon, this.now);
        this.calls.push(`seek ${to}`);
      }
      seekNext() {
        this.seek(this.now + 1);
        return true;
      }
      frame() {
        new Float64Array(own.buffer, 64, 20)[3] = this.now;
      }
      nodesPtr() {
        return 64;
      }
      nodesLen() {
        return 20;
      }
      flightsPtr() {
        return 512;
      }
      flightsLen() {
        return 0;
      }
      resourcesPtr() {
        return 512;
      }
      resourcesLen() {
        return 0;
      }
      serversPtr() {
        return 512;
      }
      serversLen() {
        return 0;
      }
      particularsPtr() {
        return 512;
      }
      particularsLen() {
        return 0;
      }
      linksPtr() {
        return 512;
      }
      linksLen() {
        return 1;
      }
      summaryPtr() {
        return 1024;
      }
      summaryLen() {
        return 13;
      }
      overlapsPtr() {
        return 1536;
      }
      overlapsLen() {
        return 2;
      }
      leaderlessPtr() {
        return 1600;
      }
      leaderlessLen() {
        return 2;
      }
      eventsPtr() {
        return 2048;
      }
      eventsLen() {
        return 8;
      }
      act(action: Action) {
        this.text += `+${Object.keys(action)[0]}`;
      }
      undo() {
        return false;
      }
      redo() {
        return false;
      }
      inspect() {
        return {};
      }
      verdicts() {
        return [];
      }
      scenario() {
        return this.text;
      }
      actors() {
        return [];
      }
      traceHash() {
        return '0';
      }
    }
    return {
      World: Stand as unknown as new (scenario: string, seed?: string) => World,
      memory: own,
      randomSeed: () => '1',
      checkScenario: (text) => {
        if (text === 'strange')
          throw { code: 'unknown-field', place: 'zab', reason: 'not known', remedy: 'leave it out' };
      },
      eventKinds: () => [...EVENT_KINDS],
      build,
    };
  };
  let modules: WorldModule[] = [];
  const remembering = async (build: Build) => {
    const module = await instantiate(build);
    modules = [...modules, module];
    return module;
  };
  return { instantiate: remembering, made, faults, grow: () => modules[modules.length - 1].memory.grow(1) };
}

describe('views', () => {
  it('are kept while the memory stands and made anew when it grew', async () => {
    const { instantiate, grow } = standIn();
    const engine = await Engine.open(instantiate, 's');
    engine.seek(5);
    const before = engine.frame().nodes;
    expect(before[3]).toBe(5);
    expect(engine.frame().nodes).toBe(before);
    grow();
    expect(before.length).toBe(0);
    engine.seek(7);
    expect(engine.frame().nodes[3]).toBe(7);
    expect(engine.frame().nodes).toHaveLength(20);
  });
});

describe('errors', () => {
  it('of the engine come through with place, reason and remedy', async () => {
    const { instantiate } = standIn();
    const engine = await Engine.open(instantiate, 's');
    expect(() => engine.load('bad')).toThrow(EngineError);
    const error = toEngineError({ code: 'c', place: 'p', reason: 'r', remedy: 'm' });
    expect(error.problem).toEqual({ code: 'c', place: 'p', reason: 'r', remedy: 'm' });
    expect(error.fatal).toBe(false);
  });

  it('that are traps are fatal, and recovery replays the run with its interventions', async () => {
    const { instantiate, faults, made } = standIn();
    const engine = await Engine.open(instantiate, 's');
    engine.seek(40);
    engine.seek(10);
    engine.act({ crash: 'n2' });
    faults.trap = true;
    let thrown: unknown;
    try {
      engine.seek(50);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ fatal: true });
    faults.trap = false;
    const epoch = engine.epoch;
    await engine.recover();
    expect(made.map(({ scenario }) => scenario)).toEqual(['s', 's+crash']);
    expect(made[1].calls).toEqual(['seek 40', 'seek 10']);
    expect(engine.now).toBe(10);
    expect(engine.epoch).toBeGreaterThan(epoch);
  });
});

describe('the module', () => {
  const raft = '{"scheme":"raft"}';
  const zab = '{"scheme":"zab"}';
  const etcd = '{"scheme":"etcd"}';
  const zookeeper = '{"scheme":"zookeeper"}';

  it('is the one for the scheme, stays for Raft, and after a trap as well', async () => {
    const { instantiate, made } = standIn();
    const engine = await Engine.open(instantiate, raft);
    for (const scenario of [raft, etcd, raft, zab, etcd])
      engine.load(scenario, await engine.moduleFor(scenario));
    await engine.recover();
    const builds = made.map(({ build }) => build);
    expect(builds).toEqual(['raft', 'raft', 'stores', 'stores', 'peers', 'stores', 'stores']);
  });

  it('is the whole one for a store whose servers elect as peers do, and then for everything', async () => {
    const { instantiate, made } = standIn();
    const engine = await Engine.open(instantiate, raft);
    for (const scenario of [zookeeper, etcd, zab]) engine.load(scenario, await engine.moduleFor(scenario));
    expect(made.map(({ build }) => build)).toEqual(['raft', 'whole', 'whole', 'whole']);
  });

  it('is there from the beginning for a run that takes it, and not for a text without a scheme', async () => {
    const { instantiate, made } = standIn();
    for (const scenario of [etcd, zab, '{"scheme":"toString"}', '{}', '{', '7', 'null'])
      await Engine.open(instantiate, scenario);
    const builds = made.map(({ build }) => build);
    expect(builds).toEqual(['stores', 'peers', 'raft', 'raft', 'raft', 'raft', 'raft']);
  });

  it('is the whole one to judge what another does not know, where it can be had', async () => {
    const { instantiate, made } = standIn();
    const engine = await Engine.open(instantiate, raft);
    expect((await engine.moduleFor('strange')).build).toBe('whole');
    expect((await engine.moduleFor(raft)).build).toBe('raft');
    expect(made).toHaveLength(1);
    const away = await Engine.open(async (build) => {
      if (build === 'whole') throw new EngineError(pageProblem('scheme-not-loaded', 'engine'));
      return instantiate(build);
    }, raft);
    expect((await away.moduleFor('strange')).build).toBe('raft');
  });

  it('is not kept when it refuses what it was fetched for', async () => {
    const { instantiate, made } = standIn();
    const engine = await Engine.open(instantiate, raft);
    const stores = await engine.moduleFor(etcd);
    expect(() => engine.load('bad', stores)).toThrow(EngineError);
    await engine.recover();
    expect(made.map(({ build }) => build)).toEqual(['raft', 'raft']);
  });
});

describe('epochs', () => {
  it('rise with every intervention and not with a journey', async () => {
    const { instantiate } = standIn();
    const engine = await Engine.open(instantiate, 's');
    const before = engine.epoch;
    engine.seek(9);
    engine.seekNext(['crash']);
    expect(engine.epoch).toBe(before);
    engine.act({ heal: 'all' });
    expect(engine.epoch).toBe(before + 1);
    expect(engine.undo()).toBe(false);
    expect(engine.epoch).toBe(before + 1);
  });
});

describe('kind masks', () => {
  it('set one bit for each code, in two halves', () => {
    expect(kindMask(['boot'])).toEqual([1, 0]);
    expect(kindMask(['crash', 'end'])).toEqual([(1 << KIND.crash) | (1 << KIND.end), 0]);
    expect(kindMask([])).toEqual([0, 0]);
  });
});
