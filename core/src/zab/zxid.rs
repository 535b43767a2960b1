//! The names of transactions as ZooKeeper writes them.

use crate::log::{Position, Shape};
use core::fmt;

/// The highest counter of an epoch: whoever leads steps down when it has used it (ZAB-B1, Z-1277).
pub const MAX_COUNTER: u64 = u32::MAX as u64;

/// The name of a transaction: the epoch of the leader that proposed it, and its number in that epoch, counted from 1. `Display`
/// writes it as ZooKeeper does, one hexadecimal number with the epoch in the high 32 bits.
///
/// The machine itself names entries by [`Position`]: the epoch, and the place in the whole log. Within one epoch the two rise
/// together, and the epoch counts first in both, so that they order all entries alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Zxid {
    /// The epoch.
    pub epoch: u64,
    /// The number in it; 0 is the mark of the epoch itself, and no transaction.
    pub counter: u64,
}

impl Zxid {
    /// The name of the entry at `at` in `log`. `None` when there is none, or when the beginning of its epoch was compacted
    /// away together with its numbers.
    #[must_use]
    pub fn of(log: &Shape, at: Position) -> Option<Self> {
        let mut before = log.base();
        for (epoch, count) in log.runs() {
            if epoch == at.term && at.index > before.index && at.index <= before.index + count {
                return (before.term != epoch).then_some(Self {
                    epoch,
                    counter: at.index - before.index,
                });
            }
            before = Position::new(epoch, before.index + count);
        }
        None
    }
}

impl fmt::Display for Zxid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:x}", self.epoch << 32 | self.counter & MAX_COUNTER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn counters_begin_anew_with_each_epoch() {
        let mut log = Shape::from_runs([(1, 5), (3, 2)]).unwrap();
        let zxid = |log: &Shape, epoch, index| Zxid::of(log, Position::new(epoch, index));
        let third = zxid(&log, 3, 7).unwrap();
        assert_eq!((third.epoch, third.counter), (3, 2));
        assert_eq!(third.to_string(), "0x300000002");
        assert_eq!(zxid(&log, 1, 5).unwrap().to_string(), "0x100000005");
        assert_eq!(zxid(&log, 2, 6), None);
        assert_eq!(zxid(&log, 3, 8), None);
        log.compact(2);
        assert_eq!(zxid(&log, 1, 4), None);
        assert_eq!(zxid(&log, 3, 6).unwrap().counter, 1);
    }
}
