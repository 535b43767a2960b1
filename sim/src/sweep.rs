//! Many seeds: what the judges say of all of them, and whether the faults mattered.

use crate::check::{Check, Outcome, Tally, Verdict};
use crate::failure::Failure;
use crate::fault::Action;
#[cfg(feature = "peers")]
use crate::fault::Who;
use crate::marks::Mark;
use crate::physics::NEVER;
use crate::schedule::{self, ByStore, Setting};
use crate::scheme::{Unfit, lease};
use crate::stats::Times;
use crate::world::{FaultCounts, World};
use tenure::raft::Rule;

/// One seed in how many is usually run twice, to compare the traces (law W1).
pub const TWICE: u64 = 20;

/// Each mark is met by one seed in so many at least.
const EACH: u64 = 1_000;
/// The rule that the canary does without, and how many seeds it may take to be noticed. Over a store it is that a leader is
/// none any more when its time is over.
const CANARY: Rule = Rule::MajorityOfVoters;
const STORE_CANARY: tenure::lease::Rule = tenure::lease::Rule::DemoteByTimer;
/// Among ZooKeeper's servers, that an entry is acknowledged when it is synced.
#[cfg(feature = "peers")]
const ZAB_CANARY: tenure::zab::Rule = tenure::zab::Rule::AckDurable;
/// Among sentinels, that who voted for another waits.
#[cfg(feature = "peers")]
const SENTINEL_CANARY: tenure::sentinel::Rule = tenure::sentinel::Rule::WaitAfterVote;
/// Among Kafka's controllers, that more than half have to agree.
#[cfg(feature = "peers")]
const KRAFT_CANARY: tenure::kraft::Rule = tenure::kraft::Rule::MajorityOfVoters;
/// Among its brokers, that nobody is elected who is neither in the ISR nor in the ELR.
#[cfg(feature = "peers")]
const KAFKA_CANARY: tenure::isr::Rule = tenure::isr::Rule::CleanElection;
const CANARY_SEEDS: u64 = 100;

/// Within this, nearly all have a leader again.
pub const HEALED_SOON: u64 = 1_500_000;
/// Within this, all have.
const HEALED_LATE: u64 = 3_000_000;

/// How the nodes of a sweep elect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// By Raft.
    Raft,
    /// By a store.
    Store(lease::Kind),
    /// As ZooKeeper's own servers do.
    #[cfg(feature = "peers")]
    Zab,
    /// As sentinels do.
    #[cfg(feature = "peers")]
    Sentinel,
    /// As Kafka's controllers do.
    #[cfg(feature = "peers")]
    Kraft,
    /// The same, with brokers beside them.
    #[cfg(feature = "peers")]
    Kafka,
    /// By a store that is a cluster of so many servers.
    Cluster(lease::Kind, u8),
}

impl Of {
    /// As in this setting.
    #[must_use]
    pub fn setting(setting: &Setting) -> Self {
        #[cfg(feature = "peers")]
        match &setting.among {
            Some(schedule::Among::Zab(_)) => return Self::Zab,
            Some(schedule::Among::Sentinel(_)) => return Self::Sentinel,
            Some(schedule::Among::Kraft(_)) => return Self::Kraft,
            Some(schedule::Among::Kafka(_)) => return Self::Kafka,
            None => {}
        }
        match &setting.by_store {
            None => Self::Raft,
            Some(store) if store.is_cluster() => Self::Cluster(store.kind, store.servers),
            Some(store) => Self::Store(store.kind),
        }
    }

    /// Whether a check is about them.
    #[must_use]
    pub const fn judges(self, check: Check) -> bool {
        match self {
            #[cfg(feature = "peers")]
            Self::Sentinel => check.is_of_sentinels() || matches!(check, Check::LeaderAgain),
            _ if check.is_of_sentinels() => false,
            // What is hard about the controllers is looked for without brokers.
            #[cfg(feature = "peers")]
            Self::Kafka => {
                check.is_of_brokers()
                    || matches!(
                        check,
                        Check::OneLeaderPerTerm
                            | Check::OneVotePerTerm
                            | Check::LeaderAgain
                            | Check::StateMachineAgreement
                    )
            }
            _ if check.is_of_brokers() => false,
            Self::Store(kind) | Self::Cluster(kind, _) if check.is_of_controllers() => {
                kind.keeps_in_store()
            }
            _ if check.is_of_controllers() => false,
            Self::Raft => !check.is_of_broadcast() && !check.is_of_kraft(),
            Self::Store(kind) | Self::Cluster(kind, _) => {
                !check.is_of_peers() && (kind.has_tokens() || !check.is_of_tokens())
            }
            #[cfg(feature = "peers")]
            Self::Zab => !check.is_of_raft() && !check.is_of_kraft(),
            #[cfg(feature = "peers")]
            Self::Kraft => !check.is_of_broadcast(),
        }
    }

    /// Whether they can meet a situation.
    #[must_use]
    pub const fn meets(self, mark: Mark) -> bool {
        match self {
            Self::Raft => true,
            Self::Store(kind) | Self::Cluster(kind, _) => {
                !mark.is_of_raft() && (kind.has_tokens() || !mark.is_of_tokens())
            }
            #[cfg(feature = "peers")]
            Self::Zab | Self::Kraft => !mark.is_of_raft() || mark.is_of_logs(),
            // What is hard about theirs is what its judges are asked about.
            #[cfg(feature = "peers")]
            Self::Sentinel | Self::Kafka => false,
        }
    }

    /// Whether a kind of action can be done to them.
    #[must_use]
    pub const fn suffers(self, kind: usize) -> bool {
        match self {
            Self::Raft => true,
            Self::Store(_) | Self::Cluster(..) => !Action::is_of_peers(kind),
            #[cfg(feature = "peers")]
            Self::Zab | Self::Kraft | Self::Kafka => !Action::is_of_raft(kind),
            // A sentinel that may not act any more has not promoted anybody: that it is to stop is hardly ever shown.
            #[cfg(feature = "peers")]
            Self::Sentinel => {
                !Action::is_of_raft(kind) && kind != Action::Resign(Who::Leader).kind()
            }
        }
    }

    /// Whether nothing but the bound of its scenarios says when a leader comes too late.
    const fn is_late_by_its_bound(self) -> bool {
        match self {
            Self::Raft | Self::Store(_) => false,
            Self::Cluster(..) => true,
            #[cfg(feature = "peers")]
            Self::Zab | Self::Sentinel | Self::Kraft | Self::Kafka => true,
        }
    }

    /// The setting of the canary.
    fn canary(self) -> Setting {
        let by_store = |kind, servers| Setting {
            by_store: Some(ByStore {
                off: vec![STORE_CANARY],
                servers,
                ..ByStore::of(kind)
            }),
            ..Setting::default()
        };
        match self {
            Self::Raft => Setting {
                off: vec![CANARY],
                ..Setting::default()
            },
            Self::Store(kind) => by_store(kind, kind.servers()),
            Self::Cluster(kind, servers) => by_store(kind, servers),
            #[cfg(feature = "peers")]
            Self::Zab => Setting::among(schedule::Among::Zab(vec![ZAB_CANARY])),
            #[cfg(feature = "peers")]
            Self::Sentinel => Setting::among(schedule::Among::Sentinel(vec![SENTINEL_CANARY])),
            #[cfg(feature = "peers")]
            Self::Kraft => Setting::among(schedule::Among::Kraft(vec![KRAFT_CANARY])),
            #[cfg(feature = "peers")]
            Self::Kafka => Setting::among(schedule::Among::Kafka(vec![KAFKA_CANARY])),
        }
    }
}

/// What was found over some seeds.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// How they elect.
    pub of: Of,
    /// How many seeds were run.
    pub runs: u64,
    /// How many events there were.
    pub events: u64,
    /// The counts of each check, summed. By place in [`Check::ALL`]; the time of the first breakage is of no use here.
    pub tallies: [Tally; Check::ALL.len()],
    /// How many seeds met each situation, by place in [`Mark::ALL`].
    pub marks: [u64; Mark::ALL.len()],
    /// How the actions fared, summed.
    pub faults: FaultCounts,
    /// From the final healing to a leader.
    pub healed: Times,
    /// Seeds after whose final healing no leader was found within the bound.
    pub leaderless: u64,
    /// Seeds whose second run had another trace.
    pub unrepeatable: Vec<u64>,
    /// Seeds that broke something that nothing excuses, and what broke first.
    pub failing: Vec<(u64, Failure)>,
    /// Seeds in which a check could not decide, and which: neither a failure nor a pass.
    pub undecided: Vec<(u64, Check)>,
}

// Written out: arrays as long as the catalogue have no default.
impl Default for Sweep {
    fn default() -> Self {
        Self {
            of: Of::Raft,
            runs: 0,
            events: 0,
            tallies: [Tally::default(); Check::ALL.len()],
            marks: [0; Mark::ALL.len()],
            faults: FaultCounts::default(),
            healed: Times::default(),
            leaderless: 0,
            unrepeatable: Vec::new(),
            failing: Vec::new(),
            undecided: Vec::new(),
        }
    }
}

impl Sweep {
    /// Runs the schedule of a seed. What [`Setting::control`] does is no part of a sweep that should hold.
    ///
    /// # Errors
    /// As for a scenario file with the rules of the setting off.
    pub fn add(&mut self, seed: u64, setting: &Setting, twice: u64) -> Result<(), Unfit> {
        let schedule = schedule::make(seed, setting, |world| {
            world.record_histories();
            world.note_marks();
        })?;
        self.of = Of::setting(setting);
        let (world, healed) = (schedule.world, schedule.healed);
        if seed.is_multiple_of(twice) {
            let mut again = World::new(&schedule.scenario);
            again.run();
            if again.trace().hash() != world.trace().hash() {
                self.unrepeatable.push(seed);
            }
        }
        self.runs += 1;
        self.events += world.trace().count();
        for (sum, check) in self.tallies.iter_mut().zip(Check::ALL) {
            let Verdict { tally, outcome, .. } = world.verdict(check);
            sum.exercised += tally.exercised;
            sum.broken += tally.broken;
            if outcome == Outcome::Undecided {
                self.undecided.push((seed, check));
            }
        }
        self.failing
            .extend(Failure::first(&world).map(|failure| (seed, failure)));
        let met = world.marks();
        for (sum, mark) in self.marks.iter_mut().zip(Mark::ALL) {
            *sum += u64::from(met.contains(mark));
        }
        self.faults.add(&world.faults());
        match world.judges().windows().last() {
            Some((since, NEVER)) if *since == healed => self.leaderless += 1,
            Some((since, took)) if *since == healed => self.healed.add(*took),
            // The storm did nothing that had to heal.
            _ => {}
        }
        Ok(())
    }

    /// Adds what another sweep found.
    pub fn merge(&mut self, other: Self) {
        if self.runs == 0 {
            self.of = other.of;
        }
        self.runs += other.runs;
        self.events += other.events;
        for (sum, tally) in self.tallies.iter_mut().zip(other.tallies) {
            sum.exercised += tally.exercised;
            sum.broken += tally.broken;
        }
        for (sum, count) in self.marks.iter_mut().zip(other.marks) {
            *sum += count;
        }
        self.faults.add(&other.faults);
        self.healed.merge(other.healed);
        self.leaderless += other.leaderless;
        self.unrepeatable.extend(other.unrepeatable);
        self.failing.extend(other.failing);
        self.undecided.extend(other.undecided);
    }

    /// Plants a failure: seeds from here on, with a rule off that an election cannot do without. Answers the first that is
    /// reported as failing; nothing when none is, and then no sweep can be believed.
    ///
    /// # Errors
    /// Never for a rule that can be switched off.
    pub fn canary(from: u64, of: Of) -> Result<Option<(u64, Failure)>, Unfit> {
        let planted = of.canary();
        let mut sweep = Self::default();
        for seed in from..from.saturating_add(CANARY_SEEDS) {
            sweep.add(seed, &planted, TWICE)?;
            if !sweep.failing.is_empty() {
                break;
            }
        }
        Ok(sweep.failing.first().copied())
    }

    /// What is wrong with the sweep itself: checks that were never put to the test, situations that were hardly met, actions
    /// that never mattered.
    #[must_use]
    pub fn vacuous(&self) -> Vec<String> {
        let mut names = Vec::new();
        for (tally, check) in self.tallies.iter().zip(Check::ALL) {
            if tally.exercised == 0 && self.of.judges(check) {
                names.push("check ".to_owned() + check.name());
            }
        }
        let least = (self.runs / EACH).max(1);
        for (count, mark) in self.marks.iter().zip(Mark::ALL) {
            if *count < least && self.of.meets(mark) {
                names.push("mark ".to_owned() + mark.name());
            }
        }
        let kinds = self.faults.mattered.iter().zip(Action::NAMES);
        for (kind, (mattered, name)) in kinds.enumerate() {
            // No schedule damages disks or stores: that breaks what schemes rest on.
            let ours = self.of.suffers(kind);
            if *mattered == 0 && ours && !Action::is_damage(kind) && !Action::is_of_store(kind) {
                names.push("fault ".to_owned() + name);
            }
        }
        names
    }

    /// Whether leaders come back soon enough once everything is healed: 999 of 1,000 within 1.5 s, all within 3 s.
    #[must_use]
    pub fn heals_in_time(&self) -> bool {
        // The bound is that of the scenario, which waits for the attempts before.
        #[cfg(feature = "peers")]
        if self.of == Of::Sentinel {
            return self.leaderless == 0;
        }
        let all = self.healed.quantiles().count;
        // A lease has to end first: its bound is that of the scenario.
        let soon = self.of != Of::Raft || self.healed.within(HEALED_SOON) * 1_000 >= all * 999;
        let late = self.of.is_late_by_its_bound() || self.healed.within(HEALED_LATE) == all;
        self.leaderless == 0 && late && soon
    }

    /// Whether every check held, could decide, was put to the test, leaders came back in time, and every trace came out twice.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.is_clean() && self.vacuous().is_empty() && self.undecided.is_empty()
    }

    /// Whether nothing was found, be it that something was never put to the test, or could not be decided.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.heals_in_time() && self.failing.is_empty() && self.unrepeatable.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_hundred_seeds_hold_and_nothing_is_vacuous() {
        let mut sweep = Sweep::default();
        for seed in 0..300 {
            sweep.add(seed, &Setting::default(), TWICE).unwrap();
        }
        assert_eq!(sweep.failing, []);
        assert!(sweep.holds(), "{:?}", sweep.vacuous());
        assert!(sweep.healed.quantiles().count > 200);
    }

    #[test]
    fn some_hundred_seeds_over_each_store_hold_and_nothing_is_vacuous() {
        for kind in lease::Kind::ALL {
            let setting = Setting {
                by_store: Some(ByStore::of(kind)),
                ..Setting::default()
            };
            let mut sweep = Sweep::default();
            for seed in 0..300 {
                sweep.add(seed, &setting, TWICE).unwrap();
            }
            assert_eq!(sweep.failing, [], "{kind:?}");
            assert!(sweep.holds(), "{kind:?}: {:?}", sweep.vacuous());
            let (_, failure) = Sweep::canary(0, Of::Store(kind)).unwrap().unwrap();
            assert_eq!(failure.check.name(), "believed-leaders", "{kind:?}");
        }
    }

    #[test]
    fn some_hundred_seeds_over_a_cluster_hold_and_nothing_is_vacuous() {
        for kind in [
            lease::Kind::Etcd,
            lease::Kind::ZooKeeper,
            lease::Kind::Controller,
        ] {
            let setting = Setting {
                by_store: Some(ByStore {
                    servers: 3,
                    ..ByStore::of(kind)
                }),
                ..Setting::default()
            };
            let mut sweep = Sweep::default();
            for seed in 0..200 {
                sweep.add(seed, &setting, TWICE).unwrap();
            }
            assert_eq!(sweep.failing, [], "{kind:?}");
            assert!(sweep.holds(), "{kind:?}: {:?}", sweep.vacuous());
            let (_, failure) = Sweep::canary(0, Of::Cluster(kind, 3)).unwrap().unwrap();
            assert_eq!(failure.check.name(), "believed-leaders", "{kind:?}");
        }
    }

    #[test]
    fn what_could_not_be_decided_is_no_failure_and_no_pass() {
        let mut sweep = Sweep::default();
        (0..300).for_each(|seed| sweep.add(seed, &Setting::default(), TWICE).unwrap());
        assert!(sweep.holds());
        sweep.merge(Sweep {
            undecided: vec![(7, Check::LinearizableStore)],
            ..Sweep::default()
        });
        assert!(sweep.is_clean() && sweep.vacuous().is_empty() && !sweep.holds());
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
            seeds.for_each(|seed| sweep.add(seed, &Setting::default(), TWICE).unwrap());
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
    fn a_planted_failure_is_reported() {
        let (_, failure) = Sweep::canary(0, Of::Raft).unwrap().unwrap();
        assert_eq!(failure.check.name(), "one-leader-per-term");
    }

    #[test]
    fn a_mark_that_is_hardly_met_is_told() {
        let mut sweep = Sweep {
            runs: 5_000,
            marks: [5; Mark::ALL.len()],
            ..Sweep::default()
        };
        let told = |sweep: &Sweep| sweep.vacuous().contains(&"mark split-vote".to_owned());
        assert!(!told(&sweep));
        sweep.marks[Mark::SplitVote as usize] = 4;
        assert!(told(&sweep));
    }

    #[test]
    fn a_sweep_that_tested_nothing_does_not_hold() {
        assert!(!Sweep::default().holds());
    }
}
