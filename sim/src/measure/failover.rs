//! How long a failover takes, stage by stage.

use super::{Setting, clients};
use crate::fault::{Action, Fault, Who};
use crate::stages::Failover;
use crate::stats::{Quantiles, Times};
use crate::world::World;
use tenure::raft::ConfigError;
use tenure::random::Random;

/// Changes of leader, by stage.
#[derive(Clone, Debug, Default)]
pub struct Failovers {
    /// From the loss to the first candidacy.
    pub detection: Times,
    /// From there to the election.
    pub election: Times,
    /// From there to the permission to act.
    pub establishment: Times,
    /// From there to the first write that the fenced resource took.
    pub first_write: Times,
    /// From the loss to that write.
    pub total: Times,
    /// In how many more than one term was needed.
    pub split: u64,
    /// In how many no leader wrote within the time allowed.
    pub unfinished: u64,
}

/// How often the client writes while times are measured: often, so that the wait for it does not hide the rest.
const EVERY: u64 = 2_000;

impl Failovers {
    /// Crashes the leader of one seed at a random phase of its heartbeats.
    ///
    /// # Errors
    /// When the core refuses the setting.
    pub fn crash(&mut self, setting: &Setting, seed: u64) -> Result<(), ConfigError> {
        let at = setting.settled() + Random::from_seed(seed).below(1_000_000);
        let mut scenario = setting.scenario(seed, at + 2 * setting.settled(), clients(EVERY))?;
        scenario.faults = vec![Fault {
            at,
            action: Action::Crash(Who::Leader),
        }];
        let mut world = World::new(&scenario);
        world.run_until(at);
        let before = world.stages().done().len();
        self.follow(&mut world, before);
        Ok(())
    }

    /// Starts all nodes of one seed at once.
    ///
    /// # Errors
    /// When the core refuses the setting.
    pub fn cold_start(&mut self, setting: &Setting, seed: u64) -> Result<(), ConfigError> {
        let mut world =
            World::new(&setting.scenario(seed, 2 * setting.settled(), clients(EVERY))?);
        self.follow(&mut world, 0);
        Ok(())
    }

    /// Whether failovers at the usual timeouts are as quick as they have to be: half within 300 ms, 99 of 100 within
    /// 600 ms.
    #[must_use]
    pub const fn in_bounds(total: &Quantiles) -> bool {
        total.p50 <= 300_000 && total.p99 <= 600_000
    }

    /// Adds others.
    pub fn merge(&mut self, other: Self) {
        self.detection.merge(other.detection);
        self.election.merge(other.election);
        self.establishment.merge(other.establishment);
        self.first_write.merge(other.first_write);
        self.total.merge(other.total);
        self.split += other.split;
        self.unfinished += other.unfinished;
    }

    /// Runs until one more failover is done.
    fn follow(&mut self, world: &mut World, before: usize) {
        while world.stages().done().len() == before && world.now() < world.duration() {
            world.run_until(world.now() + 20_000);
        }
        match world.stages().done().get(before) {
            Some(failover) => self.add(failover),
            None => self.unfinished += 1,
        }
    }

    fn add(&mut self, failover: &Failover) {
        let Failover {
            lost_at,
            detected_at,
            elected_at,
            established_at,
            written_at,
            terms,
        } = *failover;
        let (Some(detected), Some(elected), Some(established), Some(written)) =
            (detected_at, elected_at, established_at, written_at)
        else {
            self.unfinished += 1;
            return;
        };
        self.detection.add(detected - lost_at);
        self.election.add(elected.saturating_sub(detected));
        self.establishment.add(established.saturating_sub(elected));
        self.first_write.add(written - established);
        self.total.add(written - lost_at);
        self.split += u64::from(terms > 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failovers_are_measured_by_stage() {
        let mut failovers = Failovers::default();
        let mut cold = Failovers::default();
        for seed in 0..50 {
            failovers.crash(&Setting::default(), seed).unwrap();
            cold.cold_start(&Setting::default(), seed).unwrap();
        }
        for failovers in [failovers, cold] {
            assert_eq!(
                (failovers.unfinished, failovers.total.quantiles().count),
                (0, 50)
            );
            let total = failovers.total.quantiles();
            assert!(total.p50 > 100_000 && total.p50 < 300_000, "{total:?}");
        }
    }

    #[test]
    fn slow_failovers_are_out_of_bounds() {
        let quantiles = |fast: u64, slow: u64| {
            let mut times = Times::default();
            (0..100).for_each(|place| times.add(if place < 98 { fast } else { slow }));
            times.quantiles()
        };
        assert!(Failovers::in_bounds(&quantiles(300_000, 600_000)));
        assert!(!Failovers::in_bounds(&quantiles(300_001, 600_000)));
        assert!(!Failovers::in_bounds(&quantiles(300_000, 600_001)));
    }
}
