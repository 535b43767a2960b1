//! What must hold in every state, judged from outside the machines.

use crate::check::Check;
use crate::scheme::raft::check_of;
use std::fmt;
use tenure::raft::Invariant;

/// An invariant, by its name in the design.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Law {
    /// INV-E1: one leader a term, over the whole run.
    OneLeader,
    /// INV-E2: one vote a term.
    OneVote,
    /// INV-E2: a vote is durable before it is said.
    DurableVote,
    /// INV-E3: durable terms never fall, and nothing is said above them.
    DurableTerm,
    /// INV-E5: who is elected has what a majority has.
    CompleteLog,
    /// INV-E6: elections and depositions alternate, with rising tokens.
    TokenRises,
    /// INV-S1: one believed leader at any instant of true time.
    OneBelieved,
    /// INV-S3: an expired token never becomes valid again.
    Expired,
    /// INV-V1: once nothing fails any more, one leader that all name.
    LeaderAgain,
    /// C2: after a timeout that was due, the deadline lies ahead.
    Deadline,
}

impl Law {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::OneLeader,
        Self::OneVote,
        Self::DurableVote,
        Self::DurableTerm,
        Self::CompleteLog,
        Self::TokenRises,
        Self::OneBelieved,
        Self::Expired,
        Self::LeaderAgain,
        Self::Deadline,
    ];

    /// The invariant of the core that it holds a state to; `None` for a law of every scheme.
    #[must_use]
    pub const fn invariant(self) -> Option<Invariant> {
        match self {
            Self::OneLeader => Some(Invariant::OneLeaderPerTerm),
            Self::OneVote | Self::DurableVote => Some(Invariant::OneVotePerTerm),
            Self::DurableTerm => Some(Invariant::DurableTerm),
            Self::CompleteLog => Some(Invariant::LeaderCompleteness),
            Self::TokenRises => Some(Invariant::TokenRises),
            Self::OneBelieved => Some(Invariant::BelievedLeaders),
            Self::Expired => Some(Invariant::NeverRevives),
            Self::LeaderAgain => Some(Invariant::LeaderAgain),
            Self::Deadline => None,
        }
    }

    /// The judge of a world that finds it broken; `None` when none looks for it.
    #[must_use]
    pub const fn check(self) -> Option<Check> {
        match (self, self.invariant()) {
            // A world sees votes that are said, not whether they are durable; and it bounds the time to a leader, not what
            // it takes.
            (Self::DurableVote | Self::LeaderAgain, _) | (_, None) => None,
            (_, Some(invariant)) => check_of(invariant),
        }
    }

    /// Its name in the design.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.invariant() {
            Some(invariant) => invariant.name(),
            None => "C2",
        }
    }
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::OneLeader => "two leaders of one term",
            Self::OneVote => "two votes of one node in one term",
            Self::DurableVote => "a vote that is not durable left the node",
            Self::DurableTerm => "a term was named that is not durable, or a durable term fell",
            Self::CompleteLog => "a leader without what a majority has",
            Self::TokenRises => "a token that does not rise",
            Self::OneBelieved => "two believe to lead at one instant",
            Self::Expired => "an expired token became valid again",
            Self::LeaderAgain => "no leader that all name, although nothing fails any more",
            Self::Deadline => "a deadline that does not move",
        };
        write!(f, "{}: {text}", self.name())
    }
}
