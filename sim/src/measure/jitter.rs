//! How often jitter alone starts an election.

use super::{Setting, clients};
use crate::scheme::Unfit;
use crate::world::World;

/// Elections that nothing but jitter started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Jitter {
    /// Virtual time, in microseconds.
    pub time: u64,
    /// Times a node asked for pre-votes.
    pub pre_candidacies: u64,
    /// Times a node voted for itself in a new term.
    pub candidacies: u64,
    /// Leaders that were deposed.
    pub depositions: u64,
    /// Microseconds without a leader.
    pub without_leader: u64,
}

impl Jitter {
    /// Runs one seed for a while without any fault.
    ///
    /// # Errors
    /// When the core refuses the setting.
    pub fn run(&mut self, setting: &Setting, seed: u64, time: u64) -> Result<(), Unfit> {
        let settled = setting.settled();
        let mut world = World::new(&setting.scenario(seed, settled + time, clients(25_000))?);
        world.run_until(settled);
        let (before, without) = (world.counts(), world.judges().belief().without_leader);
        world.run();
        let after = world.counts();
        self.time += time;
        self.pre_candidacies += after.pre_candidacies - before.pre_candidacies;
        self.candidacies += after.candidacies - before.candidacies;
        self.depositions += after.depositions - before.depositions;
        self.without_leader += world.judges().belief().without_leader - without;
        Ok(())
    }

    /// Adds others.
    pub fn merge(&mut self, other: Self) {
        self.time += other.time;
        self.pre_candidacies += other.pre_candidacies;
        self.candidacies += other.candidacies;
        self.depositions += other.depositions;
        self.without_leader += other.without_leader;
    }
}
