//! What a broker's disk has: the logs of its replicas, which nobody waits for, and what is written down beside them.
//!
//! A disk that lies keeps what it is given in its cache, and writes in an order of its own. When the power goes, the worst is
//! assumed: the small file that proves a good end has come to the medium, and what was appended to the logs has not.

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
    /// Of one that answers before it has written: the logs as they are on the medium.
    medium: Option<Sorted<PartitionId, Kept>>,
    /// Whether what is to be flushed next fails.
    fails: bool,
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

    /// From now on it answers before it has written. False when it does already.
    pub(super) fn lie(&mut self) -> bool {
        let lies = self.medium.is_some();
        if !lies {
            let flushed = |(at, kept): (&PartitionId, &Kept)| {
                let mut kept = kept.clone();
                kept.log.truncate(kept.flushed);
                (*at, kept)
            };
            self.medium = Some(self.logs.iter().map(flushed).collect());
        }
        !lies
    }

    /// What is to be flushed next fails. False when it will already.
    pub(super) fn fail(&mut self) -> bool {
        !std::mem::replace(&mut self.fails, true)
    }

    /// Something is to be flushed. Whether that fails.
    pub(super) fn fails_now(&mut self) -> bool {
        std::mem::take(&mut self.fails)
    }

    /// Another disk takes its place, an empty one. What is gone with it: of which logs; nothing where it was empty.
    pub(super) fn wipe(&mut self) -> Option<Vec<PartitionId>> {
        let old = std::mem::take(self);
        let empty = old.logs.len() == 0 && old.proof.is_none() && !old.is_damaged();
        (!empty).then(|| old.logs.iter().map(|(at, _)| *at).collect())
    }

    /// Whether it lies, or will fail.
    pub(super) const fn is_damaged(&self) -> bool {
        self.medium.is_some() || self.fails
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
        if let Some(medium) = &mut self.medium {
            medium.remove(&at);
        }
    }

    /// The machine loses its power, and what was not flushed, or is not on the medium of a disk that lies: of which logs.
    pub(super) fn cut_power(&mut self) -> Vec<PartitionId> {
        let Some(medium) = &self.medium else {
            return self.lose_unflushed();
        };
        let held = std::mem::replace(&mut self.logs, medium.clone());
        let lost = held.iter().filter(|(at, held)| {
            let kept = self.logs.get(*at);
            kept.is_none_or(|kept| kept.log != held.log)
        });
        lost.map(|(at, _)| *at).collect()
    }

    /// What was not flushed is gone: of which logs.
    pub(super) fn lose_unflushed(&mut self) -> Vec<PartitionId> {
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

    const AT: PartitionId = PartitionId {
        topic: TopicId(1),
        index: 0,
    };

    #[test]
    fn what_was_not_flushed_goes_with_the_power() {
        let (mut disk, mut log) = (Disk::default(), Shape::new());
        log.append(1, 5).unwrap();
        disk.flush(AT, &log, 3);
        log.append(1, 2).unwrap();
        disk.leave(AT, &log);
        assert_eq!(disk.read(AT).log.last().index, 7);
        assert_eq!(disk.cut_power(), [AT]);
        assert_eq!(disk.read(AT).log.last().index, 5);
        assert_eq!(
            (disk.read(AT).high_watermark, disk.cut_power()),
            (3, vec![])
        );
        // What was flushed before it was cut off is not what is there now.
        log.truncate(4);
        disk.cut(AT, 4);
        log.append(2, 4).unwrap();
        disk.leave(AT, &log);
        assert_eq!(
            (disk.cut_power(), disk.read(AT).log.last().index),
            (vec![AT], 4)
        );
    }

    #[test]
    fn a_disk_that_lies_has_what_it_had_when_the_power_goes_and_the_proof_of_a_good_end() {
        let (mut disk, mut log) = (Disk::default(), Shape::new());
        log.append(1, 5).unwrap();
        disk.flush(AT, &log, 3);
        assert!(disk.lie() && !disk.lie() && disk.is_damaged());
        log.append(1, 2).unwrap();
        disk.flush(AT, &log, 6);
        disk.proof = Some(9);
        assert_eq!(disk.read(AT).log.last().index, 7);
        assert_eq!(disk.cut_power(), [AT]);
        let kept = disk.read(AT);
        assert_eq!((kept.log.last().index, kept.high_watermark), (5, 3));
        assert_eq!((disk.proof, disk.cut_power()), (Some(9), vec![]));
        // It lies on, until another takes its place.
        assert_eq!(disk.wipe(), Some(vec![AT]));
        assert!(!disk.is_damaged() && disk.wipe().is_none());
    }

    #[test]
    fn what_fails_to_be_flushed_is_gone_and_fails_once() {
        let (mut disk, mut log) = (Disk::default(), Shape::new());
        log.append(1, 5).unwrap();
        disk.leave(AT, &log);
        assert!(disk.fail() && !disk.fail());
        assert!(disk.fails_now() && !disk.fails_now());
        assert_eq!(
            (disk.lose_unflushed(), disk.read(AT).log.last().index),
            (vec![AT], 0)
        );
    }
}
