//! Standing for election: asked first, then for real (KR-S1 to KR-S4).

use super::ask::Answer;
use super::config::MAX_EPOCH;
use super::{Kraft, Refusal, Role, Rule, Rules};
use crate::Duration;

/// What the back-off of a candidate that lost is counted in (KR-S4).
const BACKOFF_BASE: Duration = Duration::from_millis(100);

impl<R: Rules> Kraft<R> {
    /// The state's time is over, or the host does not want to wait for that.
    pub(super) fn campaign(&mut self) {
        match self.role {
            Role::Unattached | Role::Follower if self.is_voter() => self.stand(),
            _ => {}
        }
    }

    /// Asks the others whether they would vote for this node, in its present epoch, and records nothing.
    pub(super) fn stand(&mut self) {
        if !self.is_voter() {
            return;
        }
        if !self.keeps(Rule::PreVote) {
            return self.become_candidate();
        }
        // It still knows its leader, and returns to it when the others do (KR-S3).
        self.switch(Role::Prospective);
        self.arm_election();
        self.count(self.config.id, Answer::Granted);
    }

    /// KR-S3: not now. The others know of a leader, or of nobody.
    pub(super) fn lose_pre_vote(&mut self) {
        match self.leader {
            Some(leader) => self.become_follower(leader),
            None => self.become_unattached(),
        }
    }

    /// KR-S4: an epoch of its own, with its own vote.
    pub(super) fn become_candidate(&mut self) {
        if self.state.epoch >= MAX_EPOCH {
            self.refusals.add(Refusal::EpochsExhausted);
            return self.become_unattached();
        }
        self.follow(None);
        self.raise_epoch(self.state.epoch + 1);
        self.state.voted = Some(self.key);
        self.begin_candidacy();
    }

    /// The own vote counts, and the others are asked, when the disk holds it.
    pub(super) fn begin_candidacy(&mut self) {
        self.switch(Role::Candidate);
        self.retries = self.retries.saturating_add(1);
        self.persist();
        if self.settled() {
            self.candidacy_is_durable();
        }
    }

    /// The disk holds the own vote; or, of a candidate that has won, that it leads.
    pub(super) fn candidacy_is_durable(&mut self) {
        if self.has_won() {
            return self.lead();
        }
        if self.due.is_none() {
            self.arm_election();
            self.count(self.config.id, Answer::Granted);
        }
    }

    /// Candidate: whether a majority voted for it, so that it leads as soon as its disk says so.
    pub(super) fn has_won(&self) -> bool {
        self.role == Role::Candidate && self.state.leader == Some(self.config.id)
    }

    /// Counts what a voter said to the present attempt.
    pub(super) fn count(&mut self, id: crate::NodeId, answer: Answer) {
        let Some(place) = self.config.voters.place(id) else {
            return;
        };
        if self.peers[place].answer == Answer::None {
            self.peers[place].answer = answer;
        }
        let said = |answer| move |peer: &&super::Peer| peer.answer == answer;
        let granted = self.peers.iter().filter(said(Answer::Granted)).count();
        let refused = self.peers.iter().filter(said(Answer::Refused)).count();
        let voters = self.peers.len();
        let needed = voters / 2 + usize::from(self.keeps(Rule::MajorityOfVoters));
        if granted >= needed {
            self.win();
        } else if voters - refused < needed {
            self.lose();
        }
    }

    fn win(&mut self) {
        match self.role {
            Role::Prospective => self.become_candidate(),
            Role::Candidate if !self.has_won() => {
                self.state.leader = Some(self.config.id);
                self.durable.changed = true;
                // From here on a crash makes it resigned, not a candidate.
                self.due = None;
                self.persist();
                if self.durable.state_is_settled() || !self.keeps(Rule::DurableBeforeLeading) {
                    self.lead();
                }
            }
            _ => {}
        }
    }

    /// No majority can be had any more.
    fn lose(&mut self) {
        match self.role {
            Role::Prospective => self.lose_pre_vote(),
            Role::Candidate if !self.backing_off => {
                self.backing_off = true;
                let wait = self.backoff();
                self.arm(wait.max(Duration::from_micros(1)));
            }
            _ => {}
        }
    }

    /// How long a candidate that lost waits: up to twice as long with every attempt, and never longer than the longest.
    fn backoff(&mut self) -> Duration {
        let longest = self.config.timing.election_backoff_max;
        let doublings = self.retries.min(10);
        if self.keeps(Rule::SpreadBackoff) {
            let limit = BACKOFF_BASE.scaled_down(1 << doublings, 1).min(longest);
            return Duration::from_micros(self.random.below(limit.as_micros()));
        }
        let steps = self.random.below(1 << doublings);
        BACKOFF_BASE.scaled_down(steps, 1).min(longest)
    }

    /// How many granted in the present attempt, this node included; 0 when it does not stand.
    #[must_use]
    pub fn grants(&self) -> usize {
        match self.role {
            Role::Prospective | Role::Candidate => {
                let granted = |peer: &&super::Peer| peer.answer == Answer::Granted;
                self.peers.iter().filter(granted).count()
            }
            _ => 0,
        }
    }
}
