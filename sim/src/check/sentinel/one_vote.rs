//! SEN-OneVote: a sentinel votes at most once for each master and epoch, over all restarts.

use crate::check::Tally;
use crate::sorted::Sorted;
use tenure::sentinel::MasterName;

#[derive(Clone, Debug, Default)]
pub(super) struct OneVote {
    /// Whom each voted for, by master, epoch and voter.
    votes: Sorted<(MasterName, u64, usize), usize>,
    pub(super) tally: Tally,
}

impl OneVote {
    /// A vote was told, or counted. Whether there was another.
    pub(super) fn voted(
        &mut self,
        now: u64,
        voter: usize,
        name: MasterName,
        epoch: u64,
        leader: usize,
    ) -> bool {
        let first = *self.votes.keep((name, epoch, voter), leader);
        self.tally.note(now, first != leader)
    }

    /// How many voted for one.
    pub(super) fn votes(&self, name: MasterName, epoch: u64, leader: usize) -> usize {
        let votes = self.votes.from(|key| *key < (name, epoch, 0));
        let of_epoch = votes.take_while(|((of, at, _), _)| (*of, *at) == (name, epoch));
        of_epoch.filter(|(_, other)| **other == leader).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_vote_of_an_epoch_is_told() {
        let (mut check, name) = (OneVote::default(), MasterName(0));
        assert!(!check.voted(1, 0, name, 7, 1) && !check.voted(2, 0, name, 7, 1));
        assert!(!check.voted(3, 0, name, 8, 2) && !check.voted(3, 2, name, 7, 1));
        assert!(check.voted(4, 0, name, 7, 2));
        assert_eq!((check.votes(name, 7, 1), check.tally.broken), (2, 1));
    }
}
