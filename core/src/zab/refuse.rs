//! What cannot be true or does not belong here, refused by name and counted (law C8).
//!
//! A refusal is about the message itself. A vote that loses, a learner that is told to wait and a connection that ends are
//! answers, not refusals; ZAB-D5 and ZAB-D9, which turn a whole node away, are counted as such.

use crate::listed::listed;
use alloc::boxed::Box;

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

/// How many inputs were refused, by reason. Counts saturate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refusals([u32; Refusal::ALL.len()]);

impl Refusals {
    /// How often `reason` applied.
    #[must_use]
    pub fn count(&self, reason: Refusal) -> u32 {
        self.0[reason as usize]
    }

    /// How many were refused in all.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().map(|count| u64::from(*count)).sum()
    }

    fn add(&mut self, reason: Refusal) {
        let count = &mut self.0[reason as usize];
        *count = count.saturating_add(1);
    }
}

/// The counts of a machine: none are kept before the first.
#[derive(Clone, Debug, Default)]
pub(super) struct Counter(Option<Box<Refusals>>);

impl Counter {
    pub(super) fn add(&mut self, reason: Refusal) {
        self.0.get_or_insert_default().add(reason);
    }

    pub(super) fn counts(&self) -> &Refusals {
        const NONE: &Refusals = &Refusals([0; Refusal::ALL.len()]);
        self.0.as_deref().unwrap_or(NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_counted_apart() {
        let mut counter = Counter::default();
        assert_eq!(counter.counts().total(), 0);
        for (times, reason) in Refusal::ALL.into_iter().enumerate() {
            for _ in 0..times {
                counter.add(reason);
            }
        }
        for (times, reason) in Refusal::ALL.into_iter().enumerate() {
            assert_eq!(counter.counts().count(reason) as usize, times);
        }
        let count = Refusal::ALL.len() as u64;
        assert_eq!(counter.counts().total(), count * (count - 1) / 2);
    }
}
