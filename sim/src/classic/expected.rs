//! What is expected of each algorithm in each setting, and why.

use super::{Algorithm, Law, Trial};

/// What is expected of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// No law breaks.
    Holds,
    /// The first break, the second may, and no other does, for this reason.
    Breaks(&'static [Law], &'static [Law], &'static str),
}

impl Expected {
    /// What has to break: where it does not, the setting shows nothing.
    #[must_use]
    pub const fn breaks(self) -> &'static [Law] {
        match self {
            Self::Holds => &[],
            Self::Breaks(breaks, ..) => breaks,
        }
    }

    /// Whether a law may break.
    #[must_use]
    pub fn excuses(self, law: Law) -> bool {
        match self {
            Self::Holds => false,
            Self::Breaks(breaks, may, _) => breaks.contains(&law) || may.contains(&law),
        }
    }
}

const ONE: &[Law] = &[Law::OneLeader];
const REST: &[Law] = &[Law::QuorumConnectedLeader];
const ONE_REST: &[Law] = &[Law::OneLeader, Law::QuorumConnectedLeader];
const CHURN: &[Law] = &[Law::OneLeader, Law::LeaderStays, Law::QuorumConnectedLeader];

/// What is expected of an algorithm in a setting.
#[must_use]
pub const fn expected(algorithm: Algorithm, trial: Trial) -> Expected {
    match algorithm {
        Algorithm::Bully => bully(trial),
        Algorithm::BullyGuarded => guarded(trial),
        Algorithm::Ring => ring(trial),
        Algorithm::Ballot => ballot(trial),
        Algorithm::BallotGossip => gossip(trial),
        Algorithm::RaftPlain => plain(trial),
        Algorithm::Raft => Expected::Holds,
    }
}

const fn bully(trial: Trial) -> Expected {
    match trial {
        Trial::Calm => Expected::Holds,
        Trial::Crash => Expected::Breaks(
            &[Law::OneLeader, Law::LeaderStays],
            &[],
            "the highest throws out a healthy leader when it is back, and leads before that one hears of it",
        ),
        Trial::Partition => Expected::Breaks(
            ONE,
            &[],
            "each side elects its highest: there is no majority, and no epoch to tell them apart",
        ),
        Trial::Slow => Expected::Breaks(
            ONE_REST,
            &[],
            "silence is taken for death: two lead whenever it wakes, and it takes over again each time",
        ),
        Trial::Chain => Expected::Breaks(
            CHURN,
            &[],
            "who does not hear the leader calls elections without end, or leads beside it",
        ),
        Trial::Star => Expected::Breaks(
            ONE_REST,
            &[],
            "each that is out of reach of the higher ones leads, and the one in the middle follows whom it heard last",
        ),
    }
}

const fn guarded(trial: Trial) -> Expected {
    match trial {
        Trial::Calm => Expected::Holds,
        Trial::Crash | Trial::Partition => Expected::Breaks(
            &[Law::LeaderStays],
            ONE,
            "the highest still throws out a healthy leader when it is back; epochs tell the two apart",
        ),
        Trial::Slow => Expected::Breaks(
            REST,
            ONE,
            "it still takes over again each time it wakes; epochs tell the two apart",
        ),
        Trial::Chain => Expected::Breaks(
            CHURN,
            &[],
            "an epoch and a majority make it safe, not calm: the two ends depose each other for ever",
        ),
        Trial::Star => Expected::Breaks(
            REST,
            ONE,
            "the only one that reaches a majority waits for higher ones that do not",
        ),
    }
}

const fn ring(trial: Trial) -> Expected {
    match trial {
        Trial::Calm | Trial::Crash => Expected::Holds,
        Trial::Partition => Expected::Breaks(
            ONE,
            &[Law::LeaderStays],
            "each side closes a ring of its own and elects: there is no majority, and no epoch to tell them apart",
        ),
        Trial::Slow => Expected::Breaks(
            ONE,
            &[],
            "silence is taken for death: two lead until what it says comes round",
        ),
        Trial::Chain => Expected::Holds,
        Trial::Star => Expected::Breaks(
            ONE_REST,
            &[],
            "no ring can be closed: a token goes to and fro, and elects whom it meets",
        ),
    }
}

const fn ballot(trial: Trial) -> Expected {
    match trial {
        Trial::Calm | Trial::Crash | Trial::Chain => Expected::Holds,
        Trial::Partition => Expected::Breaks(
            ONE,
            &[],
            "who is cut off believes to lead for as long as it is; what a quorum promised stops it from acting",
        ),
        Trial::Slow => Expected::Breaks(
            ONE,
            &[],
            "it believes to lead until it wakes and hears otherwise; what a quorum promised stops it from acting",
        ),
        Trial::Star => Expected::Breaks(
            &[],
            ONE,
            "the old leader may hear of the new one a moment late; what a quorum promised stops it from acting",
        ),
    }
}

const fn gossip(trial: Trial) -> Expected {
    match trial {
        Trial::Chain => Expected::Breaks(
            CHURN,
            &[],
            "each end is told of the other's ballot, does not hear it, and outbids it, for ever",
        ),
        Trial::Star => Expected::Breaks(
            REST,
            ONE,
            "a leader that lost its quorum is still heard by the one node that could take over",
        ),
        other => ballot(other),
    }
}

const fn plain(trial: Trial) -> Expected {
    match trial {
        Trial::Calm | Trial::Crash => Expected::Holds,
        Trial::Partition | Trial::Slow => Expected::Breaks(
            ONE,
            &[],
            "without CheckQuorum it believes to lead until it hears of a higher term; terms tell the two apart",
        ),
        Trial::Chain => Expected::Breaks(
            CHURN,
            &[],
            "without PreVote each end deposes the other by a higher term, for ever",
        ),
        Trial::Star => Expected::Breaks(
            REST,
            ONE,
            "those that cannot win raise the term over and over, and hold up the one that can",
        ),
    }
}
