//! What a leader does that is cut off with fewer than half of the nodes.

use super::{Setting, clients};
use crate::check::Check;
use crate::fault::{Action, Fault, Who};
use crate::scheme::Unfit;
use crate::stats::Times;
use crate::world::World;
use tenure::random::Random;

/// What a leader cut off with a minority does.
#[derive(Clone, Debug, Default)]
pub struct Minority {
    /// How many seeds were run.
    pub runs: u64,
    /// How many had two leaders to compare: the old one was cut off, a new one was established.
    pub tested: u64,
    /// Microseconds in which two believed, summed.
    pub overlap: u64,
    /// From the cut to the new leader.
    pub new_leader: Times,
}

impl Minority {
    /// Cuts the leader off with fewer than half of the nodes, in one seed.
    ///
    /// # Errors
    /// When the core refuses the setting.
    pub fn cut(&mut self, setting: &Setting, seed: u64) -> Result<(), Unfit> {
        let at = setting.settled() + Random::from_seed(seed).below(1_000_000);
        // Of fewer than three nodes there is no minority: the leader is cut off alone.
        let with_leader = (setting.nodes.saturating_sub(1) / 2).saturating_sub(1);
        let mut members = vec![(0, Who::Leader)];
        members.extend((0..with_leader).map(|_| (0, Who::Follower)));
        members.push((1, Who::Rest));
        let mut scenario = setting.scenario(seed, at + 2 * setting.settled(), clients(25_000))?;
        scenario.faults = vec![Fault {
            at,
            action: Action::Partition(members),
        }];
        let mut world = World::new(&scenario);
        world.run_until(at);
        let before = world.judges().tally(Check::BelievedLeaders).exercised;
        let old = world.leader();
        let mut new_at = None;
        while world.now() < world.duration() {
            world.run_until(world.now() + 1_000);
            let new = world
                .leader()
                .filter(|leader| Some(*leader) != old && old.is_some());
            if new.is_some() && new_at.is_none() {
                new_at = Some(world.now());
            }
        }
        self.runs += 1;
        self.tested += u64::from(world.judges().tally(Check::BelievedLeaders).exercised > before);
        self.overlap += world.judges().belief().overlap;
        if let Some(new_at) = new_at {
            self.new_leader.add(new_at - at);
        }
        Ok(())
    }

    /// Adds others.
    pub fn merge(&mut self, other: Self) {
        self.runs += other.runs;
        self.tested += other.tested;
        self.overlap += other.overlap;
        self.new_leader.merge(other.new_leader);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minority_leader_never_believes_beside_the_new_one() {
        let mut minority = Minority::default();
        for seed in 0..30 {
            minority
                .cut(
                    &Setting {
                        nodes: 5,
                        ..Setting::default()
                    },
                    seed,
                )
                .unwrap();
        }
        assert_eq!(
            (minority.runs, minority.tested, minority.overlap),
            (30, 30, 0)
        );
    }

    #[test]
    fn without_leases_it_does() {
        let mut minority = Minority::default();
        let setting = Setting {
            nodes: 5,
            safe_mode: false,
            ..Setting::default()
        };
        for seed in 0..5 {
            minority.cut(&setting, seed).unwrap();
        }
        assert!(minority.overlap > 0);
    }
}
