//! ZK-AckMeansDurable: what a node acknowledges is on its disk: entries up to an index; and, with NEWLEADER, the history with which
//! an epoch begins, and after it the epoch itself. A disk that holds a current epoch holds that history.

use super::Tally;
use super::logs::Ghost;
use crate::sorted::Sorted;
use tenure::log::Position;

/// How many epochs are remembered.
const KEPT: usize = 1 << 12;

/// Follows what is acknowledged.
#[derive(Clone, Debug, Default)]
pub(super) struct AckMeansDurable {
    /// By epoch: the last entry of the log with which its leader was elected.
    histories: Sorted<u64, Position>,
    pub(super) tally: Tally,
}

impl AckMeansDurable {
    /// A leader of an epoch is elected, with its log.
    pub(super) fn elected(&mut self, ghost: &Ghost, node: usize, epoch: u64) {
        let log = &ghost.logs[node];
        let last = Position::new(log.last_term(), log.last());
        self.histories.insert(epoch, last);
        self.histories.keep_last(KEPT);
    }

    /// Whether a disk lacks the history of an epoch, as far as that is known.
    fn lacks(&self, ghost: &Ghost, node: usize, epoch: u64) -> Option<bool> {
        let last = self.histories.get(&epoch)?;
        Some(!ghost.disks[node].has(last.index, last.term))
    }

    /// A node acknowledges the entries up to an index.
    pub(super) fn acknowledges(&mut self, now: u64, ghost: &Ghost, node: usize, upto: u64) -> bool {
        let asked = ghost.logs[node].term_at(upto);
        let held = asked.is_some_and(|term| ghost.disks[node].has(upto, term));
        self.tally
            .note(now, !held && upto > ghost.disks[node].base())
    }

    /// A node acknowledges NEWLEADER, with this current epoch on its disk.
    pub(super) fn follows(
        &mut self,
        now: u64,
        ghost: &Ghost,
        node: usize,
        epoch: u64,
        current: u64,
    ) -> bool {
        let lacks = self.lacks(ghost, node, epoch).unwrap_or(false);
        self.tally.note(now, lacks || current < epoch)
    }

    /// A disk holds another current epoch.
    pub(super) fn became_current(
        &mut self,
        now: u64,
        ghost: &Ghost,
        node: usize,
        epoch: u64,
    ) -> bool {
        match self.lacks(ghost, node, epoch) {
            Some(lacks) => self.tally.note(now, lacks),
            // It is the leader's own, which is elected once this is done.
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::runs::Runs;
    use super::*;

    #[test]
    fn what_is_acknowledged_is_on_the_disk() {
        let (all, some) = (Runs::of(&[(1, 3), (2, 2)]), Runs::of(&[(1, 3), (2, 1)]));
        let ghost = Ghost::of([all.clone(), all.clone()], [all, some], Runs::default());
        let mut check = AckMeansDurable::default();
        assert!(!check.acknowledges(1, &ghost, 0, 5) && !check.acknowledges(2, &ghost, 1, 4));
        assert!(check.acknowledges(3, &ghost, 1, 5), "it was not synced");
        assert!(
            check.acknowledges(4, &ghost, 0, 6),
            "it was not even asked for"
        );
        assert!(!check.became_current(5, &ghost, 0, 3), "of the leader");
        check.elected(&ghost, 0, 3);
        assert!(!check.follows(6, &ghost, 0, 3, 3));
        assert!(check.follows(7, &ghost, 1, 3, 3), "it lacks the last entry");
        assert!(
            check.follows(8, &ghost, 0, 3, 2),
            "its epoch is not written"
        );
        assert!(check.became_current(9, &ghost, 1, 3) && !check.became_current(9, &ghost, 0, 3));
        assert_eq!((check.tally.exercised, check.tally.broken), (9, 5));
    }
}
