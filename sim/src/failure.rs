//! How a run failed: which rules broke that nothing excuses, and which of them first.

use crate::check::{Check, Outcome, linearizable};
use crate::world::World;

/// What broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// A check.
    Check(Check),
    /// The history of a resource, by its number; judged only in worlds that record histories.
    History(usize),
}

impl Reason {
    /// Its name in files and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Check(check) => check.name(),
            Self::History(resource) => linearizable::NAMES.get(resource).copied().unwrap_or(""),
        }
    }
}

/// A rule that broke, and when it broke first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Failure {
    /// True time.
    pub at: u64,
    /// What broke.
    pub reason: Reason,
}

impl Failure {
    /// All that broke so far, in order of time.
    #[must_use]
    pub fn all(world: &World) -> Vec<Self> {
        let checks = Check::ALL.into_iter().filter_map(|check| {
            let verdict = world.judges().verdict(check);
            let at = verdict.tally.first_broken_at?;
            (verdict.outcome == Outcome::Broken).then_some(Self {
                at,
                reason: Reason::Check(check),
            })
        });
        let mut all: Vec<Self> = checks.collect();
        for (resource, found) in world.findings().into_iter().enumerate() {
            if found.outcome == Outcome::Broken {
                all.push(Self {
                    at: found.broken_at.unwrap_or(world.now()),
                    reason: Reason::History(resource),
                });
            }
        }
        all.sort_unstable();
        all
    }

    /// The first of them.
    #[must_use]
    pub fn first(world: &World) -> Option<Self> {
        Self::all(world).into_iter().next()
    }
}
