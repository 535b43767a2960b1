//! Bytes for what leaves a machine: messages between nodes and durable records.
//!
//! [`Coded::encode`] appends one frame to a buffer of the caller; [`Coded::decode`] reads exactly one. A frame stands by
//! itself: one datagram, one file, or one length-prefixed piece of a stream. Nothing is allocated by a length that was read
//! from outside, no input panics, and bytes that were cut, altered or written for something else are refused by a
//! [`DecodeError`]. It says what the bytes mean, not whether that is sensible: a machine refuses an absurd term itself.
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
//! | 1 | the kind: which variant of which type; messages and records share one numbering, so that neither is read as the other |
//! | 1–10 | the length of the body |
//! | … | the body: the fields of the variant in their order |
//! | 4 | CRC-32C of all before it, least significant byte first |
//!
//! An integer is a LEB128 varint in its shortest form: seven bits a byte, lowest first. Instants and durations are
//! microseconds. An option is a byte 0, or a byte 1 and the value. A value has one encoding, so that equal frames are equal
//! messages.
//!
//! Messages carry the checksum too. UDP's own has 16 bits, is optional on IPv4, and ends at every box that rewrites packets;
//! a flipped bit in a term is a vote for something nobody asked. It catches accidents, not forgers: authenticity is the
//! transport's. Nor does it name the group: where two groups can reach each other, keep their ports or keys apart.
//!
//! # Upgrades
//!
//! Nodes are upgraded one at a time, in any order, from one release to the next. Two neighbouring releases understand each
//! other because:
//!
//! - **The frame is fixed for ever**, so that damage, age and novelty are told apart: [`Damaged`](DecodeError::Damaged),
//!   [`UnknownVersion`](DecodeError::UnknownVersion), [`UnknownKind`](DecodeError::UnknownKind).
//! - **A field may be added at the end of a variant** without a new version. An older reader skips it; a newer one reads its
//!   absence as a stated value. Allowed only when whoever does not see the field stays safe: in a record, an older
//!   release forgets it with its next write.
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

/// What has bytes.
pub trait Coded: Sized {
    /// No frame is longer, of this release or of one that only added fields: what a receive buffer must hold, and the
    /// capacity at which [`encode`](Self::encode) never grows an empty buffer.
    const MAX_BYTES: usize;

    /// Appends one frame.
    fn encode(&self, out: &mut Vec<u8>);

    /// Reads the one frame that `bytes` are.
    ///
    /// # Errors
    /// When they are not one whole, intact frame of this type; each with its place and remedy.
    fn decode(bytes: &[u8]) -> Result<Self, DecodeError>;
}

/// Gives a type its bytes: one line for each variant, with its kind and its fields in their order. A field that is
/// added later comes after a semicolon, with the value that stands for its absence.
macro_rules! kinds {
    ($type:ty, at most $max:expr, $(
        $kind:literal = $($variant:ident)::+ { $($field:ident),* $(; $later:ident or $absent:expr)* }
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

            fn decode(bytes: &[u8]) -> Result<Self, $crate::codec::DecodeError> {
                let (kind, mut body) = $crate::codec::frame::open(bytes, Self::MAX_BYTES)?;
                match kind {
                    // The fields of a struct expression are evaluated in the order they are written.
                    $($kind => Ok($($variant)::+ {
                        $($field: body.field()?,)*
                        $($later: body.field_or($absent)?,)*
                    }),)+
                    _ => Err($crate::codec::DecodeError::UnknownKind(kind)),
                }
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
