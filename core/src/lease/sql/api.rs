//! What a database is asked and what it answers.

use crate::Duration;
use crate::lease::{Claimant, Nonce};

/// The highest epoch: what a signed column holds. The row is never taken beyond it, and never wraps around.
pub const MAX_EPOCH: u64 = i64::MAX as u64;

/// A statement for the host to run, in a transaction of its own. What the machine has to know is how many rows came back,
/// and what was in them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    /// Takes the row if it is free: [`TAKE`](super::text::TAKE). Answered by [`Reply::Taken`] with the epoch that comes
    /// back, or, when no row does, by what [`Read`](Self::Read) gives after it.
    Take {
        /// Who takes it.
        claimant: Claimant,
        /// What tells this attempt from every other.
        nonce: Nonce,
        /// For how long.
        ttl: Duration,
    },
    /// Holds it on: [`RENEW`](super::text::RENEW). Answered by [`Reply::Renewed`] when a row comes back, and else as
    /// [`Read`](Self::Read) is.
    Renew {
        /// Of the attempt that took it.
        nonce: Nonce,
        /// The epoch it got.
        epoch: u64,
        /// For how long from now.
        ttl: Duration,
    },
    /// Gives it up: [`RELEASE`](super::text::RELEASE). Answered by [`Reply::Released`] whether a row was changed or not: it
    /// is not this holder's any more.
    Release {
        /// Of the attempt that took it.
        nonce: Nonce,
        /// The epoch it got.
        epoch: u64,
    },
    /// Looks: [`READ`](super::text::READ). Answered by [`Reply::Row`].
    Read,
}

/// What the database answered. An error after which the statement may or may not have been carried out is no reply but
/// [`Unknown`](crate::Unknown).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reply {
    /// The row is the node's, with this epoch.
    Taken(u64),
    /// It holds it on.
    Renewed,
    /// It does not hold it any more.
    Released,
    /// How the row is; `None` when there is none.
    Row(Option<Row>),
    /// Nothing was done, for certain: the connection was not there, the transaction was rolled back.
    NotDone,
}

/// The row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Row {
    /// Who holds it; `None` when it was given up.
    pub holder: Option<Claimant>,
    /// Of the attempt that took it.
    pub nonce: Nonce,
    /// How often it changed hands.
    pub epoch: u64,
    /// How long it is held on, by the database's clock; zero when that is over.
    pub left: Duration,
}
