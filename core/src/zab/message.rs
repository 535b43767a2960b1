//! What nodes say to each other: notifications of the election, and the packets of a connection between a learner and its
//! leader.

use super::vote::{State, Vote};
use crate::log::Position;

/// What nodes say to each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// Of the election. Whoever carries it may replace one to the same node that was not sent yet.
    Notification(Notification),
    /// Of a connection.
    Packet {
        /// Which.
        link: Link,
        /// Its number in this direction of the connection, counted from 0; of no meaning in [`Packet::Closed`].
        number: u64,
        /// What it says.
        packet: Packet,
    },
}

/// A vote, and what its sender is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Notification {
    /// What the sender is doing.
    pub state: State,
    /// Its vote.
    pub vote: Vote,
    /// The round of the election it is in; of a sender that does not look, the round it voted in.
    pub round: u64,
}

/// The name of a connection: what either side drew for it. A packet that names another is none of it, so that whatever a host
/// repeats, delays or keeps from an earlier connection is never taken for a packet of this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Link {
    /// What the learner drew.
    pub learner: u64,
    /// What the leader drew; 0 as long as the learner does not know it.
    pub leader: u64,
}

/// Entries of one epoch, in the log of their leader one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Entries {
    /// The entry before them.
    pub after: Position,
    /// The epoch that proposed them.
    pub epoch: u64,
    /// How many.
    pub count: u64,
}

impl Entries {
    /// The last of them.
    #[must_use]
    pub const fn last(&self) -> Position {
        Position::new(self.epoch, self.after.index.saturating_add(self.count))
    }
}

/// What is said on a connection. SYNC packets carry numbers, and PINGs that of their round, so that the answer to an
/// earlier one is not taken for one to this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Packet {
    /// FOLLOWERINFO or OBSERVERINFO: opens the connection (ZAB-D8).
    LearnerInfo {
        /// The highest epoch it promised.
        accepted: u64,
    },
    /// LEADERINFO: the epoch that the leader wants to begin (ZAB-D4).
    LeaderInfo {
        /// The epoch.
        epoch: u64,
    },
    /// ACKEPOCH: the promise to take nothing of an earlier epoch from now on (ZAB-D9).
    AckEpoch {
        /// The learner's current epoch; `None` when it had promised this one before and must not be counted.
        current: Option<u64>,
        /// The end of its log.
        last: Position,
    },
    /// DIFF: what the learner has is the beginning of the leader's log; the rest follows (ZAB-S1, S3, S4).
    Diff,
    /// TRUNC: the learner cuts its log after this entry (ZAB-S2).
    Trunc {
        /// The last entry that stays.
        to: Position,
    },
    /// SNAP: the learner replaces its log by this snapshot and what follows (ZAB-S5). The host attaches the state as of it;
    /// there is none to attach at [`Position::START`].
    Snap {
        /// The last entry of the snapshot.
        last: Position,
    },
    /// PROPOSAL: entries, which are not committed by this.
    Proposal(Entries),
    /// COMMIT of everything up to an index.
    Commit {
        /// The index.
        upto: u64,
    },
    /// INFORM: entries that are committed, for an observer.
    Inform(Entries),
    /// NEWLEADER: the learner has now been told the initial history of this epoch (ZAB-S6).
    NewLeader {
        /// The epoch.
        epoch: u64,
    },
    /// ACK of NEWLEADER: the history is durable, and the epoch after it (ZAB-S10).
    AckNewLeader,
    /// ACK: all entries up to an index are durable (ZAB-B2).
    Ack {
        /// The index.
        upto: u64,
    },
    /// UPTODATE: the epoch is established, and the learner may serve (ZAB-S7).
    UpToDate,
    /// PING and its answer.
    Ping {
        /// The round of it.
        round: u64,
    },
    /// SYNC: a learner asks to be told everything that was committed before now; and the answer, once it was.
    Sync {
        /// The number of the question.
        number: u64,
    },
    /// The connection is over, or there is none: what the end of a TCP connection, or the refusal of one, tells the other side.
    Closed,
}

impl Message {
    /// The entries it brings.
    #[must_use]
    pub const fn entries(&self) -> Option<Entries> {
        match self {
            Self::Packet {
                packet: Packet::Proposal(entries) | Packet::Inform(entries),
                ..
            } => Some(*entries),
            _ => None,
        }
    }

    /// The snapshot it brings: the state as of this entry is to be attached.
    #[must_use]
    pub const fn snapshot(&self) -> Option<Position> {
        match self {
            Self::Packet {
                packet: Packet::Snap { last },
                ..
            } if last.index > 0 => Some(*last),
            _ => None,
        }
    }

    /// What it says on a connection.
    #[must_use]
    pub const fn packet(&self) -> Option<Packet> {
        match self {
            Self::Packet { packet, .. } => Some(*packet),
            Self::Notification(_) => None,
        }
    }
}
