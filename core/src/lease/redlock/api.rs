//! What is asked of each server, and what it answers.

use super::{DELETE, RELEASE, Value};
use crate::Duration;

/// The script of [`Command::Set`]. `ARGV`: value, milliseconds.
pub const SET: &str = "\
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
return redis.call('GET', KEYS[1])";

/// The script of [`Command::Extend`]. `ARGV`: value, milliseconds.
pub const EXTEND: &str = "\
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return redis.call('GET', KEYS[1])";

/// The script of [`Command::Look`].
pub const LOOK: &str = "return redis.call('GET', KEYS[1])";

/// What is asked of one server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// Which, from 0.
    pub server: u8,
    /// What.
    pub command: Command,
}

/// A script for one server, `EVAL` or `EVALSHA`, with the key of the election. An error that Redis answers after a script began
/// is [`Unknown`](crate::Unknown).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// Sets the key if it is absent, for so long: [`SET`]. Answered by [`Reply::Granted`] for a number, and else by
    /// [`Reply::Held`].
    Set(Value, Duration),
    /// Compares and extends: [`EXTEND`]. Answered by [`Reply::Granted`] for a number, and else by [`Reply::Held`].
    Extend(Value, Duration),
    /// Compares and deletes: [`RELEASE`]. Answered by [`Reply::Released`] for 1 and 0 alike.
    Release(Value),
    /// Deletes the key, whosever it is: [`DELETE`]. Answered by [`Reply::Released`]. Asked for by a machine without the rule
    /// [`CompareAndDelete`](crate::lease::Rule::CompareAndDelete) alone.
    Delete,
    /// Looks: [`LOOK`]. Answered by [`Reply::Held`].
    Look,
}

impl Command {
    /// The text of the script.
    #[must_use]
    pub const fn script(&self) -> &'static str {
        match self {
            Self::Set(..) => SET,
            Self::Extend(..) => EXTEND,
            Self::Release(_) => RELEASE,
            Self::Delete => DELETE,
            Self::Look => LOOK,
        }
    }
}

/// What one server answered. What may or may not have been carried out is no reply but [`Unknown`](crate::Unknown).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reply {
    /// Its key is the node's, for the time that was asked for.
    Granted,
    /// Its key is not the node's, but holds this; `None` when it is absent, or no machine wrote it.
    Held(Option<Value>),
    /// Its key is not the node's any more.
    Released,
    /// Nothing was done, for certain.
    NotDone,
}
