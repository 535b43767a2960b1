//! What the literature says of leader election, each statement beside the runs that show it or correct it.
//!
//! No verdict is written down: [`Claim::judge`] reads it off the figures of the runs, and what is written down is which verdict
//! the project's documents go by. Where the two differ, a statement in some document is not so any more, and the command fails.
//!
//! A file for each part of the subject. To add a claim: an item in the list of its file.

mod etcd;
mod failover;
mod kafka;
mod leases;
mod raft;
mod runs;
mod sentinel;
mod table;
mod zookeeper;

pub use table::Table;

use crate::stats::Times;

/// A statement of the literature.
pub struct Claim {
    /// Its name on the command line.
    pub name: &'static str,
    /// What the literature says.
    pub says: &'static str,
    /// Which verdict the documents go by.
    pub expected: Verdict,
    /// What is so, where the verdict is that.
    pub instead: &'static str,
    /// A scenario of the gallery that shows one such run, if there is one.
    pub gallery: Option<&'static str>,
    /// What is measured.
    pub parts: Vec<Part>,
    /// Reads the verdict off the figures, one for each part.
    pub judge: fn(&[Figures]) -> Verdict,
}

/// What the runs say of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is so.
    Holds,
    /// It is so within a limit that the statement does not name.
    Limited,
    /// It is not so.
    Corrected,
    /// The runs show neither: too few of them met what it is about.
    Open,
}

impl Verdict {
    /// Its name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Limited => "holds with a limit",
            Self::Corrected => "corrected",
            Self::Open => "open",
        }
    }
}

/// Something that is measured in every seed.
pub struct Part {
    /// What, with what is done.
    pub what: &'static str,
    /// In what.
    pub unit: Unit,
    /// The figure of a seed; 0 where what it counts did not occur.
    pub run: Box<dyn Fn(u64) -> u64 + Sync>,
}

/// In what something is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// It is counted.
    Count,
    /// In microseconds.
    Time,
}

impl Part {
    fn count(what: &'static str, run: impl Fn(u64) -> u64 + Sync + 'static) -> Self {
        Self {
            what,
            unit: Unit::Count,
            run: Box::new(run),
        }
    }

    fn time(what: &'static str, run: impl Fn(u64) -> u64 + Sync + 'static) -> Self {
        Self {
            unit: Unit::Time,
            ..Self::count(what, run)
        }
    }
}

/// What was measured of a part, a figure a seed.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    times: Times,
    sum: u64,
}

impl Figures {
    /// Adds that of a seed.
    pub fn add(&mut self, figure: u64) {
        self.times.add(figure);
        self.sum += figure;
    }

    /// Adds others.
    pub fn merge(&mut self, other: Self) {
        self.times.merge(other.times);
        self.sum += other.sum;
    }

    /// How many seeds were run.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.times.count()
    }

    /// In how many of them it occurred.
    #[must_use]
    pub fn shown(&self) -> usize {
        self.runs() - self.times.within(0)
    }

    /// Over all of them.
    #[must_use]
    pub const fn sum(&self) -> u64 {
        self.sum
    }

    /// Half of them are at or below this.
    #[must_use]
    pub fn median(&self) -> u64 {
        self.times.quantiles().p50
    }

    /// The most in one.
    #[must_use]
    pub fn most(&self) -> u64 {
        self.times.quantiles().max
    }

    /// Whether it never occurred, in any run.
    #[must_use]
    pub fn never(&self) -> bool {
        self.runs() > 0 && self.sum == 0
    }

    /// Whether it occurred, in some run.
    #[must_use]
    pub const fn occurred(&self) -> bool {
        self.sum > 0
    }

    /// Whether it occurred in every run.
    #[must_use]
    pub fn always(&self) -> bool {
        self.runs() > 0 && self.shown() == self.runs()
    }

    /// How many are from one figure to another.
    #[must_use]
    pub fn between(&self, least: u64, most: u64) -> usize {
        self.times.within(most)
            - least
                .checked_sub(1)
                .map_or(0, |below| self.times.within(below))
    }
}

/// All of them, in order of the subject.
#[must_use]
pub fn all() -> Vec<Claim> {
    let parts = [
        raft::claims(),
        failover::claims(),
        leases::claims(),
        etcd::claims(),
        zookeeper::claims(),
        sentinel::claims(),
        kafka::claims(),
    ];
    parts.into_iter().flatten().collect()
}
