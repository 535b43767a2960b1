//! What ZooKeeper is asked by a controller. What it answers is the [`Reply`](super::super::Reply) of every election over it.

use crate::Duration;
use crate::lease::Claimant;
use crate::lease::zookeeper::{Path, SessionId};

/// A call for the host to make, as those of a [queue](super::super::Request): every one but [`Connect`](Self::Connect) is of the
/// session that it names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    /// `new ZooKeeper(servers, sessionTimeout, watcher)`: as [there](super::super::Request::Connect).
    Connect {
        /// `sessionTimeout`. The servers may grant more or less.
        timeout: Duration,
    },
    /// `close()`: as [there](super::super::Request::Close).
    Close {
        /// Which.
        session: SessionId,
    },
    /// `create(path, "", acl, PERSISTENT)`. Answered by [`Created`](super::super::Reply::Created),
    /// [`NodeExists`](super::super::Reply::NodeExists) or [`NoNode`](super::super::Reply::NoNode).
    CreateParent {
        /// Of this session.
        session: SessionId,
        /// Where.
        path: Path,
    },
    /// `create(path, "0", acl, PERSISTENT)`: no controller was elected yet. Answered as
    /// [`CreateParent`](Self::CreateParent).
    CreateEpoch {
        /// Of this session.
        session: SessionId,
        /// Where.
        path: Path,
    },
    /// `getData(path, watch)`. Answered by [`Data`](super::super::Reply::Data) or [`NoNode`](super::super::Reply::NoNode); and
    /// where it watches, by [`Changed`](super::super::Reply::Changed) once something did.
    Data {
        /// Of this session.
        session: SessionId,
        /// Of which.
        path: Path,
        /// Whether to tell when it is written or goes. There is no watch on what is not there: `exists` leaves it.
        watch: bool,
    },
    /// KZ-2: `multi(create(path, data, acl, EPHEMERAL), setData(guard.path, epoch, guard.version))`. Answered by
    /// [`Set`](super::super::Reply::Set) with the epoch's node as it is then; by
    /// [`NodeExists`](super::super::Reply::NodeExists), [`BadVersion`](super::super::Reply::BadVersion) or
    /// [`NoNode`](super::super::Reply::NoNode), by whichever part failed first.
    Claim {
        /// Of this session.
        session: SessionId,
        /// Where.
        path: Path,
        /// What it holds, as a [text](core::fmt::Display).
        data: Claimant,
        /// What the epoch is to be, as a decimal number.
        epoch: u64,
        /// The epoch's node as it was read.
        guard: Guard,
    },
    /// KZ-F1: `multi(check(guard.path, guard.version), setData(path, data, -1))`. Answered by
    /// [`Set`](super::super::Reply::Set) with the node as it is then, [`BadVersion`](super::super::Reply::BadVersion) or
    /// [`NoNode`](super::super::Reply::NoNode).
    Renew {
        /// Of this session.
        session: SessionId,
        /// Where.
        path: Path,
        /// What it holds, as a [text](core::fmt::Display).
        data: Claimant,
        /// The epoch's node as it must be.
        guard: Guard,
    },
    /// `multi(check(guard.path, guard.version), delete(path, -1))`. Answered by [`Deleted`](super::super::Reply::Deleted),
    /// [`BadVersion`](super::super::Reply::BadVersion) or [`NoNode`](super::super::Reply::NoNode).
    Delete {
        /// Of this session.
        session: SessionId,
        /// Which.
        path: Path,
        /// The epoch's node as it must be.
        guard: Guard,
    },
}

/// What goes into every transaction of a controller (KZ-F1, KAFKA-6082): `check(path, version)`. Where it fails, another is
/// elected: call [`moved`](super::Controller::moved).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Guard {
    /// The node of the epoch.
    pub path: Path,
    /// The version it must have.
    pub version: i32,
}
