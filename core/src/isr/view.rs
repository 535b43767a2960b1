//! What a replica is told of its partition.

use super::image::Image;
use super::places::Places;
use super::record::PartitionId;
use crate::NodeId;
use alloc::sync::Arc;

/// A partition as a broker has it from the log, for the replica that it keeps.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct View {
    /// Which.
    pub at: PartitionId,
    /// By whom it is kept.
    pub replicas: Arc<[NodeId]>,
    /// By which registration the broker is there that this is told to.
    pub broker_epoch: u64,
    /// Who leads.
    pub leader: Option<NodeId>,
    /// In which leader epoch.
    pub leader_epoch: u64,
    /// Of which state of the partition this is.
    pub partition_epoch: u64,
    /// Who is in sync.
    pub isr: Places,
    /// Who may enter the ISR: neither fenced nor about to go.
    pub active: Places,
    /// `min.insync.replicas`, and no more than there are replicas.
    pub min_isr: u8,
    /// Whether the leader has yet to see to what it may lack.
    pub recovering: bool,
}

impl View {
    /// As the log has it so far, for a broker.
    pub(super) fn of(image: &Image, at: PartitionId, broker: NodeId) -> Option<Self> {
        let (topic, partition) = (image.topic(at.topic)?, image.partition(at)?);
        let count = u8::try_from(partition.replicas.len()).unwrap_or(u8::MAX);
        Some(Self {
            at,
            replicas: partition.replicas.clone(),
            broker_epoch: image.broker(broker)?.epoch,
            leader: partition.leader,
            leader_epoch: partition.leader_epoch,
            partition_epoch: partition.partition_epoch,
            isr: partition.isr,
            active: Places::that(&partition.replicas, |who| image.is_active(who)),
            min_isr: topic.min_isr.min(count),
            recovering: partition.recovering,
        })
    }

    /// The place of a replica.
    #[must_use]
    pub fn place(&self, broker: NodeId) -> Option<usize> {
        self.replicas.iter().position(|replica| *replica == broker)
    }
}
