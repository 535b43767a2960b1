//! Keys in etcd, which go with the lease of whoever put them there.
//!
//! Two ways ([`Mode`]) over one session: a queue of candidates, faithful to the package `concurrency` of etcd's client, and
//! the single key of many guides, which Milvus's coordinators use too ([`Config::milvus`]). In both the token is the revision
//! in which the own key was created: it counts the changes of the whole store, so it rises from each holder to the next.
//!
//! A candidate grants itself a lease and keeps it alive; creates its key under it, if it is absent; reads who is before it,
//! watches that very key, and reads again when it is gone. It leads once a single read has shown that its own key is there,
//! under its lease and of the revision it was created in, and none before it; and then until the lease may be over, counted
//! from the send of what was acknowledged last.
//!
//! # Where it is safer than that package
//! - The own key is read again before it counts, and the lease must be good for another attempt at it (LS-13, LS-14).
//! - A stream, a watch or a keep-alive that breaks or falls silent is no news: everything is asked again in bounded time, and
//!   the tenure ends by the clock (LS-15, LS-16).
//! - A key whose creation is in doubt is created again under the same lease, or the lease is revoked: no ghost of a candidate
//!   stays in the queue.
//! - Resigning goes on until the store says that the key is gone, or the lease is over; it is not kept alive meanwhile
//!   (LS-19).
//! - Who follows is told that nobody leads (LS-22).
//!
//! Writes *inside* etcd are guarded by `If CreateRevision(place.key) = place.revision` of the own [`Place`]; all others by the
//! token.
//!
//! # At a glance
//! **Who leads, who takes over, what stops the old leader.** Whose key was created first. The next in the queue, told at once
//! when that key goes: by resigning, or with the lease after a crash. Its own clock, [`Timing::belief`](super::Timing::belief)
//! after the send of its last keep-alive; after that, the token at the resource.
//!
//! **What it costs.** Every candidate, waiting or not, keeps its lease alive and looks where it stands, each once in a `renew`
//! period, and has one watch. In the queue a key that goes wakes one candidate, the single key wakes all. A takeover takes a
//! lease, and a `renew` period where the watch is silent ([`Config::budget`]); a hand-over some round trips.
//!
//! **When it suffices.** For most services that have an etcd already. The single key where everybody should see who leads by
//! reading one key.
//!
//! **What breaks it.** A lease that etcd revokes early (LS-17: by an old leader that was stuck; by an operator), or a key that
//! somebody else deletes: until the watch or the next look says so, two believe, and the guard of the resource protects. A
//! restore from a snapshot, where revisions fall back: raise the generation then, or restore with `--bump-revision`.

mod api;
mod config;
mod machine;
mod place;
mod session;

pub use api::{
    Change, Compare, Key, KeyValue, Keys, LeaseId, Operation, Order, Range, Reply, Request, Txn,
    Value,
};
pub use config::{Config, Mode};
pub use machine::Etcd;
pub use place::{Place, ResumeError};
