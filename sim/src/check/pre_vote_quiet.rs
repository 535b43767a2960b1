//! KR-PreVoteQuiet: a question whether one would be voted for changes no durable vote. So every vote that a disk is to record
//! is for a node that stood in that term: one that had its own vote recorded before.

use super::Tally;
use crate::sorted::Sorted;

/// Follows what votes are recorded.
#[derive(Clone, Debug, Default)]
pub(super) struct PreVoteQuiet {
    /// By node, the latest terms in which it stood.
    stood: Sorted<(u64, u16), ()>,
    /// By node: the last vote that it had recorded.
    last: Sorted<u16, (u64, u16)>,
    pub(super) tally: Tally,
}

/// How many terms back candidates are remembered.
const TERMS: u64 = 4_096;

impl PreVoteQuiet {
    /// A node has its disk record a vote of a term. Whether for one that does not stand in it.
    pub(super) fn records(&mut self, now: u64, node: u16, term: u64, vote: u16) -> bool {
        if self.last.get(&node) == Some(&(term, vote)) {
            return false;
        }
        self.last.remove(&node);
        self.last.insert(node, (term, vote));
        if vote == node {
            self.stood.keep((term, node), ());
            self.stood.forget_before(&(term.saturating_sub(TERMS), 0));
            return false;
        }
        let stands = self.stood.get(&(term, vote)).is_some();
        self.tally.note(now, !stands)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vote_for_one_that_only_asked_is_found() {
        let mut check = PreVoteQuiet::default();
        assert!(!check.records(1, 0, 3, 0), "it stands");
        assert!(!check.records(2, 1, 3, 0) && !check.records(3, 1, 3, 0));
        assert!(check.records(4, 2, 4, 0), "in this term it does not");
        assert_eq!((check.tally.exercised, check.tally.broken), (2, 1));
    }
}
