//! INV-E2: per node and term at most one candidate is granted, across restarts.

use super::Tally;
use super::terms::Terms;

/// The votes that left the nodes.
#[derive(Clone, Debug)]
pub(super) struct OneVotePerTerm {
    /// The first candidate of each voter.
    votes: Terms,
    tally: Tally,
}

impl OneVotePerTerm {
    pub(super) fn new(nodes: usize) -> Self {
        Self {
            votes: Terms::new(nodes),
            tally: Tally::default(),
        }
    }

    pub(super) fn granted(&mut self, now: u64, node: usize, term: u64, to: usize) -> bool {
        // The same vote said again is one vote.
        let sight = self.votes.see(term, node, to);
        self.tally.note_sight(now, sight)
    }

    /// How many votes were of a term so old that it had been forgotten.
    pub(super) const fn unknown(&self) -> u64 {
        self.votes.unknown()
    }

    pub(super) const fn tally(&self) -> Tally {
        self.tally
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_candidate_breaks_it_and_a_repeated_answer_does_not() {
        let mut check = OneVotePerTerm::new(2);
        assert!(
            !check.granted(1, 0, 5, 1)
                && !check.granted(2, 0, 5, 1)
                && !check.granted(3, 1, 5, 0)
                && !check.granted(4, 0, 6, 0)
        );
        assert!(check.granted(9, 0, 5, 0));
        assert_eq!(
            check.tally(),
            Tally {
                exercised: 4,
                broken: 1,
                first_broken_at: Some(9)
            }
        );
    }
}
