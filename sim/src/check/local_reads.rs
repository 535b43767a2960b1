//! INV-R5: what is read locally is stale, and its age is bounded: once nothing has been wrong for as long as the bound, no
//! node shows a state that others had left behind longer ago than that. While something is wrong nothing is promised: a node
//! that is cut off shows what it has.

use super::Tally;
use crate::physics::NEVER;
use crate::stats::Times;

/// Follows how old what is read locally is.
#[derive(Clone, Debug)]
pub(super) struct LocalReads {
    within: u64,
    /// By revision, from 1: when the first node had it.
    since: Vec<u64>,
    /// Since when nothing is wrong; [`NEVER`] while something is.
    whole: u64,
    /// How old each was, whatever was wrong then.
    pub(super) ages: Times,
    pub(super) tally: Tally,
}

impl LocalReads {
    pub(super) fn new(within: u64) -> Self {
        Self {
            within,
            since: Vec::new(),
            whole: 0,
            ages: Times::default(),
            tally: Tally::default(),
        }
    }

    /// A node has all changes up to a revision.
    pub(super) fn reached(&mut self, now: u64, revision: u64) {
        let known = self.since.len();
        self.since.resize(known.max(revision as usize), now);
    }

    /// The last fault was healed, or the first one struck.
    pub(super) fn whole(&mut self, now: u64, whole: bool) {
        self.whole = if whole { now } else { NEVER };
    }

    /// A node shows the state as of a revision. Whether that is too old.
    pub(super) fn read(&mut self, now: u64, revision: u64) -> bool {
        let left = self.since.get(revision as usize);
        let age = left.map_or(0, |left| now - left);
        self.ages.add(age);
        let promised = self.whole.saturating_add(self.within) <= now;
        promised && self.tally.note(now, age > self.within)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_behind_too_long_ago_is_found_while_nothing_is_wrong() {
        let mut check = LocalReads::new(100);
        check.reached(10, 1);
        check.reached(20, 3);
        check.reached(90, 2);
        assert!(!check.read(99, 0), "nothing is promised yet");
        assert!(!check.read(110, 0) && check.read(111, 0));
        assert!(!check.read(120, 1) && check.read(121, 1));
        assert!(!check.read(9_000, 3), "the newest is never stale");
        check.whole(9_000, false);
        assert!(!check.read(9_001, 0));
        check.whole(9_010, true);
        assert!(!check.read(9_109, 0) && check.read(9_110, 0));
        assert_eq!((check.tally.exercised, check.tally.broken), (6, 3));
        assert_eq!(check.ages.quantiles().max, 9_100);
    }
}
