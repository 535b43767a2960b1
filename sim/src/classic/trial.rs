//! The settings in which the classics are compared, and what is measured in them.

use super::bench::{Bench, LATENCY, millis};
use super::judge::Counts;
use super::{Classic, Expected, Law, Rule, Switched, Timing, ballot, bully, raft, ring};
use crate::check::{Outcome, Tally};
use crate::physics::weather::Weather;
use crate::scenario::Scenario;
use crate::scheme::raft::Setup as RaftSetup;
use crate::stats::Times;
use tenure::random::Random;

/// Until then everybody started and somebody leads; from then on the fault is looked at.
const SETTLED: u64 = millis(5_000);
/// For so long.
const WATCHED: u64 = millis(30_000);
/// Changes of leader that long after the fault are no consequence of it: the algorithm does not come to rest.
const GRACE: u64 = millis(5_000);
/// A crashed node is back after this.
const BACK: u64 = millis(10_000);
/// Once everything is healed, there is a leader within this.
const AGAIN: u64 = millis(10_000);

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// The bully, as in books.
    Bully,
    /// The bully with an epoch and a majority.
    BullyGuarded,
    /// The ring.
    Ring,
    /// Ballot leader election.
    Ballot,
    /// The same with ballots that are told on (haraldng/omnipaxos#1).
    BallotGossip,
    /// The core's Raft without PreVote and `CheckQuorum`.
    RaftPlain,
    /// The core's Raft.
    Raft,
}

impl Algorithm {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Bully,
        Self::BullyGuarded,
        Self::Ring,
        Self::Ballot,
        Self::BallotGossip,
        Self::RaftPlain,
        Self::Raft,
    ];

    /// Its name in tables and arguments.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bully => "bully",
            Self::BullyGuarded => "bully-guarded",
            Self::Ring => "ring",
            Self::Ballot => "ble",
            Self::BallotGossip => "ble-gossip",
            Self::RaftPlain => "raft-plain",
            Self::Raft => "raft",
        }
    }

    /// What it is, in a line.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::Bully => "the highest number leads",
            Self::BullyGuarded => {
                "the same, with an epoch that a majority grants, and its answers to stay"
            }
            Self::Ring => "the highest number leads, asked around a ring that is repaired",
            Self::Ballot => {
                "ballot leader election: who reaches a quorum leads, with the promise of Sequence Paxos"
            }
            Self::BallotGossip => {
                "the same as it once was, with ballots that are told on (haraldng/omnipaxos#1)"
            }
            Self::RaftPlain => "the core's Raft without PreVote and CheckQuorum, to compare with",
            Self::Raft => "the core's Raft, to compare with",
        }
    }
}

/// What is done to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trial {
    /// Nothing: all start at once, and every message takes equally long.
    Calm,
    /// The leader crashes, and is back 10 s later.
    Crash,
    /// The leader is cut off with one of the four others.
    Partition,
    /// The leader stands still for 0.6 to 1.2 s, again and again.
    Slow,
    /// Three nodes: the leader and another lose each other, and both reach the third.
    Chain,
    /// All links are cut but those of one node that does not lead: it alone reaches a quorum.
    Star,
}

impl Trial {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Calm,
        Self::Crash,
        Self::Partition,
        Self::Slow,
        Self::Chain,
        Self::Star,
    ];

    /// Its name in tables and arguments.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Calm => "no-fault",
            Self::Crash => "leader-crash",
            Self::Partition => "partition",
            Self::Slow => "slow-leader",
            Self::Chain => "chain",
            Self::Star => "star",
        }
    }

    /// How many nodes there are.
    #[must_use]
    pub const fn nodes(self) -> usize {
        if matches!(self, Self::Chain) { 3 } else { 5 }
    }
}

/// What was measured of one algorithm in one setting.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// How many seeds were run.
    pub runs: u64,
    /// Messages of elections.
    pub messages: u64,
    /// Times a node began to lead.
    pub led: u64,
    /// By run: how long it took until somebody led whom a majority could talk to and followed.
    pub to_leader: Times,
    /// Runs in which nobody ever did.
    pub never: u64,
    /// By run: how long two or more believed to lead.
    pub two_leaders: Times,
    /// By run: times a node began to lead long after the fault.
    pub churn: Times,
    /// By law: how often it was put to the test and broke.
    pub laws: [Tally; Law::ALL.len()],
    /// By law: the lowest seed that broke it.
    pub broken_by: [Option<u64>; Law::ALL.len()],
}

impl Cell {
    /// Adds others.
    pub fn merge(&mut self, other: Self) {
        self.runs += other.runs;
        self.messages += other.messages;
        self.led += other.led;
        self.to_leader.merge(other.to_leader);
        self.never += other.never;
        self.two_leaders.merge(other.two_leaders);
        self.churn.merge(other.churn);
        for (law, others) in self.laws.iter_mut().zip(other.laws) {
            law.exercised += others.exercised;
            law.broken += others.broken;
        }
        for (by, others) in self.broken_by.iter_mut().zip(other.broken_by) {
            *by = by.iter().copied().chain(others).min();
        }
    }

    /// The laws that broke.
    pub fn broke(&self) -> impl Iterator<Item = Law> {
        let broken = |law: &Law| self.laws[*law as usize].broken > 0;
        Law::ALL.into_iter().filter(broken)
    }

    /// How a law fared, held against what is expected.
    #[must_use]
    pub fn outcome(&self, law: Law, expected: Expected) -> Outcome {
        match self.laws[law as usize] {
            Tally { exercised: 0, .. } => Outcome::NotExercised,
            Tally { broken: 0, .. } => Outcome::Holds,
            _ if expected.excuses(law) => Outcome::BrokenByDesign,
            _ => Outcome::Broken,
        }
    }

    /// How it fared as a whole: as the worst of its laws.
    #[must_use]
    pub fn verdict(&self, expected: Expected) -> Outcome {
        let of = |outcome| {
            Law::ALL
                .into_iter()
                .any(|law| self.outcome(law, expected) == outcome)
        };
        [Outcome::Broken, Outcome::BrokenByDesign, Outcome::Holds]
            .into_iter()
            .find(|outcome| of(*outcome))
            .unwrap_or(Outcome::NotExercised)
    }

    /// Whether it shows what is expected: what has to break broke, and nothing broke that must not.
    #[must_use]
    pub fn is_as_expected(&self, expected: Expected) -> bool {
        let breaks = |law: &Law| self.laws[*law as usize].broken > 0;
        let verdict = self.verdict(expected);
        matches!(verdict, Outcome::Holds | Outcome::BrokenByDesign)
            && expected.breaks().iter().all(breaks)
    }

    /// Runs an algorithm in a setting.
    pub fn run(&mut self, algorithm: Algorithm, trial: Trial, seed: u64) {
        let mut draws = Random::from_seed(seed);
        let nodes = trial.nodes();
        let timing = Timing::default();
        let rules = Switched::default();
        match algorithm {
            Algorithm::Bully | Algorithm::BullyGuarded => {
                let guard = algorithm == Algorithm::BullyGuarded;
                let setup = bully::Setup {
                    timing,
                    guard,
                    rules,
                };
                // To ask and be answered, and to announce; with the guard, to claim and be granted as well.
                let n = nodes as u64;
                let most = n * n - 1 + if guard { 2 * (n - 1) } else { 0 };
                self.under::<bully::Bully>(setup, trial, seed, Some(most));
            }
            Algorithm::Ring => {
                let order = shuffled(nodes, &mut draws);
                let n = nodes as u64;
                let most = n * (n + 1) / 2 + n;
                let setup = ring::Setup {
                    timing,
                    order,
                    rules,
                };
                self.under::<ring::Ring>(setup, trial, seed, Some(most));
            }
            Algorithm::Ballot | Algorithm::BallotGossip => {
                let rules = match algorithm {
                    Algorithm::BallotGossip => Switched::without(&[Rule::OwnBallotOnly]),
                    _ => rules,
                };
                let setup = ballot::Setup {
                    rules,
                    ..ballot::Setup::default()
                };
                self.under::<ballot::Elector>(setup, trial, seed, None);
            }
            Algorithm::RaftPlain | Algorithm::Raft => {
                let usual = Scenario::usual();
                let setup = RaftSetup {
                    nodes,
                    timing: usual.timing,
                    safe_mode: algorithm == Algorithm::Raft,
                    rules: tenure::raft::Switched::default(),
                    seed,
                    log: false,
                    outside: 0,
                };
                self.under::<raft::Node>(setup, trial, seed, None);
            }
        }
    }

    fn under<C: Classic>(&mut self, setup: C::Setup, trial: Trial, seed: u64, most: Option<u64>) {
        let weather = match trial {
            Trial::Calm => Weather::calm(LATENCY / 2, LATENCY / 2),
            _ => Weather::calm(LATENCY / 10, LATENCY),
        };
        let mut bench = Bench::<C>::new(setup, trial.nodes(), weather, seed);
        let mut draws = Random::from_seed(seed ^ 0xfa17);
        bench.run_until(SETTLED);
        if let Some(most) = most {
            bench.judge_highest();
            if trial == Trial::Calm {
                bench.judge_messages(most);
            }
        }
        if trial == Trial::Calm {
            bench.run_until(SETTLED + WATCHED);
            bench.judge_connected(SETTLED + WATCHED / 2);
            bench.judge_again();
            let counts = bench.counts();
            self.note(&bench, seed, counts, 0, counts.led.saturating_sub(1));
            return;
        }
        let from = SETTLED + draws.below(millis(100));
        bench.run_until(from);
        let leader = bench.leader().unwrap_or(0);
        trial.strike(&mut bench, leader, &mut draws);
        bench.count_anew();
        trial.watch(&mut bench, leader, from + GRACE, &mut draws);
        let soon = bench.counts().led;
        trial.watch(&mut bench, leader, from + WATCHED, &mut draws);
        bench.judge_connected(from + WATCHED / 2);
        let counts = bench.counts();
        bench.heal();
        bench.restart(leader);
        bench.resume(leader);
        bench.run_until(from + WATCHED + AGAIN);
        bench.judge_again();
        self.note(&bench, seed, counts, from, counts.led - soon);
    }

    fn note<C: Classic>(
        &mut self,
        bench: &Bench<C>,
        seed: u64,
        counts: Counts,
        from: u64,
        churn: u64,
    ) {
        self.runs += 1;
        self.messages += counts.election;
        self.led += counts.led;
        match counts.office_at {
            Some(at) => self.to_leader.add(at - from),
            None => self.never += 1,
        }
        self.two_leaders.add(counts.two_leaders);
        self.churn.add(churn);
        for law in Law::ALL {
            let tally = bench.tally(law);
            self.laws[law as usize].exercised += tally.exercised;
            self.laws[law as usize].broken += tally.broken;
            if tally.broken > 0 {
                let by = &mut self.broken_by[law as usize];
                *by = Some(by.map_or(seed, |by| by.min(seed)));
            }
        }
    }
}

impl Trial {
    /// The fault begins.
    fn strike<C: Classic>(self, bench: &mut Bench<C>, leader: usize, draws: &mut Random) {
        let nodes = bench.size();
        // Any of the others.
        let other = (leader + 1 + draws.below(nodes as u64 - 1) as usize) % nodes;
        let pairs = (0..nodes).flat_map(|one| (0..one).map(move |other| (one, other)));
        match self {
            Self::Calm => {}
            Self::Crash => bench.crash(leader),
            Self::Slow => bench.pause(leader),
            Self::Partition => {
                let apart = |node| node == leader || node == other;
                for (one, two) in pairs.filter(|(one, two)| apart(*one) != apart(*two)) {
                    bench.cut(one, two);
                }
            }
            Self::Chain => bench.cut(leader, other),
            Self::Star => {
                for (one, two) in pairs.filter(|(one, two)| *one != other && *two != other) {
                    bench.cut(one, two);
                }
            }
        }
    }

    /// Time goes on under it.
    fn watch<C: Classic>(
        self,
        bench: &mut Bench<C>,
        leader: usize,
        until: u64,
        draws: &mut Random,
    ) {
        match self {
            Self::Slow => {
                while bench.now() < until {
                    bench.pause(leader);
                    let pause = millis(600) + draws.below(millis(600));
                    bench.run_until(until.min(bench.now() + pause));
                    bench.resume(leader);
                    bench.run_until(until.min(bench.now() + millis(1_000)));
                }
            }
            Self::Crash if until > SETTLED + BACK => {
                bench.run_until(SETTLED + BACK);
                bench.restart(leader);
                bench.run_until(until);
            }
            _ => bench.run_until(until),
        }
    }
}

/// The numbers below one in any order.
fn shuffled(nodes: usize, draws: &mut Random) -> Vec<usize> {
    let mut order: Vec<usize> = (0..nodes).collect();
    for place in (1..nodes).rev() {
        order.swap(place, draws.below(place as u64 + 1) as usize);
    }
    order
}
