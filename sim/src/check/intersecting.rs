//! INV-L6: votes and commits use configurations whose quorums intersect. What is committed next is decided by a quorum that
//! meets every quorum of what was decided last; and where who takes part was ever changed, a leader has the votes of a
//! quorum of what its log says when it is elected, and that meets what was decided last.

use super::Tally;
use super::configurations::Configuration;
use crate::sorted::Sorted;

/// The votes of so many terms are kept.
const KEPT: usize = 64;

/// Follows by what was decided.
#[derive(Clone, Debug, Default)]
pub(super) struct IntersectingQuorums {
    /// By term: who voted for whom.
    votes: Sorted<u64, Vec<(usize, usize)>>,
    /// By what the newest entry was committed, and its term.
    newest: Option<(Configuration, u64)>,
    pub(super) tally: Tally,
}

impl IntersectingQuorums {
    /// A node votes.
    pub(super) fn granted(&mut self, node: usize, term: u64, to: usize) {
        self.votes.or_default(term).push((node, to));
        if self.votes.len() > KEPT {
            self.votes.pop_first();
        }
    }

    /// A node is elected, and this is what its log says of who takes part. Whether it lacks votes, or those who voted need
    /// not know what was committed.
    pub(super) fn elected(&mut self, now: u64, node: usize, term: u64, by: &Configuration) -> bool {
        let Some(votes) = self.votes.get(&term) else {
            return false;
        };
        let lacks = !by.is_quorum(|voter| votes.contains(&(voter, node)));
        // One that learns late that it was elected owes nothing to a later leader.
        let before = (self.newest.as_ref()).filter(|(_, committed)| *committed < term);
        let apart = before.is_some_and(|(newest, _)| !newest.meets(by));
        self.tally.note(now, lacks || apart)
    }

    /// An entry is committed by such a quorum, for the first time. Whether that need not know what was committed before.
    pub(super) fn committed(&mut self, now: u64, term: u64, by: &Configuration) -> bool {
        let before = self.newest.replace((by.clone(), term));
        before.is_some_and(|(newest, _)| self.tally.note(now, !newest.meets(by)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(nodes: &[usize]) -> Configuration {
        Configuration::of([nodes.to_vec(), Vec::new()], Vec::new())
    }

    #[test]
    fn commits_that_need_not_know_of_each_other_are_found() {
        let mut check = IntersectingQuorums::default();
        assert!(!check.committed(1, 1, &of(&[0, 1, 2, 3])));
        assert!(!check.committed(2, 1, &of(&[0, 1, 2, 3, 4])));
        assert!(check.committed(3, 2, &of(&[0, 1, 2])));
        assert_eq!((check.tally.exercised, check.tally.broken), (2, 1));
    }

    #[test]
    fn an_election_without_votes_or_apart_from_what_was_committed_is_found() {
        let mut check = IntersectingQuorums::default();
        for (node, to) in [(0, 0), (1, 0), (2, 3), (3, 3)] {
            check.granted(node, 5, to);
        }
        let three = of(&[0, 1, 2]);
        assert!(!check.elected(1, 0, 5, &three) && check.elected(2, 3, 5, &three));
        assert!(!check.committed(3, 4, &of(&[0, 1, 2, 3])));
        assert!(!check.elected(4, 0, 5, &three), "they meet");
        assert!(check.committed(5, 4, &of(&[3, 4])));
        assert!(check.elected(6, 0, 5, &three));
        check.committed(7, 6, &of(&[3, 4]));
        assert!(
            !check.elected(8, 0, 5, &three),
            "it was elected before that"
        );
        assert!(
            !check.elected(9, 0, 4, &three),
            "of other terms nothing is known"
        );
    }
}
