//! The TypeScript types of what is passed as an object: they are part of the interface.

use wasm_bindgen::prelude::*;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
/** Thrown, as a plain object, wherever an input is refused. */
export interface WorldError { code: string; place: string; reason: string; remedy: string }

/** An intervention: an action as it may stand in the faults of a scenario file, without its time. */
export type Action = Record<string, unknown>;

/** What a checker has to say. */
export interface Verdict {
  check: 'one-leader-per-term' | 'one-vote-per-term' | 'token-rises' | 'believed-leaders' | 'stale-write-fenced' | 'stale-write-unfenced' | 'leader-again' | 'never-revives' | 'token-holder'
    | 'linearizable-fenced' | 'linearizable-unfenced' | 'linearizable-client'
    | 'jobs-lost' | 'jobs-run-twice-fenced' | 'jobs-run-twice-unfenced' | 'jobs-concurrent';
  verdict: 'holds' | 'broken' | 'broken-by-design' | 'not-exercised' | 'undecided';
  exercised: number;
  broken: number;
  firstBrokenAt: number | null;
}

/** Who is in the world. */
export interface Actor { id: number; kind: 'node' | 'server' | 'client' | 'resource'; name: string; fenced?: boolean }

/**
 * What follows from the timing of an election by a store, in microseconds: how long a holder believes after the send of its
 * last acknowledged request; the longest takeover after a crash; the longest outage of the store that a holder survives;
 * and the shortest time from when a holder has stopped until another can hold.
 */
export interface Budget { belief: number; takeover: number; outage: number; slack: number }

/**
 * A record of the election in a store. `ends` is in microseconds of true time: when the store will let it end as its clock
 * goes now, null when no time is set to it. Whoever holds by it leads, as the store sees it.
 */
export interface Record { key: string; holder: string | null; token: string | null; ends: number | null; holds: boolean }

/** Everything about one node. Times are microseconds of true time; counters of any size are text. */
export interface Inspection {
  name: string; role: string; status: string; incarnation: string; term: string;
  vote: string | null; leader: string | null;
  deadline: number | null; armedAt: number | null;
  believesToLead: boolean; token: string | null; leaseFrom: number | null; leaseUntil: number | null;
  promiseSince: number | null; promiseUntil: number | null; promisedTo: string | null;
  grants: number; logTerm: string; logIndex: string;
  durableTerm: string | null; durableVote: string | null; writesPending: number; diskWrite: number;
  queuedWhilePaused: number; serving: boolean; refused: string;
  /** What is particular to its scheme. */
  [particular: string]: string | number | boolean | null;
}
"#;

#[wasm_bindgen]
extern "C" {
    /// An intervention.
    #[wasm_bindgen(typescript_type = "Action")]
    pub type JsAction;
    /// Verdicts.
    #[wasm_bindgen(typescript_type = "Verdict[]")]
    pub type JsVerdicts;
    /// Actors.
    #[wasm_bindgen(typescript_type = "Actor[]")]
    pub type JsActors;
    /// A budget.
    #[wasm_bindgen(typescript_type = "Budget")]
    pub type JsBudget;
    /// The records of a server.
    #[wasm_bindgen(typescript_type = "Record[]")]
    pub type JsRecords;
    /// Names in scenarios.
    #[wasm_bindgen(typescript_type = "string[]")]
    pub type JsNames;
    /// An inspected node.
    #[wasm_bindgen(typescript_type = "Inspection")]
    pub type JsInspection;
}
