//! What is asked of a Redis server, and what it answers.

use super::Value;
use crate::Duration;

/// The script of [`Request::Take`]. `ARGV`: value, milliseconds.
pub const TAKE: &str = "\
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return redis.call('INCR', KEYS[2]) end
return {redis.call('GET', KEYS[1]), redis.call('GET', KEYS[2]), redis.call('PTTL', KEYS[1])}";

/// The script of [`Request::Renew`]. `ARGV`: value, milliseconds, token.
pub const RENEW: &str = "\
if redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('GET', KEYS[2]) == ARGV[3] then
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return {redis.call('GET', KEYS[1]), redis.call('GET', KEYS[2]), redis.call('PTTL', KEYS[1])}";

/// The script of [`Request::Release`]. `ARGV`: value.
pub const RELEASE: &str = "\
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0";

/// The script of [`Request::Read`].
pub const READ: &str = "\
return {redis.call('GET', KEYS[1]), redis.call('GET', KEYS[2]), redis.call('PTTL', KEYS[1])}";

/// The script of [`Request::Delete`].
pub const DELETE: &str = "return redis.call('DEL', KEYS[1])";

/// A script for the host to run, `EVAL` or `EVALSHA`, with both keys. An error that Redis answers after a script began is
/// [`Unknown`](crate::Unknown): what came before it was done.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    /// Takes the lock if it is free: [`TAKE`]. Answered by [`Reply::Taken`] for a number, and else as [`Read`](Self::Read) is.
    /// A number below zero is one that was too high for a script to say, and as good as the highest there is.
    Take {
        /// What the lock holds then.
        value: Value,
        /// For how long.
        ttl: Duration,
    },
    /// Holds it on: [`RENEW`]. Answered by [`Reply::Renewed`] for a number, and else as [`Read`](Self::Read) is.
    Renew {
        /// What the lock must hold.
        value: Value,
        /// What the counter must be.
        token: u64,
        /// For how long from now.
        ttl: Duration,
    },
    /// Gives it up: [`RELEASE`]. Answered by [`Reply::Released`] for 1 and 0 alike: it is not this holder's any more.
    Release {
        /// What the lock must hold.
        value: Value,
    },
    /// Deletes the lock, whosever it is: [`DELETE`]. Answered by [`Reply::Released`]. Asked for by a machine without the rule
    /// [`CompareAndDelete`](crate::lease::Rule::CompareAndDelete) alone.
    Delete,
    /// Looks: [`READ`]. Answered by [`Reply::Found`] with what [`Found::read`] makes of the three.
    Read,
}

impl Request {
    /// The text of the script.
    #[must_use]
    pub const fn script(&self) -> &'static str {
        match self {
            Self::Take { .. } => TAKE,
            Self::Renew { .. } => RENEW,
            Self::Release { .. } => RELEASE,
            Self::Delete => DELETE,
            Self::Read => READ,
        }
    }
}

/// What the server answered. What may or may not have been carried out is no reply but [`Unknown`](crate::Unknown).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reply {
    /// The lock is the node's, with this token.
    Taken(u64),
    /// It holds it on.
    Renewed,
    /// It does not hold it any more.
    Released,
    /// What the keys hold; `None` when the lock is free.
    Found(Option<Found>),
    /// Nothing was done, for certain: no connection, `READONLY`, `LOADING`, `OOM` before the script began.
    NotDone,
}

/// A lock that is held.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Found {
    /// What it holds; `None` when no machine wrote that.
    pub value: Option<Value>,
    /// The counter; 0 when there is none, or no number.
    pub token: u64,
    /// How long it is held on, by the server's clock; for ever is the longest there is.
    pub left: Duration,
}

impl Found {
    /// What the three say that a script gives: the lock, the counter, and the answer of `PTTL`. `None` when the lock is free.
    #[must_use]
    pub fn read(lock: Option<&str>, counter: Option<&str>, left: i64) -> Option<Self> {
        Some(Self {
            value: Value::parse(lock?),
            token: counter.and_then(|text| text.parse().ok()).unwrap_or(0),
            left: match u64::try_from(left) {
                Ok(left) => Duration::from_micros(left.saturating_mul(1_000)),
                Err(_) => Duration::from_micros(u64::MAX),
            },
        })
    }
}

/// An interval as it is sent: in whole milliseconds, rounded up, so that no key ends before a holder has stopped.
#[must_use]
pub const fn milliseconds(span: Duration) -> u64 {
    span.as_micros().div_ceil(1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_script_finds_is_read_as_far_as_it_makes_sense() {
        let text = "000000000000000000000000000000ab:1:a:";
        let found = Found::read(Some(text), Some("7"), 1_500).unwrap();
        assert_eq!((found.value.unwrap().nonce.0, found.token), (0xab, 7));
        assert_eq!(found.left, Duration::from_micros(1_500_000));
        assert_eq!(Found::read(None, Some("7"), -2), None);
        let foreign = Found::read(Some("x"), Some("y"), -1).unwrap();
        assert_eq!((foreign.value, foreign.token), (None, 0));
        assert_eq!(foreign.left, Duration::from_micros(u64::MAX));
        assert_eq!(milliseconds(Duration::from_micros(1_001)), 2);
    }
}
