//! The rules a failover by sentinels stands on, each of which can be switched off to see what it protects.

use crate::listed::listed;
pub use crate::rules::Faithful;

listed! {
    /// A load-bearing rule. The documentation of each says what breaks when it is off; [`protects`](Self::protects) says it
    /// to programs. Most are kept by the shipped Sentinel; the [`REPAIRS`](Self::REPAIRS) are not.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[non_exhaustive]
    #[repr(u8)]
    pub enum Rule {
        /// A vote is in the file before it is told, and before it is counted (C1, SEN-V2; redis@ed813863f). Off: one vote an
        /// epoch, after a crash.
        VoteDurable,
        /// A sentinel votes once an epoch for each master (SEN-V2). Off: one vote an epoch.
        OneVoteAnEpoch,
        /// Requests and the tally name the epoch of the failover (SEN-V4). Off, as shipped: the epoch that all masters share,
        /// which another master's failover moves on. Then votes of two epochs are added up, and two sentinels act in one
        /// (redis#2230); or a majority of votes elects nobody, because it is of an epoch that is not the current one any more
        /// (redis#12865).
        FailoverEpoch,
        /// Whether a vote can be given is judged by the epochs of its own master. Off, as shipped: a voter that has entered a
        /// later epoch gives none, whatever master that one was for. With requests of the failover's epoch, sentinels then refuse
        /// each other while several masters fail at once.
        OwnMastersEpoch,
        /// A majority is one of all known sentinels (SEN-V4; redis@f4be6f16f). Off (of those who answer): a minority elects.
        AllKnownVoters,
        /// An election needs a majority beside the quorum (SEN-V4). Off: a minority elects.
        MajorityBesidesQuorum,
        /// Who voted for another waits as long as after an attempt of its own (SEN-V2; redis@47750998a). Off: attempts follow
        /// each other before one can end.
        WaitAfterVote,
        /// Between two attempts pass two failover timeouts (SEN-F1, SEN-F8). Off: attempts follow each other before one can end.
        WaitAfterAttempt,
        /// A master is at another address only by a configuration of a later epoch (SEN-V6). Off: any hello undoes a failover.
        ConfigEpochRises,
        /// Whoever hears of a later configuration gives up its own earlier failover. Off, as shipped, where that configuration
        /// names the same address: the config epoch falls back to that of the failover that was overtaken.
        OvertakenGivesUp,
        /// From the promotion on the file names the promoted as the master and the old master as a replica
        /// (redis@821a98664). Off: after a restart the new master is ordered to replicate itself.
        RewriteNamesPromoted,
        /// The node's address is mixed into what it draws (redis#10197). Off: sentinels that began alike stand alike, and nobody
        /// is ever elected.
        SeedMixedWithNode,
        /// Of the replicas of one priority the one with the most data is promoted (SEN-F3). Off: more acknowledged writes are lost than
        /// need be.
        RankByOffset,
        /// Only a replica that has followed the present master is promoted, and rather one that was in touch with it. Off, as
        /// shipped: the old master, which has not followed the new one yet, comes back with its old data (redis#12570); and
        /// where two follow each other, nobody is promoted. The price: where all who followed the present master are gone with
        /// it, nobody is promoted until one is back.
        CandidateFollows,
        /// A sentinel whose own clock made a leap only watches for a while (SEN-R3). Off: a sentinel that was frozen takes its
        /// own silence for the master's.
        TiltOnlyWatches,
        /// How long a replica may have been out of touch counts from the last sign of life of its master, be it that the replica with
        /// the most data was still in touch. Off, as shipped: from when this sentinel began to hold the master to be down. Sentinels
        /// that woke late, after a restart of all or in tilt, then find no replica good enough, and promote nobody for ever. The
        /// price: where nobody who is left saw the master later, a replica may be promoted that lost touch long before it died.
        LastSignOfLife,
    }
}

/// What a rule protects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Invariant {
    /// A sentinel votes at most once for each master and epoch, over all restarts.
    OneVote,
    /// The current epoch is at least each config epoch and leader epoch, and none of them ever falls, in the file.
    EpochMonotone,
    /// For each master and epoch at most one sentinel is elected.
    OneLeader,
    /// Two sentinels that hold one config epoch of a master hold one address. A failover by hand may break it.
    ConfigUnique,
    /// A sentinel's config epoch never falls, and the address changes only when it rises.
    ConfigMonotone,
    /// Who promotes a replica without an operator's word has the votes of a majority of all known sentinels.
    MajorityAuthorised,
    /// When all faults are over, all sentinels soon hold the configuration of the highest epoch, and all data servers follow it.
    ConvergesToMax,
    /// Sentinels that do not reach a majority begin no promotion.
    NoMinorityFailover,
    /// No data server is ordered to replicate itself.
    NoSelfReplication,
    /// Between two attempts of a sentinel, and between its vote for another and its own attempt, pass two failover timeouts.
    RateLimited,
    /// What is promoted is the best of what could be.
    BestReplica,
    /// A master that can be reached stays the master.
    MasterStays,
    /// A master that is gone is replaced within one attempt more than it takes, while a majority can talk and a good replica
    /// can be reached.
    FailoverCompletes,
    /// Writes that were acknowledged survive. Sentinel promises no such thing: replication is asynchronous.
    NoAckLoss,
    /// At most one server takes writes at a time. Sentinel promises no such thing: nothing fences the old master.
    SingleWritableMaster,
}

impl Invariant {
    /// All of them.
    pub const ALL: [Self; 15] = [
        Self::OneVote,
        Self::EpochMonotone,
        Self::OneLeader,
        Self::ConfigUnique,
        Self::ConfigMonotone,
        Self::MajorityAuthorised,
        Self::ConvergesToMax,
        Self::NoMinorityFailover,
        Self::NoSelfReplication,
        Self::RateLimited,
        Self::BestReplica,
        Self::MasterStays,
        Self::FailoverCompletes,
        Self::NoAckLoss,
        Self::SingleWritableMaster,
    ];

    /// Its name in tests, simulator and traces.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OneVote => "SEN-OneVote",
            Self::EpochMonotone => "SEN-EpochMonotone",
            Self::OneLeader => "SEN-OneLeader",
            Self::ConfigUnique => "SEN-ConfigUnique",
            Self::ConfigMonotone => "SEN-ConfigMonotone",
            Self::MajorityAuthorised => "SEN-MajorityAuthorised",
            Self::ConvergesToMax => "SEN-ConvergesToMax",
            Self::NoMinorityFailover => "SEN-NoMinorityFailover",
            Self::NoSelfReplication => "SEN-NoSelfReplication",
            Self::RateLimited => "SEN-RateLimited",
            Self::BestReplica => "SEN-BestReplica",
            Self::MasterStays => "SEN-MasterStays",
            Self::FailoverCompletes => "SEN-FailoverCompletes",
            Self::NoAckLoss => "SEN-NoAckLoss",
            Self::SingleWritableMaster => "SEN-SingleWritableMaster",
        }
    }

    /// Why Sentinel breaks it by design; `None` for what it must keep.
    #[must_use]
    pub const fn broken_by_design(self) -> Option<&'static str> {
        match self {
            Self::NoAckLoss => Some(
                "a write is acknowledged before any replica has it, and what the promoted replica lacks is discarded",
            ),
            Self::SingleWritableMaster => Some(
                "an old master takes writes until a sentinel reaches it and makes it a replica; nothing fences it",
            ),
            _ => None,
        }
    }
}

impl Rule {
    /// What the shipped Sentinel does not keep: without these a machine is that one.
    pub const REPAIRS: &'static [Self] = &[
        Self::FailoverEpoch,
        Self::OwnMastersEpoch,
        Self::OvertakenGivesUp,
        Self::CandidateFollows,
        Self::LastSignOfLife,
    ];

    /// What breaks first when the rule is off.
    #[must_use]
    pub const fn protects(self) -> Invariant {
        match self {
            Self::VoteDurable | Self::OneVoteAnEpoch => Invariant::OneVote,
            Self::OwnMastersEpoch | Self::SeedMixedWithNode | Self::LastSignOfLife => {
                Invariant::FailoverCompletes
            }
            Self::AllKnownVoters => Invariant::NoMinorityFailover,
            Self::FailoverEpoch | Self::MajorityBesidesQuorum => Invariant::MajorityAuthorised,
            Self::WaitAfterVote | Self::WaitAfterAttempt => Invariant::RateLimited,
            Self::ConfigEpochRises | Self::OvertakenGivesUp => Invariant::ConfigMonotone,
            Self::RewriteNamesPromoted => Invariant::NoSelfReplication,
            Self::RankByOffset | Self::CandidateFollows => Invariant::BestReplica,
            Self::TiltOnlyWatches => Invariant::MasterStays,
        }
    }

    /// What may break as a consequence, and in a schedule where the first is not looked at, before it.
    #[must_use]
    pub const fn follows(self) -> &'static [Invariant] {
        match self.protects() {
            Invariant::OneVote => &[
                Invariant::OneLeader,
                Invariant::ConfigUnique,
                Invariant::EpochMonotone,
                Invariant::ConfigMonotone,
                Invariant::MajorityAuthorised,
                Invariant::ConvergesToMax,
            ],
            Invariant::NoMinorityFailover => &[
                Invariant::MajorityAuthorised,
                Invariant::OneLeader,
                Invariant::ConfigUnique,
                Invariant::ConvergesToMax,
                Invariant::MasterStays,
            ],
            // Who adds up votes of two epochs has no majority in one, and another may have.
            Invariant::MajorityAuthorised => &[
                Invariant::NoMinorityFailover,
                Invariant::OneLeader,
                Invariant::ConfigUnique,
                Invariant::ConvergesToMax,
                Invariant::MasterStays,
            ],
            Invariant::ConfigMonotone => &[
                Invariant::ConfigUnique,
                Invariant::EpochMonotone,
                Invariant::ConvergesToMax,
                Invariant::MasterStays,
                Invariant::FailoverCompletes,
            ],
            Invariant::NoSelfReplication => &[
                Invariant::ConvergesToMax,
                Invariant::FailoverCompletes,
                Invariant::MasterStays,
            ],
            Invariant::FailoverCompletes => &[Invariant::ConvergesToMax],
            Invariant::RateLimited => &[
                Invariant::FailoverCompletes,
                Invariant::ConvergesToMax,
                Invariant::MasterStays,
            ],
            _ => &[],
        }
    }
}

impl crate::rules::Rule for Rule {
    fn place(self) -> u8 {
        self as u8
    }
}

/// Which rules a sentinel keeps.
pub trait Rules: crate::rules::Rules<Rule> {}

impl<R: crate::rules::Rules<Rule>> Rules for R {}

/// Some rules are switched off: see [`Switched`](crate::rules::Switched).
pub type Switched = crate::rules::Switched<Rule>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_invariant_has_a_name_of_its_own_and_is_listed() {
        for (place, one) in Invariant::ALL.into_iter().enumerate() {
            assert!(one.name().starts_with("SEN-"));
            assert!((Invariant::ALL[..place].iter()).all(|other| other.name() != one.name()));
        }
        for rule in Rule::ALL {
            assert!(Invariant::ALL.contains(&rule.protects()));
            assert_eq!(rule.protects().broken_by_design(), None);
            assert!(!rule.follows().contains(&rule.protects()));
        }
    }

    #[test]
    fn the_faithful_set_costs_nothing() {
        assert_eq!(size_of::<Faithful>(), 0);
        assert!(Rule::ALL.len() <= 64, "the switches are bits of a u64");
    }
}
