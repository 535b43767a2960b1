//! SEN-ConfigUnique: two sentinels that hold one config epoch of a master hold one address. A failover that an operator ordered
//! may break it, for no majority authorised it.

use crate::check::Tally;
use crate::sorted::Sorted;
use tenure::NodeId;
use tenure::sentinel::MasterName;

#[derive(Clone, Debug, Default)]
pub(super) struct ConfigUnique {
    held: Sorted<(MasterName, u64), NodeId>,
    pub(super) tally: Tally,
}

impl ConfigUnique {
    pub(super) fn started(&mut self, name: MasterName, (epoch, address): (u64, NodeId)) {
        self.held.keep((name, epoch), address);
    }

    /// Whether it is another than the first that was held in that epoch.
    pub(super) fn is_another(&self, name: MasterName, (epoch, address): (u64, NodeId)) -> bool {
        (self.held.get(&(name, epoch))).is_some_and(|first| *first != address)
    }

    /// A sentinel holds another configuration than before. Whether another holds a different one of that epoch.
    pub(super) fn seen(
        &mut self,
        now: u64,
        name: MasterName,
        (epoch, address): (u64, NodeId),
        forced: bool,
    ) -> bool {
        let first = *self.held.keep((name, epoch), address);
        !forced && epoch > 0 && self.tally.note(now, first != address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_address_of_an_epoch_is_told_unless_it_was_ordered() {
        let (mut check, name) = (ConfigUnique::default(), MasterName(0));
        assert!(!check.seen(1, name, (4, NodeId(7)), false));
        assert!(!check.seen(2, name, (4, NodeId(8)), true));
        assert!(!check.seen(2, MasterName(1), (4, NodeId(8)), false));
        assert!(check.seen(3, name, (4, NodeId(8)), false));
    }
}
