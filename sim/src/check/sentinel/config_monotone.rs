//! SEN-ConfigMonotone: a sentinel's config epoch never falls, and the address changes only when it rises.

use crate::check::Tally;
use crate::sorted::Sorted;
use tenure::NodeId;
use tenure::sentinel::MasterName;

#[derive(Clone, Debug, Default)]
pub(super) struct ConfigMonotone {
    held: Sorted<(usize, MasterName), (u64, NodeId)>,
    pub(super) tally: Tally,
}

impl ConfigMonotone {
    /// A life begins with what the disk holds: what it does not hold was never told.
    pub(super) fn started(&mut self, node: usize, name: MasterName, held: (u64, NodeId)) {
        self.held.insert((node, name), held);
    }

    /// What a sentinel holds now: whether it may, if it is another configuration than before.
    pub(super) fn seen(
        &mut self,
        now: u64,
        node: usize,
        name: MasterName,
        held: (u64, NodeId),
    ) -> Option<bool> {
        let before = self.held.replace((node, name), held).unwrap_or(held);
        let fine = held.0 > before.0;
        (held != before).then(|| !self.tally.note(now, !fine))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_changes_with_a_higher_epoch_alone() {
        let (mut check, name) = (ConfigMonotone::default(), MasterName(0));
        check.started(0, name, (1, NodeId(7)));
        let mut seen = |epoch, node| check.seen(9, 0, name, (epoch, NodeId(node)));
        assert_eq!(seen(1, 7), None);
        assert_eq!(
            (seen(2, 8), seen(2, 9), seen(1, 9)),
            (Some(true), Some(false), Some(false))
        );
    }
}
