//! Tenure's simulator for JavaScript.
//!
//! A [`World`] is a run with time travel. Per frame, typed views into the module's memory; objects only for
//! configuration, verdicts and the one inspected node. All times are integer microseconds in a JavaScript number; counters
//! that may exceed 2⁵³ are text. Errors are thrown as plain objects `{ code, place, reason, remedy }`: bad input never
//! ends in a trap.
//!
//! ```ts
//! const wasm = await init({ module_or_path: url });
//! const world = new World(scenario, "7");
//! world.seek(2_000_000);
//! world.frame();
//! const nodes = new Float64Array(wasm.memory.buffer, world.nodesPtr(), world.nodesLen());
//! ```
//!
//! `nodes`, `flights`, `resources`, `servers`, `links`, `summary`, `logs` and `clients` are of the cursor. `events`,
//! `overlaps` (two or more nodes believed to lead) and `leaderless` (no running node did) go up to the horizon; the latter
//! two are pairs of the beginning and the end of a span, −1 while it goes on, and list the first few thousand.
//!
//! The views are valid until the next call that changes the world or its buffers; the memory may have grown by then, so
//! take them anew from `wasm.memory.buffer` after each [`World::frame`].

mod convert;
mod error;
mod run;
mod types;

pub use run::World;

use error::WorldError;
use tenure_sim::physics::trace::KIND_NAMES;
use wasm_bindgen::prelude::*;

/// A seed from the platform's entropy, as decimal text.
///
/// # Errors
/// When the platform has none to give.
#[wasm_bindgen(js_name = randomSeed)]
pub fn random_seed() -> Result<String, JsValue> {
    getrandom::u64().map(|seed| seed.to_string()).map_err(|_| {
        let reason = "the platform gives no random numbers";
        WorldError::new(
            "no-entropy",
            "randomSeed",
            reason,
            "pass a seed of your own",
        )
        .into()
    })
}

/// Checks a scenario without running it.
///
/// # Errors
/// What is wrong with it.
#[wasm_bindgen(js_name = checkScenario)]
pub fn check_scenario(json: &str) -> Result<(), JsValue> {
    tenure_sim::Scenario::parse(json)
        .and_then(|scenario| scenario.recordable())
        .map_err(|refusal| WorldError::from(refusal).into())
}

/// The names of the kinds of events, in order of code.
#[wasm_bindgen(js_name = eventKinds)]
#[must_use]
pub fn event_kinds() -> Vec<String> {
    KIND_NAMES.iter().map(|name| (*name).to_owned()).collect()
}
