//! Acknowledged records survive: broken by design with `acks=1`, where a leader alone acknowledges, and where an election may be
//! unclean.

use crate::check::Tally;
use crate::sorted::Sorted;
use tenure::isr::PartitionId;
use tenure::log::{Position, Shape};

#[derive(Clone, Debug, Default)]
pub(super) struct AckLoss {
    /// What was acknowledged and is not known to be lost.
    acknowledged: Sorted<PartitionId, Vec<Position>>,
    pub(super) tally: Tally,
}

impl AckLoss {
    /// A producer is told that its record is in.
    pub(super) fn acknowledged(&mut self, at: PartitionId, position: Position) {
        self.tally.exercised += 1;
        self.acknowledged.or_default(at).push(position);
    }

    /// Whoever leads now has this. Whether it lacks something that was acknowledged; each is counted once.
    pub(super) fn look(&mut self, now: u64, at: PartitionId, log: &Shape) -> bool {
        let Some(acknowledged) = self.acknowledged.get_mut(&at) else {
            return false;
        };
        let before = acknowledged.len();
        acknowledged.retain(|position| log.contains(*position));
        let lost = (before - acknowledged.len()) as u64;
        if lost > 0 {
            self.tally.broken += lost;
            self.tally.first_broken_at.get_or_insert(now);
        }
        lost > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenure::isr::TopicId;

    #[test]
    fn what_a_leader_lacks_is_counted_once() {
        let at = PartitionId {
            topic: TopicId(1),
            index: 0,
        };
        let mut check = AckLoss::default();
        for index in 1..=3 {
            check.acknowledged(at, Position::new(1, index));
        }
        let log = Shape::from_runs([(1, 2), (2, 4)]).unwrap();
        assert!(check.look(5, at, &log) && !check.look(6, at, &log));
        assert_eq!((check.tally.exercised, check.tally.broken), (3, 1));
        assert_eq!(check.tally.first_broken_at, Some(5));
    }
}
