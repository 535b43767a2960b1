//! SEN-MajorityAuthorised: who promotes a replica without an operator's word has the votes of a majority of all sentinels that it
//! knows.

use crate::check::Tally;

#[derive(Clone, Debug, Default)]
pub(super) struct Majority {
    pub(super) tally: Tally,
}

impl Majority {
    /// A sentinel was elected with so many votes of its epoch, of so many voters. Whether they are too few.
    pub(super) fn elected(&mut self, now: u64, votes: usize, voters: usize) -> bool {
        self.tally.note(now, votes <= voters / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_votes_are_too_few() {
        let mut check = Majority::default();
        assert!(check.elected(1, 2, 4) && !check.elected(2, 3, 4) && !check.elected(3, 3, 5));
    }
}
