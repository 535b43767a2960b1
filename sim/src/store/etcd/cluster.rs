//! A member of a cluster of etcd: the same server ([`Etcd`]), replicated by this library's own Raft with a log.
//!
//! **As the real one** (3.6):
//! - What changes anything is an entry of the log. A member that does not lead forwards it to the leader, and whoever was
//!   asked answers once it has carried it out itself. What is lost on the way has no answer.
//! - What only looks is answered by any member from its own state, once the leader has confirmed with a majority that it
//!   leads and the state has come as far (`ReadIndex`). It fails when the leader is lost before.
//! - The time of leases is kept by the leader alone. When it comes to lead, each begins anew and lasts longer by an election
//!   timeout: for so long nobody may have been there to be asked to keep it alive (`Promote`). Keep-alives
//!   are forwarded to it, and it renews only after a majority has confirmed that it still leads and all that was committed is
//!   carried out (etcd#15247); a lease that is over is renewed by nobody, and its keep-alive waits for its end. Leases that are
//!   over are revoked by an entry of the leader's own term: one that has been overtaken revokes nothing.
//! - Watches are served by any member from its own state.
//! - A member that knows of no leader says so to whoever asks (`WithRequireLeader`), and after three election timeouts to
//!   whoever watches.
//! - Keys and leases lie on the disk, with the entry as of which they are; what members say in a former life is forgotten.
//!
//! **Left out**: checkpoints of leases, so that a lease may last longer by all of its time when the leader changes; changes of
//! who takes part; snapshots that members are restored from; and the disk, which takes no time and loses nothing.

use super::{Command, Error, Etcd, Operation, Said};
use crate::scheme::raft::Machine;
use crate::store::backlog::{self, Backlog, Whose};
use crate::store::{Key, Kv, LeaseId, Range};
use std::collections::VecDeque;
use std::sync::Arc;
use tenure::quorum::Voters;
use tenure::raft::{
    Boot, Carries, Config, Message, Replication, Role, Served, Stored, Switched, Timing,
};
use tenure::{Election, Event, Input, Instant, NodeId, Output, Ticket};

/// After how long a lease that is over is proposed to be revoked once more: the entry may be lost.
const REVOKE_AGAIN: u64 = 500_000;

/// What members say to each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Peer {
    /// A message of Raft, with what belongs to it.
    Raft(Message, Option<Load>),
    /// To whoever leads: a call that another was asked.
    Forward(Arc<Asked>),
    /// What came of it, where that is no entry.
    Answer(Whose, Said),
}

/// What a member attaches to a message of Raft.
type Load = backlog::Load<Asked, Kv>;

/// A call, as it travels between members.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Asked {
    /// Who waits for an answer; nobody where it is the leader's own.
    whose: Option<Whose>,
    command: Command,
}

/// What waits for a confirmation of the leader.
#[derive(Clone, Debug)]
struct Waiting {
    /// Its number to the machine.
    read: u64,
    /// Up to where the state must have come, once that is known.
    index: Option<u64>,
    whose: Whose,
    command: Command,
}

/// A member. Times are microseconds of its own clock.
#[derive(Clone, Debug)]
pub struct Member {
    place: u16,
    members: u16,
    seed: u64,
    life: u64,
    // On its disk.
    stored: Option<Stored>,
    backlog: Backlog<Asked, Kv>,
    etcd: Etcd,
    // In its process. It runs from the first look at the clock on.
    machine: Option<Box<Machine>>,
    waiting: Vec<Waiting>,
    /// The leases that this leader has proposed to revoke.
    revoking: Vec<LeaseId>,
    /// Since when it knows of no leader.
    lost: Option<u64>,
    peers: VecDeque<(u16, Peer)>,
}

impl Member {
    /// Member `place` of so many, counted from 0. It runs once it is first told the time.
    #[must_use]
    pub fn new(place: u16, members: u16, seed: u64) -> Self {
        let mut etcd = Etcd::default();
        etcd.keep_leases(0, false);
        Self {
            place,
            members,
            seed,
            life: 0,
            stored: None,
            backlog: Backlog::default(),
            etcd,
            machine: None,
            waiting: Vec::new(),
            revoking: Vec::new(),
            lost: None,
            peers: VecDeque::new(),
        }
    }

    /// What it holds.
    #[must_use]
    pub const fn etcd(&self) -> &Etcd {
        &self.etcd
    }

    /// Whether it leads, and keeps the time of leases.
    #[must_use]
    pub const fn leads(&self) -> bool {
        self.etcd.keeps_leases()
    }

    /// A client calls.
    pub fn ask(&mut self, now: u64, client: u16, ticket: Ticket, command: Command) {
        self.wake(now);
        let whose = Whose {
            member: self.place,
            life: self.life,
            client,
            ticket,
        };
        let Some(leader) = self.leader() else {
            match command {
                Command::WatchCancel(_) => self.etcd.take(now, client, ticket, &command),
                _ => self.answer(whose, self.etcd.refused(Error::NoLeader)),
            }
            return;
        };
        match command {
            Command::Watch { .. } | Command::WatchCancel(_) => {
                self.etcd.take(now, client, ticket, &command);
            }
            Command::Do(Operation::Range(_)) => self.confirm(now, whose, command),
            command => {
                let whose = Some(whose);
                let asked = Arc::new(Asked { whose, command });
                if leader == self.place {
                    self.lead(now, asked);
                } else {
                    self.peers.push_back((leader, Peer::Forward(asked)));
                }
            }
        }
        self.settle(now);
    }

    /// Another member says something.
    pub fn hear(&mut self, now: u64, from: u16, said: &Peer) {
        self.wake(now);
        match said {
            Peer::Raft(message, load) => {
                if let Some(load) = load {
                    self.backlog.take_in(load);
                }
                self.handle(now, Input::Peer(NodeId(from.into()), message.clone()));
            }
            Peer::Forward(asked) => self.lead(now, asked.clone()),
            Peer::Answer(whose, said) => self.answer(*whose, said.clone()),
        }
        self.settle(now);
    }

    /// The next thing to be said to a client, and of which call.
    pub fn poll(&mut self) -> Option<(u16, Ticket, Said)> {
        self.etcd.poll()
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
        let watched = self.lost.filter(|_| self.etcd.is_watched());
        let all = [
            machine.deadline().map(Instant::as_micros),
            self.etcd.due(),
            watched.map(|lost| lost + self.patience()),
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
        self.etcd.disconnect();
        self.etcd.keep_leases(now, false);
        self.backlog.restart();
        self.waiting.clear();
        self.revoking.clear();
        self.lost = None;
        self.peers.clear();
        self.start(now);
    }

    /// Somebody deletes a key by this member. False when it knows of no leader.
    pub fn delete(&mut self, now: u64, key: Key) -> bool {
        self.wake(now);
        let asked = Arc::new(Asked {
            whose: None,
            command: Command::Do(Operation::Delete(Range::Key(key))),
        });
        match self.leader() {
            None => return false,
            Some(leader) if leader == self.place => self.lead(now, asked),
            Some(leader) => self.peers.push_back((leader, Peer::Forward(asked))),
        }
        self.settle(now);
        true
    }

    fn start(&mut self, now: u64) {
        self.life += 1;
        let boot = Boot {
            stored: self.stored.clone(),
            incarnation: self.life,
            seed: self.seed,
        };
        let started = self.config().and_then(|config| {
            let now = Instant::from_micros(now);
            // The rules are those of nodes that elect among themselves, all of them on: one machine for both is half the code.
            Machine::with_rules(config, boot, now, Switched::default()).ok()
        });
        self.machine = started.map(Box::new);
        self.settle(now);
    }

    fn config(&self) -> Option<Config> {
        let voters = Voters::new((0..u64::from(self.members)).map(NodeId)).ok()?;
        Some(Config {
            timing: Timing::etcd(),
            replication: Some(Replication::default()),
            ..Config::new(NodeId(self.place.into()), voters)
        })
    }

    /// How long whoever watches is left without a leader.
    const fn patience(&self) -> u64 {
        3 * Timing::etcd().election_min.as_micros()
    }

    fn leader(&self) -> Option<u16> {
        let leader = self.machine.as_ref()?.leader()?;
        Some(leader.0 as u16)
    }

    fn handle(&mut self, now: u64, input: Input<Message, ()>) {
        if let Some(machine) = &mut self.machine {
            machine.handle(Instant::from_micros(now), input);
        }
    }

    /// Whoever leads takes a call; who does not lead, or not any more, drops it.
    fn lead(&mut self, now: u64, asked: Arc<Asked>) {
        let Some(machine) = &mut self.machine else {
            return;
        };
        let of_time = matches!(
            asked.command,
            Command::LeaseKeepAlive(_) | Command::LeaseTimeToLive(_)
        );
        if !of_time {
            if let Ok(at) = machine.propose(Instant::from_micros(now), 1) {
                self.backlog.name(at, asked);
            }
        } else if machine.role() == Role::Leader
            && let Some(whose) = asked.whose
        {
            self.confirm(now, whose, asked.command.clone());
        }
    }

    /// Waits until it is confirmed who leads.
    fn confirm(&mut self, now: u64, whose: Whose, command: Command) {
        let machine = self.machine.as_mut();
        match machine.map(|machine| machine.read(Instant::from_micros(now))) {
            Some(Ok(read)) => self.waiting.push(Waiting {
                read,
                index: None,
                whose,
                command,
            }),
            _ => self.answer(whose, self.etcd.refused(Error::NoLeader)),
        }
    }

    /// An answer goes to the client, by the member that was asked.
    fn answer(&mut self, whose: Whose, said: Said) {
        if whose.member != self.place {
            let peer = Peer::Answer(whose, said);
            self.peers.push_back((whose.member, peer));
        } else if whose.life == self.life {
            self.etcd.say(whose.client, whose.ticket, said);
        }
    }

    /// After every input.
    fn settle(&mut self, now: u64) {
        self.drain(now);
        self.install();
        self.apply(now);
        self.serve(now);
        self.revoke(now);
        self.compact(now);
        self.drain(now);
        match self.leader() {
            Some(_) => self.lost = None,
            None => {
                let lost = *self.lost.get_or_insert(now);
                if now >= lost + self.patience() {
                    self.etcd.end_watches();
                }
            }
        }
    }

    /// Carries out what the machine wants.
    fn drain(&mut self, now: u64) {
        while let Some(output) = self.machine.as_mut().and_then(|machine| machine.poll()) {
            match output {
                Output::Request(ticket, write) => {
                    // The machine asks for nothing that does not fit.
                    let _ = self.stored.get_or_insert_default().apply(&write);
                    self.handle(now, Input::Reply(ticket, Ok(())));
                }
                Output::Send(to, message) => {
                    // What is not at hand is not said: to the protocol it was lost.
                    if let Ok(load) = self.load(&message) {
                        let peer = Peer::Raft(message, load);
                        self.peers.push_back((to.0 as u16, peer));
                    }
                }
                Output::Event(Event::Established(_)) => self.keep_leases(now, true),
                Output::Event(Event::Deposed(..)) => self.keep_leases(now, false),
                Output::Event(_) => {}
            }
        }
    }

    fn keep_leases(&mut self, now: u64, keeps: bool) {
        self.revoking.clear();
        let extended = now + Timing::etcd().election_min.as_micros();
        self.etcd.keep_leases(extended, keeps);
    }

    /// What is attached to a message; an error where that is not at hand.
    fn load(&self, message: &Message) -> Result<Option<Load>, ()> {
        let load = match message.carries() {
            None => return Ok(None),
            Some(Carries::Snapshot { last }) => self.backlog.state(last),
            Some(Carries::Entries { after, entries }) => {
                let first = after.index + 1 + entries.own(after);
                let last = after.index + entries.count();
                self.backlog.entries(entries.term(), first, last)
            }
        };
        load.ok_or(()).map(Some)
    }

    /// The log may begin later, with a state that another has sent.
    fn install(&mut self) {
        if let Some(machine) = &self.machine
            && let Some(kv) = self.backlog.begins(machine.log().base())
        {
            self.etcd.install(kv);
        }
    }

    /// Carries out what is committed.
    fn apply(&mut self, now: u64) {
        let Some(machine) = &self.machine else {
            return;
        };
        let before = self.backlog.applied();
        let mut answers = Vec::new();
        // With its first entry a leader opens its term.
        let opens = |before, term| before != term;
        while let Some((_, asked)) = self.backlog.next(machine.log(), machine.commit(), opens) {
            let Some(asked) = asked else {
                continue;
            };
            let said = self.etcd.answer(now, &asked.command);
            if let Command::LeaseRevoke(lease) = asked.command {
                self.revoking.retain(|other| *other != lease);
            }
            let own = asked.whose.filter(|whose| whose.member == self.place);
            answers.extend(own.map(|whose| (whose, said)));
        }
        for (whose, said) in answers {
            self.answer(whose, said);
        }
        if self.backlog.applied() > before {
            self.etcd.tell();
        }
    }

    /// Answers what waited for a confirmation, and has it.
    fn serve(&mut self, now: u64) {
        while let Some(served) = self
            .machine
            .as_mut()
            .and_then(|machine| machine.poll_read())
        {
            match served {
                Served::Ready { upto, index } => {
                    for waiting in &mut self.waiting {
                        if waiting.read <= upto {
                            waiting.index.get_or_insert(index);
                        }
                    }
                }
                Served::LeaderLost { upto } => {
                    let lost =
                        |waiting: &mut Waiting| waiting.read <= upto && waiting.index.is_none();
                    for waiting in self.waiting.extract_if(.., lost).collect::<Vec<_>>() {
                        self.answer(waiting.whose, self.etcd.refused(Error::NoLeader));
                    }
                }
            }
        }
        for waiting in std::mem::take(&mut self.waiting) {
            let Waiting {
                index,
                whose,
                command,
                ..
            } = &waiting;
            let reached = index.is_some_and(|index| index <= self.backlog.applied());
            let looks = matches!(command, Command::Do(_));
            let over =
                matches!(command, Command::LeaseKeepAlive(lease) if self.revoking.contains(lease));
            let leads =
                (self.machine.as_ref()).is_some_and(|machine| machine.role() == Role::Leader);
            let said = if !looks && !leads {
                self.etcd.refused(Error::NoLeader)
            } else if !reached || (!looks && !self.leads()) || over {
                self.waiting.push(waiting);
                continue;
            } else {
                self.etcd.answer(now, command)
            };
            self.answer(*whose, said);
        }
    }

    /// Whoever leads proposes the end of leases that are over.
    fn revoke(&mut self, now: u64) {
        while let Some(lease) = self.etcd.over(now, REVOKE_AGAIN) {
            if !self.revoking.contains(&lease) {
                self.revoking.push(lease);
            }
            let (whose, command) = (None, Command::LeaseRevoke(lease));
            self.lead(now, Arc::new(Asked { whose, command }));
        }
    }

    /// Lets entries go that are carried out, once there are many.
    fn compact(&mut self, now: u64) {
        if let Some(machine) = &mut self.machine
            && let Some(applied) = self.backlog.compactable(machine.log().base())
            && let Ok(last) = machine.compact(Instant::from_micros(now), applied)
            && last.index == applied
        {
            self.backlog.compacted(last, self.etcd.kv().clone());
        }
    }
}
