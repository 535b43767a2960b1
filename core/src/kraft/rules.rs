//! The rules a KRaft quorum and its controller stand on, each of which can be switched off to see what it protects.

use crate::listed::listed;
pub use crate::rules::Faithful;

listed! {
    /// A load-bearing rule. The documentation of each says what breaks when it is off; [`protects`](Self::protects) says it
    /// to programs.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[non_exhaustive]
    #[repr(u8)]
    pub enum Rule {
        /// What depends on the quorum-state is said, and the own vote counts, when the disk holds it (§5.1). Off: a voter
        /// that dies votes twice in an epoch.
        DurableBeforeReply,
        /// Who has won leads when its disk says that it leads (§5.1). Off: after a crash it stands in the same epoch again,
        /// wins it again, and gives the same names to other records.
        DurableBeforeLeading,
        /// One candidate an epoch gets the vote (KR-V6). Off: one vote.
        OneVoteAnEpoch,
        /// A vote only for a log at least as up to date (KR-V4). Off: what was committed is missing in a later leader.
        UpToDateLog,
        /// A leader needs more than half of the voters. Off (half is enough): one leader an epoch.
        MajorityOfVoters,
        /// A replaced disk is another replica: it is addressed, counted and asked by its directory (KR-V3). Off: it votes a
        /// second time for the one it replaced.
        DirectoryInVotes,
        /// A follower that doubts its leader asks before it raises its epoch (KR-S2, KR-S3). Off: a node that returns
        /// deposes a healthy leader.
        PreVote,
        /// A follower that has fetched from its leader refuses pre-votes (KR-V5). Off: as without pre-votes, as soon as the
        /// returning node's log is up to date.
        FetchedFollowerRefuses,
        /// A follower that has not fetched yet from the leader it was told of grants pre-votes (KR-V5, KAFKA-17641). Off:
        /// two followers send each other back to a dead leader for ever.
        UnfetchedFollowerGrants,
        /// A pre-vote is not recorded (KR-V5). Off: it takes the vote of an epoch from whoever needs it.
        PreVoteNotPersisted,
        /// Who lost an election waits a time drawn evenly from all that it may wait (KR-S4). Off, as Kafka ships it, where the
        /// draw is cut at the longest: after a few attempts nearly everybody waits that long, and those that split the vote
        /// split the next one.
        SpreadBackoff,
        /// A leader shows a high watermark when a record of its own epoch is on a majority (KR-S5). Off: it shows as
        /// committed what the next leader may lack.
        OwnEpochHighWatermark,
        /// The high watermark of a leader never goes back (KR-S5). Off: a fetch that comes late takes it back.
        HighWatermarkNeverFalls,
        /// A follower that diverges cuts its log before it takes over a high watermark, and never below its own (KR-F3,
        /// KAFKA-14704). Off: it shows its own tail as committed, and drops it.
        TruncateFirst,
        /// A leader compares what the follower has with its own log (KR-F2). Off: a follower takes records of its own for
        /// committed ones, and logs differ in the middle.
        DivergenceChecked,
        /// A voter's disk holds what it fetched before it fetches on (KR-F4). Off: what was committed is lost in a crash.
        FlushBeforeFetch,
        /// A leader counts its own copy when its disk holds it. Off, as in the code that was read, where the flush comes
        /// just after: what only the leader and one other of three had is lost with the leader's tail. That its next life
        /// reuses no name does not bring it back.
        FlushBeforeOwnAck,
        /// A leader that no majority fetches from resigns (KR-S6, KAFKA-15489). Off: one that is cut off leads for ever.
        CheckQuorum,
        /// Who restarts as the leader its disk names has resigned, and leads that epoch no more (§5.2). Off: it stands in it
        /// again, and gives the names of records that it lost to others.
        RestartedLeaderResigns,
        /// A controller is active when its state machine has consumed the log up to its own epoch (KC-1, KAFKA-17333). Off:
        /// it decides on a state that is not the newest; also one whose node led in a former life.
        ClaimAfterCatchup,
        /// A controller that gives up has its node resign (KC-3, KAFKA-13104). Off: a healthy leader without a controller.
        RenounceResignsRaft,
    }
}

/// What a rule protects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Invariant {
    /// At most one node leads an epoch.
    ElectionSafety,
    /// A voter, with the disk it was admitted with, grants at most one real vote an epoch, across restarts; and nobody
    /// grants in its place.
    OneVote,
    /// Two logs that have a record of one offset and epoch agree up to it.
    LogMatching,
    /// A leader's log has every record that was committed in an earlier epoch.
    LeaderCompleteness,
    /// A high watermark never falls, and no log is cut below it.
    HighWatermarkMonotone,
    /// A leader shows a high watermark after a record of its own epoch is on a majority.
    HighWatermarkOwnEpoch,
    /// A pre-vote changes no durable vote, and no epoch unless the asker's was higher.
    PreVoteQuiet,
    /// A restarted leader never appends in its old epoch.
    ResignedNoReuse,
    /// A controller is active at an epoch when it has applied the start of that epoch.
    ClaimAfterCatchup,
    /// Nobody applies a record that is not committed.
    NoStaleCommand,
    /// When everything is healed, somebody leads within the bound of §5.14.
    LeaderAgain,
    /// A healthy leader stays.
    LeaderStays,
    /// A leader that is cut off stops within the check of the quorum.
    StaleLeaderStops,
}

impl Invariant {
    /// Its name in tests, simulator and traces.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ElectionSafety => "KR-ElectionSafety",
            Self::OneVote => "KR-OneVote",
            Self::LogMatching => "KR-LogMatching",
            Self::LeaderCompleteness => "KR-LeaderCompleteness",
            Self::HighWatermarkMonotone => "KR-HWMonotone",
            Self::HighWatermarkOwnEpoch => "KR-HWOwnEpoch",
            Self::PreVoteQuiet => "KR-PreVoteQuiet",
            Self::ResignedNoReuse => "KR-ResignedNoReuse",
            Self::ClaimAfterCatchup => "KC-ClaimAfterCatchup",
            Self::NoStaleCommand => "KC-NoStaleCommand",
            Self::LeaderAgain => "KR-LeaderAgain",
            Self::LeaderStays => "KR-LeaderStays",
            Self::StaleLeaderStops => "KR-StaleLeaderStops",
        }
    }
}

impl Rule {
    /// What breaks first when the rule is off.
    #[must_use]
    pub const fn protects(self) -> Invariant {
        match self {
            Self::DurableBeforeReply | Self::OneVoteAnEpoch | Self::DirectoryInVotes => {
                Invariant::OneVote
            }
            Self::DurableBeforeLeading | Self::RestartedLeaderResigns => Invariant::ResignedNoReuse,
            Self::UpToDateLog | Self::FlushBeforeFetch | Self::FlushBeforeOwnAck => {
                Invariant::LeaderCompleteness
            }
            Self::MajorityOfVoters => Invariant::ElectionSafety,
            Self::PreVote | Self::FetchedFollowerRefuses => Invariant::LeaderStays,
            Self::UnfetchedFollowerGrants | Self::SpreadBackoff | Self::RenounceResignsRaft => {
                Invariant::LeaderAgain
            }
            Self::PreVoteNotPersisted => Invariant::PreVoteQuiet,
            Self::OwnEpochHighWatermark => Invariant::HighWatermarkOwnEpoch,
            Self::HighWatermarkNeverFalls | Self::TruncateFirst => Invariant::HighWatermarkMonotone,
            Self::DivergenceChecked => Invariant::NoStaleCommand,
            Self::CheckQuorum => Invariant::StaleLeaderStops,
            Self::ClaimAfterCatchup => Invariant::ClaimAfterCatchup,
        }
    }

    /// What may break as a consequence, and in a schedule where the first is not looked at, before it.
    #[must_use]
    pub const fn follows(self) -> &'static [Invariant] {
        match self.protects() {
            // Two votes make two leaders, each of which may lack what the other committed; and two leaders of one epoch give
            // two records one name. Whose log contradicts what it takes for committed follows nobody any more.
            Invariant::OneVote | Invariant::ElectionSafety => &[
                Invariant::ElectionSafety,
                Invariant::LogMatching,
                Invariant::LeaderCompleteness,
                Invariant::NoStaleCommand,
                Invariant::LeaderAgain,
            ],
            // Two records of one name, of which others may have the first.
            Invariant::ResignedNoReuse => &[
                Invariant::LogMatching,
                Invariant::LeaderCompleteness,
                Invariant::NoStaleCommand,
            ],
            // What is lost was applied.
            Invariant::LeaderCompleteness => &[Invariant::NoStaleCommand, Invariant::LeaderAgain],
            // Who takes its own records for the leader's acknowledges what it does not have.
            Invariant::NoStaleCommand => &[
                Invariant::LogMatching,
                Invariant::LeaderCompleteness,
                Invariant::LeaderAgain,
            ],
            // What is shown too early may be replaced.
            Invariant::HighWatermarkOwnEpoch => {
                &[Invariant::LeaderCompleteness, Invariant::NoStaleCommand]
            }
            // What is shown and not there is applied when something else is.
            Invariant::HighWatermarkMonotone => &[Invariant::NoStaleCommand],
            // A vote that is gone elects nobody.
            Invariant::PreVoteQuiet => &[Invariant::LeaderAgain],
            _ => &[],
        }
    }
}

impl crate::rules::Rule for Rule {
    fn place(self) -> u8 {
        self as u8
    }
}

/// Which rules of a quorum are kept.
pub trait Rules: crate::rules::Rules<Rule> {}

impl<R: crate::rules::Rules<Rule>> Rules for R {}

/// Some rules are switched off: see [`Switched`](crate::rules::Switched).
pub type Switched = crate::rules::Switched<Rule>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invariants_are_named_as_the_scheme_names_them() {
        for rule in Rule::ALL {
            let name = rule.protects().name();
            assert!(
                name.starts_with("KR-") || name.starts_with("KC-"),
                "{rule:?}"
            );
        }
    }
}
