//! A group of voters under a hostile host: any order, loss and repetition of messages, crashes, pauses, disks that lag or
//! never answer, clocks at their bound; with the invariants judged from outside, never by a node's own claim.
#![allow(dead_code)] // each test file uses its part

use std::collections::{BTreeMap, BTreeSet};
use tenure::quorum::Voters;
use tenure::raft::{
    Boot, Config, Faithful, Message, Priority, Raft, Rules, Stored, Timing, Write,
};
use tenure::random::Random;
use tenure::{
    Duration, Election, Event, Input, Instant, NodeId, Output, Standing, Ticket, Token, Unknown,
};

/// What the host does wrong on purpose, in percent of the occasions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Breakage {
    /// A message is lost.
    pub(crate) drop: u64,
    /// A message is delivered and stays to be delivered again, whenever.
    pub(crate) repeat: u64,
    /// A disk write is never answered.
    pub(crate) silent_disk: u64,
    /// A disk reply is given twice, or under a ticket of another life.
    pub(crate) wrong_reply: u64,
    /// A disk write ends unknown.
    pub(crate) unknown_write: u64,
    /// A timeout comes early, or twice.
    pub(crate) spurious_timeout: u64,
    /// `now` goes back.
    pub(crate) back_in_time: u64,
    /// The host is told to campaign or resign out of nowhere.
    pub(crate) whims: u64,
    /// A node crashes.
    pub(crate) crash: u64,
    /// A node is paused for up to two election timeouts.
    pub(crate) pause: u64,
    /// Links are cut for a while: all of a node's, one direction of them, or a single one.
    pub(crate) isolate: u64,
}

impl Breakage {
    /// Everything at once.
    pub(crate) const WILD: Self = Self {
        drop: 10,
        repeat: 10,
        silent_disk: 1,
        wrong_reply: 5,
        unknown_write: 1,
        spurious_timeout: 10,
        back_in_time: 5,
        whims: 3,
        crash: 2,
        pause: 2,
        isolate: 3,
    };
}

pub(crate) struct Node<R: Rules> {
    pub(crate) id: NodeId,
    pub(crate) machine: Option<Raft<R>>,
    /// What its disk holds; `None` while nothing was ever written.
    pub(crate) disk: Option<Stored>,
    writes: Vec<(Ticket, Write, u64)>,
    pub(crate) incarnation: u64,
    /// Rate of the clock in parts per million of true time.
    pub(crate) rate: u64,
    paused_until: u64,
    restart_at: u64,
    /// Elected and not yet deposed.
    in_office: Option<Token>,
}

impl<R: Rules> Node<R> {
    /// What its disk holds.
    pub(crate) fn stored(&self) -> Stored {
        self.disk.clone().unwrap_or_default()
    }

    /// The first `count` of what was asked of the disk is done, in ticket order.
    fn write(&mut self, count: usize) {
        for (_, write, _) in self.writes.drain(..count) {
            let disk = self.disk.get_or_insert_default();
            disk.apply(&write).expect("a write that fits the disk");
        }
    }
}

#[derive(Clone, Debug)]
struct Flight {
    at: u64,
    from: NodeId,
    to: NodeId,
    message: Message,
}

/// The inputs of one node.
pub(crate) type Script = Vec<(Instant, Input<Message, ()>)>;

/// What the outside saw.
#[derive(Debug, Default)]
pub(crate) struct Ghost {
    /// INV-E1.
    pub(crate) leaders: BTreeMap<u64, NodeId>,
    /// INV-E2.
    pub(crate) votes: BTreeMap<(NodeId, u64), NodeId>,
    /// INV-E6: the highest token ever established.
    pub(crate) highest: Option<Token>,
    pub(crate) elected: u64,
    pub(crate) established: u64,
    pub(crate) handovers: u64,
    /// INV-S3: tokens that were believed and no longer are.
    pub(crate) expired: BTreeSet<Token>,
    /// Who believed what after the last input.
    believed: BTreeMap<usize, Token>,
    /// The first invariant that broke.
    pub(crate) broken: Option<String>,
    /// All that broke.
    pub(crate) fallen: BTreeSet<String>,
}

impl Ghost {
    fn fail(&mut self, invariant: &str, detail: String) {
        self.fallen.insert(invariant.to_owned());
        self.broken
            .get_or_insert_with(|| format!("{invariant}: {detail}"));
    }
}

pub(crate) struct Group<R: Rules = Faithful> {
    pub(crate) nodes: Vec<Node<R>>,
    pub(crate) ghost: Ghost,
    pub(crate) now: u64,
    pub(crate) breakage: Breakage,
    timings: Vec<Timing>,
    /// By place; ordinary at first.
    pub(crate) priorities: Vec<Priority>,
    safe_mode: bool,
    rules: R,
    flights: Vec<Flight>,
    /// Until when each directed link is cut, by sender and receiver.
    cuts: Vec<Vec<u64>>,
    /// Added to the latency of each directed link.
    pub(crate) slow: Vec<Vec<u64>>,
    random: Random,
    /// A node whose inputs are written down.
    pub(crate) recording: Option<(usize, Script)>,
    pub(crate) latency: (u64, u64),
    pub(crate) write_time: (u64, u64),
}

pub(crate) fn timing() -> Timing {
    Timing::default()
}

impl Group<Faithful> {
    pub(crate) fn new(voters: u64, seed: u64) -> Self {
        Self::with_rules(voters, seed, Faithful)
    }
}

impl<R: Rules> Group<R> {
    pub(crate) fn with_rules(voters: u64, seed: u64, rules: R) -> Self {
        Self::configured(voters, seed, rules, true, |_| timing())
    }

    pub(crate) fn configured(
        voters: u64,
        seed: u64,
        rules: R,
        safe_mode: bool,
        timing: impl Fn(u64) -> Timing,
    ) -> Self {
        let mut random = Random::from_seed(seed);
        let timings: Vec<Timing> = (0..voters).map(timing).collect();
        let nodes = (0..voters)
            .map(|id| {
                // Clocks anywhere within the bound, ends included.
                let rho = u64::from(timings[id as usize].rate_bound);
                let rate = match random.below(3) {
                    0 => 1_000_000 - rho,
                    1 => 1_000_000 + rho,
                    _ => 1_000_000 - rho + random.below(2 * rho + 1),
                };
                Node {
                    id: NodeId(id),
                    machine: None,
                    disk: None,
                    writes: Vec::new(),
                    incarnation: 0,
                    rate,
                    paused_until: 0,
                    restart_at: 0,
                    in_office: None,
                }
            })
            .collect();
        Self {
            nodes,
            ghost: Ghost::default(),
            now: 0,
            breakage: Breakage::default(),
            timings,
            priorities: vec![Priority::Ordinary; voters as usize],
            safe_mode,
            rules,
            flights: Vec::new(),
            cuts: vec![vec![0; voters as usize]; voters as usize],
            slow: vec![vec![0; voters as usize]; voters as usize],
            random,
            recording: None,
            latency: (1_000, 20_000),
            write_time: (100, 3_000),
        }
    }

    /// What is on the way: from whom, to whom, and what.
    pub(crate) fn in_flight(&self) -> impl Iterator<Item = (usize, usize, Message)> + '_ {
        self.flights.iter().map(|flight| {
            (
                flight.from.0 as usize,
                flight.to.0 as usize,
                flight.message.clone(),
            )
        })
    }

    /// The clock of a node, now.
    pub(crate) fn clock(&self, place: usize) -> Instant {
        Instant::from_micros(
            (u128::from(self.now) * u128::from(self.nodes[place].rate) / 1_000_000) as u64
                + 7_000_000 * place as u64,
        )
    }

    pub(crate) fn boot(&mut self, place: usize) {
        let now = self.clock(place);
        let voters = Voters::new((0..self.nodes.len() as u64).map(NodeId)).unwrap();
        let node = &mut self.nodes[place];
        node.incarnation += 1;
        let config = Config {
            timing: self.timings[place],
            safe_mode: self.safe_mode,
            priority: self.priorities[place],
            ..Config::new(node.id, voters)
        };
        let boot = Boot {
            stored: node.disk.clone(),
            incarnation: node.incarnation,
            seed: self.random.bits(),
        };
        node.machine = Some(Raft::with_rules(config, boot, now, self.rules.clone()).unwrap());
    }

    pub(crate) fn boot_all(&mut self) {
        (0..self.nodes.len()).for_each(|place| self.boot(place));
    }

    pub(crate) fn crash(&mut self, place: usize) {
        let node = &mut self.nodes[place];
        node.machine = None;
        node.writes.clear();
        node.in_office = None;
    }

    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        percent > 0 && self.random.below(100) < percent
    }

    pub(crate) fn between(&mut self, (low, high): (u64, u64)) -> u64 {
        low + self.random.below(high - low + 1)
    }

    /// Hands an input to a node and carries out what it asks, judging everything on the way.
    pub(crate) fn input(&mut self, place: usize, input: Input<Message, ()>) {
        let mut now = self.clock(place);
        if self.chance(self.breakage.back_in_time) {
            now = now - Duration::from_millis(self.random.below(400));
        }
        let Some(machine) = self.nodes[place].machine.as_mut() else {
            return;
        };
        if let Some((_, inputs)) = self
            .recording
            .as_mut()
            .filter(|(recorded, _)| *recorded == place)
        {
            inputs.push((now, input.clone()));
        }
        machine.handle(now, input);
        self.carry_out(place);
        self.judge_belief();
    }

    fn carry_out(&mut self, place: usize) {
        while let Some(output) = self.nodes[place].machine.as_mut().and_then(Election::poll) {
            match output {
                Output::Event(event) => self.judge_event(place, event),
                Output::Request(ticket, write) => {
                    let at = self.now + self.between(self.write_time);
                    let at = if self.chance(self.breakage.silent_disk) {
                        u64::MAX
                    } else {
                        at
                    };
                    self.nodes[place].writes.push((ticket, write, at));
                }
                Output::Send(to, message) => {
                    let from = self.nodes[place].id;
                    self.judge_send(place, to, &message);
                    if !self.chance(self.breakage.drop) {
                        let slow = self.slow[from.0 as usize][to.0 as usize];
                        let at = self.now + self.between(self.latency) + slow;
                        self.flights.push(Flight {
                            at,
                            from,
                            to,
                            message,
                        });
                    }
                }
            }
        }
    }

    fn judge_send(&mut self, place: usize, to: NodeId, message: &Message) {
        let node = &self.nodes[place];
        let durable = node.stored().record;
        let own_term = match *message {
            Message::RequestPreVote { term, .. } => term - 1,
            Message::PreVoteGranted { .. } | Message::Release { .. } => 0,
            Message::PreVoteRefused { term, .. } => term,
            _ => message.term(),
        };
        if own_term > durable.term {
            self.ghost.fail(
                "INV-E3",
                format!(
                    "{} sends {message:?} with durable term {}",
                    node.id, durable.term
                ),
            );
        }
        let vote = match *message {
            Message::VoteGranted { term } => Some((term, to)),
            Message::RequestVote { term, .. } => Some((term, node.id)),
            _ => None,
        };
        if let Some((term, candidate)) = vote {
            let id = node.id;
            if (durable.term, durable.vote) != (term, Some(candidate)) && durable.term <= term {
                self.ghost.fail(
                    "INV-E2",
                    format!("{id} votes for {candidate} in {term} with {durable:?} on disk"),
                );
            }
            let first = *self.ghost.votes.entry((id, term)).or_insert(candidate);
            if first != candidate {
                self.ghost.fail(
                    "INV-E2",
                    format!("{id} votes for {first} and {candidate} in {term}"),
                );
            }
        }
    }

    fn judge_event(&mut self, place: usize, event: Event) {
        let id = self.nodes[place].id;
        match event {
            Event::Elected(token) => {
                self.ghost.elected += 1;
                let first = *self.ghost.leaders.entry(token.counter).or_insert(id);
                if first != id || self.nodes[place].in_office.is_some() {
                    self.ghost
                        .fail("INV-E1", format!("{first} and {id} elected in {token}"));
                }
                self.nodes[place].in_office = Some(token);
                // INV-E5, for logs that nobody extends: an entry held by a majority may be committed, so a leader's log
                // must be no worse than a majority's.
                let own = self.nodes[place].stored().log.last();
                let no_better = self
                    .nodes
                    .iter()
                    .filter(|node| node.stored().log.last() <= own)
                    .count();
                if no_better <= self.nodes.len() / 2 {
                    self.ghost
                        .fail("INV-E5", format!("{id} elected in {token} with {own:?}"));
                }
            }
            Event::Established(tenure) => {
                self.ghost.established += 1;
                if self.nodes[place].in_office != Some(tenure.token) {
                    self.ghost.fail(
                        "INV-E6",
                        format!("{id} established without election in {}", tenure.token),
                    );
                }
                if self
                    .ghost
                    .highest
                    .is_some_and(|highest| highest >= tenure.token)
                {
                    self.ghost.fail(
                        "INV-E6",
                        format!("token {} of {id} does not rise", tenure.token),
                    );
                }
                self.ghost.handovers += u64::from(self.ghost.highest.is_some());
                self.ghost.highest = self.ghost.highest.max(Some(tenure.token));
            }
            Event::Deposed(token, why) => {
                let held = self.nodes[place].in_office.take();
                if held != Some(token) {
                    self.ghost.fail(
                        "INV-E6",
                        format!("{id} deposed from {token} ({why:?}), held {held:?}"),
                    );
                }
            }
            _ => {}
        }
    }

    /// INV-S1 and INV-S3: a belief begins only at an input, so it is enough to look then.
    fn judge_belief(&mut self) {
        let leading = self.leading();
        if leading.len() > 1 {
            self.ghost
                .fail("INV-S1", format!("{leading:?} all believe at {}", self.now));
        }
        let believed: BTreeMap<usize, Token> = leading
            .iter()
            .filter_map(|place| Some((*place, self.tenure(*place)?)))
            .collect();
        for (place, token) in core::mem::take(&mut self.ghost.believed) {
            if believed.get(&place) != Some(&token) {
                self.ghost.expired.insert(token);
            }
        }
        for token in believed.values() {
            // A host whose clock went back has hidden the lapse from the machine.
            if self.ghost.expired.contains(token) && self.breakage.back_in_time == 0 {
                self.ghost.fail(
                    "INV-S3",
                    format!("token {token} is valid again at {}", self.now),
                );
            }
        }
        self.ghost.believed = believed;
    }

    /// The token of a node that believes to lead, by its own clock.
    fn tenure(&self, place: usize) -> Option<Token> {
        match self.nodes[place]
            .machine
            .as_ref()?
            .standing(self.clock(place))
        {
            Standing::Leading(tenure) => Some(tenure.token),
            _ => None,
        }
    }

    /// Who believes to lead, each by its own clock.
    pub(crate) fn leading(&self) -> Vec<usize> {
        (0..self.nodes.len())
            .filter(|place| self.tenure(*place).is_some())
            .collect()
    }

    /// Cuts all links of a node until true time `until`.
    pub(crate) fn cut(&mut self, place: usize, until: u64) {
        for other in 0..self.nodes.len() {
            self.cuts[place][other] = until;
            self.cuts[other][place] = until;
        }
    }

    /// Cuts one direction of a link until true time `until`.
    pub(crate) fn cut_link(&mut self, from: usize, to: usize, until: u64) {
        self.cuts[from][to] = until;
    }

    /// A random set of slow links, one in five, fixed for the run.
    pub(crate) fn slow_links(&mut self, extra: u64) {
        for from in 0..self.nodes.len() {
            for to in 0..self.nodes.len() {
                self.slow[from][to] = if self.chance(20) {
                    self.random.below(extra)
                } else {
                    0
                };
            }
        }
    }

    fn is_cut(&self, from: NodeId, to: NodeId) -> bool {
        self.cuts[from.0 as usize][to.0 as usize] > self.now
    }

    /// Lets one thing happen.
    pub(crate) fn step(&mut self) {
        // True time of the next thing that is due.
        let mut next = u64::MAX;
        for flight in &self.flights {
            next = next.min(flight.at.max(self.nodes[flight.to.0 as usize].paused_until));
        }
        for (place, node) in self.nodes.iter().enumerate() {
            match &node.machine {
                None => next = next.min(node.restart_at),
                Some(machine) => {
                    for (_, _, at) in &node.writes {
                        next = next.min((*at).max(node.paused_until));
                    }
                    if let Some(deadline) = machine.deadline() {
                        let local = deadline
                            .as_micros()
                            .saturating_sub(7_000_000 * place as u64);
                        let at =
                            (u128::from(local) * 1_000_000).div_ceil(u128::from(node.rate)) as u64;
                        next = next.min(at.max(node.paused_until));
                    }
                }
            }
        }
        if next == u64::MAX {
            next = self.now + 10_000;
        }
        self.now = self.now.max(next);
        // Among what is due now, any.
        let ready: Vec<usize> = (0..self.flights.len())
            .filter(|i| {
                let flight = &self.flights[*i];
                flight.at <= self.now && self.nodes[flight.to.0 as usize].paused_until <= self.now
            })
            .collect();
        let due_nodes: Vec<usize> = (0..self.nodes.len())
            .filter(|place| self.is_due(*place))
            .collect();
        let choice = self.random.below((ready.len() + due_nodes.len()) as u64) as usize;
        if choice < ready.len() {
            self.deliver(ready[choice]);
        } else if let Some(place) = due_nodes.get(choice - ready.len()) {
            self.attend(*place);
        }
        self.mischief();
    }

    fn is_due(&self, place: usize) -> bool {
        let node = &self.nodes[place];
        match &node.machine {
            None => node.restart_at <= self.now,
            Some(machine) => {
                node.paused_until <= self.now
                    && (node.writes.iter().any(|(_, _, at)| *at <= self.now)
                        || machine
                            .deadline()
                            .is_some_and(|deadline| deadline <= self.clock(place)))
            }
        }
    }

    fn deliver(&mut self, index: usize) {
        let flight = if self.chance(self.breakage.repeat) {
            let flight = self.flights[index].clone();
            self.flights[index].at = self.now + self.random.below(1_000_000);
            flight
        } else {
            self.flights.swap_remove(index)
        };
        if !self.is_cut(flight.from, flight.to) {
            self.input(
                flight.to.0 as usize,
                Input::Peer(flight.from, flight.message),
            );
        }
    }

    /// The disk or the timer of a node, or its restart.
    fn attend(&mut self, place: usize) {
        if self.nodes[place].machine.is_none() {
            return self.boot(place);
        }
        if let Some(done) = self.nodes[place]
            .writes
            .iter()
            .position(|(_, _, at)| *at <= self.now)
        {
            let ticket = self.nodes[place].writes[done].0;
            self.nodes[place].write(done + 1);
            let result = if self.chance(self.breakage.unknown_write) {
                Err(Unknown)
            } else {
                Ok(())
            };
            self.input(place, Input::Reply(ticket, result));
            if self.chance(self.breakage.wrong_reply) {
                self.input(place, Input::Reply(ticket, Ok(())));
                self.input(
                    place,
                    Input::Reply(
                        Ticket {
                            number: ticket.number + 1_000,
                            ..ticket
                        },
                        Ok(()),
                    ),
                );
                self.input(
                    place,
                    Input::Reply(
                        Ticket {
                            incarnation: ticket.incarnation + 1,
                            ..ticket
                        },
                        Err(Unknown),
                    ),
                );
            }
            if self.nodes[place].machine.as_ref().is_some_and(Raft::halted) {
                self.crash(place);
                self.nodes[place].restart_at = self.now + 50_000;
            }
            return;
        }
        self.input(place, Input::Timeout);
        let clock = self.clock(place);
        if let Some(machine) = &self.nodes[place].machine
            && machine.deadline().is_some_and(|deadline| deadline <= clock)
            && self.breakage.back_in_time == 0
        {
            self.ghost.fail(
                "C2",
                format!("deadline {:?} not after {clock:?}", machine.deadline()),
            );
        }
    }

    fn mischief(&mut self) {
        // Half of the time the leader is meant, if there is one.
        let any = self.random.below(self.nodes.len() as u64) as usize;
        let place = match self.leading().first() {
            Some(leader) if self.random.below(2) == 0 => *leader,
            _ => any,
        };
        // Chances are per hundred steps of one node.
        let Breakage {
            spurious_timeout,
            whims,
            crash,
            pause,
            isolate,
            ..
        } = self.breakage;
        if self.chance(spurious_timeout) {
            self.input(place, Input::Timeout);
        }
        if self.chance(whims) {
            let to = self.random.below(2 * self.nodes.len() as u64);
            let resign = Input::Resign {
                to: (to < self.nodes.len() as u64).then_some(NodeId(to)),
            };
            let input = if self.random.below(2) == 0 {
                Input::Campaign
            } else {
                resign
            };
            self.input(place, input);
        }
        if self.chance(crash) && self.nodes[place].machine.is_some() {
            self.crash(place);
            let down = if self.random.below(2) == 0 {
                0
            } else {
                self.random.below(600_000)
            };
            self.nodes[place].restart_at = self.now + down;
        }
        if self.chance(pause) {
            self.nodes[place].paused_until = self.now + self.random.below(600_000);
        }
        if self.chance(isolate) {
            let until = self.now + self.random.below(800_000);
            let other = self.random.below(self.nodes.len() as u64) as usize;
            match self.random.below(4) {
                0 => self.cut(place, until),
                1 => self.cuts[place].fill(until),
                2 => self.cuts.iter_mut().for_each(|row| row[place] = until),
                _ => self.cuts[place][other] = until,
            }
        }
    }

    /// Steps until true time `until`, or until an invariant breaks.
    pub(crate) fn run_until(&mut self, until: u64) {
        while self.now < until && self.ghost.broken.is_none() {
            self.step();
        }
    }

    /// Steps until somebody is established, at most until `until`; who.
    pub(crate) fn run_until_leader(&mut self, until: u64) -> Option<usize> {
        while self.now < until && self.ghost.broken.is_none() {
            if let [leader] = self.leading()[..] {
                return Some(leader);
            }
            self.step();
        }
        None
    }

    /// Ends every breakage and cut, restarts what is down.
    pub(crate) fn heal(&mut self) {
        self.breakage = Breakage::default();
        let now = self.now;
        self.cuts.iter_mut().for_each(|row| row.fill(now));
        self.slow.iter_mut().for_each(|row| row.fill(0));
        for node in &mut self.nodes {
            node.paused_until = now;
            node.restart_at = now;
            // A disk that never answered is a node to restart.
            if node.writes.iter().any(|(_, _, at)| *at == u64::MAX) {
                node.machine = None;
                node.writes.clear();
                node.in_office = None;
            }
        }
    }
}
