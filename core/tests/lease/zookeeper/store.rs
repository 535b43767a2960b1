//! A small ensemble of ZooKeeper: nodes, sessions and watches as the real one has them, servers that tell their leader of
//! sessions with their next sign of life, and what goes wrong there.

use crate::storm::Store;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use tenure::lease::Rules;
use tenure::lease::zookeeper::{Change, Data, Path, Reply, Request, SessionId, Stat, ZooKeeper};
use tenure::random::Random;
use tenure::{Duration, Ticket};

/// What goes wrong at the store by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Faults {
    None,
    /// Servers die, with what they did not tell; their leader changes, and every session begins anew; watches fall silent;
    /// sessions end up to a tick late; a client's library takes a session for lost that is not.
    Usual,
    /// And sessions are closed by somebody else.
    Early,
}

/// How soon a server tells the leader whom it heard of.
pub(crate) const TICK: u64 = 2_000_000;
const SERVERS: u64 = 3;

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) data: Data,
    pub(crate) stat: Stat,
    /// The number of the next sequential child.
    pub(crate) next: i32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Session {
    pub(crate) who: usize,
    pub(crate) handle: Ticket,
    ttl: u64,
    ends: u64,
    /// The server it is connected to.
    server: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Of {
    Data,
    Children,
}

pub(crate) struct Model {
    pub(crate) zxid: u64,
    pub(crate) nodes: BTreeMap<Path, Node>,
    pub(crate) sessions: BTreeMap<SessionId, Session>,
    /// The bounds on what is negotiated.
    pub(crate) least: Duration,
    pub(crate) most: Duration,
    /// Whether the number of the next sequential node does not go beyond the last.
    pub(crate) sticks: bool,
    watches: BTreeMap<(usize, Ticket), (SessionId, Path, Of)>,
    /// Whom a server heard of and did not tell yet.
    heard: BTreeSet<(u64, SessionId)>,
    drawn: i64,
    said: VecDeque<(usize, Ticket, Reply)>,
    random: Random,
    faults: Faults,
    next_fault: u64,
    next_tell: u64,
}

impl Model {
    pub(crate) fn new(seed: u64, faults: Faults) -> Self {
        Self {
            zxid: 0,
            nodes: BTreeMap::new(),
            sessions: BTreeMap::new(),
            least: Duration::ZERO,
            most: Duration::from_secs(3_600),
            sticks: false,
            watches: BTreeMap::new(),
            heard: BTreeSet::new(),
            drawn: 0,
            said: VecDeque::new(),
            random: Random::from_seed(seed ^ 0x2007),
            faults,
            next_fault: 0,
            next_tell: 0,
        }
    }

    /// The paths of candidates, in their order.
    pub(crate) fn queue(&self) -> Vec<Path> {
        let all = self.nodes.iter().filter(|(_, node)| node.stat.owner.0 != 0);
        let mut all: Vec<_> = all
            .map(|(path, node)| (node.stat.czxid, path.clone()))
            .collect();
        all.sort();
        all.into_iter().map(|(_, path)| path).collect()
    }

    pub(crate) fn session_of(&self, who: usize) -> SessionId {
        let mut all = self.sessions.iter().rev();
        *all.find(|(_, session)| session.who == who)
            .expect("it has one")
            .0
    }

    /// Somebody writes it, whoever has it.
    pub(crate) fn write(&mut self, path: &Path, data: &Data) -> Option<Stat> {
        let node = self.nodes.get_mut(path)?;
        self.zxid += 1;
        node.data = data.clone();
        node.stat.version = node.stat.version.wrapping_add(1);
        let stat = node.stat;
        self.fire(path, &[Of::Data], Change::Written);
        Some(stat)
    }

    pub(crate) fn create(&mut self, path: &str, data: &Data, owner: SessionId) -> Reply {
        let Some((parent, _)) = path.rsplit_once('/') else {
            return Reply::NotDone;
        };
        let mut name: Path = path.into();
        if !parent.is_empty() {
            let sticks = self.sticks;
            let Some(parent) = self.nodes.get_mut(parent) else {
                return Reply::NoNode;
            };
            if owner != SessionId::NONE {
                name = format!("{path}{:010}", parent.next).into();
            }
            if !(sticks && parent.next == i32::MAX) {
                parent.next = parent.next.wrapping_add(1);
            }
        }
        if self.nodes.contains_key(&name) {
            return Reply::NodeExists;
        }
        self.zxid += 1;
        let stat = Stat {
            czxid: self.zxid,
            version: 0,
            owner,
        };
        let node = Node {
            data: data.clone(),
            stat,
            next: 0,
        };
        self.nodes.insert(name.clone(), node);
        self.fire(&parent.into(), &[Of::Children], Change::Children);
        Reply::Created(name)
    }

    /// Somebody deletes it, whoever has it.
    pub(crate) fn delete(&mut self, path: &Path) -> Reply {
        if self.nodes.remove(path).is_none() {
            return Reply::NoNode;
        }
        self.zxid += 1;
        self.fire(path, &[Of::Data, Of::Children], Change::Deleted);
        if let Some((parent, _)) = path.rsplit_once('/') {
            self.fire(&parent.into(), &[Of::Children], Change::Children);
        }
        Reply::Deleted
    }

    /// A session ends, and its nodes go.
    pub(crate) fn end(&mut self, session: SessionId) -> Reply {
        let Some(ended) = self.sessions.remove(&session) else {
            return Reply::Expired;
        };
        self.heard.retain(|(_, of)| *of != session);
        self.watches.retain(|_, (of, ..)| *of != session);
        let own = self
            .nodes
            .iter()
            .filter(|(_, node)| node.stat.owner == session);
        for path in own.map(|(path, _)| path.clone()).collect::<Vec<_>>() {
            self.delete(&path);
        }
        self.said
            .push_back((ended.who, ended.handle, Reply::Expired));
        Reply::Closed
    }

    /// Everything is gone, and counted from here on: another ensemble.
    pub(crate) fn rebuild(&mut self, zxid: u64) {
        for session in self.sessions.keys().copied().collect::<Vec<_>>() {
            self.end(session);
        }
        self.nodes.clear();
        self.zxid = zxid;
    }

    /// The handle of a node is told something.
    pub(crate) fn tell(&mut self, session: SessionId, reply: Reply) {
        let Session { who, handle, .. } = self.sessions[&session];
        self.said.push_back((who, handle, reply));
    }

    /// The host of a node takes its handle for lost, of which no server knows.
    pub(crate) fn take_for_lost(&mut self, session: SessionId) {
        self.tell(session, Reply::Expired);
    }

    /// It answers.
    pub(crate) fn say(&mut self, who: usize, ticket: Ticket, reply: Reply) {
        self.said.push_back((who, ticket, reply));
    }

    /// The next thing it says, to whom and as the answer to what.
    pub(crate) fn said(&mut self) -> Option<(usize, Ticket, Reply)> {
        self.said.pop_front()
    }

    /// The watches of a node are lost.
    pub(crate) fn forget_watches(&mut self, who: usize) {
        self.watches.retain(|(of, _), _| *of != who);
    }

    fn fire(&mut self, path: &Path, of: &[Of], change: Change) {
        let hit = |(_, on, what): &(SessionId, Path, Of)| on == path && of.contains(what);
        let fired: Vec<_> = self
            .watches
            .iter()
            .filter(|(_, watch)| hit(watch))
            .map(|(key, _)| *key)
            .collect();
        for (who, ticket) in fired {
            self.watches.remove(&(who, ticket));
            self.said.push_back((who, ticket, Reply::Changed(change)));
        }
    }

    /// The leader knows that it is alive.
    fn touch(&mut self, now: u64, session: SessionId) {
        let late = match self.faults {
            Faults::None => 0,
            _ => self.random.below(2) * self.random.below(TICK),
        };
        if let Some(session) = self.sessions.get_mut(&session) {
            session.ends = now + session.ttl + late;
        }
    }

    /// A server hears of it.
    pub(crate) fn hear(&mut self, now: u64, id: SessionId) -> bool {
        let server = self.random.below(SERVERS);
        let Some(session) = self.sessions.get_mut(&id) else {
            return false;
        };
        match session.server {
            Some(server) => {
                self.heard.insert((server, id));
            }
            None => {
                // It asks the leader whether there is such a session.
                session.server = Some(server);
                self.touch(now, id);
            }
        }
        true
    }

    /// A server dies, with what it did not tell.
    pub(crate) fn server_dies(&mut self, server: u64) {
        self.heard.retain(|(of, _)| *of != server);
        for session in self.sessions.values_mut() {
            if session.server == Some(server) {
                session.server = None;
            }
        }
    }

    /// Servers tell their leader whom they heard of.
    pub(crate) fn servers_tell(&mut self, now: u64) {
        for (_, session) in std::mem::take(&mut self.heard) {
            self.touch(now, session);
        }
    }

    fn carry_out(&mut self, now: u64, from: usize, ticket: Ticket, request: Request) -> Reply {
        let session = match &request {
            Request::Connect { timeout } => {
                let timeout = (*timeout).clamp(self.least, self.most);
                self.drawn += 1;
                self.zxid += 1;
                let session = SessionId(self.drawn);
                let opened = Session {
                    who: from,
                    handle: ticket,
                    ttl: timeout.as_micros(),
                    ends: 0,
                    server: Some(self.random.below(SERVERS)),
                };
                self.sessions.insert(session, opened);
                self.touch(now, session);
                return Reply::Connected { session, timeout };
            }
            Request::Close { session }
            | Request::Create { session, .. }
            | Request::CreateParent { session, .. }
            | Request::Children { session, .. }
            | Request::Data { session, .. }
            | Request::SetData { session, .. }
            | Request::Delete { session, .. } => *session,
        };
        if !self.hear(now, session) {
            return Reply::Expired;
        }
        match request {
            Request::Connect { .. } => unreachable!("answered above"),
            Request::Close { session } => self.end(session),
            Request::CreateParent { path, .. } => self.create(&path, &"".into(), SessionId::NONE),
            Request::Create { path, data, .. } => {
                self.create(&path, &data.to_string().into(), session)
            }
            Request::Children { path, watch, .. } => {
                if !self.nodes.contains_key(&path) {
                    return Reply::NoNode;
                }
                let below = |name: &&Path| {
                    let rest = name
                        .strip_prefix(&*path)
                        .and_then(|rest| rest.strip_prefix('/'));
                    rest.is_some_and(|rest| !rest.contains('/'))
                };
                let names = self.nodes.keys().filter(below);
                let mut names: Vec<Path> =
                    names.map(|name| name[path.len() + 1..].into()).collect();
                let first = self.random.below(names.len() as u64) as usize;
                names.rotate_left(first);
                if watch {
                    self.watches
                        .insert((from, ticket), (session, path, Of::Children));
                }
                Reply::Children(names)
            }
            Request::Data { path, watch, .. } => {
                let Some(node) = self.nodes.get(&path) else {
                    return Reply::NoNode;
                };
                if watch {
                    self.watches
                        .insert((from, ticket), (session, path, Of::Data));
                }
                Reply::Data(node.data.clone(), node.stat)
            }
            Request::SetData {
                path,
                data,
                version,
                ..
            } => match self.nodes.get(&path) {
                None => Reply::NoNode,
                Some(node) if version != -1 && node.stat.version != version => Reply::BadVersion,
                Some(_) => self
                    .write(&path, &data.to_string().into())
                    .map_or(Reply::NoNode, Reply::Set),
            },
            Request::Delete { path, .. } => self.delete(&path),
        }
    }

    fn goes_wrong(&mut self, now: u64) {
        let sessions: Vec<_> = self.sessions.keys().copied().collect();
        let chosen = sessions
            .get(self.random.below(sessions.len() as u64) as usize)
            .copied();
        match (self.random.below(8), chosen) {
            (0, _) => {
                // Another leader: it begins every session anew.
                for session in sessions {
                    self.touch(now, session);
                }
            }
            (1, _) => self.watches.clear(),
            (2, Some(session)) => self.take_for_lost(session),
            (3, Some(session)) => self.tell(session, Reply::Suspended),
            (4, Some(session)) if self.faults == Faults::Early => drop(self.end(session)),
            (5, Some(id)) => {
                let timeout = Duration::from_micros(self.sessions[&id].ttl);
                self.tell(
                    id,
                    Reply::Connected {
                        session: id,
                        timeout,
                    },
                );
            }
            _ => {
                let server = self.random.below(SERVERS);
                self.server_dies(server);
            }
        }
    }
}

impl<R: Rules> Store<ZooKeeper<R>> for Model {
    fn ask(&mut self, now: u64, from: usize, ticket: Ticket, request: Request) {
        let reply = self.carry_out(now, from, ticket, request);
        self.said.push_back((from, ticket, reply));
    }

    fn poll(&mut self) -> Option<(usize, Ticket, Reply)> {
        self.said()
    }

    fn due(&self) -> Option<u64> {
        let ends = self.sessions.values().map(|session| session.ends).min();
        let tell = Some(self.next_tell).filter(|_| !self.heard.is_empty());
        let fault = Some(self.next_fault).filter(|_| self.faults != Faults::None);
        ends.into_iter().chain(tell).chain(fault).min()
    }

    fn wake(&mut self, now: u64) {
        if self.next_tell <= now {
            self.servers_tell(now);
            self.next_tell = now + TICK / 2;
        }
        let over = |(_, session): &(&SessionId, &Session)| session.ends <= now;
        while let Some((session, _)) = self.sessions.iter().find(over) {
            let session = *session;
            self.end(session);
        }
        if self.faults != Faults::None && self.next_fault <= now {
            if self.next_fault != 0 {
                self.goes_wrong(now);
            }
            self.next_fault = now + 1 + self.random.below(10_000_000);
        }
    }
}
