//! The API server of Kubernetes, as far as elections use one: the `Lease` objects of one namespace, in
//! `coordination.k8s.io/v1`, kept in etcd.
//!
//! **As the real one**, by its documentation and the sources of its registry (`AllowCreateOnUpdate`, `GuaranteedUpdate`);
//! none can be installed here to be compared with:
//! - The `resourceVersion` of an object is etcd's revision of its last change: one counter for everything in the cluster,
//!   which rises with each write and each deletion, of whatever object ([`write_elsewhere`](Server::write_elsewhere)).
//! - An update must name the `resourceVersion` it is of: without one it is invalid (422), with another than the present one
//!   it is a conflict (409). If it names a `uid`, that must be the object's as well; the object that is not there has none, so
//!   it is a conflict, too. One that names no `uid` *creates* a `Lease` that is not there, whatever version it names.
//! - An update that changes nothing is answered with the object as it is, and not written: its version stays.
//! - `leaseDurationSeconds` must be above 0, and `leaseTransitions` not below, where they are there at all (422). What is
//!   invalid is refused before it is looked whether there is such an object to create, and after the version of an update.
//! - An update keeps annotations only if it names them: it replaces the object, but for `uid` and `creationTimestamp`.
//! - Reads that name no version are of the newest state. The clock of the server has no part in anything.
//! - Who may not do something is answered 403, and a server that is asked too much 429: nothing was done, for certain. A 500
//!   or a 504 leaves open whether the write was done, or will be ([`Trouble`]).
//!
//! **Left out**: lists and watches, patches (apply included), finalizers (so that a deletion is done at once), dry runs,
//! other namespaces, admission, labels and `managedFields`, `strategy` and `preferredHolder` with the coordinated election of
//! KEP-4355, the limits on the length of names and annotations, and the versions that other API versions show.

mod server;

pub use server::{Kept, Server};

use std::sync::Arc;

/// A text.
pub type Text = Arc<str>;

/// A `Lease`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Lease {
    /// `metadata`.
    pub metadata: Metadata,
    /// `spec`.
    pub spec: Spec,
}

/// `ObjectMeta`, as far as it is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Metadata {
    /// `name`.
    pub name: Text,
    /// `uid`. Drawn by the server when the object is created, where it is not looked at.
    pub uid: Option<u128>,
    /// `resourceVersion`.
    pub resource_version: Option<u64>,
    /// `annotations`, in order of key.
    pub annotations: Vec<(Text, Text)>,
}

/// `LeaseSpec`. Times are microseconds since 1970, as exact as `MicroTime` is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Spec {
    /// `holderIdentity`.
    pub holder_identity: Option<Text>,
    /// `leaseDurationSeconds`.
    pub lease_duration_seconds: Option<i32>,
    /// `acquireTime`.
    pub acquire_time: Option<i64>,
    /// `renewTime`.
    pub renew_time: Option<i64>,
    /// `leaseTransitions`.
    pub lease_transitions: Option<i32>,
}

impl Spec {
    /// What the API demands of it.
    fn validate(&self) -> Result<(), Reason> {
        let seconds = self.lease_duration_seconds;
        if seconds.is_some_and(|seconds| seconds <= 0)
            || self.lease_transitions.is_some_and(|times| times < 0)
        {
            return Err(Reason::Invalid);
        }
        Ok(())
    }
}

/// What a client wants.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// `GET …/leases/NAME`.
    Get(Text),
    /// `POST …/leases`.
    Create(Lease),
    /// `PUT …/leases/NAME`.
    Update(Lease),
    /// `DELETE …/leases/NAME`.
    Delete {
        /// Which.
        name: Text,
        /// `preconditions.uid`.
        uid: Option<u128>,
        /// `preconditions.resourceVersion`.
        resource_version: Option<u64>,
    },
}

/// The verb of a call, as permissions name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// `get`.
    Get,
    /// `create`.
    Create,
    /// `update`.
    Update,
    /// `delete`.
    Delete,
}

impl Call {
    /// Its verb.
    #[must_use]
    pub const fn verb(&self) -> Verb {
        match self {
            Self::Get(_) => Verb::Get,
            Self::Create(_) => Verb::Create,
            Self::Update(_) => Verb::Update,
            Self::Delete { .. } => Verb::Delete,
        }
    }
}

/// What the server answers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// The object: as it is, or as it was written (200).
    Object(Lease),
    /// The object as it was created (201).
    Created(Lease),
    /// It is gone (200).
    Deleted,
    /// A `Status` of failure.
    Failure(Reason),
}

/// Why not: `reason`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Who asks may not.
    Forbidden,
    /// There is no such object.
    NotFound,
    /// There is one of this name.
    AlreadyExists,
    /// It is another version, or another object.
    Conflict,
    /// It says what it must not, or does not what it must.
    Invalid,
    /// The server has too much to do.
    TooManyRequests,
    /// Something failed, such as etcd.
    InternalError,
    /// It took too long.
    Timeout,
}

impl Reason {
    /// `code`.
    #[must_use]
    pub const fn code(self) -> u16 {
        match self {
            Self::Forbidden => 403,
            Self::NotFound => 404,
            Self::AlreadyExists | Self::Conflict => 409,
            Self::Invalid => 422,
            Self::TooManyRequests => 429,
            Self::InternalError => 500,
            Self::Timeout => 504,
        }
    }
}

/// What is wrong with the server. Of reads all of them say no more than that there was no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trouble {
    /// It refuses what it is asked: 429.
    Overloaded,
    /// It answers 500 and does it all the same, or not.
    Fails {
        /// Which.
        done: bool,
    },
    /// It answers 504, and etcd does it so many microseconds later: the condition is judged then.
    Late(u64),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_have_their_codes() {
        let codes = [
            (Reason::Forbidden, 403),
            (Reason::NotFound, 404),
            (Reason::AlreadyExists, 409),
            (Reason::Conflict, 409),
            (Reason::Invalid, 422),
            (Reason::TooManyRequests, 429),
            (Reason::InternalError, 500),
            (Reason::Timeout, 504),
        ];
        for (reason, code) in codes {
            assert_eq!(reason.code(), code);
        }
    }
}
