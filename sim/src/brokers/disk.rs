//! What a broker's disk has: the logs of its replicas, which nobody waits for, and what is written down beside them.

use crate::sorted::Sorted;
use tenure::isr::PartitionId;
use tenure::log::Shape;

/// The log of a replica while no process has it.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    pub(super) log: Shape,
    /// How much of it was flushed; the rest is in the memory of the machine.
    flushed: u64,
    /// The high watermark, as it was written down.
    pub(super) high_watermark: u64,
}

/// The disk of a broker.
#[derive(Clone, Debug, Default)]
pub(super) struct Disk {
    logs: Sorted<PartitionId, Kept>,
    /// The proof that the last life went in good order: its broker epoch.
    pub(super) proof: Option<u64>,
}

impl Disk {
    /// Everything that a replica has is on the medium, and its high watermark is written down.
    pub(super) fn flush(&mut self, at: PartitionId, log: &Shape, high_watermark: u64) {
        let flushed = log.last().index;
        let log = log.clone();
        let kept = Kept {
            log,
            flushed,
            high_watermark,
        };
        self.logs.insert(at, kept);
    }

    /// The process is gone, and what it wrote is with its machine.
    pub(super) fn leave(&mut self, at: PartitionId, log: &Shape) {
        let kept = self.logs.or_default(at);
        kept.log = log.clone();
        kept.flushed = kept.flushed.min(log.last().index);
    }

    /// A process begins with what there is. What was written down stays there.
    pub(super) fn read(&self, at: PartitionId) -> Kept {
        self.logs.get(&at).cloned().unwrap_or_default()
    }

    /// The first partition that is on it.
    pub(super) fn first(&self) -> Option<PartitionId> {
        self.logs.iter().next().map(|(at, _)| *at)
    }

    /// A log is cut off: what comes after is not flushed.
    pub(super) fn cut(&mut self, at: PartitionId, index: u64) {
        if let Some(kept) = self.logs.get_mut(&at) {
            kept.flushed = kept.flushed.min(index);
        }
    }

    /// A partition is gone.
    pub(super) fn remove(&mut self, at: PartitionId) {
        self.logs.remove(&at);
    }

    /// The machine loses its power, and what was not flushed: of which logs.
    pub(super) fn cut_power(&mut self) -> Vec<PartitionId> {
        let lose = |(at, kept): (&PartitionId, &mut Kept)| {
            let lost = kept.log.last().index > kept.flushed;
            kept.log.truncate(kept.flushed);
            lost.then_some(*at)
        };
        self.logs.iter_mut().filter_map(lose).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenure::isr::TopicId;

    #[test]
    fn what_was_not_flushed_goes_with_the_power() {
        let at = PartitionId {
            topic: TopicId(1),
            index: 0,
        };
        let (mut disk, mut log) = (Disk::default(), Shape::new());
        log.append(1, 5).unwrap();
        disk.flush(at, &log, 3);
        log.append(1, 2).unwrap();
        disk.leave(at, &log);
        assert_eq!(disk.read(at).log.last().index, 7);
        assert_eq!(disk.cut_power(), [at]);
        assert_eq!(disk.read(at).log.last().index, 5);
        assert_eq!(
            (disk.read(at).high_watermark, disk.cut_power()),
            (3, vec![])
        );
        // What was flushed before it was cut off is not what is there now.
        log.truncate(4);
        disk.cut(at, 4);
        log.append(2, 4).unwrap();
        disk.leave(at, &log);
        assert_eq!(
            (disk.cut_power(), disk.read(at).log.last().index),
            (vec![at], 4)
        );
    }
}
