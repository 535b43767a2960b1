import type { Frame } from '../engine/engine';
import {
  FATE,
  FLIGHT,
  NODE,
  PARTS,
  type Part,
  PLACES,
  REGISTERED,
  RESOURCE,
  ROLES,
  type Role,
  SERVER,
  STATUSES,
  type Status,
  SUMMARY,
} from '../engine/layout';
import type { Actor } from '../engine/world';
import { type Particulars, readParticulars } from './particulars';
import type { Scheme } from './scenario';

/** A stretch of time that runs out: an election timer, a lease, a promise. */
export interface Countdown {
  from: number;
  until: number;
  /** Share that is left, 1 to 0. */
  left: number;
}

export interface NodeView {
  id: number;
  name: string;
  role: Role;
  status: Status;
  term: number;
  /** Id of the node it voted for in its term. */
  vote: number | null;
  follows: number | null;
  /** Its next deadline: the election timer of a follower, the heartbeat of a leader. */
  timer: Countdown | null;
  /** What the holder believes. */
  lease: Countdown | null;
  /**
   * Until when nobody else can hold, in truth: as long as a majority of voters has promised to elect no other, or as the
   * store keeps the record.
   */
  promised: Countdown | null;
  /** Its own promise as a voter, and the term it was given to. */
  promise: (Countdown & { term: number }) | null;
  diskPending: number;
  believes: boolean;
  wouldAct: boolean;
  granted: number;
  logTerm: number;
  logIndex: number;
  incarnation: number;
  /** Established leader at this instant. */
  leading: boolean;
  /** What is particular to its scheme; null where nothing is, and of a node that is down. */
  own: Particulars | null;
}

export interface FlightView {
  id: number;
  from: number;
  to: number;
  kind: number;
  term: number;
  sentAt: number;
  arrivesAt: number;
  /** How far it is, 0 to 1. */
  progress: number;
  lost: boolean;
  cutOff: boolean;
}

export interface ResourceView {
  id: number;
  name: string;
  fenced: boolean;
  token: number;
  writer: number | null;
  accepted: number;
  stale: number;
  refused: number;
  value: number;
}

/** A server: of the store by which the nodes elect, or one that keeps data of its own. */
export interface ServerView {
  id: number;
  name: string;
  status: Status;
  part: Part;
  /** Somebody holds, as it sees it; of one with data of its own: it takes writes. */
  held: boolean;
  /** Which node that is; null for nobody and for strangers. */
  holder: number | null;
  token: number;
  /** How long the record has left in true time, of a whole lease. */
  lease: Countdown | null;
  records: number;
  /** How many microseconds its clock is ahead of true time, and how many it counts in a true second. */
  ahead: number;
  pace: number;
  /** Of one with data of its own: whose it copies, how much it has, and whether it is in touch with that one. */
  follows: number | null;
  end: number;
  linked: boolean;
  /** Of one that is named as a master: the epoch of the configuration that names it; of a partition's leader, its leader epoch. */
  epoch: number | null;
  broker: BrokerView | null;
}

/** A broker of Kafka's: how it stands in the metadata, and how much of the partition it knows to be committed. */
export interface BrokerView {
  registered: (typeof REGISTERED)[number];
  /** Its broker epoch. */
  epoch: number | null;
  place: (typeof PLACES)[number];
  highWatermark: number;
}

/** The partition that Kafka's clients use first, as the metadata has it. */
export interface PartitionView {
  leader: number | null;
  /** Null while there is no topic. */
  epoch: number | null;
  isr: number[];
  elr: number[];
  /** As its leader has it. */
  highWatermark: number | null;
}

export interface SummaryView {
  believedLeaders: number;
  overlapUs: number;
  leaderlessUs: number;
  staleUnfenced: number;
  staleFenced: number;
  refused: number;
  messages: number;
  elections: number;
  established: number;
  acknowledged: number;
  broken: number;
  leader: number | null;
  leaderTerm: number;
}

/** All that is drawn of one instant. Plain values: it stays good after the engine moves on. */
export interface ClusterView {
  now: number;
  horizon: number;
  nodes: NodeView[];
  servers: ServerView[];
  client: Actor | null;
  flights: FlightView[];
  resources: ResourceView[];
  /** `cut[from][to]`: messages from → to are lost; the servers come after the nodes. */
  cut: boolean[][];
  summary: SummaryView;
  /** How many nodes vote. */
  voters: number;
  /** How many groups the servers with data of their own are in: those of a group copy from each other. */
  groups: number;
  /** Null where there are no brokers. */
  partition: PartitionView | null;
}

/** What of a scenario is needed to read an instant of it. */
export interface Reading {
  /** How long the store keeps a record that is not renewed. */
  ttl?: number;
  scheme?: Scheme;
  /** How many nodes have no vote. */
  observers?: number;
  /** How many groups of servers copy from each other. */
  groups?: number;
}

/** What the engine shows of an instant. */
export function readCluster(
  frame: Frame,
  actors: readonly Actor[],
  { ttl = 0, scheme = 'raft', observers = 0, groups = 1 }: Reading = {},
): ClusterView {
  const summary = readSummary(frame.summary);
  const own = readParticulars(frame.particulars, scheme);
  const nodes = readNodes(frame, actors, summary, own);
  const servers = readServers(frame, actors, ttl, named(own));
  for (const node of nodes) {
    if (!node.lease) continue;
    node.promised =
      servers.length > 0
        ? keptBy(servers, node, node.lease, frame.now)
        : promisedBy(nodes, node, node.lease, frame.now);
  }
  return {
    now: frame.now,
    horizon: frame.horizon,
    nodes,
    servers,
    client: actors.find((actor) => actor.kind === 'client') ?? null,
    flights: readFlights(frame),
    // Clients of servers with data of their own write there, and at no guarded resource.
    resources: servers.some(({ part }) => part !== 'store') ? [] : readResources(frame, actors),
    cut: readLinks(frame.links, nodes.length + servers.length),
    summary,
    voters: nodes.length - observers,
    groups: servers.some(({ part }) => part !== 'store') ? groups : 0,
    partition: readPartition(frame.servers, servers),
  };
}

/** Majority of n. */
export function quorum(n: number): number {
  return Math.floor(n / 2) + 1;
}

/** Whether a node waits for one timer that was armed once: others have several, or look at the time now and then. */
function isTimed(own: Particulars | undefined): boolean {
  return own?.scheme !== 'zab' && own?.scheme !== 'sentinel';
}

/** Who is a master by the highest configuration that a sentinel holds of it, and the epoch of that. */
function named(own: ReadonlyMap<number, Particulars>): Map<number, number> {
  const highest: { master: number; configEpoch: number }[] = [];
  for (const one of own.values()) {
    if (one.scheme !== 'sentinel') continue;
    one.watches.forEach((watch, i) => {
      if (!highest[i] || watch.configEpoch > highest[i].configEpoch) highest[i] = watch;
    });
  }
  return new Map(highest.map(({ master, configEpoch }) => [master, configEpoch]));
}

function readNodes(
  frame: Frame,
  actors: readonly Actor[],
  summary: SummaryView,
  own: ReadonlyMap<number, Particulars>,
): NodeView[] {
  const data = frame.nodes;
  const nodes: NodeView[] = [];
  for (let at = 0; at + NODE.stride <= data.length; at += NODE.stride) {
    const id = data[at + NODE.id];
    const promise = countdown(frame.now, data[at + NODE.promiseStart], data[at + NODE.promiseUntil]);
    nodes.push({
      id,
      name: nameOf(actors, id),
      role: ROLES[data[at + NODE.role]] ?? 'halted',
      status: STATUSES[data[at + NODE.status]] ?? 'up',
      term: data[at + NODE.term],
      vote: known(data[at + NODE.vote]),
      follows: known(data[at + NODE.follows]),
      timer: isTimed(own.get(id))
        ? countdown(frame.now, data[at + NODE.armedAt], data[at + NODE.deadline])
        : null,
      lease: countdown(frame.now, data[at + NODE.leaseStart], data[at + NODE.leaseUntil]),
      promised: null,
      promise: promise && { ...promise, term: data[at + NODE.promiseTerm] },
      diskPending: data[at + NODE.diskPending],
      believes: data[at + NODE.believes] === 1,
      wouldAct: data[at + NODE.wouldAct] === 1,
      granted: data[at + NODE.granted],
      logTerm: data[at + NODE.lastLogTerm],
      logIndex: data[at + NODE.lastLogIndex],
      incarnation: data[at + NODE.incarnation],
      leading: summary.leader === id,
      own: own.get(id) ?? null,
    });
  }
  return nodes;
}

/**
 * The instant until which a majority is bound to this leader: the quorum-th latest promise, its own lease standing for
 * its own promise. The lease is safe as long as this hand does not fall behind the holder's.
 */
function promisedBy(nodes: readonly NodeView[], leader: NodeView, lease: Countdown, now: number): Countdown {
  const promises = nodes
    .filter((node) => node.id !== leader.id && node.promise?.term === leader.term)
    .map((node) => node.promise!.until)
    .sort((a, b) => b - a);
  const others = quorum(nodes.length) - 1;
  const until = others === 0 ? lease.until : (promises[others - 1] ?? lease.from);
  const length = lease.until - lease.from;
  return { from: lease.from, until, left: length > 0 ? Math.max(0, (until - now) / length) : 0 };
}

/** The instant until which as many servers keep its record as it needs: the quorum-th latest. */
function keptBy(servers: readonly ServerView[], node: NodeView, lease: Countdown, now: number): Countdown {
  const kept = servers
    .filter(({ holder, lease }) => holder === node.id && lease !== null)
    .map((server) => server.lease!.until)
    .sort((a, b) => b - a);
  const until = kept[quorum(servers.length) - 1] ?? lease.from;
  const length = lease.until - lease.from;
  return { from: lease.from, until, left: length > 0 ? Math.max(0, (until - now) / length) : 0 };
}

function readServers(
  frame: Frame,
  actors: readonly Actor[],
  ttl: number,
  masters: ReadonlyMap<number, number>,
): ServerView[] {
  const data = frame.servers;
  const servers: ServerView[] = [];
  for (let at = 0; at + SERVER.stride <= data.length; at += SERVER.stride) {
    const id = data[at + SERVER.actor];
    const part = PARTS[data[at + SERVER.part]] ?? 'store';
    const broker = BROKERS.has(part) ? readBroker(data, at) : null;
    const until = data[at + SERVER.until];
    servers.push({
      id,
      name: nameOf(actors, id),
      status: STATUSES[data[at + SERVER.status]] ?? 'up',
      part,
      held: data[at + SERVER.held] === 1,
      holder: known(data[at + SERVER.holder]),
      token: data[at + SERVER.token],
      lease: countdown(frame.now, Math.max(0, until - ttl), until),
      records: data[at + SERVER.records],
      ahead: data[at + SERVER.ahead],
      pace: data[at + SERVER.pace],
      follows: known(data[at + SERVER.follows]),
      end: data[at + SERVER.end],
      linked: data[at + SERVER.linked] === 1,
      epoch: broker?.place === 'leader' ? data[at + SERVER.leaderEpoch] : (masters.get(id) ?? null),
      broker,
    });
  }
  return servers;
}

/** What a broker can be. */
const BROKERS: ReadonlySet<Part> = new Set(['leader', 'follower', 'broker']);

function readBroker(data: Float64Array, at: number): BrokerView {
  return {
    registered: REGISTERED[data[at + SERVER.registered]] ?? 'unregistered',
    epoch: known(data[at + SERVER.brokerEpoch]),
    place: PLACES[data[at + SERVER.place]] ?? 'none',
    highWatermark: data[at + SERVER.committed],
  };
}

/** The partition, of which each broker says what it is to it. */
function readPartition(data: Float64Array, servers: readonly ServerView[]): PartitionView | null {
  if (!servers.some(({ broker }) => broker)) return null;
  const those = (...places: BrokerView['place'][]) =>
    servers.filter(({ broker }) => broker && places.includes(broker.place));
  const [leader] = those('leader');
  return {
    leader: leader?.id ?? null,
    epoch: known(data[SERVER.leaderEpoch]),
    isr: those('in-sync', 'leader').map(({ id }) => id),
    elr: those('eligible').map(({ id }) => id),
    highWatermark: leader?.part === 'leader' ? leader.broker!.highWatermark : null,
  };
}

const ARRIVING = new Set<number>([FATE.arrives, FATE.replayed]);

function readFlights(frame: Frame): FlightView[] {
  const data = frame.flights;
  const flights: FlightView[] = [];
  for (let at = 0; at + FLIGHT.stride <= data.length; at += FLIGHT.stride) {
    const sentAt = data[at + FLIGHT.sentAt];
    const arrivesAt = data[at + FLIGHT.arrivesAt];
    const length = arrivesAt - sentAt;
    flights.push({
      id: data[at + FLIGHT.id],
      from: data[at + FLIGHT.from],
      to: data[at + FLIGHT.to],
      kind: data[at + FLIGHT.kind],
      term: data[at + FLIGHT.term],
      sentAt,
      arrivesAt,
      progress: length > 0 ? clamp((frame.now - sentAt) / length) : 1,
      lost: !ARRIVING.has(data[at + FLIGHT.fate]),
      cutOff: data[at + FLIGHT.fate] === FATE.cut,
    });
  }
  return flights;
}

function readResources(frame: Frame, actors: readonly Actor[]): ResourceView[] {
  const data = frame.resources;
  const resources: ResourceView[] = [];
  for (let at = 0; at + RESOURCE.stride <= data.length; at += RESOURCE.stride) {
    const id = data[at + RESOURCE.actor];
    resources.push({
      id,
      name: nameOf(actors, id),
      fenced: data[at + RESOURCE.fenced] === 1,
      token: data[at + RESOURCE.token],
      writer: known(data[at + RESOURCE.writer]),
      accepted: data[at + RESOURCE.accepted],
      stale: data[at + RESOURCE.stale],
      refused: data[at + RESOURCE.refused],
      value: data[at + RESOURCE.value],
    });
  }
  return resources;
}

function readLinks(links: Uint8Array, n: number): boolean[][] {
  return Array.from({ length: n }, (_, from) =>
    Array.from({ length: n }, (_, to) => links[from * n + to] === 1),
  );
}

function readSummary(data: Float64Array): SummaryView {
  return {
    believedLeaders: data[SUMMARY.believedLeaders],
    overlapUs: data[SUMMARY.overlapUs],
    leaderlessUs: data[SUMMARY.leaderlessUs],
    staleUnfenced: data[SUMMARY.staleUnfenced],
    staleFenced: data[SUMMARY.staleFenced],
    refused: data[SUMMARY.refused],
    messages: data[SUMMARY.messages],
    elections: data[SUMMARY.elections],
    established: data[SUMMARY.established],
    acknowledged: data[SUMMARY.acknowledged],
    broken: data[SUMMARY.broken],
    leader: known(data[SUMMARY.leader]),
    leaderTerm: data[SUMMARY.leaderTerm],
  };
}

function countdown(now: number, from: number, until: number): Countdown | null {
  if (until < 0) return null;
  const start = from < 0 ? until : from;
  const length = until - start;
  return { from: start, until, left: length > 0 ? clamp((until - now) / length) : 0 };
}

function known(value: number): number | null {
  return value >= 0 ? value : null;
}

function nameOf(actors: readonly Actor[], id: number): string {
  return actors.find((actor) => actor.id === id)?.name ?? `#${id}`;
}

function clamp(value: number): number {
  return Math.min(1, Math.max(0, value));
}
