//! Elections over a store that is there already: a row, a key, a lease object, an ephemeral node.
//!
//! A node holds a record of the store for a time, and renews it. It *believes* while its [`standing`](crate::Election::standing)
//! says that it leads, and that two believe at once is what all of this is there to prevent. Each scheme is a machine of its
//! own, faithful to the client that people use and safer than it; what they share is here, so that it is right once:
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
//! [`drive`](crate::drive) has the loop, and the example `job_runner` (`cargo run --example job_runner -p tenure`) is a host in
//! full.
//!
//! - **Requests.** A [`Request`](crate::Output::Request) is one operation of the store's client, to be translated one to one.
//!   Its answer is a [`Reply`](crate::Input::Reply) under its ticket, and one of three: what the store said; that *nothing was
//!   done, and will not be*, which each scheme calls `NotDone`; or [`Unknown`](crate::Unknown), for what may have been done, or
//!   may yet be: a timeout, a connection that broke. In doubt it is `Unknown`. Answers may come in any order, late, or never:
//!   what is not answered within [`patience`](Timing::patience) is asked again by the machine, and not by the host. A watch is
//!   a request that is answered as often as something happens.
//! - **Time.** A clock that never goes back and counts suspend ([`Instant`](crate::Instant)), and a
//!   [`Timeout`](crate::Input::Timeout) at the deadline: a tenure ends by it though the store is silent.
//! - **Lives.** Each life of a process has an [`incarnation`](Boot::incarnation) of its own. Nothing has to be kept on a disk
//!   for that: 64 bits from the system's source of random numbers do.
//! - **Effects.** Before each of them, [`standing`](crate::Election::standing) with a fresh `now`; with each of them, the token,
//!   to a [guard](crate::fence). [`takeover`](crate::takeover) is what a new leader does first.
//! - **The end.** [`Resign`](crate::Input::Resign), and then on with the loop until `releasing` is false, at most for a lease.
//!   Whoever just stops leaves a record that is waited out, and so does who stops while it waits and is
//!   being granted one: that is safe, and costs a lease. Who resigns and goes on stands back for a lease, and then takes part
//!   again; where there is a `withdraw` it does not.
//!
//! Names such as LS-13 are those of public reports of what went wrong elsewhere: `core/REPORTS.md` has each of them, what must
//! hold, and the test that shows it.
//!
//! Nodes of an election are known by their names ([`Identity`]); [`NodeId`](crate::NodeId)s are made of those.

mod budget;
mod claimant;
mod config;
pub mod etcd;
mod identity;
pub mod kubernetes;
mod office;
mod presets;
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
pub use identity::{Identity, MAX_NAME, NameError, NoNonce, Nonce};
pub use presets::Preset;
pub use record::Record;
pub use refuse::{Refusal, Refusals};
pub use rules::{Faithful, Invariant, Rule, Rules, Scheme, Switched};
pub use timing::{MAX_TTL, Timing};
