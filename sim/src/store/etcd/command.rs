//! What clients call of an etcd server, and what it answers.

use crate::store::{Change, Key, LeaseId, Range, Record, Value};
use std::fmt;
use tenure::Ticket;

/// A call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// `KV.Range`, `KV.Put`, `KV.DeleteRange`.
    Do(Operation),
    /// `KV.Txn`
    Txn {
        /// What must be so.
        compare: Vec<Compare>,
        /// What is done then.
        success: Vec<Operation>,
        /// What is done otherwise.
        failure: Vec<Operation>,
    },
    /// `Lease.LeaseGrant`
    LeaseGrant {
        /// Its number, not 0.
        lease: LeaseId,
        /// How many seconds it lasts at least.
        ttl: i64,
    },
    /// `Lease.LeaseRevoke`
    LeaseRevoke(LeaseId),
    /// `Lease.LeaseKeepAlive`, one message of it.
    LeaseKeepAlive(LeaseId),
    /// `Lease.LeaseTimeToLive`, with its keys.
    LeaseTimeToLive(LeaseId),
    /// `Watch`, a `WatchCreateRequest`. What it tells bears its ticket.
    Watch {
        /// Of what.
        keys: Range,
        /// The first revision that is told; 0 for the next one.
        from: u64,
    },
    /// `Watch`, a `WatchCancelRequest`. It has no answer.
    WatchCancel(Ticket),
}

/// Something that is done with keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// `RangeRequest`
    Range(Select),
    /// `PutRequest`
    Put {
        /// Where.
        key: Key,
        /// What.
        value: Value,
        /// The lease with which it goes; 0 for none.
        lease: LeaseId,
    },
    /// `DeleteRangeRequest`
    Delete(Range),
}

/// Which keys are looked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Select {
    /// Among these.
    pub keys: Range,
    /// None that were created later; 0 for no bound.
    pub max_create_revision: u64,
    /// In which order.
    pub order: Order,
    /// How many at most; 0 for all.
    pub limit: u32,
}

/// In which order keys come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// That of keys: none is asked for.
    Key,
    /// The first created first: `sort_target` CREATE, `sort_order` ASCEND.
    FirstCreated,
    /// The last created first: `sort_target` CREATE, `sort_order` DESCEND.
    LastCreated,
}

/// Something that must be so of a key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Compare {
    /// Which.
    pub key: Key,
    /// How what is compared is to be.
    pub is: Is,
    /// What is compared, with what.
    pub target: Target,
}

/// How one is to be beside the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Is {
    /// `EQUAL`
    Equal,
    /// `NOT_EQUAL`
    Unequal,
    /// `GREATER`
    Greater,
    /// `LESS`
    Less,
}

/// What of a key is compared.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// `CREATE`: the revision that created it.
    Create(u64),
    /// `MOD`: the revision that changed it last.
    Modified(u64),
    /// `VERSION`: how often it was changed since.
    Version(u64),
    /// `VALUE`: what it holds.
    Value(Value),
}

/// What a server says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Said {
    /// What came of a call.
    Answer {
        /// The revision of the store.
        revision: u64,
        /// What was done, or why not.
        result: Result<Reply, Error>,
    },
    /// A watch tells.
    Watched(Vec<Change>),
    /// A watch is over: what it asks for is forgotten. The oldest revision that is known.
    Compacted(u64),
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reply {
    /// What there is.
    Range {
        /// That, in order, cut off.
        found: Vec<Record>,
        /// How many are among the keys asked for, whatever else is asked of them.
        count: usize,
        /// Whether it was cut off.
        more: bool,
    },
    /// It is there.
    Put,
    /// So many are gone.
    Deleted(usize),
    /// A transaction was carried out.
    Txn {
        /// Whether all of it was so.
        succeeded: bool,
        /// What each operation did.
        done: Vec<Self>,
    },
    /// The lease lasts so many seconds.
    Granted(u64),
    /// The lease is over.
    Revoked,
    /// The lease lasts so many seconds from now; 0 when there is none.
    Alive(u64),
    /// The time of a lease, in whole seconds.
    TimeToLive {
        /// What is left; −1 when there is none.
        left: i64,
        /// What was granted; 0 when there is none.
        granted: u64,
        /// Its keys, in order.
        keys: Vec<Key>,
    },
}

/// Why nothing was done, in the server's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Error {
    /// There is no such lease, or none any more.
    LeaseNotFound,
    /// There is a lease of that number.
    LeaseExists,
    /// A transaction changes a key twice.
    DuplicateKey,
    /// The member of the cluster that was asked knows of no leader. Nothing was done.
    NoLeader,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LeaseNotFound => "etcdserver: requested lease not found",
            Self::LeaseExists => "etcdserver: lease already exists",
            Self::DuplicateKey => "etcdserver: duplicate key given in txn request",
            Self::NoLeader => "etcdserver: no leader",
        })
    }
}

impl std::error::Error for Error {}
