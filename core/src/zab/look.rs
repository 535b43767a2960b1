//! Fast leader election: rounds, votes, and when they decide (FLE-1 to FLE-9, FLE-R1 to FLE-R5).
//!
//! It elects the node with the most recent history among a quorum, as a rule: votes are volatile, a voter may change its mind
//! while another decides, and rounds begin at 0 with every life. Two nodes may both decide to lead. What makes it safe comes
//! after it: only one of them can collect the promises of a quorum (`discover`).

use super::message::{Message, Notification};
use super::vote::{State, Told, Vote};
use super::{MAX_LEAP, Refusal, Role, Rule, Rules, Zab};
use crate::{Duration, Instant, NodeId, Output};
use alloc::boxed::Box;
use alloc::vec;

/// An election, as one node sees it.
#[derive(Clone, Debug)]
pub(super) struct Looking {
    /// Whether it has begun. Before it does, the disk comes to rest: what a node tells of its log is what is on it.
    pub(super) begun: bool,
    /// Observer: when it looks for a leader again.
    pub(super) hold: Option<Instant>,
    /// Whom this node proposes.
    pub(super) proposal: Vote,
    /// Itself, as it was when this election began.
    pub(super) initial: Vote,
    /// What was told in this round, by place.
    pub(super) received: Box<[Option<Told>]>,
    /// What was told by those who do not look, whatever their round.
    pub(super) outside: Box<[Option<Told>]>,
    /// How long it waits for notifications before it tells its own again.
    pub(super) wait: Duration,
    /// When that is over.
    pub(super) due: Instant,
    /// Until when nothing better must be heard, once a quorum agrees.
    pub(super) finalizing: Option<Instant>,
}

impl Looking {
    pub(super) fn new(members: usize, own: Vote, now: Instant) -> Self {
        Self {
            begun: false,
            hold: None,
            proposal: own,
            initial: own,
            received: vec![None; members].into_boxed_slice(),
            outside: vec![None; members].into_boxed_slice(),
            wait: Duration::ZERO,
            due: now,
            finalizing: None,
        }
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        if self.begun {
            Some(self.finalizing.unwrap_or(self.due))
        } else {
            self.hold
        }
    }
}

impl<R: Rules> Zab<R> {
    /// FLE-O under the rules of this machine: whether vote `a` beats vote `b`. A candidate without weight beats nobody.
    #[must_use]
    pub fn beats(&self, a: Vote, b: Vote) -> bool {
        if self.config.ensemble.weight(a.leader) == 0 {
            return false;
        }
        if self.keeps(Rule::EpochInOrder) {
            a.beats(b)
        } else {
            a.beat_once(b)
        }
    }

    /// What it votes for before it hears of anybody else: itself, or, without a vote, what nobody is beaten by (FLE-1).
    pub(super) fn own_vote(&self) -> Vote {
        let votes = self.config.ensemble.votes(self.place);
        Vote {
            leader: self.config.id,
            zxid: (votes && !self.blank).then(|| self.told_end()),
            epoch: if votes { self.current } else { 0 },
        }
    }

    /// Begins an election once the disk is at rest (FLE-1).
    pub(super) fn settle(&mut self) {
        if self.looking.hold.is_some_and(|until| until <= self.now) {
            self.looking.hold = None;
        }
        if self.looking.begun
            || self.looking.hold.is_some()
            || self.durable.requests.pending() > 0
            || self.durable.appended < self.log.last().index
        {
            return;
        }
        self.round += 1;
        let own = self.own_vote();
        let timing = self.config.timing;
        let looking = &mut self.looking;
        (looking.begun, looking.finalizing) = (true, None);
        (looking.proposal, looking.initial) = (own, own);
        looking.received.fill(None);
        looking.outside.fill(None);
        looking.wait = timing.min_notification;
        looking.due = self.now + looking.wait;
        // What it answers with from here on, until this election is decided.
        self.vote = Told {
            vote: own,
            round: self.round,
            state: State::Looking,
        };
        self.propose_vote();
    }

    /// Tells every voter whom it proposes, itself included.
    fn propose_vote(&mut self) {
        for place in 0..self.config.ensemble.members().len() {
            if place != self.place && self.config.ensemble.votes(place) {
                let to = self.config.ensemble.members()[place].id;
                self.notify(to, self.looking.proposal, self.round, State::Looking);
            }
        }
        if self.config.ensemble.votes(self.place) && !self.blank {
            self.looking.received[self.place] = Some(Told {
                vote: self.looking.proposal,
                round: self.round,
                state: State::Looking,
            });
        }
        self.finalize_if_agreed();
    }

    fn notify(&mut self, to: NodeId, vote: Vote, round: u64, state: State) {
        let notification = Notification { state, vote, round };
        let message = Message::Notification(notification);
        self.outbox.push_back(Output::Send(to, message));
    }

    /// The connection to `peer` is there again: what waits for it is told at once, as ZooKeeper's connections do.
    pub(super) fn renotify(&mut self, peer: NodeId) {
        if self.role == Role::Looking && self.looking.begun && self.config.ensemble.is_voter(peer) {
            self.notify(peer, self.looking.proposal, self.round, State::Looking);
        }
    }

    /// Tells its proposal at once rather than at the end of the wait.
    pub(super) fn propose_again(&mut self) {
        if self.looking.begun {
            self.propose_vote();
        }
    }

    pub(super) fn looking_is_due(&mut self) {
        if !self.looking.begun {
            return self.settle();
        }
        if let Some(until) = self.looking.finalizing {
            if until <= self.now {
                let decided = Told {
                    vote: self.looking.proposal,
                    round: self.round,
                    state: State::Looking,
                };
                self.decide(decided, true);
            }
            return;
        }
        if self.looking.due <= self.now {
            let wait = self.looking.wait;
            self.looking.wait = (wait + wait).min(self.config.timing.max_notification);
            self.looking.due = self.now + self.looking.wait;
            self.propose_vote();
        }
    }

    /// The receiver rules, FLE-R1 to FLE-R5.
    pub(super) fn on_notification(&mut self, from: usize, told: Notification) {
        let sender = self.config.ensemble.members()[from].id;
        if told.round > self.round.saturating_add(MAX_LEAP) {
            return self.refusals.add(Refusal::RoundLeap);
        }
        if !self.epoch_is_near(told.vote.epoch) {
            return self.refusals.add(Refusal::EpochLeap);
        }
        if told.vote.zxid.is_some_and(|end| !self.is_possible(end)) {
            return self.refusals.add(Refusal::ImpossibleLog);
        }
        if self.role == Role::Looking && !self.looking.begun {
            return;
        }
        let Told { vote, round, state } = self.vote;
        if !self.config.ensemble.votes(from) {
            // FLE-R1.
            let state = if self.role == Role::Looking {
                State::Looking
            } else {
                state
            };
            return self.notify(sender, vote, self.round, state);
        }
        // Voters tell an observer something only to answer it (FLE-R1). Would it answer them, the two would never stop.
        let answers = self.config.ensemble.votes(self.place);
        if self.role == Role::Looking {
            // FLE-R2.
            if answers && told.state == State::Looking && told.round < self.round {
                self.notify(sender, self.looking.proposal, self.round, State::Looking);
            }
            self.on_vote(from, told);
        } else if answers && told.state == State::Looking {
            // FLE-R3.
            self.notify(sender, vote, round, state);
            self.is_deserted_by(from);
        }
    }

    /// FLE-2 to FLE-6.
    fn on_vote(&mut self, from: usize, told: Notification) {
        let Notification { state, vote, round } = told;
        if !self.config.ensemble.is_voter(vote.leader) {
            return self.refusals.add(Refusal::NotAVoter);
        }
        let wait = self.config.timing.finalize_wait;
        if self.looking.finalizing.is_some() {
            if !self.beats(vote, self.looking.proposal) {
                // Thrown away; and it was no silence.
                self.looking.finalizing = Some(self.now + wait);
                return;
            }
            self.looking.finalizing = None;
        }
        self.looking.due = self.now + self.looking.wait;
        let heard = Told { vote, round, state };
        match state {
            State::Looking => {
                // FLE-4: who has nothing neither counts nor is counted (Z-261).
                if self.blank || vote.zxid.is_none() {
                    return;
                }
                if round > self.round {
                    self.round = round;
                    self.looking.received.fill(None);
                    let own = self.looking.initial;
                    self.looking.proposal = if self.beats(vote, own) { vote } else { own };
                    self.looking.received[from] = Some(heard);
                    self.propose_vote();
                } else if round == self.round {
                    self.looking.received[from] = Some(heard);
                    if self.beats(vote, self.looking.proposal) {
                        self.looking.proposal = vote;
                        self.propose_vote();
                    } else {
                        self.finalize_if_agreed();
                    }
                }
            }
            // FLE-5.
            State::Observing => {}
            State::Following | State::Leading => {
                // FLE-6.
                if round == self.round {
                    self.looking.received[from] = Some(heard);
                    let received = &self.looking.received;
                    if self.agree(received, &heard) && self.leads(received, &heard) {
                        return self.decide(heard, true);
                    }
                }
                self.looking.outside[from] = Some(heard);
                let outside = &self.looking.outside;
                if self.agree(outside, &heard) && self.leads(outside, &heard) {
                    self.round = round;
                    self.decide(heard, false);
                }
            }
        }
    }

    /// Whether those whose votes count with `told` are a quorum.
    fn agree(&self, votes: &[Option<Told>], told: &Told) -> bool {
        let counts = |place: usize| votes[place].is_some_and(|vote| vote.counts_with(told));
        self.config.ensemble.is_quorum(counts)
    }

    /// FLE-C: whether the leader they name can be joined.
    fn leads(&self, votes: &[Option<Told>], told: &Told) -> bool {
        if told.vote.leader == self.config.id {
            // Z-1514.
            return told.round == self.round || !self.keeps(Rule::OwnRound);
        }
        // Z-131, Z-480, Z-569.
        let said = self.config.ensemble.place(told.vote.leader);
        let said = said.and_then(|place| votes[place]);
        !self.keeps(Rule::CheckLeader) || said.is_some_and(|vote| vote.state == State::Leading)
    }

    /// FLE-4.6: a quorum wants what this node proposes; nothing better must be heard for a while.
    fn finalize_if_agreed(&mut self) {
        let proposal = Told {
            vote: self.looking.proposal,
            round: self.round,
            state: State::Looking,
        };
        if self.looking.finalizing.is_none() && self.agree(&self.looking.received, &proposal) {
            self.looking.finalizing = Some(self.now + self.config.timing.finalize_wait);
        }
    }

    /// Goes to lead, or to the one that was elected. `here`: by votes of this round.
    fn decide(&mut self, decided: Told, here: bool) {
        let leads = decided.vote.leader == self.config.id;
        self.vote = Told {
            vote: decided.vote,
            round: decided.round,
            state: match (leads, self.config.ensemble.votes(self.place)) {
                (true, _) => State::Leading,
                (false, true) => State::Following,
                (false, false) => State::Observing,
            },
        };
        self.looking.begun = false;
        if leads {
            let votes = if here {
                &self.looking.received
            } else {
                &self.looking.outside
            };
            let made = votes.iter();
            let made = made.map(|vote| vote.is_some_and(|vote| vote.counts_with(&decided)));
            let made = made.collect();
            self.begin_to_lead(made);
        } else {
            self.begin_to_learn(decided.vote.leader);
        }
    }
}
