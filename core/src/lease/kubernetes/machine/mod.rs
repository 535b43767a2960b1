//! The machine: what the node is about, and what it asks for that.

mod answers;

use super::api::{Record, Reply, Request, Uid};
use super::config::{Config, jitter};
use crate::lease::office::Office;
use crate::lease::refuse::{Counter, Refusal, Refusals};
use crate::lease::requests::Requests;
use crate::lease::{Boot, BudgetError, Claimant, Faithful, Nonce, Rule, Rules};
use crate::random::Random;
use crate::{Duration, Election, Input, Instant, Leader, Output, Standing, Tenure, Why};
use core::convert::Infallible;
use core::hash::{Hash, Hasher};

/// What `leaseTransitions` holds at most.
pub const MAX_TRANSITIONS: u32 = i32::MAX as u32;

/// What a request was for, and in which of the node's attempts: what was asked in one counts in no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Asked {
    kind: Kind,
    attempt: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Look,
    /// Creates the object, or takes it over.
    Take,
    Renew,
    Release,
}

/// What the node is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Aim {
    /// Does not want it, until then.
    Observe(Instant),
    /// Looks who holds it, and wants it.
    Seek,
    /// Creates it.
    Create,
    /// Takes this version over.
    Take(u64),
    /// Found it to be its own in this version, from a write whose result it never learned (LS-R4).
    Confirm(u64),
    /// Holds it since the one version, and has written the other last.
    Hold { since: u64, version: u64 },
    /// Gives it up.
    Release {
        version: u64,
        /// Nobody else has to wait for it any more then.
        over: Instant,
        /// How long it does not want it afterwards.
        rest: Duration,
    },
}

/// A record of somebody else, and how long it stands on the own clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Seen {
    version: u64,
    stands: Instant,
}

/// One node's election by a `Lease` object.
#[derive(Clone, Debug)]
pub struct Kubernetes<R: Rules = Faithful> {
    config: Config,
    rules: R,
    office: Office<Request>,
    requests: Requests<Asked>,
    refusals: Counter,
    random: Random,
    aim: Aim,
    /// When to ask for what the aim needs; [`Instant::FOREVER`] while an answer is waited for.
    next: Instant,
    /// Of the present attempt.
    nonce: Nonce,
    attempt: u16,
    /// Whether a write with this nonce may yet be carried out.
    doubtful: bool,
    /// The version written last is not known to be the newest: look before the next write.
    stale: bool,
    seen: Option<Seen>,
    holder: Option<Claimant>,
    // Of the object as it was seen or written last.
    uid: Uid,
    transitions: u32,
    acquired: Option<i64>,
}

impl Kubernetes {
    /// A machine that keeps every rule.
    ///
    /// # Errors
    /// Parameters that leave no slack, with the remedy.
    pub fn new(config: Config, boot: Boot, now: Instant) -> Result<Self, BudgetError> {
        Self::with_rules(config, boot, now, Faithful)
    }
}

impl<R: Rules> Kubernetes<R> {
    /// A machine that keeps these rules.
    ///
    /// # Errors
    /// Parameters that leave no slack, with the remedy.
    pub fn with_rules(
        config: Config,
        boot: Boot,
        now: Instant,
        rules: R,
    ) -> Result<Self, BudgetError> {
        config.budget()?;
        let node = config.common.claimant.identity.node();
        let mut random = Random::new(boot.seed, node, boot.incarnation);
        let mut machine = Self {
            office: Office::new(now, rules.keeps(Rule::DemoteByTimer)),
            requests: Requests::new(boot.incarnation),
            refusals: Counter::NEVER,
            nonce: Nonce::draw(&mut random),
            random,
            aim: if config.common.candidate {
                Aim::Seek
            } else {
                Aim::Observe(Instant::FOREVER)
            },
            next: now,
            attempt: 0,
            doubtful: false,
            stale: false,
            seen: None,
            holder: None,
            uid: Uid(0),
            transitions: 0,
            acquired: None,
            config,
            rules,
        };
        machine.act(now);
        Ok(machine)
    }

    /// How it takes part.
    #[must_use]
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// The tenure as of the last input. To act on it, ask [`standing`](Election::standing), which knows the time.
    #[must_use]
    pub const fn tenure(&self) -> Option<Tenure> {
        self.office.held()
    }

    /// Whom it followed as of the last input.
    #[must_use]
    pub fn leader(&self) -> Option<Leader> {
        self.office.leader()
    }

    /// Who held it when it was last seen by a node that does not, with what it wants others to know.
    #[must_use]
    pub fn holder(&self) -> Option<Claimant> {
        self.holder.clone()
    }

    /// Whether it was given up and the API server has not said so yet. Wait for the end of this, at most a lease, before the
    /// process ends, and the successor need not wait for the lease.
    #[must_use]
    pub const fn releasing(&self) -> bool {
        matches!(self.aim, Aim::Release { .. })
    }

    /// The answers that were refused.
    #[must_use]
    pub fn refusals(&self) -> &Refusals {
        self.refusals.counts()
    }

    fn campaign(&mut self, now: Instant) {
        match self.aim {
            Aim::Observe(until) if until != Instant::FOREVER => {
                self.want_anew();
                self.next = now;
            }
            // What waits for an answer is asked already.
            Aim::Seek if self.next != Instant::FOREVER => self.next = now,
            _ => {}
        }
    }

    /// Gives it up, and then does not want it for a while.
    fn release(&mut self, now: Instant, version: u64, rest: Duration) {
        let timing = &self.config.common.timing;
        let over = now + timing.surely_over(timing.ttl);
        self.aim = Aim::Release {
            version,
            over,
            rest,
        };
        self.next = now;
    }

    /// It was given up.
    fn stand_back(&mut self, now: Instant, rest: Duration) {
        self.want_anew();
        if !self.config.common.candidate {
            self.aim = Aim::Observe(Instant::FOREVER);
        } else if rest > Duration::ZERO {
            self.aim = Aim::Observe(now + rest);
        }
        self.next = now;
    }

    /// In an attempt whose nonce no record can have yet.
    fn want_anew(&mut self) {
        self.aim = Aim::Seek;
        self.nonce = Nonce::draw(&mut self.random);
        self.attempt = self.attempt.wrapping_add(1);
        self.doubtful = false;
        self.stale = false;
        self.acquired = None;
    }

    fn renew_later(&mut self, sent: Instant) {
        self.next = sent + self.config.common.timing.renew_pause(&mut self.random);
    }

    /// Until a waiter looks again: a period, and up to 1.2 of it more.
    fn look_pause(&mut self) -> Duration {
        let period = self.config.common.timing.retry;
        self.random.duration(period, period + jitter(period))
    }

    /// What the aim needs.
    const fn needs(&self) -> Kind {
        match self.aim {
            Aim::Observe(_) | Aim::Seek => Kind::Look,
            Aim::Hold { .. } | Aim::Release { .. } if self.stale => Kind::Look,
            Aim::Create | Aim::Take(_) | Aim::Confirm(_) => Kind::Take,
            Aim::Hold { .. } => Kind::Renew,
            Aim::Release { .. } => Kind::Release,
        }
    }

    /// The call that serves the aim.
    fn call(&self) -> Request {
        let (version, record) = match self.aim {
            Aim::Create => {
                let transitions = 0;
                let record = self.record(true, None);
                return Request::Create(Record {
                    transitions,
                    acquired: None,
                    ..record
                });
            }
            Aim::Take(version) => {
                let transitions = (self.transitions + 1).min(MAX_TRANSITIONS);
                let record = self.record(true, None);
                let taken = Record {
                    transitions,
                    acquired: None,
                    ..record
                };
                (version, taken)
            }
            Aim::Confirm(version) => (version, self.record(true, None)),
            Aim::Hold { since, version } if !self.stale => {
                (version, self.record(true, Some(since)))
            }
            Aim::Release { version, .. } if !self.stale => (version, self.record(false, None)),
            _ => return Request::Get,
        };
        Request::Update {
            uid: self.uid,
            version,
            record,
        }
    }

    fn record(&self, held: bool, since: Option<u64>) -> Record {
        let seconds = self.config.common.timing.ttl.as_micros() / 1_000_000;
        Record {
            holder: held.then(|| self.config.common.claimant.clone()),
            nonce: self.nonce,
            // An object with less than a second is refused (LS-6).
            seconds: if held { seconds as u32 } else { 1 },
            transitions: self.transitions,
            acquired: self.acquired,
            since,
        }
    }

    /// Does what is due.
    fn act(&mut self, now: Instant) {
        while let Some(open) = self
            .requests
            .overdue(now, self.config.common.timing.patience)
        {
            if self.is_present(open.what) {
                self.doubt(open.what.kind);
                if matches!(self.aim, Aim::Hold { .. }) {
                    // It waited long enough.
                    self.next = now;
                }
            }
        }
        match self.aim {
            Aim::Release { over, rest, .. } if over <= now => self.stand_back(now, rest),
            Aim::Observe(until) if until <= now => self.want_anew(),
            _ => {}
        }
        if self.next == Instant::FOREVER && !self.requests.waits() {
            let waits = matches!(self.aim, Aim::Observe(_) | Aim::Seek);
            self.next = now
                + if waits && !self.doubtful {
                    self.look_pause()
                } else {
                    self.config.common.timing.retry_pause(&mut self.random)
                };
        }
        if self.next > now {
            return;
        }
        self.next = Instant::FOREVER;
        let asked = Asked {
            kind: self.needs(),
            attempt: self.attempt,
        };
        self.requests.make(now, asked);
    }

    /// Whether something was asked for in the present attempt, or to look.
    fn is_present(&self, asked: Asked) -> bool {
        asked.attempt == self.attempt || asked.kind == Kind::Look
    }
}

impl<R: Rules> Election for Kubernetes<R> {
    type Peer = Infallible;
    type Request = Request;
    type Reply = Reply;

    fn handle(&mut self, now: Instant, input: Input<Infallible, Reply>) {
        let (now, lapsed) = self.office.look_at_the_clock(now);
        if lapsed && let Aim::Hold { version, .. } = self.aim {
            // It leads no more; only then is the release tried (LS-3).
            self.release(now, version, Duration::ZERO);
        }
        match input {
            Input::Campaign => self.campaign(now),
            Input::Peer(_, never) => match never {},
            Input::Reply(ticket, result) => match self.requests.answered(ticket) {
                Some(open) => self.answered(now, open, result),
                None => self.refusals.add(Refusal::UnknownTicket),
            },
            Input::Resign { .. } => {
                if let Aim::Hold { version, .. } = self.aim {
                    self.office.depose(Why::Resigned);
                    // Somebody else comes first, for as long as a lease.
                    self.release(now, version, self.config.common.timing.ttl);
                }
            }
            Input::Timeout => {}
        }
        self.act(now);
    }

    fn poll(&mut self) -> Option<Output<Infallible, Request>> {
        if let Some(output) = self.office.poll() {
            return Some(output);
        }
        while let Some((ticket, asked)) = self.requests.untold() {
            // A host that does not drain has missed what was to be asked for before.
            if self.is_present(asked) && asked.kind == self.needs() {
                return Some(Output::Request(ticket, self.call()));
            }
        }
        self.office.rest();
        None
    }

    fn deadline(&self) -> Option<Instant> {
        let until = match self.aim {
            Aim::Release { over, .. } => over,
            Aim::Observe(until) => until,
            _ => Instant::FOREVER,
        };
        let overdue = self
            .requests
            .next_overdue(self.config.common.timing.patience);
        let others = [self.next, until];
        self.office.deadline(overdue.into_iter().chain(others))
    }

    fn grain(&self) -> Duration {
        self.config.common.timing.grain
    }

    fn standing(&self, now: Instant) -> Standing {
        self.office.standing(now)
    }

    fn fingerprint<H: Hasher>(&self, now: Instant, hasher: &mut H) {
        self.office.fingerprint(now, hasher);
        self.requests.fingerprint(now, hasher);
        self.next.ahead_of(now).hash(hasher);
        let seen = self
            .seen
            .map(|seen| (seen.version, seen.stands.ahead_of(now)));
        (self.doubtful, self.stale, self.transitions, seen).hash(hasher);
        match self.aim {
            Aim::Observe(until) => (0u8, until.ahead_of(now)).hash(hasher),
            Aim::Release {
                version,
                over,
                rest,
            } => (1u8, version, over.ahead_of(now), rest).hash(hasher),
            aim => (2u8, aim).hash(hasher),
        }
    }
}
