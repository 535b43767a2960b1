//! What the API server is asked and what it answers, as far as an election needs it.

use crate::Duration;
use crate::lease::{Claimant, Nonce};

/// `metadata.uid`, a UUID: which object of this name it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uid(pub u128);

/// A call of the API for the host to make: of the one `Lease` of the election, in `coordination.k8s.io/v1`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    /// `GET …/leases/NAME`, without a `resourceVersion`: the newest, not from a cache. Answered by [`Reply::Object`] or
    /// [`Reply::NotFound`].
    Get,
    /// `POST …/leases`. Answered by [`Reply::Object`] or [`Reply::AlreadyExists`].
    Create(Record),
    /// `PUT …/leases/NAME` with this `metadata.resourceVersion` and `metadata.uid`. Both are needed: a `PUT` that names no
    /// version is refused, and one that names no `uid` *creates* a `Lease` that is not there, whatever version it names.
    /// Answered by [`Reply::Object`] or [`Reply::Conflict`].
    Update {
        /// The `uid` it must have.
        uid: Uid,
        /// The `resourceVersion` it must have.
        version: u64,
        /// What it says from then on.
        record: Record,
    },
}

/// What the API server answered. A timeout, a broken connection and every 5xx are no reply but
/// [`Unknown`](crate::Unknown): the write may have been done, or may yet be.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reply {
    /// The object: as it is, or as it was written.
    Object(Lease),
    /// There is none (404).
    NotFound,
    /// It has another `resourceVersion`, or another `uid`, or is not there (409, reason `Conflict`).
    Conflict,
    /// There is one (409, reason `AlreadyExists`).
    AlreadyExists,
    /// Nothing was done, for certain: refused (400, 401, 403, 422, 429), or never sent.
    NotDone,
}

/// The object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lease {
    /// `metadata.uid`.
    pub uid: Uid,
    /// `metadata.resourceVersion`, a decimal number.
    pub version: u64,
    /// What it says.
    pub record: Record,
    /// How long ago `renewTime` is by the host's calendar, which may be wrong by hours (LS-8): no machine acts on it that keeps
    /// [`OwnClockOnly`](crate::lease::Rule::OwnClockOnly).
    pub age: Duration,
}

/// What the object says. The host writes its calendar's time as `renewTime` with every write: without that, a renewal
/// changes nothing, and the API server does not write it.
///
/// What the `spec` has no field for is in [`annotation`]s. They say something only of the holder that
/// [`annotation::HOLDER`] names: other clients leave those they find, when they take the object over.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// `holderIdentity`, and what others shall know ([`annotation::METADATA`]); `None` for an empty or missing one. Of a name
    /// that is longer than [`MAX_NAME`](crate::lease::MAX_NAME) the beginning is enough: it is another client's.
    pub holder: Option<Claimant>,
    /// Of the tenure ([`annotation::NONCE`]); `Nonce(0)` when there is none, which is another client's.
    pub nonce: Nonce,
    /// `leaseDurationSeconds`; 0 for a missing one. The API refuses to write a 0.
    pub seconds: u32,
    /// `leaseTransitions`.
    pub transitions: u32,
    /// `acquireTime`, in microseconds since 1970; `None`: the same as `renewTime`.
    pub acquired: Option<i64>,
    /// The token's version ([`annotation::SINCE`]), from the first renewal on; until then it is that of the object.
    pub since: Option<u64>,
}

/// The keys of what a [`Record`] has beside the `spec`.
pub mod annotation {
    /// The `holderIdentity` that the others are about; not there in a record that names nobody.
    pub const HOLDER: &str = "tenure-holder";
    /// [`Record::nonce`](super::Record::nonce), in 32 hexadecimal digits.
    pub const NONCE: &str = "tenure-nonce";
    /// [`Record::since`](super::Record::since), a decimal number.
    pub const SINCE: &str = "tenure-since";
    /// What the holder wants others to know; not there when that is nothing.
    pub const METADATA: &str = "tenure-metadata";
}
