//! What a lock holds.

use crate::lease::{Claimant, Identity, Nonce};
use alloc::string::ToString;
use core::fmt;

/// What the lock holds: `nonce:bytes of the name:name:metadata`, the nonce as 32 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Value {
    /// Of the attempt that took it.
    pub nonce: Nonce,
    /// Who took it.
    pub claimant: Claimant,
}

impl Value {
    /// Reads what the lock holds; `None` when no machine wrote it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (nonce, rest) = text.split_once(':')?;
        let (length, rest) = rest.split_once(':')?;
        let (name, rest) = rest.split_at_checked(length.parse().ok()?)?;
        let value = Self {
            nonce: nonce.parse().ok()?,
            claimant: Claimant::new(Identity::new(name).ok()?)
                .with_metadata(rest.strip_prefix(':')?)
                .ok()?,
        };
        // What is compared as bytes is written in one way alone.
        (value.to_string() == text).then_some(value)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.claimant.identity.name();
        let metadata = self.claimant.metadata();
        write!(f, "{}:{}:{name}:{metadata}", self.nonce, name.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_as_it_was_written_and_in_no_other_way() {
        let claimant = Claimant::new(Identity::new("a:b\n").unwrap());
        let value = Value {
            nonce: Nonce(0xab),
            claimant: claimant.with_metadata("host:1").unwrap(),
        };
        let text = value.to_string();
        assert_eq!(text, "000000000000000000000000000000ab:4:a:b\n:host:1");
        assert_eq!(Value::parse(&text), Some(value));
        for foreign in [
            "",
            "OK",
            "ab:1:a:",
            "000000000000000000000000000000ab:9:a:",
            &text[1..],
        ] {
            assert_eq!(Value::parse(foreign), None, "{foreign}");
        }
        assert_eq!(Value::parse("+00000000000000000000000000000ab:1:a:"), None);
    }
}
