import { buildFor, runs } from './build';
import { toEngineError } from './errors';
import { type EventKind, kindMask } from './layout';
import type { Action, Actor, Budget, Instantiate, StoreRecord, Verdict, World, WorldModule } from './world';

/** The buffers of one instant. Valid until the next call on the engine; copy what must live longer. */
export interface Frame {
  now: number;
  horizon: number;
  nodes: Float64Array;
  flights: Float64Array;
  resources: Float64Array;
  /** Servers of the store by which the nodes elect, or of the data that the nodes watch over; none elsewhere. */
  servers: Float64Array;
  /** What is particular to the scheme, in rows whose layout goes by it. */
  particulars: Float64Array;
  /** A square: row sends, column receives, of the nodes and then the servers. */
  links: Uint8Array;
  summary: Float64Array;
  /** Spans up to the horizon, as pairs of beginning and end: two believed leaders, and nobody. */
  overlaps: Float64Array;
  leaderless: Float64Array;
}

/**
 * The world behind a typed face.
 *
 * Buffers are read in place, and their views are made anew whenever the module's memory moved. A trap loses the
 * instance: the call throws a fatal EngineError, and `recover` builds a new instance and replays to the cursor.
 */
export class Engine {
  private constructor(
    private readonly instantiate: Instantiate,
    private module: WorldModule,
    private world: World,
    private replay: Replay,
  ) {}

  /** Rises whenever events already read may have changed: after an intervention, an undo or a recovery. */
  epoch = 0;

  private readonly floats = new Map<string, Float64Array>();

  static async open(instantiate: Instantiate, scenario: string, seed?: string): Promise<Engine> {
    const module = await instantiate(buildFor(scenario));
    const world = build(module, scenario, seed);
    return new Engine(instantiate, module, world, { scenario: world.scenario(), now: 0, horizon: 0 });
  }

  /**
   * The module that runs a scenario, which may have to be fetched. A word that it does not know may be one of another scheme:
   * the whole one says what is wrong with it, where it can be had.
   */
  async moduleFor(scenario: string): Promise<WorldModule> {
    const build = buildFor(scenario);
    const module = runs(this.module.build, build) ? this.module : await this.instantiate(build);
    if (module.build === 'whole' || !hasUnknownWord(module, scenario)) return module;
    return this.instantiate('whole').catch(() => module);
  }

  /** Replaces the world. When the new scenario is refused the present world stays, and its module. */
  load(scenario: string, module = this.module): void {
    const next = this.guard(() => new module.World(scenario));
    const former = this.world;
    this.module = module;
    this.world = next;
    this.epoch += 1;
    this.remember();
    former.free();
  }

  get now(): number {
    return this.guard(() => this.world.now);
  }

  get horizon(): number {
    return this.guard(() => this.world.horizon);
  }

  get duration(): number {
    return this.guard(() => this.world.duration);
  }

  get canUndo(): boolean {
    return this.guard(() => this.world.canUndo);
  }

  get canRedo(): boolean {
    return this.guard(() => this.world.canRedo);
  }

  seek(to: number): void {
    this.guard(() => this.world.seek(Math.max(0, Math.round(to))));
    this.replay.now = this.world.now;
    this.replay.horizon = this.world.horizon;
  }

  /** Runs to the next event of one of these kinds; false when the run ended first. */
  seekNext(kinds: Iterable<EventKind>): boolean {
    const [lo, hi] = kindMask(kinds);
    const found = this.guard(() => this.world.seekNext(lo, hi));
    this.replay.now = this.world.now;
    this.replay.horizon = this.world.horizon;
    return found;
  }

  frame(): Frame {
    return this.guard(() => {
      const world = this.world;
      world.frame();
      return {
        now: world.now,
        horizon: world.horizon,
        nodes: this.view('nodes', world.nodesPtr(), world.nodesLen()),
        flights: this.view('flights', world.flightsPtr(), world.flightsLen()),
        resources: this.view('resources', world.resourcesPtr(), world.resourcesLen()),
        servers: this.view('servers', world.serversPtr(), world.serversLen()),
        particulars: this.view('particulars', world.particularsPtr(), world.particularsLen()),
        links: new Uint8Array(this.module.memory.buffer, world.linksPtr(), world.linksLen()),
        summary: this.view('summary', world.summaryPtr(), world.summaryLen()),
        overlaps: this.view('overlaps', world.overlapsPtr(), world.overlapsLen()),
        leaderless: this.view('leaderless', world.leaderlessPtr(), world.leaderlessLen()),
      };
    });
  }

  /** The replicated logs as of the last frame, one after the other; empty where there is none. */
  logs(): Float64Array {
    return this.guard(() => this.view('logs', this.world.logsPtr(), this.world.logsLen()));
  }

  /** The clients of the store as of the last frame. */
  clients(): Float64Array {
    return this.guard(() => this.view('clients', this.world.clientsPtr(), this.world.clientsLen()));
  }

  /** All events up to the horizon, in order of time. */
  events(): Float64Array {
    return this.guard(() => this.view('events', this.world.eventsPtr(), this.world.eventsLen()));
  }

  act(action: Action): void {
    this.guard(() => this.world.act(action));
    this.epoch += 1;
    this.remember();
  }

  undo(): boolean {
    return this.travel(() => this.world.undo());
  }

  redo(): boolean {
    return this.travel(() => this.world.redo());
  }

  inspect(node: number): unknown {
    return this.guard(() => this.world.inspect(node));
  }

  records(server: number): StoreRecord[] {
    return this.guard(() => this.world.records(server));
  }

  verdicts(): Verdict[] {
    return this.guard(() => this.world.verdicts());
  }

  actors(): Actor[] {
    return this.guard(() => this.world.actors());
  }

  /** What follows from the timing of an election by a store; null where the nodes elect among themselves. */
  budget(): Budget | null {
    return this.guard(() => this.world.budget() ?? null);
  }

  /** The rules of the scheme, by the names under which a scenario switches them off. */
  rules(): string[] {
    return this.guard(() => this.world.rules());
  }

  /** The systems by whose parameters the scheme can go. */
  presets(): string[] {
    return this.guard(() => this.world.presets?.() ?? []);
  }

  /** The scenario text that reproduces this run, interventions included. */
  scenario(): string {
    return this.guard(() => this.world.scenario());
  }

  traceHash(): string {
    return this.guard(() => this.world.traceHash());
  }

  randomSeed(): string {
    return this.guard(() => this.module.randomSeed());
  }

  /** After a fatal error: a new instance, the same scenario, the last instant that worked. */
  async recover(): Promise<void> {
    const { scenario, now, horizon } = this.replay;
    this.module = await this.instantiate(this.module.build);
    this.floats.clear();
    this.world = build(this.module, scenario);
    this.epoch += 1;
    this.seek(horizon);
    this.seek(now);
  }

  private travel(step: () => boolean): boolean {
    const moved = this.guard(step);
    if (moved) {
      this.epoch += 1;
      this.remember();
    }
    return moved;
  }

  private remember(): void {
    this.replay = this.guard(() => ({
      scenario: this.world.scenario(),
      now: this.world.now,
      horizon: this.world.horizon,
    }));
  }

  private view(name: string, pointer: number, length: number): Float64Array {
    const buffer = this.module.memory.buffer;
    const known = this.floats.get(name);
    if (known && known.buffer === buffer && known.byteOffset === pointer && known.length === length) {
      return known;
    }
    const made = new Float64Array(buffer, pointer, length);
    this.floats.set(name, made);
    return made;
  }

  private guard<T>(call: () => T): T {
    try {
      return call();
    } catch (thrown) {
      throw toEngineError(thrown);
    }
  }
}

function hasUnknownWord(module: WorldModule, text: string): boolean {
  try {
    module.checkScenario(text);
    return false;
  } catch (thrown) {
    return toEngineError(thrown).problem.code.startsWith('unknown-');
  }
}

/** Enough to build the present run again. */
interface Replay {
  scenario: string;
  now: number;
  horizon: number;
}

function build(module: WorldModule, scenario: string, seed?: string): World {
  try {
    return new module.World(scenario, seed);
  } catch (thrown) {
    throw toEngineError(thrown);
  }
}
