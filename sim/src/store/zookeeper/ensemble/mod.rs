//! A member of an ensemble: what a server holds, replicated by this library's own ZAB.
//!
//! **As the real one** (3.8):
//! - What changes anything, a session that begins or ends included, is passed on to the leader, which proposes it; every member
//!   carries it out in the order of zxids once it is committed, and the one that was asked answers then. The upper half of a
//!   zxid is the epoch of the leader that gave it. What is refused for its session has one, too.
//! - What only looks is answered by a member from its own state, which may be old; after a `sync` it misses nothing that was
//!   acknowledged before (here also where the leader was replaced and does not know: see `zab`). What is asked on one connection
//!   is answered in that order.
//! - A client is turned away by a member that has seen less than itself, and by one that has no leader. A member that loses its
//!   leader closes all connections.
//! - The leader alone ends sessions. Members tell it whom they heard of with each answer to its pings; a new one begins them all
//!   anew. A client that comes back at another member has its session again when the leader says so, and from then on what
//!   comes of it by the former member is refused, which closes that connection (`SessionMoved`); one whose end is proposed
//!   goes on nowhere.
//! - Watches are served by a member from its own state, and are gone with the connection.
//!
//! **Left out**: what [`Server`](super::Server) leaves out, and containers that go; local sessions, observers, and the disk,
//! which takes no time and loses nothing.

mod clients;
mod line;
mod peer;
mod replica;
#[cfg(test)]
mod tests;
mod tracker;

pub use peer::{Asked, Call, Peer, Told, Txn};

use super::command::{Operation, Said};
use super::front::Front;
use super::image::{Image, Step};
use super::server::ms;
use super::sessions::{Names, SessionId};
use crate::scheme::zab::Machine;
use crate::sorted::Sorted;
use crate::store::Key;
use crate::store::backlog::{Backlog, Whose};
use line::Line;
use std::collections::VecDeque;
use std::sync::Arc;
use tenure::zab::{Boot, Config, Ensemble, Message, Stored, Switched, Timing};
use tenure::{Duration, Election, Input, Instant, NodeId, Ticket};
use tracker::Tracker;

/// A member. Times are microseconds of its own clock.
#[derive(Clone, Debug)]
pub struct Member {
    place: u16,
    timing: Timing,
    ensemble: Option<Ensemble>,
    seed: u64,
    life: u64,
    // On its disk.
    stored: Option<Stored>,
    backlog: Backlog<Txn, Image>,
    image: Image,
    // In its process. It runs from the first look at the clock on.
    machine: Option<Box<Machine>>,
    names: Names,
    front: Front,
    lines: Sorted<u16, Line>,
    /// The sessions it heard of since it told the leader of any.
    touched: Sorted<SessionId, i32>,
    /// The time of sessions, while it leads.
    tracker: Option<Tracker>,
    /// As a member of which epoch it serves clients.
    serves: Option<u64>,
    said: VecDeque<(u16, Ticket, Said)>,
    peers: VecDeque<(u16, Peer)>,
}

impl Member {
    /// Member `place` of so many, counted from 0. It runs once it is first told the time.
    #[must_use]
    pub fn new(place: u16, members: u16, timing: Timing, seed: u64) -> Self {
        let ids = (0..u64::from(members)).map(NodeId);
        Self {
            place,
            timing,
            ensemble: Ensemble::majority(ids).ok(),
            seed,
            life: 0,
            stored: None,
            backlog: Backlog::default(),
            image: Image::default(),
            machine: None,
            names: Names::new(0, place),
            front: Front::default(),
            lines: Sorted::default(),
            touched: Sorted::default(),
            tracker: None,
            serves: None,
            said: VecDeque::new(),
            peers: VecDeque::new(),
        }
    }

    /// What it holds.
    #[must_use]
    pub const fn held(&self) -> &Image {
        &self.image
    }

    /// Whether it leads, and keeps the time of sessions.
    #[must_use]
    pub const fn leads(&self) -> bool {
        self.tracker.is_some()
    }

    /// When a session is over, if nothing comes from it and this is what decides it.
    #[must_use]
    pub fn ends(&self, session: SessionId) -> Option<u64> {
        let end = self.tracker.as_ref()?.end_of(session)?;
        Some(end.saturating_mul(1_000))
    }

    /// A client says something on a connection that has this name.
    pub fn ask(&mut self, now: u64, client: u16, name: Ticket, call: &Call) {
        self.wake(now);
        match call {
            Call::Connect(connect) => self.connect(now, client, name, connect),
            Call::Ask(xid, command) => self.request(now, client, name, *xid, command),
            Call::HangUp => {
                if self.line(client, name).is_some() {
                    self.drop_line(client);
                }
            }
        }
        self.settle(now);
    }

    /// The connection to a client ended.
    pub fn hung_up(&mut self, client: u16) {
        self.drop_line(client);
    }

    /// The connection to another member ended, or stands again.
    pub fn connection(&mut self, now: u64, member: u16, stands: bool) {
        self.wake(now);
        let (at, peer) = (Instant::from_micros(now), NodeId(member.into()));
        if let Some(machine) = &mut self.machine {
            if stands {
                machine.connected(at, peer);
            } else {
                machine.disconnected(at, peer);
            }
        }
        self.settle(now);
    }

    /// Another member says something.
    pub fn hear(&mut self, now: u64, from: u16, said: &Peer) {
        self.wake(now);
        match said {
            Peer::Zab(message, load) => {
                if let Some(load) = load {
                    self.backlog.take_in(load);
                }
                self.handle(now, Input::Peer(NodeId(from.into()), message.clone()));
            }
            Peer::Learner(epoch, told) => {
                if self.leads() && self.serves == Some(*epoch) {
                    self.lead(now, from, told);
                }
            }
            Peer::Validated(whose, lives) => self.validated(*whose, *lives),
        }
        self.settle(now);
    }

    /// The next thing to be said to a client, and on which connection.
    pub fn poll(&mut self) -> Option<(u16, Ticket, Said)> {
        self.said.pop_front()
    }

    /// The next thing to be said to another member.
    pub fn poll_peer(&mut self) -> Option<(u16, Peer)> {
        self.peers.pop_front()
    }

    /// When something happens by itself.
    #[must_use]
    pub fn due(&self) -> Option<u64> {
        let Some(machine) = &self.machine else {
            return Some(0);
        };
        let sessions = self.tracker.as_ref().and_then(Tracker::due);
        let all = [
            machine.deadline().map(Instant::as_micros),
            sessions.map(|due| due.saturating_mul(1_000)),
        ];
        all.into_iter().flatten().min()
    }

    /// Does what is due.
    pub fn wake(&mut self, now: u64) {
        let Some(machine) = &self.machine else {
            return self.start(now);
        };
        let deadline = machine.deadline();
        if deadline.is_some_and(|deadline| deadline.as_micros() <= now) {
            self.handle(now, Input::Timeout);
        }
        self.settle(now);
    }

    /// The process died and is back.
    pub fn restart(&mut self, now: u64) {
        self.backlog.restart();
        self.close_all();
        self.said.clear();
        self.peers.clear();
        (self.tracker, self.serves) = (None, None);
        self.start(now);
    }

    /// Somebody deletes a znode by this member. False when it has no leader.
    pub fn delete(&mut self, now: u64, path: Key) -> bool {
        self.wake(now);
        let delete = Operation::Delete { path, version: -1 };
        let asked = Asked {
            whose: None,
            session: 0,
            step: Step::Do(delete),
        };
        let serves = self.serves.is_some();
        self.tell_leader(now, Told::Asked(Arc::new(asked)));
        self.settle(now);
        serves
    }

    fn start(&mut self, now: u64) {
        self.life += 1;
        self.names = Names::new(ms(now), self.place);
        let mut stored = self.stored.clone();
        if let Some(stored) = &mut stored {
            stored.crash(u64::MAX);
        }
        let boot = Boot {
            stored,
            incarnation: self.life,
            seed: self.seed,
        };
        let started = self.ensemble.clone().and_then(|ensemble| {
            let config = Config {
                timing: self.timing,
                ..Config::new(NodeId(self.place.into()), ensemble)
            };
            let now = Instant::from_micros(now);
            // The rules are those of nodes that elect among themselves, all of them on: one machine for both is half the code.
            Machine::with_rules(config, boot, now, Switched::default()).ok()
        });
        self.machine = started.map(Box::new);
        self.settle(now);
    }

    /// A tick, in milliseconds.
    const fn tick(&self) -> u64 {
        ms(self.timing.tick.as_micros())
    }

    fn handle(&mut self, now: u64, input: Input<Message, ()>) {
        if let Some(machine) = &mut self.machine {
            machine.handle(Instant::from_micros(now), input);
        }
    }

    /// A step is asked of the leader.
    fn pass_on(&mut self, now: u64, whose: Whose, session: SessionId, step: Step) {
        let whose = Some(whose);
        let asked = Asked {
            whose,
            session,
            step,
        };
        self.tell_leader(now, Told::Asked(Arc::new(asked)));
    }

    fn tell_leader(&mut self, now: u64, told: Told) {
        let machine = self.machine.as_ref();
        let leader = machine.and_then(|machine| machine.leader());
        if let (Some(epoch), Some(leader)) = (self.serves, leader) {
            match leader.0 as u16 {
                leader if leader == self.place => self.lead(now, leader, &told),
                leader => self.peers.push_back((leader, Peer::Learner(epoch, told))),
            }
        }
    }

    /// What a member tells whoever leads.
    fn lead(&mut self, now: u64, from: u16, told: &Told) {
        let Some(tracker) = &mut self.tracker else {
            return;
        };
        match told {
            Told::Touched(sessions) => {
                for (session, timeout) in sessions {
                    tracker.touch(ms(now), *session, *timeout);
                }
            }
            Told::Validate(whose, session, timeout) => {
                let lives = tracker.moves(ms(now), *session, *timeout, from);
                if from == self.place {
                    self.validated(*whose, lives);
                } else {
                    self.peers.push_back((from, Peer::Validated(*whose, lives)));
                }
            }
            Told::Asked(asked) => {
                let mut asked = Asked::clone(asked);
                // What is nobody's is an operator's.
                if asked.whose.is_some() {
                    asked.step = tracker.admits(ms(now), asked.session, from, asked.step);
                }
                self.propose(now, asked);
            }
        }
    }

    fn propose(&mut self, now: u64, asked: Asked) {
        if let Some(machine) = &mut self.machine
            && let Ok(at) = machine.propose(Instant::from_micros(now), 1)
        {
            let time = ms(now).cast_signed();
            self.backlog.name(at, Arc::new(Txn { asked, time }));
        }
    }

    /// After every input.
    fn settle(&mut self, now: u64) {
        self.progress(now);
        self.end_sessions(now);
        self.compact(now);
        self.progress(now);
        self.speak();
    }

    fn progress(&mut self, now: u64) {
        self.drain(now);
        if let Some(machine) = &self.machine
            && let Some(image) = self.backlog.begins(machine.log().base())
        {
            self.image = image;
        }
        self.apply();
        self.serve(now);
        self.pass_barriers();
    }

    /// It serves clients while it leads an epoch that is established, or is up to date with one; in another, or none, the
    /// connections of before are closed.
    fn serve(&mut self, now: u64) {
        let machine = self.machine.as_ref();
        let leads = machine.is_some_and(|machine| machine.established());
        let serving = machine.filter(|machine| leads || machine.follows_established());
        let epoch = serving.and_then(|machine| machine.epoch());
        if epoch != self.serves {
            self.close_all();
            self.serves = epoch;
            let begun = Tracker::new(ms(now), self.tick(), &self.image);
            self.tracker = leads.then_some(begun);
        }
    }

    /// Whoever leads proposes the end of sessions that are over.
    fn end_sessions(&mut self, now: u64) {
        while let Some(over) = (self.tracker.as_mut()).and_then(|tracker| tracker.over(ms(now))) {
            for session in over {
                if let Some(tracker) = &mut self.tracker {
                    let asked = Asked {
                        whose: None,
                        session,
                        step: tracker.admits(ms(now), session, self.place, Step::End),
                    };
                    self.propose(now, asked);
                }
            }
        }
    }
}

/// How the members of an ensemble with such a tick elect: as shipped, but that nobody waits for notifications for longer than
/// `most`.
#[must_use]
pub fn timing(tick: Duration, most: Duration) -> Timing {
    let usual = Timing::zookeeper();
    Timing {
        tick,
        max_notification: most.max(usual.min_notification).min(usual.max_notification),
        ..usual
    }
}
