//! INV-L4: what a node takes for committed is on the disks of a majority, from that moment on.

use super::Tally;
use super::configurations::Configuration;
use super::logs::Ghost;
use super::runs::Runs;

/// Follows what is committed.
#[derive(Clone, Debug, Default)]
pub(super) struct CommittedIsDurable {
    /// By which configuration the newest entry was committed.
    by: Option<Configuration>,
    pub(super) tally: Tally,
}

impl CommittedIsDurable {
    /// An entry is taken for committed, for the first time: of this configuration enough disks have it. Whether of none.
    pub(super) fn committed(&mut self, now: u64, by: Option<&Configuration>) -> bool {
        self.by = by.cloned();
        self.tally.note(now, by.is_none())
    }

    /// A disk, which held `had`, holds something else now. Whether the newest committed entry went with it, and is on too
    /// few disks.
    pub(super) fn changed(&mut self, now: u64, ghost: &Ghost, node: usize, had: &Runs) -> bool {
        let (index, term) = (ghost.committed.last(), ghost.committed.last_term());
        let lost = index > 0 && had.has(index, term) && !ghost.disks[node].has(index, term);
        let enough = (self.by.iter())
            .any(|by| by.is_quorum(|node| ghost.disks[node].has(index, term)))
            || ghost.committed_by(&ghost.committed, index, term).is_some();
        lost && self.tally.note(now, !enough)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_committed_entry_is_on_most_disks_and_stays_there() {
        let two = Runs::of(&[(1, 2)]);
        let one = Runs::of(&[(1, 1)]);
        let disks = [two.clone(), one.clone(), two.clone()];
        let mut ghost = Ghost::of(Default::default(), disks, two);
        let mut check = CommittedIsDurable::default();
        let by = |index, term| ghost.committed_by(&ghost.committed, index, term);
        assert!(!check.committed(1, by(2, 1)) && check.committed(2, by(3, 1)));
        assert!(check.committed(3, by(2, 2)), "of another term");
        let had = std::mem::take(&mut ghost.disks[2]);
        assert!(check.changed(4, &ghost, 2, &had), "it was wiped");
        assert!(!check.changed(5, &ghost, 1, &one), "it never had it");
        assert_eq!((check.tally.exercised, check.tally.broken), (4, 3));
    }
}
