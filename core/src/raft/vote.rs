//! The vote (Raft §5.2, §5.4.1): the larger term wins, the better log wins, one vote a term, a majority.

use super::{Message, Raft, Refusal, Role, Rule, Rules};
use crate::log::Position;
use crate::{Event, NodeId};

/// How much longer than usual an attempt takes after `failed` that failed: doubled by each, up to sixteenfold.
fn stretch(failed: u8) -> u64 {
    1 << failed.min(4)
}

impl<R: Rules> Raft<R> {
    /// Enters a new term with a vote for itself, and asks the others once the disk holds it.
    pub(super) fn stand_for_vote(&mut self) {
        // Its own vote is bound by its own promise (law C5).
        if self.keeps(Rule::PromiseBindsCandidate) && self.promised_until() > self.now {
            self.step_back();
            self.armed_at = self.now;
            self.due = Some(self.promised_until());
            return;
        }
        // `stand` refused to begin at the highest term.
        self.adopt(self.record.term + 1);
        self.role = Role::Candidate;
        self.clear_heard();
        self.record.vote = Some(self.config.id);
        self.durable.changed = true;
        // The attempt is timed from when it can be asked: a slow disk costs time, not the attempt.
        self.due = None;
        let (term, last) = (self.record.term, self.log.last());
        self.broadcast_to_voters(&Message::RequestVote {
            term,
            last,
            released: self.released,
        });
        self.persist();
        if !self.keeps(Rule::DurableBeforeReply) {
            self.own_vote_is_durable();
        }
    }

    /// The own vote counts from here on, and the attempt is timed. Each failed attempt since a leader was heard doubles
    /// the time for the next, so that slow disks and networks are outwaited.
    pub(super) fn own_vote_is_durable(&mut self) {
        if self.due.is_some() {
            return;
        }
        let (low, high) = self.attempt();
        let stretch = stretch(self.failed);
        let span = self.draw((low.scaled_up(stretch, 1), high.scaled_up(stretch, 1)));
        self.arm(span);
        if let Some(own) = self.own_vote() {
            self.count_vote(own);
        }
    }

    pub(super) fn on_request_vote(
        &mut self,
        from: NodeId,
        term: u64,
        last: Position,
        released: u64,
    ) {
        self.hear_released(released);
        if term < self.record.term {
            return self.refuse_vote(from, term);
        }
        let bound = self.keeps(Rule::PromiseBindsVoter) && self.promised_until() > self.now;
        if bound {
            // RL-2: refuse without adopting, or one candidate with a high term would depose a live leader.
            if term > self.record.term && !self.keeps(Rule::RefuseWithoutAdopting) {
                self.adopt(term);
                self.retry_later();
            }
            return self.refuse_vote(from, term);
        }
        if term > self.record.term {
            self.adopt(term);
            self.retry_later();
        }
        let free =
            self.record.vote.is_none_or(|vote| vote == from) || !self.keeps(Rule::OneVoteATerm);
        if !free || self.role == Role::Leader || !self.up_to_date(last) {
            return self.refuse_vote(from, term);
        }
        self.step_back();
        if self.record.vote.replace(from) != Some(from) {
            self.durable.changed = true;
            self.failed = self.failed.saturating_add(1);
        }
        self.await_elected();
        self.send(from, Message::VoteGranted { term });
    }

    fn refuse_vote(&mut self, from: NodeId, asked: u64) {
        let term = self.record.term;
        self.send(from, Message::VoteRefused { asked, term });
    }

    /// It gave its vote: the candidate has an election timeout to be heard as a leader. Stretched like a candidate's own
    /// attempts, or voters with slow disks would stand before their votes arrive.
    pub(super) fn await_elected(&mut self) {
        self.await_leader();
        let (armed_at, stretch) = (self.armed_at, stretch(self.failed.saturating_sub(1)));
        self.due = self
            .due
            .map(|due| armed_at + due.since(armed_at).scaled_up(stretch, 1));
    }

    pub(super) fn voted_for_another(&self) -> bool {
        self.record.vote.is_some_and(|vote| vote != self.config.id)
    }

    pub(super) fn on_vote_granted(&mut self, place: usize, term: u64) {
        if term > self.record.term {
            return self.refusals.add(Refusal::Unasked);
        }
        // RL-1: a grant of another term says nothing about this one.
        let own_term = term == self.record.term || !self.keeps(Rule::OwnTermGrants);
        if self.role == Role::Candidate && own_term {
            self.count_vote(place);
        }
    }

    fn count_vote(&mut self, place: usize) {
        if !self.heard[place].granted || !self.keeps(Rule::CountOnce) {
            self.grants += 1;
        }
        self.heard[place].granted = true;
        let won = if self.keeps(Rule::CountOnce) && self.keeps(Rule::MajorityOfVoters) {
            self.has_quorum_of_grants()
        } else {
            let half = self.membership.members().len() / 2;
            self.grants as usize >= half + usize::from(self.keeps(Rule::MajorityOfVoters))
        };
        if won {
            self.lead();
        }
    }

    /// Elected. It may act once a majority answered in this term and, where there is a log, an entry of it is committed.
    fn lead(&mut self) {
        self.role = Role::Leader;
        self.clear_heard();
        self.leader = Some(self.config.id);
        self.began = self.now;
        (self.covered, self.established) = (false, false);
        (self.yielded, self.failed) = (false, 0);
        self.round = 0;
        self.event(Event::Elected(self.token(self.record.term)));
        self.await_establishment();
        if self.config.replication.is_some() {
            self.begin_round();
            self.begin_replication();
        } else {
            self.send_round();
        }
    }
}
