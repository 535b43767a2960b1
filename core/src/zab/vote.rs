//! Votes: how they compare, and when two of them count as one.

use crate::NodeId;
use crate::log::Position;

/// Whom somebody wants to lead, and what is known of that one's history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Vote {
    /// The leader that is proposed or followed.
    pub leader: NodeId,
    /// The end of its log as it was proposed. `None` is ZooKeeper's −1: it has nothing on its disk and may not count (Z-261).
    pub zxid: Option<Position>,
    /// Its current epoch as it was proposed; once synchronised, the epoch that was established (FLE-9).
    pub epoch: u64,
}

impl Vote {
    /// Whether it beats `other` by FLE-O: epoch, then end of the log, then id, each counting only where those before are equal.
    #[must_use]
    pub fn beats(self, other: Self) -> bool {
        (self.epoch, self.zxid, self.leader) > (other.epoch, other.zxid, other.leader)
    }

    /// As [`beats`](Self::beats) was before Z-1419: the id counted wherever the logs were equal, whatever the epochs.
    pub(super) fn beat_once(self, other: Self) -> bool {
        self.epoch > other.epoch
            || self.epoch == other.epoch && self.zxid > other.zxid
            || self.zxid == other.zxid && self.leader > other.leader
    }
}

/// What a sender is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// It elects.
    Looking,
    /// It follows the one it votes for.
    Following,
    /// It leads.
    Leading,
    /// It follows without a vote.
    Observing,
}

/// A vote as it was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Told {
    pub(super) vote: Vote,
    pub(super) round: u64,
    pub(super) state: State,
}

impl Told {
    /// FLE-E: whether the two count as one vote. Where either sender looks, all must agree; otherwise leader and epoch, for what
    /// else was true of the election is forgotten by who joined later (Z-1732).
    ///
    /// ZooKeeper compares the leader alone where such votes are of its own round; here the epoch counts on both paths.
    pub(super) fn counts_with(&self, other: &Self) -> bool {
        if self.state == State::Looking || other.state == State::Looking {
            self.vote == other.vote && self.round == other.round
        } else {
            (self.vote.leader, self.vote.epoch) == (other.vote.leader, other.vote.epoch)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vote(epoch: u64, index: u64, leader: u64) -> Vote {
        Vote {
            leader: NodeId(leader),
            zxid: Some(Position::new(u64::from(index > 0), index)),
            epoch,
        }
    }

    /// Z-1419: with the third clause of old each of two votes beats the other.
    #[test]
    fn the_order_is_total() {
        let (a, b) = (vote(1, 0, 1), vote(0, 0, 3));
        assert!(a.beats(b) && !b.beats(a));
        assert!(a.beat_once(b) && b.beat_once(a));
        let blank = Vote { zxid: None, ..b };
        assert!(b.beats(blank) && !blank.beats(b) && !b.beats(b));
    }

    #[test]
    fn what_is_over_compares_by_leader_and_epoch() {
        let told = |state, round, index| Told {
            vote: vote(1, index, 3),
            round,
            state,
        };
        let (old, new) = (told(State::Leading, 4, 0), told(State::Following, 9, 5));
        assert!(old.counts_with(&new));
        let looking = told(State::Looking, 9, 5);
        assert!(!looking.counts_with(&old) && looking.counts_with(&new));
    }
}
