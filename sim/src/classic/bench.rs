//! The small world of the classics: nodes, their disks, and the network between them, with everything that can go wrong
//! there; and the judges of what they do.
//!
//! One seed decides everything. Messages travel through the [network](crate::physics::network) of the large world; clocks
//! run true, and disks write at once, which is more than most of the classics ask for.
//!
//! A leader *holds office* while it runs, leads, and a majority of all nodes (itself among them) run, can talk to it and
//! follow it. That is what a client could use, and what the judges of liveness look at; what nodes merely believe is judged
//! apart (`judge`).

use super::judge::{Counts, Seen};
use super::{Classic, Input, Law, Mark, Output, Seat, Standing};
use crate::check::{Outcome, Tally};
use crate::physics::network::{Fate, Network, Slot};
use crate::physics::queue::Queue;
use crate::physics::weather::Weather;
use crate::physics::{NEVER, NOBODY};
use tenure::random::Random;
use tenure::{Duration, Instant};

/// The longest latency of usual weather, in microseconds.
pub const LATENCY: u64 = 10_000;

/// A group of nodes, and what becomes of them.
pub struct Bench<C: Classic> {
    setup: C::Setup,
    nodes: Vec<Node<C>>,
    network: Network<C::Message>,
    queue: Queue<Due>,
    now: u64,
    outputs: Vec<Output<C::Message, C::Record>>,
    seen: Seen,
}

struct Node<C: Classic> {
    machine: Option<C>,
    stored: Option<C::Record>,
    life: u64,
    paused: bool,
    /// What arrived while it was paused.
    inbox: Vec<(usize, C::Message)>,
    /// When its next timeout is scheduled.
    armed: u64,
    /// What it was seen to believe.
    belief: Belief,
}

/// What a node was seen to believe, and since when.
#[derive(Clone, Copy, Debug, Default)]
struct Belief {
    leads: bool,
    follows: Option<usize>,
    /// The highest mark it named in this life.
    named: Option<Mark>,
}

enum Due {
    Arrives(Slot),
    Timeout(usize),
}

impl<C: Classic> Bench<C> {
    /// A group of so many nodes, all of which start at once.
    #[must_use]
    pub fn new(setup: C::Setup, nodes: usize, weather: Weather, seed: u64) -> Self {
        let node = |_| Node {
            machine: None,
            stored: None,
            life: 0,
            paused: false,
            inbox: Vec::new(),
            armed: NEVER,
            belief: Belief::default(),
        };
        let mut bench = Self {
            setup,
            nodes: (0..nodes).map(node).collect(),
            network: Network::new(nodes, weather, Random::from_seed(seed)),
            queue: Queue::default(),
            now: 0,
            outputs: Vec::new(),
            seen: Seen::new(nodes),
        };
        for node in 0..nodes {
            bench.start(node);
        }
        bench
    }

    /// The true time.
    #[must_use]
    pub const fn now(&self) -> u64 {
        self.now
    }

    /// How many nodes there are.
    #[must_use]
    pub fn size(&self) -> usize {
        self.nodes.len()
    }

    /// Goes on until then.
    pub fn run_until(&mut self, until: u64) {
        while let Some((at, due)) = self.queue.pop_until(until) {
            self.now = at;
            match due {
                Due::Arrives(slot) => self.arrive(slot),
                Due::Timeout(node) => self.timeout(node, at),
            }
        }
        self.now = until;
        self.look_all();
    }

    /// Goes on until a condition holds or a time is reached. Answers whether it holds.
    pub fn run_until_it(&mut self, until: u64, holds: impl Fn(&Self) -> bool) -> bool {
        while !holds(self) {
            match self.queue.next_at() {
                Some(at) if at <= until => self.run_until(at),
                _ => return false,
            }
        }
        true
    }

    /// A process ends. What its disk holds stays.
    pub fn crash(&mut self, node: usize) {
        let there = &mut self.nodes[node];
        there.machine = None;
        there.paused = false;
        there.inbox.clear();
        there.armed = NEVER;
        self.look(node);
    }

    /// A process that ended starts again.
    pub fn restart(&mut self, node: usize) {
        if self.nodes[node].machine.is_none() {
            self.start(node);
        }
    }

    /// A process stands still; what arrives waits.
    pub fn pause(&mut self, node: usize) {
        self.nodes[node].paused = self.nodes[node].machine.is_some();
        self.look(node);
    }

    /// It goes on: with what arrived first, as a process that reads its sockets does.
    pub fn resume(&mut self, node: usize) {
        if !std::mem::take(&mut self.nodes[node].paused) {
            return;
        }
        for (from, message) in std::mem::take(&mut self.nodes[node].inbox) {
            self.handle(node, Input::Hear(from, message));
        }
        self.handle(node, Input::Timeout);
    }

    /// Cuts the link of two nodes, both ways.
    pub fn cut(&mut self, one: usize, other: usize) {
        self.network.sever(one, other, NOBODY - 1);
        self.network.sever(other, one, NOBODY - 1);
        let links = [(one, other), (other, one)];
        self.network.strand(self.now, &links, NOBODY - 1);
        self.look_all();
    }

    /// Cuts it in one direction.
    pub fn cut_one_way(&mut self, from: usize, to: usize) {
        self.network.sever(from, to, NOBODY - 1);
        self.network.strand(self.now, &[(from, to)], NOBODY - 1);
        self.look_all();
    }

    /// Heals all links.
    pub fn heal(&mut self) {
        let nodes = self.nodes.len();
        for (from, to) in (0..nodes * nodes).map(|pair| (pair / nodes, pair % nodes)) {
            self.network.heal(self.now, from, to);
        }
        self.look_all();
    }

    /// Changes how messages travel.
    pub fn weather(&mut self, weather: Weather) {
        self.network.change(weather, NOBODY - 1);
    }

    /// Counts anew from here on.
    pub fn count_anew(&mut self) {
        self.seen.count_anew(self.now);
    }

    /// What was counted.
    #[must_use]
    pub const fn counts(&self) -> Counts {
        self.seen.counts
    }

    /// Who leads, of those that run; the highest if there are several.
    #[must_use]
    pub fn leader(&self) -> Option<usize> {
        let runs = |node: &usize| self.runs(*node) && self.nodes[*node].belief.leads;
        (0..self.nodes.len()).rev().find(runs)
    }

    /// Who holds office.
    #[must_use]
    pub fn in_office(&self) -> Option<usize> {
        self.seen.in_office().map(|(node, _)| node)
    }

    /// Whom a node follows.
    #[must_use]
    pub fn follows(&self, node: usize) -> Option<usize> {
        let belief = self.nodes[node].belief;
        if belief.leads {
            Some(node)
        } else {
            belief.follows
        }
    }

    /// Whether a node is there and not paused.
    #[must_use]
    pub fn runs(&self, node: usize) -> bool {
        self.nodes[node].machine.is_some() && !self.nodes[node].paused
    }

    /// Whether all that run follow one of them; who that is.
    #[must_use]
    pub fn agreed(&self) -> Option<usize> {
        let mut running = (0..self.nodes.len()).filter(|node| self.runs(*node));
        let leader = self.follows(running.next()?)?;
        let agreed = running.all(|node| self.follows(node) == Some(leader));
        (agreed && self.runs(leader) && self.nodes[leader].belief.leads).then_some(leader)
    }

    /// Puts [`Law::HighestLeads`] to the test: for where nothing failed for a while.
    pub fn judge_highest(&mut self) {
        let highest = (0..self.nodes.len()).rev().find(|node| self.runs(*node));
        let broken = self.agreed() != highest;
        self.seen.note(Law::HighestLeads, self.now, broken);
    }

    /// Puts [`Law::LeaderAgain`] to the test: for where everything was healed long before.
    pub fn judge_again(&mut self) {
        let broken = self.agreed().is_none();
        self.seen.note(Law::LeaderAgain, self.now, broken);
    }

    /// Puts [`Law::QuorumConnectedLeader`] to the test: for where the links have stood as they are for longer than `since`,
    /// and some node reaches a quorum.
    pub fn judge_connected(&mut self, since: u64) {
        let steady = self.seen.in_office().is_some_and(|(_, from)| from <= since);
        self.seen
            .note(Law::QuorumConnectedLeader, self.now, !steady);
    }

    /// Puts [`Law::MessageBound`] to the test.
    pub fn judge_messages(&mut self, most: u64) {
        let broken = self.seen.counts.election > most;
        self.seen.note(Law::MessageBound, self.now, broken);
    }

    /// How a law fared.
    #[must_use]
    pub const fn tally(&self, law: Law) -> Tally {
        self.seen.tally(law)
    }

    /// The same in a word.
    #[must_use]
    pub const fn outcome(&self, law: Law) -> Outcome {
        match self.tally(law) {
            Tally { exercised: 0, .. } => Outcome::NotExercised,
            Tally { broken: 0, .. } => Outcome::Holds,
            _ => Outcome::Broken,
        }
    }

    fn start(&mut self, node: usize) {
        let seat = Seat {
            node,
            nodes: self.nodes.len(),
            life: self.nodes[node].life + 1,
            now: Instant::from_micros(self.now),
        };
        let there = &mut self.nodes[node];
        there.life = seat.life;
        there.belief = Belief::default();
        there.machine = Some(C::boot(&self.setup, seat, there.stored.clone()));
        self.handle(node, Input::Begin);
    }

    fn arrive(&mut self, slot: Slot) {
        let Some(flight) = self.network.land(slot) else {
            return;
        };
        if flight.fate != Fate::Arrives {
            return;
        }
        let (from, to) = (usize::from(flight.from), usize::from(flight.to));
        if self.nodes[to].paused {
            self.nodes[to].inbox.push((from, flight.payload));
        } else {
            self.handle(to, Input::Hear(from, flight.payload));
        }
    }

    fn timeout(&mut self, node: usize, at: u64) {
        let there = &mut self.nodes[node];
        if there.armed == at {
            there.armed = NEVER;
            if !there.paused {
                self.handle(node, Input::Timeout);
            }
        }
    }

    fn handle(&mut self, node: usize, input: Input<C::Message>) {
        let now = Instant::from_micros(self.now);
        let Some(machine) = &mut self.nodes[node].machine else {
            return;
        };
        let mut outputs = std::mem::take(&mut self.outputs);
        machine.handle(now, input, &mut outputs);
        for output in outputs.drain(..) {
            match output {
                Output::Send(to, message) => self.send(node, to, message),
                Output::Keep(record) => self.nodes[node].stored = Some(record),
                Output::Acted(mark, asked) => {
                    self.seen.acted(self.now, mark, asked.as_micros());
                }
            }
        }
        self.outputs = outputs;
        self.arm(node);
        self.look(node);
    }

    fn send(&mut self, from: usize, to: usize, message: C::Message) {
        if C::elects(&message) {
            self.seen.counts.election += 1;
        }
        let sent = self.network.send(self.now, from, to, 0, message);
        for slot in [Some(sent.first), sent.again, sent.later]
            .into_iter()
            .flatten()
        {
            if let Some(flight) = self.network.flight(slot) {
                self.queue.push(flight.arrives, Due::Arrives(slot));
            }
        }
    }

    fn arm(&mut self, node: usize) {
        let Some(machine) = &self.nodes[node].machine else {
            return;
        };
        let deadline = machine.deadline();
        if deadline == Instant::FOREVER {
            self.nodes[node].armed = NEVER;
            return;
        }
        // What is overdue is due now: a paused process wakes to it.
        let at = deadline.as_micros().max(self.now);
        if self.nodes[node].armed != at {
            self.nodes[node].armed = at;
            self.queue.push(at, Due::Timeout(node));
        }
    }

    fn look_all(&mut self) {
        for node in 0..self.nodes.len() {
            self.look(node);
        }
    }

    /// What a node believes, for the judges.
    fn look(&mut self, node: usize) {
        let now = Instant::from_micros(self.now);
        let there = &mut self.nodes[node];
        let standing = there.machine.as_ref().map(|machine| machine.standing(now));
        let before = there.belief;
        let (mark, until) = match standing {
            Some(Standing::Leading(mark, until)) => (mark, until),
            Some(Standing::Following(_, mark)) => (mark, Instant::ZERO),
            Some(Standing::Unknown) | None => (None, Instant::ZERO),
        };
        there.belief.leads = until > now;
        there.belief.follows = match standing {
            Some(Standing::Following(leader, _)) => Some(leader),
            _ => None,
        };
        let leads = there.belief.leads;
        let life = there.life;
        if let Some(mark) = mark {
            there.belief.named = before.named.max(Some(mark));
            self.seen.names(self.now, before.named, mark);
        }
        let until = if leads { until.as_micros() } else { 0 };
        let meets = self.seen.believes(self.now, node, until);
        if leads && !before.leads {
            self.seen.begins(self.now, (node, life), mark, meets);
        }
        self.see_office();
    }

    /// Whether a node runs and a majority, with itself, that fulfils a condition can talk to it.
    fn hears(&self, node: usize, which: impl Fn(usize) -> bool) -> bool {
        let links = &self.network.links;
        let among = |other: &usize| {
            let linked =
                *other == node || !links.is_cut(node, *other) && !links.is_cut(*other, node);
            linked && self.runs(*other) && which(*other)
        };
        let count = (0..self.nodes.len()).filter(among).count();
        self.runs(node) && count > self.nodes.len() / 2
    }

    fn see_office(&mut self) {
        let holds = |node: &usize| {
            self.nodes[*node].belief.leads
                && self.hears(*node, |other| self.follows(other) == Some(*node))
        };
        let holder = (0..self.nodes.len()).find(holds);
        self.seen.office(self.now, holder);
        let able = self.seen.able();
        if able.is_some_and(|node| !self.hears(node, |_| true)) {
            self.seen.unable();
        }
    }
}

/// A time of so many milliseconds.
#[must_use]
pub const fn millis(millis: u64) -> u64 {
    Duration::from_millis(millis).as_micros()
}
