//! INV-L4: what a node takes for committed is on the disks of a majority, from that moment on.

use super::Tally;
use super::logs::Ghost;
use super::runs::Runs;

/// Follows what is committed.
#[derive(Clone, Debug, Default)]
pub(super) struct CommittedIsDurable {
    pub(super) tally: Tally,
}

impl CommittedIsDurable {
    /// An entry is taken for committed, for the first time. Whether it is on too few disks.
    pub(super) fn committed(&mut self, now: u64, ghost: &Ghost, index: u64, term: u64) -> bool {
        let few = !ghost.is_majority(ghost.copies(index, term));
        self.tally.note(now, few)
    }

    /// A disk, which held `had`, holds something else now. Whether the newest committed entry went with it, and is on too
    /// few disks.
    pub(super) fn changed(&mut self, now: u64, ghost: &Ghost, node: usize, had: &Runs) -> bool {
        let (index, term) = (ghost.committed.last(), ghost.committed.last_term());
        let lost = index > 0 && had.has(index, term) && !ghost.disks[node].has(index, term);
        lost && self.committed(now, ghost, index, term)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(term: u64, count: u64) -> Runs {
        let mut runs = Runs::default();
        runs.put(0, term, count);
        runs
    }

    #[test]
    fn a_committed_entry_is_on_most_disks_and_stays_there() {
        let mut ghost = Ghost {
            logs: vec![Runs::default(); 3],
            disks: vec![runs(1, 2), runs(1, 1), runs(1, 2)],
            committed: runs(1, 2),
        };
        let mut check = CommittedIsDurable::default();
        assert!(!check.committed(1, &ghost, 2, 1) && check.committed(2, &ghost, 3, 1));
        assert!(check.committed(3, &ghost, 2, 2), "of another term");
        let had = std::mem::take(&mut ghost.disks[2]);
        assert!(check.changed(4, &ghost, 2, &had), "it was wiped");
        assert!(!check.changed(5, &ghost, 1, &runs(1, 1)), "it never had it");
        assert_eq!((check.tally.exercised, check.tally.broken), (4, 3));
    }
}
