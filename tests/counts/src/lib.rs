//! A group of Raft machines under a network and disks that take no time, driven as a host would through their public API:
//! what is left to measure is the machines' own work.

pub mod payloads;

use payloads::Payloads;
use tenure::quorum::Voters;
use tenure::raft::{Boot, Config, ConfigError, Message, Raft, Replication, Role, Served};
use tenure::{Duration, Election, Input, Instant, NodeId, Output, Standing};

/// What passes between two calls of a host that has work for a leader.
const STEP: Duration = Duration::from_micros(1);

/// What is on its way: for whom (by place), from whom, what.
type Mail = (usize, NodeId, Message);

/// The machines, and what a host keeps beside them.
pub struct Group {
    machines: Vec<Raft>,
    /// What a host waits for: asked of a machine after every input to it.
    deadlines: Vec<Option<Instant>>,
    now: Instant,
    flight: Vec<Mail>,
    /// The flight before, empty, kept for its memory.
    landed: Vec<Mail>,
    delivered: u64,
    /// What travels beside the messages, where somebody asked for that.
    payloads: Option<Payloads>,
}

/// A voter in safe mode with the default timing, which never ran before.
///
/// # Errors
/// When `voter` is not one of the `voters`.
pub fn machine(
    voters: &Voters,
    voter: NodeId,
    replication: Option<Replication>,
    seed: u64,
) -> Result<Raft, ConfigError> {
    let config = Config {
        replication,
        ..Config::new(voter, voters.clone())
    };
    let boot = Boot {
        stored: None,
        incarnation: 1,
        seed,
    };
    Raft::new(config, boot, Instant::ZERO)
}

/// The voters of a group: ids from 0.
#[must_use]
pub fn voters(count: usize) -> Voters {
    let ids = (0..count as u64).map(NodeId);
    Voters::new(ids).unwrap_or_else(|error| panic!("{count} voters: {error}"))
}

impl Group {
    /// Newly built machines that elect and nothing more.
    #[must_use]
    pub fn new(count: usize) -> Self {
        Self::built(count, None)
    }

    /// Newly built machines that replicate a log.
    #[must_use]
    pub fn with_log(count: usize) -> Self {
        Self::built(count, Some(Replication::default()))
    }

    fn built(count: usize, replication: Option<Replication>) -> Self {
        let voters = voters(count);
        let build = |id: &NodeId| machine(&voters, *id, replication, 1);
        let machines: Vec<Raft> = voters
            .ids()
            .iter()
            .map(|id| build(id).unwrap_or_else(|error| panic!("{error}")))
            .collect();
        Self {
            deadlines: machines.iter().map(Raft::deadline).collect(),
            machines,
            now: Instant::from_millis(1),
            flight: Vec::with_capacity(count * count),
            landed: Vec::with_capacity(count * count),
            delivered: 0,
            payloads: None,
        }
    }

    /// The same, which carries a payload beside each entry.
    #[must_use]
    pub fn carrying(mut self) -> Self {
        self.payloads = Some(Payloads::new(self.machines.len()));
        self
    }

    /// Makes the first machine the established leader whom all follow.
    pub fn elect(&mut self) {
        self.input(0, Input::Campaign);
        self.settle();
    }

    /// The leader's deadline comes: a round of heartbeats and the answers to it.
    pub fn heartbeat(&mut self) {
        self.now = self.deadlines[0].unwrap_or(self.now);
        self.input(0, Input::Timeout);
        self.settle();
    }

    /// Clients bring `entries` to the leader, each with a call of its own, and they are replicated: in the end every disk
    /// has them, and every machine knows that they are committed.
    pub fn replicate(&mut self, entries: u32) {
        self.step();
        for _ in 0..entries {
            self.propose(1);
        }
        self.drain(0);
        self.settle();
    }

    /// As [`replicate`](Self::replicate), by a host that gathers what its clients bring and proposes it with one call.
    pub fn replicate_gathered(&mut self, entries: u32) {
        self.step();
        self.propose(entries);
        self.drain(0);
        self.settle();
    }

    /// Clients ask the leader for `reads`, each with a call of its own, and one round confirms all. How many were confirmed.
    pub fn read(&mut self, reads: u32) -> u64 {
        self.step();
        let mut newest = 0;
        for _ in 0..reads {
            newest = self.machines[0].read(self.now).unwrap_or(0);
        }
        self.drain(0);
        self.settle();
        let before = newest - u64::from(reads);
        let mut served = before;
        while let Some(Served::Ready { upto, .. }) = self.machines[0].poll_read() {
            served = upto;
        }
        served - before
    }

    /// Up to where every machine knows the log to be committed; 0 when one of them lacks a payload that was carried.
    #[must_use]
    pub fn committed(&self) -> u64 {
        let all = self.machines.iter().map(Raft::commit);
        let index = all.min().unwrap_or_default();
        let lacks = |payloads: &Payloads| !payloads.everywhere(index);
        if self.payloads.as_ref().is_some_and(lacks) {
            return 0;
        }
        index
    }

    /// Whether the leader is due: it is asked.
    #[must_use]
    pub fn due(&self, now: Instant) -> bool {
        self.machines[0]
            .deadline()
            .is_some_and(|deadline| deadline <= now)
    }

    /// Whether the first machine leads, established, and all others follow it.
    #[must_use]
    pub fn led(&self) -> bool {
        let (leader, followers) = (&self.machines[0], &self.machines[1..]);
        let follows = |machine: &Raft| matches!(machine.standing(self.now), Standing::Following(of) if of.node == leader.id());
        leader.role() == Role::Leader
            && matches!(leader.standing(self.now), Standing::Leading(_))
            && followers.iter().all(follows)
    }

    /// How many messages arrived so far.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// The machines, taken out of the group.
    #[must_use]
    pub fn into_machines(self) -> Vec<Raft> {
        self.machines
    }

    /// Time passes, and what is due is done.
    fn step(&mut self) {
        self.now = self.now + STEP;
        if self.deadlines[0].is_some_and(|deadline| deadline <= self.now) {
            self.input(0, Input::Timeout);
            self.settle();
        }
    }

    fn propose(&mut self, entries: u32) {
        let first = self.machines[0].propose(self.now, entries);
        let first = first.unwrap_or_else(|error| panic!("{error}")).index;
        if let Some(payloads) = &mut self.payloads {
            for index in first..first + u64::from(entries) {
                payloads.keep(0, index);
            }
        }
    }

    /// One input, and what comes of it.
    fn input(&mut self, at: usize, input: Input<Message, ()>) {
        self.machines[at].handle(self.now, input);
        self.drain(at);
    }

    /// What a machine asks for: writes are durable at once, messages depart.
    fn drain(&mut self, at: usize) {
        let machine = &mut self.machines[at];
        while let Some(output) = machine.poll() {
            match output {
                Output::Event(_) => {}
                Output::Request(ticket, _) => {
                    machine.handle(self.now, Input::Reply(ticket, Ok(())));
                }
                // Ids are places here.
                Output::Send(to, message) => {
                    self.flight.push((to.0 as usize, machine.id(), message))
                }
            }
        }
        self.deadlines[at] = machine.deadline();
    }

    /// Delivers until nobody says anything more.
    fn settle(&mut self) {
        while !self.flight.is_empty() {
            std::mem::swap(&mut self.flight, &mut self.landed);
            let mut landed = std::mem::take(&mut self.landed);
            self.delivered += landed.len() as u64;
            for (to, from, message) in landed.drain(..) {
                if let (Some(payloads), Message::Append { prev, entries, .. }) =
                    (&mut self.payloads, &message)
                {
                    payloads.carry(from.0 as usize, to, prev.index, entries.count());
                }
                self.input(to, Input::Peer(from, message));
            }
            self.landed = landed;
        }
    }
}
