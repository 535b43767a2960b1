//! How long a failover takes, stage by stage.

use super::{Setting, clients};
use crate::fault::{Action, Fault, Who};
use crate::scheme::Unfit;
use crate::stages::Failover;
use crate::stats::{Quantiles, Times};
use crate::world::World;
use tenure::random::Random;

/// Changes of leader, by stage.
#[derive(Clone, Debug, Default)]
pub struct Failovers {
    /// From the loss to the first candidacy.
    pub detection: Times,
    /// From there to the election.
    pub election: Times,
    /// From there to a state that has come up to the first entry of the new term, where there is a log.
    pub synchronisation: Times,
    /// From there to the permission to act.
    pub establishment: Times,
    /// From there to the first write that the fenced resource took.
    pub first_write: Times,
    /// From the permission to the first change of the store that a client hears of, where there is a log.
    pub first_acknowledged: Times,
    /// From the loss to the first write.
    pub total: Times,
    /// From the loss to the first change that a client hears of, where there is a log.
    pub total_acknowledged: Times,
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
    pub fn crash(&mut self, setting: &Setting, seed: u64) -> Result<(), Unfit> {
        let at = setting.settled() + Random::from_seed(seed).below(1_000_000);
        let mut scenario = setting.scenario(seed, at + 2 * setting.settled(), clients(EVERY))?;
        scenario.faults = vec![Fault {
            at,
            action: Action::Crash(Who::Leader),
        }];
        let mut world = World::new(&scenario);
        world.run_until(at);
        let before = world.stages().done().len();
        self.follow(&mut world, before, setting.log);
        Ok(())
    }

    /// Starts all nodes of one seed at once.
    ///
    /// # Errors
    /// When the core refuses the setting.
    pub fn cold_start(&mut self, setting: &Setting, seed: u64) -> Result<(), Unfit> {
        let mut world =
            World::new(&setting.scenario(seed, 2 * setting.settled(), clients(EVERY))?);
        self.follow(&mut world, 0, setting.log);
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
        self.synchronisation.merge(other.synchronisation);
        self.establishment.merge(other.establishment);
        self.first_write.merge(other.first_write);
        self.first_acknowledged.merge(other.first_acknowledged);
        self.total.merge(other.total);
        self.total_acknowledged.merge(other.total_acknowledged);
        self.split += other.split;
        self.unfinished += other.unfinished;
    }

    /// Runs until one more failover is done; with a log, until a client of the store heard of it.
    fn follow(&mut self, world: &mut World, before: usize, log: bool) {
        let done = |world: &World| {
            let done = world.stages().done().get(before).copied();
            done.filter(|failover| !log || failover.acknowledged_at.is_some())
        };
        while done(world).is_none() && world.now() < world.duration() {
            world.run_until(world.now() + 20_000);
        }
        match done(world) {
            Some(failover) => self.add(&failover),
            None => self.unfinished += 1,
        }
    }

    fn add(&mut self, failover: &Failover) {
        let Failover {
            lost_at,
            detected_at,
            elected_at,
            established_at,
            synchronised_at,
            written_at,
            acknowledged_at,
            suspected_at: _,
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
        let synchronised = synchronised_at.unwrap_or(elected);
        if synchronised_at.is_some() {
            self.synchronisation
                .add(synchronised.saturating_sub(elected));
        }
        self.establishment
            .add(established.saturating_sub(synchronised));
        self.first_write.add(written - established);
        self.total.add(written - lost_at);
        if let Some(acknowledged) = acknowledged_at {
            self.first_acknowledged.add(acknowledged - established);
            self.total_acknowledged.add(acknowledged - lost_at);
        }
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
    fn with_a_log_they_are_measured_to_what_a_client_of_the_store_hears() {
        let setting = Setting {
            log: true,
            ..Setting::default()
        };
        let mut failovers = Failovers::default();
        for seed in 0..20 {
            failovers.crash(&setting, seed).unwrap();
        }
        assert_eq!(failovers.unfinished, 0);
        let [synchronised, acknowledged, total] = [
            &failovers.synchronisation,
            &failovers.first_acknowledged,
            &failovers.total_acknowledged,
        ]
        .map(Times::quantiles);
        assert_eq!(
            [synchronised, acknowledged, total].map(|all| all.count),
            [20; 3]
        );
        // An entry goes to a majority and back, and waits for its disks.
        assert!(synchronised.p50 > 10_000, "{synchronised:?}");
        assert!(
            acknowledged.p50 > 0 && total.p50 > synchronised.p50,
            "{total:?}"
        );
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
