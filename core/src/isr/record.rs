//! The records of the metadata log: all that a controller decides, and all that brokers know.

use super::places::Places;
use crate::NodeId;
use alloc::sync::Arc;

/// The number of a topic, never used again for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TopicId(pub u64);

/// A partition of a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartitionId {
    /// Of this topic.
    pub topic: TopicId,
    /// Counted from 0.
    pub index: u32,
}

/// What is decided of one thing, at one offset of the log. Payload-free but for what it decides: small, and cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Record {
    /// `RegisterBrokerRecord`: a broker is there, fenced. Its broker epoch is the offset of this record.
    RegisterBroker {
        /// Who.
        broker: NodeId,
        /// Which of its lives.
        incarnation: u64,
    },
    /// `BrokerRegistrationChangeRecord`: what a broker may do.
    ChangeBroker {
        /// Who.
        broker: NodeId,
        /// By which registration.
        epoch: u64,
        /// Whether it may neither lead nor be in an ISR.
        fenced: bool,
        /// Whether it is about to go.
        shutting_down: bool,
    },
    /// `TopicRecord`, with what is configured of it.
    CreateTopic {
        /// Which.
        topic: TopicId,
        /// `min.insync.replicas`.
        min_isr: u8,
        /// `unclean.leader.election.enable`.
        unclean: bool,
    },
    /// `PartitionRecord`: the next partition of a topic. The first of its ISR leads.
    CreatePartition {
        /// Which.
        at: PartitionId,
        /// By whom it is kept, the preferred leader first.
        replicas: Arc<[NodeId]>,
        /// Who is in sync.
        isr: Places,
    },
    /// `PartitionChangeRecord`.
    ChangePartition {
        /// Which.
        at: PartitionId,
        /// What is different from now on.
        change: Change,
    },
    /// `RemoveTopicRecord`: the topic is gone with all that it has.
    RemoveTopic {
        /// Which.
        topic: TopicId,
    },
}

/// What is different in a partition; `None` is as before. The partition epoch rises with it, and the leader epoch whenever
/// the leader is written, be it the same one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Change {
    /// Who leads; nobody when `Some(None)`.
    pub leader: Option<Option<NodeId>>,
    /// Who is in sync.
    pub isr: Option<Places>,
    /// Who is known to have all that was committed, and not in sync.
    pub elr: Option<Places>,
    /// Who led last before there was nobody.
    pub last_known: Option<Option<NodeId>>,
    /// Whether the leader may lack what was committed, and has yet to see to it.
    pub recovering: Option<bool>,
}

impl Change {
    /// Nothing is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
