//! A group of voters under a hostile host: any order, loss and repetition of messages, crashes, pauses, disks that lag or
//! never answer, clocks at their bound; with the invariants judged from outside, never by a node's own claim.
//!
//! One file an idea: `breakage` (what goes wrong, and what is worked meanwhile), `node` (a machine and its host), `ghost`
//! (the judge of elections), `canon` (the judge of logs); here is what makes things happen.
#![allow(dead_code)] // each test file uses its part

mod breakage;
mod canon;
mod ghost;
mod node;

pub(crate) use breakage::{Breakage, Work};
pub(crate) use ghost::Ghost;
pub(crate) use node::Node;
use node::{Load, Pending};

use tenure::quorum::Voters;
use tenure::raft::{Boot, Config, Faithful, Message, Priority, Raft, Replication, Rules, Timing};
use tenure::random::Random;
use tenure::{Duration, Election, Input, Instant, NodeId, Output, Ticket, Unknown};

/// A message on its way, with what the sender's host attached.
#[derive(Clone, Debug)]
struct Flight {
    at: u64,
    from: NodeId,
    to: NodeId,
    message: Message,
    load: Load,
}

/// The inputs of one node.
pub(crate) type Script = Vec<(Instant, Input<Message, ()>)>;

pub(crate) struct Group<R: Rules = Faithful> {
    pub(crate) nodes: Vec<Node<R>>,
    pub(crate) ghost: Ghost,
    pub(crate) now: u64,
    pub(crate) breakage: Breakage,
    pub(crate) work: Work,
    timings: Vec<Timing>,
    /// By place; ordinary at first.
    pub(crate) priorities: Vec<Priority>,
    safe_mode: bool,
    replication: Option<Replication>,
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
                Node::new(NodeId(id), rate)
            })
            .collect();
        Self {
            nodes,
            ghost: Ghost::default(),
            now: 0,
            breakage: Breakage::default(),
            work: Work::default(),
            timings,
            priorities: vec![Priority::Ordinary; voters as usize],
            safe_mode,
            replication: None,
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

    /// The same with a log, which is worked on. How much goes into one message, and how much may be on the way, is drawn:
    /// mostly little, so that there are many messages.
    pub(crate) fn with_logs(mut self) -> Self {
        let sizes = [1, 2, 3, 256];
        let batch = sizes[self.random.below(4) as usize];
        let window = sizes[self.random.below(4) as usize];
        self.replication = Some(Replication { batch, window });
        self.work = Work {
            propose: 10 + self.random.below(20),
            compact: self.random.below(8),
            transfer: self.random.below(3),
        };
        self
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
            replication: self.replication,
            priority: self.priorities[place],
            ..Config::new(node.id, voters)
        };
        let boot = Boot {
            stored: node.disk.clone(),
            incarnation: node.incarnation,
            seed: self.random.bits(),
        };
        node.machine = Some(Raft::with_rules(config, boot, now, self.rules.clone()).unwrap());
        node.remember();
    }

    pub(crate) fn boot_all(&mut self) {
        (0..self.nodes.len()).for_each(|place| self.boot(place));
    }

    /// The process dies. Of the writes that were not answered the disk has done the first few, or none, or all.
    pub(crate) fn crash(&mut self, place: usize) {
        let open = self.nodes[place].writes.len() as u64;
        if open > 0 {
            let done = self.random.below(open + 1);
            (0..done).for_each(|_| self.write(place));
        }
        self.nodes[place].die();
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
        self.judge(place);
    }

    fn judge(&mut self, place: usize) {
        self.judge_log(place);
        self.judge_belief();
    }

    /// Proposes so many entries to a node, and leaves what it asks for to be carried out later. How many it took. Users wait
    /// while much is not committed.
    fn append(&mut self, place: usize, count: u32) -> u32 {
        let now = self.clock(place);
        let node = &mut self.nodes[place];
        let few = |machine: &&mut Raft<R>| machine.last().index < machine.commit() + 30;
        let Some(machine) = node.machine.as_mut().filter(few) else {
            return 0;
        };
        let Ok(first) = machine.propose(now, count) else {
            return 0;
        };
        for index in first.index..first.index + u64::from(count) {
            let payload = self.ghost.canon.payload(node.id);
            node.memory.payloads.insert((index, first.term), payload);
        }
        count
    }

    /// Proposes one entry to a node. Whether it took it.
    pub(crate) fn propose(&mut self, place: usize) -> bool {
        let taken = self.append(place, 1) == 1;
        self.carry_out(place);
        self.judge(place);
        taken
    }

    /// A node keeps its state as of some entry, and lets go of the log up to there; one time in four, of more than it may.
    fn compact(&mut self, place: usize) {
        let now = self.clock(place);
        let beyond = self.chance(25);
        let Some(machine) = self.nodes[place].machine.as_ref() else {
            return;
        };
        if self.nodes[place].memory.applied.len() < machine.commit() as usize {
            // An application that could not follow its machine has no state to keep.
            return;
        }
        let (base, end) = (
            machine.log().base().index,
            machine.commit().min(machine.durable_index()),
        );
        let upto = if beyond {
            end + 1
        } else if end > base {
            base + 1 + self.random.below(end - base)
        } else {
            return;
        };
        let node = &mut self.nodes[place];
        if !beyond {
            node.keep_state(upto);
        }
        let taken = node.machine.as_mut().unwrap().compact(now, upto);
        assert_eq!(
            taken.is_err(),
            beyond,
            "{upto} of {end} for {base}: {taken:?}"
        );
        self.ghost.canon.compactions += u64::from(!beyond);
        self.carry_out(place);
        self.judge(place);
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
                    let load = self.load_of(place, &write);
                    self.nodes[place].writes.push(Pending {
                        ticket,
                        write,
                        load,
                        at,
                    });
                }
                Output::Send(to, message) => {
                    let from = self.nodes[place].id;
                    self.judge_send(place, to, &message);
                    let Some(load) = self.nodes[place].attach(&message) else {
                        let detail = format!("{from} sends {message:?}, which it does not have");
                        self.ghost.fail("INV-L1", detail);
                        continue;
                    };
                    if !self.chance(self.breakage.drop) {
                        let slow = self.slow[from.0 as usize][to.0 as usize];
                        let at = self.now + self.between(self.latency) + slow;
                        self.flights.push(Flight {
                            at,
                            from,
                            to,
                            message,
                            load,
                        });
                    }
                }
            }
        }
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
                    for write in &node.writes {
                        next = next.min(write.at.max(node.paused_until));
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
        self.work();
    }

    fn is_due(&self, place: usize) -> bool {
        let node = &self.nodes[place];
        match &node.machine {
            None => node.restart_at <= self.now,
            Some(machine) => {
                node.paused_until <= self.now
                    && (node.writes.iter().any(|write| write.at <= self.now)
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
            let to = flight.to.0 as usize;
            self.nodes[to].detach(&flight.message, flight.load);
            self.input(to, Input::Peer(flight.from, flight.message));
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
            .position(|write| write.at <= self.now)
        {
            let ticket = self.nodes[place].writes[done].ticket;
            let result = if self.chance(self.breakage.unknown_write) {
                Err(Unknown)
            } else {
                Ok(())
            };
            // Writes are done in ticket order. One whose end is unknown may be done or not, and then no later one is.
            let fails = result.is_err() && self.random.below(2) == 0;
            (0..done + usize::from(!fails)).for_each(|_| self.write(place));
            if fails {
                self.nodes[place].writes.clear();
            }
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
}
