//! KC-NoStaleCommand, of brokers: none applies metadata that is not committed.

use crate::check::Tally;

#[derive(Clone, Debug, Default)]
pub(super) struct StaleCommand {
    pub(super) tally: Tally,
}

impl StaleCommand {
    /// A broker has applied the log before this offset, of which so much is committed.
    pub(super) fn applied(&mut self, now: u64, next: u64, committed: u64) -> bool {
        self.tally.note(now, next > committed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_committed_is_applied_by_nobody() {
        let mut check = StaleCommand::default();
        assert!(!check.applied(1, 3, 3) && !check.applied(2, 2, 3) && check.applied(3, 4, 3));
        assert_eq!((check.tally.exercised, check.tally.broken), (3, 1));
    }
}
