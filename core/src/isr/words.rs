//! What a controller is asked, and what it answers.

use super::places::Places;
use super::record::{PartitionId, TopicId};
use crate::NodeId;
use crate::listed::listed;
use alloc::vec::Vec;

/// The most partitions that one request creates: as many as fit a batch of the log beside others.
pub const MAX_PARTITIONS: u32 = 1_000;

/// What is asked of the controller.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    /// `BrokerRegistration`: a life of a broker begins.
    Register {
        /// Who.
        broker: NodeId,
        /// Which of its lives.
        incarnation: u64,
        /// The broker epoch of its former life, if that went in good order: then its disk has all that it had.
        clean: Option<u64>,
    },
    /// `BrokerHeartbeat`.
    Heartbeat {
        /// Who.
        broker: NodeId,
        /// By which registration.
        epoch: u64,
        /// All of the metadata log before this offset it has applied.
        offset: u64,
        /// It is not ready to serve.
        want_fence: bool,
        /// It is about to go.
        want_shutdown: bool,
    },
    /// `AlterPartition`: the leader of a partition wants another ISR.
    AlterPartition(AlterPartition),
    /// `CreateTopics`, of one topic. Replicas are spread over the active brokers.
    CreateTopic {
        /// Which. The number is the host's to draw, never twice.
        topic: TopicId,
        /// Of how many partitions.
        partitions: u32,
        /// On how many brokers each.
        replication: u8,
        /// `min.insync.replicas`.
        min_isr: u8,
        /// `unclean.leader.election.enable`.
        unclean: bool,
    },
    /// `DeleteTopics`, of one topic.
    DeleteTopic {
        /// Which.
        topic: TopicId,
    },
    /// `ElectLeaders`, of one partition.
    ElectLeader {
        /// Of which.
        at: PartitionId,
        /// By which rules.
        election: Election,
    },
}

/// By which rules a leader is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Election {
    /// Who leads stays, if valid; else the first that is (KP-any).
    Any,
    /// The preferred replica, if valid (KP-preferred).
    Preferred,
    /// If nobody is valid, the first that is active, though it may lack what was committed (KP-unclean).
    Unclean,
}

/// That the leader of a partition wants another ISR.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AlterPartition {
    /// Of which.
    pub at: PartitionId,
    /// Who leads it.
    pub broker: NodeId,
    /// By which registration.
    pub broker_epoch: u64,
    /// In which leader epoch.
    pub leader_epoch: u64,
    /// Which state of the partition it would change.
    pub partition_epoch: u64,
    /// Who is to be in sync, the leader included.
    pub isr: Vec<Member>,
    /// Whether the leader still has to see to what it may lack.
    pub recovering: bool,
}

/// Somebody who is to be in sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Member {
    /// Who.
    pub broker: NodeId,
    /// By which registration it was found to be, if it spoke since the leader leads (KIP-903).
    pub epoch: Option<u64>,
}

/// What the controller answers. Only once all that it was decided by is committed (KC-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// To [`Register`](Request::Register).
    Registered {
        /// The broker epoch.
        epoch: u64,
    },
    /// To [`Heartbeat`](Request::Heartbeat).
    Heartbeat {
        /// Whether the broker has applied its own registration.
        caught_up: bool,
        /// Whether it is fenced.
        fenced: bool,
        /// Whether it may go now.
        may_stop: bool,
    },
    /// To [`AlterPartition`](Request::AlterPartition).
    Altered {
        /// The leader epoch as it is now.
        leader_epoch: u64,
        /// The partition epoch as it is now.
        partition_epoch: u64,
        /// The ISR as it is now.
        isr: Places,
        /// Whether the leader still has to see to what it may lack.
        recovering: bool,
    },
    /// To [`CreateTopic`](Request::CreateTopic) and [`DeleteTopic`](Request::DeleteTopic).
    Done,
    /// To [`ElectLeader`](Request::ElectLeader).
    Elected {
        /// Who leads now.
        leader: NodeId,
    },
    /// It is not done.
    Fault(Fault),
}

listed! {
    /// Why something is not done.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    #[repr(u8)]
    pub enum Fault {
        /// `NOT_CONTROLLER`: ask another.
        NotController,
        /// What was decided may be lost, or not: the controller stopped leading before it was committed. Ask again.
        Unknown,
        /// Too much waits to be committed. Ask later.
        Busy,
        /// `BROKER_ID_NOT_REGISTERED`.
        NotRegistered,
        /// `STALE_BROKER_EPOCH`: another life of the broker is registered.
        StaleBrokerEpoch,
        /// `DUPLICATE_BROKER_REGISTRATION`: another life of the broker is there.
        DuplicateRegistration,
        /// `UNKNOWN_TOPIC_OR_PARTITION`.
        UnknownPartition,
        /// `TOPIC_ALREADY_EXISTS`.
        TopicExists,
        /// `INVALID_PARTITIONS`: none, or more than [`MAX_PARTITIONS`].
        InvalidPartitions,
        /// `INVALID_REPLICATION_FACTOR`: none, or more than there are active brokers.
        InvalidReplication,
        /// `FENCED_LEADER_EPOCH`: there is a later leader epoch.
        FencedLeaderEpoch,
        /// `INVALID_UPDATE_VERSION`: the partition was changed since.
        InvalidUpdateVersion,
        /// `INVALID_REQUEST`: it is not the leader's to ask, or makes no sense.
        InvalidRequest,
        /// `INELIGIBLE_REPLICA`: somebody who is fenced, about to go, or there in another life.
        IneligibleReplica,
        /// `ELECTION_NOT_NEEDED`: it is so already.
        ElectionNotNeeded,
        /// `PREFERRED_LEADER_NOT_AVAILABLE`.
        PreferredNotAvailable,
        /// `ELIGIBLE_LEADERS_NOT_AVAILABLE`.
        NobodyEligible,
        /// `NOT_LEADER_OR_FOLLOWER`, `UNKNOWN_LEADER_EPOCH`: the one that was asked does not lead, or not yet.
        NotLeader,
    }
}
