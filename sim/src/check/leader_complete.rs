//! INV-E5: every entry that was committed in an earlier term is in the log of every leader.

use super::Tally;
use super::logs::Ghost;

/// Who leads, as far as it was elected: the newest terms; and what leaders of later ones owe.
#[derive(Clone, Debug, Default)]
pub(super) struct LeaderCompleteness {
    /// The newest leader: who, and its term.
    newest: Option<(usize, u64)>,
    owed: Vec<Owed>,
    pub(super) tally: Tally,
}

/// What was committed last while the newest leader was of one term.
#[derive(Clone, Copy, Debug)]
struct Owed {
    /// That term.
    under: u64,
    index: u64,
    written: u64,
}

impl LeaderCompleteness {
    /// A node was elected. Whether its log lacks what was committed in a term before.
    pub(super) fn elected(&mut self, now: u64, ghost: &Ghost, node: usize, term: u64) -> bool {
        if self.newest.is_none_or(|(_, newest)| newest < term) {
            self.newest = Some((node, term));
        }
        // A leader of an earlier term that learns late that it was elected owes nothing to a later one, who may have committed
        // what was written before both.
        let owed = self.owed.iter().rev().find(|owed| owed.under < term);
        owed.copied().is_some_and(|owed| {
            self.tally
                .note(now, !ghost.logs[node].has(owed.index, owed.written))
        })
    }

    /// An entry is committed, by a leader of its term or a later one. Whether the newest leader, of a later term still,
    /// lacks it.
    pub(super) fn committed(&mut self, now: u64, ghost: &Ghost, index: u64, term: u64) -> bool {
        let under = self.newest.map_or(term, |(_, newest)| newest.max(term));
        let owed = Owed {
            under,
            index,
            written: term,
        };
        match self.owed.last_mut() {
            Some(last) if last.under == under => *last = owed,
            _ => self.owed.push(owed),
        }
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
        let ghost = Ghost::of(logs.map(Runs::of), Default::default(), Runs::of(&[(1, 3)]));
        let mut check = LeaderCompleteness::default();
        assert!(!check.elected(4, &ghost, 0, 1), "nothing is committed yet");
        assert!(!check.committed(4, &ghost, 3, 1));
        assert!(!check.elected(5, &ghost, 0, 4));
        assert!(check.elected(6, &ghost, 1, 4) && check.elected(7, &ghost, 2, 5));
        // It is elected first, and what it lacks is committed then.
        let mut check = LeaderCompleteness::default();
        assert!(!check.elected(8, &ghost, 1, 4));
        assert!(check.committed(9, &ghost, 3, 1) && !check.committed(9, &ghost, 2, 1));
        assert!(
            !check.committed(9, &ghost, 3, 4),
            "an entry of its own term"
        );
        assert_eq!((check.tally.exercised, check.tally.broken), (2, 1));
    }

    #[test]
    fn who_learns_late_that_it_was_elected_owes_nothing_to_a_later_leader() {
        let logs: [&[(u64, u64)]; 3] = [&[(1, 3)], &[(1, 2)], &[]];
        let ghost = Ghost::of(logs.map(Runs::of), Default::default(), Runs::of(&[(1, 3)]));
        let mut check = LeaderCompleteness::default();
        check.elected(1, &ghost, 0, 1);
        check.committed(2, &ghost, 2, 1);
        check.elected(3, &ghost, 0, 6);
        check.committed(4, &ghost, 3, 1);
        assert!(!check.elected(5, &ghost, 1, 5), "it has the second");
        assert!(check.elected(6, &ghost, 2, 5) && check.elected(7, &ghost, 1, 7));
    }
}
