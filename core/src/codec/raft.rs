//! The bytes of [`raft`](crate::raft).
//!
//! A kind's number is never used again for something else, and its fields keep their order: see "Upgrades" in
//! [`codec`](super). What is part of a field (an entry, a member) has no end of its own and so never grows.

use super::field::{Field, Reader};
use super::{DATAGRAM, DecodeError, kinds};
use crate::log::Shape;
use crate::membership::{MAX_MEMBERS, Member, Membership, Part};
use crate::raft::{Better, Entries, LogWrite, Members, Message, Record, Stored, Write};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// What one configuration takes at most, that of [`MAX_MEMBERS`] with the longest names, and room for what goes with it and
/// for fields to come.
const CONFIGURATION: usize = 48 * 1024;

kinds! {
    Message, at most CONFIGURATION,
    0x01 in DATAGRAM = Message::RequestPreVote { term, last, sent, released }
    0x02 in DATAGRAM = Message::PreVoteGranted { term, remainder, sent }
    0x03 in DATAGRAM = Message::PreVoteRefused { asked, term, better }
    0x04 in DATAGRAM = Message::RequestVote { term, last, released }
    0x05 in DATAGRAM = Message::VoteGranted { term }
    0x06 in DATAGRAM = Message::VoteRefused { asked, term }
    0x07 in DATAGRAM = Message::Heartbeat { term, sent, round, commit }
    0x08 in DATAGRAM = Message::HeartbeatAck { term, sent, round, promise, matched }
    0x09 in DATAGRAM = Message::HeartbeatRefused { asked, term }
    0x0a in DATAGRAM = Message::Release { term, to, orderly }
    0x0b = Message::Append { term, sent, prev, entries, commit }
    0x0c in DATAGRAM = Message::AppendAck { term, sent, promise, matched }
    0x0d in DATAGRAM = Message::AppendRefused { term, sent, promise, prev, hint }
    0x0e in DATAGRAM = Message::Commit { term, index }
    0x0f = Message::InstallSnapshot { term, sent, last, membership }
    0x10 in DATAGRAM = Message::Fetch { term, sent, after }
    0x11 = Message::Suffix { term, sent, prev, entries, last }
    0x12 in DATAGRAM = Message::ReadIndex { term, number }
    0x13 in DATAGRAM = Message::ReadIndexAck { term, number, index }
    0x14 in DATAGRAM = Message::NotMember { asked, index }
    0x15 = Message::SuffixSnapshot { term, sent, base, membership, last }
}

// The record comes last, so that a field can be added to it.
kinds! {
    Write, at most CONFIGURATION,
    0x80 = Write { log, record }
}

// A log has as many runs as it has terms, and as many configurations as were not compacted away.
kinds! {
    Stored, at most usize::MAX,
    0x81 = Stored { log, members, record }
}

impl Field for Record {
    fn write(&self, out: &mut Vec<u8>) {
        let Self {
            term,
            vote,
            promise,
            generation,
        } = self;
        term.write(out);
        vote.write(out);
        promise.write(out);
        generation.write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            term: from.field()?,
            vote: from.field()?,
            promise: from.field()?,
            generation: from.field()?,
        })
    }
}

impl Field for Better {
    fn write(&self, out: &mut Vec<u8>) {
        let Self {
            last,
            remainder,
            sent,
        } = self;
        last.write(out);
        remainder.write(out);
        sent.write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            last: from.field()?,
            remainder: from.field()?,
            sent: from.field()?,
        })
    }
}

impl Field for LogWrite {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Keep => out.push(0),
            Self::Append { after, entries } => {
                out.push(1);
                after.write(out);
                entries.write(out);
            }
            Self::Compact { upto, membership } => {
                out.push(2);
                upto.write(out);
                membership.write(out);
            }
            Self::Install { last, membership } => {
                out.push(3);
                last.write(out);
                membership.write(out);
            }
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let at = from.at();
        Ok(match from.byte()? {
            0 => Self::Keep,
            1 => Self::Append {
                after: from.field()?,
                entries: from.field()?,
            },
            2 => Self::Compact {
                upto: from.field()?,
                membership: from.field()?,
            },
            3 => Self::Install {
                last: from.field()?,
                membership: from.field()?,
            },
            _ => return Err(DecodeError::OutOfRange { at }),
        })
    }
}

impl Field for Entries {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Run { term, count } => {
                out.push(0);
                term.write(out);
                count.write(out);
            }
            Self::Change { term, to } => {
                out.push(1);
                term.write(out);
                to.write(out);
            }
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let at = from.at();
        Ok(match from.byte()? {
            0 => Self::Run {
                term: from.field()?,
                count: from.field()?,
            },
            1 => Self::Change {
                term: from.field()?,
                to: from.field()?,
            },
            _ => return Err(DecodeError::OutOfRange { at }),
        })
    }
}

/// Base, number of runs, runs.
impl Field for Shape {
    fn write(&self, out: &mut Vec<u8>) {
        self.base().write(out);
        let runs = self.runs();
        (runs.len() as u64).write(out);
        for (term, count) in runs {
            term.write(out);
            count.write(out);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let at = from.at();
        let refused = |reason| DecodeError::ImpossibleLog { at, reason };
        let mut log = Self::from_parts(from.field()?, []).map_err(refused)?;
        // Grows by what was read, whatever the number says.
        for _ in 0..from.field::<u64>()? {
            let at = from.at();
            let before = log.runs().len();
            let (term, count) = (from.field()?, from.field()?);
            log.append(term, count).map_err(refused)?;
            // An empty run, or one that continues the last.
            if log.runs().len() == before {
                return Err(DecodeError::NotCanonical { at });
            }
        }
        Ok(log)
    }
}

/// The configuration at the base, number of changes, each with its index.
impl Field for Members {
    fn write(&self, out: &mut Vec<u8>) {
        self.base().cloned().write(out);
        let changes = self.changes();
        (changes.len() as u64).write(out);
        for (index, to) in changes {
            index.write(out);
            to.write(out);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut members = Self::beginning_with(from.field()?);
        for _ in 0..from.field::<u64>()? {
            let at = from.at();
            let index = from.field()?;
            // Entries are counted from 1, and each has one index.
            if index <= members.newest_index() {
                return Err(DecodeError::OutOfRange { at });
            }
            members.push(index, from.field()?);
        }
        Ok(members)
    }
}

impl Field for Arc<Membership> {
    fn write(&self, out: &mut Vec<u8>) {
        let members = self.members();
        (members.len() as u64).write(out);
        for Member { id, part } in members {
            id.write(out);
            part.write(out);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let at = from.at();
        let count: u64 = from.field()?;
        if count > MAX_MEMBERS as u64 {
            return Err(DecodeError::OutOfRange { at });
        }
        let mut members: Vec<Member> = Vec::new();
        for _ in 0..count {
            let at = from.at();
            let (id, part) = (from.field()?, from.field()?);
            // In order of their names: any other order is another encoding of the same.
            if members.last().is_some_and(|before| id < before.id) {
                return Err(DecodeError::NotCanonical { at });
            }
            members.push(Member { id, part });
        }
        let membership = Membership::from_members(members);
        let refused = |reason| DecodeError::ImpossibleMembership { at, reason };
        membership.map(Self::new).map_err(refused)
    }
}

impl Field for Part {
    fn write(&self, out: &mut Vec<u8>) {
        out.push(match self {
            Self::Learner => 0,
            Self::Voter => 1,
            Self::Incoming => 2,
            Self::Outgoing => 3,
            Self::OutgoingLearner => 4,
        });
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let at = from.at();
        Ok(match from.byte()? {
            0 => Self::Learner,
            1 => Self::Voter,
            2 => Self::Incoming,
            3 => Self::Outgoing,
            4 => Self::OutgoingLearner,
            _ => return Err(DecodeError::OutOfRange { at }),
        })
    }
}
