//! What cannot be true or does not belong here, refused by name and counted (law C8).
//!
//! A refusal is about the message itself. A vote that loses, a learner that is told to wait and a connection that ends are
//! answers, not refusals; ZAB-D5 and ZAB-D9, which turn a whole node away, are counted as such.

use crate::listed::listed;
use crate::refusals::{self, Reason};

listed! {
    /// Why a message or reply was dropped.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    #[repr(u8)]
    pub enum Refusal {
        /// The sender is no member, or claims to be this node.
        UnknownSender,
        /// The vote is for a node that has no vote itself (FLE-3).
        NotAVoter,
        /// The round lies more than [`MAX_LEAP`](super::MAX_LEAP) ahead of the own one.
        RoundLeap,
        /// The epoch lies more than [`MAX_LEAP`](super::MAX_LEAP) ahead of the own one, or above
        /// [`MAX_EPOCH`](super::MAX_EPOCH).
        EpochLeap,
        /// The log it describes has half an end, or ends beyond what any log reaches, or falls.
        ImpossibleLog,
        /// The packet is of a connection that is over or never was.
        OtherLink,
        /// The packet does not follow the last one of its connection: one before it was lost, and the connection is over.
        OutOfOrder,
        /// The packet does not belong to what the connection has come to.
        Unexpected,
        /// The learner's history is more recent than the leader's (ZAB-D5).
        MoreRecent,
        /// The leader's epoch is below one that was promised (ZAB-D9).
        OlderEpoch,
        /// A proposal does not follow the one before it (ZAB-S9).
        NotContinuous,
        /// It names as committed what was never proposed, or would cut what is committed.
        ContradictsCommitted,
        /// The reply is to a request of a former life, or to one that was never made.
        UnknownTicket,
        /// The group reached [`MAX_EPOCH`](super::MAX_EPOCH): this node begins no further epoch.
        EpochsExhausted,
    }
}

impl Reason for Refusal {
    fn place(self) -> usize {
        self as usize
    }
}

/// How many inputs were refused, by reason.
pub type Refusals = refusals::Refusals<Refusal, { Refusal::ALL.len() }>;

/// The counts of a machine.
pub(super) type Counter = refusals::Rarely<Refusal, { Refusal::ALL.len() }>;
