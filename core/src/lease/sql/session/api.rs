//! What is asked in a session of a database, and what the answer is.

use crate::Duration;
use crate::lease::{Claimant, Nonce};

/// Something for the host to ask in a session.
///
/// A session is one connection, which the machine has for itself. Its first request is [`Call::Open`], with which the host
/// closes the one before it, without waiting for anything. A request is never asked in another connection than that of its
/// number: once that is gone, it is answered by [`Reply::Ended`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// In which of the sessions of this life. It counts up, and never returns to an earlier one.
    pub session: u32,
    /// What.
    pub call: Call,
}

/// What is asked. Each statement is a transaction of its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// Opens the connection: [`OPEN`](crate::lease::sql::text::OPEN), in whole milliseconds. Answered by [`Reply::Ended`]
    /// when the connection is gone, or could not be opened, and not before.
    Open {
        /// How long the server lets it be idle.
        idle: Duration,
    },
    /// Takes the lock: [`LOCK`](crate::lease::sql::text::LOCK). If the session has it then, draws an epoch,
    /// [`DRAW`](crate::lease::sql::text::DRAW), and is answered by [`Reply::Taken`]; if it has not, or no row came back, it is
    /// answered as [`Look`](Self::Look) is.
    Take {
        /// Who takes it.
        claimant: Claimant,
        /// What tells this attempt from every other.
        nonce: Nonce,
        /// The attempt before this one that drew an epoch, if the node knows what came of it.
        former: Option<Nonce>,
        /// How long who held it before may believe.
        ttl: Duration,
    },
    /// Asks whether it has it still: [`PROBE`](crate::lease::sql::text::PROBE). Answered by [`Reply::Held`] when a row comes
    /// back, and else as [`Look`](Self::Look) is.
    Probe {
        /// Of the attempt that took it.
        nonce: Nonce,
        /// The epoch it drew.
        epoch: u64,
    },
    /// Gives it up: [`RELEASE`](crate::lease::sql::text::RELEASE), and then [`UNLOCK`](crate::lease::sql::text::UNLOCK).
    /// Answered by [`Reply::Released`].
    Release {
        /// Of the attempt that took it.
        nonce: Nonce,
        /// The epoch it drew.
        epoch: u64,
    },
    /// Looks: [`LOOK`](crate::lease::sql::text::LOOK). Answered by [`Reply::Row`].
    Look,
}

/// What came of it. Whatever is not known to have been done or not is no reply but [`Unknown`](crate::Unknown).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reply {
    /// The session has the lock, and drew an epoch.
    Taken {
        /// Which.
        epoch: u64,
        /// Whether the row was another's that had not given it up.
        interrupted: bool,
    },
    /// It has it still.
    Held,
    /// It does not have it any more.
    Released,
    /// How the row is; `None` when there is none.
    Row(Option<Row>),
    /// The connection is gone: closed by the server, by a pool that found it too old, by an error that left it in doubt.
    /// The host has closed it, and opens no other under this number.
    Ended,
    /// Nothing was done, for certain, and the session is as it was: the statement was refused.
    NotDone,
}

/// The row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Row {
    /// Who drew an epoch last; `None` when it was given up.
    pub holder: Option<Claimant>,
    /// Of the attempt that drew it.
    pub nonce: Nonce,
    /// How often it changed hands.
    pub epoch: u64,
    /// Whether a session has the lock.
    pub locked: bool,
}
