//! SEN-NoAckLoss: writes that were acknowledged survive. Sentinel promises no such thing.

use crate::check::Tally;
use crate::sorted::Sorted;
use tenure::NodeId;
use tenure::sentinel::data::{History, Mark, Origin};

#[derive(Clone, Debug, Default)]
pub(super) struct AckLoss {
    /// What was acknowledged and not lost, by who wrote it: the first offset and the last. What one origin writes is in a row.
    acknowledged: Sorted<Origin, (u64, u64)>,
    pub(super) tally: Tally,
}

impl AckLoss {
    pub(super) fn acknowledged(&mut self, mark: Mark) {
        let first = (mark.offset, mark.offset);
        let (_, last) = self.acknowledged.keep(mark.origin, first);
        *last = mark.offset.max(*last);
    }

    /// All hold one configuration, with a master that has this, after another or with others that take writes: what servers `of`
    /// that master acknowledged is looked for. Whether something is lost that was not before.
    pub(super) fn settled(
        &mut self,
        now: u64,
        history: &History,
        of: impl Fn(NodeId) -> bool,
    ) -> bool {
        let mut lost = 0;
        (self.acknowledged).retain(|origin, (first, last)| {
            if !of(origin.node) {
                return true;
            }
            self.tally.exercised += *last + 1 - *first;
            // What is there of them is a beginning.
            let (mut low, mut high) = (*first, *last + 1);
            while low < high {
                let middle = low + (high - low) / 2;
                let mark = Mark {
                    origin: *origin,
                    offset: middle,
                };
                if history.contains(mark) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            lost += *last + 1 - low;
            *last = low.saturating_sub(1);
            low > *first
        });
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

    #[test]
    fn what_the_new_master_lacks_is_counted_once() {
        let origin = |node| Origin {
            node: NodeId(node),
            incarnation: 1,
            turn: 1,
        };
        let of = |node: NodeId| node.0 < 9;
        let mut check = AckLoss::default();
        let (mut old, mut new) = (History::new(), History::new());
        old.append(origin(3), 10);
        new.append(origin(3), 7);
        for offset in 1..=10 {
            check.acknowledged(Mark {
                origin: origin(3),
                offset,
            });
        }
        assert!(!check.settled(1, &old, of) && check.settled(2, &new, of));
        new.append(origin(4), 2);
        assert!(!check.settled(3, &new, of));
        assert_eq!((check.tally.exercised, check.tally.broken), (27, 3));
    }
}
