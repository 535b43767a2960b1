//! Elections over a store that is there already: a row, a key, a lease object, an ephemeral node.
//!
//! A node holds a record of the store for a time, and renews it. Each scheme is a machine of its own, faithful to the client
//! that people use and safer than it; what they share is here, so that it is right once:
//!
//! - **LS-R1** A holder counts from the *send* of the request that was acknowledged; who waits, from the *receipt* of its first
//!   sight of a record.
//! - **LS-R2** A late, reordered or repeated answer extends a tenure to its own send plus the lease, and never shortens it.
//! - **LS-R3** A tenure ends by the clock, not by an answer: with the renewal in flight, the watch silent, the release hanging.
//! - **LS-R4** What is not known to have been done is neither done nor not done. A record that turns out to be the own one is
//!   confirmed before it counts; one that is not wanted any more is given up.
//! - **LS-R5** A new tenure has a new token, and the end of the old one is reported first.
//!
//! # For a host
//! A [`Request`](crate::Output::Request) is one operation of the store's client, to be translated one to one. Its answer is a
//! [`Reply`](crate::Input::Reply); *nothing was done, for certain* is a reply too; and what may or may not have been done is
//! [`Unknown`](crate::Unknown). Answers may come in any order, late, or never. A watch is a request that is answered as often
//! as something happens.
//!
//! Nodes of an election are known by their names ([`Identity`]); [`NodeId`](crate::NodeId)s are made of those.

mod budget;
mod claimant;
mod config;
pub mod etcd;
mod identity;
pub mod kubernetes;
mod office;
mod record;
pub mod redis;
pub mod redlock;
mod refuse;
mod requests;
mod rules;
pub mod sql;
mod timing;
mod value;
pub mod zookeeper;

pub use budget::{Budget, BudgetError};
pub use claimant::{Claimant, MAX_METADATA, MetadataTooLong};
pub use config::{Boot, Config};
pub use identity::{Identity, MAX_NAME, NameError, Nonce};
pub use record::Record;
pub use refuse::{Refusal, Refusals};
pub use rules::{Faithful, Invariant, Rule, Rules, Scheme, Switched};
pub use timing::{MAX_TTL, Timing};
