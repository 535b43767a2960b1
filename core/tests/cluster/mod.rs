//! A cluster with logs, moved step by step: one millisecond a hop, disks and links as a test sets them, nothing random but
//! the machines' own draws. For stories with a few turns; `group` is for schedules by the thousand.
#![allow(dead_code)] // each test file uses its part

use std::collections::{BTreeMap, BTreeSet};
use tenure::membership::Target;
use tenure::quorum::Voters;
use tenure::raft::{
    Boot, Config, Faithful, Message, Raft, Replication, Rules, Stored, Switched, Write,
};
use tenure::{Duration, Election, Event, Input, Instant, NodeId, Output, Standing, Ticket};

pub(crate) fn voters(ids: &[u64]) -> Voters {
    Voters::new(ids.iter().copied().map(NodeId)).unwrap()
}

/// What a change is to end in: who votes, and who gets the log without a vote.
pub(crate) fn target(ids: &[u64], learners: &[u64]) -> Target {
    Target {
        voters: voters(ids),
        learners: learners.iter().copied().map(NodeId).collect(),
    }
}

/// How long a message is on its way, in microseconds.
const HOP: u64 = 1_000;

pub(crate) struct Node<R: Rules> {
    pub(crate) config: Config,
    /// `None` while it is down.
    pub(crate) machine: Option<Raft<R>>,
    /// What its disk holds.
    pub(crate) disk: Stored,
    /// Writes that are not done: when each will be.
    pub(crate) writes: Vec<(u64, Ticket, Write)>,
    /// How long a write takes, in microseconds; `u64::MAX` while the disk stands still.
    pub(crate) write_takes: u64,
    /// Frozen: reads nothing, writes nothing, looks at no clock.
    pub(crate) paused: bool,
    pub(crate) lives: u64,
    pub(crate) events: Vec<Event>,
}

#[derive(Clone, Debug)]
pub(crate) struct Flight {
    pub(crate) at: u64,
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) message: Message,
}

pub(crate) struct Cluster<R: Rules = Faithful> {
    pub(crate) nodes: Vec<Node<R>>,
    /// True time and every node's clock, in microseconds.
    pub(crate) now: u64,
    pub(crate) flights: Vec<Flight>,
    /// Directed links that carry nothing.
    pub(crate) cuts: BTreeSet<(usize, usize)>,
    /// All that was said, lost or not, in order.
    pub(crate) said: Vec<(usize, usize, Message)>,
    /// Which messages get lost.
    pub(crate) loses: fn(usize, usize, &Message) -> bool,
    rules: R,
    seed: u64,
}

impl Cluster {
    /// `n` voters with logs, all started.
    pub(crate) fn new(n: u64) -> Self {
        Self::with_rules(n, Faithful)
    }
}

impl Cluster<Switched> {
    pub(crate) fn without(n: u64, rules: &[tenure::raft::Rule]) -> Self {
        Self::with_rules(n, Switched::without(rules))
    }
}

impl<R: Rules> Cluster<R> {
    pub(crate) fn with_rules(n: u64, rules: R) -> Self {
        let voters = Voters::new((0..n).map(NodeId)).unwrap();
        let mut cluster = Self {
            nodes: Vec::new(),
            now: 1_000_000,
            flights: Vec::new(),
            cuts: BTreeSet::new(),
            said: Vec::new(),
            loses: |_, _, _| false,
            rules,
            seed: 1,
        };
        for _ in 0..n {
            cluster.join(&voters);
        }
        cluster
    }

    /// One more node starts, told of `voters`, and is known to nobody by that alone. Answers its place, which is its id.
    pub(crate) fn join(&mut self, voters: &Voters) -> usize {
        let place = self.nodes.len();
        let config = Config {
            replication: Some(Replication::default()),
            ..Config::new(NodeId(place as u64), voters.clone())
        };
        self.nodes.push(Node {
            config,
            machine: None,
            disk: Stored::default(),
            writes: Vec::new(),
            write_takes: 0,
            paused: false,
            lives: 0,
            events: Vec::new(),
        });
        self.start(place);
        place
    }

    /// Another seed for the draws of lives that begin from now on.
    pub(crate) fn seeded(mut self, seed: u64) -> Self {
        self.seed = seed;
        for place in 0..self.nodes.len() {
            self.nodes[place].machine = None;
            self.nodes[place].lives = 0;
            self.nodes[place].events.clear();
            self.start(place);
        }
        self
    }

    pub(crate) fn clock(&self) -> Instant {
        Instant::from_micros(self.now)
    }

    /// Starts a node from what its disk holds.
    pub(crate) fn start(&mut self, place: usize) {
        let now = self.clock();
        let node = &mut self.nodes[place];
        node.lives += 1;
        let ran = node.lives > 1 || node.disk != Stored::default();
        let boot = Boot {
            stored: ran.then(|| node.disk.clone()),
            incarnation: node.lives,
            seed: self.seed,
        };
        let machine = Raft::with_rules(node.config.clone(), boot, now, self.rules.clone());
        node.machine = Some(machine.unwrap());
        self.carry_out(place);
    }

    /// The process dies, and what its disk had not written is lost.
    pub(crate) fn crash(&mut self, place: usize) {
        self.nodes[place].machine = None;
        self.nodes[place].writes.clear();
    }

    pub(crate) fn restart(&mut self, place: usize) {
        self.crash(place);
        self.start(place);
    }

    pub(crate) fn machine(&self, place: usize) -> &Raft<R> {
        self.nodes[place].machine.as_ref().unwrap()
    }

    /// Does something to a machine at the present time, and carries out what it asks for.
    pub(crate) fn with<T>(
        &mut self,
        place: usize,
        act: impl FnOnce(&mut Raft<R>, Instant) -> T,
    ) -> T {
        let now = self.clock();
        let done = act(self.nodes[place].machine.as_mut().unwrap(), now);
        self.carry_out(place);
        done
    }

    pub(crate) fn input(&mut self, place: usize, input: Input<Message, ()>) {
        self.with(place, |machine, now| machine.handle(now, input));
    }

    /// Proposes and answers the index of the last entry.
    pub(crate) fn propose(&mut self, place: usize, count: u32) -> u64 {
        let first = self.with(place, |machine, now| machine.propose(now, count));
        first.unwrap().index + u64::from(count) - 1
    }

    pub(crate) fn carry_out(&mut self, place: usize) {
        loop {
            let Some(output) = self.nodes[place].machine.as_mut().and_then(Election::poll) else {
                // What its disk answers may have it say more.
                if self.write_what_is_due(place) {
                    continue;
                }
                return;
            };
            match output {
                Output::Event(event) => self.nodes[place].events.push(event),
                Output::Request(ticket, write) => {
                    let node = &mut self.nodes[place];
                    let at = self.now.saturating_add(node.write_takes);
                    node.writes.push((at, ticket, write));
                }
                Output::Send(to, message) => {
                    let to = to.0 as usize;
                    self.said.push((place, to, message.clone()));
                    let lost =
                        self.cuts.contains(&(place, to)) || (self.loses)(place, to, &message);
                    if !lost && to < self.nodes.len() {
                        self.flights.push(Flight {
                            at: self.now + HOP,
                            from: place,
                            to,
                            message,
                        });
                    }
                }
            }
            self.write_what_is_due(place);
        }
    }

    /// Whether anything was.
    fn write_what_is_due(&mut self, place: usize) -> bool {
        let now = self.clock();
        let node = &mut self.nodes[place];
        let mut written = false;
        while let Some((at, ..)) = node.writes.first()
            && *at <= self.now
            && !node.paused
        {
            let (_, ticket, write) = node.writes.remove(0);
            node.disk.apply(&write).unwrap();
            if let Some(machine) = &mut node.machine {
                machine.handle(now, Input::Reply(ticket, Ok(())));
            }
            written = true;
        }
        written
    }

    /// Lets time pass to the next thing that happens, at most to `limit`. False when nothing happens before it.
    fn step(&mut self, limit: u64) -> bool {
        let mut next = limit;
        for flight in &self.flights {
            if !self.nodes[flight.to].paused {
                next = next.min(flight.at);
            }
        }
        for node in self.nodes.iter().filter(|node| !node.paused) {
            if let Some((at, _, _)) = node.writes.first() {
                next = next.min(*at);
            }
            if let Some(deadline) = node.machine.as_ref().and_then(Election::deadline) {
                next = next.min(deadline.as_micros());
            }
        }
        self.now = self.now.max(next);
        let landed = self
            .flights
            .iter()
            .position(|flight| flight.at <= self.now && !self.nodes[flight.to].paused);
        if let Some(at) = landed {
            let flight = self.flights.remove(at);
            let cut = self.cuts.contains(&(flight.from, flight.to));
            if !cut && self.nodes[flight.to].machine.is_some() {
                let from = NodeId(flight.from as u64);
                self.input(flight.to, Input::Peer(from, flight.message));
            }
            return true;
        }
        for place in 0..self.nodes.len() {
            if self.nodes[place].paused {
                continue;
            }
            let written = self.nodes[place]
                .writes
                .first()
                .is_some_and(|(at, _, _)| *at <= self.now);
            let due = self.nodes[place]
                .machine
                .as_ref()
                .and_then(Election::deadline)
                .is_some_and(|deadline| deadline <= self.clock());
            if written {
                self.carry_out(place);
                return true;
            }
            if due {
                self.input(place, Input::Timeout);
                return true;
            }
        }
        false
    }

    /// Lets `millis` milliseconds pass.
    pub(crate) fn run(&mut self, millis: u64) {
        let limit = self.now + millis * 1_000;
        while self.step(limit) {}
        self.now = limit;
    }

    /// Lets time pass until something holds, at most ten seconds; panics when it never does.
    pub(crate) fn until(&mut self, what: &str, holds: impl Fn(&Self) -> bool) {
        let limit = self.now + 10_000_000;
        while !holds(self) {
            assert!(self.step(limit), "never: {what}");
        }
    }

    /// Who believes to lead.
    pub(crate) fn leading(&self) -> Vec<usize> {
        let leads = |place: &usize| {
            let machine = self.nodes[*place].machine.as_ref();
            machine.is_some_and(|machine| {
                matches!(machine.standing(self.clock()), Standing::Leading(_))
            })
        };
        (0..self.nodes.len()).filter(leads).collect()
    }

    /// Makes `place` the leader of a healthy cluster.
    pub(crate) fn elect(&mut self, place: usize) {
        self.input(place, Input::Campaign);
        self.until("elected", |cluster| cluster.leading() == [place]);
    }

    pub(crate) fn commit(&self, place: usize) -> u64 {
        self.machine(place).commit()
    }

    /// The terms of a node's log, from the first entry that it keeps on.
    pub(crate) fn terms(&self, place: usize) -> Vec<u64> {
        let runs = self.machine(place).log().runs();
        runs.flat_map(|(term, count)| (0..count).map(move |_| term))
            .collect()
    }

    pub(crate) fn cut(&mut self, one: usize, other: usize) {
        self.cuts.insert((one, other));
        self.cuts.insert((other, one));
    }

    pub(crate) fn isolate(&mut self, place: usize) {
        for other in 0..self.nodes.len() {
            if other != place {
                self.cut(place, other);
            }
        }
    }

    pub(crate) fn heal(&mut self) {
        self.cuts.clear();
    }

    /// INV-L3 and INV-L1 as far as they show now: logs agree up to the lower of two commit indices.
    pub(crate) fn assert_agreement(&self) {
        let mut terms: BTreeMap<u64, u64> = BTreeMap::new();
        for machine in self.nodes.iter().filter_map(|node| node.machine.as_ref()) {
            let (log, commit) = (machine.log(), machine.commit());
            for index in log.base().index.max(1)..=commit {
                let term = log.term_at(index).unwrap();
                let first = *terms.entry(index).or_insert(term);
                assert_eq!(first, term, "two entries are committed at {index}");
            }
        }
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.nodes[0].config.timing.election_max
    }
}
