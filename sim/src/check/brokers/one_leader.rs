//! At most one broker leads a partition in a leader epoch: the token of replicas and clients is given once.

use crate::check::Tally;
use crate::sorted::Sorted;
use tenure::isr::PartitionId;

#[derive(Clone, Debug, Default)]
pub(super) struct OneLeader {
    leaders: Sorted<(PartitionId, u64), usize>,
    pub(super) tally: Tally,
}

impl OneLeader {
    /// A broker comes to lead. Whether another did in that epoch.
    pub(super) fn leads(&mut self, now: u64, broker: usize, at: PartitionId, epoch: u64) -> bool {
        let first = *self.leaders.keep((at, epoch), broker);
        self.tally.note(now, first != broker)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenure::isr::TopicId;

    #[test]
    fn one_epoch_is_one_brokers() {
        let mut check = OneLeader::default();
        let at = PartitionId {
            topic: TopicId(1),
            index: 0,
        };
        assert!(
            !check.leads(1, 3, at, 1) && !check.leads(2, 4, at, 2) && !check.leads(3, 3, at, 1)
        );
        assert!(check.leads(4, 5, at, 2));
        assert_eq!((check.tally.exercised, check.tally.broken), (4, 1));
    }
}
