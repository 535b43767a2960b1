//! ZK-PromiseBeforeAct: a node that promised an epoch logs and acknowledges nothing of an earlier one, over all its lives.

use super::Tally;

/// Follows the promises.
#[derive(Clone, Debug)]
pub(super) struct PromiseBeforeAct {
    /// By node: the highest epoch that it said to have promised.
    promised: Vec<u64>,
    pub(super) tally: Tally,
}

impl PromiseBeforeAct {
    pub(super) fn new(nodes: usize) -> Self {
        Self {
            promised: vec![0; nodes],
            tally: Tally::default(),
        }
    }

    /// A node says that it promises an epoch.
    pub(super) fn promised(&mut self, node: usize, epoch: u64) {
        self.promised[node] = epoch.max(self.promised[node]);
    }

    /// A node logs or acknowledges something as a member of an epoch. Whether it had given that one up.
    pub(super) fn acts(&mut self, now: u64, node: usize, epoch: u64) -> bool {
        let promised = self.promised[node];
        promised > 0 && self.tally.note(now, epoch < promised)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_promised_an_epoch_does_nothing_in_an_earlier_one() {
        let mut check = PromiseBeforeAct::new(2);
        assert!(!check.acts(1, 0, 1), "nothing is promised");
        check.promised(0, 3);
        check.promised(0, 2);
        assert!(check.acts(2, 0, 2) && !check.acts(3, 0, 3) && !check.acts(4, 0, 4));
        assert!(!check.acts(5, 1, 1), "another node");
        assert_eq!((check.tally.exercised, check.tally.broken), (3, 1));
    }
}
