//! The rules that brokers and partitions stand on, each of which can be switched off to see what it protects.

use crate::listed::listed;
pub use crate::rules::Faithful;

listed! {
    /// A load-bearing rule. The documentation of each says what breaks when it is off; [`protects`](Self::protects) says it
    /// to programs.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[non_exhaustive]
    #[repr(u8)]
    pub enum Rule {
        /// A broker that is fenced or about to go enters no ISR (KAFKA-13916, KAFKA-14140, KIP-841). Off: it does.
        EligibleForIsr,
        /// The last known leader is elected when it is active (KAFKA-19522). Off: a fenced broker leads.
        LastKnownIsActive,
        /// Only who is in the ISR, or in the ELR when that is empty, is elected unless the topic allows another (KP-valid).
        /// Off: whoever is active is, and what was committed is lost.
        CleanElection,
        /// Whoever lost its disk's tail leaves ISR and ELR when it registers again (KAFKA-18106). Off: it leads on without
        /// what was committed.
        UncleanLeaves,
        /// A broker speaks under the epoch of its registration, and what was said of a former one is refused (KIP-903). Off:
        /// a broker that came back empty enters the ISR for what it was before.
        BrokerEpochChecked,
        /// Who knows a later epoch than the controller is told that this is none (KAFKA-14154). Off: it is told that it is
        /// fenced, believes it, and its ISR changes no more.
        LaterEpochIsNotController,
        /// The leader epoch rises whenever the leader is written. Off: two leaders under one token.
        LeaderEpochRises,
        /// A broker applies what is committed. Off: it leads by a decision that never was.
        AppliesCommitted,
        /// A replica takes nothing that was said in another leader epoch (KIP-101). Off: what a follower had in a former
        /// epoch counts for what it has now.
        LeaderEpochFences,
        /// A follower cuts off what its leader's epochs say is not there (KIP-101). Off (what is above its own high
        /// watermark, which lags behind): committed records are cut off.
        TruncatesByEpoch,
        /// An answer that says "you diverge" moves no high watermark (KAFKA-14704). Off: the tail that is about to be cut
        /// off counts as committed.
        DivergenceMovesNothing,
        /// A follower enters the ISR when it has all up to where the leader's epoch begins (KAFKA-7128). Off: it is elected
        /// without what was committed before.
        ReachesEpochStart,
        /// The high watermark waits for everybody who may be in the ISR: those who are, and those who were proposed. Off
        /// (for those who were proposed alone): who is dropped without leave is elected without what was committed.
        MaximalIsr,
        /// With ELR, the high watermark stands still while the ISR is smaller than its minimum (KIP-966). Off: who is
        /// eligible lacks what is committed.
        MinIsrForHighWatermark,
    }
}

listed! {
    /// What a rule protects.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[non_exhaustive]
    #[repr(u8)]
    pub enum Invariant {
        /// A broker that is fenced or about to go leads nothing, and enters no ISR.
        FencedNeverLeads,
        /// Who leads is in the ISR.
        LeaderInIsr,
        /// Unless an election was unclean or of the last known leader, whoever leads has every record below a high watermark
        /// that a leader showed.
        CleanNoLoss,
        /// With every change the partition epoch rises, and with another leader the leader epoch.
        EpochMonotone,
        /// ISR and ELR are apart, and of the replicas.
        ElrDisjoint,
        /// No broker applies metadata that is not committed.
        NoStaleCommand,
        /// The high watermark of a replica does not fall, and nothing below it is cut off.
        HighWatermarkMonotone,
        /// Two replicas that have a record of one offset and epoch agree up to it.
        LogMatching,
        /// When everything is healed, every partition with an active replica that is eligible has a leader, and everybody
        /// who is active is in its ISR again.
        InSyncAgain,
    }
}

impl Invariant {
    /// Its name in tests, simulator and traces.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FencedNeverLeads => "KB-FencedNeverLeads",
            Self::LeaderInIsr => "KP-LeaderInIsr",
            Self::CleanNoLoss => "KP-CleanNoLoss",
            Self::EpochMonotone => "KP-EpochMonotone",
            Self::ElrDisjoint => "KP-ElrDisjoint",
            Self::NoStaleCommand => "KC-NoStaleCommand",
            Self::HighWatermarkMonotone => "KR-HWMonotone",
            Self::LogMatching => "KR-LogMatching",
            Self::InSyncAgain => "KP-InSyncAgain",
        }
    }
}

impl Rule {
    /// What breaks first when the rule is off.
    #[must_use]
    pub const fn protects(self) -> Invariant {
        match self {
            Self::EligibleForIsr | Self::LastKnownIsActive => Invariant::FencedNeverLeads,
            Self::LaterEpochIsNotController => Invariant::InSyncAgain,
            Self::LeaderEpochRises => Invariant::EpochMonotone,
            Self::AppliesCommitted => Invariant::NoStaleCommand,
            Self::DivergenceMovesNothing => Invariant::HighWatermarkMonotone,
            Self::CleanElection
            | Self::UncleanLeaves
            | Self::BrokerEpochChecked
            | Self::LeaderEpochFences
            | Self::TruncatesByEpoch
            | Self::ReachesEpochStart
            | Self::MaximalIsr
            | Self::MinIsrForHighWatermark => Invariant::CleanNoLoss,
        }
    }

    /// What may break as a consequence, and in a schedule where the first is not looked at, before it.
    #[must_use]
    pub const fn follows(self) -> &'static [Invariant] {
        match self {
            // One who lags without being able to catch up is elected, or holds up everybody.
            Self::EligibleForIsr => &[Invariant::CleanNoLoss, Invariant::InSyncAgain],
            // Nor is its log what was committed when it comes back.
            Self::LastKnownIsActive => &[
                Invariant::CleanNoLoss,
                Invariant::HighWatermarkMonotone,
                Invariant::LogMatching,
                Invariant::InSyncAgain,
            ],
            Self::LaterEpochIsNotController => &[],
            // Records of two leaders have one name.
            Self::LeaderEpochRises | Self::AppliesCommitted => &[
                Invariant::LogMatching,
                Invariant::CleanNoLoss,
                Invariant::HighWatermarkMonotone,
                Invariant::InSyncAgain,
            ],
            // Who lacks what is committed cuts it off elsewhere.
            _ => &[
                Invariant::CleanNoLoss,
                Invariant::HighWatermarkMonotone,
                Invariant::LogMatching,
                Invariant::InSyncAgain,
            ],
        }
    }
}

impl crate::rules::Rule for Rule {
    fn place(self) -> u8 {
        self as u8
    }
}

/// Which rules of brokers and partitions a machine keeps.
pub trait Rules: crate::rules::Rules<Rule> {}

impl<R: crate::rules::Rules<Rule>> Rules for R {}

/// Some rules are switched off: see [`Switched`](crate::rules::Switched).
pub type Switched = crate::rules::Switched<Rule>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_invariant_has_a_name_of_its_own() {
        for one in Invariant::ALL {
            assert!(one.name().starts_with('K'));
            for other in Invariant::ALL {
                assert_eq!(one.name() == other.name(), one == other);
            }
        }
        assert!(Rule::ALL.len() <= 64, "the switches are bits of a u64");
    }
}
