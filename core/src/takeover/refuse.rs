//! Answers that cannot be true, refused by name and counted (law C8).

use crate::listed::listed;
use crate::refusals::Reason;

listed! {
    /// Why an answer was not taken for what it says.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    #[repr(u8)]
    pub enum Refusal {
        /// It is to a request of a former life or tenure, to one that was answered, or to none.
        UnknownTicket,
        /// It is none that this request has.
        WrongAnswer,
        /// A page is longer than was asked for.
        PageTooLong,
        /// The items of a page are not in rising order of their keys, after the one that was named.
        PageOutOfOrder,
    }
}

impl Reason for Refusal {
    fn place(self) -> usize {
        self as usize
    }
}

/// How many answers were refused, by reason.
pub type Refusals = crate::refusals::Refusals<Refusal, { Refusal::ALL.len() }>;
