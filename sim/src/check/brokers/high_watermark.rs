//! KR-HWMonotone, of partitions: the high watermark of a replica does not fall while it lives, and for a consumer it never
//! does: what it has read is there, and is what it was.

use super::clean_no_loss::agrees;
use crate::check::Tally;
use crate::sorted::Sorted;
use tenure::isr::{Consumed, PartitionId};
use tenure::log::Shape;

#[derive(Clone, Debug, Default)]
pub(super) struct HighWatermark {
    /// The epoch of every record that a consumer has read.
    read: Sorted<PartitionId, Vec<u64>>,
    pub(super) tally: Tally,
}

impl HighWatermark {
    /// A replica knew so many records to be committed, and knows so many now.
    pub(super) fn is_at(&mut self, now: u64, before: u64, after: u64) -> bool {
        before != after && self.tally.note(now, after < before)
    }

    /// A consumer that has read so many records is told this. `excused` where nothing is promised of who tells it, and
    /// `unclean` where what it has read may be lost by design.
    pub(super) fn consumed(
        &mut self,
        now: u64,
        at: PartitionId,
        after: u64,
        what: Consumed,
        excused: bool,
        unclean: bool,
    ) -> bool {
        if excused {
            return false;
        }
        let read = self.read.or_default(at);
        match what {
            Consumed::Records { written, count } => {
                let mut other = false;
                for index in after..after + count {
                    match read.get(index as usize) {
                        Some(before) => other |= *before != written,
                        None if index as usize == read.len() => read.push(written),
                        None => {}
                    }
                }
                self.tally.note(now, other)
            }
            Consumed::OutOfRange if !unclean => self.tally.note(now, true),
            _ => false,
        }
    }

    /// What this leader lacks is lost by design.
    pub(super) fn pardon(&mut self, at: PartitionId, log: &Shape) {
        if let Some(read) = self.read.get_mut(&at) {
            read.truncate(agrees(read, log));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenure::isr::TopicId;

    #[test]
    fn what_was_read_stays_what_it_was() {
        let at = PartitionId {
            topic: TopicId(1),
            index: 0,
        };
        let mut check = HighWatermark::default();
        let records = |written, count| Consumed::Records { written, count };
        let mut tell = |after, what| check.consumed(1, at, after, what, false, false);
        assert!(!tell(0, records(1, 3)) && !tell(0, records(1, 2)));
        assert!(tell(2, records(2, 1)) && tell(3, Consumed::OutOfRange));
        assert!(!check.is_at(2, 3, 3) && !check.is_at(3, 3, 4) && check.is_at(4, 4, 2));
        assert_eq!((check.tally.exercised, check.tally.broken), (6, 3));
    }
}
