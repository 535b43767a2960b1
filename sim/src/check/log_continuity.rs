//! ZK-LogContinuity: no log on a disk has a hole: what is appended follows the last entry of the log.

use super::Tally;
use super::runs::Runs;
use tenure::log::Position;

/// Follows what is appended.
#[derive(Clone, Debug, Default)]
pub(super) struct LogContinuity {
    pub(super) tally: Tally,
}

impl LogContinuity {
    /// Entries are appended after one, to a log as the disk was asked to hold it.
    pub(super) fn appended(&mut self, now: u64, log: &Runs, after: Position) -> bool {
        let end = Position::new(log.last_term(), log.last());
        self.tally.note(now, after != end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_appended_follows_the_last_entry() {
        let log = Runs::of(&[(1, 3), (2, 2)]);
        let mut check = LogContinuity::default();
        assert!(!check.appended(1, &log, Position::new(2, 5)));
        assert!(check.appended(2, &log, Position::new(2, 6)), "a hole");
        assert!(check.appended(3, &log, Position::new(2, 4)), "in the midst");
        assert!(
            check.appended(4, &log, Position::new(1, 5)),
            "of another epoch"
        );
        assert_eq!((check.tally.exercised, check.tally.broken), (4, 3));
    }
}
