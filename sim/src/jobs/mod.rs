//! Periodic jobs: work that must be done once each, whoever leads.
//!
//! A job falls due every period of true time. The leader does those that are due in order, one at a time: it makes the
//! job its own at the resources (a compare-and-swap of the owner), works for a while, and writes the effect together with
//! the mark that it is done. Periods that were missed are made up for, each once and in order.
//!
//! A new leader fences, reads the job table, and takes over what another term began, as the core's
//! [takeover](tenure::takeover) says: the same compare-and-swap, from the owner it read. The job is then run again from its beginning; its effect is taken once, because the fence keeps the
//! former owner's out.

mod scheduler;
mod table;

pub(crate) use scheduler::{Scheduler, told};
pub use table::{Denied, Table};

/// What jobs there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jobs {
    /// Between two jobs, of true time.
    pub every: u64,
    /// How long a leader works at one.
    pub takes: u64,
}
