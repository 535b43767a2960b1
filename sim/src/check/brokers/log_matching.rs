//! KR-LogMatching, of partitions: two replicas that have a record of one offset and epoch agree up to it, and no two records
//! have one name.

use crate::check::Tally;
use crate::sorted::Sorted;
use tenure::isr::PartitionId;
use tenure::log::{Position, Shape};

#[derive(Clone, Debug, Default)]
pub(super) struct LogMatching {
    /// Up to where each leader epoch has written.
    written: Sorted<(PartitionId, u64), u64>,
    pub(super) tally: Tally,
}

impl LogMatching {
    /// A leader wrote so many records, the last of them here. Whether another wrote one of that name.
    pub(super) fn wrote(&mut self, now: u64, at: PartitionId, last: Position, count: u64) -> bool {
        let written = self.written.or_default((at, last.term));
        let twice = last.index - count < *written;
        *written = last.index.max(*written);
        self.tally.note(now, twice)
    }

    /// Two replicas of a partition. Whether they agree at one record, and not before it.
    pub(super) fn compare(&mut self, now: u64, one: &Shape, other: &Shape) -> bool {
        let shorter = one.last().index.min(other.last().index);
        let agree = |index: &u64| one.term_at(*index) == other.term_at(*index);
        let common = (1..=shorter).rev().find(agree).unwrap_or(0);
        let holds = (1..common).all(|index| agree(&index));
        self.tally.note(now, !holds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenure::isr::TopicId;

    #[test]
    fn logs_agree_from_the_first_record_to_the_last_common_one() {
        let mut check = LogMatching::default();
        let one = Shape::from_runs([(1, 3), (2, 2)]).unwrap();
        let behind = Shape::from_runs([(1, 2)]).unwrap();
        let other = Shape::from_runs([(1, 1), (2, 4)]).unwrap();
        assert!(!check.compare(1, &one, &behind) && check.compare(2, &one, &other));
    }

    #[test]
    fn a_name_is_written_once() {
        let at = PartitionId {
            topic: TopicId(1),
            index: 0,
        };
        let mut check = LogMatching::default();
        assert!(!check.wrote(1, at, Position::new(1, 3), 3));
        assert!(!check.wrote(2, at, Position::new(2, 3), 1));
        assert!(check.wrote(3, at, Position::new(1, 3), 1));
    }
}
