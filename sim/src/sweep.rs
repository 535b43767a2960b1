//! Many seeds: what the judges say of all of them, and whether the faults mattered.

use crate::check::{Check, Outcome, Tally};
use crate::fault::Action;
use crate::physics::NEVER;
use crate::schedule::{self, HEALED};
use crate::stats::Times;
use crate::world::{FaultCounts, World};
use tenure::raft::ConfigError;

/// One seed in how many is run twice, to compare the traces (law W1).
const TWICE: u64 = 20;

/// Within this, nearly all have a leader again.
pub const HEALED_SOON: u64 = 1_500_000;
/// Within this, all have.
const HEALED_LATE: u64 = 3_000_000;

/// What was found over some seeds.
#[derive(Clone, Debug, Default)]
pub struct Sweep {
    /// How many seeds were run.
    pub runs: u64,
    /// How many events there were.
    pub events: u64,
    /// The counts of each check, summed. By place in [`Check::ALL`]; the time of the first breakage is of no use here.
    pub tallies: [Tally; Check::ALL.len()],
    /// How the actions fared, summed.
    pub faults: FaultCounts,
    /// From the final healing to a leader.
    pub healed: Times,
    /// Seeds after whose final healing no leader was found within the bound.
    pub leaderless: u64,
    /// Seeds whose second run had another trace.
    pub unrepeatable: Vec<u64>,
    /// Seeds that broke a check that nothing excuses.
    pub failing: Vec<(u64, Check)>,
}

impl Sweep {
    /// Runs the random schedule of a seed.
    ///
    /// # Errors
    /// When the core refuses the drawn settings.
    pub fn add(&mut self, seed: u64) -> Result<(), ConfigError> {
        let scenario = schedule::random(seed)?;
        let mut world = World::new(&scenario);
        world.record_histories();
        world.run();
        if seed.is_multiple_of(TWICE) {
            let mut again = World::new(&scenario);
            again.run();
            if again.trace().hash() != world.trace().hash() {
                self.unrepeatable.push(seed);
            }
        }
        self.runs += 1;
        self.events += world.trace().count();
        for (sum, check) in self.tallies.iter_mut().zip(Check::ALL) {
            let verdict = world.verdict(check);
            sum.exercised += verdict.tally.exercised;
            sum.broken += verdict.tally.broken;
            if verdict.outcome == Outcome::Broken {
                self.failing.push((seed, check));
            }
        }
        self.faults.add(&world.faults());
        match world.judges().windows().last() {
            Some((HEALED, NEVER)) => self.leaderless += 1,
            Some((HEALED, took)) => self.healed.add(*took),
            // The storm did nothing that had to heal.
            _ => {}
        }
        Ok(())
    }

    /// Adds what another sweep found.
    pub fn merge(&mut self, other: Self) {
        self.runs += other.runs;
        self.events += other.events;
        for (sum, tally) in self.tallies.iter_mut().zip(other.tallies) {
            sum.exercised += tally.exercised;
            sum.broken += tally.broken;
        }
        self.faults.add(&other.faults);
        self.healed.merge(other.healed);
        self.leaderless += other.leaderless;
        self.unrepeatable.extend(other.unrepeatable);
        self.failing.extend(other.failing);
    }

    /// What is wrong with the sweep itself: checks that were never put to the test, actions that never mattered.
    #[must_use]
    pub fn vacuous(&self) -> Vec<String> {
        let mut names = Vec::new();
        for (tally, check) in self.tallies.iter().zip(Check::ALL) {
            if tally.exercised == 0 {
                names.push("check ".to_owned() + check.name());
            }
        }
        let kinds = self.faults.mattered.iter().zip(Action::NAMES);
        // The others break what is promised: no sweep uses them.
        for (mattered, name) in kinds.take(schedule::KINDS) {
            if *mattered == 0 {
                names.push("fault ".to_owned() + name);
            }
        }
        names
    }

    /// Whether leaders come back soon enough once everything is healed: 999 of 1,000 within 1.5 s, all within 3 s.
    #[must_use]
    pub fn heals_in_time(&self) -> bool {
        let all = self.healed.quantiles().count;
        self.leaderless == 0
            && self.healed.within(HEALED_LATE) == all
            && self.healed.within(HEALED_SOON) * 1_000 >= all * 999
    }

    /// Whether every check held, was put to the test, leaders came back in time, and every trace came out twice.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.heals_in_time()
            && self.failing.is_empty()
            && self.unrepeatable.is_empty()
            && self.vacuous().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_hundred_seeds_hold_and_nothing_is_vacuous() {
        let mut sweep = Sweep::default();
        for seed in 0..300 {
            sweep.add(seed).unwrap();
        }
        assert_eq!(sweep.failing, []);
        assert!(sweep.holds(), "{:?}", sweep.vacuous());
        assert!(sweep.healed.quantiles().count > 200);
    }

    #[test]
    fn leaders_that_come_back_late_are_told() {
        let healed = |soon: usize, late: usize, time: u64| {
            let mut sweep = Sweep::default();
            (0..soon).for_each(|_| sweep.healed.add(HEALED_SOON));
            (0..late).for_each(|_| sweep.healed.add(time));
            sweep
        };
        assert!(healed(999, 1, 3_000_000).heals_in_time());
        assert!(!healed(998, 2, 3_000_000).heals_in_time());
        assert!(!healed(999, 1, 3_000_001).heals_in_time());
        let leaderless = Sweep {
            leaderless: 1,
            ..healed(1_000, 0, 0)
        };
        assert!(!leaderless.heals_in_time());
    }

    #[test]
    fn sums_do_not_depend_on_how_the_seeds_are_shared_out() {
        let run = |seeds: std::ops::Range<u64>| {
            let mut sweep = Sweep::default();
            seeds.for_each(|seed| sweep.add(seed).unwrap());
            sweep
        };
        let whole = run(0..12);
        let mut parts = run(0..5);
        parts.merge(run(5..12));
        assert_eq!(
            (whole.events, whole.tallies, whole.faults),
            (parts.events, parts.tallies, parts.faults)
        );
        assert_eq!(whole.healed.quantiles(), parts.healed.quantiles());
    }

    #[test]
    fn a_sweep_that_tested_nothing_does_not_hold() {
        assert!(!Sweep::default().holds());
    }
}
