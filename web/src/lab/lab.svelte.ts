import { buildFor } from '../engine/build';
import type { Engine } from '../engine/engine';
import { EngineError, ProblemError, pageProblem, problemOf } from '../engine/errors';
import { EVENT_KINDS, type EventKind } from '../engine/layout';
import type { Action, Actor, Budget, StoreRecord, Verdict, WorldModule } from '../engine/world';
import type { Key } from '../i18n/en';
import { loadPeersWords } from '../i18n/languages';
import { type ClusterView, type NodeView, readCluster, type ServerView } from '../model/cluster';
import { History, NOTABLE_KINDS } from '../model/history';
import { isPeerScheme, observersOf, type PeerScheme, type PeerValue } from '../model/peers';
import {
  type FaultView,
  hasDataServers,
  hasOnePartition,
  hasTokens,
  isHeeded,
  readFaults,
  readPeer,
  readSetting,
  replicates,
  type Scenario,
  type Scheme,
  type Setting,
  schemeOf,
  ttlOf,
  withPeer,
  withPreset,
  withRule,
  withScheme,
  withSetting,
} from '../model/scenario';
import { timeBefore } from '../model/search';
import { historyExtent, writeDuration } from '../model/time';
import { contains, following, panned, type TimeWindow, zoomed } from '../model/window';
import { type Inspection, Inspector } from './inspector';
import type { Notices } from './notices.svelte';

export const SPEEDS: readonly number[] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2];
const DEFAULT_SPEED = 0.1;
const DEFAULT_SPAN = 1_200_000;
/** By a store an election takes seconds, not tenths of them. */
const STORE_SPEED = 1;
const SPAN_IN_LEASES = 4;
/** How fast a scheme of peers is watched, and how much of its past is in sight: about three elections or takeovers. */
const PACE: Record<PeerScheme, { speed: number; span: number }> = {
  zab: { speed: 0.2, span: 2_400_000 },
  sentinel: { speed: 1, span: 16_000_000 },
  kraft: { speed: 0.5, span: 8_000_000 },
};

/** A tab that was away must not make the run leap. */
const LONGEST_STEP_MS = 100;

/** Judging the whole run is dearer than a frame; people read it a few times a second. */
const JUDGE_EVERY_MS = 250;

/** How much a run that is over can be made longer at once, and how long it may become: it is kept whole in memory. */
const EXTENSION = 60_000_000;
const LONGEST_RUN = 600_000_000;

/** Step visits every event but the end. */
const EVERY_EVENT: readonly EventKind[] = EVENT_KINDS.filter((kind) => kind !== 'end');

/** What a refused scenario is called, by where it came from. */
export type LoadTitle = 'notice.file' | 'notice.setting' | 'notice.link';
type NoticeTitle = LoadTitle | 'notice.problem';

/**
 * The session of one Lab: the engine, the cursor in time, and what follows from them. Whatever a panel shows derives
 * from the state here; every move of the engine ends in `refresh`.
 */
export class Lab {
  cluster = $state.raw<ClusterView>()!;
  actors = $state.raw<readonly Actor[]>([]);
  verdicts = $state.raw<readonly Verdict[]>([]);
  inspection = $state.raw<Inspection | null>(null);
  /** What the chosen server keeps of the election. */
  records = $state.raw<readonly StoreRecord[]>([]);
  traceHash = $state('');

  playing = $state(false);
  speed = $state(DEFAULT_SPEED);
  /** The chosen node or server, by its number. */
  selected = $state<number | null>(null);
  duration = $state(0);

  /** The scenario as the engine loaded it, before interventions. */
  scenario = $state.raw<Scenario>({});
  /** Which built-in scenario it is, if one. */
  builtIn = $state<string | null>(null);
  /** Its setting was changed since it was loaded. */
  changed = $state(false);
  /** What follows from the timing, where they elect by a store. */
  budget = $state.raw<Budget | null>(null);
  /** The rules that its scheme stands on. */
  rules = $state.raw<readonly string[]>([]);
  /** The systems by whose parameters its scheme can go. */
  presets = $state.raw<readonly string[]>([]);
  seed = $state('');
  faults = $state.raw<readonly FaultView[]>([]);
  canUndo = $state(false);
  canRedo = $state(false);

  /** Rises when the history changed, for those who draw it. */
  historyVersion = $state(0);
  history = new History(0);

  span = $state(DEFAULT_SPAN);
  /** Where the timeline was moved to by hand; null while it follows the cursor. */
  panned = $state.raw<TimeWindow | null>(null);

  readonly setting: Setting = $derived(readSetting(this.scenario));
  /** Clients write through the leader, not through anyone. */
  readonly heeded = $derived(isHeeded(this.scenario));
  /** The nodes replicate a log, and clients use the store on it. */
  readonly replicates = $derived(replicates(this.scenario));
  /** They elect by a store, which keeps a record for so long when it is not renewed, in microseconds. */
  readonly ttl = $derived(ttlOf(this.scenario));
  /** Leaders have a token to show. */
  readonly tokens = $derived(hasTokens(this.scenario));
  readonly byStore = $derived(this.cluster.servers.some(({ part }) => part === 'store'));
  /** They decide who of Kafka's brokers leads a partition. */
  readonly brokered = $derived(this.cluster.partition !== null);
  /** They watch over servers that keep data of their own. */
  readonly watches = $derived(!this.brokered && this.cluster.servers.some(({ part }) => part !== 'store'));
  /** The values of what is particular to a scheme of peers. */
  readonly peer = $derived(readPeer(this.scenario));
  readonly extent = $derived(historyExtent(this.cluster.horizon, this.duration));
  readonly window: TimeWindow = $derived(this.panned ?? following(this.cluster.now, this.span));
  readonly node: NodeView | null = $derived(
    this.selected === null ? null : (this.cluster.nodes[this.selected] ?? null),
  );
  /** The chosen server of the store. */
  readonly server: ServerView | null = $derived(
    this.cluster.servers.find(({ id }) => id === this.selected) ?? null,
  );
  /** The chosen process, of whichever kind. */
  readonly chosen: NodeView | ServerView | null = $derived(this.node ?? this.server);
  /** Who leads: a node, or the data server that is the master. */
  readonly leader: NodeView | ServerView | null = $derived(
    [...this.cluster.nodes, ...this.cluster.servers].find(({ id }) => id === this.cluster.summary.leader) ??
      null,
  );
  /** What happened last that is worth a jump. */
  readonly latest = $derived(this.historyVersion >= 0 ? this.history.latest(this.cluster.now) : null);
  readonly atEnd = $derived(this.cluster.now >= this.duration);

  /** The furthest that any future of this run was computed. */
  private reached = 0;
  private usualSpeed = DEFAULT_SPEED;
  /** How many scenarios were started, or were to be. */
  private started = 0;
  private judgedAt = Number.NEGATIVE_INFINITY;
  private recovering = false;
  private readonly inspector: Inspector;

  constructor(
    readonly engine: Engine,
    readonly notices: Notices,
    builtIn: string | null,
    private readonly clock: () => number = () => performance.now(),
  ) {
    this.inspector = new Inspector(engine);
    this.builtIn = builtIn;
    this.settle();
  }

  /**
   * Starts another scenario, of whatever scheme, once there is what runs it and tells of it; until then the present run
   * goes on. False, and a notice, when that cannot be had; and false when something else was started meanwhile.
   */
  async open(scenario: Scenario | string, builtIn: string | null, title: LoadTitle): Promise<boolean> {
    this.started += 1;
    const turn = this.started;
    try {
      const text = textOf(scenario);
      const [module] = await Promise.all([this.engine.moduleFor(text), wordsFor(text)]);
      return turn === this.started && this.load(scenario, builtIn, title, module);
    } catch (error) {
      this.report(error, title);
      return false;
    }
  }

  /**
   * Starts another scenario of the present scheme from 0, given as an object or as the text of a file. False, and a notice,
   * when the engine refuses it.
   */
  load(scenario: Scenario | string, builtIn: string | null, title: LoadTitle, module?: WorldModule): boolean {
    this.started += 1;
    try {
      this.engine.load(textOf(scenario), module);
    } catch (error) {
      this.report(error, title);
      return false;
    }
    this.builtIn = builtIn;
    this.changed = false;
    this.settle();
    return true;
  }

  /** Goes over to another scheme, with the same nodes and the same network, and nothing that happens to them. */
  elect(scheme: Scheme): Promise<boolean> {
    return this.open(withScheme(this.scenario, scheme), null, 'notice.setting');
  }

  change(setting: Partial<Setting>): boolean {
    return this.restart(withSetting(this.scenario, setting));
  }

  /** Changes what is particular to a scheme of peers. */
  changePeer(name: string, value: PeerValue): boolean {
    return this.restart(withPeer(this.scenario, name, value));
  }

  /** Goes by the parameters of a system; by those that are usual for the scheme when none is named. */
  goBy(preset: string | null): boolean {
    return this.restart(withPreset(this.scenario, preset));
  }

  /** Switches a rule of the scheme on or off. */
  keep(rule: string, on: boolean): boolean {
    return this.restart(withRule(this.scenario, rule, on));
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
    const from = this.cluster.now;
    const to = from + Math.min(elapsedMs, LONGEST_STEP_MS) * 1000 * this.speed;
    this.move(() => this.engine.seek(to));
    // What plays out of a window that was zoomed or moved takes the window with it; a look elsewhere stays there.
    if (this.panned && contains(this.panned, from) && !contains(this.panned, this.cluster.now))
      this.panned = null;
    if (this.atEnd) this.playing = false;
  }

  /** Plays on from the cursor, or from the start when the run is over. */
  play(): void {
    if (this.atEnd) this.seek(0);
    this.panned = null;
    this.playing = true;
  }

  get canExtend(): boolean {
    return this.atEnd && this.duration < LONGEST_RUN;
  }

  /** The same run, interventions included, with a later end; plays on from where it ended. */
  extend(): void {
    const { scenario, duration: end, builtIn, changed } = this;
    const duration = writeDuration(Math.min(end + EXTENSION, LONGEST_RUN));
    if (!this.load({ ...this.asRun(), duration }, builtIn, 'notice.setting')) return;
    this.scenario = { ...scenario, duration };
    this.changed = changed;
    this.seek(end);
    this.play();
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
      for (const action of actions) this.engine.act(action);
    });
    this.afterIntervention();
    if (done) this.panned = null;
  }

  /** Takes the last intervention back. The future that it had replaced is there again, as far as it had been computed. */
  undo(): void {
    this.travel(() => this.engine.undo());
  }

  redo(): void {
    this.travel(() => this.engine.redo());
  }

  select(actor: number | null): void {
    const { nodes, servers } = this.cluster;
    this.selected = actor !== null && actor < nodes.length + servers.length ? actor : null;
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

  /** The replicated logs and the clients of the store at the cursor; the buffers are the engine's, too. */
  logs(): { logs: Float64Array; clients: Float64Array } {
    return { logs: this.engine.logs(), clients: this.engine.clients() };
  }

  /** Runs what may go on beside; tells what went wrong with it, whatever that is. */
  async attend(work: () => unknown, title: NoticeTitle = 'notice.problem', after?: Key): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.report(error, title, after);
    }
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

  /** The run from 0, with a setting that somebody changed. */
  private restart(scenario: Scenario): boolean {
    if (!this.load(scenario, null, 'notice.setting')) return false;
    this.changed = true;
    return true;
  }

  /** Goes over to another future, as far as any was computed; the cursor stays where it was. */
  private travel(step: () => boolean): void {
    this.attempt(() => {
      const { now } = this.engine;
      if (!step()) return;
      this.engine.seek(this.reached);
      this.engine.seek(now);
    });
    this.afterIntervention();
  }

  private move(call: () => void): void {
    if (this.attempt(call)) this.refresh(!this.playing);
  }

  private afterIntervention(): void {
    this.attempt(() => this.readSchedule());
    this.refresh(true);
  }

  private readSchedule(): void {
    this.faults = readFaults(this.asRun());
  }

  /** The scenario of the run as it is, interventions included. */
  private asRun(): Scenario {
    return JSON.parse(this.engine.scenario()) as Scenario;
  }

  /** A new world: everything is read afresh. */
  private settle(): void {
    this.reached = 0;
    this.panned = null;
    this.inspector.forget();
    this.attempt(() => {
      this.actors = this.engine.actors();
      this.duration = this.engine.duration;
      this.scenario = this.asRun();
      this.budget = this.engine.budget();
      this.rules = this.engine.rules();
      this.presets = this.engine.presets();
      this.seed = this.scenario.seed ?? '';
      this.readSchedule();
    });
    const scheme = schemeOf(this.scenario);
    const pace = isPeerScheme(scheme) ? PACE[scheme] : null;
    this.span = pace?.span ?? (this.ttl > 0 ? SPAN_IN_LEASES * this.ttl : DEFAULT_SPAN);
    const nodes = this.actors.filter((actor) => actor.kind === 'node').length;
    const servers = this.actors.filter((actor) => actor.kind === 'server').length;
    const brokers = hasOnePartition(this.scenario) ? nodes : null;
    this.history = new History(nodes + servers, hasDataServers(this.scenario), brokers);
    if (this.selected !== null && this.selected >= nodes + servers) this.selected = null;
    const usual = pace?.speed ?? (servers > 0 ? STORE_SPEED : DEFAULT_SPEED);
    if (usual !== this.usualSpeed) this.speed = usual;
    this.usualSpeed = usual;
    this.refresh(true);
  }

  /** Reads the engine at the cursor. Judging waits its turn while the run plays. */
  private refresh(judge: boolean): void {
    this.attempt(() => {
      const frame = this.engine.frame();
      this.cluster = readCluster(frame, this.actors, {
        ttl: this.ttl,
        scheme: this.setting.scheme,
        observers: observersOf(this.scenario),
        groups: Number(this.peer.masters ?? 1),
      });
      this.reached = Math.max(this.reached, frame.horizon);
      this.canUndo = this.engine.canUndo;
      this.canRedo = this.engine.canRedo;
      this.history.readSpans(frame);
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
    const { selected, cluster } = this;
    const server = cluster.servers.find(({ id }) => id === selected);
    const store = server?.part === 'store';
    this.inspection =
      selected === null || store ? null : this.inspector.look(selected, cluster.now, this.playing);
    this.records = store ? this.engine.records(server.id) : [];
  }

  private report(error: unknown, title: NoticeTitle, after: Key | null = null): void {
    const problem = problemOf(error);
    if (!(error instanceof EngineError && error.fatal)) {
      if (!(error instanceof ProblemError)) {
        // A fault of the page itself: it would only come again with every frame.
        this.playing = false;
        console.error(error);
      }
      // Lines and columns help only who has the text before them.
      const place = title === 'notice.file' ? problem.place : problem.place.replace(/ \(line .*\)$/, '');
      this.notices.add(title, { ...problem, place }, after);
      return;
    }
    this.playing = false;
    if (this.recovering) return;
    this.recovering = true;
    this.engine.recover().then(
      () => {
        this.recovering = false;
        this.notices.add('notice.engine', problem, 'notice.engine.recovered');
        this.refresh(true);
      },
      () => {
        this.notices.add('notice.engine', problem, 'notice.engine.lost');
      },
    );
  }
}

/** What the page says of a scheme; of most of them that is there. */
async function wordsFor(text: string): Promise<void> {
  if (buildFor(text) !== 'peers') return;
  await loadPeersWords().catch((error) => {
    throw new ProblemError(pageProblem('scheme-not-loaded', 'page', { reason: String(error) }));
  });
}

function textOf(scenario: Scenario | string): string {
  return typeof scenario === 'string' ? scenario : JSON.stringify(scenario);
}
