//! ZK-GlobalPrimaryOrder: no node delivers an entry of an epoch after one of a later epoch.

use super::Tally;
use tenure::log::Position;

/// Follows what is delivered.
#[derive(Clone, Debug, Default)]
pub(super) struct GlobalPrimaryOrder {
    pub(super) tally: Tally,
}

impl GlobalPrimaryOrder {
    /// A node that had come to `before` delivers an entry. Whether its epoch is an earlier one.
    pub(super) fn delivered(&mut self, now: u64, before: Position, at: Position) -> bool {
        self.tally.note(now, at.term < before.term)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epochs_are_delivered_in_their_order() {
        let at = Position::new;
        let mut check = GlobalPrimaryOrder::default();
        assert!(!check.delivered(1, at(0, 0), at(1, 1)) && !check.delivered(2, at(1, 1), at(1, 2)));
        assert!(!check.delivered(3, at(1, 2), at(4, 3)) && check.delivered(4, at(4, 3), at(3, 4)));
        assert_eq!((check.tally.exercised, check.tally.broken), (4, 1));
    }
}
