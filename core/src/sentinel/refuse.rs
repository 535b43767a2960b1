//! Messages that cannot be true, refused by name and counted (law C8).

use crate::listed::listed;
use crate::refusals::Reason;

listed! {
    /// Why a message or reply was dropped.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    #[repr(u8)]
    pub enum Refusal {
        /// It answers a question of a former life, one that was answered, or none.
        Unasked,
        /// The disk answered a request of a former life, or one that was answered, or none.
        UnknownTicket,
        /// It names an epoch above [`MAX_EPOCH`](super::MAX_EPOCH).
        EpochTooHigh,
        /// It names an epoch more than [`MAX_LEAP`](super::MAX_LEAP) above the own one.
        EpochLeap,
        /// It names a configuration of a later epoch than its sender has entered, or a vote in epoch 0.
        ImpossibleEpoch,
        /// The sender is not watched, or claims to be this sentinel.
        UnknownSender,
        /// It is of a master that is not watched here.
        UnknownMaster,
        /// It names this sentinel's own address, or a sentinel's for a data server's.
        ImpossibleAddress,
        /// Nothing of the kind is ever sent to a sentinel.
        NotForSentinels,
        /// There are as many replicas or sentinels as are ever remembered.
        TooMany,
        /// An answer waits for the disk for as many strangers as there is room for.
        NoRoom,
    }
}

impl Reason for Refusal {
    fn place(self) -> usize {
        self as usize
    }
}

/// How many messages were refused, by reason.
pub type Refusals = crate::refusals::Refusals<Refusal, { Refusal::ALL.len() }>;
