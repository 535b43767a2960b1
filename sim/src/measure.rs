//! Figures over many seeds: how long a failover takes and where, what a minority leader believes, how many stale writes
//! get in, and how often jitter alone starts an election.

use crate::app::Takeover;
use crate::check::Check;
use crate::fault::{Action, Who};
use crate::physics::network::Weather;
use crate::scenario::{Clients, Scenario, Title};
use crate::scheme::raft::Setup;
use crate::stages::Failover;
use crate::stats::Times;
use crate::world::World;
use tenure::Duration;
use tenure::raft::{ConfigError, Timing};
use tenure::random::Random;

/// What is measured under.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// How many nodes.
    pub nodes: usize,
    /// The timeouts.
    pub timing: Timing,
    /// PreVote and CheckQuorum.
    pub safe_mode: bool,
    /// The shortest and longest latency, in microseconds.
    pub latency: (u64, u64),
    /// How often a message is lost, in parts per million.
    pub loss: u32,
    /// How long a disk takes for a write.
    pub disk_write: u64,
}

impl Default for Setting {
    fn default() -> Self {
        Self {
            nodes: 3,
            timing: Timing::default(),
            safe_mode: true,
            latency: (5_000, 10_000),
            loss: 0,
            disk_write: 1_000,
        }
    }
}

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

/// Stale writes that reached the resources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stale {
    /// How many seeds were run.
    pub runs: u64,
    /// Stale writes the unfenced resource took.
    pub unfenced: u64,
    /// Stale writes the fenced resource took.
    pub fenced: u64,
    /// Stale writes the fence turned away.
    pub turned_away: u64,
}

/// A timeline in which an old leader writes after a new one took over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timeline {
    /// (a) The old leader froze between its check and its write.
    Paused,
    /// (b) Its write was long on the way.
    Delayed,
    /// (c) The new leader fences and reads while the write of the old one is on the way, in the right order or the wrong.
    Raced(Takeover),
}

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

/// How often the client writes while times are measured: often, so that the wait for it does not hide the rest.
const EVERY: u64 = 2_000;

impl Setting {
    fn scenario(
        &self,
        seed: u64,
        duration: u64,
        clients: Clients,
    ) -> Result<Scenario, ConfigError> {
        let (latency_min, latency_max) = self.latency;
        Ok(Scenario {
            title: Title::default(),
            seed,
            nodes: self.nodes,
            timing: self.timing,
            off: Vec::new(),
            setup: Setup::new(self.nodes, self.timing, self.safe_mode, &[], seed)?,
            weather: Weather {
                latency_min,
                latency_max,
                loss: self.loss,
                duplicate: 0,
            },
            disk_write: self.disk_write,
            clients,
            leader_within: 3_000_000,
            duration,
            faults: Vec::new(),
            expect: Vec::new(),
        })
    }

    /// Long enough for a leader at the start, whatever the timeouts.
    fn settled(&self) -> u64 {
        1_000_000 + self.timing.election_max.as_micros().saturating_mul(10)
    }
}

const fn clients(every: u64) -> Clients {
    Clients {
        every,
        think: 0,
        write_delay: 0,
        takeover: Takeover::FenceFirst,
    }
}

impl Failovers {
    /// Crashes the leader of one seed at a random phase of its heartbeats.
    ///
    /// # Errors
    /// When the core refuses the setting.
    pub fn crash(&mut self, setting: &Setting, seed: u64) -> Result<(), ConfigError> {
        let at = setting.settled() + Random::from_seed(seed).below(1_000_000);
        let mut world =
            World::new(&setting.scenario(seed, at + 2 * setting.settled(), clients(EVERY))?);
        world.run_until(at);
        let before = world.stages().done().len();
        world.act(Action::Crash(Who::Leader));
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

impl Minority {
    /// Cuts the leader off with fewer than half of the nodes, in one seed.
    ///
    /// # Errors
    /// When the core refuses the setting.
    pub fn cut(&mut self, setting: &Setting, seed: u64) -> Result<(), ConfigError> {
        let at = setting.settled() + Random::from_seed(seed).below(1_000_000);
        let mut world =
            World::new(&setting.scenario(seed, at + 2 * setting.settled(), clients(25_000))?);
        world.run_until(at);
        let before = world.judges().tally(Check::BelievedLeaders).exercised;
        let with_leader = (setting.nodes - 1) / 2 - 1;
        let mut members = vec![(0, Who::Leader)];
        members.extend((0..with_leader).map(|_| (0, Who::Follower)));
        members.push((1, Who::Rest));
        world.act(Action::Partition(members));
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

impl Stale {
    /// Runs one timeline with one seed.
    ///
    /// # Errors
    /// When the core refuses the setting.
    pub fn run(
        &mut self,
        setting: &Setting,
        timeline: Timeline,
        seed: u64,
    ) -> Result<(), ConfigError> {
        // The write is under way for longer than any election takes.
        let long = setting.settled();
        let clients = match timeline {
            Timeline::Paused => Clients {
                think: 20_000,
                ..clients(25_000)
            },
            Timeline::Delayed => Clients {
                write_delay: long,
                ..clients(25_000)
            },
            // It arrives after the new leader has read, and before its first write does.
            Timeline::Raced(takeover) => Clients {
                write_delay: long,
                takeover,
                ..clients(25_000)
            },
        };
        let at = setting.settled() + Random::from_seed(seed).below(1_000_000);
        let mut world = World::new(&setting.scenario(seed, at + 3 * long, clients)?);
        world.run_until(at);
        if timeline == Timeline::Paused {
            world.act(Action::Pause(Who::Leader));
            world.run_until(at + long);
            world.act(Action::Resume(Who::Paused));
        } else {
            world.act(Action::Crash(Who::Leader));
        }
        world.run();
        let judges = world.judges();
        self.runs += 1;
        self.unfenced += judges.tally(Check::StaleWriteUnfenced).broken;
        self.fenced += judges.tally(Check::StaleWriteFenced).broken;
        self.turned_away += judges.stale_refused(0);
        Ok(())
    }

    /// Adds others.
    pub fn merge(&mut self, other: Self) {
        self.runs += other.runs;
        self.unfenced += other.unfenced;
        self.fenced += other.fenced;
        self.turned_away += other.turned_away;
    }
}

impl Jitter {
    /// Runs one seed for a while without any fault.
    ///
    /// # Errors
    /// When the core refuses the setting.
    pub fn run(&mut self, setting: &Setting, seed: u64, time: u64) -> Result<(), ConfigError> {
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

/// Timeouts of a range, with a heartbeat that fits: a third of the shortest, at most the usual.
#[must_use]
pub fn timing(election_min: u64, election_max: u64) -> Timing {
    let usual = Timing::default();
    let heartbeat = usual.heartbeat.as_micros().min(election_min / 3);
    Timing {
        election_min: Duration::from_micros(election_min),
        election_max: Duration::from_micros(election_max),
        heartbeat: Duration::from_micros(heartbeat),
        ..usual
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

    #[test]
    fn stale_writes_get_into_the_unfenced_resource_alone() {
        for timeline in [
            Timeline::Paused,
            Timeline::Delayed,
            Timeline::Raced(Takeover::FenceFirst),
        ] {
            let mut stale = Stale::default();
            for seed in 0..10 {
                stale.run(&Setting::default(), timeline, seed).unwrap();
            }
            assert!(
                stale.unfenced > 0 && stale.turned_away > 0,
                "{timeline:?} {stale:?}"
            );
            assert_eq!(stale.fenced, 0, "{timeline:?}");
        }
    }

    #[test]
    fn to_read_before_fencing_lets_them_into_the_fenced_one() {
        let mut stale = Stale::default();
        for seed in 0..10 {
            stale
                .run(
                    &Setting::default(),
                    Timeline::Raced(Takeover::ReadFirst),
                    seed,
                )
                .unwrap();
        }
        assert!(stale.fenced > 0, "{stale:?}");
    }
}
