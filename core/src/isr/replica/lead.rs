//! The leader: appends, answers who follows, and knows how much is committed.

use super::isr::Wish;
use super::{Message, Replica, ReplicaEvent, ReplicaOutput, Role};
use crate::isr::places::Places;
use crate::isr::refuse::Refusal;
use crate::isr::rules::{Rule, Rules};
use crate::isr::words::Fault;
use crate::listed::listed;
use crate::log::Position;
use crate::{Instant, NodeId, Ticket};
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

/// What a producer waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Acks {
    /// `acks=1`: that the leader has it. Lost with the leader, by design.
    Leader,
    /// `acks=all`: that everybody in sync has it, and those are enough.
    All,
}

listed! {
    /// Why a record is not appended.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum ProduceFault {
        /// `NOT_LEADER_OR_FOLLOWER`.
        NotLeader,
        /// `NOT_ENOUGH_REPLICAS`: fewer are in sync than the topic asks for.
        NotEnoughReplicas,
        /// None at all, or more than a log can have.
        Count,
    }
}

listed! {
    /// What becomes of a record that was appended.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Fate {
        /// It is not committed yet.
        Waiting,
        /// It is committed, and enough have it.
        Acknowledged,
        /// `NOT_ENOUGH_REPLICAS_AFTER_APPEND`: too few have it; it may stay, and may not.
        NotEnoughReplicas,
        /// It does not lead any more, or not in that epoch: it may stay, and may not.
        Unknown,
    }
}

/// What a consumer gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Consumed {
    /// So many records that were written in this epoch; or none yet.
    Records {
        /// In which epoch.
        written: u64,
        /// How many.
        count: u64,
    },
    /// `OFFSET_OUT_OF_RANGE`: there are not so many.
    OutOfRange,
    /// `OFFSET_NOT_AVAILABLE` (KIP-207): a leader that is new does not know yet how much is committed. Ask again.
    NotAvailable,
    /// `FENCED_LEADER_EPOCH`: the consumer knows an earlier leader epoch.
    Fenced,
    /// `NOT_LEADER_OR_FOLLOWER`, `UNKNOWN_LEADER_EPOCH`.
    NotLeader,
}

/// What a leader knows.
#[derive(Clone, Debug)]
pub(super) struct Leading {
    /// How many records there were when it came to lead.
    pub(super) epoch_start: u64,
    /// By place; the own one is not used.
    pub(super) peers: Vec<Peer>,
    pub(super) wish: Wish,
}

/// What a leader knows of another replica, by what that asked in its epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Peer {
    /// How many records it has.
    pub(super) end: Option<u64>,
    /// By which registration it asked.
    pub(super) broker_epoch: Option<u64>,
    /// When it asked last, and how many records there were.
    asked: (Instant, u64),
    /// When it had all there was.
    pub(super) caught_up: Instant,
    /// A question to which there was nothing to say, and until when it is kept.
    kept: Option<(Ticket, Instant)>,
    /// What it was told of the high watermark.
    told: u64,
}

impl Leading {
    pub(super) fn fingerprint<H: Hasher>(&self, now: Instant, hasher: &mut H) {
        (2u8, self.epoch_start).hash(hasher);
        for peer in &self.peers {
            let since = [peer.asked.0, peer.caught_up].map(|at| now.since(at));
            let kept = peer.kept.map(|(_, until)| until.ahead_of(now));
            (peer.end, peer.broker_epoch, since, peer.asked.1).hash(hasher);
            (kept, peer.told).hash(hasher);
        }
        self.wish.fingerprint(now, hasher);
    }

    /// Until when questions are kept.
    fn kept_until(&self) -> Instant {
        let until = self.peers.iter().filter_map(|peer| peer.kept);
        until
            .map(|(_, until)| until)
            .min()
            .unwrap_or(Instant::FOREVER)
    }
}

impl<R: Rules> Replica<R> {
    /// This one leads from now on. Nobody is known to have anything until it asks in this epoch.
    pub(super) fn lead(&mut self, now: Instant) {
        let peer = Peer {
            end: None,
            broker_epoch: None,
            asked: (now, u64::MAX),
            caught_up: now,
            kept: None,
            told: 0,
        };
        let count = self.view.as_ref().map_or(0, |view| view.replicas.len());
        self.role = Role::Leading(Leading {
            epoch_start: self.end(),
            peers: (0..count).map(|_| peer).collect(),
            wish: Wish::new(now),
        });
        self.say(ReplicaEvent::Leads(self.epoch()));
        self.advance();
    }

    /// A producer's records, as one batch. Where its last one went: whether that is
    /// acknowledged says [`fate`](Self::fate).
    ///
    /// # Errors
    /// When nothing was appended.
    pub fn produce(
        &mut self,
        now: Instant,
        acks: Acks,
        count: u64,
    ) -> Result<Position, ProduceFault> {
        let now = self.look_at_the_clock(now);
        let (Role::Leading(_), Some(view)) = (&self.role, &self.view) else {
            return Err(ProduceFault::NotLeader);
        };
        if acks == Acks::All && view.isr.count() < usize::from(view.min_isr) {
            return Err(ProduceFault::NotEnoughReplicas);
        }
        let epoch = self.epoch();
        if count == 0 || self.log.append(epoch, count).is_err() {
            return Err(ProduceFault::Count);
        }
        self.advance();
        self.act(now);
        Ok(self.log.last())
    }

    /// What became of a record that was appended here, for a producer that waits for all. Ask again after every
    /// [`HighWatermark`](ReplicaEvent::HighWatermark), and when it leads no more.
    #[must_use]
    pub fn fate(&self, at: Position) -> Fate {
        let (Role::Leading(_), Some(view)) = (&self.role, &self.view) else {
            return Fate::Unknown;
        };
        if at.term != view.leader_epoch || !self.log.contains(at) {
            Fate::Unknown
        } else if at.index > self.high_watermark {
            Fate::Waiting
        } else if view.isr.count() < usize::from(view.min_isr) {
            Fate::NotEnoughReplicas
        } else {
            Fate::Acknowledged
        }
    }

    /// What a consumer that has so many records gets next. `epoch` is the leader epoch, as far as it knows it (KIP-320).
    #[must_use]
    pub fn consume(&self, epoch: Option<u64>, after: u64) -> Consumed {
        let Role::Leading(leading) = &self.role else {
            return Consumed::NotLeader;
        };
        match epoch {
            Some(epoch) if epoch < self.epoch() => return Consumed::Fenced,
            Some(epoch) if epoch > self.epoch() => return Consumed::NotLeader,
            _ => {}
        }
        if after > self.high_watermark {
            return if self.high_watermark < leading.epoch_start {
                Consumed::NotAvailable
            } else {
                Consumed::OutOfRange
            };
        }
        let (written, count) = self.log.run_after(after).unwrap_or((self.epoch(), 0));
        Consumed::Records {
            written,
            count: count.min(self.high_watermark - after),
        }
    }

    /// A follower asks.
    pub(super) fn fetched(
        &mut self,
        now: Instant,
        (from, broker_epoch): (NodeId, u64),
        ticket: Ticket,
        epoch: u64,
        after: Position,
    ) {
        let place = self.view.as_ref().and_then(|view| view.place(from));
        let Some(place) = place.filter(|_| from != self.me) else {
            return self.refusals.add(Refusal::UnknownSender);
        };
        if (after.term == 0) != (after.index == 0) {
            return self.refusals.add(Refusal::ImpossibleLog);
        }
        let own = self.epoch();
        let end = self.log.last();
        let Role::Leading(leading) = &mut self.role else {
            return self.refuse(from, ticket, Fault::NotLeader);
        };
        if self.rules.keeps(Rule::LeaderEpochFences) && epoch != own {
            let fault = if epoch < own {
                Fault::FencedLeaderEpoch
            } else {
                Fault::NotLeader
            };
            return self.refuse(from, ticket, fault);
        }
        let Some(peer) = leading.peers.get_mut(place) else {
            return self.refusals.add(Refusal::UnknownSender);
        };
        let former = peer.broker_epoch.is_some_and(|known| broker_epoch < known);
        if former && self.rules.keeps(Rule::BrokerEpochChecked) {
            return self.refuse(from, ticket, Fault::StaleBrokerEpoch);
        }
        let agrees = if self.rules.keeps(Rule::TruncatesByEpoch) {
            self.log.contains(after)
        } else {
            after.index <= end.index
        };
        if !agrees {
            let at = self.log.hint(after);
            let diverging = Message::Diverging {
                ticket,
                epoch: own,
                at,
                high_watermark: self.high_watermark,
            };
            peer.kept = None;
            peer.told = 0;
            return self.out.push_back(ReplicaOutput::Send(from, diverging));
        }
        // It has all that there was when it asked last, or all there is.
        let (then, had) = peer.asked;
        if after.index >= end.index {
            peer.caught_up = now;
        } else if after.index >= had {
            peer.caught_up = peer.caught_up.max(then);
        }
        peer.asked = (now, end.index);
        peer.end = Some(after.index);
        peer.broker_epoch = Some(broker_epoch);
        peer.kept = Some((ticket, now + self.config.wait));
        self.expand(now, place);
        self.advance();
    }

    fn refuse(&mut self, to: NodeId, ticket: Ticket, fault: Fault) {
        let refused = Message::Refused {
            ticket,
            epoch: self.epoch(),
            fault,
        };
        self.out.push_back(ReplicaOutput::Send(to, refused));
    }

    /// How much is committed, by what everybody has who may be in sync.
    pub(super) fn advance(&mut self) {
        let (Role::Leading(leading), Some(view)) = (&self.role, &self.view) else {
            return;
        };
        let enough = view.isr.count() >= usize::from(view.min_isr);
        if self.config.elr && !enough && self.keeps(Rule::MinIsrForHighWatermark) {
            return;
        }
        let mine = view.place(self.me).map_or(Places::NONE, Places::of);
        let others = self.maximal(leading, view).but(mine);
        let mut reached = self.end();
        for place in others.iter() {
            let end = leading.peers.get(place).and_then(|peer| peer.end);
            reached = reached.min(end.unwrap_or(0));
        }
        self.commit(reached);
    }

    pub(super) fn lead_due(&self, leading: &Leading) -> Instant {
        leading.kept_until().min(self.isr_due(leading))
    }

    /// Answers what there is something to say to, and sees to the ISR.
    pub(super) fn serve(&mut self, now: Instant) {
        self.see_to_isr(now);
        let epoch = self.epoch();
        let Some(view) = self.view.as_ref() else {
            return;
        };
        let Role::Leading(leading) = &mut self.role else {
            return;
        };
        for (peer, to) in leading.peers.iter_mut().zip(view.replicas.iter()) {
            let (Some((ticket, until)), Some(end)) = (peer.kept, peer.end) else {
                continue;
            };
            let next = self.log.run_after(end);
            if next.is_none() && peer.told == self.high_watermark && now < until {
                continue;
            }
            let (written, count) = next.unwrap_or((epoch, 0));
            peer.kept = None;
            peer.told = self.high_watermark;
            let records = Message::Records {
                ticket,
                epoch,
                written,
                count: count.min(self.config.batch),
                high_watermark: self.high_watermark,
            };
            self.out.push_back(ReplicaOutput::Send(*to, records));
        }
    }
}
