//! Voting: KR-V1 to KR-V6.

use super::message::{Body, Code, Message};
use super::{Kraft, Refusal, ReplicaKey, Role, Rule, Rules};
use crate::NodeId;
use crate::log::Position;

/// A candidate, or one that would be one.
pub(super) struct Asker {
    pub(super) replica: ReplicaKey,
    pub(super) epoch: u64,
    pub(super) last: Position,
    pub(super) pre_vote: bool,
}

impl<R: Rules> Kraft<R> {
    pub(super) fn on_vote(
        &mut self,
        from: NodeId,
        correlation: super::Correlation,
        voter: ReplicaKey,
        asker: &Asker,
    ) {
        let (code, granted) = self.consider(voter, asker);
        let head = self.head(code);
        let body = Body::VoteReply { head, granted };
        self.send(from, Message { correlation, body });
    }

    fn consider(&mut self, voter: ReplicaKey, asker: &Asker) -> (Code, bool) {
        let Asker {
            replica,
            epoch,
            last,
            pre_vote,
        } = *asker;
        // KR-V1: who stands in an epoch has no record of it yet.
        if last.term > epoch || (last.term == epoch && !pre_vote) {
            self.refusals.add(Refusal::ImpossibleLog);
            return (Code::InvalidRequest, false);
        }
        if epoch < self.state.epoch {
            return (Code::FencedLeaderEpoch, false);
        }
        // KR-V2.
        if epoch > self.state.epoch {
            self.enter(epoch, None);
        }
        if !self.is_meant(voter) {
            return (Code::InvalidVoterKey, false);
        }
        // KR-V4: compared by the last epoch, then by the length.
        let up_to_date = last >= self.log.last() || !self.keeps(Rule::UpToDateLog);
        let granted = if pre_vote {
            self.would_grant(up_to_date)
        } else {
            self.grants_to(replica, up_to_date)
        };
        if granted && (!pre_vote || !self.keeps(Rule::PreVoteNotPersisted)) {
            self.record_vote(replica);
        }
        (Code::None, granted)
    }

    /// KR-V3: whether `voter` is this node with this disk.
    pub(super) fn is_meant(&self, voter: ReplicaKey) -> bool {
        voter.id == self.config.id && (voter.names(self.key) || !self.keeps(Rule::DirectoryInVotes))
    }

    /// KR-V5. The text of KAFKA-17641 words the follower's part the other way round; this is what its code does.
    fn would_grant(&self, up_to_date: bool) -> bool {
        match self.role {
            Role::Leader => false,
            Role::Follower => {
                let attached = if self.fetched {
                    self.keeps(Rule::FetchedFollowerRefuses)
                } else {
                    !self.keeps(Rule::UnfetchedFollowerGrants)
                };
                up_to_date && !attached
            }
            Role::Unattached | Role::Prospective | Role::Candidate | Role::Resigned => up_to_date,
        }
    }

    /// KR-V6.
    fn grants_to(&self, replica: ReplicaKey, up_to_date: bool) -> bool {
        if !matches!(self.role, Role::Unattached | Role::Prospective) {
            return false;
        }
        match self
            .state
            .voted
            .filter(|_| self.keeps(Rule::OneVoteAnEpoch))
        {
            Some(voted) => voted.names(replica),
            None => self.state.leader.is_none() && up_to_date,
        }
    }

    /// The vote goes to the disk, and the candidate has an election timeout to lead.
    fn record_vote(&mut self, replica: ReplicaKey) {
        if self.state.voted != Some(replica) {
            self.state.voted = Some(replica);
            self.durable.changed = true;
        }
        if matches!(self.role, Role::Unattached | Role::Prospective) && self.is_voter() {
            self.arm_election();
        }
    }
}
