//! Who takes part: by a name that the store's record can carry, and that people know it by.

use crate::NodeId;
use crate::random::Random;
use alloc::sync::Arc;
use core::fmt;
use core::str::FromStr;

/// The longest name, in bytes: that of a Kubernetes object, and below any key of the stores.
pub const MAX_NAME: usize = 253;

/// The name of who takes part in an election over a store: a host name, a pod, an address. Two that run at once may have
/// the same by mistake: what tells them apart is a [`Nonce`], not the name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity(Arc<str>);

/// Why a text is no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameError {
    /// It is empty, which in a record means that nobody holds it.
    Empty,
    /// It is longer than [`MAX_NAME`] bytes: so long.
    TooLong(usize),
}

impl Identity {
    /// A name.
    ///
    /// # Errors
    /// When it is empty or longer than [`MAX_NAME`] bytes.
    pub fn new(name: &str) -> Result<Self, NameError> {
        match name.len() {
            0 => Err(NameError::Empty),
            1..=MAX_NAME => Ok(Self(name.into())),
            length => Err(NameError::TooLong(length)),
        }
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }

    /// The number under which a [`Standing`](crate::Standing) shows it: the same for the same name, everywhere and for
    /// ever (FNV-1a of its bytes). For showing and comparing; it entitles to nothing.
    #[must_use]
    pub fn node(&self) -> NodeId {
        node_of(&self.0)
    }
}

/// The number of who has this name.
pub(super) fn node_of(name: &str) -> NodeId {
    NodeId(name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    }))
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str(
                "the name is empty, which means nobody: give each who takes part one of its own",
            ),
            Self::TooLong(length) => write!(
                f,
                "the name has {length} bytes: at most {MAX_NAME} fit the records of every store; shorten it"
            ),
        }
    }
}

impl core::error::Error for NameError {}

/// What tells one attempt to hold a record from every other: of another node, of a former life, of this life. A name does
/// not: two processes of one host can share it, and a successor has that of the process it replaces.
///
/// In records that hold text it is 32 hexadecimal digits, as it is displayed and parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nonce(pub u128);

/// The text is no [`Nonce`]: it is not 32 hexadecimal digits in lower case, and no machine wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoNonce;

impl Nonce {
    pub(super) fn draw(random: &mut Random) -> Self {
        Self(u128::from(random.bits()) << 64 | u128::from(random.bits()))
    }
}

/// Writes 32 hexadecimal digits.
impl fmt::Display for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// Reads what it wrote, and nothing else.
impl FromStr for Nonce {
    type Err = NoNonce;

    fn from_str(text: &str) -> Result<Self, NoNonce> {
        let digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        match u128::from_str_radix(text, 16) {
            Ok(number) if text.len() == 32 && text.bytes().all(digit) => Ok(Self(number)),
            _ => Err(NoNonce),
        }
    }
}

impl fmt::Display for NoNonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a nonce is 32 hexadecimal digits in lower case: take the record for another program's, with Nonce(0)",
        )
    }
}

impl core::error::Error for NoNonce {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn a_name_is_bounded_and_says_what_is_wrong() {
        assert_eq!(Identity::new(""), Err(NameError::Empty));
        let long = "x".repeat(MAX_NAME + 1);
        assert_eq!(Identity::new(&long), Err(NameError::TooLong(MAX_NAME + 1)));
        assert!(Identity::new(&long[1..]).is_ok());
        assert!(NameError::TooLong(300).to_string().contains("shorten it"));
        assert!(NameError::Empty.to_string().contains("give each"));
    }

    #[test]
    fn a_number_is_that_of_its_name_for_ever() {
        // The published test vector of FNV-1a, 64 bits.
        let foobar = Identity::new("foobar").unwrap();
        assert_eq!(foobar.node(), NodeId(0x8594_4171_f739_67e8));
        assert_eq!(
            (foobar.name(), foobar.to_string()),
            ("foobar", "foobar".to_string())
        );
        assert_eq!(Nonce(0xab).to_string(), "000000000000000000000000000000ab");
    }

    #[test]
    fn a_nonce_is_read_as_it_was_written_and_in_no_other_way() {
        for nonce in [Nonce(0), Nonce(0xab), Nonce(u128::MAX)] {
            assert_eq!(nonce.to_string().parse(), Ok(nonce));
        }
        let written = Nonce(0xab).to_string();
        for foreign in [
            "",
            "ab",
            &written[1..],
            &written.to_uppercase(),
            &written.replacen('0', "+", 1),
            &written.replacen('0', "é", 1),
            &(written.clone() + "0"),
        ] {
            assert_eq!(foreign.parse::<Nonce>(), Err(NoNonce), "{foreign}");
        }
    }
}
