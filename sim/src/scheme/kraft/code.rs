//! What the kinds of messages are in the events of the trace.

use tenure::kraft::{Body, Fetched, Message};

pub(crate) const VOTE: i64 = 90;
pub(crate) const PRE_VOTE: i64 = 91;
pub(crate) const VOTE_GRANTED: i64 = 92;
pub(crate) const VOTE_REFUSED: i64 = 93;
pub(crate) const BEGIN_QUORUM: i64 = 94;
pub(crate) const BEGIN_QUORUM_REPLY: i64 = 95;
pub(crate) const END_QUORUM: i64 = 96;
pub(crate) const END_QUORUM_REPLY: i64 = 97;
pub(crate) const FETCH: i64 = 98;
pub(crate) const FETCH_REPLY: i64 = 99;
pub(crate) const DIVERGING: i64 = 100;
pub(crate) const SNAPSHOT_NEEDED: i64 = 101;
pub(crate) const FETCH_SNAPSHOT: i64 = 102;
pub(crate) const SNAPSHOT: i64 = 103;

/// What they are called, from the first on.
#[cfg(not(target_family = "wasm"))]
pub(crate) const NAMES: [&str; 14] = [
    "vote",
    "pre-vote",
    "vote-granted",
    "vote-refused",
    "begin-quorum",
    "begin-quorum-reply",
    "end-quorum",
    "end-quorum-reply",
    "fetch",
    "fetch-reply",
    "diverging",
    "snapshot-needed",
    "fetch-snapshot",
    "snapshot",
];

/// The code of a message in the trace.
#[must_use]
pub(crate) const fn message_kind(message: &Message) -> u8 {
    let code = match message.body {
        Body::Vote {
            pre_vote: false, ..
        } => VOTE,
        Body::Vote { .. } => PRE_VOTE,
        Body::VoteReply { granted: true, .. } => VOTE_GRANTED,
        Body::VoteReply { .. } => VOTE_REFUSED,
        Body::BeginQuorumEpoch { .. } => BEGIN_QUORUM,
        Body::BeginQuorumEpochReply(_) => BEGIN_QUORUM_REPLY,
        Body::EndQuorumEpoch { .. } => END_QUORUM,
        Body::EndQuorumEpochReply(_) => END_QUORUM_REPLY,
        Body::Fetch { .. } => FETCH,
        Body::FetchReply { content, .. } => match content {
            Fetched::Records { .. } => FETCH_REPLY,
            Fetched::Diverging(_) => DIVERGING,
            Fetched::Snapshot(_) => SNAPSHOT_NEEDED,
        },
        Body::FetchSnapshot { .. } => FETCH_SNAPSHOT,
        Body::FetchSnapshotReply { .. } => SNAPSHOT,
    };
    code as u8
}

/// The epoch that a message speaks of.
#[must_use]
pub(crate) const fn epoch(message: &Message) -> Option<u64> {
    Some(match &message.body {
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
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_name() {
        assert_eq!(NAMES.len() as i64, SNAPSHOT - VOTE + 1);
    }
}
