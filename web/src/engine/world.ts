/** The engine's API as the WASM module exports it. All times are whole microseconds of virtual time. */

import type { Build } from './build';

/** An action as it stands in the faults of a scenario file, without its time; those that the page offers. */
export type Action =
  | {
      [what in
        | 'crash'
        | 'restart'
        | 'pause'
        | 'resume'
        | 'resign'
        | 'campaign'
        | 'failover'
        | 'evict']?: string;
    }
  | { clock: { node: string; jump: string } }
  | { [what in 'cut' | 'heal']?: [from: string, to: string] }
  | { partition: string[][] }
  | { heal: 'all' };

export interface Verdict {
  check: string;
  verdict: 'holds' | 'broken' | 'broken-by-design' | 'not-exercised' | 'undecided';
  exercised: number;
  broken: number;
  firstBrokenAt: number | null;
}

export interface Actor {
  id: number;
  kind: 'node' | 'server' | 'client' | 'resource';
  name: string;
  fenced?: boolean;
}

/** What follows from the timing of an election by a store, in microseconds. */
export interface Budget {
  /** How long a holder believes after the send of its last acknowledged request. */
  belief: number;
  /** The longest takeover after a crash. */
  takeover: number;
  /** The longest outage of the store that a holder survives. */
  outage: number;
  /** The shortest time from when a holder has stopped until another can hold. */
  slack: number;
}

/** A record of the election in a store: of whoever holds by it first, then of who waits, in order. */
export interface StoreRecord {
  key: string;
  holder: string | null;
  token: string | null;
  /** When the store lets it end, as its clock goes now; null when no time is set to it. */
  ends: number | null;
  holds: boolean;
}

export interface World {
  free(): void;
  readonly now: number;
  readonly horizon: number;
  readonly duration: number;
  readonly canUndo: boolean;
  readonly canRedo: boolean;
  seek(to: number): void;
  seekNext(maskLo: number, maskHi: number): boolean;
  frame(): void;
  nodesPtr(): number;
  nodesLen(): number;
  flightsPtr(): number;
  flightsLen(): number;
  resourcesPtr(): number;
  resourcesLen(): number;
  serversPtr(): number;
  serversLen(): number;
  particularsPtr(): number;
  particularsLen(): number;
  linksPtr(): number;
  linksLen(): number;
  summaryPtr(): number;
  summaryLen(): number;
  overlapsPtr(): number;
  overlapsLen(): number;
  leaderlessPtr(): number;
  leaderlessLen(): number;
  logsPtr(): number;
  logsLen(): number;
  clientsPtr(): number;
  clientsLen(): number;
  eventsPtr(): number;
  eventsLen(): number;
  act(action: Action): void;
  undo(): boolean;
  redo(): boolean;
  inspect(node: number): unknown;
  records(server: number): StoreRecord[];
  verdicts(): Verdict[];
  budget(): Budget | undefined;
  rules(): string[];
  /** Where there are elections over a store. */
  presets?(): string[];
  scenario(): string;
  actors(): Actor[];
  traceHash(): string;
}

/** One instance of the WASM module with its memory. */
export interface WorldModule {
  World: new (scenario: string, seed?: string) => World;
  memory: WebAssembly.Memory;
  randomSeed(): string;
  checkScenario(json: string): void;
  eventKinds(): string[];
  readonly build: Build;
}

/** Makes a fresh instance of the module of a build; called again after a trap. */
export type Instantiate = (build: Build) => Promise<WorldModule>;
