//! What clients ask of a Redis server, and what it answers.

use crate::store::{Key, Value};
use std::fmt;
use tenure::lease::{redis, redlock};

/// A command. Numbers are signed as on the wire, so that what the server refuses can be asked, too.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// `GET key`
    Get(Key),
    /// `SET key value [NX | XX] [GET] [EX … | PX … | PXAT … | KEEPTTL]`
    Set {
        /// Where.
        key: Key,
        /// What.
        value: Value,
        /// On which condition.
        when: When,
        /// For how long.
        ttl: Ttl,
        /// Whether it answers with what was there, set or not.
        get: bool,
    },
    /// `DEL key …`
    Del(Vec<Key>),
    /// `EXISTS key …`: how many are there; one that is named twice counts twice.
    Exists(Vec<Key>),
    /// `PEXPIRE key milliseconds [NX | XX | GT | LT]`
    PExpire {
        /// Which.
        key: Key,
        /// For how long from now; not above zero, it is deleted.
        ms: i64,
        /// On which condition.
        only: Option<Only>,
    },
    /// `PTTL key`: the milliseconds left; -1 without an end, -2 without the key.
    PTtl(Key),
    /// `INCR key`
    Incr(Key),
    /// `FLUSHALL`
    FlushAll,
    /// `EVAL script …`
    Eval(Script),
    /// `WAIT replicas milliseconds`: how many replicas have what this client has seen; answered when they are as many, or
    /// after that time; 0 is for ever.
    Wait {
        /// How many are waited for.
        replicas: i64,
        /// For how long.
        ms: i64,
    },
}

/// On which condition a key is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum When {
    /// None.
    Always,
    /// `NX`: it is not there.
    Absent,
    /// `XX`: it is there.
    Present,
}

/// How long a key that is set stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ttl {
    /// For ever: an end that it had is gone.
    Forever,
    /// `KEEPTTL`: as before.
    Keep,
    /// `EX`
    Seconds(i64),
    /// `PX`
    Ms(i64),
    /// `PXAT`: until this millisecond of the wall clock.
    AtMs(i64),
}

/// On which condition the end of a key is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Only {
    /// `NX`: it has none.
    Endless,
    /// `XX`: it has one.
    Ending,
    /// `GT`: to later; no end is the latest.
    Later,
    /// `LT`: to earlier.
    Earlier,
}

/// The scripts of the lease schemes: those of one server, of a lock and a counter beside it, and those of several, of a lock
/// alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Script {
    /// [`redis::TAKE`]: the counter's next number, or what [`Read`](Self::Read) gives when somebody holds the lock.
    Take {
        /// The lock.
        lock: Key,
        /// The counter of tokens.
        counter: Key,
        /// What the lock holds then.
        value: Value,
        /// For how long.
        ms: i64,
    },
    /// [`redis::RENEW`]: 1, or what [`Read`](Self::Read) gives when lock or counter hold something else.
    Renew {
        /// The lock.
        lock: Key,
        /// The counter of tokens.
        counter: Key,
        /// What the lock must hold.
        value: Value,
        /// For how long from now.
        ms: i64,
        /// What the counter must hold.
        token: Value,
    },
    /// [`redis::READ`]: lock, counter, and the milliseconds left of the lock.
    Read {
        /// The lock.
        lock: Key,
        /// The counter of tokens.
        counter: Key,
    },
    /// [`redis::RELEASE`]: 1, or 0 when the lock holds something else.
    Release {
        /// The lock.
        lock: Key,
        /// What it must hold.
        value: Value,
    },
    /// [`redis::DELETE`]: how many were there.
    Delete {
        /// The lock.
        lock: Key,
    },
    /// [`redlock::SET`]: 1, or what the lock holds.
    Set {
        /// The lock.
        lock: Key,
        /// What it holds then.
        value: Value,
        /// For how long.
        ms: i64,
    },
    /// [`redlock::EXTEND`]: 1, or what the lock holds.
    Extend {
        /// The lock.
        lock: Key,
        /// What it must hold.
        value: Value,
        /// For how long from now.
        ms: i64,
    },
    /// [`redlock::LOOK`]: what the lock holds.
    Look {
        /// The lock.
        lock: Key,
    },
}

impl Script {
    /// The text that is sent to a real server: the one that a host sends.
    #[must_use]
    pub const fn source(&self) -> &'static str {
        match self {
            Self::Take { .. } => redis::TAKE,
            Self::Renew { .. } => redis::RENEW,
            Self::Read { .. } => redis::READ,
            Self::Release { .. } => redis::RELEASE,
            Self::Delete { .. } => redis::DELETE,
            Self::Set { .. } => redlock::SET,
            Self::Extend { .. } => redlock::EXTEND,
            Self::Look { .. } => redlock::LOOK,
        }
    }
}

/// What a server answers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reply {
    /// Done.
    Ok,
    /// Nothing there, or nothing done.
    Nil,
    /// A number.
    Int(i64),
    /// What is kept there.
    Bulk(Value),
    /// Several.
    Array(Vec<Reply>),
    /// Refused; only a script may have done something before.
    Error(Error),
}

/// Why a command was refused, in the server's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Error {
    /// What is kept there, or would be, is no number of 64 bits.
    NotAnInteger,
    /// There is no higher number.
    Overflow,
    /// A time to live that no key can have, in the command of this name.
    InvalidExpire(&'static str),
    /// Less than no time to wait.
    NegativeTimeout,
    /// A replica is asked to change something.
    ReadOnly,
    /// A replica is asked to wait for replicas.
    WaitOnReplica,
    /// Memory is full.
    OutOfMemory,
    /// The server became a replica while the client waited.
    Unblocked,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotAnInteger => "ERR value is not an integer or out of range",
            Self::Overflow => "ERR increment or decrement would overflow",
            Self::InvalidExpire(command) => {
                return write!(f, "ERR invalid expire time in '{command}' command");
            }
            Self::NegativeTimeout => "ERR timeout is negative",
            Self::ReadOnly => "READONLY You can't write against a read only replica.",
            Self::WaitOnReplica => {
                "ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if a replica is \
                 configured to be writable (which is not the default) writes to replicas are just local and are not \
                 propagated."
            }
            Self::OutOfMemory => "OOM command not allowed when used memory > 'maxmemory'.",
            Self::Unblocked => {
                "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)"
            }
        })
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ok => f.write_str("OK"),
            Self::Nil => f.write_str("nil"),
            Self::Int(number) => write!(f, "{number}"),
            Self::Bulk(value) => write!(f, "\"{value}\""),
            Self::Array(replies) => {
                for (place, reply) in replies.iter().enumerate() {
                    write!(f, "{}{reply}", if place == 0 { "[" } else { ", " })?;
                }
                f.write_str("]")
            }
            Self::Error(error) => write!(f, "error {error}"),
        }
    }
}
