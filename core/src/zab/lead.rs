//! Leading: synchronised learners, an established epoch, and commits (ZAB-S7, ZAB-B1 to ZAB-B4).
//!
//! A leader holds no lease. It notices that its followers are gone after `sync_limit` ticks (ZAB-B4), and others can have
//! established a later epoch before: only the token protects. What it then proposes is acknowledged by no quorum.

use super::message::{Link, Packet};
use super::reads::Question;
use super::vote::Told;
use super::{Refusal, Role, Rule, Rules, Timing, Zab};
use crate::log::Position;
use crate::{Duration, Event, Instant, Leader, Tenure, Token, Why};
use alloc::boxed::Box;
use alloc::vec;

/// What a leader has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Learners connect, and the epoch rises above what they promised (ZAB-D2).
    Connecting,
    /// The epoch is fixed; promises are collected (ZAB-D3 to ZAB-D5).
    Promising,
    /// A quorum promised; the current epoch is being written (ZAB-D6).
    Recording,
    /// Elected: learners are synchronised (ZAB-S1 to ZAB-S7).
    Synchronising,
    /// Established.
    Broadcasting,
}

/// What the connection to a learner has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Stage {
    /// It said who it is.
    Greeted,
    /// It was told the epoch.
    Informed,
    /// It promised, or had before.
    Promised,
    /// It is being told what it lacks.
    Fed,
    /// It was told NEWLEADER.
    Announced,
    /// It acknowledged that.
    Acknowledged,
    /// It was told that it is up to date.
    Serving,
}

/// Which sets a member is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Sets {
    pub(super) connected: bool,
    pub(super) promised: bool,
    /// It acknowledged NEWLEADER.
    pub(super) synced: bool,
}

/// The connection to one learner.
#[derive(Clone, Debug)]
pub(super) struct Handler {
    pub(super) link: Link,
    /// The number of the next packet to it, and of the next from it.
    pub(super) sends: u64,
    pub(super) expects: u64,
    pub(super) stage: Stage,
    /// The end of its log, as it said.
    pub(super) last: Position,
    /// How its synchronisation begins, until that is sent.
    pub(super) header: Option<Packet>,
    /// Whether NEWLEADER was sent.
    pub(super) announced: bool,
    /// Up to where NEWLEADER ends its history.
    pub(super) history: u64,
    /// Up to where it was sent entries, and told that they are committed.
    pub(super) sent: u64,
    pub(super) told: u64,
    /// Up to where it acknowledged.
    pub(super) acked: u64,
    /// Until when it counts as there.
    pub(super) deadline: Instant,
    /// An entry it did not acknowledge yet, and since when that is waited for.
    pub(super) owes: Option<(u64, Instant)>,
    /// The newest round of pings it answered.
    pub(super) round: u64,
    pub(super) question: Option<Question>,
}

impl Handler {
    pub(super) fn new(learner: u64, leader: u64, deadline: Instant) -> Self {
        Self {
            link: Link { learner, leader },
            sends: 0,
            // Its first packet opened the connection.
            expects: 1,
            stage: Stage::Greeted,
            last: Position::START,
            header: None,
            announced: false,
            history: 0,
            sent: 0,
            told: 0,
            acked: 0,
            deadline,
            owes: None,
            round: 0,
            question: None,
        }
    }
}

/// What a leader knows.
#[derive(Clone, Debug)]
pub(super) struct Leading {
    pub(super) phase: Phase,
    /// The epoch it wants to begin; fixed from [`Phase::Promising`] on.
    pub(super) epoch: u64,
    /// Whether the epoch may be told.
    pub(super) told: bool,
    /// Which request the phase waits for.
    pub(super) ticket: u64,
    /// Its current epoch and the end of its log as it was elected.
    pub(super) own: (u64, Position),
    /// Where its initial history ends.
    pub(super) history: u64,
    pub(super) sets: Box<[Sets]>,
    pub(super) handlers: Box<[Option<Handler>]>,
    /// Whose votes made it leader (ZAB-D7), and whether one of them looks again.
    pub(super) made: Box<[bool]>,
    pub(super) deserted: bool,
    pub(super) began: Instant,
    /// When the phase must be over.
    pub(super) limit: Instant,
    /// When the next half of a tick is over, and whether a whole one is then.
    pub(super) half: Instant,
    pub(super) whole: bool,
    /// The newest round of pings.
    pub(super) round: u64,
    /// The round that was sent for questions and is not answered by a quorum yet.
    pub(super) awaited: Option<u64>,
    /// Its own question.
    pub(super) question: Option<Question>,
    /// Whether anything may be due to be said to the learners, and to whom first.
    pub(super) unsent: bool,
    pub(super) cursor: usize,
}

impl Leading {
    pub(super) fn new(
        members: usize,
        made: Box<[bool]>,
        own: (u64, Position),
        now: Instant,
        timing: &Timing,
    ) -> Self {
        Self {
            phase: Phase::Connecting,
            epoch: 0,
            told: false,
            ticket: 0,
            own,
            history: 0,
            sets: vec![Sets::default(); members].into_boxed_slice(),
            handlers: vec![None; members].into_boxed_slice(),
            made,
            deserted: false,
            began: now,
            limit: now + timing.init(),
            half: now + timing.tick.scaled_down(1, 2),
            whole: false,
            round: 0,
            awaited: None,
            question: None,
            unsent: false,
            cursor: 0,
        }
    }

    /// When it looks at its learners next (ZAB-B4).
    fn next_check(&self, timing: &Timing) -> Instant {
        if self.whole {
            self.half
        } else {
            self.half + timing.tick.scaled_up(1, 2)
        }
    }
}

impl<R: Rules> Zab<R> {
    /// The token of the epoch it leads or wants to lead.
    pub(super) fn token_of_own_epoch(&self) -> Token {
        let epoch = self.leading.as_ref().map_or(0, |leading| leading.epoch);
        Token::new(self.config.generation, epoch)
    }

    /// ZAB-S7: a quorum holds the initial history, which is committed by that: *established*.
    pub(super) fn establish(&mut self) {
        let Some(leading) = &self.leading else {
            return;
        };
        let sets = &leading.sets;
        if leading.phase != Phase::Synchronising || !self.is_quorum(|place| sets[place].synced) {
            return;
        }
        let (epoch, history) = (leading.epoch, leading.history);
        if let Some(leading) = &mut self.leading {
            (leading.phase, leading.unsent) = (Phase::Broadcasting, true);
        }
        self.commit = self.commit.max(history);
        self.answer_with(epoch);
        let tenure = Tenure {
            token: self.token_of_own_epoch(),
            until: self.lapses_at(),
        };
        self.event(Event::Established(tenure));
    }

    /// FLE-9: from here on the epoch that was established is told, whatever the votes were.
    pub(super) fn answer_with(&mut self, epoch: u64) {
        if self.keeps(Rule::EstablishedEpoch) {
            self.vote = Told {
                vote: super::Vote {
                    epoch,
                    ..self.vote.vote
                },
                ..self.vote
            };
        }
    }

    /// The first check at which too few of its learners are there, if nothing more is heard (ZAB-B4).
    pub(super) fn lapses_at(&self) -> Instant {
        let Some(leading) = &self.leading else {
            return Instant::ZERO;
        };
        if !self.keeps(Rule::QuorumOrStepDown) {
            return Instant::FOREVER;
        }
        let heard = |place: usize| match &leading.handlers[place] {
            _ if place == self.place => Instant::FOREVER,
            Some(handler) => handler.deadline,
            None => Instant::ZERO,
        };
        let lapse = self.config.ensemble.reached(Instant::ZERO, heard);
        if lapse == Instant::FOREVER {
            return lapse;
        }
        let (timing, check) = (&self.config.timing, leading.next_check(&self.config.timing));
        let tick = timing.tick.as_micros().max(1);
        let ticks = lapse.since(check).as_micros().div_ceil(tick);
        check + Duration::from_micros(ticks.saturating_mul(tick))
    }

    /// Law C4: a leader without a quorum of learners is none any more, whatever is in its inbox.
    pub(super) fn lapse(&mut self) {
        if let Some(leading) = &self.leading
            && leading.phase == Phase::Broadcasting
            && leading.next_check(&self.config.timing) <= self.now
            && self.lapses_at() <= self.now
        {
            self.look_again(Why::Lapsed);
        }
    }

    pub(super) fn leader_deadline(&self) -> Option<Instant> {
        let leading = self.leading.as_ref()?;
        let mut due = leading.half;
        if leading.phase < Phase::Broadcasting {
            due = due.min(leading.limit);
        }
        Some(self.deserted_at().map_or(due, |at| due.min(at)))
    }

    pub(super) fn leader_is_due(&mut self) {
        let Some(leading) = &mut self.leading else {
            return;
        };
        if leading.phase < Phase::Broadcasting && leading.limit <= self.now {
            // It was elected and could not begin: ZooKeeper waits no longer than this (Z-3109).
            return self.look_again(Why::Lapsed);
        }
        if leading.half <= self.now {
            let whole = leading.whole;
            leading.whole = !whole;
            let tick = self.config.timing.tick;
            let (low, high) = (tick.scaled_down(1, 2), tick.scaled_up(1, 2));
            leading.half = leading.half + if whole { low } else { high };
            if leading.half <= self.now {
                // The host was late by more than that.
                leading.half = self.now + low;
            }
            if whole {
                self.close_slow();
            }
            self.send_round();
        }
        self.give_up_if_deserted();
    }

    /// Who owes an acknowledgement for too long is left.
    fn close_slow(&mut self) {
        let patience = self.config.timing.sync();
        for place in 0..self.config.ensemble.members().len() {
            let handler = self
                .leading
                .as_ref()
                .map(|leading| &leading.handlers[place]);
            if let Some(Some(Handler {
                owes: Some((_, since)),
                ..
            })) = handler
                && self.now.since(*since) > patience
            {
                self.close_learner(place);
            }
        }
    }

    /// Pings everybody who knows the epoch. The answers keep the connections alive, and tell who still follows.
    pub(super) fn send_round(&mut self) {
        let Some(leading) = &mut self.leading else {
            return;
        };
        leading.round += 1;
        let round = leading.round;
        for place in 0..self.config.ensemble.members().len() {
            let handler = self
                .leading
                .as_ref()
                .map(|leading| &leading.handlers[place]);
            if let Some(Some(handler)) = handler
                && handler.stage >= Stage::Informed
            {
                self.say_to_learner(place, Packet::Ping { round });
            }
        }
        self.rounds_answered();
    }

    /// A packet of a learner, in its turn.
    pub(super) fn on_learner_packet(&mut self, place: usize, packet: Packet) {
        let sync = self.now + self.config.timing.sync();
        let Some(leading) = &mut self.leading else {
            return;
        };
        let Some(handler) = &mut leading.handlers[place] else {
            return;
        };
        if handler.stage >= Stage::Acknowledged {
            handler.deadline = handler.deadline.max(sync);
        }
        match (packet, handler.stage) {
            (Packet::AckEpoch { current, last }, Stage::Informed) => {
                if !self.is_possible(last)
                    || current.is_some_and(|epoch| !self.epoch_is_near(epoch))
                {
                    self.refusals.add(Refusal::ImpossibleLog);
                    return self.close_learner(place);
                }
                self.on_promise(place, current, last);
            }
            (Packet::AckNewLeader, Stage::Announced) => {
                handler.stage = Stage::Acknowledged;
                handler.deadline = sync;
                leading.sets[place].synced = true;
                leading.unsent = true;
                self.establish();
            }
            (Packet::Ack { upto }, Stage::Serving) if upto <= handler.sent => {
                handler.acked = handler.acked.max(upto);
                if handler.owes.is_some_and(|(owed, _)| owed <= upto) {
                    handler.owes = (upto < handler.sent).then_some((handler.sent, self.now));
                }
                self.advance_commit();
            }
            (Packet::Ping { round }, stage)
                if stage >= Stage::Informed && round <= leading.round =>
            {
                if handler.stage >= Stage::Acknowledged {
                    handler.round = handler.round.max(round);
                }
                self.rounds_answered();
            }
            (Packet::Sync { number }, Stage::Serving) => {
                let upto = self.log.last().index;
                handler.question = Some(Question::new(number, upto));
                leading.unsent = true;
            }
            _ => {
                self.refusals.add(Refusal::Unexpected);
                self.close_learner(place);
            }
        }
    }

    /// ZAB-B3: commits what a quorum has, the leader's own copy counted like any other.
    pub(super) fn advance_commit(&mut self) {
        let Some(leading) = &self.leading else {
            return;
        };
        if leading.phase != Phase::Broadcasting {
            return;
        }
        let own = if self.keeps(Rule::OwnCopyDurable) {
            self.durable.synced()
        } else {
            self.log.last().index
        };
        let acked = |place: usize| match &leading.handlers[place] {
            _ if place == self.place => own,
            Some(handler) => handler.acked,
            None => 0,
        };
        let ensemble = &self.config.ensemble;
        let reached = if self.keeps(Rule::OwnAcks) {
            ensemble.reached(self.commit, acked)
        } else if ensemble.is_quorum(|place| acked(place) > self.commit) {
            // Wrong: a quorum acknowledged something, and the newest of it is taken for acknowledged by all.
            let places = 0..ensemble.members().len();
            places.map(acked).max().unwrap_or(self.commit)
        } else {
            return;
        };
        if reached > self.commit {
            self.commit = reached;
            self.feed_learners();
            self.answer_itself();
        }
    }

    /// Whom this node follows, and the token of that leader's epoch.
    pub(super) fn followed(&self) -> Option<Leader> {
        let learning = self.learning.as_ref()?;
        let serving = learning.stage == super::learn::Stage::Serving;
        serving.then_some(Leader {
            node: learning.leader,
            token: Token::new(self.config.generation, learning.epoch),
        })
    }

    /// What it has come to as a leader; `None` when it does not lead.
    #[must_use]
    pub fn phase(&self) -> Option<Phase> {
        (self.role == Role::Leading).then(|| self.leading.as_ref().map(|leading| leading.phase))?
    }
}
