//! SEN-EpochMonotone: in the file the current epoch is at least each config epoch and leader epoch, and none of them ever falls.

use crate::check::Tally;
use crate::sorted::Sorted;
use tenure::sentinel::File;

#[derive(Clone, Debug, Default)]
pub(super) struct EpochMonotone {
    /// By sentinel: its current epoch, and of each master the config epoch and the leader epoch.
    held: Sorted<usize, (u64, Vec<(u64, u64)>)>,
    pub(super) tally: Tally,
}

impl EpochMonotone {
    /// A file was written. Whether an epoch in it fell, or is above the current one.
    pub(super) fn wrote(&mut self, now: u64, node: usize, file: &File) -> bool {
        let kept = file.masters.iter();
        let epochs: Vec<_> = kept
            .map(|kept| (kept.config_epoch, kept.leader_epoch))
            .collect();
        let current = file.current_epoch;
        let above = (epochs.iter()).any(|(config, leader)| current < *config.max(leader));
        let fell = self.held.get(&node).is_some_and(|(before, of)| {
            *before > current
                || (of.iter().zip(&epochs)).any(|(old, new)| old.0 > new.0 || old.1 > new.1)
        });
        self.held.insert(node, (current, epochs));
        self.tally.note(now, above || fell)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenure::NodeId;
    use tenure::sentinel::{Kept, MasterName};

    #[test]
    fn an_epoch_that_falls_or_is_above_the_current_one_is_told() {
        let file = |current_epoch, config_epoch, leader_epoch| File {
            current_epoch,
            masters: vec![Kept {
                name: MasterName(0),
                address: NodeId(3),
                config_epoch,
                leader_epoch,
                replicas: Vec::new(),
                sentinels: Vec::new(),
            }],
            ..File::default()
        };
        let mut check = EpochMonotone::default();
        assert!(!check.wrote(1, 0, &file(2, 1, 2)) && !check.wrote(2, 0, &file(3, 1, 2)));
        assert!(check.wrote(3, 0, &file(3, 1, 1)) && check.wrote(4, 0, &file(3, 4, 1)));
        assert!(check.wrote(5, 0, &file(2, 4, 1)) && !check.wrote(6, 1, &file(1, 1, 1)));
    }
}
