//! Messages that cannot be true, refused by name and counted (law C8).

use super::config::{MAX_EPOCH, MAX_LEAP, MAX_OFFSET};
use super::message::{Body, Fetched, Head};
use crate::listed::listed;
use crate::log::Position;
use crate::refusals::Reason;

listed! {
    /// Why a message or reply was dropped.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    #[repr(u8)]
    pub enum Refusal {
        /// It answers what is not asked any more: it is late, or a repetition, or to a former life.
        Late,
        /// It answers another question than the one it names.
        Unasked,
        /// It names an epoch above [`MAX_EPOCH`].
        EpochTooHigh,
        /// It names an epoch more than [`MAX_LEAP`] above the own one.
        EpochLeap,
        /// It names epoch 0, in which nobody stands or leads.
        EpochZero,
        /// The sender is no voter, claims to be this node, or speaks for another.
        UnknownSender,
        /// It names a leader that is no voter.
        UnknownLeader,
        /// It names a leader of an epoch that has another one.
        SecondLeader,
        /// The log it describes cannot be: an end that no log has, or a record of an epoch above the sender's (KR-V1).
        ImpossibleLog,
        /// It would cut the log below what is committed: the sender's log, or this node's, is damaged (KR-F3).
        TruncatesCommitted,
        /// The reply is to a request of a former life, or to one that was never made.
        UnknownTicket,
        /// The group reached [`MAX_EPOCH`]: this node stands no more.
        EpochsExhausted,
        /// Enough answers to nodes that are no voters wait for the disk: this one was dropped.
        TooManyStrangers,
        /// It names more successors than a group has voters.
        TooManySuccessors,
    }
}

impl Reason for Refusal {
    fn place(self) -> usize {
        self as usize
    }
}

/// How many inputs were refused, by reason.
pub type Refusals = crate::refusals::Refusals<Refusal, { Refusal::ALL.len() }>;

/// What is wrong with a message to a node in epoch `own`, whatever else its state; `None` when nothing is.
///
/// KR-V1 is no part of this: what breaks it is answered.
pub(super) fn impossible(body: &Body, own: u64) -> Option<Refusal> {
    let epoch = match body {
        Body::Vote { epoch, .. }
        | Body::BeginQuorumEpoch { epoch, .. }
        | Body::EndQuorumEpoch { epoch, .. }
        | Body::Fetch { epoch, .. }
        | Body::FetchSnapshot { epoch, .. } => *epoch,
        Body::VoteReply { head, .. }
        | Body::BeginQuorumEpochReply(head)
        | Body::EndQuorumEpochReply(head)
        | Body::FetchReply { head, .. }
        | Body::FetchSnapshotReply { head, .. } => head.epoch,
    };
    if epoch > MAX_EPOCH {
        return Some(Refusal::EpochTooHigh);
    }
    if epoch > own.saturating_add(MAX_LEAP) {
        return Some(Refusal::EpochLeap);
    }
    if epoch == 0 && speaks_of_a_leader(body) {
        return Some(Refusal::EpochZero);
    }
    let possible = match body {
        Body::Vote { last, .. } => is_end(*last),
        Body::EndQuorumEpoch { successors, .. } if successors.len() > crate::quorum::MAX_VOTERS => {
            return Some(Refusal::TooManySuccessors);
        }
        Body::Fetch {
            after,
            high_watermark,
            ..
        } => is_end(*after) && *high_watermark <= MAX_OFFSET,
        Body::FetchSnapshot { snapshot, .. } => is_record(*snapshot),
        Body::FetchReply {
            head,
            after,
            content,
            high_watermark,
        } => is_end(*after) && *high_watermark <= MAX_OFFSET && fits(*head, *after, *content),
        Body::FetchSnapshotReply {
            head,
            snapshot: Some(snapshot),
        } => is_record(*snapshot) && snapshot.term <= head.epoch,
        _ => true,
    };
    (!possible).then_some(Refusal::ImpossibleLog)
}

/// Whether it says that somebody stands in its epoch or leads it.
fn speaks_of_a_leader(body: &Body) -> bool {
    match body {
        Body::Vote { pre_vote, .. } => !pre_vote,
        Body::BeginQuorumEpoch { .. } | Body::EndQuorumEpoch { .. } => true,
        Body::FetchReply { head, .. } | Body::FetchSnapshotReply { head, .. } => {
            head.leader.is_some()
        }
        Body::VoteReply {
            head,
            granted: false,
        } => head.leader.is_some(),
        _ => false,
    }
}

/// Whether a log can end there.
fn is_end(at: Position) -> bool {
    (at.term == 0) == (at.index == 0) && at.index <= MAX_OFFSET
}

fn is_record(at: Position) -> bool {
    is_end(at) && at.index > 0
}

/// Whether the log of a leader can have that after a record.
fn fits(head: Head, after: Position, content: Fetched) -> bool {
    match content {
        Fetched::Records { count: 0, .. } => true,
        Fetched::Records { epoch, count } => {
            let end = after.index.checked_add(count);
            epoch >= after.term.max(1)
                && epoch <= head.epoch
                && end.is_some_and(|end| end <= MAX_OFFSET)
        }
        Fetched::Diverging(at) => is_end(at) && at < after && at.term <= head.epoch,
        Fetched::Snapshot(at) => is_record(at) && at.term <= head.epoch,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NodeId;
    use crate::kraft::{Code, ReplicaKey};

    fn head(epoch: u64) -> Head {
        Head {
            code: Code::None,
            epoch,
            leader: Some(NodeId(1)),
        }
    }

    #[test]
    fn epochs_that_cannot_be_are_named() {
        let begin = |epoch| Body::BeginQuorumEpoch {
            epoch,
            voter: ReplicaKey {
                id: NodeId(1),
                directory: None,
            },
        };
        for (epoch, own, refused) in [
            (1, 0, None),
            (0, 0, Some(Refusal::EpochZero)),
            (MAX_EPOCH, MAX_EPOCH, None),
            (MAX_EPOCH + 1, MAX_EPOCH, Some(Refusal::EpochTooHigh)),
            (7 + MAX_LEAP, 7, None),
            (8 + MAX_LEAP, 7, Some(Refusal::EpochLeap)),
        ] {
            assert_eq!(impossible(&begin(epoch), own), refused, "{epoch}");
        }
    }

    #[test]
    fn logs_that_cannot_be_are_named() {
        let reply = |after, content| Body::FetchReply {
            head: head(5),
            after,
            content,
            high_watermark: 0,
        };
        let records = |epoch, count| Fetched::Records { epoch, count };
        let at = Position::new;
        for (after, content, possible) in [
            (Position::START, records(1, 1), true),
            (at(3, 7), records(3, 2), true),
            (at(3, 7), records(5, 2), true),
            (at(3, 7), Fetched::NOTHING, true),
            (at(3, 7), records(2, 1), false),
            (at(3, 7), records(6, 1), false),
            (Position::START, records(0, 1), false),
            (at(3, MAX_OFFSET), records(3, 1), false),
            (at(3, 7), records(3, u64::MAX), false),
            (at(0, 7), Fetched::NOTHING, false),
            (at(3, 7), Fetched::Diverging(at(3, 6)), true),
            (at(3, 7), Fetched::Diverging(at(2, 9)), true),
            (at(3, 7), Fetched::Diverging(Position::START), true),
            (at(3, 7), Fetched::Diverging(at(3, 7)), false),
            (at(3, 7), Fetched::Diverging(at(4, 2)), false),
            (at(3, 7), Fetched::Snapshot(at(4, 9)), true),
            (at(3, 7), Fetched::Snapshot(at(6, 9)), false),
            (at(3, 7), Fetched::Snapshot(Position::START), false),
        ] {
            let refused = (!possible).then_some(Refusal::ImpossibleLog);
            let body = reply(after, content);
            assert_eq!(impossible(&body, 5), refused, "{body:?}");
        }
    }
}
