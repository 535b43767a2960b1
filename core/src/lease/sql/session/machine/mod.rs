//! The machine: what the node is about, in which session, and what it asks there for that.

mod answers;

use super::api::{Call, Reply, Request};
use super::config::Config;
use crate::lease::office::Office;
use crate::lease::refuse::{Counter, Refusal, Refusals};
use crate::lease::requests::Requests;
use crate::lease::{Boot, BudgetError, Claimant, Faithful, Nonce, Rule, Rules};
use crate::random::Random;
use crate::{Duration, Election, Input, Instant, Leader, Output, Standing, Tenure, Unknown, Why};
use core::convert::Infallible;
use core::hash::{Hash, Hasher};

/// What a request was for, and in which session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Asked {
    kind: Kind,
    session: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Take,
    Probe,
    Release,
    Look,
}

/// What the node is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Aim {
    /// Looks who holds it, and does not want it: until then, or for good.
    Observe(Instant),
    /// Wants the lock.
    Take,
    /// Has lock and epoch, and does not lead yet: who held it before may believe to.
    Wait {
        epoch: u64,
        /// Until when the server is known to have the session.
        alive: Instant,
    },
    /// Leads.
    Hold { epoch: u64 },
    /// Gives it up.
    Release {
        epoch: u64,
        /// How long it does not want it afterwards.
        rest: Duration,
    },
}

/// One node's election by a session of a database.
#[derive(Clone, Debug)]
pub struct Session<R: Rules = Faithful> {
    config: Config,
    rules: R,
    office: Office<Request>,
    requests: Requests<Asked>,
    refusals: Counter,
    random: Random,
    aim: Aim,
    /// When to ask for what the aim needs; [`Instant::FOREVER`] while an answer is waited for.
    next: Instant,
    /// The nonce of session 0. Those of the others count up from it.
    nonce: Nonce,
    /// Which session is the present one.
    session: u32,
    /// The number of the request that opens it; 0 when it is not open.
    open: u64,
    /// Whether the host was told of that.
    told: bool,
    /// The session before it in which the node held the row and did not give it up, as far as it knows. It does not wait for
    /// itself.
    former: Option<u32>,
    /// Until when others who held the row may believe. It stands while the row has not been anybody else's since, and moves
    /// when it has.
    ///
    /// **Invariant:** the node neither leads nor gives up the row before.
    not_before: Instant,
    /// The holder as it was last seen.
    holder: Option<Claimant>,
}

impl Session {
    /// A machine that keeps every rule.
    ///
    /// # Errors
    /// Parameters that leave no slack, with the remedy.
    pub fn new(config: Config, boot: Boot, now: Instant) -> Result<Self, BudgetError> {
        Self::with_rules(config, boot, now, Faithful)
    }
}

impl<R: Rules> Session<R> {
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
                Aim::Take
            } else {
                Aim::Observe(Instant::FOREVER)
            },
            next: now,
            session: 0,
            open: 0,
            told: false,
            former: None,
            not_before: now,
            holder: None,
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

    /// Who held the lock when a node that does not hold it looked last, with what it wants others to know.
    #[must_use]
    pub fn holder(&self) -> Option<Claimant> {
        self.holder.clone()
    }

    /// The session that is in use. The host closes every other, and this one too before the process ends.
    #[must_use]
    pub const fn session(&self) -> u32 {
        self.session
    }

    /// Whether row and lock are being given up. Wait for the end of this, at most the patience, before the process ends, and
    /// the successor need not wait at all.
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
                self.aim = Aim::Take;
                self.next = now;
            }
            // What waits for an answer is asked already.
            Aim::Take if self.next != Instant::FOREVER => self.next = now,
            _ => {}
        }
    }

    /// The session is over, or is closed, and what it held with it.
    fn another_session(&mut self, now: Instant) {
        if matches!(
            self.aim,
            Aim::Wait { .. } | Aim::Hold { .. } | Aim::Release { .. }
        ) {
            self.former = Some(self.session);
        }
        // Four thousand million of them, with a pause after each that did not hold it, are a life.
        self.session = self.session.saturating_add(1);
        (self.open, self.told) = (0, false);
        match self.aim {
            // At once: it is the first to know.
            Aim::Wait { .. } | Aim::Hold { .. } => {
                self.aim = Aim::Take;
                self.next = now;
            }
            Aim::Release { rest, .. } => self.stand_back(now, rest),
            Aim::Take | Aim::Observe(_) => self.next = Instant::FOREVER,
        }
    }

    /// Gives it up, and then does not want it for a while.
    fn release(&mut self, now: Instant, epoch: u64, rest: Duration) {
        self.aim = Aim::Release { epoch, rest };
        self.next = now;
    }

    /// It was given up.
    fn stand_back(&mut self, now: Instant, rest: Duration) {
        self.aim = if !self.config.common.candidate {
            Aim::Observe(Instant::FOREVER)
        } else if rest > Duration::ZERO {
            Aim::Observe(now + rest)
        } else {
            Aim::Take
        };
        self.next = now;
    }

    fn nonce_of(&self, session: u32) -> Nonce {
        Nonce(self.nonce.0.wrapping_add(session.into()))
    }

    /// How something is asked for; `None` when it is not wanted any more.
    fn call(&self, asked: Asked) -> Option<Call> {
        if asked.session != self.session {
            return None;
        }
        let nonce = self.nonce_of(self.session);
        Some(match (asked.kind, self.aim) {
            (Kind::Take, Aim::Take) => Call::Take {
                claimant: self.config.common.claimant.clone(),
                nonce,
                former: self.former.map(|session| self.nonce_of(session)),
                ttl: self.config.common.timing.ttl,
            },
            (Kind::Probe, Aim::Wait { epoch, .. } | Aim::Hold { epoch }) => {
                Call::Probe { nonce, epoch }
            }
            (Kind::Release, Aim::Release { epoch, .. }) => Call::Release { nonce, epoch },
            (Kind::Look, _) => Call::Look,
            _ => return None,
        })
    }

    /// Does what is due.
    fn act(&mut self, now: Instant) {
        while let Some(open) = self
            .requests
            .overdue(now, self.config.common.timing.patience)
        {
            if open.what.session == self.session {
                self.doubt(now, open.what.kind);
            }
        }
        match self.aim {
            Aim::Wait { alive, .. } if alive <= now => self.another_session(now),
            Aim::Observe(until) if until <= now => {
                self.aim = Aim::Take;
                self.next = now;
            }
            _ => {}
        }
        let session = self.session;
        let waits = self.requests.waits_for(|asked| asked.session == session);
        if self.next == Instant::FOREVER && !waits {
            self.next = now + self.config.common.timing.retry_pause(&mut self.random);
        }
        if self.next > now {
            return;
        }
        self.next = Instant::FOREVER;
        let kind = match self.aim {
            Aim::Observe(_) => Kind::Look,
            Aim::Take => Kind::Take,
            Aim::Wait { .. } | Aim::Hold { .. } => Kind::Probe,
            Aim::Release { .. } => Kind::Release,
        };
        if self.open == 0 {
            self.open = self.requests.ticket().number;
        }
        self.requests.make(now, Asked { kind, session });
    }
}

impl<R: Rules> Election for Session<R> {
    type Peer = Infallible;
    type Request = Request;
    type Reply = Reply;

    fn handle(&mut self, now: Instant, input: Input<Infallible, Reply>) {
        let (now, lapsed) = self.office.look_at_the_clock(now);
        if lapsed && let Aim::Hold { epoch } = self.aim {
            // With this epoch it does not lead again (C4).
            self.release(now, epoch, Duration::ZERO);
        }
        match input {
            Input::Campaign => self.campaign(now),
            Input::Peer(_, never) => match never {},
            Input::Reply(ticket, result) => {
                if self.open != 0 && ticket == self.requests.numbered(self.open) {
                    match result {
                        Ok(Reply::Ended) | Err(Unknown) => self.ended(now),
                        Ok(_) => self.refusals.add(Refusal::WrongAnswer),
                    }
                } else if let Some(open) = self.requests.answered(ticket) {
                    self.answered(now, open, result);
                } else {
                    self.refusals.add(Refusal::UnknownTicket);
                }
            }
            Input::Resign { .. } => {
                if let Aim::Hold { epoch } = self.aim {
                    self.office.depose(Why::Resigned);
                    // Somebody else comes first, for as long as a lease.
                    self.release(now, epoch, self.config.common.timing.ttl);
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
        let session = self.session;
        if self.open != 0 && !self.told {
            self.told = true;
            let ticket = self.requests.numbered(self.open);
            let idle = self.config.common.timing.ttl;
            let call = Call::Open { idle };
            return Some(Output::Request(ticket, Request { session, call }));
        }
        while let Some((ticket, asked)) = self.requests.untold() {
            // A host that does not drain has missed what is not wanted any more.
            if let Some(call) = self.call(asked) {
                return Some(Output::Request(ticket, Request { session, call }));
            }
        }
        self.office.rest();
        None
    }

    fn deadline(&self) -> Option<Instant> {
        let ends = match self.aim {
            Aim::Observe(until) => until,
            Aim::Wait { alive, .. } => alive,
            _ => Instant::FOREVER,
        };
        let overdue = self
            .requests
            .next_overdue(self.config.common.timing.patience);
        let others = [self.next, ends];
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
        let (place, epoch, until, rest) = match self.aim {
            Aim::Observe(until) => (0u8, 0, until, Duration::ZERO),
            Aim::Take => (1, 0, now, Duration::ZERO),
            Aim::Wait { epoch, alive } => (2, epoch, alive, Duration::ZERO),
            Aim::Hold { epoch } => (3, epoch, now, Duration::ZERO),
            Aim::Release { epoch, rest } => (4, epoch, now, rest),
        };
        (place, epoch, until.ahead_of(now), rest).hash(hasher);
        (
            self.not_before.since(now),
            self.former,
            self.session,
            self.open != 0,
        )
            .hash(hasher);
    }
}
