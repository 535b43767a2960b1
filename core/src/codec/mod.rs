//! Bytes for what leaves a machine: messages between nodes, writes to the disk, and what a disk holds.
//!
//! [`Coded::encode`] appends one frame to a buffer of the caller; [`Coded::decode`] reads exactly one, and
//! [`Coded::decode_first`] the first of several. Nothing is allocated by a length that was read from outside, no input
//! panics, and bytes that were cut, altered or written for something else are refused by a [`DecodeError`]. It says what the
//! bytes mean, not whether that is sensible: a machine refuses an absurd term itself.
//!
//! ```
//! use tenure::{codec::Coded, raft::Message};
//!
//! let mut datagram = Vec::with_capacity(Message::MAX_BYTES); // reserved once, never grows
//! Message::VoteGranted { term: 300 }.encode(&mut datagram);
//! assert_eq!(datagram.len(), 9);
//! assert_eq!(Message::decode(&datagram), Ok(Message::VoteGranted { term: 300 }));
//! ```
//!
//! # The frame
//!
//! | bytes | what |
//! |---|---|
//! | 1 | the format version, [`VERSION`] |
//! | 1 | the kind: which variant of which type; all share one numbering, so that none is read as another |
//! | 1–10 | the length of the body |
//! | … | the body: the fields of the variant in their order |
//! | 4 | CRC-32C of all before it, least significant byte first |
//!
//! An integer is a LEB128 varint in its shortest form: seven bits a byte, lowest first. Instants and durations are
//! microseconds. An option is a byte 0, or a byte 1 and the value; what is one of several begins with a byte for which. What
//! repeats is counted first. A value has one encoding, so that equal frames are equal messages.
//!
//! Messages carry the checksum too. UDP's own has 16 bits, is optional on IPv4, and ends at every box that rewrites packets;
//! a flipped bit in a term is a vote for something nobody asked. It catches accidents, not forgers: authenticity is the
//! transport's. Nor does it name the group: where two groups can reach each other, keep their ports or keys apart.
//!
//! # Lengths
//!
//! Every message fits [`DATAGRAM`], and every release keeps it so, but for the four kinds that can carry a configuration:
//! `Append`, `InstallSnapshot`, `Suffix` and `SuffixSnapshot`. Those too fit with up to 100 members of any names, or 350 whose names are below
//! 16,384; a configuration of the most members there may be takes 45 KB. A host over UDP that may meet such a group looks at the
//! length before it sends, and takes another way for what is longer, or lets it be lost and the group stand still until
//! there are fewer members; it never sends a part.
//!
//! # Disks
//!
//! A host without a log keeps one file with the [`Stored`](crate::raft::Stored) that its writes fold to, and replaces it
//! whole. With a log that would be a file for each entry: there the [`Write`](crate::raft::Write)s are appended to a file
//! as they come, after the `Stored` that the file began with; from time to time a new file begins.
//!
//! ```
//! # use tenure::{codec::{Coded, DecodeError}, raft::{Record, Stored, Write, LogWrite}};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let mut file = Vec::new();
//! # Stored::from(Record { term: 1, ..Record::default() }).encode(&mut file);
//! # Write { record: Record { term: 2, ..Record::default() }, log: LogWrite::Keep }.encode(&mut file);
//! # let torn = file.len();
//! # Write { record: Record { term: 3, ..Record::default() }, log: LogWrite::Keep }.encode(&mut file);
//! # file.pop();
//! let (mut stored, mut rest) = Stored::decode_first(&file)?;
//! while !rest.is_empty() {
//!     match Write::decode_first(rest) {
//!         Ok((write, after)) => {
//!             stored.apply(&write)?;
//!             rest = after;
//!         }
//!         // The write that the crash interrupted, which was never answered: the file is cut here.
//!         Err(DecodeError::Truncated { .. }) => break,
//!         Err(damage) => return Err(damage.into()),
//!     }
//! }
//! # assert_eq!(file.len() - rest.len(), torn);
//! # assert_eq!(stored.record.term, 2);
//! # Ok(())
//! # }
//! ```
//!
//! # Upgrades
//!
//! Nodes are upgraded one at a time, in any order, from one release to the next. Two neighbouring releases understand each
//! other because:
//!
//! - **The frame is fixed for ever**, so that damage, age and novelty are told apart: [`Damaged`](DecodeError::Damaged),
//!   [`UnknownVersion`](DecodeError::UnknownVersion), [`UnknownKind`](DecodeError::UnknownKind).
//! - **A field may be added at the end of a variant** without a new version. An older reader skips it; a newer one reads its
//!   absence as a stated value. Allowed only when whoever does not see the field stays safe: in what a disk holds, an
//!   older release forgets it with its next write.
//! - **A kind may be added** without a new version. An older node refuses it by name and drops it, which to the protocol is
//!   a lost message. What needs the kind to make progress stays off until every node reads it.
//! - **Anything else raises the version**: a field that must not be overlooked, one removed, or one that means something
//!   new. The release that brings version *n* + 1 reads it and still writes *n*; the release after writes *n* + 1 and
//!   still reads *n*; the one after that may forget *n*. Going back one release is safe for the same reason.
//! - A number, of a kind or a version, is never used again for something else.

mod checksum;
mod error;
mod field;
mod frame;
mod raft;

pub use error::DecodeError;

use alloc::vec::Vec;

/// The version this release writes, and the only one it reads: there is none before it.
pub const VERSION: u8 = 1;

/// The longest frame that is sure to reach a peer in one datagram. What every IPv6 path carries in one piece is 1,280 bytes,
/// of which IP and UDP take 48; the rest is for what is wrapped around a frame.
pub const DATAGRAM: usize = 1_200;

/// What has bytes.
pub trait Coded: Sized {
    /// No frame is longer, of this release or of one that only added fields: what a receive buffer must hold, and the
    /// capacity at which [`encode`](Self::encode) never grows an empty buffer.
    const MAX_BYTES: usize;

    /// Appends one frame.
    fn encode(&self, out: &mut Vec<u8>);

    /// Reads the frame that `bytes` begin with; answers what follows it too.
    ///
    /// # Errors
    /// When they do not begin with a whole, intact frame of this type; each with its place and remedy.
    fn decode_first(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError>;

    /// Reads the one frame that `bytes` are.
    ///
    /// # Errors
    /// As [`decode_first`](Self::decode_first), and when more follows.
    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let (value, rest) = Self::decode_first(bytes)?;
        if rest.is_empty() {
            Ok(value)
        } else {
            let at = bytes.len() - rest.len();
            Err(DecodeError::Trailing { at })
        }
    }
}

/// Gives a type its bytes: one line for each variant, with its kind, the bytes it never exceeds where that is less than
/// the type's, and its fields in their order. A field that is added later comes after a semicolon, with the value that
/// stands for its absence.
macro_rules! kinds {
    ($type:ty, at most $max:expr, $(
        $kind:literal $(in $limit:ident)? = $($variant:ident)::+ { $($field:ident),* $(; $later:ident or $absent:expr)* }
    )+) => {
        impl $crate::codec::Coded for $type {
            const MAX_BYTES: usize = $max;

            fn encode(&self, out: &mut alloc::vec::Vec<u8>) {
                use $crate::codec::{field::Field, frame::seal};
                match self {
                    $($($variant)::+ { $($field,)* $($later,)* } => seal($kind, out, |out| {
                        $($field.write(out);)*
                        $($later.write(out);)*
                    }),)+
                }
            }

            fn decode_first(bytes: &[u8]) -> Result<(Self, &[u8]), $crate::codec::DecodeError> {
                let mut frame = $crate::codec::frame::open(bytes, |kind| match kind {
                    $($($kind => $limit,)?)+
                    _ => Self::MAX_BYTES,
                })?;
                let value = match frame.kind {
                    // The fields of a struct expression are evaluated in the order they are written.
                    $($kind => $($variant)::+ {
                        $($field: frame.body.field()?,)*
                        $($later: frame.body.field_or($absent)?,)*
                    },)+
                    kind => return Err($crate::codec::DecodeError::UnknownKind(kind)),
                };
                Ok((value, frame.rest))
            }
        }
    };
}

use kinds;

#[cfg(test)]
mod tests {
    //! The policy for upgrades, tried between a release and its successor.

    use super::*;
    use crate::NodeId;

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Older {
        Ask { term: u64, whom: NodeId },
    }

    kinds! {
        Older, at most 64,
        0xf0 = Older::Ask { term, whom }
    }

    /// The same a release later, and two additions later.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Newer {
        Ask {
            term: u64,
            whom: NodeId,
            priority: u64,
            hint: Option<u64>,
        },
        Tell {
            term: u64,
        },
    }

    kinds! {
        Newer, at most 64,
        0xf0 = Newer::Ask { term, whom; priority or 7; hint or None }
        0xf1 = Newer::Tell { term }
    }

    fn bytes(of: &impl Coded) -> Vec<u8> {
        let mut out = Vec::new();
        of.encode(&mut out);
        out
    }

    #[test]
    fn an_older_reader_skips_added_fields() {
        let (term, whom) = (300, NodeId(2));
        let newer = Newer::Ask {
            term,
            whom,
            priority: 1 << 40,
            hint: Some(9),
        };
        let told = bytes(&newer);
        assert_eq!(Older::decode(&told), Ok(Older::Ask { term, whom }));
        assert_eq!(Newer::decode(&told), Ok(newer));
    }

    #[test]
    fn a_newer_reader_reads_absence_as_the_stated_value() {
        let (term, whom) = (300, NodeId(2));
        let (priority, hint) = (7, None);
        let read = Newer::decode(&bytes(&Older::Ask { term, whom }));
        let meant = Newer::Ask {
            term,
            whom,
            priority,
            hint,
        };
        assert_eq!(read, Ok(meant));
    }

    /// Of the release between: it had the first of the two added fields.
    #[test]
    fn fields_that_were_added_one_by_one_are_absent_one_by_one() {
        let mut told = Vec::new();
        frame::seal(0xf0, &mut told, |out| out.extend([5, 2, 1]));
        let meant = Newer::Ask {
            term: 5,
            whom: NodeId(2),
            priority: 1,
            hint: None,
        };
        assert_eq!(Newer::decode(&told), Ok(meant));
        // Absent is absent, not half there.
        let mut told = Vec::new();
        frame::seal(0xf0, &mut told, |out| out.extend([5, 2, 0x81]));
        assert_eq!(Newer::decode(&told), Err(DecodeError::Truncated { at: 6 }));
    }

    #[test]
    fn an_older_reader_refuses_a_new_kind_by_name() {
        let told = bytes(&Newer::Tell { term: 1 });
        assert_eq!(Older::decode(&told), Err(DecodeError::UnknownKind(0xf1)));
    }

    /// Whatever a later version holds: it is told from damage, and its kind and body are not looked at.
    #[test]
    fn a_later_version_is_refused_by_name() {
        let mut told = [VERSION + 1, 0x55, 3, 0xff, 0xff, 0xff].to_vec();
        told.extend(checksum::of(&told).to_le_bytes());
        assert_eq!(
            Older::decode(&told),
            Err(DecodeError::UnknownVersion(VERSION + 1))
        );
        told[0] = VERSION;
        assert_eq!(Older::decode(&told), Err(DecodeError::Damaged { at: 6 }));
    }
}
