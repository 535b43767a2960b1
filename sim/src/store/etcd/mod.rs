//! A server of etcd, as far as elections ask it, alone or a member of a cluster ([`Member`]): [`Kv`](super::Kv) with the calls and answers of
//! version 3.
//!
//! **As the real one** (3.4, compared call by call in `tests/stores`):
//! - The store begins in revision 1. What is done in one call is one revision, and what changes nothing has none.
//! - A lease is granted for two seconds at least, in whole seconds; its keys go in one revision, in order. One that is kept
//!   alive and is not there lasts 0 seconds; asked for its time it has −1 left.
//! - Of a transaction both sides are looked at for a key that is changed twice, and only the side that is carried out for
//!   leases that are not there. Of a key that is not there every number is 0, and no value can be compared.
//! - Keys are sorted, those of one revision in the order of keys whichever way, and then cut off.
//! - Whoever watches is told of changes in order, from the past on if that is asked, or that it is forgotten.
//! - Keys and leases survive a crash, and after it every lease begins anew (`Promote`); watches are connections, and gone
//!   with it, as they are with the process of a client.
//!
//! **Left out**: ranges that are neither one key nor a prefix, reading of past revisions, transactions in transactions, what
//! a key held before, watches that say that they begin, `Compact` (the oldest changes are forgotten by themselves), quotas,
//! authentication, members. A lease ends on the instant, where the real one looks twice a second.

mod cluster;
mod command;
mod server;

pub use cluster::{Member, Peer};
pub use command::{Command, Compare, Error, Is, Operation, Order, Reply, Said, Select, Target};
pub use server::Etcd;
