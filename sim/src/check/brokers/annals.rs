//! What became of brokers and partitions, in order of time, for whoever is told a run: kept where it is asked for.

use tenure::isr::{Image, Partition, PartitionId, Registration};

/// Something that happened, and when.
#[derive(Clone, Debug)]
pub(crate) struct Annal {
    /// True time: of what the metadata log says, when anybody first applied it.
    pub(crate) at: u64,
    /// What.
    pub(crate) what: Happened,
}

/// What happened.
#[derive(Clone, Debug)]
pub(crate) enum Happened {
    /// A broker is registered, or may do something else than before.
    Broker(Option<Registration>, Registration),
    /// A partition is made, changed, or deleted.
    Partition(PartitionId, Option<Partition>, Option<Partition>),
    /// A broker went in good order.
    Went(usize),
    /// A broker ended with its disk.
    DiskFailed(usize),
    /// A broker that led hears that it leads no more.
    Deposed(PartitionId, usize),
    /// A replica cuts off so many records.
    Cut(PartitionId, usize, u64),
    /// So many records that were acknowledged are not on the one that leads now.
    Lost(PartitionId, usize, u64),
}

/// All that happened, where it is kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Annals {
    pub(super) kept: Option<Vec<Annal>>,
}

impl Annals {
    pub(super) fn add(&mut self, at: u64, what: Happened) {
        if let Some(kept) = &mut self.kept {
            kept.push(Annal { at, what });
        }
    }

    /// What the log says changed.
    pub(super) fn compare(&mut self, at: u64, before: &Image, now: &Image) {
        if self.kept.is_none() {
            return;
        }
        for broker in now.brokers() {
            let was = before.broker(broker.broker).copied();
            if was != Some(*broker) {
                self.add(at, Happened::Broker(was, *broker));
            }
        }
        for (id, _, partition) in now.partitions() {
            let was = before.partition(id);
            if was != Some(partition) {
                let what = Happened::Partition(id, was.cloned(), Some(partition.clone()));
                self.add(at, what);
            }
        }
        for (id, _, partition) in before.partitions() {
            if now.partition(id).is_none() {
                self.add(at, Happened::Partition(id, Some(partition.clone()), None));
            }
        }
    }
}
