//! Tenure chooses a leader and keeps the old one out.
//!
//! The core of the library: election protocols as pure state machines. They do no I/O, read no clock, start no thread and
//! draw no entropy; a host gives them time and inputs and carries out their outputs ([`Election`], [`drive`]).
//!
//! - [`raft`]: leader election by terms and majority votes, with a lease; and a replicated log on it, for who wants one.
//! - [`zab`]: ZooKeeper's election and broadcast, by epochs that a quorum promises.
//! - [`kraft`]: the quorum of Kafka's controllers, in which followers fetch; and the controller on it.
//! - [`lease`]: elections over a store that is there already: a row, a key, an object.
//! - [`sentinel`]: Redis Sentinel, and the data servers it watches.
//! - [`isr`]: Kafka's brokers and partitions, whose leaders a controller names out of those that are in sync.
//! - [`fence`]: the guard that a resource keeps, so that a leader that was overtaken cannot write.
//! - [`takeover`]: what a new leader does before it serves, and an old one before it goes.
//! - [`codec`]: bytes for messages, for writes to a disk and for what it holds.
//!
//! Three questions are answered apart: *who leads* ([`Election::standing`]), *who takes over when it dies* (the protocol),
//! and *what stops the old one* ([`Tenure::until`] bounds its belief, [`Tenure::token`] its effects).

#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod codec;
pub mod drive;
pub mod fence;
pub mod isr;
pub mod kraft;
pub mod lease;
pub mod log;
pub mod membership;
pub mod quorum;
pub mod raft;
pub mod random;
pub mod rate;
pub mod refusals;
pub mod rules;
pub mod sentinel;
pub mod takeover;
pub mod tick;
pub mod zab;

mod disk;
mod election;
mod listed;
mod node;
mod served;
mod time;
mod token;

pub use election::{
    Election, Event, Input, Leader, Output, Standing, Tenure, Ticket, Unknown, Why,
};
pub use node::NodeId;
pub use time::{Duration, Instant};
pub use token::Token;

/// The examples of the README, kept true.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
