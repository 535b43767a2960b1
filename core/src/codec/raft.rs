//! The bytes of [`raft`](crate::raft).
//!
//! A kind's number is never used again for something else, and its fields keep their order: see "Upgrades" in
//! [`codec`](super).

use super::kinds;
use crate::raft::{Message, Record};

/// What every IPv6 path carries in one piece is 1,280 bytes, of which IP and UDP take 48; the rest is for what is
/// wrapped around a frame.
const DATAGRAM: usize = 1_200;

/// The smallest sector of a disk.
const SECTOR: usize = 512;

kinds! {
    Message, at most DATAGRAM,
    0x01 = Message::RequestPreVote { term, last, sent }
    0x02 = Message::PreVoteGranted { term, remainder, sent }
    0x03 = Message::PreVoteRefused { asked, term }
    0x04 = Message::RequestVote { term, last }
    0x05 = Message::VoteGranted { term }
    0x06 = Message::VoteRefused { asked, term }
    0x07 = Message::Heartbeat { term, sent }
    0x08 = Message::HeartbeatAck { term, sent, promise }
    0x09 = Message::HeartbeatRefused { asked, term }
    0x0a = Message::Release { term, to }
}

kinds! {
    Record, at most SECTOR,
    0x80 = Record { term, vote, promise, generation }
}
