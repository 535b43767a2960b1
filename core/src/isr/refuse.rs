//! Input that cannot be true, refused by name and counted (law C8). What is asked at the wrong time or by the wrong one is
//! answered ([`Fault`](super::Fault)), not refused.

use crate::listed::listed;
use crate::refusals::Reason;

listed! {
    /// Why an input was dropped.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    #[repr(u8)]
    pub enum Refusal {
        /// The record is none that may follow those before it, or is told out of its order.
        ImpossibleRecord,
        /// More is known of the log beyond what is committed than a broker keeps: tell it again once more is committed.
        TooFarAhead,
        /// It answers a question of a former life, one that was answered, or none.
        UnknownTicket,
        /// It is no answer to that question.
        WrongAnswer,
        /// The sender keeps no replica of this partition, or is not the one that leads it.
        UnknownSender,
        /// The log it describes has an end or an order that none has, or lacks what it should begin with.
        ImpossibleLog,
        /// A metadata log's epoch or offset, a leader epoch or a count is beyond what can be counted.
        Exhausted,
    }
}

impl Reason for Refusal {
    fn place(self) -> usize {
        self as usize
    }
}

/// How many inputs were refused, by reason.
pub type Refusals = crate::refusals::Refusals<Refusal, { Refusal::ALL.len() }>;
