//! ZK-LocalPrimaryOrder: the entries of an epoch are delivered in the order in which its leader proposed them, from the first on,
//! and nothing is delivered that was not proposed (ZK-Integrity).

use super::Tally;
use super::proposals::Proposals;
use tenure::log::Position;

/// Follows what is delivered.
#[derive(Clone, Debug, Default)]
pub(super) struct LocalPrimaryOrder {
    pub(super) tally: Tally,
}

impl LocalPrimaryOrder {
    /// A node that had come to `before` delivers an entry. Whether it is another than was proposed, or one before it in its epoch
    /// is left out.
    pub(super) fn delivered(
        &mut self,
        now: u64,
        proposals: &Proposals,
        before: Position,
        at: Position,
        print: u64,
    ) -> bool {
        let known = proposals.begun(at.term);
        let proposed = known.is_some_and(|begun| (begun.first..=begun.last).contains(&at.index));
        let same = proposals.print(at).is_none_or(|known| known == print);
        let follows = before.term == at.term && before.index + 1 == at.index
            || known.is_some_and(|begun| begun.first == at.index);
        self.tally.note(now, !(proposed && same && follows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_is_delivered_as_it_was_proposed() {
        let at = Position::new;
        let mut proposals = Proposals::default();
        for (index, print) in [(4, 70), (5, 71), (6, 72)] {
            proposals.proposed(at(2, index), print, 3);
        }
        let mut check = LocalPrimaryOrder::default();
        let mut delivered =
            |before, entry, print| check.delivered(9, &proposals, before, entry, print);
        assert!(!delivered(at(1, 3), at(2, 4), 70) && !delivered(at(2, 4), at(2, 5), 71));
        assert!(delivered(at(1, 4), at(2, 5), 71), "its first is left out");
        assert!(delivered(at(2, 5), at(2, 6), 73), "another was proposed");
        assert!(delivered(at(2, 6), at(2, 7), 74), "nobody proposed it");
        assert!(
            delivered(at(2, 6), at(3, 7), 74),
            "nor anything of its epoch"
        );
        assert_eq!((check.tally.exercised, check.tally.broken), (6, 4));
    }
}
