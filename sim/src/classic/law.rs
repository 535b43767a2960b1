//! What is asked of the classics.

/// Something that is to hold. Each has a judge in the bench that counts how often it was put to the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Law {
    /// Where nothing fails, all agree on the highest of those that live.
    HighestLeads = 0,
    /// An election that nothing disturbs takes no more messages than the book says.
    MessageBound,
    /// Two nodes never believe to lead at one instant.
    OneLeader,
    /// A leader that a majority hears and follows is not replaced.
    LeaderStays,
    /// Once the links stay as they are, a node that reaches a quorum comes to lead, and goes on leading
    /// (BLE-EventualQuorumConnectedLeader).
    QuorumConnectedLeader,
    /// The ballot that a node names as the leader's never falls (BLE-MonotoneBallots).
    MonotoneBallots,
    /// No ballot, epoch or term is led by two nodes, or by two lives of one (BLE-UniqueBallot).
    UniqueBallot,
    /// Once a leader was established, no quorum agrees to what is asked under an older ballot.
    Fence,
    /// When everything is healed there is one leader again, whom all follow.
    LeaderAgain,
}

impl Law {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::HighestLeads,
        Self::MessageBound,
        Self::OneLeader,
        Self::LeaderStays,
        Self::QuorumConnectedLeader,
        Self::MonotoneBallots,
        Self::UniqueBallot,
        Self::Fence,
        Self::LeaderAgain,
    ];

    /// Its name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::HighestLeads => "highest-leads",
            Self::MessageBound => "message-bound",
            Self::OneLeader => "one-leader",
            Self::LeaderStays => "leader-stays",
            Self::QuorumConnectedLeader => "BLE-EventualQuorumConnectedLeader",
            Self::MonotoneBallots => "BLE-MonotoneBallots",
            Self::UniqueBallot => "BLE-UniqueBallot",
            Self::Fence => "fence",
            Self::LeaderAgain => "leader-again",
        }
    }
}
