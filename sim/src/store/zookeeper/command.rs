//! What clients ask of a ZooKeeper server, and what it says.

use super::image::Step;
use super::sessions::{Password, SessionId};
use crate::store::{Key, Value};
use std::fmt;

/// The first thing that is said on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Connect {
    /// The highest zxid that the client has seen: 0 for none.
    pub seen: i64,
    /// For how many milliseconds the session is to outlast silence.
    pub timeout: i32,
    /// The session that is to go on: 0 for a new one.
    pub session: SessionId,
    /// Its password.
    pub password: Password,
}

/// A version that is expected: −1 for any.
pub type Version = i32;

/// A request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// `ping`: nothing but a sign of life.
    Ping,
    /// `create2`, `delete`, `setData`.
    Do(Operation),
    /// `multi`: all of them, or none.
    Multi(Vec<Operation>),
    /// `exists`: its [`Stat`].
    Exists {
        /// Which.
        path: Key,
        /// Whether to watch for it to come, change or go.
        watch: bool,
    },
    /// `getData`
    GetData {
        /// Of which.
        path: Key,
        /// Whether to watch for it to change or go.
        watch: bool,
    },
    /// `getChildren2`
    GetChildren {
        /// Of which.
        path: Key,
        /// Whether to watch for a child to come or go, or itself to go.
        watch: bool,
    },
    /// `sync`: what is read afterwards is no older than this.
    Sync(Key),
    /// `closeSession`
    Close,
}

impl Command {
    /// The change that it is; nothing where it only looks.
    pub(super) fn step(&self) -> Option<Step> {
        Some(match self {
            Self::Do(operation) => Step::Do(operation.clone()),
            Self::Multi(operations) => Step::Multi(operations.clone()),
            Self::Close => Step::End,
            _ => return None,
        })
    }
}

/// What changes something, or, among others, prevents that.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// `create`
    Create {
        /// Where; of a sequential one, how its name begins.
        path: Key,
        /// What it holds.
        data: Value,
        /// As what.
        mode: Mode,
    },
    /// `delete`
    Delete {
        /// Which.
        path: Key,
        /// Only in this version.
        version: Version,
    },
    /// `setData`
    SetData {
        /// Of which.
        path: Key,
        /// What it holds then.
        data: Value,
        /// Only in this version.
        version: Version,
    },
    /// `check`: it is there, in this version. Among others alone.
    Check {
        /// Which.
        path: Key,
        /// The version.
        version: Version,
    },
}

impl Operation {
    /// Whether it creates a container.
    pub(super) fn creates_container(&self) -> bool {
        let container = Mode::Container;
        matches!(self, Self::Create { mode, .. } if *mode == container)
    }
}

/// As what a znode is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// It stays.
    Persistent,
    /// It goes with the session.
    Ephemeral,
    /// It stays, and its name gets a number.
    PersistentSequential,
    /// It goes with the session, and its name gets a number.
    EphemeralSequential,
    /// It goes when it has had children and has none.
    Container,
}

impl Mode {
    /// Its flags on the wire.
    #[must_use]
    pub const fn flags(self) -> i32 {
        match self {
            Self::Persistent => 0,
            Self::Ephemeral => 1,
            Self::PersistentSequential => 2,
            Self::EphemeralSequential => 3,
            Self::Container => 4,
        }
    }

    /// Whether it goes with the session.
    #[must_use]
    pub const fn is_ephemeral(self) -> bool {
        matches!(self, Self::Ephemeral | Self::EphemeralSequential)
    }

    /// Whether its name gets a number.
    #[must_use]
    pub const fn is_sequential(self) -> bool {
        matches!(self, Self::PersistentSequential | Self::EphemeralSequential)
    }
}

/// What is known of a znode. Times are milliseconds of the server's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stat {
    /// The change that created it.
    pub czxid: i64,
    /// The change that set its data last.
    pub mzxid: i64,
    /// The change by which a child last came or went.
    pub pzxid: i64,
    /// When it was created.
    pub ctime: i64,
    /// When its data was set last.
    pub mtime: i64,
    /// How often its data was set.
    pub version: i32,
    /// How many children came and went.
    pub cversion: i32,
    /// How often its access control was set: never.
    pub aversion: i32,
    /// The session it goes with; 0 for none. Of a container nothing shows.
    pub ephemeral_owner: SessionId,
    /// How many bytes it holds.
    pub data_length: i32,
    /// How many children it has.
    pub num_children: i32,
}

/// What a server says on a connection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Said {
    /// The session began, or goes on.
    Connected {
        /// Which.
        session: SessionId,
        /// What to come back with.
        password: Password,
        /// For how many milliseconds it outlasts silence.
        timeout: i32,
    },
    /// The session that is to go on is over, or the password is not its own. The connection is closed next.
    Expired,
    /// An answer. They come in the order of the requests.
    Answer {
        /// The number of the request.
        xid: i32,
        /// The newest change that this server has.
        zxid: i64,
        /// What came of it.
        result: Result<Reply, Error>,
    },
    /// A watch tells of a change, and is over.
    Event(Event),
    /// The connection is closed.
    Closed,
}

/// What came of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reply {
    /// It is done.
    Done,
    /// It is created.
    Created {
        /// Its whole name.
        path: Key,
        /// What is known of it.
        stat: Stat,
    },
    /// It is there, or its data is set.
    Stat(Stat),
    /// What it holds.
    Data {
        /// That.
        data: Value,
        /// What is known of it.
        stat: Stat,
    },
    /// Its children.
    Children {
        /// Their names, without the parent's.
        names: Vec<Key>,
        /// What is known of the parent.
        stat: Stat,
    },
    /// All were done: what came of each.
    Multi(Vec<Self>),
    /// Among others, one that was created tells its whole name alone, but for containers.
    Named(Key),
    /// None was done: nothing of those before the one that failed, and [`Error::RuntimeInconsistency`] of those after it.
    Failed(Vec<Option<Error>>),
}

/// What a watch tells.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Event {
    /// `NodeCreated`
    Created(Key),
    /// `NodeDeleted`
    Deleted(Key),
    /// `NodeDataChanged`
    DataChanged(Key),
    /// `NodeChildrenChanged`
    ChildrenChanged(Key),
}

/// Why nothing was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Error {
    /// One before it failed.
    RuntimeInconsistency,
    /// No znode can have this name, or it is the server's own.
    BadArguments,
    /// It is not there; of one that is created, its parent.
    NoNode,
    /// It has another version.
    BadVersion,
    /// Its parent goes with a session.
    NoChildrenForEphemerals,
    /// It is there.
    NodeExists,
    /// It has children.
    NotEmpty,
    /// The session is over, or its end is under way. By an ensemble alone.
    SessionExpired,
    /// The session goes on by another server of the ensemble.
    SessionMoved,
}

impl Error {
    /// Its number on the wire.
    #[must_use]
    pub const fn code(self) -> i32 {
        match self {
            Self::RuntimeInconsistency => -2,
            Self::BadArguments => -8,
            Self::NoNode => -101,
            Self::BadVersion => -103,
            Self::NoChildrenForEphemerals => -108,
            Self::NodeExists => -110,
            Self::NotEmpty => -111,
            Self::SessionExpired => -112,
            Self::SessionMoved => -118,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RuntimeInconsistency => "RuntimeInconsistency",
            Self::BadArguments => "BadArguments",
            Self::NoNode => "NoNode",
            Self::BadVersion => "BadVersion",
            Self::NoChildrenForEphemerals => "NoChildrenForEphemerals",
            Self::NodeExists => "NodeExists",
            Self::NotEmpty => "NotEmpty",
            Self::SessionExpired => "SessionExpired",
            Self::SessionMoved => "SessionMoved",
        })
    }
}

impl std::error::Error for Error {}
