//! A replica of a partition: leads it or follows, and keeps the shape of its log.

mod follow;
mod isr;
mod lead;
mod message;

use super::config::{ConfigError, ReplicaBoot, ReplicaConfig};
use super::record::PartitionId;
use super::refuse::{Refusal, Refusals};
use super::rules::{Faithful, Rule, Rules};
use super::view::View;
use super::words::AlterPartition;
use crate::log::{Position, Shape};
use crate::{Instant, NodeId, Ticket};
use alloc::collections::VecDeque;
use core::hash::{Hash, Hasher};
use follow::Following;
use lead::Leading;
pub use lead::{Acks, Consumed, Fate, ProduceFault};
pub use message::Message;

/// What a replica asks of its host, and what it says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ReplicaOutput {
    /// Send this to the replica of the same partition at this broker. May be lost, late, repeated or reordered.
    Send(NodeId, Message),
    /// Ask the active controller, and give the [answer](Replica::answer) under this ticket.
    Alter(Ticket, AlterPartition),
    /// News.
    Event(ReplicaEvent),
}

/// News of a replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReplicaEvent {
    /// It leads, in this leader epoch.
    Leads(u64),
    /// It follows that broker, in this leader epoch.
    Follows(u64, NodeId),
    /// Nobody leads, or it is not known who.
    Waits,
    /// So many records are committed, as far as is known here.
    HighWatermark(u64),
    /// What comes after this record is cut off: drop what was attached to it.
    Truncated(Position),
}

#[derive(Clone, Debug)]
enum Role {
    Waiting,
    Following(Following),
    Leading(Leading),
}

/// One life of a replica.
///
/// An entry's name is (leader epoch, how many records there are with it): the host attaches what it holds by that name.
/// Nothing waits for the disk, as in Kafka: what a broker loses in a crash, it has from the others, and it says so when it
/// registers ([`BrokerBoot::clean`](super::BrokerBoot::clean)).
#[derive(Clone, Debug)]
pub struct Replica<R: Rules = Faithful> {
    config: ReplicaConfig,
    rules: R,
    at: PartitionId,
    me: NodeId,
    incarnation: u64,
    /// The latest `now` that was seen (C2).
    clock: Instant,
    log: Shape,
    /// How many records are committed, as far as is known here.
    high_watermark: u64,
    /// The partition, as it was told last.
    view: Option<View>,
    role: Role,
    /// The number of the last question.
    asked: u64,
    out: VecDeque<ReplicaOutput>,
    refusals: Refusals,
}

impl Replica {
    /// A replica that keeps every rule.
    ///
    /// # Errors
    /// Parameters that are refused, with the remedy.
    pub fn new(
        config: ReplicaConfig,
        at: PartitionId,
        boot: ReplicaBoot,
        now: Instant,
    ) -> Result<Self, ConfigError> {
        Self::with_rules(config, at, boot, now, Faithful)
    }
}

impl<R: Rules> Replica<R> {
    /// A replica that keeps these rules.
    ///
    /// # Errors
    /// Parameters that are refused, with the remedy.
    pub fn with_rules(
        config: ReplicaConfig,
        at: PartitionId,
        boot: ReplicaBoot,
        now: Instant,
        rules: R,
    ) -> Result<Self, ConfigError> {
        config.check()?;
        let end = boot.log.last().index;
        Ok(Self {
            config,
            rules,
            at,
            me: boot.broker,
            incarnation: boot.incarnation,
            clock: now,
            log: boot.log,
            high_watermark: boot.high_watermark.min(end),
            view: None,
            role: Role::Waiting,
            asked: 0,
            out: VecDeque::new(),
            refusals: Refusals::default(),
        })
    }

    /// Which records there are.
    #[must_use]
    pub const fn log(&self) -> &Shape {
        &self.log
    }

    /// How many of them are committed, as far as is known here.
    #[must_use]
    pub const fn high_watermark(&self) -> u64 {
        self.high_watermark
    }

    /// The partition, as it was told last, and what the controller answered since.
    #[must_use]
    pub const fn view(&self) -> Option<&View> {
        self.view.as_ref()
    }

    /// The leader epoch in which it leads.
    #[must_use]
    pub fn leads(&self) -> Option<u64> {
        match self.role {
            Role::Leading(_) => Some(self.epoch()),
            _ => None,
        }
    }

    /// What was refused.
    #[must_use]
    pub const fn refusals(&self) -> &Refusals {
        &self.refusals
    }

    /// How the partition is now, as the log has it: [`Assign`](super::BrokerOutput::Assign).
    pub fn assign(&mut self, now: Instant, view: &View) {
        let now = self.look_at_the_clock(now);
        let count = view.replicas.len();
        if view.at != self.at || count > super::MAX_REPLICAS || view.place(self.me).is_none() {
            return self.refusals.add(Refusal::UnknownSender);
        }
        let version = |view: &View| (view.leader_epoch, view.partition_epoch);
        if let Some(before) = &mut self.view {
            if before.replicas != view.replicas {
                // They are the same for as long as there is a partition.
                return self.refusals.add(Refusal::ImpossibleRecord);
            }
            if version(view) < version(before) {
                return;
            }
            (before.active, before.broker_epoch) = (view.active, view.broker_epoch);
            if version(view) == version(before) {
                return self.act(now);
            }
        }
        let before = self.view.replace(view.clone());
        let same = before.is_some_and(|before| {
            (before.leader_epoch, before.leader) == (view.leader_epoch, view.leader)
        });
        match view.leader {
            _ if same => self.isr_is(now),
            Some(leader) if leader == self.me => self.lead(now),
            Some(leader) => self.follow(now, leader),
            None => {
                self.role = Role::Waiting;
                self.say(ReplicaEvent::Waits);
            }
        }
        self.act(now);
    }

    /// Another replica says something.
    pub fn message(&mut self, now: Instant, from: NodeId, message: &Message) {
        let now = self.look_at_the_clock(now);
        match *message {
            Message::Fetch {
                ticket,
                epoch,
                after,
                broker_epoch,
            } => self.fetched(now, (from, broker_epoch), ticket, epoch, after),
            Message::Records { ticket, epoch, .. }
            | Message::Diverging { ticket, epoch, .. }
            | Message::Refused { ticket, epoch, .. } => {
                self.answered(now, from, (ticket, epoch), message);
            }
        }
        self.act(now);
    }

    /// The deadline came. Early, late or repeated calls are harmless.
    pub fn timeout(&mut self, now: Instant) {
        let now = self.look_at_the_clock(now);
        self.act(now);
    }

    /// What it has to say, until nothing. Drain after every call.
    #[must_use]
    pub fn poll(&mut self) -> Option<ReplicaOutput> {
        self.out.pop_front()
    }

    /// When to call [`timeout`](Self::timeout) at the latest.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let due = match &self.role {
            Role::Waiting => Instant::FOREVER,
            Role::Following(following) => following.due(&self.config),
            Role::Leading(leading) => self.lead_due(leading),
        };
        Some(due).filter(|at| *at != Instant::FOREVER)
    }

    /// Feeds the state into `hasher`, with instants relative to `now` (law C10).
    pub fn fingerprint<H: Hasher>(&self, now: Instant, hasher: &mut H) {
        (self.me, &self.log, self.high_watermark).hash(hasher);
        (&self.view, self.out.len()).hash(hasher);
        match &self.role {
            Role::Waiting => 0u8.hash(hasher),
            Role::Following(following) => following.fingerprint(now, hasher),
            Role::Leading(leading) => leading.fingerprint(now, hasher),
        }
    }

    fn epoch(&self) -> u64 {
        self.view.as_ref().map_or(0, |view| view.leader_epoch)
    }

    fn broker_epoch(&self) -> u64 {
        self.view.as_ref().map_or(0, |view| view.broker_epoch)
    }

    fn end(&self) -> u64 {
        self.log.last().index
    }

    fn ticket(&mut self) -> Ticket {
        self.asked = self.asked.saturating_add(1);
        Ticket {
            incarnation: self.incarnation,
            number: self.asked,
        }
    }

    fn say(&mut self, event: ReplicaEvent) {
        self.out.push_back(ReplicaOutput::Event(event));
    }

    /// More is committed than was known.
    fn commit(&mut self, high_watermark: u64) {
        if high_watermark > self.high_watermark {
            self.high_watermark = high_watermark;
            self.say(ReplicaEvent::HighWatermark(high_watermark));
        }
    }

    /// Cuts off what comes after a record of the own log.
    fn cut(&mut self, at: Position) {
        if at.index < self.end() {
            self.log.truncate(at.index);
            self.high_watermark = self.high_watermark.min(at.index);
            self.say(ReplicaEvent::Truncated(self.log.last()));
        }
    }

    fn keeps(&self, rule: Rule) -> bool {
        self.rules.keeps(rule)
    }

    fn look_at_the_clock(&mut self, now: Instant) -> Instant {
        self.clock = self.clock.max(now);
        self.clock
    }

    /// Does what is due.
    fn act(&mut self, now: Instant) {
        match self.role {
            Role::Waiting => {}
            Role::Following(_) => self.ask(now),
            Role::Leading(_) => self.serve(now),
        }
    }
}
