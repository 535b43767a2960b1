//! How a run failed: which checks broke that nothing excuses, and which of them first.

use crate::check::{Check, Outcome};
use crate::world::World;

/// A check that broke, and when it broke first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Failure {
    /// True time.
    pub at: u64,
    /// What broke.
    pub check: Check,
}

impl Failure {
    /// All that broke so far, in order of time. Histories are judged only in worlds that record them.
    #[must_use]
    pub fn all(world: &World) -> Vec<Self> {
        let mut all: Vec<Self> = (Check::ALL.into_iter())
            .map(|check| world.verdict(check))
            .filter(|verdict| verdict.outcome == Outcome::Broken)
            .map(|verdict| Self {
                at: verdict.tally.first_broken_at.unwrap_or(world.now()),
                check: verdict.check,
            })
            .collect();
        all.sort_unstable();
        all
    }

    /// What a scenario is to expect whose run fails like this.
    pub(crate) fn expected(all: &[Self]) -> Vec<(Check, Outcome)> {
        let mut checks: Vec<Check> = all.iter().map(|failure| failure.check).collect();
        checks.sort_unstable();
        let broken = |check| (check, Outcome::Broken);
        checks.into_iter().map(broken).collect()
    }

    /// The first of them.
    #[must_use]
    pub fn first(world: &World) -> Option<Self> {
        Self::all(world).into_iter().next()
    }
}
