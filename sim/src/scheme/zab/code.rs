//! What the kinds of messages are in the events of the trace.

use tenure::zab::{Message, Packet};

/// Where the reasons begin for which something is refused, in the events of the trace: above those of other schemes.
pub(crate) const FIRST_REFUSAL: u64 = 100;

pub(crate) const NOTIFICATION: i64 = 50;
pub(crate) const LEARNER_INFO: i64 = 51;
pub(crate) const LEADER_INFO: i64 = 52;
pub(crate) const ACK_EPOCH: i64 = 53;
pub(crate) const DIFF: i64 = 54;
pub(crate) const TRUNC: i64 = 55;
pub(crate) const SNAP: i64 = 56;
pub(crate) const PROPOSAL: i64 = 57;
pub(crate) const COMMIT: i64 = 58;
pub(crate) const INFORM: i64 = 59;
pub(crate) const NEW_LEADER: i64 = 60;
pub(crate) const ACK_NEW_LEADER: i64 = 61;
pub(crate) const ACK: i64 = 62;
pub(crate) const UP_TO_DATE: i64 = 63;
pub(crate) const PING: i64 = 64;
pub(crate) const SYNC: i64 = 65;
pub(crate) const CLOSED: i64 = 66;

/// What they are called, from the first on.
#[cfg(not(target_family = "wasm"))]
pub(crate) const NAMES: [&str; 17] = [
    "notification",
    "learner-info",
    "leader-info",
    "ack-epoch",
    "diff",
    "trunc",
    "snap",
    "proposal",
    "commit",
    "inform",
    "new-leader",
    "ack-new-leader",
    "ack",
    "up-to-date",
    "ping",
    "sync",
    "closed",
];

/// The code of a message in the trace.
#[must_use]
pub(crate) const fn message_kind(message: &Message) -> u8 {
    let Message::Packet { packet, .. } = message else {
        return NOTIFICATION as u8;
    };
    match packet {
        Packet::LearnerInfo { .. } => LEARNER_INFO as u8,
        Packet::LeaderInfo { .. } => LEADER_INFO as u8,
        Packet::AckEpoch { .. } => ACK_EPOCH as u8,
        Packet::Diff => DIFF as u8,
        Packet::Trunc { .. } => TRUNC as u8,
        Packet::Snap { .. } => SNAP as u8,
        Packet::Proposal(_) => PROPOSAL as u8,
        Packet::Commit { .. } => COMMIT as u8,
        Packet::Inform(_) => INFORM as u8,
        Packet::NewLeader { .. } => NEW_LEADER as u8,
        Packet::AckNewLeader => ACK_NEW_LEADER as u8,
        Packet::Ack { .. } => ACK as u8,
        Packet::UpToDate => UP_TO_DATE as u8,
        Packet::Ping { .. } => PING as u8,
        Packet::Sync { .. } => SYNC as u8,
        Packet::Closed => CLOSED as u8,
    }
}

/// The epoch that a message speaks of.
#[must_use]
pub(crate) const fn epoch(message: &Message) -> Option<u64> {
    let packet = match message {
        Message::Notification(told) => return Some(told.vote.epoch),
        Message::Packet { packet, .. } => packet,
    };
    match packet {
        Packet::LearnerInfo { accepted } => Some(*accepted),
        Packet::LeaderInfo { epoch } | Packet::NewLeader { epoch } => Some(*epoch),
        Packet::Proposal(entries) | Packet::Inform(entries) => Some(entries.epoch),
        _ => None,
    }
}
