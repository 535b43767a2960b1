//! INV-E5: every entry that was committed in an earlier term is in the log of every leader.

use super::Tally;
use super::logs::Ghost;

/// Who leads, as far as it was elected: the newest terms.
#[derive(Clone, Debug, Default)]
pub(super) struct LeaderCompleteness {
    /// The newest leader: who, and its term.
    newest: Option<(usize, u64)>,
    pub(super) tally: Tally,
}

impl LeaderCompleteness {
    /// A node was elected. Whether its log lacks what was committed in a term before.
    pub(super) fn elected(&mut self, now: u64, ghost: &Ghost, node: usize, term: u64) -> bool {
        if self.newest.is_none_or(|(_, newest)| newest < term) {
            self.newest = Some((node, term));
        }
        let (last, written) = (ghost.committed.last(), ghost.committed.last_term());
        // A leader of an earlier term that learns late that it was elected owes nothing to a later one.
        last > 0 && written < term && self.tally.note(now, !ghost.logs[node].has(last, written))
    }

    /// An entry is committed, by a leader of its term or a later one. Whether the newest leader, of a later term still,
    /// lacks it.
    pub(super) fn committed(&mut self, now: u64, ghost: &Ghost, index: u64, term: u64) -> bool {
        self.newest.is_some_and(|(node, newest)| {
            newest > term && self.tally.note(now, !ghost.logs[node].has(index, term))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::runs::Runs;
    use super::*;

    #[test]
    fn a_leader_has_what_was_committed_before_and_after_it_was_elected() {
        let logs: [&[(u64, u64)]; 3] = [&[(1, 3)], &[(1, 2)], &[(1, 2), (2, 4)]];
        let committed = Runs::of(&[(1, 3)]);
        let mut ghost = Ghost::of(logs.map(Runs::of), Default::default(), committed);
        let mut check = LeaderCompleteness::default();
        assert!(!check.elected(5, &ghost, 0, 4));
        assert!(check.elected(6, &ghost, 1, 4) && check.elected(7, &ghost, 2, 5));
        // It is elected first, and what it lacks is committed then.
        ghost.committed = Runs::default();
        let mut check = LeaderCompleteness::default();
        assert!(!check.elected(8, &ghost, 1, 4));
        assert!(check.committed(9, &ghost, 3, 1) && !check.committed(9, &ghost, 2, 1));
        assert!(
            !check.committed(9, &ghost, 3, 4),
            "an entry of its own term"
        );
        assert_eq!((check.tally.exercised, check.tally.broken), (2, 1));
    }
}
