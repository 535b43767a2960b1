//! What nodes ask each other, and what they answer.

use super::voters::ReplicaKey;
use crate::NodeId;
use crate::log::Position;
use alloc::sync::Arc;

/// A request or the answer to one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Message {
    /// Which question of the asker it is, or answers.
    pub correlation: Correlation,
    /// What is asked or answered.
    pub body: Body,
}

/// The name of a request among those of one node, so that an answer which comes late, twice, or to a former life is known
/// for what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Correlation {
    /// The life of the asker.
    pub incarnation: u64,
    /// Counted from 1 within it.
    pub number: u64,
}

/// What is asked or answered. The leader that BeginQuorumEpoch and EndQuorumEpoch speak of is the sender.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Body {
    /// Would, or does, the voter vote for the sender?
    Vote {
        /// Who is asked, with the disk the sender knows it by (KR-V3).
        voter: ReplicaKey,
        /// Who asks.
        replica: ReplicaKey,
        /// The epoch it stands in; in a pre-vote, is in.
        epoch: u64,
        /// The end of its log.
        last: Position,
        /// Whether it only asks: nothing is recorded for that (KR-V5).
        pre_vote: bool,
    },
    /// The answer to [`Vote`](Self::Vote).
    VoteReply {
        /// What the voter knows.
        head: Head,
        /// Whether it does.
        granted: bool,
    },
    /// The sender leads this epoch.
    BeginQuorumEpoch {
        /// Its epoch.
        epoch: u64,
        /// Who is told.
        voter: ReplicaKey,
    },
    /// The answer to [`BeginQuorumEpoch`](Self::BeginQuorumEpoch).
    BeginQuorumEpochReply(Head),
    /// The sender leads this epoch no more.
    EndQuorumEpoch {
        /// Its epoch.
        epoch: u64,
        /// Who should stand how soon: the first at once (KR-S8).
        successors: Arc<[NodeId]>,
    },
    /// The answer to [`EndQuorumEpoch`](Self::EndQuorumEpoch).
    EndQuorumEpochReply(Head),
    /// What comes after `after`? A voter's disk holds its log up to there: the question is the acknowledgement (KR-F4).
    Fetch {
        /// The asker's epoch.
        epoch: u64,
        /// The end of its log.
        after: Position,
        /// Who asks.
        replica: ReplicaKey,
        /// Up to where it knows the log to be committed (KIP-1166).
        high_watermark: u64,
    },
    /// The answer to [`Fetch`](Self::Fetch).
    FetchReply {
        /// What the sender knows.
        head: Head,
        /// What was asked for.
        after: Position,
        /// What comes after it.
        content: Fetched,
        /// Up to where the log is committed; 0 while the leader does not know (KR-S5).
        high_watermark: u64,
    },
    /// The state as of this record, of which the log was compacted away.
    FetchSnapshot {
        /// The asker's epoch.
        epoch: u64,
        /// The last record of the snapshot.
        snapshot: Position,
        /// Who asks.
        replica: ReplicaKey,
    },
    /// The answer to [`FetchSnapshot`](Self::FetchSnapshot), to which the host attaches the state.
    FetchSnapshotReply {
        /// What the sender knows.
        head: Head,
        /// The last record of the snapshot that comes with it: the one asked for or a later one.
        snapshot: Option<Position>,
    },
}

/// What every answer begins with (KR-0).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Head {
    /// Whether the question was in place.
    pub code: Code,
    /// The epoch of who answers.
    pub epoch: u64,
    /// Who leads it, as far as known.
    pub leader: Option<NodeId>,
}

/// Whether a question was in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// It was.
    None,
    /// It was asked in an epoch that is over.
    FencedLeaderEpoch,
    /// It was asked in an epoch that is not known here yet.
    UnknownLeaderEpoch,
    /// Only the leader can answer it, and that is not this node.
    NotLeader,
    /// It was for another node, or for another disk of this one.
    InvalidVoterKey,
    /// It contradicts itself.
    InvalidRequest,
    /// The snapshot is not there.
    SnapshotNotFound,
}

/// What a leader has after a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fetched {
    /// So many records of one epoch; also none. The first of an epoch has no payload ([`own`](super::own)).
    Records {
        /// Their epoch; 0 when there are none.
        epoch: u64,
        /// How many.
        count: u64,
    },
    /// The leader's log does not have that record: this is the end there of the latest epoch not after that record's (KR-F2).
    Diverging(Position),
    /// The record is compacted away: a snapshot that ends here is to be fetched.
    Snapshot(Position),
}

impl Fetched {
    /// No records.
    pub const NOTHING: Self = Self::Records { epoch: 0, count: 0 };
}

/// How many of the records of `epoch` after `after` are the machine's own and have no payload: the first record of an epoch,
/// the LeaderChange, with which its leader opened it.
///
/// ```
/// # use tenure::{kraft::own, log::Position};
/// assert_eq!(own(Position::new(2, 7), 3), 1);
/// assert_eq!(own(Position::new(3, 8), 3), 0);
/// ```
#[must_use]
pub const fn own(after: Position, epoch: u64) -> u64 {
    (after.term != epoch) as u64
}

impl Body {
    /// Whether it asks; else it answers.
    #[must_use]
    pub const fn is_request(&self) -> bool {
        matches!(
            self,
            Self::Vote { .. }
                | Self::BeginQuorumEpoch { .. }
                | Self::EndQuorumEpoch { .. }
                | Self::Fetch { .. }
                | Self::FetchSnapshot { .. }
        )
    }
}
