import {
  isPeerScheme,
  LIVELY,
  PEER_FIELDS,
  PEERS,
  type PeerField,
  type PeerValue,
  readField,
  withField,
} from './peers';
import { parseDuration, writeDuration } from './time';

/** A text in both languages, as far as its author wrote it. */
export interface Bilingual {
  en?: string;
  zh?: string;
}

/** A scenario file as the page handles it. The engine judges it; here fields are only read and replaced. */
export type Scenario = Record<string, unknown> & {
  title?: Bilingual;
  lesson?: Bilingual;
  seed?: string;
  nodes?: number;
  faults?: Fault[];
  /** Rules of the scheme that are switched off. */
  rulesOff?: string[];
  duration?: string;
};

export type Fault = { at: string } & Record<string, unknown>;

/** By what nodes elect, as files name it. */
export const SCHEMES = [
  'raft',
  ...PEERS,
  'etcd',
  'etcd-single',
  'milvus',
  'zookeeper',
  'zookeeper-controller',
  'kubernetes',
  'redis',
  'redlock',
  'sql',
  'sql-session',
] as const;
export type Scheme = (typeof SCHEMES)[number];

/** Schemes whose leaders have no token to show. */
const TOKENLESS: ReadonlySet<Scheme> = new Set(['redlock']);

/** Whether a resource can tell leaders apart by a token. */
export function hasTokens(scenario: Scenario): boolean {
  return !TOKENLESS.has(schemeOf(scenario));
}

/** The scheme whose nodes watch over data servers, of which one leads. */
export function hasDataServers(scenario: Scenario): boolean {
  return schemeOf(scenario) === 'sentinel';
}

/** Whether it has Kafka's brokers, and they one partition for good: what they tell is of that. */
export function hasOnePartition({ brokers }: Scenario): boolean {
  const { topics, partitions, recreateTopics } = { ...(brokers as Record<string, unknown> | undefined) };
  return topics === 1 && partitions === 1 && recreateTopics === undefined;
}

/** Schemes whose store has an asynchronous copy that may take its place. */
export const COPIED: ReadonlySet<Scheme> = new Set(['redis', 'sql', 'sql-session']);

/** How many servers the store can have, where there is a choice: a majority of them decides. */
export const SERVERS: Partial<Record<Scheme, readonly number[]>> = {
  etcd: [1, 3, 5],
  'etcd-single': [1, 3, 5],
  milvus: [1, 3, 5],
  zookeeper: [1, 3, 5],
  'zookeeper-controller': [1, 3, 5],
  redlock: [3, 5, 7],
};

/** What the setting panel edits, in plain numbers. Times in milliseconds; NaN where the file's own cannot be read. */
export interface Setting {
  scheme: Scheme;
  nodes: number;
  /** Of a scheme that elects by a store. */
  servers: number;
  ttl: number;
  renew: number;
  retry: number;
  /** Of Kubernetes alone. */
  renewDeadline: number;
  margin: number;
  rateBound: number;
  electionMin: number;
  electionMax: number;
  heartbeat: number;
  safeMode: boolean;
  latencyMin: number;
  latencyMax: number;
  loss: number;
  disk: number;
  clientEvery: number;
  clientThink: number;
  writeDelay: number;
  takeover: string;
}

/** What stands for fields that are left out, as the engine has it. */
export const USUAL = {
  nodes: 5,
  raft: { electionTimeout: ['150ms', '300ms'], heartbeat: '50ms', safeMode: true },
  network: { latency: ['5ms', '10ms'], loss: '0%' },
  disk: { write: '1ms' },
  client: { every: '25ms', think: '0ms', writeDelay: '0ms', takeover: 'fence-first' },
};

export function readSetting(scenario: Scenario): Setting {
  const { raft, lease, network, disk, client } = parts(scenario);
  const [electionMin, electionMax] = pair(raft.electionTimeout).map(milliseconds);
  const [latencyMin, latencyMax] = pair(network.latency).map(milliseconds);
  return {
    scheme: schemeOf(scenario),
    nodes: scenario.nodes ?? USUAL.nodes,
    servers: Number(lease.servers ?? 1),
    ttl: milliseconds(lease.ttl),
    renew: milliseconds(lease.renew),
    retry: milliseconds(lease.retry),
    renewDeadline: milliseconds(lease.renewDeadline),
    margin: milliseconds(lease.margin),
    rateBound: percent(lease.rateBound),
    electionMin,
    electionMax,
    heartbeat: milliseconds(raft.heartbeat),
    safeMode: raft.safeMode === true,
    latencyMin,
    latencyMax,
    loss: percent(network.loss),
    disk: milliseconds(disk.write),
    clientEvery: milliseconds(client.every),
    clientThink: milliseconds(client.think),
    writeDelay: milliseconds(client.writeDelay),
    takeover: String(client.takeover),
  };
}

/** The scenario with this change of its setting. Everything else stays as it was written. */
export function withSetting(scenario: Scenario, change: Partial<Setting>): Scenario {
  const { raft, lease, network, disk, client } = parts(scenario);
  const ms = (value: number | undefined, former: unknown) => (value === undefined ? former : inFile(value));
  const [electionMin, electionMax] = pair(raft.electionTimeout);
  const [latencyMin, latencyMax] = pair(network.latency);
  const scheme = schemeOf(scenario);
  return {
    ...scenario,
    nodes: change.nodes ?? scenario.nodes ?? USUAL.nodes,
    ...(scheme === 'raft' && {
      raft: {
        ...raft,
        electionTimeout: [ms(change.electionMin, electionMin), ms(change.electionMax, electionMax)],
        heartbeat: ms(change.heartbeat, raft.heartbeat),
        safeMode: change.safeMode ?? raft.safeMode,
      },
    }),
    // Those that elect by a store have no disks of their own.
    ...(scheme === 'raft' || isPeerScheme(scheme)
      ? { disk: { ...disk, write: ms(change.disk, disk.write) } }
      : { lease: withLease(lease, change) }),
    // What is left out goes by the ttl.
    leaderWithin: change.ttl === undefined ? scenario.leaderWithin : undefined,
    network: {
      ...network,
      latency: [ms(change.latencyMin, latencyMin), ms(change.latencyMax, latencyMax)],
      loss: change.loss === undefined ? network.loss : `${change.loss}%`,
    },
    client: {
      ...client,
      every: ms(change.clientEvery, client.every),
      think: ms(change.clientThink, client.think),
      writeDelay: ms(change.writeDelay, client.writeDelay),
      takeover: change.takeover ?? client.takeover,
    },
  };
}

/** The lease with this change. What goes by the ttl goes by the new one; what is changed by hand is no system's any more. */
function withLease(lease: Record<string, unknown>, change: Partial<Setting>): Record<string, unknown> {
  if (change.ttl !== undefined) return { ttl: inFile(change.ttl), ...surroundings(lease) };
  if (change.servers !== undefined) return { ...lease, servers: change.servers };
  const changed = (['renew', 'retry', 'renewDeadline', 'margin'] as const)
    .filter((field) => change[field] !== undefined)
    .map((field) => [field, inFile(change[field]!)]);
  const rate = change.rateBound === undefined ? lease.rateBound : `${change.rateBound}%`;
  const preset = changed.length > 0 ? undefined : lease.preset;
  return { ...lease, preset, ...Object.fromEntries(changed), rateBound: rate };
}

/** What of a lease is not how long things take, and stays when that changes. */
function surroundings({ rateBound, latency, servers }: Record<string, unknown>): Record<string, unknown> {
  return { rateBound, latency, servers };
}

/** The values of what is particular to a scheme of peers, by the names of its fields; none of other schemes. */
export function readPeer(scenario: Scenario): Record<string, PeerValue> {
  return Object.fromEntries(
    peerFields(scenario).map((field) => [field.name, readField(partOf(scenario, field), field)]),
  );
}

/** What is particular to the scheme of a scenario, and can be set. Where there are no brokers, that is how many there are to be. */
export function peerFields(scenario: Scenario): readonly PeerField[] {
  const scheme = schemeOf(scenario);
  if (!isPeerScheme(scheme)) return [];
  return PEER_FIELDS[scheme].filter(
    ({ name, part }) => !part || name === 'count' || scenario[part] !== undefined,
  );
}

/** The scenario with this value of a field that is particular to its scheme. What goes by it goes by the new one. */
export function withPeer(scenario: Scenario, name: string, value: PeerValue): Scenario {
  const field = peerFields(scenario).find((field) => field.name === name);
  if (!field) return scenario;
  const none = field.part && name === 'count' && value === 0;
  const part = none ? undefined : withField(partOf(scenario, field), field, value);
  return { ...scenario, [field.part ?? schemeOf(scenario)]: part, leaderWithin: undefined };
}

function partOf(scenario: Scenario, { part }: PeerField): Record<string, unknown> {
  if (part) return { count: 0, ...(scenario[part] as object | undefined) };
  return { ...(scenario[schemeOf(scenario)] as object | undefined) };
}

/** The system by whose parameters it goes, if by those of one. */
export function presetOf(scenario: Scenario): string | null {
  const preset = (scenario.lease as { preset?: unknown } | undefined)?.preset;
  return typeof preset === 'string' ? preset : null;
}

/** The scenario by the parameters of a system; by the usual ones when none is named. */
export function withPreset(scenario: Scenario, preset: string | null): Scenario {
  const lease = { preset: preset ?? undefined, ...surroundings(parts(scenario).lease) };
  return { ...scenario, lease, leaderWithin: undefined };
}

/** The scenario with this rule of its scheme on, or off. */
export function withRule(scenario: Scenario, rule: string, on: boolean): Scenario {
  const others = (scenario.rulesOff ?? []).filter((other) => other !== rule);
  return { ...scenario, rulesOff: on ? others : [...others, rule] };
}

function inFile(milliseconds: number): string {
  return writeDuration(Math.round(milliseconds * 1000));
}

/** The same nodes, network and clients under another scheme, and nothing that happens to them: the names of faults differ. */
export function withScheme(scenario: Scenario, scheme: Scheme): Scenario {
  const { tenure, seed, nodes, client } = scenario;
  // Some speak over connections, and some do not: each in the order that is its own.
  const { order: _, ...network } = { ...(scenario.network as object | undefined) } as Record<string, unknown>;
  const lively = isPeerScheme(scheme) && LIVELY[scheme];
  return { tenure, seed, scheme, nodes, network, client, ...(lively && { [scheme]: lively }) };
}

export function schemeOf(scenario: Scenario): Scheme {
  return SCHEMES.find((scheme) => scheme === scenario.scheme) ?? 'raft';
}

/** How long the store keeps a record that is not renewed, in microseconds; 0 where they elect among themselves. */
export function ttlOf(scenario: Scenario): number {
  const ttl = (scenario.lease as { ttl?: unknown } | undefined)?.ttl;
  return parseDuration(String(ttl)) ?? 0;
}

/** Whether the nodes replicate a log, and clients use the store on it. */
export function replicates(scenario: Scenario): boolean {
  const scheme = schemeOf(scenario);
  const log = (scenario.raft as { log?: boolean } | undefined)?.log === true;
  return scheme === 'zab' || scheme === 'kraft' || (scheme === 'raft' && log);
}

/** Whether clients write through the leader, and not through anyone. */
export function isHeeded(scenario: Scenario): boolean {
  return (scenario.client as { through?: string } | undefined)?.through !== 'anyone';
}

/** The scenario's name in a language, or in any. */
export function titleOf(scenario: Scenario, lang: 'en' | 'zh'): string {
  return inLanguage(scenario.title, lang);
}

/** What to look at in the scenario, in a language, or in any. */
export function lessonOf(scenario: Scenario, lang: 'en' | 'zh'): string {
  return inLanguage(scenario.lesson, lang);
}

function inLanguage(text: Bilingual | undefined, lang: 'en' | 'zh'): string {
  return text?.[lang] || text?.en || text?.zh || '';
}

/** One timed fault, read for display: when, what, to whom, and how. */
export interface FaultView {
  at: number;
  what: string;
  /** As the file writes it: names of nodes or roles, and the signs that join them. */
  whom: string[];
  /** Fields and their values; what is as usual is left out. */
  how: [field: string, value: string][];
}

export function readFaults(scenario: Scenario): FaultView[] {
  return (scenario.faults ?? [])
    .map((fault) => {
      const [what, whom] = Object.entries(fault).find(([key]) => key !== 'at') ?? ['', ''];
      return { at: instant(fault.at), what, whom: words(what, whom), how: fields(whom) };
    })
    .sort((a, b) => a.at - b.at);
}

/** The engine has read it before: what it lists is never shown at another time than its own. */
function instant(text: string): number {
  const us = parseDuration(text);
  if (us === null) throw new RangeError(`a fault at ${text}, which is no duration`);
  return us;
}

/** Actions that mean both directions of a link. */
const BOTH_WAYS = new Set(['flap', 'disconnect']);

/** The fields of a change that say whom it is about. */
const WHOM = ['node', 'between', 'link'];

function words(what: string, whom: unknown): string[] {
  if (Array.isArray(whom) && whom.some(Array.isArray)) {
    return whom.flatMap((group: string[], i) => (i === 0 ? group : ['|', ...group]));
  }
  if (Array.isArray(whom)) return [`${whom[0]}`, BOTH_WAYS.has(what) ? '–' : '→', `${whom[1]}`];
  if (isObject(whom)) {
    const named = WHOM.find((field) => field in whom);
    return named ? words(what, whom[named]) : [];
  }
  return [String(whom)];
}

/** What says nothing where it stands: the engine writes every field. */
const QUIET: Record<string, string> = {
  loss: '0%',
  duplicate: '0%',
  order: 'datagrams',
  replay: '0%',
  rename: '0ms',
};

/** The fields of a change that list nodes; those of weather and the like that are lists are ranges. */
const LISTS = ['voters', 'learners'];

/** A change of weather, of a disk, of a clock, of a pace, of members: its fields and their values. */
function fields(whom: unknown): [string, string][] {
  if (!isObject(whom)) return [];
  const idle = (field: string) => field === 'replayAfter' && (whom.replay ?? QUIET.replay) === QUIET.replay;
  return Object.entries(whom)
    .filter(([field]) => !WHOM.includes(field) && !idle(field))
    .filter(([, value]) => !(Array.isArray(value) && value.length === 0))
    .map(([field, value]): [string, string] => [
      field,
      [value].flat().join(LISTS.includes(field) ? ', ' : '–'),
    ])
    .filter(([field, value]) => QUIET[field] !== value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The parts that the setting is in, with what is usual where a field is left out. */
function parts(
  scenario: Scenario,
): Record<'raft' | 'lease' | 'network' | 'disk' | 'client', Record<string, unknown>> {
  const whole = (name: 'raft' | 'network' | 'disk' | 'client') => ({
    ...USUAL[name],
    ...(scenario[name] as object | undefined),
  });
  const lease = { ...(scenario.lease as object | undefined) };
  return {
    raft: whole('raft'),
    lease,
    network: whole('network'),
    disk: whole('disk'),
    client: whole('client'),
  };
}

function pair(range: unknown): [unknown, unknown] {
  return Array.isArray(range) ? [range[0], range[1]] : [range, range];
}

function milliseconds(value: unknown): number {
  return (parseDuration(String(value)) ?? Number.NaN) / 1000;
}

function percent(value: unknown): number {
  const match = /^(\d+(?:\.\d+)?)%$/.exec(String(value));
  return match ? Number(match[1]) : Number.NaN;
}
