//! INV-V4, of logs: terms are hardly ever begun by nodes that cannot win them, because more than half of the disks hold a
//! more up-to-date log. One may be, when the log grew while its votes were asked for; not one after another.

use super::Tally;
use super::logs::Ghost;

/// How many terms may be burnt from one leader to the next.
const BOUND: u64 = 6;

/// Counts such terms.
#[derive(Clone, Debug, Default)]
pub(super) struct TermsBurnt {
    /// All of them.
    pub(super) burnt: u64,
    /// Since a leader was established.
    since: u64,
    pub(super) tally: Tally,
}

impl TermsBurnt {
    /// A node stands. Whether too many did in vain.
    pub(super) fn stood(&mut self, now: u64, ghost: &Ghost, node: usize) -> bool {
        let end = |log: &super::runs::Runs| (log.last_term(), log.last());
        let own = end(&ghost.logs[node]);
        let others = ghost.disks.iter().enumerate();
        let ahead: Vec<bool> = others
            .map(|(other, disk)| other != node && end(disk) > own)
            .collect();
        let known = ghost.configuration(node);
        let vain = known.is_some_and(|known| known.is_quorum(|other| ahead[other]));
        self.burnt += u64::from(vain);
        self.since += u64::from(vain);
        self.tally.note(now, vain && self.since > BOUND)
    }

    pub(super) fn established(&mut self) {
        self.since = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::super::runs::Runs;
    use super::*;

    #[test]
    fn some_terms_may_be_burnt_and_no_more_until_one_leads() {
        let ahead = Runs::of(&[(1, 1)]);
        let logs = [Runs::default(), ahead.clone(), ahead];
        let ghost = Ghost::of(logs.clone(), logs, Runs::default());
        let mut check = TermsBurnt::default();
        for term in 1..=BOUND {
            assert!(!check.stood(term, &ghost, 0) && !check.stood(term, &ghost, 1));
        }
        assert!(check.stood(9, &ghost, 0) && !check.stood(9, &ghost, 2));
        check.established();
        assert!(!check.stood(10, &ghost, 0));
        assert_eq!((check.burnt, check.tally.broken), (BOUND + 2, 1));
    }
}
