//! The rules the classics stand on, each of which can be switched off to see what it protects.

use super::Law;
use tenure::rules;

/// The rules that are on.
pub type Switched = rules::Switched<Rule>;

/// A load-bearing rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Rule {
    /// Bully: who is answered by a higher one does not lead. Off: everybody does.
    AnswerStops = 0,
    /// Bully: who was promised the outcome of an election and does not hear of it asks again. Off: when the one that
    /// answered dies, nobody ever asks.
    AskAgain,
    /// Bully with its guard: a majority has to grant the epoch. Off: each side of a cut leads in the same one.
    MajorityGrants,
    /// Bully with its guard: the epoch that was granted is on the disk. Off: a restarted node grants it to another as well.
    EpochKept,
    /// Ring: a participant swallows lower numbers than its own. Off: every number goes all the way round.
    SwallowLower,
    /// Ring: who does not take the token is left out. Off: one dead node ends all elections.
    RingRepair,
    /// Ring: an election that does not end is begun again. Off: when a node dies with the token, nobody ever is elected.
    RestartTimer,
    /// Ballots: the leader's ballot is the highest ever heard (BLE-1a). Off (the highest of the round): it falls.
    HighestBallot,
    /// Ballots: who starts again begins below the ballot it may have led with. Off: two lives lead with one ballot.
    FreshBallot,
    /// Ballots: only the owner of a ballot makes it known. Off: as `OmniPaxos` once had it (haraldng/omnipaxos#1), the
    /// leader's ballot is told on by whoever heard of it, and whoever does not hear its owner outbids it. Two nodes that
    /// only a third connects do so in turn, for ever.
    OwnBallotOnly,
    /// Ballots: who outbids hears a quorum (BLE-1c). Off: one that is cut off and can never lead raises its ballot over and
    /// over, and deposes a healthy leader when its links are whole again.
    QuorumOutbids,
    /// Ballots: who outbids hears of nobody that is happy with its leader (BLE-1c). Off: whoever does not hear a leader
    /// deposes it, however well the others do.
    AllUnhappy,
    /// Promise: what was promised is on the disk. Off: a restarted node accepts what it had promised to refuse.
    PromiseKept,
    /// Promise: what is below it is refused. Off: the old leader goes on.
    RefuseLower,
    /// Promise: who is refused has heard of the ballot that it was refused for, and outbids it or follows. Off: it stays the
    /// leader of its election, and can never act.
    RefusalHeard,
    /// Promise: a quorum has to give it. Off: a leader that nobody heard of is established.
    MajorityPromises,
}

impl Rule {
    /// All of them.
    pub const ALL: [Self; 16] = [
        Self::AnswerStops,
        Self::AskAgain,
        Self::MajorityGrants,
        Self::EpochKept,
        Self::SwallowLower,
        Self::RingRepair,
        Self::RestartTimer,
        Self::HighestBallot,
        Self::FreshBallot,
        Self::OwnBallotOnly,
        Self::QuorumOutbids,
        Self::AllUnhappy,
        Self::PromiseKept,
        Self::RefuseLower,
        Self::RefusalHeard,
        Self::MajorityPromises,
    ];

    /// What breaks when it is off.
    #[must_use]
    pub const fn protects(self) -> Law {
        match self {
            Self::AnswerStops => Law::OneLeader,
            Self::SwallowLower => Law::MessageBound,
            Self::AskAgain | Self::RingRepair | Self::RestartTimer | Self::RefusalHeard => {
                Law::LeaderAgain
            }
            Self::MajorityGrants | Self::EpochKept | Self::FreshBallot => Law::UniqueBallot,
            Self::HighestBallot => Law::MonotoneBallots,
            Self::OwnBallotOnly => Law::QuorumConnectedLeader,
            Self::QuorumOutbids | Self::AllUnhappy => Law::LeaderStays,
            Self::PromiseKept | Self::RefuseLower | Self::MajorityPromises => Law::Fence,
        }
    }

    /// What may break as a consequence.
    #[must_use]
    pub const fn follows(self) -> &'static [Law] {
        match self {
            // Two leaders of one epoch are both obeyed.
            Self::MajorityGrants | Self::EpochKept => &[Law::Fence],
            // Whom all follow is also who comes to lead.
            Self::RestartTimer | Self::RingRepair | Self::RefusalHeard => {
                &[Law::QuorumConnectedLeader]
            }
            // Who forgets the leader's ballot may be content with its own.
            Self::HighestBallot => &[Law::QuorumConnectedLeader, Law::LeaderAgain],
            // Those who forgot begin again, below what one of them remembers: that one follows nobody.
            Self::PromiseKept => &[Law::UniqueBallot, Law::LeaderAgain],
            _ => &[],
        }
    }
}

impl rules::Rule for Rule {
    fn place(self) -> u8 {
        self as u8
    }
}
