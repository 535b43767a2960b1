//! What brokers, controllers, producers and consumers say to each other.

use tenure::isr::{Answer, Consumed, Message, PartitionId, Record, Request};
use tenure::log::Position;
use tenure::{NodeId, Ticket};

/// Who asks a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Asker {
    /// A broker.
    Broker,
    /// Its replica of a partition.
    Replica(PartitionId),
    /// A client.
    Client,
}

/// A partition, as a broker describes it to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Described {
    /// Which.
    pub at: PartitionId,
    /// Who leads it.
    pub leader: Option<NodeId>,
    /// In which leader epoch.
    pub epoch: u64,
}

/// What a producer is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Produced {
    /// It is acknowledged, and this is the name of its last record.
    Acknowledged(Position),
    /// `NOT_LEADER_OR_FOLLOWER`.
    NotLeader,
    /// `NOT_ENOUGH_REPLICAS`, or `NOT_ENOUGH_REPLICAS_AFTER_APPEND`: it may stay.
    NotEnoughReplicas,
    /// Whoever took it leads no more: it may stay.
    Unknown,
}

/// One of the things that are said.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Said {
    /// A broker asks a controller for what the metadata log has after an entry.
    FetchMetadata {
        /// To tell the answer by.
        number: u64,
        /// The latest epoch of the log that it knows of.
        epoch: u64,
        /// The last entry that it has.
        after: Position,
        /// What it knows to be committed.
        committed: u64,
    },
    /// The entries after that one.
    Metadata {
        /// Of the question.
        number: u64,
        /// In which the one that answers leads.
        epoch: u64,
        /// What comes after the last entry of the asker; nothing in those of the log's own.
        entries: Vec<(Position, Option<Record>)>,
        /// What is committed of the log.
        committed: u64,
    },
    /// The last entry of the asker is not in the log.
    MetadataDiverges {
        /// Of the question.
        number: u64,
        /// In which the one that answers leads.
        epoch: u64,
        /// The last entry that both can have.
        at: Position,
    },
    /// The one that was asked for metadata does not lead.
    NoMetadata {
        /// Of the question.
        number: u64,
        /// Who does, as far as it knows.
        leader: Option<u16>,
    },
    /// Somebody asks the controller.
    Ask {
        /// Who of the sender.
        asker: Asker,
        /// To tell the answer by.
        ticket: Ticket,
        /// What.
        request: Request,
    },
    /// The controller answers.
    Answer {
        /// Whom.
        asker: Asker,
        /// Of the question.
        ticket: Ticket,
        /// What.
        answer: Answer,
        /// Who leads, where the one that was asked does not.
        leader: Option<u16>,
    },
    /// One replica of a partition to another.
    Replica(PartitionId, Message),
    /// A producer has a record for a partition.
    Produce {
        /// To tell the answer by.
        number: u64,
        /// For which.
        at: PartitionId,
    },
    /// What became of it.
    Produced {
        /// Of the request.
        number: u64,
        /// What.
        what: Produced,
    },
    /// A consumer that has read so many records of a partition wants more.
    Consume {
        /// To tell the answer by.
        number: u64,
        /// Of which.
        at: PartitionId,
        /// The leader epoch, as it knows it.
        epoch: u64,
        /// How many it has read.
        after: u64,
    },
    /// What there is.
    Consumed {
        /// Of the request.
        number: u64,
        /// What.
        what: Consumed,
    },
    /// A client asks a broker who leads what.
    Describe {
        /// To tell the answer by.
        number: u64,
    },
    /// That.
    Partitions {
        /// Of the request.
        number: u64,
        /// All partitions, as that broker knows them.
        partitions: Vec<Described>,
    },
}
