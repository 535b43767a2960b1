//! INV-E1: over the whole run, the nodes that ever acted as leader of a term are at most one.
//!
//! The usual form, "not two leaders of one term at this instant", does not rule out two at different instants.

use super::Tally;
use super::terms::Terms;

/// Who acted in which term.
#[derive(Clone, Debug)]
pub(super) struct OneLeaderPerTerm {
    leaders: Terms,
    /// What was judged last: a leader acts with every heartbeat, and two of one term break the rule whenever they take turns.
    last: Option<(u64, usize)>,
    tally: Tally,
}

impl OneLeaderPerTerm {
    pub(super) fn new() -> Self {
        Self {
            leaders: Terms::new(1),
            last: None,
            tally: Tally::default(),
        }
    }

    pub(super) fn acted(&mut self, now: u64, node: usize, term: u64) -> bool {
        if self.last == Some((term, node)) {
            return false;
        }
        self.last = Some((term, node));
        let sight = self.leaders.see(term, 0, node);
        self.tally.note_sight(now, sight)
    }

    /// How many acts were of a term so old that it had been forgotten.
    pub(super) const fn unknown(&self) -> u64 {
        self.leaders.unknown()
    }

    pub(super) const fn tally(&self) -> Tally {
        self.tally
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_leaders_of_a_term_break_it_also_at_different_times() {
        let mut check = OneLeaderPerTerm::new();
        assert!(
            !check.acted(1, 0, 5)
                && !check.acted(2, 0, 5)
                && !check.acted(3, 1, 6)
                && !check.acted(4, 2, 4)
        );
        assert!(check.acted(900, 2, 5));
        assert_eq!(
            check.tally(),
            Tally {
                exercised: 4,
                broken: 1,
                first_broken_at: Some(900)
            }
        );
    }
}
