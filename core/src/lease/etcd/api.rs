//! What etcd is asked and what it answers: its version 3 interface, as far as an election needs it.
//!
//! Each [`Request`] is one call of a client. Keys and values are text here, where etcd has bytes: a host that meets others
//! replaces what is no text.

use crate::{Duration, Ticket};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

/// A key.
pub type Key = Arc<str>;
/// What is kept under a key.
pub type Value = Arc<str>;

/// A lease, as etcd numbers them; 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaseId(pub i64);

impl LeaseId {
    /// None.
    pub const NONE: Self = Self(0);
}

/// Writes it as keys of candidates have it: hexadecimal, without leading zeros.
impl fmt::Display for LeaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.0)
    }
}

/// A call for the host to make.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    /// `Lease.LeaseGrant{TTL, ID}`: a lease of that number, for that time in whole seconds. Answered by [`Reply::Granted`] or
    /// [`Reply::LeaseExists`].
    LeaseGrant {
        /// Its number, which the node chose: so it knows the lease again when the answer is lost.
        lease: LeaseId,
        /// How long. The store may grant more.
        ttl: Duration,
    },
    /// `KeepAliveOnce(ID)`: one message of `Lease.LeaseKeepAlive` and its answer. Answered by [`Reply::Alive`] or
    /// [`Reply::LeaseNotFound`]; a stream that broke is [`Unknown`](crate::Unknown), which says nothing of the lease.
    LeaseKeepAlive {
        /// Which.
        lease: LeaseId,
    },
    /// `Lease.LeaseRevoke{ID}`: it ends, and its keys go. Answered by [`Reply::Revoked`] or [`Reply::LeaseNotFound`].
    LeaseRevoke {
        /// Which.
        lease: LeaseId,
    },
    /// `KV.Txn`. Answered by [`Reply::Txn`], or by [`Reply::LeaseNotFound`] when it puts under a lease that is over.
    Txn(Txn),
    /// `KV.Range`, linearizable: not `serializable`. Answered by [`Reply::Range`].
    Range(Range),
    /// `Watch` with a `WatchCreateRequest{key, range_end, start_revision}`. Answered by [`Reply::Watched`] as often as
    /// something happens, and by [`Reply::WatchEnded`] when it ends. Both bear the ticket of this.
    Watch {
        /// Of what.
        keys: Keys,
        /// The first revision that is told.
        from: u64,
    },
    /// `WatchCancelRequest`: nobody wants to know any more. Has no answer.
    WatchCancel {
        /// The ticket of the [`Watch`](Self::Watch).
        watch: Ticket,
    },
}

/// One key, or all that begin like this.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Keys {
    /// `key`.
    One(Key),
    /// `key` with the `range_end` that `WithPrefix()` gives.
    Prefix(Key),
}

/// A `RangeRequest`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Range {
    /// `key`, `range_end`.
    pub keys: Keys,
    /// `max_create_revision`: none that were created later; 0 for no bound.
    pub max_create_revision: u64,
    /// `sort_target` CREATE and this `sort_order`.
    pub order: Order,
    /// `limit`.
    pub limit: u32,
}

/// In which order keys come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// The first created first: `ASCEND`.
    FirstCreated,
    /// The last created first: `DESCEND`.
    LastCreated,
}

/// A `TxnRequest` with at most one comparison and at most one operation on each side.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Txn {
    /// `compare`; without one it succeeds.
    pub when: Option<Compare>,
    /// `success`.
    pub then: Operation,
    /// `failure`: a `RangeRequest` of this key alone.
    pub otherwise: Option<Key>,
}

/// `Compare{target: CREATE, result: EQUAL}`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Compare {
    /// Of this key.
    pub key: Key,
    /// Was created in this revision; 0: it is not there (as is then `Version(key) = 0`, which some compare instead).
    pub create_revision: u64,
}

/// What a transaction does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// `PutRequest{key, value, lease}`.
    Put {
        /// Where.
        key: Key,
        /// What.
        value: Value,
        /// The lease with which it goes.
        lease: LeaseId,
    },
    /// `DeleteRangeRequest{key}`.
    Delete(Key),
}

/// What etcd answered. An error after which the call may or may not have been carried out is no reply but
/// [`Unknown`](crate::Unknown).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reply {
    /// The lease lasts so long from when it was granted: `TTL`, which may be more than was asked for.
    Granted(Duration),
    /// `ErrLeaseExist`: there is a lease of this number.
    LeaseExists,
    /// The lease lasts so long from now: `TTL`; not above zero when there is none.
    Alive(Duration),
    /// The lease is over.
    Revoked,
    /// `ErrLeaseNotFound`: there is no such lease, or none any more.
    LeaseNotFound,
    /// A transaction was carried out.
    Txn {
        /// The revision of the store right after it: of what it changed, if it did.
        revision: u64,
        /// Which side was.
        succeeded: bool,
        /// What the other side found.
        found: Option<KeyValue>,
    },
    /// What there is.
    Range {
        /// The revision of the store as of this answer.
        revision: u64,
        /// In the order that was asked for.
        found: Vec<KeyValue>,
    },
    /// A watch tells: of nothing, when it is to show that it is there.
    Watched(Vec<Change>),
    /// A watch is over: cancelled, compacted, its stream lost.
    WatchEnded,
    /// Nothing was done, for certain: the connection was not there; `ErrNoLeader`, `ErrTooManyRequests`, `ErrNoSpace`.
    NotDone,
}

/// A key with what is kept there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KeyValue {
    /// Which.
    pub key: Key,
    /// What.
    pub value: Value,
    /// The revision that created it.
    pub create_revision: u64,
    /// The lease with which it goes, or [`LeaseId::NONE`].
    pub lease: LeaseId,
}

/// What a watch tells.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// `PUT`.
    Put(KeyValue),
    /// `DELETE`.
    Delete {
        /// Which.
        key: Key,
        /// Its `mod_revision`: that of the deletion.
        revision: u64,
    },
}
