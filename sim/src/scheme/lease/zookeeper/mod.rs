//! Elections over ZooKeeper, in the world, by the queue and by Kafka's single controller: each request is one call of a
//! client's library, and what that library does by itself is done where the server is. It comes back with the session when the
//! connection is gone, and knows what each watch was left for; it does not ping, nor leave watches again.

mod calls;
mod controller;
#[cfg(feature = "peers")]
mod ensemble;
mod handle;
#[cfg(feature = "peers")]
mod library;

pub(super) use controller::{Broker, Guarded};
#[cfg(feature = "peers")]
pub(super) use {ensemble::member, library::Library};

use super::candidate::Candidate;
use super::{StoreAsk, StoreSaid};
use crate::server::{Record, Service};
use crate::sorted::Sorted;
use crate::store::Key;
use crate::store::zookeeper::{
    Command, Connect, Image, Operation, Password, Said, Server, Stat, password,
};
use calls::{command, connects, reply};
use handle::Handle;
use std::collections::VecDeque;
use tenure::lease::zookeeper::{self as core, SessionId};
use tenure::lease::{Config, Switched};
use tenure::{Duration, Ticket, Unknown};

/// Where the candidates are.
pub(super) const PARENT: &str = "/election";
/// Where Kafka keeps what is its own.
pub(super) const KAFKA: &str = "/kafka";

/// The tick of a server that grants a session of `ttl`, and ends it not much later: the usual one, unless that is too long or
/// too short.
pub(super) fn tick_time(ttl: Duration) -> u32 {
    let millis = (ttl.as_micros() / 1_000).min(u64::from(u32::MAX)) as u32;
    2_000.min(millis / 6).max(millis.div_ceil(20)).max(1)
}

/// A server, with the handles of its clients.
#[derive(Clone, Debug)]
pub(crate) struct ZooKeeper {
    server: Server,
    handles: Sorted<u16, Handle>,
    said: VecDeque<(u16, Ticket, core::Reply)>,
    backup: Option<Image>,
}

/// No client of an election: who puts a hand to the store.
const OPERATOR: u16 = u16::MAX;

impl ZooKeeper {
    /// An empty server with a tick of so many milliseconds.
    pub(super) fn new(tick_time: u32) -> Self {
        Self {
            server: Server::new(0, tick_time),
            handles: Sorted::default(),
            said: VecDeque::new(),
            backup: None,
        }
    }

    /// Every connection is gone.
    fn hang_up(&mut self) {
        for (_, handle) in self.handles.iter_mut() {
            handle.disconnected();
        }
    }

    fn say(&mut self, client: u16, ticket: Ticket, reply: core::Reply) {
        self.said.push_back((client, ticket, reply));
    }

    /// A handle of its own, in the place of the one before.
    fn open(&mut self, now: u64, client: u16, ticket: Ticket, timeout: Duration) {
        self.handles.remove(&client);
        let millis = timeout.as_micros().div_ceil(1_000).min(i32::MAX as u64);
        self.connect(now, client, 0, millis as i32);
        while let Some((to, said)) = self.server.poll() {
            match said {
                Said::Connected {
                    session, timeout, ..
                } if to == client => {
                    let handle = Handle::new(ticket, session, timeout);
                    let connected = handle.told();
                    self.handles.insert(client, handle);
                    self.say(client, ticket, connected);
                }
                said => self.tell(to, said),
            }
        }
    }

    fn connect(&mut self, now: u64, client: u16, session: i64, timeout: i32) {
        let password = if session == 0 {
            Password::default()
        } else {
            password(session)
        };
        let connect = Connect {
            seen: 0,
            timeout,
            session,
            password,
        };
        self.server.connect(now, client, &connect);
    }

    /// Whether a client has a connection for that session, for which another one is made if need be.
    fn reaches(&mut self, now: u64, client: u16, session: SessionId) -> bool {
        let handle = self.handles.get(&client);
        let Some(handle) = handle.filter(|handle| handle.session == session.0) else {
            return false;
        };
        if !handle.connected {
            let (session, timeout) = (handle.session, handle.timeout);
            self.connect(now, client, session, timeout);
            self.listen();
        }
        self.handles.contains_key(&client)
    }

    /// Passes on what the server says by itself.
    fn listen(&mut self) {
        while let Some((client, said)) = self.server.poll() {
            self.tell(client, said);
        }
    }

    /// What the library makes of what the server says.
    fn tell(&mut self, client: u16, said: Said) {
        let Some(handle) = self.handles.get_mut(&client) else {
            return;
        };
        let ticket = handle.ticket;
        match said {
            Said::Connected { timeout, .. } => {
                (handle.connected, handle.timeout) = (true, timeout);
                let connected = handle.told();
                self.say(client, ticket, connected);
            }
            Said::Expired => {
                self.handles.remove(&client);
                self.say(client, ticket, core::Reply::Expired);
            }
            Said::Closed => {
                handle.disconnected();
                self.say(client, ticket, core::Reply::Suspended);
            }
            Said::Event(event) => {
                let fired = handle.fires(event);
                self.said
                    .extend(fired.map(|(ticket, reply)| (client, ticket, reply)));
            }
            // Every answer is taken where it is asked for.
            Said::Answer { .. } => {}
        }
    }

    fn call(&mut self, now: u64, client: u16, ticket: Ticket, ask: &StoreAsk) {
        let Some((session, command)) = command(ask) else {
            return;
        };
        if !self.reaches(now, client, session) {
            return self.say(client, ticket, core::Reply::Expired);
        }
        self.server.ask(now, client, 0, &command);
        while let Some((to, said)) = self.server.poll() {
            match said {
                Said::Answer { result, .. } if to == client => {
                    let reply = reply(ask, result);
                    if let Some(handle) = self.handles.get_mut(&client) {
                        handle.leaves(ticket, ask, &reply);
                    }
                    if reply == core::Reply::Closed {
                        self.handles.remove(&client);
                    }
                    self.say(client, ticket, reply);
                }
                said => self.tell(to, said),
            }
        }
    }
}

impl Service for ZooKeeper {
    fn ask(&mut self, now: u64, client: u16, ticket: Ticket, ask: &StoreAsk) {
        match connects(ask) {
            Some(timeout) => self.open(now, client, ticket, timeout),
            None => self.call(now, client, ticket, ask),
        }
    }

    fn poll(&mut self) -> Option<(u16, Ticket, StoreSaid)> {
        let (client, ticket, reply) = self.said.pop_front()?;
        Some((client, ticket, StoreSaid::ZooKeeper(reply)))
    }

    fn records(&self, _now: u64) -> Vec<Record> {
        records(self.server.held(), |session| self.server.ends(session))
    }

    fn stale_write(&self) -> Option<u64> {
        controller::stale_write(self.server.held())
    }

    fn due(&self) -> Option<u64> {
        self.server.due()
    }

    fn wake(&mut self, now: u64) {
        self.server.wake(now);
        self.listen();
    }

    fn restarted(&mut self, now: u64) {
        self.server.restart(now);
        self.hang_up();
    }

    fn evict(&mut self, now: u64) -> bool {
        let Some((path, _)) = queue(self.server.held()).into_iter().next() else {
            return false;
        };
        self.connect(now, OPERATOR, 0, i32::MAX);
        let delete = Operation::Delete { path, version: -1 };
        self.server.ask(now, OPERATOR, 0, &Command::Do(delete));
        self.server.ask(now, OPERATOR, 1, &Command::Close);
        self.listen();
        true
    }

    fn back_up(&mut self, _now: u64) -> bool {
        self.backup = Some(self.server.image());
        true
    }

    fn restore(&mut self, now: u64) -> bool {
        let Some(image) = &self.backup else {
            return false;
        };
        self.server.restore(now, image);
        self.hang_up();
        true
    }
}

/// The candidates, first created first: of a queue, or the one that Kafka has.
fn queue(held: &Image) -> Vec<(Key, Stat)> {
    let names = held.children(&PARENT.into()).unwrap_or_default();
    let paths = names.iter().map(|name| format!("{PARENT}/{name}"));
    let paths = paths.chain([format!("{KAFKA}/controller")]);
    let mut queue: Vec<(Key, Stat)> = paths
        .filter_map(|path| {
            let path: Key = path.into();
            let stat = held.stat(&path)?;
            Some((path, stat))
        })
        .collect();
    queue.sort_by_key(|(_, stat)| stat.czxid);
    queue
}

/// The epoch of Kafka's controller, and what is known of its znode.
fn epoch_of(held: &Image) -> Option<(u64, Stat)> {
    let path = format!("{KAFKA}/controller_epoch").into();
    Some((held.data(&path)?.parse().ok()?, held.stat(&path)?))
}

/// What a server shows of them, where it knows when sessions end.
fn records(held: &Image, ends: impl Fn(i64) -> Option<u64>) -> Vec<Record> {
    let queue = queue(held).into_iter().enumerate();
    let epoch = epoch_of(held).map(|(epoch, _)| epoch);
    queue
        .map(|(place, (path, stat))| Record {
            holder: (held.data(&path))
                .and_then(|data| data.lines().next())
                .map(str::to_owned),
            token: epoch.unwrap_or(stat.czxid.cast_unsigned()),
            ends: ends(stat.ephemeral_owner),
            holds: place == 0,
            key: path.to_string(),
        })
        .collect()
}

/// How a candidate takes part, below this znode of so many servers of ZooKeeper.
pub(super) fn nodes(parent: &str, common: Config, servers: u8) -> core::Config {
    core::Config {
        parent: parent.into(),
        tick_time: tick_time(common.timing.ttl),
        alone: servers == 1,
        common,
    }
}

impl Candidate for core::ZooKeeper<Switched> {
    fn ask(request: Self::Request) -> (usize, StoreAsk) {
        (0, StoreAsk::ZooKeeper(request))
    }

    fn reply(said: StoreSaid) -> Result<Self::Reply, Unknown> {
        match said {
            StoreSaid::ZooKeeper(reply) => Ok(reply),
            _ => Err(Unknown),
        }
    }

    fn belief(&self) -> Duration {
        // Of what was granted: without slack it does not lead.
        self.budget().map_or(Duration::ZERO, |budget| budget.belief)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_grants_the_session_that_is_asked_for() {
        for seconds in [1, 3, 9, 30, 60, 300] {
            let ttl = Duration::from_secs(seconds);
            let tick = u64::from(tick_time(ttl));
            let granted = 2 * tick..=20 * tick;
            assert!(granted.contains(&(seconds * 1_000)), "{seconds} {tick}");
        }
        assert_eq!(tick_time(Duration::from_secs(15)), 2_000);
        for micros in [0, 1, 1_000] {
            assert_eq!(tick_time(Duration::from_micros(micros)), 1);
        }
    }
}
