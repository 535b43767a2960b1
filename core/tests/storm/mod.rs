//! Everything at once: a group whose host, network, disks and clocks do their worst while entries are proposed, members
//! change, leadership moves, logs are compacted and reads of every kind are asked; and a judge that looks at disks, messages
//! and true time from outside.

mod judge;
mod mischief;

pub(crate) use judge::Judge;

use std::collections::BTreeMap;
use tenure::log::{Position, Shape};
use tenure::quorum::Voters;
use tenure::raft::{
    Boot, Config, Message, Priority, Raft, Replication, Role, Rules, Served, Stored, Timing, Write,
};
use tenure::random::Random;
use tenure::{Duration, Election, Input, Instant, NodeId, Output, Ticket, Unknown};

/// How many nodes there are in all; the first of them found the group.
pub(crate) const NODES: usize = 8;

pub(crate) struct Node<R: Rules> {
    pub(crate) machine: Option<Raft<R>>,
    pub(crate) disk: Stored,
    /// What the disk was asked in this life and has not done: when it will have.
    writes: Vec<(u64, Ticket, Write)>,
    lives: u64,
    timing: Timing,
    rate: u64,
    offset: u64,
    paused_until: u64,
    /// What arrived in the pause.
    inbox: Vec<(NodeId, Message)>,
    restart_at: u64,
    /// Its disk does nothing until then.
    stuck_until: u64,
    /// How late its host looks at a deadline.
    late: u64,
    // What the judge remembers of this life.
    judged: u64,
    seen: Shape,
    led: Option<(u64, Position)>,
    elected: bool,
    reads: BTreeMap<u64, u64>,
    served: u64,
}

struct Flight {
    from: usize,
    to: usize,
    message: Message,
}

/// How bad a schedule is.
struct Weather {
    latency: (u64, u64),
    /// In a thousand.
    loss: u64,
    tail: u64,
    repeat: u64,
    write: (u64, u64),
    /// How long until the next, in the mean: half of it.
    mischief: u64,
    work: u64,
    clocks_begin_anew: bool,
    mixed: bool,
    lazy: u64,
    /// What happens is aimed at leases.
    leases: bool,
    /// Without it neither leases nor pre-votes.
    safe: bool,
}

pub(crate) struct Storm<R: Rules> {
    pub(crate) nodes: Vec<Node<R>>,
    flights: BTreeMap<(u64, u64), Flight>,
    sent: u64,
    /// Messages of any age, to be delivered again.
    old: Vec<Flight>,
    cuts: [[u64; NODES]; NODES],
    slow: [[u64; NODES]; NODES],
    pub(crate) now: u64,
    pub(crate) judge: Judge,
    founders: u64,
    flow: Replication,
    rate_bound: u32,
    random: Random,
    rules: R,
    weather: Weather,
    calm: bool,
}

impl<R: Rules> Storm<R> {
    pub(crate) fn new(seed: u64, rules: R) -> Self {
        let mut random = Random::from_seed(seed ^ 0x5ce9_71c5);
        let mut pick = |of: &[u64]| of[random.below(of.len() as u64) as usize];
        let founders = pick(&[1, 2, 3, 3, 3, 4, 5]);
        let flow = Replication {
            batch: pick(&[1, 2, 3, 8, 256]),
            window: pick(&[1, 2, 5, 16, 4096]),
        };
        let rate_bound = pick(&[0, 10_000, 10_000, 100_000]) as u32;
        let weather = Weather {
            latency: [(200, 2_000), (500, 8_000), (1_000, 30_000), (5_000, 60_000)]
                [pick(&[0, 1, 1, 2, 3]) as usize],
            loss: pick(&[0, 10, 50, 200]),
            tail: pick(&[0, 10, 50]),
            repeat: pick(&[0, 20, 100]),
            write: [(50, 500), (100, 3_000), (1_000, 40_000)][pick(&[0, 1, 1, 2]) as usize],
            mischief: pick(&[20_000, 60_000, 150_000, 300_000, 800_000]),
            work: pick(&[5_000, 15_000, 50_000]),
            clocks_begin_anew: pick(&[0, 0, 1]) == 1,
            mixed: pick(&[0, 1]) == 1,
            lazy: pick(&[0, 0, 0, 20, 100]),
            leases: pick(&[0, 0, 1]) == 1,
            safe: pick(&[1, 1, 1, 1, 1, 1, 1, 0]) == 1,
        };
        let mut storm = Self {
            nodes: Vec::new(),
            flights: BTreeMap::new(),
            sent: 0,
            old: Vec::new(),
            cuts: [[0; NODES]; NODES],
            slow: [[0; NODES]; NODES],
            now: 1_000,
            judge: Judge::new(founders, weather.safe),
            founders,
            flow,
            rate_bound,
            random,
            rules,
            weather,
            calm: false,
        };
        for place in 0..NODES {
            let rho = u64::from(rate_bound);
            let rate = match storm.random.below(3) {
                0 => 1_000_000 - rho,
                1 => 1_000_000 + rho,
                _ => 1_000_000 - rho + storm.random.below(2 * rho + 1),
            };
            let timing = storm.draw_timing();
            let offset = 10_000_000 + storm.random.below(1_000_000_000);
            storm.nodes.push(Node {
                machine: None,
                disk: Stored::default(),
                writes: Vec::new(),
                lives: 0,
                timing,
                rate,
                offset,
                paused_until: 0,
                inbox: Vec::new(),
                restart_at: 0,
                stuck_until: 0,
                late: 0,
                judged: 0,
                seen: Shape::new(),
                led: None,
                elected: false,
                reads: BTreeMap::new(),
                served: 0,
            });
            storm.boot(place);
        }
        storm
    }

    fn draw_timing(&mut self) -> Timing {
        let min = match self.weather.mixed {
            true => [100, 150, 250, 400][self.random.below(4) as usize],
            false => 150,
        };
        Timing {
            election_min: Duration::from_millis(min),
            election_max: Duration::from_millis(min + [1, 50, min][self.random.below(3) as usize]),
            heartbeat: Duration::from_millis([15, 30][self.random.below(2) as usize]),
            rate_bound: self.rate_bound,
            grain: Duration::from_micros([1, 1, 1_000, 7_000][self.random.below(4) as usize]),
        }
    }

    fn chance(&mut self, in_a_thousand: u64) -> bool {
        self.random.below(1_000) < in_a_thousand
    }

    fn within(&mut self, (low, high): (u64, u64)) -> u64 {
        low + self.random.below(high - low + 1)
    }

    fn any(&mut self) -> usize {
        self.random.below(NODES as u64) as usize
    }

    /// What the clock of a node shows: its grain, which is its own, behind at most.
    pub(crate) fn clock(&self, place: usize) -> Instant {
        let node = &self.nodes[place];
        let passed = u128::from(self.now) * u128::from(node.rate) / 1_000_000;
        let shown = passed as u64 + node.offset;
        Instant::from_micros(shown - shown % node.timing.grain.as_micros())
    }

    /// When the clock of a node first shows `at`.
    fn true_time(&self, place: usize, at: Instant) -> u64 {
        let node = &self.nodes[place];
        let grain = node.timing.grain.as_micros();
        let local = at.as_micros().div_ceil(grain).saturating_mul(grain);
        let local = u128::from(local.saturating_sub(node.offset));
        (local * 1_000_000).div_ceil(u128::from(node.rate)) as u64
    }

    fn boot(&mut self, place: usize) {
        if self.nodes[place].lives > 0 {
            if self.weather.clocks_begin_anew {
                self.nodes[place].offset = 10_000_000 + self.random.below(1_000_000_000);
            }
            if self.weather.mixed && self.chance(500) {
                self.nodes[place].timing = self.draw_timing();
            }
        }
        let (now, seed) = (self.clock(place), self.random.bits());
        let priority = [Priority::Ordinary, Priority::Preferred, Priority::Reluctant]
            [self.random.below(3) as usize];
        let voters = Voters::new((0..self.founders).map(NodeId)).unwrap();
        let node = &mut self.nodes[place];
        node.lives += 1;
        let config = Config {
            timing: node.timing,
            priority,
            replication: Some(self.flow),
            safe_mode: self.weather.safe,
            ..Config::new(NodeId(place as u64), voters)
        };
        let boot = Boot {
            stored: (node.lives > 1).then(|| node.disk.clone()),
            incarnation: node.lives,
            seed,
        };
        let machine = Raft::with_rules(config, boot, now, self.rules.clone()).unwrap();
        node.judged = machine.commit();
        node.seen = Shape::new();
        node.machine = Some(machine);
        self.judge_node(place);
    }

    fn crash(&mut self, place: usize) {
        let delay = [0, 1_000, 50_000, 400_000][self.random.below(4) as usize];
        let node = &mut self.nodes[place];
        node.machine = None;
        node.writes.clear();
        node.inbox.clear();
        node.reads.clear();
        (node.paused_until, node.stuck_until, node.late) = (0, 0, 0);
        (node.led, node.elected, node.served) = (None, false, 0);
        node.restart_at = self.now + delay;
    }

    /// Something happens to a node, whose host then drains, as a rule.
    fn act<T>(&mut self, place: usize, act: impl FnOnce(&mut Raft<R>, Instant) -> T) -> Option<T> {
        let now = self.clock(place);
        let machine = self.nodes[place].machine.as_mut()?;
        let done = act(machine, now);
        self.judge_node(place);
        self.drain(place);
        self.judge_node(place);
        if self.nodes[place].machine.as_ref().is_some_and(Raft::halted) {
            self.judge.mark("halted");
            self.crash(place);
        }
        Some(done)
    }

    fn input(&mut self, place: usize, input: Input<Message, ()>) {
        let timeout = input == Input::Timeout;
        self.act(place, |machine, now| machine.handle(now, input));
        // Law C2.
        if timeout && self.weather.lazy == 0 {
            let now = self.clock(place);
            if let Some(machine) = &self.nodes[place].machine
                && machine.deadline().is_some_and(|deadline| deadline <= now)
            {
                self.judge
                    .fail("C2", format!("{} is due again at once", place));
            }
        }
    }

    fn drain(&mut self, place: usize) {
        loop {
            if !self.calm && self.chance(self.weather.lazy) {
                return;
            }
            let Some(output) = self.nodes[place].machine.as_mut().and_then(Election::poll) else {
                break;
            };
            self.carry_out(place, output);
            if !self.calm && self.random.below(20_000) == 0 {
                self.judge.mark("crash within a drain");
                return self.crash(place);
            }
        }
        while let Some(served) = self.nodes[place].machine.as_mut().and_then(Raft::poll_read) {
            self.judge_served(place, served);
        }
    }

    fn carry_out(&mut self, place: usize, output: Output<Message, Write>) {
        match output {
            Output::Event(event) => self.judge_event(place, event),
            Output::Request(ticket, write) => {
                self.judge_write(&write);
                let takes = self.within(self.weather.write);
                let node = &mut self.nodes[place];
                // In order, whatever each takes alone.
                let last = node.writes.last().map_or(0, |write| write.0);
                let at = last.max(self.now + takes).max(node.stuck_until);
                node.writes.push((at, ticket, write));
            }
            Output::Send(to, message) => {
                self.judge_send(place, to, &message);
                let to = to.0 as usize;
                self.launch(place, to, message);
            }
        }
    }

    fn launch(&mut self, from: usize, to: usize, message: Message) {
        let (loss, tail, repeat) = (self.weather.loss, self.weather.tail, self.weather.repeat);
        if to >= NODES || (!self.calm && (self.chance(loss) || self.cuts[from][to] > self.now)) {
            return;
        }
        let mut at = self.now + self.within(self.weather.latency);
        if !self.calm {
            at += self.slow[from][to];
            if self.chance(tail) {
                at += self.random.below(600_000);
            }
            if self.chance(repeat) {
                let message = message.clone();
                let at = self.now + self.random.below(300_000);
                self.fly(at, Flight { from, to, message });
            }
            if self.chance(30) {
                let message = message.clone();
                let flight = Flight { from, to, message };
                if self.old.len() < 64 {
                    self.old.push(flight);
                } else {
                    let place = self.random.below(64) as usize;
                    self.old[place] = flight;
                }
            }
        }
        self.fly(at, Flight { from, to, message });
    }

    fn fly(&mut self, at: u64, flight: Flight) {
        self.sent += 1;
        self.flights.insert((at, self.sent), flight);
    }

    /// What happens next, until `end`.
    pub(crate) fn run_until(&mut self, end: u64) {
        let (mut mischief, mut work) = (self.now, self.now);
        while self.judge.broken.is_none() {
            #[derive(Clone, Copy)]
            enum Due {
                Mischief,
                Work,
                Flight,
                Write(usize),
                Timer(usize),
                Thaw(usize),
                Restart(usize),
            }
            let mut next = (end, None);
            let mut offer = |at: u64, due: Due| {
                if at < next.0 {
                    next = (at, Some(due));
                }
            };
            if !self.calm {
                offer(mischief, Due::Mischief);
                offer(work, Due::Work);
            }
            if let Some(((at, _), _)) = self.flights.first_key_value() {
                offer(*at, Due::Flight);
            }
            for (place, node) in self.nodes.iter().enumerate() {
                if let Some((at, ..)) = node.writes.first() {
                    offer(*at, Due::Write(place));
                }
                let Some(machine) = &node.machine else {
                    offer(node.restart_at, Due::Restart(place));
                    continue;
                };
                if node.paused_until > self.now {
                    offer(node.paused_until, Due::Thaw(place));
                } else if let Some(deadline) = machine.deadline() {
                    offer(
                        self.true_time(place, deadline) + node.late,
                        Due::Timer(place),
                    );
                }
            }
            let (at, Some(due)) = next else {
                self.now = self.now.max(end);
                return;
            };
            self.now = self.now.max(at);
            match due {
                Due::Mischief => {
                    mischief = self.now + 1 + self.random.below(self.weather.mischief);
                    self.make_mischief();
                }
                Due::Work => {
                    work = self.now + 1 + self.random.below(self.weather.work);
                    self.work();
                }
                Due::Flight => {
                    let Some((_, Flight { from, to, message })) = self.flights.pop_first() else {
                        continue;
                    };
                    if self.nodes[to].paused_until > self.now {
                        if self.nodes[to].inbox.len() < 200 {
                            self.nodes[to].inbox.push((NodeId(from as u64), message));
                        }
                    } else {
                        self.input(to, Input::Peer(NodeId(from as u64), message));
                    }
                }
                Due::Write(place) => self.write(place),
                Due::Timer(place) => {
                    if !self.calm && self.chance(100) {
                        self.nodes[place].late = self.random.below(60_000);
                    } else {
                        self.nodes[place].late = 0;
                    }
                    self.input(place, Input::Timeout);
                }
                Due::Thaw(place) => {
                    self.nodes[place].paused_until = 0;
                    let inbox = core::mem::take(&mut self.nodes[place].inbox);
                    for (from, message) in inbox {
                        self.input(place, Input::Peer(from, message));
                    }
                }
                Due::Restart(place) => self.boot(place),
            }
        }
    }

    /// The disk does its next write and, as a rule, says so.
    fn write(&mut self, place: usize) {
        let (_, ticket, write) = self.nodes[place].writes.remove(0);
        let unknown = !self.calm && self.random.below(3_000) == 0;
        if unknown && self.chance(500) {
            return self.input(place, Input::Reply(ticket, Err(Unknown)));
        }
        let before = self.nodes[place].disk.record.term;
        if self.nodes[place].disk.apply(&write).is_err() {
            self.judge
                .fail("disk", format!("{place} asked for {write:?}"));
        }
        if self.nodes[place].disk.record.term < before {
            self.judge
                .fail("INV-E3", format!("the term of {place} fell"));
        }
        if !self.calm && self.random.below(500) == 0 {
            // Written, and nobody was told.
            self.judge.mark("crash after a write");
            return self.crash(place);
        }
        if !self.calm && self.chance(30) && !self.nodes[place].writes.is_empty() {
            // Told with the next.
            return;
        }
        if self.nodes[place].paused_until > self.now {
            // Seen after the pause, with a later one; never when there is none.
            let node = &mut self.nodes[place];
            let (record, log) = (node.disk.record, tenure::raft::LogWrite::Keep);
            let again = (node.paused_until, ticket, Write { record, log });
            return node.writes.insert(0, again);
        }
        let result = if unknown { Err(Unknown) } else { Ok(()) };
        self.input(place, Input::Reply(ticket, result));
        if !self.calm && self.chance(10) {
            let number = 1 + self.random.below(ticket.number + 1);
            let incarnation = ticket.incarnation - self.random.below(2);
            // A reply again, of this life or the last; never one to come.
            let ticket = Ticket {
                incarnation,
                number: number.min(ticket.number),
            };
            self.input(place, Input::Reply(ticket, Ok(())));
        }
    }

    fn judge_served(&mut self, place: usize, served: Served) {
        let (upto, index) = match served {
            Served::Ready { upto, index } => (upto, index),
            Served::LeaderLost { upto } => (upto, u64::MAX),
        };
        let node = &mut self.nodes[place];
        if upto <= node.served {
            self.judge.fail("reads", format!("{place}: {upto} again"));
        }
        node.served = upto;
        let rest = node.reads.split_off(&(upto + 1));
        let done = core::mem::replace(&mut node.reads, rest);
        for (number, newest) in done {
            if index < newest {
                let detail = format!("read {number} of {place}: {index}, below {newest}");
                self.judge.fail("INV-R2", detail);
            }
            self.judge.mark(if index == u64::MAX {
                "read failed"
            } else {
                "read"
            });
        }
    }

    /// All is well from now on: somebody leads soon, decides, and everybody who takes part comes to the same.
    pub(crate) fn heal(&mut self) {
        if self.judge.broken.is_some() {
            return;
        }
        self.calm = true;
        self.weather.latency = (500, 5_000);
        self.weather.write = (100, 2_000);
        for node in &mut self.nodes {
            (node.stuck_until, node.late) = (0, 0);
            node.paused_until = node.paused_until.min(self.now);
            node.restart_at = node.restart_at.min(self.now);
            for write in &mut node.writes {
                write.0 = write.0.min(self.now + 2_000);
            }
        }
        // What was held in a pause, and what lies in a lazy host.
        for place in 0..NODES {
            for (from, message) in core::mem::take(&mut self.nodes[place].inbox) {
                self.input(place, Input::Peer(from, message));
            }
            self.act(place, |_, _| ());
        }
        let (began, mut proposed, mut settled) = (self.now, None, 0);
        while self.judge.broken.is_none() {
            self.run_until(self.now + 20_000);
            if self.now - began > 40_000_000 {
                let state = self.describe();
                self.judge.fail("INV-V1", format!("not well {state}"));
                return;
            }
            let Some((leader, term)) = self.agreed() else {
                settled = 0;
                continue;
            };
            match proposed {
                Some(at) if at == term => {}
                _ => {
                    if self.act(leader, |machine, now| machine.propose(now, 1).is_ok())
                        == Some(true)
                    {
                        proposed = Some(term);
                    }
                    continue;
                }
            }
            settled += 1;
            if settled < 60 {
                continue;
            }
            break;
        }
        if self.judge.broken.is_some() {
            return;
        }
        self.judge.mark("well again");
        for place in 0..NODES {
            let node = &self.nodes[place];
            let machine = node.machine.as_ref().unwrap();
            let member = machine.membership().place(NodeId(place as u64)).is_some();
            if machine.pending() > 0 && machine.role() != Role::Candidate {
                self.judge.fail("C6", format!("{place} has writes open"));
            } else if !node.reads.is_empty() && member {
                self.judge
                    .fail("reads", format!("{place} has reads open: {:?}", node.reads));
            }
        }
    }

    /// Who leads, when all who take part agree about everything.
    fn agreed(&self) -> Option<(usize, u64)> {
        let leader = self.leader()?;
        let leads = self.nodes[leader].machine.as_ref()?;
        let end = leads.commit();
        let newest = leads.membership();
        let well = leads.established() && leads.last().index == end && !newest.is_joint();
        let follows = newest.ids().all(|id| {
            let machine = self.nodes[id.0 as usize].machine.as_ref();
            machine.is_some_and(|machine| {
                machine.leader() == Some(NodeId(leader as u64))
                    && machine.term() == leads.term()
                    && machine.commit() == end
                    && machine.last() == leads.last()
                    && machine.durable_index() == end
                    && machine.membership() == newest
            })
        });
        (well && follows).then_some((leader, leads.term()))
    }

    fn describe(&self) -> String {
        let mut told = String::new();
        for node in &self.nodes {
            if let Some(machine) = &node.machine {
                told += &format!(
                    "\n  {} {:?} term {} leader {:?} log {:?}..{:?} commit {} durable {} pending {} removed {:?} {:?}",
                    machine.id(),
                    machine.role(),
                    machine.term(),
                    machine.leader(),
                    machine.log().base(),
                    machine.last(),
                    machine.commit(),
                    machine.durable_index(),
                    machine.pending(),
                    machine.removed(),
                    machine.membership().members(),
                );
            }
        }
        told
    }
}
