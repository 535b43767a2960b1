//! What the kinds of messages are in the events of the trace.

use tenure::raft::Message;

pub(crate) const REQUEST_PRE_VOTE: i64 = 0;
pub(crate) const PRE_VOTE_GRANTED: i64 = 1;
pub(crate) const PRE_VOTE_REFUSED: i64 = 2;
pub(crate) const REQUEST_VOTE: i64 = 3;
pub(crate) const VOTE_GRANTED: i64 = 4;
pub(crate) const VOTE_REFUSED: i64 = 5;
pub(crate) const HEARTBEAT: i64 = 6;
pub(crate) const HEARTBEAT_ACK: i64 = 7;
pub(crate) const HEARTBEAT_REFUSED: i64 = 8;
pub(crate) const RELEASE: i64 = 9;
pub(crate) const APPEND: i64 = 10;
pub(crate) const APPEND_ACK: i64 = 11;
pub(crate) const APPEND_REFUSED: i64 = 12;
pub(crate) const COMMIT: i64 = 13;
pub(crate) const INSTALL_SNAPSHOT: i64 = 14;
pub(crate) const FETCH: i64 = 15;
pub(crate) const SUFFIX: i64 = 16;
pub(crate) const READ_INDEX: i64 = 17;
pub(crate) const READ_INDEX_ACK: i64 = 18;
pub(crate) const NOT_MEMBER: i64 = 19;
pub(crate) const SUFFIX_SNAPSHOT: i64 = 40;

/// The code of a message in the trace.
#[must_use]
pub(crate) const fn message_kind(message: &Message) -> u8 {
    match message {
        Message::RequestPreVote { .. } => REQUEST_PRE_VOTE as u8,
        Message::PreVoteGranted { .. } => PRE_VOTE_GRANTED as u8,
        Message::PreVoteRefused { .. } => PRE_VOTE_REFUSED as u8,
        Message::RequestVote { .. } => REQUEST_VOTE as u8,
        Message::VoteGranted { .. } => VOTE_GRANTED as u8,
        Message::VoteRefused { .. } => VOTE_REFUSED as u8,
        Message::Heartbeat { .. } => HEARTBEAT as u8,
        Message::HeartbeatAck { .. } => HEARTBEAT_ACK as u8,
        Message::HeartbeatRefused { .. } => HEARTBEAT_REFUSED as u8,
        Message::Release { .. } => RELEASE as u8,
        Message::Append { .. } => APPEND as u8,
        Message::AppendAck { .. } => APPEND_ACK as u8,
        Message::AppendRefused { .. } => APPEND_REFUSED as u8,
        Message::Commit { .. } => COMMIT as u8,
        Message::InstallSnapshot { .. } => INSTALL_SNAPSHOT as u8,
        Message::Fetch { .. } => FETCH as u8,
        Message::Suffix { .. } => SUFFIX as u8,
        Message::ReadIndex { .. } => READ_INDEX as u8,
        Message::ReadIndexAck { .. } => READ_INDEX_ACK as u8,
        Message::NotMember { .. } => NOT_MEMBER as u8,
        Message::SuffixSnapshot { .. } => SUFFIX_SNAPSHOT as u8,
    }
}
