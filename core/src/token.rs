//! The fencing token.

use core::fmt;

/// A fencing token: rises strictly from each term to the next, and a resource accepts only the newest.
///
/// The counter is the scheme's own number (Raft's term, an epoch, a create revision). The generation is raised by an
/// operator when a store was restored from a backup and its counter fell back; it counts before the counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token {
    /// Raised by an operator; 0 in a group that was never restored.
    pub generation: u32,
    /// The scheme's own number. 0 is reserved for "no leader yet" and never issued.
    pub counter: u64,
}

impl Token {
    /// Below every token that is ever issued.
    pub const NONE: Self = Self {
        generation: 0,
        counter: 0,
    };

    /// A token of the given generation and counter.
    #[must_use]
    pub const fn new(generation: u32, counter: u64) -> Self {
        Self {
            generation,
            counter,
        }
    }

    /// Whether this token can have been issued: 0 is reserved, and the largest counter is kept back so that a
    /// successor always exists.
    #[must_use]
    pub const fn is_issued(self) -> bool {
        self.counter != 0 && self.counter != u64::MAX
    }
}

/// Writes `counter`, or `generation:counter` once a generation was raised.
impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.generation == 0 {
            write!(f, "{}", self.counter)
        } else {
            write!(f, "{}:{}", self.generation, self.counter)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn the_generation_counts_first() {
        assert!(Token::new(1, 1) > Token::new(0, u64::MAX));
        assert!(Token::new(1, 2) > Token::new(1, 1));
        assert!(Token::NONE < Token::new(0, 1));
    }

    #[test]
    fn a_generation_is_told_once_there_is_one() {
        assert_eq!(Token::new(0, 7).to_string(), "7");
        assert_eq!(Token::new(2, 7).to_string(), "2:7");
    }

    #[test]
    fn the_ends_of_the_counter_are_never_issued() {
        assert!(!Token::NONE.is_issued());
        assert!(!Token::new(3, u64::MAX).is_issued());
        assert!(Token::new(0, 1).is_issued());
    }
}
