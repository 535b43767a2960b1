//! A queue of ephemeral sequential nodes in ZooKeeper, which go with the session of whoever made them.
//!
//! The recipe that ZooKeeper's own documentation has, and Curator's `LeaderLatch`: a candidate opens a session, creates
//! `guid-n_` under the parent of the election, which adds a number; lists the children; leads when its own is the first, and
//! else watches exactly the one before it. Here it leads once it has read its own node, found it to be of its *present*
//! session, and knows that session to be good for another attempt to keep it; and then until the session may be over.
//!
//! # Sessions
//! Opening, reconnecting and pinging are the client library's, which tells what becomes of them: connected, suspended, lost
//! ([`Request::Connect`]). The tenure does not rest on that. What it rests on is a write of the own node at every third of the
//! session's time, counted from its own send, by what was negotiated: ZooKeeper's leader alone ends sessions, and what a
//! server answers by itself, a read or a ping, says nothing of what the leader knows. Nor does a write by itself: the leader
//! looks whether there is such a session, and begins it anew only when the server tells whom it heard of, with its next sign
//! of life. A server that dies between takes that along. So a write proves the one before it ([`Config::tick_time`]).
//!
//! Suspended is no loss: a tenure lasts to its own deadline whatever the connection does, and not longer (LS-29). Lost is: the
//! tenure is over, and the node begins again with another session.
//!
//! # The token
//! `czxid` of the own node, from the same answer as its `ephemeralOwner`: 64 bits, counted over all that the ensemble ever did.
//! Who leads was created before all others of the queue, so it rises from each leader to the next. What else there is:
//!
//! - The sequence number is a count of the parent alone: a signed 32-bit one that overflows, and begins again with a parent
//!   that was deleted and created anew, as containers are whenever they are empty.
//! - The session id is drawn by whichever server opens it, from its own number and its clock: it has no order, and one session
//!   can lead more than once.
//!
//! The number still orders the queue, as in the recipe; past the last one by distance, so that the next stays behind. Where it
//! does not go on, candidates of one number make way for whoever leads, and come one at a time.
//!
//! # Where it is safer than Curator's latch
//! - A node of a former session is neither claimed nor waited for: it is deleted (LS-24).
//! - A parent that is gone is created, whoever finds it gone (LS-26).
//! - The state decides, not the order in which news arrives: what elects does so only in the session it was asked in (LS-28).
//! - A creation in doubt is looked for by the own guid; one that nobody wants any more goes with the session.
//! - A watch that falls silent costs no more than a look.
//! - Resigning goes on until the node is gone, or the session over.
//!
//! # At a glance
//! **Who leads, who takes over, what stops the old leader.** The first in the queue. The next, as soon as the session of the
//! first is closed, or over: its time, a tick and four round trips. The old one stops by its own clock before its session can
//! be over; what it sends late, the guard of the resource refuses by the token.
//!
//! **What it costs.** A holder: one write, one read and one event in a third of the session's time; the next the same; all
//! others two reads. Nobody else is woken by a change.
//!
//! **When it suffices.** Wherever there is an ensemble already, candidates are tens and not thousands, and a takeover may take
//! as long as a session. With a guard at the resource, also for what must never be done twice.
//!
//! **What breaks it.** A session or a node that somebody else ends: until the next word of it two believe, and the guard
//! protects. An ensemble that is rebuilt, or restored from a backup: transactions are counted from an earlier one on, and the
//! generation is to be raised. Clocks of nodes and of ZooKeeper's leader further from true pace than is allowed for. Servers
//! that tell their leader less often than once in a [`Config::tick_time`].

mod api;
mod client;
mod config;
pub mod controller;
mod machine;
mod queue;
mod session;

pub use api::{Change, Data, Path, Reply, Request, SessionId, Stat};
pub use config::Config;
pub use machine::ZooKeeper;
pub use queue::{MAX_CANDIDATES, MAX_PATH};
