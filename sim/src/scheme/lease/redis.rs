//! A Redis server in the world, with or without an asynchronous replica: each request is one script.

use super::candidate::Candidate;
use super::{StoreAsk, StoreSaid};
use crate::server::{Record, Service};
use crate::store::Key;
use crate::store::redis::{Command, Error, Persistence, Replicated, Reply, Script, Tail};
use std::collections::VecDeque;
use tenure::lease::{Config, Switched, redis, redlock};
use tenure::{Duration, Ticket, Unknown};

/// The lock of the election.
const LOCK: &str = "election";
/// The counter beside it.
const COUNTER: &str = "election:token";
/// How far a replica is behind its master: more than is usual, so that what that does can be seen.
const LAG: u64 = 500_000;

/// Whichever server of a master and its replica is the master.
#[derive(Clone, Debug)]
pub(crate) struct Redis {
    servers: Replicated,
    master: usize,
    /// What the clock showed last, and how much it jumped back in all.
    shown: u64,
    back: u64,
    said: VecDeque<(u16, Ticket, StoreSaid)>,
}

impl Redis {
    /// A server that syncs its file once a second, and so many replicas.
    pub(super) fn new(replicas: usize) -> Self {
        Self {
            servers: Replicated::new(1 + replicas, Persistence::EverySecond, 0, LAG),
            master: 0,
            shown: 0,
            back: 0,
            said: VecDeque::new(),
        }
    }

    /// The time that never goes back, when the clock shows this. The wall clock by which keys end is the one that is shown.
    fn time(&mut self, now: u64) -> u64 {
        let back = self.shown.saturating_sub(now);
        self.shown = now;
        if back > 0 {
            self.back += back;
            self.servers.jump(0i64.saturating_sub_unsigned(back));
        }
        now.saturating_add(self.back)
    }

    fn run(&mut self, now: u64, client: u16, script: Script) -> Option<Reply> {
        let (time, command) = (self.time(now), Command::Eval(script));
        self.servers.ask(time, self.master, client, &command);
        Some(self.servers.poll()?.2)
    }
}

impl Service for Redis {
    fn ask(&mut self, now: u64, client: u16, ticket: Ticket, ask: &StoreAsk) {
        let said = match ask {
            StoreAsk::Redis(request) => self
                .run(now, client, script(request))
                .and_then(|reply| told(request, reply))
                .map(StoreSaid::Redis),
            StoreAsk::Redlock(command) => self
                .run(now, client, command_script(command))
                .and_then(|reply| told_one(command, reply))
                .map(StoreSaid::Redlock),
            _ => None,
        };
        // What may or may not have been done is told by silence.
        self.said.extend(said.map(|said| (client, ticket, said)));
    }

    fn poll(&mut self) -> Option<(u16, Ticket, StoreSaid)> {
        self.said.pop_front()
    }

    fn records(&self, now: u64) -> Vec<Record> {
        let Some(server) = self.servers.server(self.master) else {
            return Vec::new();
        };
        let (lock, counter) = keys();
        let Some(value) = server.held(&lock) else {
            return Vec::new();
        };
        let wall = server.wall(now.saturating_add(self.back));
        let left = server.ends(&lock).map(|until| until - wall);
        let left = left.and_then(|ms| u64::try_from(ms).ok());
        let token = server.held(&counter).and_then(|token| token.parse().ok());
        vec![Record {
            key: LOCK.to_owned(),
            holder: redis::Value::parse(value)
                .map(|value| value.claimant.identity.name().to_owned()),
            token: token.unwrap_or(0),
            ends: left.map(|ms| now + ms * 1_000),
            holds: left.is_some(),
        }]
    }

    fn due(&self) -> Option<u64> {
        Some(self.servers.due()?.saturating_sub(self.back))
    }

    fn wake(&mut self, now: u64) {
        let time = self.time(now);
        self.servers.wake(time);
    }

    fn restarted(&mut self, now: u64) {
        let time = self.time(now);
        self.servers.restart(time, self.master, Tail::Kept);
    }

    fn cut_power(&mut self, now: u64) -> bool {
        let time = self.time(now);
        self.servers.cut_power(time, self.master)
    }

    fn fail_over(&mut self, now: u64) -> bool {
        let time = self.time(now);
        let Some(replica) = (0..self.servers.count()).find(|server| *server != self.master) else {
            return false;
        };
        self.servers.promote(time, replica);
        // The old master comes back, throws away what it has, and follows.
        self.servers.follow(time, self.master, replica);
        self.master = replica;
        true
    }

    fn evict(&mut self, now: u64) -> bool {
        let (time, mut there) = (self.time(now), false);
        self.servers.fault(time, self.master, |server| {
            there = server.evict(&LOCK.into());
        });
        there
    }

    fn back_up(&mut self, now: u64) -> bool {
        let time = self.time(now);
        self.servers.back_up(time, self.master)
    }

    fn restore(&mut self, now: u64) -> bool {
        let time = self.time(now);
        self.servers.restore(time, self.master)
    }
}

fn keys() -> (Key, Key) {
    (LOCK.into(), COUNTER.into())
}

fn ms(ttl: Duration) -> i64 {
    i64::try_from(redis::milliseconds(ttl)).unwrap_or(i64::MAX)
}

/// The script of a request.
fn script(request: &redis::Request) -> Script {
    let (lock, counter) = keys();
    match request {
        redis::Request::Take { value, ttl } => Script::Take {
            lock,
            counter,
            value: value.to_string().into(),
            ms: ms(*ttl),
        },
        redis::Request::Renew { value, token, ttl } => Script::Renew {
            lock,
            counter,
            value: value.to_string().into(),
            ms: ms(*ttl),
            token: token.to_string().into(),
        },
        redis::Request::Release { value } => Script::Release {
            lock,
            value: value.to_string().into(),
        },
        redis::Request::Delete => Script::Delete { lock },
        redis::Request::Read => Script::Read { lock, counter },
    }
}

/// What came of a request; nothing when that is not known.
fn told(request: &redis::Request, reply: Reply) -> Option<redis::Reply> {
    Some(match (request, reply) {
        (_, Reply::Error(Error::ReadOnly | Error::OutOfMemory)) => redis::Reply::NotDone,
        (redis::Request::Take { .. }, Reply::Int(token)) => {
            redis::Reply::Taken(u64::try_from(token).unwrap_or(u64::MAX))
        }
        (redis::Request::Renew { .. }, Reply::Int(_)) => redis::Reply::Renewed,
        (redis::Request::Release { .. } | redis::Request::Delete, Reply::Int(_)) => {
            redis::Reply::Released
        }
        (_, Reply::Array(found)) => {
            let [lock, counter, Reply::Int(left)] = found.as_slice() else {
                return None;
            };
            redis::Reply::Found(redis::Found::read(text(lock), text(counter), *left))
        }
        _ => return None,
    })
}

/// The script of a command to one of several servers.
fn command_script(command: &redlock::Command) -> Script {
    let lock = LOCK.into();
    match command {
        redlock::Command::Set(value, ttl) => Script::Set {
            lock,
            value: value.to_string().into(),
            ms: ms(*ttl),
        },
        redlock::Command::Extend(value, ttl) => Script::Extend {
            lock,
            value: value.to_string().into(),
            ms: ms(*ttl),
        },
        redlock::Command::Release(value) => Script::Release {
            lock,
            value: value.to_string().into(),
        },
        redlock::Command::Delete => Script::Delete { lock },
        redlock::Command::Look => Script::Look { lock },
    }
}

/// What came of a command to one of several servers; nothing when that is not known.
fn told_one(command: &redlock::Command, reply: Reply) -> Option<redlock::Reply> {
    Some(match (command, reply) {
        (_, Reply::Error(Error::ReadOnly | Error::OutOfMemory)) => redlock::Reply::NotDone,
        (redlock::Command::Set(..) | redlock::Command::Extend(..), Reply::Int(_)) => {
            redlock::Reply::Granted
        }
        (redlock::Command::Release(_) | redlock::Command::Delete, Reply::Int(_)) => {
            redlock::Reply::Released
        }
        (_, held @ (Reply::Nil | Reply::Bulk(_))) => {
            redlock::Reply::Held(text(&held).and_then(redlock::Value::parse))
        }
        _ => return None,
    })
}

fn text(reply: &Reply) -> Option<&str> {
    match reply {
        Reply::Bulk(text) => Some(text),
        _ => None,
    }
}

/// How a candidate takes part over several servers.
pub(super) const fn several(common: Config, servers: u8) -> redlock::Config {
    redlock::Config { common, servers }
}

impl Candidate for redis::Redis<Switched> {
    fn ask(request: Self::Request) -> (usize, StoreAsk) {
        (0, StoreAsk::Redis(request))
    }

    fn reply(said: StoreSaid) -> Result<Self::Reply, Unknown> {
        match said {
            StoreSaid::Redis(reply) => Ok(reply),
            _ => Err(Unknown),
        }
    }

    fn belief(&self) -> Duration {
        let timing = self.config().timing;
        timing.belief(timing.ttl)
    }
}

impl Candidate for redlock::Redlock<Switched> {
    fn ask(request: Self::Request) -> (usize, StoreAsk) {
        (
            usize::from(request.server),
            StoreAsk::Redlock(request.command),
        )
    }

    fn reply(said: StoreSaid) -> Result<Self::Reply, Unknown> {
        match said {
            StoreSaid::Redlock(reply) => Ok(reply),
            _ => Err(Unknown),
        }
    }

    fn belief(&self) -> Duration {
        let timing = self.config().common.timing;
        timing.belief(timing.ttl)
    }
}
