//! ZK-PrimaryIntegrity: a leader proposes in its epoch only when it has delivered everything that anybody ever delivers of earlier
//! epochs.

use super::Tally;
use super::proposals::Proposals;
use crate::sorted::Sorted;
use tenure::log::Position;

/// How many epochs are remembered.
const KEPT: usize = 1 << 12;

/// Follows what is delivered of each epoch.
#[derive(Clone, Debug, Default)]
pub(super) struct PrimaryIntegrity {
    /// By epoch: up to where any node delivered.
    delivered: Sorted<u64, u64>,
    pub(super) tally: Tally,
}

impl PrimaryIntegrity {
    /// A leader that has delivered up to an index begins to propose. Whether something of an earlier epoch was delivered
    /// beyond.
    pub(super) fn begins(&mut self, now: u64, epoch: u64, delivered: u64) -> bool {
        let mut earlier = self.delivered.iter().take_while(|(of, _)| **of < epoch);
        let beyond = earlier.any(|(_, index)| *index > delivered);
        self.tally.note(now, beyond)
    }

    /// A node delivers an entry. Whether the leader of a later epoch had begun without it.
    pub(super) fn delivered(&mut self, now: u64, proposals: &Proposals, at: Position) -> bool {
        match self.delivered.get_mut(&at.term) {
            Some(upto) => *upto = at.index.max(*upto),
            None => {
                self.delivered.insert(at.term, at.index);
                self.delivered.keep_last(KEPT);
            }
        }
        let mut later = proposals.after(at.term);
        later.any(|begun| begun.delivered < at.index) && self.tally.note(now, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leader_begins_with_all_that_was_and_will_be_delivered_before_it() {
        let at = Position::new;
        let mut proposals = Proposals::default();
        let mut check = PrimaryIntegrity::default();
        assert!(!check.begins(1, 1, 0));
        proposals.proposed(at(1, 1), 5, 0);
        assert!(
            !check.delivered(2, &proposals, at(1, 1)) && !check.delivered(3, &proposals, at(1, 2))
        );
        assert!(check.begins(4, 2, 1) && !check.begins(5, 2, 2));
        proposals.proposed(at(2, 3), 6, 2);
        assert!(!check.delivered(6, &proposals, at(1, 2)), "it had that one");
        assert!(
            check.delivered(7, &proposals, at(1, 3)),
            "this one comes late"
        );
        assert_eq!((check.tally.exercised, check.tally.broken), (4, 2));
    }
}
