//! A broker: registered, heard of, let go; and what the metadata log says to it.

use super::config::{BrokerBoot, BrokerConfig, ConfigError};
use super::image::{Image, MAX_OFFSET};
use super::record::{PartitionId, Record};
use super::refuse::{Refusal, Refusals};
use super::rules::{Faithful, Rule, Rules};
use super::view::View;
use super::words::{Answer, Fault, Request};
use crate::{Instant, NodeId, Ticket};
use alloc::collections::VecDeque;
use core::hash::{Hash, Hasher};

/// How many records beyond what is committed a broker keeps at most.
pub const MAX_AHEAD: usize = 4_096;

/// What a broker asks of its host, and what it says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum BrokerOutput {
    /// Ask the active controller, and give the answer under this ticket. Where none is known or reached, nothing need be
    /// said: it asks again.
    Ask(Ticket, Request),
    /// The partition is kept here, and this is how it is now: for its [`Replica`](super::Replica), which begins with it.
    Assign(PartitionId, View),
    /// The partition is deleted, or was: its replica goes, with what it has.
    Remove(PartitionId),
    /// News.
    Event(BrokerEvent),
}

/// News of a broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BrokerEvent {
    /// It is registered by this broker epoch, and fenced.
    Registered(u64),
    /// It may lead.
    Unfenced,
    /// It may not: the controller did not hear of it for too long, or it asked for it.
    Fenced,
    /// Nothing rests on it any more: stop the replicas, write what they have to the disk, and then keep this broker epoch as
    /// the proof of it.
    Stopped(u64),
    /// Another life of the same broker is registered: this one acts no more.
    Replaced,
}

/// What a broker is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum State {
    /// It is not known to be registered.
    Registering,
    /// It is, by this broker epoch.
    Registered { epoch: u64, fenced: bool },
    /// It stopped, or was replaced.
    Over,
}

/// One life of a broker.
#[derive(Clone, Debug)]
pub struct Broker<R: Rules = Faithful> {
    config: BrokerConfig,
    rules: R,
    boot: BrokerBoot,
    /// The latest `now` that was seen (C2).
    clock: Instant,
    state: State,
    /// Whether its own registration is applied: before, what the log says of it is of a former life.
    known: bool,
    /// Whether the host is ready to serve.
    ready: bool,
    /// Whether it is about to go.
    leaving: bool,
    image: Image,
    /// The first offset that is not applied.
    next: u64,
    /// The first offset that is not known to be committed.
    high_watermark: u64,
    /// What the log has beyond.
    ahead: VecDeque<(u64, Record)>,
    /// Of the last question; and since when it waits for the answer.
    asked: u64,
    waits: Option<Instant>,
    /// When to ask next, unless it waits.
    ask_at: Instant,
    out: VecDeque<BrokerOutput>,
    refusals: Refusals,
}

impl Broker {
    /// A broker that keeps every rule, before the first record of the log.
    ///
    /// # Errors
    /// Parameters that are refused, with the remedy.
    pub fn new(config: BrokerConfig, boot: BrokerBoot, now: Instant) -> Result<Self, ConfigError> {
        Self::with_rules(config, boot, now, Faithful)
    }
}

impl<R: Rules> Broker<R> {
    /// A broker that keeps these rules.
    ///
    /// # Errors
    /// Parameters that are refused, with the remedy.
    pub fn with_rules(
        config: BrokerConfig,
        boot: BrokerBoot,
        now: Instant,
        rules: R,
    ) -> Result<Self, ConfigError> {
        config.check()?;
        let mut broker = Self {
            config,
            rules,
            boot,
            clock: now,
            state: State::Registering,
            known: false,
            ready: false,
            leaving: false,
            image: Image::new(),
            next: 0,
            high_watermark: 0,
            ahead: VecDeque::new(),
            asked: 0,
            waits: None,
            ask_at: now,
            out: VecDeque::new(),
            refusals: Refusals::default(),
        };
        broker.act(now);
        Ok(broker)
    }

    /// Who it is.
    #[must_use]
    pub const fn id(&self) -> NodeId {
        self.boot.broker
    }

    /// Its broker epoch, once it knows of it: by the controller's answer, or by the log.
    #[must_use]
    pub fn epoch(&self) -> Option<u64> {
        match self.state {
            State::Registered { epoch, .. } => Some(epoch),
            _ => {
                let own = self.image.broker(self.boot.broker);
                own.filter(|_| self.known).map(|own| own.epoch)
            }
        }
    }

    /// Whether it may not lead, as it heard last. What it leads goes to others all the same: by the log alone.
    #[must_use]
    pub const fn is_fenced(&self) -> bool {
        !matches!(self.state, State::Registered { fenced: false, .. })
    }

    /// What the log says, as far as it is applied.
    #[must_use]
    pub const fn image(&self) -> &Image {
        &self.image
    }

    /// All before this offset is applied.
    #[must_use]
    pub const fn next(&self) -> u64 {
        self.next
    }

    /// What was refused.
    #[must_use]
    pub const fn refusals(&self) -> &Refusals {
        &self.refusals
    }

    /// The host is ready to serve: logs are read, and what the former life left is in order. Until then it stays fenced.
    pub fn ready(&mut self, now: Instant) {
        let now = self.look_at_the_clock(now);
        self.ready = true;
        self.hurry(now);
        self.act(now);
    }

    /// It is to go: what it leads goes to others first.
    pub fn shut_down(&mut self, now: Instant) {
        let now = self.look_at_the_clock(now);
        self.leaving = true;
        self.hurry(now);
        self.act(now);
    }

    /// What the metadata log has at `offset`, committed or not. Told in order; offsets that hold no record of these are left
    /// out. What it has refused as [too far ahead](Refusal::TooFarAhead) is told again, from there on.
    pub fn metadata(&mut self, now: Instant, offset: u64, record: &Record) {
        let now = self.look_at_the_clock(now);
        let last = self.ahead.back().map(|(last, _)| *last);
        if offset < self.next || last.is_some_and(|last| offset <= last) || offset >= MAX_OFFSET {
            self.refusals.add(Refusal::ImpossibleRecord);
        } else if self.ahead.len() == MAX_AHEAD {
            self.refusals.add(Refusal::TooFarAhead);
        } else {
            self.ahead.push_back((offset, record.clone()));
            self.apply();
        }
        self.act(now);
    }

    /// Everything before `offset` is committed, and was told.
    pub fn high_watermark(&mut self, now: Instant, offset: u64) {
        let now = self.look_at_the_clock(now);
        if offset > MAX_OFFSET {
            self.refusals.add(Refusal::Exhausted);
        } else {
            self.high_watermark = self.high_watermark.max(offset);
            self.apply();
        }
        self.act(now);
    }

    /// The log from `offset` on is not as it was told: it was never committed.
    pub fn truncated(&mut self, now: Instant, offset: u64) {
        let now = self.look_at_the_clock(now);
        self.ahead.retain(|(at, _)| *at < offset);
        if !self.rules.keeps(Rule::AppliesCommitted) {
            self.next = self.next.min(offset.max(self.high_watermark));
        }
        self.act(now);
    }

    /// The controller answered.
    pub fn answer(&mut self, now: Instant, ticket: Ticket, answer: Answer) {
        let now = self.look_at_the_clock(now);
        let asked = Ticket {
            incarnation: self.boot.incarnation,
            number: self.asked,
        };
        if ticket != asked || self.waits.take().is_none() {
            self.refusals.add(Refusal::UnknownTicket);
        } else {
            self.answered(now, answer);
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
    pub fn poll(&mut self) -> Option<BrokerOutput> {
        self.out.pop_front()
    }

    /// When to call [`timeout`](Self::timeout) at the latest.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let waits = self.waits.map(|since| since + self.config.patience);
        let due = waits.unwrap_or(self.ask_at);
        Some(due).filter(|at| self.state != State::Over && *at != Instant::FOREVER)
    }

    /// Feeds the state into `hasher`, with instants relative to `now` (law C10).
    pub fn fingerprint<H: Hasher>(&self, now: Instant, hasher: &mut H) {
        (
            self.boot.broker,
            self.state,
            self.known,
            self.ready,
            self.leaving,
        )
            .hash(hasher);
        (&self.image, self.next, self.high_watermark, &self.ahead).hash(hasher);
        let waits = self.waits.map(|since| now.since(since));
        (waits, self.ask_at.ahead_of(now), self.out.len()).hash(hasher);
    }

    fn answered(&mut self, now: Instant, answer: Answer) {
        self.ask_at = now + self.config.retry;
        match (self.state, answer) {
            (State::Registering, Answer::Registered { epoch }) => {
                self.state = State::Registered {
                    epoch,
                    fenced: true,
                };
                self.say(BrokerEvent::Registered(epoch));
                self.ask_at = now;
            }
            (State::Registered { epoch, .. }, Answer::Heartbeat { may_stop: true, .. })
                if self.leaving =>
            {
                self.state = State::Over;
                self.say(BrokerEvent::Stopped(epoch));
            }
            (State::Registered { epoch, fenced }, Answer::Heartbeat { fenced: is, .. }) => {
                self.state = State::Registered { epoch, fenced: is };
                if fenced != is {
                    self.say(if is {
                        BrokerEvent::Fenced
                    } else {
                        BrokerEvent::Unfenced
                    });
                }
                // It is about to be unfenced, or let go: not at leisure.
                let hurries = self.leaving || (is && self.ready);
                if !hurries {
                    self.ask_at = now + self.config.heartbeat;
                }
            }
            (State::Registered { .. }, Answer::Fault(Fault::StaleBrokerEpoch)) => {
                self.state = State::Over;
                self.say(BrokerEvent::Replaced);
            }
            (_, Answer::Fault(_)) => {}
            _ => self.refusals.add(Refusal::WrongAnswer),
        }
    }

    fn say(&mut self, event: BrokerEvent) {
        self.out.push_back(BrokerOutput::Event(event));
    }

    fn hurry(&mut self, now: Instant) {
        if self.state != State::Over {
            self.ask_at = now;
        }
    }

    fn look_at_the_clock(&mut self, now: Instant) -> Instant {
        self.clock = self.clock.max(now);
        self.clock
    }

    /// Asks what is due.
    fn act(&mut self, now: Instant) {
        if self
            .waits
            .is_some_and(|since| since + self.config.patience <= now)
        {
            self.waits = None;
            self.ask_at = now;
        }
        if self.waits.is_some() || self.ask_at > now {
            return;
        }
        let BrokerBoot {
            broker,
            incarnation,
            clean,
        } = self.boot;
        let request = match self.state {
            State::Registering => Request::Register {
                broker,
                incarnation,
                clean,
            },
            State::Registered { epoch, .. } => Request::Heartbeat {
                broker,
                epoch,
                offset: self.next,
                want_fence: !self.ready,
                want_shutdown: self.leaving,
            },
            State::Over => return,
        };
        self.asked = self.asked.saturating_add(1);
        self.waits = Some(now);
        let ticket = Ticket {
            incarnation,
            number: self.asked,
        };
        self.out.push_back(BrokerOutput::Ask(ticket, request));
    }

    /// Applies what is committed.
    fn apply(&mut self) {
        while let Some((offset, _)) = self.ahead.front() {
            if *offset >= self.high_watermark && self.rules.keeps(Rule::AppliesCommitted) {
                break;
            }
            if let Some((offset, record)) = self.ahead.pop_front() {
                self.next = offset + 1;
                self.take(offset, &record);
            }
        }
        self.next = self.next.max(self.high_watermark);
    }

    fn take(&mut self, offset: u64, record: &Record) {
        if let Record::RemoveTopic { topic } = *record {
            for (at, _, partition) in self.image.partitions() {
                if at.topic == topic && partition.place(self.boot.broker).is_some() {
                    self.out.push_back(BrokerOutput::Remove(at));
                }
            }
        }
        if let Err(refusal) = self.image.apply(offset, record, &self.rules) {
            return self.refusals.add(refusal);
        }
        match *record {
            Record::RegisterBroker {
                broker,
                incarnation,
            } if broker == self.boot.broker => {
                // What was said of a former life is not for this one.
                self.known = incarnation == self.boot.incarnation;
                self.assign(|_| true);
            }
            // A leader is told who may enter its ISR.
            Record::RegisterBroker { broker, .. } | Record::ChangeBroker { broker, .. } => {
                let me = self.boot.broker;
                self.assign(|view| view.leader == Some(me) && view.place(broker).is_some());
            }
            Record::CreatePartition { at, .. } | Record::ChangePartition { at, .. } => {
                if let Some(view) = self.view(at) {
                    self.out.push_back(BrokerOutput::Assign(at, view));
                }
            }
            Record::CreateTopic { .. } | Record::RemoveTopic { .. } => {}
        }
    }

    /// How a partition is, of which it keeps a replica.
    #[must_use]
    pub fn view(&self, at: PartitionId) -> Option<View> {
        let partition = self.image.partition(at).filter(|_| self.known)?;
        partition.place(self.boot.broker)?;
        View::of(&self.image, at, self.boot.broker)
    }

    /// Tells how all partitions are of which it keeps a replica, and which are such.
    fn assign(&mut self, which: impl Fn(&View) -> bool) {
        let me = self.boot.broker;
        for (at, _, partition) in self.image.partitions() {
            let kept = self.known && partition.place(me).is_some();
            let view = View::of(&self.image, at, me).filter(|view| kept && which(view));
            self.out
                .extend(view.map(|view| BrokerOutput::Assign(at, view)));
        }
    }
}
