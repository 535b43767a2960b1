import { parseDuration, writeDuration } from './time';

/** A scenario file as the page handles it. The engine judges it; here fields are only read and replaced. */
export type Scenario = Record<string, unknown> & {
  title?: { en?: string; zh?: string };
  seed?: string;
  nodes?: number;
  faults?: Fault[];
  duration?: string;
};

export type Fault = { at: string } & Record<string, unknown>;

/** What the setting panel edits, in plain numbers. Times in milliseconds. */
export interface Setting {
  nodes: number;
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

const DEFAULTS: Setting = {
  nodes: 5,
  electionMin: 150,
  electionMax: 300,
  heartbeat: 50,
  safeMode: true,
  latencyMin: 5,
  latencyMax: 10,
  loss: 0,
  disk: 1,
  clientEvery: 25,
  clientThink: 0,
  writeDelay: 0,
  takeover: 'fence-first',
};

export function readSetting(scenario: Scenario): Setting {
  const raft = part(scenario.raft);
  const network = part(scenario.network);
  const client = part(scenario.client);
  const [electionMin, electionMax] = range(raft.electionTimeout, DEFAULTS.electionMin, DEFAULTS.electionMax);
  const [latencyMin, latencyMax] = range(network.latency, DEFAULTS.latencyMin, DEFAULTS.latencyMax);
  return {
    nodes: typeof scenario.nodes === 'number' ? scenario.nodes : DEFAULTS.nodes,
    electionMin,
    electionMax,
    heartbeat: milliseconds(raft.heartbeat, DEFAULTS.heartbeat),
    safeMode: typeof raft.safeMode === 'boolean' ? raft.safeMode : DEFAULTS.safeMode,
    latencyMin,
    latencyMax,
    loss: percent(network.loss, DEFAULTS.loss),
    disk: milliseconds(part(scenario.disk).write, DEFAULTS.disk),
    clientEvery: milliseconds(client.every, DEFAULTS.clientEvery),
    clientThink: milliseconds(client.think, DEFAULTS.clientThink),
    writeDelay: milliseconds(client.writeDelay, DEFAULTS.writeDelay),
    takeover: typeof client.takeover === 'string' ? client.takeover : DEFAULTS.takeover,
  };
}

/** The scenario with this setting. Everything the panel does not know stays as it was. */
export function withSetting(scenario: Scenario, setting: Setting): Scenario {
  const ms = (value: number) => writeDuration(Math.round(value * 1000));
  return {
    ...scenario,
    nodes: setting.nodes,
    raft: {
      ...part(scenario.raft),
      electionTimeout: [ms(setting.electionMin), ms(setting.electionMax)],
      heartbeat: ms(setting.heartbeat),
      safeMode: setting.safeMode,
    },
    network: {
      ...part(scenario.network),
      latency: [ms(setting.latencyMin), ms(setting.latencyMax)],
      loss: `${setting.loss}%`,
    },
    disk: { ...part(scenario.disk), write: ms(setting.disk) },
    client: {
      ...part(scenario.client),
      every: ms(setting.clientEvery),
      think: ms(setting.clientThink),
      writeDelay: ms(setting.writeDelay),
      takeover: setting.takeover,
    },
  };
}

/** The scenario's name in a language, or in any. */
export function titleOf(scenario: Scenario, lang: 'en' | 'zh'): string {
  return scenario.title?.[lang] || scenario.title?.en || scenario.title?.zh || '';
}

/** One timed fault, read for display: when, what, to whom. */
export interface FaultView {
  at: number;
  what: string;
  /** As the file writes it: names of nodes or roles, and the signs that join them. */
  whom: string[];
}

export function readFaults(scenario: Scenario): FaultView[] {
  return (scenario.faults ?? [])
    .map((fault) => {
      const [what, whom] = Object.entries(fault).find(([key]) => key !== 'at') ?? ['', ''];
      return { at: parseDuration(fault.at) ?? 0, what, whom: words(whom) };
    })
    .sort((a, b) => a.at - b.at);
}

function words(whom: unknown): string[] {
  if (Array.isArray(whom) && whom.some(Array.isArray)) {
    return whom.flatMap((group: string[], i) => (i === 0 ? group : ['|', ...group]));
  }
  if (Array.isArray(whom)) return [`${whom[0]}`, '→', `${whom[1]}`];
  // A change of weather or of a disk: its fields and their values.
  if (typeof whom === 'object' && whom !== null) {
    return Object.entries(whom).map(([field, value]) => `${field} ${[value].flat().join('–')}`);
  }
  return [String(whom)];
}

function part(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function milliseconds(value: unknown, otherwise: number): number {
  const us = typeof value === 'string' ? parseDuration(value) : null;
  return us === null ? otherwise : us / 1000;
}

function range(value: unknown, low: number, high: number): [number, number] {
  if (Array.isArray(value)) return [milliseconds(value[0], low), milliseconds(value[1], high)];
  const single = milliseconds(value, Number.NaN);
  return Number.isNaN(single) ? [low, high] : [single, single];
}

function percent(value: unknown, otherwise: number): number {
  const match = typeof value === 'string' ? /^(\d+(?:\.\d+)?)%$/.exec(value) : null;
  return match ? Number(match[1]) : otherwise;
}
