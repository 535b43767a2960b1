//! A group of Raft machines under a network and disks that take no time, driven as a host would through their public API:
//! what is left to measure is the machines' own work.

use tenure::quorum::Voters;
use tenure::raft::{Boot, Config, ConfigError, Message, Raft, Role};
use tenure::{Election, Input, Instant, NodeId, Output, Standing};

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
}

/// A voter in safe mode with the default timing, which never ran before.
///
/// # Errors
/// When `voter` is not one of the `voters`.
pub fn machine(voters: &Voters, voter: NodeId, seed: u64) -> Result<Raft, ConfigError> {
    let boot = Boot {
        stored: None,
        incarnation: 1,
        seed,
    };
    Raft::new(Config::new(voter, voters.clone()), boot, Instant::ZERO)
}

/// The voters of a group: ids from 0.
#[must_use]
pub fn voters(count: usize) -> Voters {
    let ids = (0..count as u64).map(NodeId);
    Voters::new(ids).unwrap_or_else(|error| panic!("{count} voters: {error}"))
}

impl Group {
    /// Newly built machines.
    #[must_use]
    pub fn new(count: usize) -> Self {
        let voters = voters(count);
        let machines: Vec<Raft> = voters
            .ids()
            .iter()
            .map(|id| machine(&voters, *id, 1).unwrap_or_else(|error| panic!("{error}")))
            .collect();
        Self {
            deadlines: machines.iter().map(Raft::deadline).collect(),
            machines,
            now: Instant::from_millis(1),
            flight: Vec::with_capacity(count * count),
            landed: Vec::with_capacity(count * count),
            delivered: 0,
        }
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

    /// One input, and what comes of it: records are durable at once, messages depart.
    fn input(&mut self, at: usize, input: Input<Message, ()>) {
        let machine = &mut self.machines[at];
        machine.handle(self.now, input);
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
                self.input(to, Input::Peer(from, message));
            }
            self.landed = landed;
        }
    }
}
