//! INV-E2: per node and term at most one candidate is granted, across restarts.

use super::Tally;

/// The votes that left the nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct OneVotePerTerm {
    /// Term, voter and first candidate, in order.
    votes: Vec<(u64, usize, usize)>,
    tally: Tally,
}

impl OneVotePerTerm {
    pub(super) fn granted(&mut self, now: u64, node: usize, term: u64, to: usize) -> bool {
        match self
            .votes
            .binary_search_by_key(&(term, node), |(term, node, _)| (*term, *node))
        {
            // The same vote said again is one vote.
            Ok(place) => self.votes[place].2 != to && self.tally.note(now, true),
            Err(place) => {
                self.votes.insert(place, (term, node, to));
                self.tally.note(now, false)
            }
        }
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
        let mut check = OneVotePerTerm::default();
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
