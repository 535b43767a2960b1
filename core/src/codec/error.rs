//! Why bytes were refused.

use super::VERSION;
use crate::log::ShapeError;
use crate::membership::MembershipError;
use core::fmt;

/// Why bytes are not one frame of what was asked for. Offsets count from the first byte.
///
/// A message that is refused is dropped: to the protocol it is lost. What a *disk* holds and is refused is never taken for
/// nothing: a node that starts without its record under its old name may vote twice in one term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeError {
    /// The checksum does not fit what is before it.
    Damaged {
        /// Where the checksum is.
        at: usize,
    },
    /// No log has this shape.
    ImpossibleLog {
        /// Where it begins.
        at: usize,
        /// What is wrong with it.
        reason: ShapeError,
    },
    /// No group has these members.
    ImpossibleMembership {
        /// Where they begin.
        at: usize,
        /// What is wrong with them.
        reason: MembershipError,
    },
    /// An integer is not in its shortest form, or what has an order is in another.
    NotCanonical {
        /// Where it begins.
        at: usize,
    },
    /// A number does not fit what it stands for.
    OutOfRange {
        /// Where it begins.
        at: usize,
    },
    /// The frame is, or says that it is, longer than any.
    TooLong {
        /// Its length.
        length: u64,
        /// The longest there is.
        limit: usize,
    },
    /// There is something after the frame.
    Trailing {
        /// Where the frame ends.
        at: usize,
    },
    /// The bytes, or the body they frame, end too early.
    Truncated {
        /// Where they end.
        at: usize,
    },
    /// The kind is none of this type that this release knows.
    UnknownKind(
        /// What the second byte says.
        u8,
    ),
    /// The frame is intact, and of a version this release does not read.
    UnknownVersion(
        /// What the first byte says.
        u8,
    ),
}

impl DecodeError {
    /// A name for programs: never translated, never changed.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Damaged { .. } => "damaged",
            Self::ImpossibleLog { .. } => "impossible-log",
            Self::ImpossibleMembership { .. } => "impossible-membership",
            Self::NotCanonical { .. } => "not-canonical",
            Self::OutOfRange { .. } => "out-of-range",
            Self::TooLong { .. } => "too-long",
            Self::Trailing { .. } => "trailing",
            Self::Truncated { .. } => "truncated",
            Self::UnknownKind(_) => "unknown-kind",
            Self::UnknownVersion(_) => "unknown-version",
        }
    }

    /// Where: the offset from the first byte.
    #[must_use]
    pub const fn place(&self) -> usize {
        match *self {
            Self::Damaged { at }
            | Self::ImpossibleLog { at, .. }
            | Self::ImpossibleMembership { at, .. }
            | Self::NotCanonical { at }
            | Self::OutOfRange { at }
            | Self::Trailing { at }
            | Self::Truncated { at } => at,
            Self::TooLong { limit, .. } => limit,
            Self::UnknownKind(_) => 1,
            Self::UnknownVersion(_) => 0,
        }
    }

    /// What to do about it.
    #[must_use]
    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::Damaged { .. } | Self::Truncated { .. } => {
                "drop a message; restore what a disk held from a copy, or give the node a new id, but never start it without"
            }
            Self::ImpossibleLog { .. }
            | Self::ImpossibleMembership { .. }
            | Self::NotCanonical { .. }
            | Self::OutOfRange { .. } => {
                "correct the program that wrote it; the checksum fits, so that this is no damage"
            }
            Self::TooLong { .. } | Self::Trailing { .. } => {
                "give exactly one frame, such as one datagram"
            }
            Self::UnknownKind(_) => {
                "drop it when it is a newer release's; else check what else sends to this address or writes this file"
            }
            Self::UnknownVersion(_) => {
                "upgrade this node, one release at a time, before others write that version"
            }
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: ", self.place())?;
        match self {
            Self::Damaged { .. } => f.write_str("the checksum does not fit the bytes before it"),
            Self::ImpossibleLog { reason, .. } => write!(f, "no log has this shape: {reason}"),
            Self::ImpossibleMembership { reason, .. } => {
                write!(f, "no group has these members: {reason}")
            }
            Self::NotCanonical { .. } => {
                f.write_str("an integer is not in its shortest form, or an order is broken")
            }
            Self::OutOfRange { .. } => f.write_str("a number does not fit what it stands for"),
            Self::TooLong { length, limit } => {
                write!(
                    f,
                    "{length} bytes are longer than any frame of this kind, which has {limit} at most"
                )
            }
            Self::Trailing { .. } => f.write_str("more follows after the end of the frame"),
            Self::Truncated { .. } => f.write_str("the bytes end where more were due"),
            Self::UnknownKind(kind) => {
                write!(
                    f,
                    "kind {kind:#04x} is none of this type that this release knows"
                )
            }
            Self::UnknownVersion(version) => {
                write!(
                    f,
                    "format version {version} is not read by this release, which reads {VERSION}"
                )
            }
        }?;
        write!(f, "; {}", self.remedy())
    }
}

impl core::error::Error for DecodeError {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    /// What a person reads of each error: the place, the reason with its numbers, what to do; and a name for programs.
    #[test]
    fn errors_say_place_reason_and_remedy() {
        let at = 77;
        for (error, code, reason, remedy) in [
            (
                DecodeError::Damaged { at },
                "damaged",
                "at byte 77: the checksum",
                "restore what",
            ),
            (
                DecodeError::ImpossibleLog {
                    at,
                    reason: ShapeError::TermZero,
                },
                "impossible-log",
                "at byte 77: no log has this shape: an entry has term 0",
                "correct the program",
            ),
            (
                DecodeError::ImpossibleMembership {
                    at,
                    reason: MembershipError::NoVoters,
                },
                "impossible-membership",
                "at byte 77: no group has these members: no voters",
                "correct the program",
            ),
            (
                DecodeError::NotCanonical { at },
                "not-canonical",
                "at byte 77: an integer",
                "correct the program",
            ),
            (
                DecodeError::OutOfRange { at },
                "out-of-range",
                "at byte 77: a number",
                "correct the program",
            ),
            (
                DecodeError::TooLong {
                    length: 9_000,
                    limit: at,
                },
                "too-long",
                "at byte 77: 9000 bytes",
                "one datagram",
            ),
            (
                DecodeError::Trailing { at },
                "trailing",
                "at byte 77: more follows",
                "exactly one",
            ),
            (
                DecodeError::Truncated { at },
                "truncated",
                "at byte 77: the bytes end",
                "never start",
            ),
            (
                DecodeError::UnknownKind(0x0b),
                "unknown-kind",
                "at byte 1: kind 0x0b",
                "drop it",
            ),
            (
                DecodeError::UnknownVersion(9),
                "unknown-version",
                "at byte 0: format version 9",
                "upgrade",
            ),
        ] {
            assert_eq!(error.code(), code);
            let told = error.to_string();
            assert!(told.starts_with(reason), "{told}");
            let rest = told[reason.len()..].split_once("; ").unwrap().1;
            assert!(rest.contains(remedy), "{told}");
        }
    }
}
