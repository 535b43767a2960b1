//! The transactions of a controller, carried out by the model of ZooKeeper; and writes that their makers' hosts had still to
//! make, as Kafka had in its queue (KAFKA-6082).

use crate::storm::Store;
use crate::zookeeper::store::{Faults, Model, Node};
use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use tenure::Ticket;
use tenure::lease::Rules;
use tenure::lease::zookeeper::controller::{Controller, Guard, Request};
use tenure::lease::zookeeper::{Change, Path, Reply, Request as Plain, SessionId, Stat, ZooKeeper};
use tenure::random::Random;

/// What the store saw of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// How many claims were granted, each in the epoch after the last.
    pub(crate) claims: u64,
    /// How many late writes were refused by the guard.
    pub(crate) refused: u64,
    /// KZ-NoStaleWrite: how many were not, though another was elected since.
    pub(crate) stale: u64,
    /// KZ-EpochMonotone: how often the epoch did not rise by one.
    pub(crate) leaps: u64,
}

pub(crate) struct Kafka {
    pub(crate) model: Model,
    pub(crate) seen: Rc<Cell<Seen>>,
    /// In which epoch each session was elected.
    elected: BTreeMap<SessionId, u64>,
    /// What a node's host had still to write: whose, of which epoch, with which guard, and when it does.
    queue: VecDeque<(usize, u64, Guard, u64)>,
    random: Random,
}

impl Kafka {
    pub(crate) fn new(seed: u64, faults: Faults) -> Self {
        Self {
            model: Model::new(seed, faults),
            seen: Rc::default(),
            elected: BTreeMap::new(),
            queue: VecDeque::new(),
            random: Random::from_seed(seed ^ 0x6082),
        }
    }

    /// What the epoch's node says.
    pub(crate) fn epoch(&self, path: &Path) -> u64 {
        let node = self.model.nodes.get(path);
        node.and_then(|node| node.data.parse().ok()).unwrap_or(0)
    }

    fn note(&self, change: impl FnOnce(&mut Seen)) {
        let mut seen = self.seen.get();
        change(&mut seen);
        self.seen.set(seen);
    }

    /// The check that is part of a transaction.
    fn check(&self, guard: &Guard) -> Result<(), Reply> {
        match self.model.nodes.get(&guard.path) {
            None => Err(Reply::NoNode),
            Some(node) if guard.version != -1 && node.stat.version != guard.version => {
                Err(Reply::BadVersion)
            }
            Some(_) => Ok(()),
        }
    }

    /// A write of whoever was elected in `epoch`, somewhere in ZooKeeper.
    pub(crate) fn write(&mut self, epoch: u64, guard: &Guard) -> bool {
        let taken = self.check(guard).is_ok();
        let stale = self.epoch(&guard.path) != epoch;
        self.note(|seen| {
            seen.refused += u64::from(!taken);
            seen.stale += u64::from(taken && stale);
        });
        taken
    }

    fn claim(
        &mut self,
        session: SessionId,
        path: &Path,
        data: &str,
        epoch: u64,
        guard: &Guard,
    ) -> Reply {
        if self.model.nodes.contains_key(path) {
            return Reply::NodeExists;
        }
        if let Err(failed) = self.check(guard) {
            return failed;
        }
        let leaps = self.epoch(&guard.path) + 1 != epoch;
        self.note(|seen| {
            seen.claims += 1;
            seen.leaps += u64::from(leaps);
        });
        self.model.zxid += 1;
        let stat = Stat {
            czxid: self.model.zxid,
            version: 0,
            owner: session,
        };
        let node = Node {
            data: data.into(),
            stat,
            next: 0,
        };
        self.model.nodes.insert(path.clone(), node);
        self.elected.insert(session, epoch);
        let written = self.model.write(&guard.path, &epoch.to_string().into());
        written.map_or(Reply::NoNode, Reply::Set)
    }

    fn carry_out(&mut self, now: u64, from: usize, request: Request) -> Reply {
        let (Request::CreateEpoch { session, .. }
        | Request::Claim { session, .. }
        | Request::Renew { session, .. }
        | Request::Delete { session, .. }) = request
        else {
            unreachable!("asked of the model itself")
        };
        if !self.model.hear(now, session) {
            return Reply::Expired;
        }
        match request {
            Request::Claim {
                path,
                data,
                epoch,
                guard,
                ..
            } => self.claim(session, &path, &data.to_string(), epoch, &guard),
            Request::Renew {
                path, data, guard, ..
            } => {
                let epoch = self.elected.get(&session).copied().unwrap_or(0);
                // And what its host writes beside, soon or late.
                let late = now + self.random.below(30_000_000);
                self.queue.push_back((from, epoch, guard.clone(), late));
                match self.check(&guard) {
                    Err(failed) => failed,
                    Ok(()) => {
                        let data = data.to_string().into();
                        self.model
                            .write(&path, &data)
                            .map_or(Reply::NoNode, Reply::Set)
                    }
                }
            }
            Request::Delete { path, guard, .. } => match self.check(&guard) {
                Err(failed) => failed,
                Ok(()) => self.model.delete(&path),
            },
            Request::CreateEpoch { path, .. } => {
                self.model.create(&path, &"0".into(), SessionId::NONE)
            }
            _ => unreachable!("asked of the model itself"),
        }
    }
}

/// The call of the plain client that it is, if it is one.
fn plain(request: &Request) -> Option<Plain> {
    Some(match request.clone() {
        Request::Connect { timeout } => Plain::Connect { timeout },
        Request::Close { session } => Plain::Close { session },
        Request::CreateParent { session, path } => Plain::CreateParent { session, path },
        Request::Data {
            session,
            path,
            watch,
        } => Plain::Data {
            session,
            path,
            watch,
        },
        _ => return None,
    })
}

impl<R: Rules> Store<Controller<R>> for Kafka {
    fn ask(&mut self, now: u64, from: usize, ticket: Ticket, request: Request) {
        match plain(&request) {
            Some(plain) => {
                <Model as Store<ZooKeeper>>::ask(&mut self.model, now, from, ticket, plain);
            }
            None => {
                let reply = self.carry_out(now, from, request);
                self.model.say(from, ticket, reply);
            }
        }
    }

    fn poll(&mut self) -> Option<(usize, Ticket, Reply)> {
        self.model.said()
    }

    fn due(&self) -> Option<u64> {
        let late = self.queue.iter().map(|(.., at)| *at).min();
        let model = <Model as Store<ZooKeeper>>::due(&self.model);
        late.into_iter().chain(model).min()
    }

    fn wake(&mut self, now: u64) {
        <Model as Store<ZooKeeper>>::wake(&mut self.model, now);
        while let Some(place) = self.queue.iter().position(|(.., at)| *at <= now) {
            if let Some((who, epoch, guard, _)) = self.queue.remove(place)
                && self
                    .model
                    .sessions
                    .values()
                    .any(|session| session.who == who)
            {
                // By whatever session its client has now.
                self.write(epoch, &guard);
            }
        }
    }
}

/// What a watch on `/controller` would tell.
pub(crate) const DELETED: Reply = Reply::Changed(Change::Deleted);
