//! The TypeScript types of what passes as an object: they are part of the interface.

use wasm_bindgen::prelude::*;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
/** Thrown wherever an input is refused. */
export interface TenureError extends Error {
  name: 'TenureError';
  /** For programs: never translated, never changed. */
  code: string;
  /** Which argument, and where in it. */
  place: string;
  reason: string;
  remedy: string;
}

/** How one node takes part. Times are microseconds. What is left out has the default that is named. */
export interface RaftConfig {
  /** This node: a whole number, never used again for another disk. */
  id: number;
  /** Everybody who votes, the same on every node. */
  voters: number[];
  /** Timeouts. */
  timing?: Timing;
  /** PreVote and CheckQuorum, on by default. Off, only the fence protects. */
  safeMode?: boolean;
  /** How soon it stands when nobody leads; 'ordinary'. */
  priority?: 'reluctant' | 'ordinary' | 'preferred';
  /** Of the tokens; raised by an operator when disks were restored from a backup. 0. */
  generation?: number;
  /** How the log is fed to followers, counted in entries; left out for an election without a log. */
  replication?: { /** In one message; 256. */ batch?: number; /** On the way to one follower; 4,096. */ window?: number };
}

export interface Timing {
  /** The shortest election timeout, and the length of a follower's promise; 150,000. */
  electionMin?: number;
  /** The longest; 300,000. */
  electionMax?: number;
  /** 50,000. */
  heartbeat?: number;
  /** How far a clock may be from its true rate, in parts per million; 10,000. */
  rateBound?: number;
  /** How far behind the clock `now` may be; 1. */
  grain?: number;
}

/** What a machine starts from. */
export interface Boot {
  /** What the disk holds; left out only by a node that never ran. A node whose disk was lost must take a new id. */
  stored?: Uint8Array;
  /** Not 0, and another in each life of the node: a counter that is kept on the disk will do. */
  incarnation: bigint | number;
  /** Of its draws: eight random bytes. */
  seed: bigint | number;
}

/** Names an entry. */
export interface Position { term: bigint; index: bigint }

/** Goes with every effect of a leader; a guarded resource takes only the highest. The generation counts first. */
export interface Token { generation: number; counter: bigint }

export interface Leader { node: number; token: Token }

/** Names a request; it can be copied and posted. */
export interface Ticket { incarnation: bigint; number: bigint }

export type Role = 'follower' | 'pre-candidate' | 'candidate' | 'leader';

/** What a node may believe. `until` is Infinity without safe mode. */
export type Standing =
  | { kind: 'leading'; token: Token; until: number }
  | { kind: 'following'; leader: Leader }
  | { kind: 'unknown' };

/**
 * Entries of one term: `count` of them after `after`. The first `own` of them are the machine's own and have no payload: the
 * one with which each leader opens its term, and one that changes who takes part, which comes alone, with `change`. All
 * others were proposed.
 */
export interface Entries { after: Position; term: bigint; count: bigint; own: bigint; change: boolean }

/** What a machine asks of the program. */
export type Output =
  /** Send this to a peer, with the payloads that it names; or drop it when they are not at hand. */
  | { kind: 'send'; to: number; message: Uint8Array; carries?: ({ kind: 'entries' } & Entries) | { kind: 'snapshot'; last: Position } }
  /** Write this, with the payloads of the entries it appends, and reply when it is flushed. */
  | { kind: 'request'; ticket: Ticket; write: Uint8Array; log: LogWrite }
  /** The reads up to that number may be answered once the program's state has applied `index`. */
  | { kind: 'read'; outcome: 'ready'; upto: bigint; index: bigint }
  /** The leadership they were asked in ended before they were confirmed: ask again. */
  | { kind: 'read'; outcome: 'leader-lost'; upto: bigint }
  /** News; it authorises nothing. */
  | { kind: 'event'; event: ElectionEvent };

/** A read from the leader's lease. */
export interface Leased { index: bigint; token: Token; until: number }

/** What happens to the log in one write. */
export type LogWrite =
  | { kind: 'keep' }
  /** What came after `after` is dropped, and these take its place. */
  | ({ kind: 'append' } & Entries)
  /** Entries up to there are dropped. */
  | { kind: 'compact'; upto: Position }
  /** The log is replaced by the snapshot that ends there. */
  | { kind: 'install'; last: Position };

export type ElectionEvent =
  | { kind: 'elected'; token: Token }
  | { kind: 'established'; token: Token; until: number }
  | { kind: 'deposed'; token: Token; why: Why }
  | { kind: 'following'; leader: Leader | null }
  | { kind: 'halted' }
  | { kind: 'transfer-dropped'; to: number }
  | { kind: 'other' };

export type Why = 'disk-failed' | 'higher-term' | 'lapsed' | 'removed' | 'resigned' | 'taken' | 'transferred' | 'other';

/** Who takes part; in a joint membership, which takes a quorum of the old voters and one of the new, `voters` are both. */
export interface Membership { voters: number[]; learners: number[]; joint: boolean }

/** What a change of membership is to end in. */
export interface Target { voters: number[]; learners?: number[] }

/** How often each reason applied ('term-leap', 'unknown-sender', …); without those that never did. */
export type Refusals = Record<string, number>;
"#;
