//! ZK-EpochOrder: on every disk the accepted epoch is never below the current one, and neither ever falls.

use super::Tally;

/// Follows the epochs on the disks.
#[derive(Clone, Debug)]
pub(super) struct EpochOrder {
    /// By node: accepted and current.
    held: Vec<(u64, u64)>,
    pub(super) tally: Tally,
}

impl EpochOrder {
    pub(super) fn new(nodes: usize) -> Self {
        Self {
            held: vec![(0, 0); nodes],
            tally: Tally::default(),
        }
    }

    /// The current epoch of a disk.
    pub(super) fn current(&self, node: usize) -> u64 {
        self.held[node].1
    }

    /// A disk holds these epochs. Whether one fell, or the accepted one is below.
    pub(super) fn held(&mut self, now: u64, node: usize, accepted: u64, current: u64) -> bool {
        let before = std::mem::replace(&mut self.held[node], (accepted, current));
        let fell = accepted < before.0 || current < before.1;
        before != (accepted, current) && self.tally.note(now, fell || accepted < current)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_epoch_falls_and_the_accepted_one_is_never_below() {
        let mut check = EpochOrder::new(2);
        assert!(!check.held(1, 0, 1, 0) && !check.held(2, 0, 1, 1));
        assert!(!check.held(3, 0, 1, 1), "as before");
        assert!(check.held(4, 0, 1, 2), "it was never promised");
        assert!(!check.held(5, 0, 4, 3) && check.held(6, 0, 4, 2));
        assert!(check.held(7, 0, 0, 0), "it was wiped");
        assert_eq!((check.tally.exercised, check.tally.broken), (6, 3));
        assert_eq!((check.current(0), check.current(1)), (0, 0));
    }
}
