//! The rules that ZooKeeper's election and broadcast stand on, each of which can be switched off to see what it protects.

use crate::listed::listed;
pub use crate::rules::Faithful;

listed! {
    /// A load-bearing rule. The documentation of each says what breaks when it is off; [`protects`](Self::protects) says it
    /// to programs.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[non_exhaustive]
    #[repr(u8)]
    pub enum Rule {
        /// Votes compare by epoch before anything else (FLE-O, Z-1419). Off: two votes beat each other, and the election turns in
        /// a circle.
        EpochInOrder,
        /// A leader is joined only when it says itself that it leads (FLE-C). Off: the followers of a leader that crashed elect
        /// it again and again.
        CheckLeader,
        /// A node leads only in its own round (FLE-C, Z-1514). Off: it is made leader by what its followers answer about an
        /// older round. Where votes of different rounds do not match, as they did not then, newcomers never join it.
        OwnRound,
        /// Once synchronised, a node answers with the epoch that was established (FLE-9, Z-1732). Off: the answers that a newcomer
        /// gets differ, and it cannot join.
        EstablishedEpoch,
        /// Observers are counted nowhere (Z-764, Z-769, Z-2959). Off: a leader and its observers begin an epoch without a quorum.
        VotersOnly,
        /// An epoch is written before it is told or promised (ZAB-D3, ZAB-D9, Z-1291). Off: a leader that crashed in between
        /// begins the same epoch again, with others.
        AcceptedDurable,
        /// A node that promised an epoch follows nobody of an earlier one (ZAB-D9). Off: it acknowledges entries of an epoch that
        /// it had given up.
        RefuseOlderEpoch,
        /// A promise counts once (ZAB-D9): who promised an epoch before answers so. Off: two leaders begin one epoch.
        PromiseOnce,
        /// A leader refuses who has the more recent history (ZAB-D5). Off: it replaces what was acknowledged.
        MostRecentLeads,
        /// The current epoch is written after the history it stands for (ZAB-S10, Z-4643). Off: a node with less than that history
        /// passes for the more recent.
        EpochAfterHistory,
        /// NEWLEADER is acknowledged when the history is synced (ZAB-S10, Z-3911, Z-4646). Off: it is lost with the machines'
        /// power.
        HistorySynced,
        /// Entries are acknowledged when they are synced (ZAB-B2). Off: what was committed is lost in a crash.
        AckDurable,
        /// The leader counts its own copy when its disk holds it (ZAB-B1). Off: what was committed is lost in a crash.
        OwnCopyDurable,
        /// Entries commit by their own acknowledgements (ZAB-B3). Off (by those of earlier ones): what was committed is on too few
        /// disks.
        OwnAcks,
        /// NEWLEADER follows the history that it ends (ZAB-S6, Z-3104). Off: it is acknowledged without that history.
        HistoryBeforeNewLeader,
        /// Who has an entry that the leader does not know gets a snapshot, unless it lies beyond the leader's log (ZAB-S3). Off
        /// (its last entry is cut, as if the rest were common): entries of another epoch stay below.
        SnapAcrossEpochs,
        /// After a synchronisation that was broken off, memory is read from the disk again (Z-3642, Z-5094). Off: entries are
        /// appended after others that the disk does not have.
        ReloadAfterSync,
        /// Who cannot cut its log stops (Z-3701). Off: what should be gone comes back with the next start.
        CutOrExit,
        /// A node elects with all that is in its log (Z-2845). Off (with what it knows to be committed): what it did not tell of
        /// stays below what it is sent.
        WholeLogElects,
        /// What is proposed and committed before UPTODATE is kept, and logged with it (ZAB-S11, Z-4785, Z-4394). Off: it is never
        /// logged.
        KeepBuffered,
        /// Proposals follow one another without a gap (ZAB-S9, Z-4925). Off, where a link loses packets and nobody notices
        /// ([`PacketsInOrder`](Self::PacketsInOrder) off as well): entries land in other places than elsewhere.
        Continuous,
        /// Packets of a connection are taken in the order in which they were sent. Off: what a link lost is not missed, and
        /// NEWLEADER is acknowledged without it.
        PacketsInOrder,
        /// A leader steps down when it has used all counters of its epoch (ZAB-B1, Z-1277). Off: names of the next epoch are given
        /// twice.
        StepDownAtWrap,
        /// A history is delivered when its epoch is established (ZAB-S7, ZAB-S11). Off (with NEWLEADER): what a leader could not
        /// establish is delivered, and the next leader proposes without it.
        DeliverEstablished,
        /// A leader without a quorum of learners steps down (ZAB-B4). Off: cut off, it leads for ever.
        QuorumOrStepDown,
        /// A `sync` waits for a quorum that still follows. Off, as ZooKeeper ships: a leader that was replaced and does not know
        /// answers it, and the read after it is stale.
        SyncByQuorum,
    }
}

/// What a rule protects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Invariant {
    /// The accepted epoch of a node is never below its current one, and neither falls, across restarts.
    EpochOrder,
    /// At most one node leads an epoch that a quorum promised (past ZAB-D6).
    Leadership1,
    /// At most one node establishes an epoch (ZAB-S7).
    Leadership2,
    /// Who promised an epoch logs and acknowledges nothing of an earlier one.
    PromiseBeforeAct,
    /// What is delivered was proposed by a leader.
    Integrity,
    /// Of what two nodes delivered, one is a beginning of the other.
    Agreement,
    /// No two entries have one name, and nobody delivers two in another order than elsewhere.
    TotalOrder,
    /// Entries of one epoch are delivered in the order in which its leader proposed them.
    LocalPrimaryOrder,
    /// Nothing of an earlier epoch is delivered after something of a later one.
    GlobalPrimaryOrder,
    /// A leader proposes when it has delivered everything that was delivered in earlier epochs.
    PrimaryIntegrity,
    /// What was acknowledged to a client is in the history of every later leader that is established.
    AckedSurvives,
    /// An acknowledgement, of NEWLEADER or of an entry, is of what the disk holds; so is a current epoch; and what is committed
    /// is on the disks of a quorum.
    AckMeansDurable,
    /// No log on a disk has a hole within an epoch.
    LogContinuity,
    /// Of two votes that differ, one beats the other.
    ElectionOrderIsTotal,
    /// A read after a `sync` misses nothing that was acknowledged before it was asked.
    FreshSync,
    /// Who leads does so in the newest round in which it elected.
    LeaderRound,
    /// When everything is healed, somebody leads soon and everybody follows.
    LeaderAgain,
}

impl Invariant {
    /// Its name in tests, simulator and traces.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::EpochOrder => "ZK-EpochOrder",
            Self::Leadership1 => "ZK-Leadership1",
            Self::Leadership2 => "ZK-Leadership2",
            Self::PromiseBeforeAct => "ZK-PromiseBeforeAct",
            Self::Integrity => "ZK-Integrity",
            Self::Agreement => "ZK-Agreement",
            Self::TotalOrder => "ZK-TotalOrder",
            Self::LocalPrimaryOrder => "ZK-LocalPrimaryOrder",
            Self::GlobalPrimaryOrder => "ZK-GlobalPrimaryOrder",
            Self::PrimaryIntegrity => "ZK-PrimaryIntegrity",
            Self::AckedSurvives => "ZK-AckedSurvives",
            Self::AckMeansDurable => "ZK-AckMeansDurable",
            Self::LogContinuity => "ZK-LogContinuity",
            Self::ElectionOrderIsTotal => "ZK-ElectionOrderIsTotal",
            Self::FreshSync => "ZK-FreshSync",
            Self::LeaderRound => "ZK-LeaderRound",
            Self::LeaderAgain => "ZK-LeaderAgain",
        }
    }
}

impl Rule {
    /// What breaks first when the rule is off.
    #[must_use]
    pub const fn protects(self) -> Invariant {
        match self {
            Self::EpochInOrder => Invariant::ElectionOrderIsTotal,
            Self::OwnRound => Invariant::LeaderRound,
            Self::CheckLeader | Self::EstablishedEpoch | Self::QuorumOrStepDown => {
                Invariant::LeaderAgain
            }
            Self::VotersOnly | Self::AcceptedDurable | Self::PromiseOnce => Invariant::Leadership1,
            Self::RefuseOlderEpoch => Invariant::PromiseBeforeAct,
            Self::MostRecentLeads => Invariant::AckedSurvives,
            Self::EpochAfterHistory
            | Self::HistorySynced
            | Self::AckDurable
            | Self::OwnCopyDurable
            | Self::OwnAcks
            | Self::HistoryBeforeNewLeader
            | Self::PacketsInOrder => Invariant::AckMeansDurable,
            Self::CutOrExit | Self::WholeLogElects | Self::SnapAcrossEpochs => Invariant::Agreement,
            Self::DeliverEstablished => Invariant::PrimaryIntegrity,
            Self::ReloadAfterSync | Self::KeepBuffered | Self::Continuous => {
                Invariant::LogContinuity
            }
            Self::StepDownAtWrap => Invariant::TotalOrder,
            Self::SyncByQuorum => Invariant::FreshSync,
        }
    }

    /// What may break as a consequence, and in a schedule where the first is not looked at, before it.
    #[must_use]
    pub const fn follows(self) -> &'static [Invariant] {
        /// What is lost or wrong in a log is wrong for whoever delivers it.
        const LOGS: &[Invariant] = &[
            Invariant::AckMeansDurable,
            Invariant::AckedSurvives,
            Invariant::Agreement,
            Invariant::TotalOrder,
            Invariant::Integrity,
            Invariant::LocalPrimaryOrder,
            Invariant::GlobalPrimaryOrder,
            Invariant::PrimaryIntegrity,
            Invariant::LogContinuity,
            Invariant::FreshSync,
        ];
        match self.protects() {
            Invariant::Leadership1 | Invariant::PromiseBeforeAct => &[
                Invariant::EpochOrder,
                Invariant::Leadership1,
                Invariant::Leadership2,
                Invariant::PromiseBeforeAct,
                Invariant::AckMeansDurable,
                Invariant::AckedSurvives,
                Invariant::Agreement,
                Invariant::TotalOrder,
                Invariant::Integrity,
                Invariant::LocalPrimaryOrder,
                Invariant::GlobalPrimaryOrder,
                Invariant::PrimaryIntegrity,
                Invariant::LogContinuity,
                Invariant::FreshSync,
            ],
            Invariant::ElectionOrderIsTotal | Invariant::LeaderRound => &[Invariant::LeaderAgain],
            Invariant::AckedSurvives
            | Invariant::AckMeansDurable
            | Invariant::Agreement
            | Invariant::LogContinuity
            | Invariant::PrimaryIntegrity
            | Invariant::TotalOrder => LOGS,
            _ => &[],
        }
    }
}

impl crate::rules::Rule for Rule {
    fn place(self) -> u8 {
        self as u8
    }
}

/// Which rules a machine keeps.
pub trait Rules: crate::rules::Rules<Rule> {}

impl<R: crate::rules::Rules<Rule>> Rules for R {}

/// Some rules are switched off: see [`Switched`](crate::rules::Switched).
pub type Switched = crate::rules::Switched<Rule>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Rules as _;

    #[test]
    fn a_switch_turns_off_its_own_rule_alone() {
        for off in Rule::ALL {
            let rules = Switched::without(&[off]);
            for rule in Rule::ALL {
                assert_eq!(rules.keeps(rule), rule != off);
                assert!(Switched::default().keeps(rule) && Faithful.keeps(rule));
            }
        }
        assert!(Rule::ALL.len() <= 64, "the switches are bits of a u64");
    }

    #[test]
    fn each_invariant_has_a_name_of_its_own() {
        let all = Rule::ALL.map(Rule::protects);
        for one in all {
            assert!(one.name().starts_with("ZK-"));
            for other in all {
                assert_eq!(one.name() == other.name(), one == other);
            }
        }
    }
}
