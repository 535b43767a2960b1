//! SEN-OneLeader: for each master and epoch at most one sentinel is elected.

use crate::check::Tally;
use crate::sorted::Sorted;
use tenure::sentinel::MasterName;

#[derive(Clone, Debug, Default)]
pub(super) struct OneLeader {
    elected: Sorted<(MasterName, u64), usize>,
    pub(super) tally: Tally,
}

impl OneLeader {
    /// A sentinel was elected, and not ordered. Whether another was in that epoch.
    pub(super) fn elected(&mut self, now: u64, node: usize, name: MasterName, epoch: u64) -> bool {
        let first = *self.elected.keep((name, epoch), node);
        self.tally.note(now, first != node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_one_of_an_epoch_is_told() {
        let mut check = OneLeader::default();
        assert!(!check.elected(1, 0, MasterName(0), 5) && !check.elected(1, 1, MasterName(1), 5));
        assert!(!check.elected(2, 0, MasterName(0), 5) && check.elected(3, 3, MasterName(0), 5));
    }
}
