//! How much of what can happen a simulator reaches: coverage with a denominator.
//!
//! An exploration meets every state of a node within its bounds. Without clock values, terms and names few are left, the
//! [`Outline`]s; random schedules are held against them. What an exploration knows and no schedule reaches is a gap in the
//! schedules; what only schedules reach lies beyond the bounds.

use super::outline::Outline;
use super::setting::Setting;
use crate::node::Status;
use crate::schedule;
use crate::scheme::{Machine, Unfit};
use crate::world::World;
use std::collections::HashSet;
use std::ops::Range;

/// The outlines that random schedules reach.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// How many schedules were run: those of groups of the size that is explored.
    pub runs: u64,
    /// What they reached.
    pub outlines: HashSet<Outline>,
}

impl Coverage {
    /// Runs the random schedules of these seeds, as far as they are of groups like that of `setting`, with its rules off.
    ///
    /// # Errors
    /// When the core refuses the settings without these rules.
    pub fn of(setting: &Setting, seeds: Range<u64>) -> Result<Self, Unfit> {
        let mut coverage = Self::default();
        for seed in seeds {
            let mut scenario = schedule::random(seed)?;
            // No node of an exploration has a log that grows.
            if scenario.nodes != setting.voters || scenario.log {
                continue;
            }
            scenario.safe_mode = setting.clocks.is_some();
            let mut world = World::new(&scenario.without(&setting.off)?);
            coverage.runs += 1;
            while world.step(world.duration()) {
                coverage.look(&world);
            }
        }
        Ok(coverage)
    }

    fn look(&mut self, world: &World) {
        for node in (0..world.nodes()).filter_map(|node| world.node(node)) {
            let raft = node.machine().and_then(Machine::raft);
            let machine = raft.filter(|machine| !machine.halted());
            if let Some(machine) = machine.filter(|_| node.status() == Status::Up) {
                let (disk, now) = (node.disk(), node.clock().reads(world.now()));
                let record = disk.durable().and_then(|shelf| shelf.stored.raft());
                let record = record.map(|stored| &stored.record);
                let outline = Outline::of(machine, record, disk.pending() > 0, now);
                self.outlines.insert(outline);
            }
        }
    }

    /// What an exploration met and no schedule reached, in words, sorted.
    #[must_use]
    pub fn missing(&self, met: &HashSet<Outline>) -> Vec<String> {
        let missing = met.difference(&self.outlines);
        let mut missing: Vec<String> = missing.map(Outline::to_string).collect();
        missing.sort_unstable();
        missing
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Bounds, Clocks, explore};
    use super::*;

    fn bounds(terms: u64, ticks: u8) -> Bounds {
        Bounds {
            terms,
            crashes: 1,
            ticks,
            ..Bounds::default()
        }
    }

    /// How many node states a setting has, and how many of them some seeds reach.
    fn figures(setting: &Setting, seeds: u64) -> (usize, usize) {
        let met = explore(setting, |_| true).unwrap().outlines;
        let coverage = Coverage::of(setting, 0..seeds).unwrap();
        let missing = coverage.missing(&met);
        println!("{} schedules: {missing:#?}", coverage.runs);
        (met.len(), met.len() - missing.len())
    }

    #[test]
    fn random_schedules_reach_what_can_be_reached() {
        let election = Setting::election(3, bounds(2, u8::MAX));
        let lease = Setting::lease(3, Clocks::exact(3), bounds(1, 4));
        for setting in [election, lease] {
            let (all, reached) = figures(&setting, 1_000);
            assert_eq!(reached, all);
            let (all, reached) = figures(&setting, 1);
            assert!(reached < all, "one seed reaches it all");
        }
    }
}
