//! SEN-NoMinorityFailover: sentinels that reach no majority begin no promotion.

use crate::check::Tally;

#[derive(Clone, Debug, Default)]
pub(super) struct NoMinority {
    pub(super) tally: Tally,
}

impl NoMinority {
    /// A sentinel in a minority began an attempt, which is to come to nothing.
    pub(super) fn tried(&mut self, now: u64) {
        self.tally.note(now, false);
    }

    /// A sentinel was elected. Whether it was alone.
    pub(super) fn elected(&mut self, now: u64, alone: bool) -> bool {
        self.tally.note(now, alone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_election_in_a_minority_is_told_and_an_attempt_is_not() {
        let mut check = NoMinority::default();
        check.tried(1);
        assert!(!check.elected(2, false) && check.elected(3, true));
        assert_eq!((check.tally.exercised, check.tally.broken), (3, 1));
    }
}
