//! Stores: services that keep records for clients.
//!
//! Those that elections lean on are each a server of its own, as the real one is: [`etcd`], [`kubernetes`], [`redis`], [`sql`],
//! [`zookeeper`]. What is right here is the store that this library's own Raft replicates, with revisions, transactions, leases
//! and watches as etcd's version 3 interface has them; [`etcd`] keeps its keys and its leases in the same way.
//!
//! What clients ask and are answered is here, and the contract of a [`Server`], of which there are two: [`Single`], and any
//! replica in a world. [`Kv`] is what a server holds, a value that changes by requests alone; [`Lessor`] keeps the time of
//! leases, which is the business of whoever leads.
//!
//! **Words**, etcd's own. A *revision* counts the changes of the whole store; the revision of a change is that of the store
//! right after it. Of each key are known: the revision in which it was created (`created`), in which it was changed last
//! (`modified`), and how often it was since it was created (`version`). A *lease* is granted for a time; when it ends, all
//! keys attached to it go with it.

#[cfg(feature = "stores")]
mod backlog;
mod client;
#[cfg(feature = "stores")]
pub mod etcd;
#[cfg(feature = "stores")]
pub mod kubernetes;
mod kv;
mod lessor;
#[cfg(not(target_family = "wasm"))]
mod reader;
#[cfg(feature = "stores")]
pub mod redis;
pub(crate) mod replica;
mod replicated;
#[cfg(not(target_family = "wasm"))]
mod single;
#[cfg(feature = "stores")]
pub mod sql;
#[cfg(not(target_family = "wasm"))]
mod watcher;
#[cfg(not(target_family = "wasm"))]
mod watches;
#[cfg(feature = "stores")]
pub mod zookeeper;

pub(crate) use client::{CLIENTS, Noted};
pub use client::{Errand, StoreClient};
pub use kv::Kv;
pub use lessor::Lessor;
#[cfg(not(target_family = "wasm"))]
pub(crate) use reader::Reader;
pub use replica::{Command, Replica};
pub(crate) use replicated::Replicated;
#[cfg(not(target_family = "wasm"))]
pub use single::Single;
#[cfg(not(target_family = "wasm"))]
pub(crate) use watcher::{WATCHERS, WRITES_OF, Watcher};

use crate::explore::hash::Mix;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// What a value is kept under.
pub type Key = Arc<str>;
/// What is kept.
pub type Value = Arc<str>;
/// A lease; 0 is none.
pub type LeaseId = u64;

/// What a client asks of a store.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    /// One operation.
    Do(Operation),
    /// If all of this is so, these operations, and otherwise those: all of them in one revision.
    Txn {
        /// What must be so.
        when: Vec<Compare>,
        /// What is done then.
        then: Vec<Operation>,
        /// What is done otherwise.
        otherwise: Vec<Operation>,
    },
    /// A lease for so many microseconds.
    Grant {
        /// Its name, which no other lease has now.
        lease: LeaseId,
        /// How long it lasts, from when it is granted or kept alive.
        ttl: u64,
    },
    /// The lease begins anew. Nothing of the store changes: whoever keeps the time of leases answers it.
    KeepAlive {
        /// Which.
        lease: LeaseId,
    },
    /// The lease ends, and its keys go.
    Revoke {
        /// Which.
        lease: LeaseId,
    },
    /// A controller of brokers decided this. No client asks it, and nothing of the store changes.
    #[cfg(feature = "peers")]
    Metadata(Box<tenure::isr::Record>),
}

/// How a get that is asked for by itself is answered: each way but the last gives what is newest at some instant between
/// question and answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reading {
    /// Through the log, like everything else.
    Log,
    /// From the state of whom it is asked, once a majority has confirmed up to where that must have come.
    Confirmed,
    /// From the state of whoever leads, as its lease allows.
    Leased,
    /// From the state of whom it is asked, as it is: stale. It is what all have, and what was newest some time ago.
    Local,
}

/// An operation on keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// What is kept there?
    Get(Range),
    /// This is kept there from now on.
    Put {
        /// Where.
        key: Key,
        /// What.
        value: Value,
        /// The lease with which it goes; 0 for none.
        lease: LeaseId,
    },
    /// Nothing is kept there from now on.
    Delete(Range),
}

/// Some keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Range {
    /// One.
    Key(Key),
    /// All that begin like this.
    Prefix(Key),
}

impl Range {
    /// Whether a key is among them.
    #[must_use]
    pub fn contains(&self, key: &str) -> bool {
        match self {
            Self::Key(one) => **one == *key,
            Self::Prefix(prefix) => key.starts_with(&**prefix),
        }
    }

    /// Where they begin in the order of keys.
    fn begins(&self) -> &str {
        match self {
            Self::Key(key) | Self::Prefix(key) => key,
        }
    }
}

/// Something that must be so of a key. Of a key that is not there, every number is 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Compare {
    /// It was created in this revision; 0: it is not there.
    Created(Key, u64),
    /// It was changed last in this revision.
    Modified(Key, u64),
    /// It was changed so often since.
    Version(Key, u64),
    /// It holds this. Never so of a key that is not there.
    Holds(Key, Value),
}

/// A key with what is kept there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// The key.
    pub key: Key,
    /// What it holds.
    pub value: Value,
    /// The revision that created it.
    pub created: u64,
    /// The revision that changed it last.
    pub modified: u64,
    /// How often it was changed since it was created, that included.
    pub version: u64,
    /// The lease with which it goes; 0 for none.
    pub lease: LeaseId,
}

/// What a store answers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Answer {
    /// The revision of the store afterwards.
    pub revision: u64,
    /// What was done.
    pub done: Done,
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Done {
    /// What is kept there, in the order of keys.
    Got(Vec<Record>),
    /// It is kept there.
    Put,
    /// So many keys are gone.
    Deleted(usize),
    /// Whether all of it was so, and what each operation did.
    Txn(bool, Vec<Done>),
    /// The lease is granted, or begins anew; for so many microseconds.
    Lease(u64),
    /// The lease is over; so many keys are gone with it.
    Revoked(usize),
}

/// Why nothing was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Refused {
    /// There is no such lease, or none any more.
    NoLease(LeaseId),
    /// There is a lease of this name, or 0 was named.
    LeaseTaken(LeaseId),
    /// A transaction changes one key twice: in one revision a key is changed once.
    ChangedTwice,
    /// What a watch asks for is forgotten: the oldest revision that is known.
    Compacted(u64),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLease(lease) => {
                write!(f, "there is no lease {lease}, or it is over; grant one")
            }
            Self::LeaseTaken(lease) => {
                write!(f, "lease {lease} is taken; name another, above 0")
            }
            Self::ChangedTwice => {
                f.write_str("a transaction changes one key twice; leave one change out")
            }
            Self::Compacted(oldest) => write!(
                f,
                "revisions before {oldest} are forgotten; read anew, and watch from there"
            ),
        }
    }
}

impl std::error::Error for Refused {}

/// A change of a key, as a watcher sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// It holds this now.
    Put(Record),
    /// It is not there any more, since this revision.
    Gone(Key, u64),
}

impl Change {
    /// The revision of the change.
    #[must_use]
    pub const fn revision(&self) -> u64 {
        match self {
            Self::Put(record) => record.modified,
            Self::Gone(_, revision) => *revision,
        }
    }

    /// The key that changed.
    #[must_use]
    pub const fn key(&self) -> &Key {
        match self {
            Self::Put(record) => &record.key,
            Self::Gone(key, _) => key,
        }
    }
}

/// What a client says to a server, under a number that it gives to nothing else.
#[derive(Clone, Debug)]
pub struct Call {
    /// The number. Whatever is said of this bears it.
    pub number: u64,
    /// What the client wants.
    pub want: Want,
}

/// What a client wants of a server.
#[derive(Clone, Debug)]
pub enum Want {
    /// That a request be carried out; a get that is asked for by itself, in this way. Once or not at all, and mostly
    /// answered.
    Do(Arc<Request>, Reading),
    /// To watch, or something of a watch. Worlds in browsers have no clients that watch.
    #[cfg(not(target_family = "wasm"))]
    Watch(Watch),
}

/// What a client wants of a watch, which bears the number of the call that began it.
#[derive(Clone, Debug, Hash)]
pub enum Watch {
    /// To be told every change of these keys from a revision on, the first that is not known to the client. Whoever looks
    /// for the next server names its own next revision there, and misses nothing (etcd's resumption of a watch).
    From(Range, u64),
    /// To be told up to where it has come, even though there is nothing to tell (etcd's progress request): what is silent
    /// then is gone, or hears of nothing new.
    Progress,
    /// That it be over.
    Cancel,
}

impl Call {
    /// Whether it asks for what the server has, stale as it may be.
    pub(crate) fn reads_locally(&self) -> bool {
        let Want::Do(request, Reading::Local) = &self.want else {
            return false;
        };
        matches!(**request, Request::Do(Operation::Get(_)))
    }
}

/// A server of a store, of whatever kind: asked, it answers now, later, or never. Watches are in its memory, and gone with
/// its process.
pub trait Server {
    /// A client says something, at `now` on the server's clock.
    fn hear(&mut self, now: u64, client: u16, call: &Call);

    /// The next thing to be said: to which client, of the call of which number; `None` when there is nothing now.
    fn poll(&mut self) -> Option<Told>;
}

/// Something for a client, of the call of a number.
pub type Told = (u16, u64, Said);

impl Said {
    /// Whether a client hears from this that something was changed.
    pub(crate) fn tells_of_a_change(&self) -> bool {
        let Self::Answered(Ok(answer)) = self else {
            return false;
        };
        matches!(
            answer.done,
            Done::Put | Done::Deleted(_) | Done::Txn(true, _)
        )
    }
}

/// The hash of a value, the same on every target.
pub(crate) fn print(value: &impl Hash) -> u64 {
    let mut mix = Mix::new(4);
    value.hash(&mut mix);
    mix.finish()
}

/// What a server says to a client.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Said {
    /// What came of a request. A watch that is refused, at once or later, is over: what it asked for is forgotten.
    Answered(Result<Answer, Refused>),
    /// Nothing was done, for this server may not; who may, as far as it knows.
    Elsewhere(Option<u16>),
    /// These are all changes of the keys of a watch since it was told of any, up to this revision: in order of revision, those
    /// of one revision together. None where nothing changed, and the client asked.
    #[cfg(not(target_family = "wasm"))]
    Changed(Vec<Change>, u64),
}
