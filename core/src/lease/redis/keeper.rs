//! How the record is kept in two keys.

use super::api::{Found, Reply, Request};
use super::{Value, in_milliseconds};
use crate::lease::record::{Answer, Call, Keeper, Mark, Record, Seen};
use crate::lease::{Config, Faithful};

/// The highest counter: beyond it a script's answer, which is a float to Redis, loses digits, and two may get the same.
pub const MAX_TOKEN: u64 = (1 << 53) - 1;

/// One node's election by a key of a Redis server.
pub type Redis<R = Faithful> = Record<Server, R>;

/// A Redis server.
#[derive(Clone, Debug)]
pub enum Server {}

impl Keeper for Server {
    type Request = Request;
    type Reply = Reply;

    const LAST: u64 = MAX_TOKEN;
    const LOOKS_FIRST: bool = false;
    const STAYS: bool = true;

    /// Keys end at whole milliseconds.
    fn configured(config: Config) -> Config {
        in_milliseconds(config)
    }

    fn request(call: Call) -> Request {
        match call {
            Call::Take(mark, ttl) => Request::Take {
                value: mark.into(),
                ttl,
            },
            Call::Renew(mark, token, ttl) => Request::Renew {
                value: mark.into(),
                token,
                ttl,
            },
            Call::Release { compare: false, .. } => Request::Delete,
            Call::Release { mark, .. } => Request::Release { value: mark.into() },
            Call::Read => Request::Read,
        }
    }

    fn answer(reply: Reply) -> Answer {
        match reply {
            Reply::Taken(token) => Answer::Taken(token),
            Reply::Renewed => Answer::Renewed,
            Reply::Released => Answer::Released,
            Reply::Found(found) => Answer::Seen(found.map(Seen::from)),
            Reply::NotDone => Answer::NotDone,
        }
    }
}

impl From<Mark> for Value {
    fn from(Mark { claimant, nonce }: Mark) -> Self {
        Self { nonce, claimant }
    }
}

impl From<Found> for Seen {
    fn from(found: Found) -> Self {
        Self {
            mark: found
                .value
                .map(|Value { nonce, claimant }| Mark { claimant, nonce }),
            counter: found.token,
            left: found.left,
        }
    }
}
