//! What ZooKeeper is asked and what it answers: its client's interface, as far as an election needs it.
//!
//! Each [`Request`] is one call of a client library. Data is text here, where ZooKeeper has bytes: a host that meets others
//! replaces what is no text. Paths are whole.

use crate::Duration;
use crate::lease::Claimant;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// The path of a node, from the root on; or the name of a child alone, where it says so.
pub type Path = Arc<str>;
/// What is kept in a node.
pub type Data = Arc<str>;

/// A session, as ZooKeeper numbers them; 0 is none.
///
/// It is no token: it is drawn by the server that opens the session, of its own number and its clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub i64);

impl SessionId {
    /// None.
    pub const NONE: Self = Self(0);
}

/// A call for the host to make.
///
/// A host has one handle of its client at a time, and every call but [`Connect`](Self::Connect) is of the session that it
/// names: when the handle has another by then, the answer is [`Reply::Expired`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    /// `new ZooKeeper(servers, sessionTimeout, watcher)`, or `zookeeper_init`: a handle with a session of its own. Its state
    /// is told under this ticket whenever it changes, as the watcher of the handle hears of it: [`Reply::Connected`]
    /// (`SyncConnected`), [`Reply::Suspended`] (`Disconnected`), [`Reply::Expired`] (`Expired`, `AuthFailed`, `Closed`).
    /// The library finds a server, reconnects and pings by itself.
    ///
    /// A handle that is not connected yet is kept, and answers under the new ticket; any other is closed first.
    Connect {
        /// `sessionTimeout`. The servers may grant more or less.
        timeout: Duration,
    },
    /// `close()`: the session ends, and its ephemeral nodes go. Answered by [`Reply::Closed`], or by [`Reply::Expired`] when
    /// it had ended. A library that drops the handle without an answer leaves it [`Unknown`](crate::Unknown): the session
    /// ends by itself.
    Close {
        /// Which.
        session: SessionId,
    },
    /// `create(path, data, acl, EPHEMERAL_SEQUENTIAL)`. Answered by [`Reply::Created`], by [`Reply::NoNode`] when there is no
    /// parent, or by [`Reply::NodeExists`] where the numbers are used up. The list of who may do what is the host's.
    Create {
        /// Of this session.
        session: SessionId,
        /// Where; its number follows it.
        path: Path,
        /// What it holds, as a [text](core::fmt::Display).
        data: Claimant,
    },
    /// `create(path, "", acl, PERSISTENT)`. Answered by [`Reply::Created`], [`Reply::NodeExists`] or [`Reply::NoNode`].
    CreateParent {
        /// Of this session.
        session: SessionId,
        /// Where.
        path: Path,
    },
    /// `getChildren(path, watch)`. Answered by [`Reply::Children`] or [`Reply::NoNode`]; and where it watches, by
    /// [`Reply::Changed`] once something did.
    Children {
        /// Of this session.
        session: SessionId,
        /// Of which.
        path: Path,
        /// Whether to tell when a child comes or goes.
        watch: bool,
    },
    /// `getData(path, watch)`. Answered by [`Reply::Data`] or [`Reply::NoNode`], which leaves no watch; and where it watches,
    /// by [`Reply::Changed`] once something did.
    Data {
        /// Of this session.
        session: SessionId,
        /// Of which.
        path: Path,
        /// Whether to tell when it is written or goes.
        watch: bool,
    },
    /// `setData(path, data, version)`. Answered by [`Reply::Set`], [`Reply::BadVersion`] or [`Reply::NoNode`].
    SetData {
        /// Of this session.
        session: SessionId,
        /// Where.
        path: Path,
        /// What it holds from then on, as a [text](core::fmt::Display).
        data: Claimant,
        /// The version it must have.
        version: i32,
    },
    /// `delete(path, -1)`. Answered by [`Reply::Deleted`] or [`Reply::NoNode`].
    Delete {
        /// Of this session.
        session: SessionId,
        /// Which.
        path: Path,
    },
}

/// What ZooKeeper answered, or its client library. What may or may not have been carried out, as after `ConnectionLoss`, is
/// no reply but [`Unknown`](crate::Unknown).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reply {
    /// The handle has its session: for the first time, or again after [`Suspended`](Self::Suspended).
    Connected {
        /// Which.
        session: SessionId,
        /// `getSessionTimeout()`: what was negotiated.
        timeout: Duration,
    },
    /// The handle has no server. Its session may live, and may not.
    Suspended,
    /// `SessionExpired`: the session is over, as a server said; or the handle is good for nothing any more.
    Expired,
    /// The session is over, as was asked for.
    Closed,
    /// A node was created: its path, with its number.
    Created(Path),
    /// `NodeExists`.
    NodeExists,
    /// The names of all children, in any order.
    Children(Vec<Path>),
    /// What a node holds.
    Data(Data, Stat),
    /// A node was written, and is so now.
    Set(Stat),
    /// A node was deleted.
    Deleted,
    /// `NoNode`.
    NoNode,
    /// `BadVersion`.
    BadVersion,
    /// A watch fires, and is no more.
    Changed(Change),
    /// Nothing was done, for certain: there was no connection to send it by; `NoAuth`, `SessionMoved`, `Throttled`.
    NotDone,
}

/// What a watch tells of what it was left on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// `NodeDeleted`.
    Deleted,
    /// `NodeDataChanged`.
    Written,
    /// `NodeChildrenChanged`.
    Children,
}

/// A node's `Stat`, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stat {
    /// `czxid`: which of all transactions created it.
    pub czxid: u64,
    /// `version`: how often it was written, with overflow.
    pub version: i32,
    /// `ephemeralOwner`: the session with which it goes, or [`SessionId::NONE`].
    pub owner: SessionId,
}
