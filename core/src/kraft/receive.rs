//! Where each message goes, and from whom it is taken at all.

use super::message::{Body, Code, Head, Message};
use super::vote::Asker;
use super::voters::ReplicaKey;
use super::{Correlation, Kraft, Refusal, Role, Rules, refuse};
use crate::NodeId;

impl<R: Rules> Kraft<R> {
    pub(super) fn receive(&mut self, from: NodeId, message: Message) {
        let Message { correlation, body } = message;
        if from == self.config.id {
            return self.refusals.add(Refusal::UnknownSender);
        }
        if let Some(reason) = refuse::impossible(&body, self.state.epoch) {
            return self.refusals.add(reason);
        }
        match (body, self.config.voters.place(from)) {
            (
                Body::Fetch {
                    epoch,
                    after,
                    replica,
                    high_watermark,
                },
                _,
            ) if replica.id == from => {
                self.on_fetch(correlation, epoch, after, replica, high_watermark);
            }
            (
                Body::FetchSnapshot {
                    epoch,
                    snapshot,
                    replica,
                },
                _,
            ) if replica.id == from => {
                self.on_fetch_snapshot(correlation, epoch, snapshot, replica);
            }
            (
                Body::Vote {
                    voter,
                    replica,
                    epoch,
                    last,
                    pre_vote,
                },
                Some(_),
            ) if replica.id == from => {
                let asker = Asker {
                    replica,
                    epoch,
                    last,
                    pre_vote,
                };
                self.on_vote(from, correlation, voter, &asker);
            }
            (Body::BeginQuorumEpoch { epoch, voter }, Some(_)) => {
                self.on_begin(from, correlation, epoch, voter);
            }
            (Body::EndQuorumEpoch { epoch, successors }, Some(_)) => {
                self.on_end(from, correlation, epoch, &successors);
            }
            (body, Some(place)) if !body.is_request() => {
                self.receive_answer(place, correlation, body);
            }
            _ => self.refusals.add(Refusal::UnknownSender),
        }
    }

    /// What every answer begins with.
    pub(super) fn head(&self, code: Code) -> Head {
        Head {
            code,
            epoch: self.state.epoch,
            leader: self.leader,
        }
    }

    /// KR-S9: who says that it leads is followed, and has a fetch timeout again.
    fn on_begin(&mut self, from: NodeId, correlation: Correlation, epoch: u64, voter: ReplicaKey) {
        let Some(code) = self.hear_leader(from, epoch) else {
            return;
        };
        let code = match code {
            Code::None if !self.is_meant(voter) => Code::InvalidVoterKey,
            Code::None => {
                match self.role {
                    Role::Follower => self.await_fetch(),
                    _ => self.become_follower(from),
                }
                Code::None
            }
            code => code,
        };
        let body = Body::BeginQuorumEpochReply(self.head(code));
        self.send(from, Message { correlation, body });
    }

    /// What a message of the leader of `epoch` is worth; `None` when there cannot be that leader.
    pub(super) fn hear_leader(&mut self, from: NodeId, epoch: u64) -> Option<Code> {
        if epoch < self.state.epoch {
            return Some(Code::FencedLeaderEpoch);
        }
        self.heed(epoch, Some(from)).then_some(Code::None)
    }
}
