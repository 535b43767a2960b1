//! Answers that cannot be true, refused by name and counted (law C8).

use crate::listed::listed;
use crate::refusals::{self, Reason};

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

impl Reason for Refusal {
    fn place(self) -> usize {
        self as usize
    }
}

/// How many answers were refused, by reason.
pub type Refusals = refusals::Refusals<Refusal, { Refusal::ALL.len() }>;

/// The counts of a machine.
pub(super) type Counter = refusals::Rarely<Refusal, { Refusal::ALL.len() }>;
