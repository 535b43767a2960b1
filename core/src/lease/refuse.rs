//! Answers that cannot be true, refused by name and counted (law C8).

use crate::listed::listed;

listed! {
    /// Why an answer of the store was not taken for what it says.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    #[repr(u8)]
    pub enum Refusal {
        /// It is to a request of a former life, to one that was answered or forgotten, or to none.
        UnknownTicket,
        /// It is none that this request has.
        WrongAnswer,
        /// The token is not above one that this node was elected with before: the store fell back. Raise the generation.
        TokenFellBack,
        /// The token is one that is never issued, or cannot rise any more.
        TokenExhausted,
        /// It is longer than any that can be: see the bounds of the scheme.
        TooLong,
    }
}

/// How many answers were refused, by reason. Counts saturate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refusals([u16; Refusal::ALL.len()]);

impl Refusals {
    /// How often `reason` applied.
    #[must_use]
    pub fn count(&self, reason: Refusal) -> u16 {
        self.0[reason as usize]
    }

    /// How many were refused in all.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.0.iter().map(|count| u32::from(*count)).sum()
    }

    pub(super) fn add(&mut self, reason: Refusal) {
        let count = &mut self.0[reason as usize];
        *count = count.saturating_add(1);
    }
}
