import type { Engine } from '../engine/engine';
import { EngineError } from '../engine/errors';
import { EVENT_KINDS, type EventKind } from '../engine/layout';
import type { Action, Actor, Verdict } from '../engine/world';
import { type ClusterView, type NodeView, readCluster } from '../model/cluster';
import { History, NOTABLE_KINDS } from '../model/history';
import {
  type FaultView,
  readFaults,
  readSetting,
  type Scenario,
  type Setting,
  withSetting,
} from '../model/scenario';
import { timeBefore } from '../model/search';
import { historyExtent } from '../model/time';
import { contains, following, panned, type TimeWindow, zoomed } from '../model/window';
import { type Inspection, Inspector } from './inspector';
import type { Notices } from './notices.svelte';

export const SPEEDS: readonly number[] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2];
const DEFAULT_SPEED = 0.1;
const DEFAULT_SPAN = 1_200_000;

/** A tab that was away must not make the run leap. */
const LONGEST_STEP_MS = 100;

/** Judging the whole run is dearer than a frame; people read it a few times a second. */
const JUDGE_EVERY_MS = 250;

/** Step visits every event but the end. */
const EVERY_EVENT: readonly EventKind[] = EVENT_KINDS.filter((kind) => kind !== 'end');

/** What a refused scenario is called, by where it came from. */
export type LoadTitle = 'notice.file' | 'notice.setting' | 'notice.link';

/**
 * The session of one Lab: the engine, the cursor in time, and what follows from them. Whatever a panel shows derives
 * from the state here; every move of the engine ends in `refresh`.
 */
export class Lab {
  cluster = $state.raw<ClusterView>()!;
  actors = $state.raw<readonly Actor[]>([]);
  verdicts = $state.raw<readonly Verdict[]>([]);
  inspection = $state.raw<Inspection | null>(null);
  traceHash = $state('');

  playing = $state(false);
  speed = $state(DEFAULT_SPEED);
  selected = $state<number | null>(null);
  duration = $state(0);

  /** The scenario as it was loaded, before interventions. */
  scenario = $state.raw<Scenario>({});
  /** Which built-in scenario it is, if one. */
  builtIn = $state<string | null>(null);
  /** Its setting was changed since it was loaded. */
  changed = $state(false);
  seed = $state('');
  faults = $state.raw<readonly FaultView[]>([]);
  /** How far the run had been computed before each intervention, and before each undo. */
  private undoable = $state.raw<readonly number[]>([]);
  private redoable = $state.raw<readonly number[]>([]);

  /** Rises when the history changed, for those who draw it. */
  historyVersion = $state(0);
  history = new History(0);

  span = $state(DEFAULT_SPAN);
  /** Where the timeline was moved to by hand; null while it follows the cursor. */
  panned = $state.raw<TimeWindow | null>(null);

  readonly setting: Setting = $derived(readSetting(this.scenario));
  readonly extent = $derived(historyExtent(this.cluster.horizon, this.duration));
  readonly window: TimeWindow = $derived(this.panned ?? following(this.cluster.now, this.span));
  readonly node: NodeView | null = $derived(
    this.selected === null ? null : (this.cluster.nodes[this.selected] ?? null),
  );
  readonly leader: NodeView | null = $derived(
    this.cluster.summary.leader === null ? null : (this.cluster.nodes[this.cluster.summary.leader] ?? null),
  );
  readonly canUndo = $derived(this.undoable.length > 0);
  readonly canRedo = $derived(this.redoable.length > 0);
  readonly atEnd = $derived(this.cluster.now >= this.duration);

  private judgedAt = Number.NEGATIVE_INFINITY;
  private recovering = false;
  private readonly inspector: Inspector;

  constructor(
    readonly engine: Engine,
    readonly notices: Notices,
    scenario: Scenario,
    builtIn: string | null,
    private readonly clock: () => number = () => performance.now(),
  ) {
    this.inspector = new Inspector(engine);
    this.scenario = scenario;
    this.builtIn = builtIn;
    this.settle();
  }

  /**
   * Starts another scenario from 0, given as an object or as the text of a file. False, and a notice, when the engine
   * refuses it.
   */
  load(scenario: Scenario | string, builtIn: string | null, title: LoadTitle): boolean {
    const text = typeof scenario === 'string' ? scenario : JSON.stringify(scenario);
    try {
      this.engine.load(text);
    } catch (error) {
      this.report(error, title);
      return false;
    }
    this.scenario = typeof scenario === 'string' ? (JSON.parse(text) as Scenario) : scenario;
    this.builtIn = builtIn;
    this.changed = false;
    this.settle();
    return true;
  }

  change(setting: Partial<Setting>): boolean {
    if (!this.load(withSetting(this.scenario, { ...this.setting, ...setting }), null, 'notice.setting'))
      return false;
    this.changed = true;
    return true;
  }

  setSeed(seed: string): boolean {
    return this.load({ ...this.scenario, seed }, this.builtIn, 'notice.setting');
  }

  newSeed(): void {
    this.attempt(() => this.setSeed(this.engine.randomSeed()));
  }

  rerun(): void {
    if (this.load(this.scenario, this.builtIn, 'notice.setting')) this.playing = true;
  }

  /** One animation frame has passed. */
  advance(elapsedMs: number): void {
    if (!this.playing || this.recovering) return;
    const to = this.cluster.now + Math.min(elapsedMs, LONGEST_STEP_MS) * 1000 * this.speed;
    this.move(() => this.engine.seek(to));
    if (this.atEnd) this.playing = false;
  }

  /** Plays on from the cursor, or from the start when the run is over. */
  play(): void {
    if (this.atEnd) this.seek(0);
    this.panned = null;
    this.playing = true;
  }

  pause(): void {
    this.playing = false;
    this.refresh(true);
  }

  seek(to: number): void {
    this.move(() => this.engine.seek(to));
    if (this.panned && !contains(this.panned, to)) this.panned = null;
  }

  step(): void {
    this.playing = false;
    this.move(() => this.engine.seekNext(EVERY_EVENT));
  }

  back(): void {
    this.playing = false;
    this.seek(timeBefore(this.engine.events(), this.cluster.now));
  }

  jumpNext(): void {
    this.playing = false;
    const { next } = this.history.around(this.cluster.now);
    if (next) this.seek(next.at);
    else this.move(() => this.engine.seekNext(NOTABLE_KINDS));
  }

  /** To the next event of one kind, wherever it lies. */
  jumpTo(kind: EventKind): void {
    this.playing = false;
    this.move(() => this.engine.seekNext([kind]));
  }

  jumpPrevious(): void {
    this.playing = false;
    this.seek(this.history.around(this.cluster.now).previous?.at ?? 0);
  }

  canChangeSpeed(by: 1 | -1): boolean {
    return SPEEDS[SPEEDS.indexOf(this.speed) + by] !== undefined;
  }

  changeSpeed(by: 1 | -1): void {
    this.speed = SPEEDS[SPEEDS.indexOf(this.speed) + by] ?? this.speed;
  }

  /** Interventions at the cursor, as one gesture. */
  act(...actions: Action[]): void {
    const done = this.attempt(() => {
      for (const action of actions) {
        const { horizon } = this.engine;
        this.engine.act(action);
        this.undoable = [...this.undoable, horizon];
        this.redoable = [];
      }
    });
    this.afterIntervention();
    if (done) this.panned = null;
  }

  /** Takes the last intervention back. The future that it had replaced is there again, as far as it had been computed. */
  undo(): void {
    this.attempt(() => {
      const { now, horizon } = this.engine;
      if (!this.engine.undo()) return;
      this.redoable = [...this.redoable, horizon];
      this.compute(this.undoable.at(-1) ?? now, now);
      this.undoable = this.undoable.slice(0, -1);
    });
    this.afterIntervention();
  }

  redo(): void {
    this.attempt(() => {
      const { now, horizon } = this.engine;
      if (!this.engine.redo()) return;
      this.undoable = [...this.undoable, horizon];
      this.compute(this.redoable.at(-1) ?? now, now);
      this.redoable = this.redoable.slice(0, -1);
    });
    this.afterIntervention();
  }

  select(node: number | null): void {
    this.selected = node !== null && node < this.cluster.nodes.length ? node : null;
    this.attempt(() => this.inspect());
  }

  zoom(factor: number, at?: number): void {
    const next = zoomed(this.window, at ?? this.cluster.now, factor, this.extent);
    this.span = next.span;
    if (this.panned || at !== undefined) this.panned = next;
  }

  pan(by: number): void {
    this.panned = panned(this.window, by, this.extent);
  }

  /** Events up to the horizon. The buffer is the engine's: read it at once, keep nothing of it. */
  events(): Float64Array {
    return this.engine.events();
  }

  /** Runs a call on the engine; tells what went wrong and mends a lost instance. */
  attempt(call: () => void): boolean {
    try {
      call();
      return true;
    } catch (error) {
      this.report(error, 'notice.problem');
      return false;
    }
  }

  /** Runs the world up to a horizon and leaves the cursor where it was. */
  private compute(horizon: number, cursor: number): void {
    this.engine.seek(horizon);
    this.engine.seek(cursor);
  }

  private move(call: () => void): void {
    if (this.attempt(call)) this.refresh(!this.playing);
  }

  private afterIntervention(): void {
    this.attempt(() => this.readSchedule());
    this.refresh(true);
  }

  private readSchedule(): void {
    this.faults = readFaults(JSON.parse(this.engine.scenario()) as Scenario);
  }

  /** A new world: everything is read afresh. */
  private settle(): void {
    this.undoable = [];
    this.redoable = [];
    this.panned = null;
    this.span = DEFAULT_SPAN;
    this.inspector.forget();
    this.attempt(() => {
      this.actors = this.engine.actors();
      this.duration = this.engine.duration;
      this.seed = String((JSON.parse(this.engine.scenario()) as Scenario).seed ?? '');
      this.readSchedule();
    });
    const nodes = this.actors.filter((actor) => actor.kind === 'node').length;
    this.history = new History(nodes);
    if (this.selected !== null && this.selected >= nodes) this.selected = null;
    this.refresh(true);
  }

  /** Reads the engine at the cursor. Judging waits its turn while the run plays. */
  private refresh(judge: boolean): void {
    this.attempt(() => {
      this.cluster = readCluster(this.engine.frame(), this.actors);
      this.history.read(this.engine.events(), this.engine.epoch);
      this.historyVersion = this.history.version;
      this.inspect();
      const now = this.clock();
      if (!judge && now - this.judgedAt < JUDGE_EVERY_MS) return;
      this.judgedAt = now;
      this.verdicts = this.engine.verdicts();
      this.traceHash = this.engine.traceHash();
    });
  }

  private inspect(): void {
    this.inspection =
      this.selected === null ? null : this.inspector.look(this.selected, this.cluster.now, this.playing);
  }

  private report(error: unknown, title: LoadTitle | 'notice.problem'): void {
    if (!(error instanceof EngineError)) throw error;
    if (!error.fatal) {
      // Lines and columns help only who has the text before them.
      const place =
        title === 'notice.file' ? error.problem.place : error.problem.place.replace(/ \(line .*\)$/, '');
      this.notices.add(title, { ...error.problem, place });
      return;
    }
    this.playing = false;
    if (this.recovering) return;
    this.recovering = true;
    this.engine.recover().then(
      () => {
        this.recovering = false;
        this.undoable = [];
        this.redoable = [];
        this.notices.add('notice.engine', error.problem, 'notice.engine.recovered');
        this.refresh(true);
      },
      () => {
        this.notices.add('notice.engine', error.problem, 'notice.engine.lost');
      },
    );
  }
}
