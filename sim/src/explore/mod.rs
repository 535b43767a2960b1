//! The explorer: every schedule of a small group within bounds, over the real machines.
//!
//! ```
//! use tenure_sim::explore::{Bounds, Setting, explore};
//!
//! let setting = Setting::election(3, Bounds { terms: 2, crashes: 1, ..Bounds::default() });
//! let report = explore(&setting, |_| true)?;
//! assert!(report.exhausted());
//! # Ok::<(), tenure_sim::explore::Unexplorable>(())
//! ```
//!
//! [`Setting`] says what is explored and how far, [`Model`] what that means, [`explore`] walks it, [`Report`] tells.
//! [`Hunt`] knows where to look for what a rule protects, [`Counterexample::scenario`] plays what was found in a world,
//! [`Coverage`] holds random schedules against what there is to reach.
//! Inside: `node` (a machine with its disk and clock), `judge` (what the outside holds against it), `heal` (liveness as a
//! question about one state), `table` (each node state and each step once), `script`, `hash`.

#[cfg(not(target_family = "wasm"))]
mod coverage;
pub(crate) mod hash;
mod heal;
mod hunt;
mod judge;
mod law;
mod model;
mod node;
mod outline;
mod report;
mod script;
mod search;
mod setting;
mod stage;
mod table;
#[cfg(test)]
mod tests;

#[cfg(not(target_family = "wasm"))]
pub use coverage::Coverage;
pub use hunt::Hunt;
pub use law::Law;
pub use model::{Action, Mail, Model, State};
pub use outline::Outline;
pub use report::{Counterexample, Report};
pub use search::explore;
pub use setting::{
    Bounds, Clocks, Cut, MAX_TERMS, MAX_VOTERS, Network, Setting, Unexplorable, short_timing,
};
pub use stage::Unstaged;
