//! The follower: asks for what comes next, and cuts off what its leader's epochs say is not there.

use super::{Message, Replica, ReplicaEvent, ReplicaOutput, Role};
use crate::isr::config::ReplicaConfig;
use crate::isr::refuse::Refusal;
use crate::isr::rules::{Rule, Rules};
use crate::log::Position;
use crate::{Instant, NodeId, Ticket};
use core::hash::{Hash, Hasher};

/// What a follower is about: one question at a time.
#[derive(Clone, Debug)]
pub(super) struct Following {
    leader: NodeId,
    /// The question that is not answered, and since when.
    waits: Option<(Ticket, Instant)>,
    /// When to ask next, unless it waits.
    ask_at: Instant,
}

impl Following {
    pub(super) fn due(&self, config: &ReplicaConfig) -> Instant {
        let overdue = self.waits.map(|(_, since)| since + config.patience);
        overdue.unwrap_or(self.ask_at)
    }

    pub(super) fn fingerprint<H: Hasher>(&self, now: Instant, hasher: &mut H) {
        let waits = self.waits.map(|(_, since)| now.since(since));
        (1u8, self.leader, waits, self.ask_at.ahead_of(now)).hash(hasher);
    }
}

impl<R: Rules> Replica<R> {
    /// Another leads from now on.
    pub(super) fn follow(&mut self, now: Instant, leader: NodeId) {
        self.role = Role::Following(Following {
            leader,
            waits: None,
            ask_at: now,
        });
        self.say(ReplicaEvent::Follows(self.epoch(), leader));
        if !self.keeps(Rule::TruncatesByEpoch) {
            // As it was before KIP-101.
            let at = Position {
                term: 0,
                index: self.high_watermark,
            };
            self.cut(at);
        }
    }

    /// Asks, if it is time.
    pub(super) fn ask(&mut self, now: Instant) {
        let Role::Following(following) = &self.role else {
            return;
        };
        if following.due(&self.config) > now {
            return;
        }
        let leader = following.leader;
        let ticket = self.ticket();
        if let Role::Following(following) = &mut self.role {
            following.waits = Some((ticket, now));
        }
        let question = Message::Fetch {
            ticket,
            epoch: self.epoch(),
            after: self.log.last(),
            broker_epoch: self.broker_epoch(),
        };
        self.out.push_back(ReplicaOutput::Send(leader, question));
    }

    /// The leader answers.
    pub(super) fn answered(
        &mut self,
        now: Instant,
        from: NodeId,
        (ticket, epoch): (Ticket, u64),
        answer: &Message,
    ) {
        let own = self.epoch();
        let Role::Following(following) = &mut self.role else {
            return self.refusals.add(Refusal::UnknownTicket);
        };
        if following.leader != from {
            return self.refusals.add(Refusal::UnknownSender);
        }
        // Only to the question that is open: an answer that says "cut off" is true once.
        if following.waits.is_none_or(|(open, _)| open != ticket) {
            return self.refusals.add(Refusal::UnknownTicket);
        }
        let refused = matches!(answer, Message::Refused { .. });
        if !refused && epoch != own && self.rules.keeps(Rule::LeaderEpochFences) {
            return self.refusals.add(Refusal::UnknownTicket);
        }
        following.waits = None;
        following.ask_at = if refused {
            now + self.config.backoff
        } else {
            now
        };
        match *answer {
            Message::Records {
                written,
                count,
                high_watermark,
                ..
            } => self.take((written, count), high_watermark),
            Message::Diverging {
                at, high_watermark, ..
            } => self.diverges(at, high_watermark),
            Message::Refused { .. } | Message::Fetch { .. } => {}
        }
    }

    fn take(&mut self, (written, count): (u64, u64), high_watermark: u64) {
        // No leader has records of an epoch after its own.
        let possible = count == 0 || written <= self.epoch();
        if !possible || (count > 0 && self.log.append(written, count).is_err()) {
            return self.impossible();
        }
        self.commit(high_watermark.min(self.end()));
    }

    /// The leader has not what this one has: cut off first, and then ask again (KAFKA-14704). The epochs of what is cut off
    /// go with it, as there is no table of them beside the log (KAFKA-10706).
    fn diverges(&mut self, at: Position, high_watermark: u64) {
        if !self.keeps(Rule::DivergenceMovesNothing) {
            self.commit(high_watermark.min(self.end()));
        }
        let common = self.log.hint(at);
        if common.index >= self.end() {
            // It has that, and nothing after it.
            return self.impossible();
        }
        self.cut(common);
    }

    fn impossible(&mut self) {
        self.refusals.add(Refusal::ImpossibleLog);
        if let Role::Following(following) = &mut self.role {
            following.ask_at = self.clock + self.config.backoff;
        }
    }
}
