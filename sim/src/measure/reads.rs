//! How many reads a group answers, how quickly, and how old what they show is, by the way they are answered.
//!
//! Each node takes its time for every message, so that there is something to run out of; readers ask without a pause, and
//! beside them a few clients write.

use super::{Setting, clients};
use crate::check::{Check, Outcome};
use crate::fault::{Action, Fault, Who};
use crate::scheme::Unfit;
use crate::stats::Times;
use crate::store::{Reader, Reading};
use crate::world::World;

/// How reads are answered, and by whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// By whoever leads, once a majority has confirmed that it does.
    ConfirmedOnLeader,
    /// By those that follow, once whoever leads has told them up to where their state must have come.
    ConfirmedOnFollowers,
    /// By whoever leads, as its lease allows.
    Leased,
    /// By those that follow, from what they have: stale.
    Local,
}

impl Way {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::ConfirmedOnLeader,
        Self::ConfirmedOnFollowers,
        Self::Leased,
        Self::Local,
    ];

    /// Its name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ConfirmedOnLeader => "confirmed, leader",
            Self::ConfirmedOnFollowers => "confirmed, followers",
            Self::Leased => "leased, leader",
            Self::Local => "local (stale), followers",
        }
    }

    const fn reading(self) -> Reading {
        match self {
            Self::ConfirmedOnLeader | Self::ConfirmedOnFollowers => Reading::Confirmed,
            Self::Leased => Reading::Leased,
            Self::Local => Reading::Local,
        }
    }

    const fn is_of_followers(self) -> bool {
        matches!(self, Self::ConfirmedOnFollowers | Self::Local)
    }
}

/// How long a node takes for each message, in microseconds.
pub const TAKES: u64 = 200;
/// How long reads are counted.
const TIME: u64 = 1_000_000;
/// So many readers for each node that is read of keep it busy.
const READERS: usize = 120;
/// Of so many the answers are judged, beside those of the clients that write: more at once are too many to order.
const JUDGED: usize = 16;
/// How often each of the clients that write asks for something.
const EVERY: u64 = 5_000;

/// What was counted of reads of one way.
#[derive(Clone, Debug, Default)]
pub struct Reads {
    /// Virtual time, in microseconds.
    pub time: u64,
    /// From the question to the answer.
    pub latency: Times,
    /// How old what a local read showed was.
    pub ages: Times,
    /// How many answers were judged to have an order that explains them, in how many runs they had none, and in how many that
    /// could not be decided.
    pub judged: u64,
    /// See [`judged`](Self::judged).
    pub unexplained: u64,
    /// See [`judged`](Self::judged).
    pub undecided: u64,
}

impl Reads {
    /// Reads in one seed for a second.
    ///
    /// # Errors
    /// When the core refuses the setting.
    pub fn run(&mut self, setting: &Setting, way: Way, seed: u64) -> Result<(), Unfit> {
        let settled = setting.settled();
        let mut scenario = setting.scenario(seed, settled + TIME, clients(EVERY))?;
        scenario.log = true;
        let slow = |node| Fault {
            at: settled - 1,
            action: Action::Slow(Who::Node(node), TAKES),
        };
        scenario.faults = (0..setting.nodes as u16).map(slow).collect();
        let mut world = World::new(&scenario);
        world.record_histories();
        world.run_until(settled);
        let leader = world.leader().map(|(node, _)| node);
        let of_followers = way.is_of_followers();
        let targets: Vec<u16> = (0..setting.nodes)
            .filter(|node| (Some(*node) == leader) != of_followers)
            .map(|node| node as u16)
            .collect();
        for place in 0..READERS * targets.len() {
            let target = targets[place % targets.len()];
            let judged = way != Way::Local && place < JUDGED;
            world.add_reader(Reader::new(target, way.reading(), judged));
        }
        world.run();
        self.time += TIME;
        for reader in world.readers() {
            self.latency.merge(reader.times.clone());
        }
        self.ages.merge(world.judges().local_ages());
        let verdict = world.verdict(Check::LinearizableStore);
        match verdict.outcome {
            Outcome::Undecided => self.undecided += 1,
            Outcome::Holds => self.judged += verdict.tally.exercised,
            _ => self.unexplained += 1,
        }
        Ok(())
    }

    /// How many were answered.
    #[must_use]
    pub fn answered(&self) -> usize {
        self.latency.count()
    }

    /// Adds others.
    pub fn merge(&mut self, other: Self) {
        self.time += other.time;
        self.latency.merge(other.latency);
        self.ages.merge(other.ages);
        self.judged += other.judged;
        self.unexplained += other.unexplained;
        self.undecided += other.undecided;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(way: Way, nodes: usize) -> Reads {
        let mut reads = Reads::default();
        let setting = Setting {
            nodes,
            ..Setting::default()
        };
        reads.run(&setting, way, 7).unwrap();
        reads
    }

    #[test]
    fn more_followers_answer_more_reads_and_one_leader_does_not() {
        for way in Way::ALL {
            let [few, many] = [3, 5].map(|nodes| reads(way, nodes));
            assert_eq!(
                [
                    few.unexplained,
                    few.undecided,
                    many.unexplained,
                    many.undecided
                ],
                [0; 4],
                "{way:?}"
            );
            assert!(few.judged > 0, "{way:?}");
            let (few, many) = (few.answered(), many.answered());
            assert!(few > 1_000, "{way:?} {few}");
            assert_eq!(
                way.is_of_followers(),
                many > few * 3 / 2,
                "{way:?} {few} {many}"
            );
        }
    }

    #[test]
    fn local_reads_are_stale_and_those_that_are_confirmed_are_not_counted_as_such() {
        let local = reads(Way::Local, 3);
        let ages = local.ages.quantiles();
        assert!(
            ages.count >= local.answered() && ages.max > 1_000,
            "{ages:?}"
        );
        assert!(reads(Way::Leased, 3).ages.count() < 200);
    }
}
