//! The controller: what is decided of brokers and partitions, while its node leads the metadata log.

mod alter;
mod brokers;
mod choose;
mod topics;

use super::config::{ConfigError, ControllerConfig};
use super::image::{Image, MAX_OFFSET};
use super::record::Record;
use super::refuse::{Refusal, Refusals};
use super::rules::{Faithful, Rules};
use super::words::{Answer, Fault, Request};
use crate::{Instant, NodeId};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

/// How many answers wait to be committed at most; who asks more is told to come later.
pub const MAX_WAITING: usize = 4_096;

/// What a controller asks of its host, and what it says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ControllerOutput {
    /// Append these to the metadata log at exactly this offset, all or none, if `epoch` still leads it. When that is not so,
    /// call [`renounce`](Controller::renounce).
    Append {
        /// The epoch that was claimed.
        epoch: u64,
        /// Where the first of them goes.
        offset: u64,
        /// What is decided at once.
        records: Vec<Record>,
    },
    /// The answer to the request of this number.
    Answer(u64, Answer),
}

/// Why a claim is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClaimError {
    /// Not everything up to where the epoch begins has been applied (KC-1, KAFKA-15345): apply it first. So far it is up to
    /// this offset.
    NotCaughtUp(u64),
    /// It leads, in this epoch or a later one.
    NotLater(u64),
}

/// Decides for brokers and partitions, in one epoch after another, over any ordered log.
///
/// The log is the host's. What it commits is told in order by [`committed`](Self::committed), at every node; where the node
/// leads the log, and everything before its epoch is applied, the host [claims](Self::claim). Whatever is decided is appended
/// at the offset that the machine expects, which is how it knows the broker epochs it gives; it goes on from there before it is
/// committed, and answers nobody until it is. When the log's epoch has moved, [`renounce`](Self::renounce) takes it all back.
#[derive(Clone, Debug)]
pub struct Controller<R: Rules = Faithful> {
    config: ControllerConfig,
    rules: R,
    /// The latest `now` that was seen (C2).
    clock: Instant,
    /// What is committed.
    image: Image,
    /// The first offset that is not known to be.
    next: u64,
    active: Option<Active>,
    out: VecDeque<ControllerOutput>,
    refusals: Refusals,
}

/// What a controller knows while it leads.
#[derive(Clone, Debug)]
struct Active {
    epoch: u64,
    /// What will be, when all that was decided is committed.
    image: Image,
    /// Where the next record goes.
    next: u64,
    /// By rising id, one for each broker that is registered.
    sessions: Vec<Session>,
    /// Answers, and up to where the log must be committed before they are given.
    waiting: VecDeque<(u64, u64, Answer)>,
    since: Instant,
    balance_at: Instant,
    unclean_at: Instant,
}

/// What is known of a broker that no record tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Session {
    broker: NodeId,
    /// When it was heard of last.
    heard: Instant,
    /// All before this offset it has applied.
    offset: u64,
    /// Up to where everybody else must be before it may go.
    goes_at: Option<u64>,
}

impl Controller {
    /// A controller that keeps every rule, before the first record of the log.
    ///
    /// # Errors
    /// Parameters that are refused, with the remedy.
    pub fn new(config: ControllerConfig) -> Result<Self, ConfigError> {
        Self::with_rules(config, Faithful)
    }
}

impl<R: Rules> Controller<R> {
    /// A controller that keeps these rules.
    ///
    /// # Errors
    /// Parameters that are refused, with the remedy.
    pub fn with_rules(config: ControllerConfig, rules: R) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self {
            config,
            rules,
            clock: Instant::ZERO,
            image: Image::new(),
            next: 0,
            active: None,
            out: VecDeque::new(),
            refusals: Refusals::default(),
        })
    }

    /// What is committed, as far as it was told.
    #[must_use]
    pub const fn image(&self) -> &Image {
        &self.image
    }

    /// What will be, when all is committed that it decided; nothing where it does not lead.
    #[must_use]
    pub fn expected(&self) -> Option<&Image> {
        self.active.as_ref().map(|active| &active.image)
    }

    /// The epoch it claimed, while it leads.
    #[must_use]
    pub fn epoch(&self) -> Option<u64> {
        self.active.as_ref().map(|active| active.epoch)
    }

    /// The first offset that is not known to be committed.
    #[must_use]
    pub const fn next(&self) -> u64 {
        self.next
    }

    /// What was refused.
    #[must_use]
    pub const fn refusals(&self) -> &Refusals {
        &self.refusals
    }

    /// The log has committed what leader epoch `epoch` wrote at `offset`. Told in order at every node; offsets that hold no
    /// record of these, such as the log's own, are left out, and passed by [`committed_to`](Self::committed_to).
    pub fn committed(&mut self, now: Instant, epoch: u64, offset: u64, record: &Record) {
        let now = self.look_at_the_clock(now);
        self.not_of_another(epoch);
        let applied = if offset < self.next || offset >= MAX_OFFSET {
            Err(Refusal::ImpossibleRecord)
        } else {
            self.image.apply(offset, record, &self.rules)
        };
        match applied {
            Ok(()) => self.pass(offset + 1),
            Err(refusal) => self.refusals.add(refusal),
        }
        self.act(now);
    }

    /// The log has committed all before `offset`, of which every record was told; the last of it was written in `epoch`.
    pub fn committed_to(&mut self, now: Instant, epoch: u64, offset: u64) {
        let now = self.look_at_the_clock(now);
        self.not_of_another(epoch);
        if offset > MAX_OFFSET {
            self.refusals.add(Refusal::Exhausted);
        } else {
            self.pass(offset.max(self.next));
        }
        self.act(now);
    }

    /// Its node leads the log from now on, in this epoch, whose records begin at `offset`; everything before is committed and
    /// was told (KC-1). Every broker has a fresh session.
    ///
    /// # Errors
    /// When it is not so, and nothing is changed.
    pub fn claim(&mut self, now: Instant, epoch: u64, offset: u64) -> Result<(), ClaimError> {
        let now = self.look_at_the_clock(now);
        if let Some(active) = self.active.as_ref().filter(|active| active.epoch >= epoch) {
            return Err(ClaimError::NotLater(active.epoch));
        }
        if self.next != offset {
            return Err(ClaimError::NotCaughtUp(self.next));
        }
        self.renounce();
        let fresh = |registration: &super::image::Registration| Session {
            broker: registration.broker,
            heard: now,
            offset: 0,
            goes_at: registration.shutting_down.then_some(offset),
        };
        self.active = Some(Active {
            epoch,
            image: self.image.clone(),
            next: offset,
            sessions: self.image.brokers().iter().map(fresh).collect(),
            waiting: VecDeque::new(),
            since: now,
            balance_at: self
                .config
                .balance
                .map_or(Instant::FOREVER, |every| now + every),
            unclean_at: now + self.config.unclean,
        });
        // Of what the last one decided at once, the log may have kept the beginning: that a broker may lead again, and not what
        // it leads.
        self.lead_again();
        self.act(now);
        Ok(())
    }

    /// Its node does not lead the log any more, or what it appended was not taken: all that is not committed is taken back
    /// (KC-3). A host that renounces for a reason of its own has the log's leader resign, too (KAFKA-13104). No effect where
    /// it does not lead.
    pub fn renounce(&mut self) {
        let Some(active) = self.active.take() else {
            return;
        };
        self.out
            .retain(|output| matches!(output, ControllerOutput::Answer(..)));
        for (_, call, _) in active.waiting {
            let unknown = Answer::Fault(Fault::Unknown);
            self.out.push_back(ControllerOutput::Answer(call, unknown));
        }
    }

    /// Somebody asks something. The answer has the same number.
    pub fn request(&mut self, now: Instant, call: u64, request: &Request) {
        let now = self.look_at_the_clock(now);
        self.act(now);
        let answer = match self.active.as_ref().map(|active| active.waiting.len()) {
            None => Err(Fault::NotController),
            Some(MAX_WAITING..) => Err(Fault::Busy),
            // There is no room for what may follow.
            _ if self.expected_end() >= MAX_OFFSET => Err(Fault::Busy),
            Some(_) => self.answer(now, request),
        };
        let busy = answer == Err(Fault::Busy);
        let answer = answer.unwrap_or_else(Answer::Fault);
        match &mut self.active {
            // Also what was only read may rest on what is not committed (KC-2).
            Some(active) if active.next > self.next && !busy => {
                active.waiting.push_back((active.next, call, answer));
            }
            _ => self.out.push_back(ControllerOutput::Answer(call, answer)),
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
    pub fn poll(&mut self) -> Option<ControllerOutput> {
        self.out.pop_front()
    }

    /// When to call [`timeout`](Self::timeout) at the latest.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let active = self.active.as_ref()?;
        let silent = self.next_silence(active);
        let all = [silent, active.balance_at, active.unclean_at];
        all.into_iter().min().filter(|at| *at != Instant::FOREVER)
    }

    /// Feeds the state into `hasher`, with instants relative to `now` (law C10).
    pub fn fingerprint<H: Hasher>(&self, now: Instant, hasher: &mut H) {
        (&self.image, self.next, self.out.len()).hash(hasher);
        let Some(active) = &self.active else {
            return;
        };
        (active.epoch, &active.image, active.next).hash(hasher);
        for session in &active.sessions {
            let heard = now.since(session.heard);
            (session.broker, heard, session.offset, session.goes_at).hash(hasher);
        }
        let ahead = [active.balance_at, active.unclean_at].map(|at| at.ahead_of(now));
        // Checks are so far apart, counted from the claim.
        let check = self.config.check.as_micros().max(1);
        let into = now.since(active.since).as_micros() % check;
        (&active.waiting, ahead, into).hash(hasher);
    }

    fn answer(&mut self, now: Instant, request: &Request) -> Result<Answer, Fault> {
        match *request {
            Request::Register {
                broker,
                incarnation,
                clean,
            } => self.register(now, broker, incarnation, clean),
            Request::Heartbeat {
                broker,
                epoch,
                offset,
                want_fence,
                want_shutdown,
            } => self.heartbeat(now, (broker, epoch), offset, want_fence, want_shutdown),
            Request::AlterPartition(ref asked) => self.alter(asked),
            Request::CreateTopic {
                topic,
                partitions,
                replication,
                min_isr,
                unclean,
            } => self.create_topic(topic, (partitions, replication), (min_isr, unclean)),
            Request::DeleteTopic { topic } => self.delete_topic(topic),
            Request::ElectLeader { at, election } => self.elect_leader(at, election),
        }
    }

    /// Where the log ends when all is appended that was decided.
    fn expected_end(&self) -> u64 {
        self.active.as_ref().map_or(self.next, |active| active.next)
    }

    /// What is committed after it claimed is its own; or another leads.
    fn not_of_another(&mut self, epoch: u64) {
        if self
            .active
            .as_ref()
            .is_some_and(|active| active.epoch < epoch)
        {
            self.renounce();
        }
    }

    /// Everything before `offset` is committed: who waited for that is answered.
    fn pass(&mut self, offset: u64) {
        self.next = offset;
        let Some(active) = &mut self.active else {
            return;
        };
        if offset > active.next {
            // Another wrote what it would have: it does not lead.
            return self.renounce();
        }
        while let Some((at, call, answer)) = active.waiting.front().copied() {
            if at > offset {
                break;
            }
            active.waiting.pop_front();
            self.out.push_back(ControllerOutput::Answer(call, answer));
        }
    }

    fn look_at_the_clock(&mut self, now: Instant) -> Instant {
        self.clock = self.clock.max(now);
        self.clock
    }

    /// Does what is due.
    fn act(&mut self, now: Instant) {
        while let Some(silent) = self.silent(now) {
            self.fence(silent);
        }
        if self
            .active
            .as_ref()
            .is_some_and(|active| active.balance_at <= now)
        {
            self.balance(now);
        }
        if self
            .active
            .as_ref()
            .is_some_and(|active| active.unclean_at <= now)
        {
            self.recover(now);
        }
    }

    /// Decides something: what follows from now on takes it for done. Nothing when there is nothing.
    fn decide(&mut self, records: Vec<Record>) {
        let Some(active) = self.active.as_mut().filter(|_| !records.is_empty()) else {
            return;
        };
        let offset = active.next;
        for record in &records {
            if let Err(refusal) = active.image.apply(active.next, record, &self.rules) {
                self.refusals.add(refusal);
            }
            active.next += 1;
        }
        self.out.push_back(ControllerOutput::Append {
            epoch: active.epoch,
            offset,
            records,
        });
    }
}
