//! The rules an election by Raft stands on, each of which can be switched off to see what it protects.

use crate::listed::listed;
pub use crate::rules::Faithful;

listed! {
    /// A load-bearing rule. The documentation of each says what breaks when it is off; [`protects`](Self::protects) says it
    /// to programs.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[non_exhaustive]
    #[repr(u8)]
    pub enum Rule {
        /// A message waits until the record it depends on is durable (C1; Raft §5.6). Off: one vote per term.
        DurableBeforeReply,
        /// A node grants one candidate a term (Raft §5.2). Off: one leader per term.
        OneVoteATerm,
        /// The vote of a term is given up when a higher term begins. Off: no leader after a failed election, for a voter of
        /// term 1 refuses everybody in term 2.
        NewTermNewVote,
        /// A vote only for a log at least as up to date (Raft §5.4.1). Off: leader completeness.
        UpToDateLog,
        /// A leader needs more than half of the voters. Off (half is enough): one leader per term.
        MajorityOfVoters,
        /// A voter counts once, however often its answer arrives. Off: one leader per term.
        CountOnce,
        /// Only grants of the candidate's own term count (RL-1). Off: one leader per term.
        OwnTermGrants,
        /// The lease counts from the send of the round, not from the arrival of its answers (C5). Off: believed leaders.
        ValidityFromSend,
        /// Only acknowledgements of the own term extend the lease (RL-1). Off: believed leaders.
        OwnTermAcks,
        /// A voter under a promise grants no vote. Off: believed leaders.
        PromiseBindsVoter,
        /// A node under a promise does not stand. Off: believed leaders.
        PromiseBindsCandidate,
        /// A promise outlives a restart: a restarted voter waits it out. Off: believed leaders.
        PromiseOutlivesRestart,
        /// A promise outlives the adoption of a higher term (RL-2). Off: believed leaders.
        PromiseOutlivesTerm,
        /// Under a promise a vote is refused *without* adopting the candidate's term (RL-2). Off: one candidate with a high
        /// term deposes a live leader.
        RefuseWithoutAdopting,
        /// A release frees only from a promise to its own term (RL-3). Off: believed leaders.
        ReleaseOwnTerm,
        /// A lapsed tenure is over for good (C4). Off: a token that expired becomes valid again.
        LapseDeposes,
        /// A candidate asks before it raises its term (Raft thesis §9.6). Off: a returning node deposes a live leader.
        PreVote,
        /// Every attempt draws its timeout anew. Off: two candidates with one draw split the vote for ever.
        RedrawPerAttempt,
        /// A leader's tenure is bounded by what it told the others to wait for: the promise in the answer, not its own
        /// configuration. Off: believed leaders, when the nodes are configured differently.
        PromiseFromAnswer,
        /// A follower takes entries only after one that it has (Raft §5.3). Off: log matching.
        LogMatching,
        /// A follower takes for committed only what it knows to agree with its leader. Off: state-machine agreement.
        CommitMatched,
        /// A follower acknowledges what its disk holds. Off: committed entries are lost in a crash.
        AckDurable,
        /// The leader counts its own copy when its disk holds it, like any other. Off: committed entries are lost in a crash.
        OwnCopyDurable,
        /// Only an entry of the own term is committed by counting (Raft §5.4.2, figure 8). Off: the commit index passes
        /// entries that the next leader may lack.
        CommitOwnTerm,
        /// A read waits until a quorum has answered a round that was sent after it (Raft §8). Off: fresh reads.
        ReadConfirmed,
        /// A read waits until an entry of the leader's own term is committed (Raft §8). Off: fresh reads.
        ReadOwnTerm,
        /// A candidate takes what it lacks from the most up-to-date log of a quorum (RL-4). Off (from whoever answers first):
        /// what it knew to be committed is replaced.
        SuffixFromBest,
        /// With another's entries its term is adopted, in one write (RL-5). Off: a log of a later term than the record's,
        /// which no restart accepts.
        SuffixAdoptsTerm,
        /// What was asked for is looked at again when it arrives (RL-6): the question, the promise, the own log. Off: entries
        /// that were acknowledged since are dropped.
        SuffixRechecked,
        /// The next change of who takes part begins when the last is committed (Ongaro's thesis, §4.1). Off: two groups decide
        /// that share no node.
        OneChangeAtATime,
        /// While a configuration is joint, decisions need a majority of either half (Raft §6). Off: two groups decide that
        /// share no node.
        JointNeedsBoth,
        /// A leader changes who takes part only once an entry of its own term is committed (Ongaro, raft-dev 2015). Off: a
        /// change that was not committed comes back beside another, and two groups decide that share no node.
        ChangeAfterOwnTerm,
        /// A leader hands over when its successor has its whole log (Ongaro's thesis, §3.10). Off: a healthy leader goes,
        /// and the one it named is refused by everybody.
        TransferWhenCaughtUp,
    }
}

/// What a rule protects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Invariant {
    /// At most one node is ever elected in a term.
    OneLeaderPerTerm,
    /// A node grants one candidate a term, across restarts, and only what its disk holds.
    OneVotePerTerm,
    /// A node says nothing of a term above the one its disk holds.
    DurableTerm,
    /// A leader's log has everything that may be committed.
    LeaderCompleteness,
    /// Tokens rise from one established leader to the next.
    TokenRises,
    /// Two nodes never believe to lead at one instant.
    BelievedLeaders,
    /// A token that expired is never valid again.
    NeverRevives,
    /// When everything is healed, somebody leads soon.
    LeaderAgain,
    /// A healthy leader stays.
    LeaderStays,
    /// Two logs that have an entry of one index and term agree up to it.
    LogMatching,
    /// All members apply the same entries in the same order.
    StateMachineAgreement,
    /// What is committed is on a majority's disks.
    CommittedIsDurable,
    /// Votes and commits use configurations whose quorums intersect.
    IntersectingQuorums,
    /// The commit index rises only, and in a leader over an entry of its own term.
    CommitRises,
    /// No read is answered below the newest commit that was acknowledged before it was asked.
    FreshReads,
}

impl Invariant {
    /// Its name in tests, simulator and traces.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OneLeaderPerTerm => "INV-E1",
            Self::OneVotePerTerm => "INV-E2",
            Self::DurableTerm => "INV-E3",
            Self::LeaderCompleteness => "INV-E5",
            Self::TokenRises => "INV-E6",
            Self::BelievedLeaders => "INV-S1",
            Self::NeverRevives => "INV-S3",
            Self::LeaderAgain => "INV-V1",
            Self::LeaderStays => "INV-V4",
            Self::LogMatching => "INV-L1",
            Self::StateMachineAgreement => "INV-L3",
            Self::CommittedIsDurable => "INV-L4",
            Self::CommitRises => "INV-L5",
            Self::FreshReads => "INV-R2",
            Self::IntersectingQuorums => "INV-L6",
        }
    }
}

impl Rule {
    /// What breaks first when the rule is off.
    #[must_use]
    pub const fn protects(self) -> Invariant {
        match self {
            Self::DurableBeforeReply | Self::OneVoteATerm => Invariant::OneVotePerTerm,
            Self::NewTermNewVote | Self::RedrawPerAttempt => Invariant::LeaderAgain,
            Self::UpToDateLog => Invariant::LeaderCompleteness,
            Self::CommitOwnTerm => Invariant::CommitRises,
            Self::LogMatching => Invariant::LogMatching,
            Self::CommitMatched => Invariant::StateMachineAgreement,
            Self::SuffixFromBest => Invariant::StateMachineAgreement,
            Self::SuffixAdoptsTerm => Invariant::DurableTerm,
            Self::SuffixRechecked => Invariant::CommittedIsDurable,
            Self::AckDurable | Self::OwnCopyDurable => Invariant::CommittedIsDurable,
            Self::MajorityOfVoters | Self::CountOnce | Self::OwnTermGrants => {
                Invariant::OneLeaderPerTerm
            }
            Self::ValidityFromSend
            | Self::OwnTermAcks
            | Self::PromiseBindsVoter
            | Self::PromiseBindsCandidate
            | Self::PromiseOutlivesRestart
            | Self::PromiseOutlivesTerm
            | Self::ReleaseOwnTerm
            | Self::PromiseFromAnswer => Invariant::BelievedLeaders,
            Self::LapseDeposes => Invariant::NeverRevives,
            Self::RefuseWithoutAdopting | Self::PreVote | Self::TransferWhenCaughtUp => {
                Invariant::LeaderStays
            }
            Self::OneChangeAtATime | Self::JointNeedsBoth | Self::ChangeAfterOwnTerm => {
                Invariant::IntersectingQuorums
            }
            Self::ReadConfirmed | Self::ReadOwnTerm => Invariant::FreshReads,
        }
    }

    /// What may break as a consequence, and in a schedule where the first is not looked at, before it.
    #[must_use]
    pub const fn follows(self) -> &'static [Invariant] {
        match self.protects() {
            // What is said before it is durable may be a vote or a mere term, in which the node may be elected again.
            Invariant::OneVotePerTerm => &[
                Invariant::DurableTerm,
                Invariant::OneLeaderPerTerm,
                Invariant::BelievedLeaders,
                Invariant::TokenRises,
                Invariant::NeverRevives,
                Invariant::LeaderCompleteness,
                Invariant::LogMatching,
                Invariant::StateMachineAgreement,
                Invariant::CommittedIsDurable,
            ],
            // Two leaders of one term believe at once and show one token, which one may hold when the other's has expired; and
            // both write entries under the same names. One that no majority elected lacks what others committed.
            Invariant::OneLeaderPerTerm => &[
                Invariant::BelievedLeaders,
                Invariant::TokenRises,
                Invariant::NeverRevives,
                Invariant::LeaderCompleteness,
                Invariant::LogMatching,
                Invariant::StateMachineAgreement,
                Invariant::CommittedIsDurable,
            ],
            // The later term can be established first.
            Invariant::BelievedLeaders => &[Invariant::TokenRises],
            // What is taken for committed may be missing in the next leader, which replaces it where it was applied; and
            // nobody compares what comes before it any more.
            Invariant::LeaderCompleteness
            | Invariant::StateMachineAgreement
            | Invariant::CommittedIsDurable
            | Invariant::CommitRises => &[
                Invariant::LeaderCompleteness,
                Invariant::LogMatching,
                Invariant::StateMachineAgreement,
                Invariant::CommittedIsDurable,
            ],
            // Nor has a log that skips entries an end that its commit index could keep to, or the members that were in them.
            Invariant::LogMatching => &[
                Invariant::LeaderCompleteness,
                Invariant::StateMachineAgreement,
                Invariant::CommittedIsDurable,
                Invariant::CommitRises,
                Invariant::IntersectingQuorums,
            ],
            // Two groups that share no node elect and commit apart.
            Invariant::IntersectingQuorums => &[
                Invariant::OneLeaderPerTerm,
                Invariant::LeaderCompleteness,
                Invariant::StateMachineAgreement,
                Invariant::CommittedIsDurable,
                Invariant::BelievedLeaders,
                Invariant::TokenRises,
                Invariant::NeverRevives,
                Invariant::LogMatching,
                Invariant::FreshReads,
            ],
            _ => &[],
        }
    }

    /// Whether it is about the log and what stands on it: without one there is nothing that it forbids.
    #[must_use]
    pub const fn is_of_log(self) -> bool {
        match self {
            Self::UpToDateLog
            | Self::LogMatching
            | Self::CommitMatched
            | Self::AckDurable
            | Self::OwnCopyDurable
            | Self::CommitOwnTerm
            | Self::ReadConfirmed
            | Self::ReadOwnTerm
            | Self::SuffixFromBest
            | Self::SuffixAdoptsTerm
            | Self::SuffixRechecked
            | Self::OneChangeAtATime
            | Self::JointNeedsBoth
            | Self::ChangeAfterOwnTerm
            | Self::TransferWhenCaughtUp => true,
            Self::DurableBeforeReply
            | Self::OneVoteATerm
            | Self::NewTermNewVote
            | Self::MajorityOfVoters
            | Self::CountOnce
            | Self::OwnTermGrants
            | Self::ValidityFromSend
            | Self::OwnTermAcks
            | Self::PromiseBindsVoter
            | Self::PromiseBindsCandidate
            | Self::PromiseOutlivesRestart
            | Self::PromiseOutlivesTerm
            | Self::RefuseWithoutAdopting
            | Self::ReleaseOwnTerm
            | Self::LapseDeposes
            | Self::PreVote
            | Self::RedrawPerAttempt
            | Self::PromiseFromAnswer => false,
        }
    }
}

impl crate::rules::Rule for Rule {
    fn place(self) -> u8 {
        self as u8
    }
}

/// Which rules of Raft a machine keeps.
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
    }

    #[test]
    fn a_rule_that_is_named_twice_is_off() {
        let rule = Rule::PreVote;
        assert!(!Switched::without(&[rule, rule]).keeps(rule));
    }

    #[test]
    fn each_invariant_has_a_name_of_its_own() {
        let all = Rule::ALL.map(Rule::protects);
        for one in all {
            assert!(one.name().starts_with("INV-"));
            for other in all {
                assert_eq!(one.name() == other.name(), one == other);
            }
        }
    }

    #[test]
    fn the_faithful_set_costs_nothing() {
        assert_eq!(size_of::<Faithful>(), 0);
        assert!(Rule::ALL.len() <= 64, "the switches are bits of a u64");
    }
}
