//! What a client was told is done stays done: every leader that may act has it.

use super::Tally;
use super::logs::Ghost;
use tenure::log::Position;

/// Follows what clients were told.
#[derive(Clone, Debug, Default)]
pub(super) struct AcknowledgedSurvives {
    /// The highest entry that a client was told of.
    told: Option<Position>,
    pub(super) tally: Tally,
}

impl AcknowledgedSurvives {
    /// A client is told what an entry came to.
    pub(super) fn answered(&mut self, at: Position) {
        if self.told.is_none_or(|told| told.index < at.index) {
            self.told = Some(at);
        }
    }

    /// A leader of a term may act. Whether it lacks what a client was told of; one of an earlier term that is allowed to act late
    /// owes nothing to a later one.
    pub(super) fn established(&mut self, now: u64, ghost: &Ghost, node: usize, term: u64) -> bool {
        let told = self.told.filter(|told| told.term <= term);
        told.is_some_and(|told| {
            let lacks = !ghost.logs[node].has(told.index, told.term);
            self.tally.note(now, lacks)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::runs::Runs;
    use super::*;

    #[test]
    fn a_leader_that_lacks_what_was_acknowledged_is_found() {
        let logs = [Runs::of(&[(1, 4)]), Runs::default()];
        let ghost = Ghost::of(logs, Default::default(), Runs::default());
        let mut check = AcknowledgedSurvives::default();
        assert!(
            !check.established(1, &ghost, 1, 2),
            "nobody was told of anything"
        );
        check.answered(Position::new(1, 4));
        check.answered(Position::new(1, 2));
        assert!(!check.established(2, &ghost, 0, 2) && check.established(3, &ghost, 1, 2));
        assert!(
            !check.established(4, &ghost, 1, 0),
            "it was elected before that"
        );
        assert_eq!((check.tally.exercised, check.tally.broken), (2, 1));
    }
}
