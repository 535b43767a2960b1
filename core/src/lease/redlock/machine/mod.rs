//! The machine: what the node is about, and when it asks for that.

mod answers;

use super::api::{Command, Reply, Request};
use super::config::Config;
use super::round::{Kind, Round, Servers};
use super::{MAX_SERVERS, Value};
use crate::lease::office::Office;
use crate::lease::redis::in_milliseconds;
use crate::lease::refuse::{Counter, Refusals};
use crate::lease::{Boot, BudgetError, Claimant, Faithful, Nonce, Rule, Rules};
use crate::random::Random;
use crate::{Duration, Election, Input, Instant, Leader, Output, Standing, Tenure, Ticket, Why};
use core::convert::Infallible;
use core::hash::{Hash, Hasher};

/// What the node is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Aim {
    /// Looks who holds it, and does not want it.
    Observe,
    /// Wants it.
    Take,
    /// Holds it.
    Hold,
    /// Gives its keys up.
    Rest {
        /// It wants none until then.
        until: Instant,
        /// Every lease is over then.
        over: Instant,
        /// Those that did not say that their key is not the node's.
        unreleased: Servers,
    },
}

/// One node's election by keys of several servers.
#[derive(Clone, Debug)]
pub struct Redlock<R: Rules = Faithful> {
    config: Config,
    rules: R,
    office: Office<Infallible>,
    refusals: Counter,
    random: Random,
    incarnation: u64,
    aim: Aim,
    round: Round,
    /// When the next round begins; [`Instant::FOREVER`] while one is under way.
    next: Instant,
    /// The nonce of attempts counts up from here.
    first: Nonce,
    /// The present attempt: the number of its round.
    attempt: u64,
    /// An attempt that was given up, and servers that granted it all the same.
    stray: (u64, Servers),
    /// The holder as it was last seen.
    holder: Option<Claimant>,
}

impl Redlock {
    /// A machine that keeps every rule.
    ///
    /// # Errors
    /// Parameters that leave no slack, with the remedy.
    pub fn new(config: Config, boot: Boot, now: Instant) -> Result<Self, BudgetError> {
        Self::with_rules(config, boot, now, Faithful)
    }
}

impl<R: Rules> Redlock<R> {
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
        let config = Config {
            common: in_milliseconds(config.common),
            ..config
        };
        let node = config.common.claimant.identity.node();
        let mut random = Random::new(boot.seed, node, boot.incarnation);
        let mut machine = Self {
            office: Office::new(now, rules.keeps(Rule::DemoteByTimer)),
            refusals: Counter::NEVER,
            incarnation: boot.incarnation,
            aim: if config.common.candidate {
                Aim::Take
            } else {
                Aim::Observe
            },
            round: Round::new(Kind::Look, 0, now, 0),
            next: now,
            first: Nonce::draw(&mut random),
            random,
            attempt: 0,
            stray: (0, 0),
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

    /// Who held more than half when that was last seen by a node that does not, with what it wants others to know.
    #[must_use]
    pub fn holder(&self) -> Option<Claimant> {
        self.holder.clone()
    }

    /// Whether keys were given up and not all servers have said so yet. Wait for the end of this, at most a lease, before the
    /// process ends, and the successor need not wait for the lease.
    #[must_use]
    pub const fn releasing(&self) -> bool {
        matches!(self.aim, Aim::Rest { unreleased, .. } if unreleased != 0)
    }

    /// The answers that were refused.
    #[must_use]
    pub fn refusals(&self) -> &Refusals {
        self.refusals.counts()
    }

    /// All servers that are configured.
    const fn all(&self) -> Servers {
        Servers::MAX >> (MAX_SERVERS - self.config.servers)
    }

    /// More than half of them (LS-38).
    fn majority(&self) -> u32 {
        u32::from(self.config.servers) / 2 + 1
    }

    fn campaign(&mut self, now: Instant) {
        match &mut self.aim {
            Aim::Rest {
                until,
                unreleased: 0,
                ..
            } => *until = now,
            // What waits for an answer is asked already.
            Aim::Take if self.next != Instant::FOREVER => self.next = now,
            _ => {}
        }
    }

    /// Begins a round.
    fn ask(&mut self, now: Instant, kind: Kind, servers: Servers) {
        self.round = Round::new(kind, self.round.number + 1, now, servers);
        self.next = Instant::FOREVER;
    }

    fn nonce(&self, attempt: u64) -> Nonce {
        if self.rules.keeps(Rule::Nonce) {
            Nonce(self.first.0.wrapping_add(attempt.into()))
        } else {
            Nonce(self.config.common.claimant.identity.node().0.into())
        }
    }

    /// Gives up every key that may be its own, and wants none for so long and a random pause.
    fn rest(&mut self, now: Instant, rest: Duration) {
        let timing = self.config.common.timing;
        let unreleased = match self.round.kind {
            // The others may have granted it, whatever they seemed to do.
            Kind::Set => self.all() & !self.round.denied,
            _ => self.all(),
        };
        self.aim = Aim::Rest {
            until: now + rest + timing.retry_pause(&mut self.random),
            over: now + timing.surely_over(timing.ttl),
            unreleased,
        };
        self.ask(now, Kind::Release, unreleased);
    }

    fn renew_later(&mut self) {
        let pause = self.config.common.timing.renew_pause(&mut self.random);
        self.next = self.round.sent + pause;
    }

    fn retry_later(&mut self, now: Instant) {
        self.next = now + self.config.common.timing.retry_pause(&mut self.random);
    }

    /// When the present round is not waited for any more, if it is.
    fn late(&self) -> Option<Instant> {
        let waits = self.next == Instant::FOREVER && !self.round.is_over();
        waits.then(|| self.round.sent + self.config.common.timing.patience)
    }

    /// Does what is due.
    fn act(&mut self, now: Instant) {
        if self.late().is_some_and(|late| late <= now) {
            self.round.late = true;
            self.count(now);
        }
        match &mut self.aim {
            Aim::Rest { until, .. } if *until <= now => {
                self.aim = Aim::Take;
                self.next = now;
            }
            Aim::Rest {
                over, unreleased, ..
            } if *over <= now => *unreleased = 0,
            _ => {}
        }
        if self.next > now {
            return;
        }
        match self.aim {
            Aim::Observe | Aim::Rest { unreleased: 0, .. } => {
                self.ask(now, Kind::Look, self.all());
            }
            Aim::Take => {
                self.ask(now, Kind::Set, self.all());
                self.attempt = self.round.number;
            }
            Aim::Hold => self.ask(now, Kind::Extend, self.all()),
            Aim::Rest { unreleased, .. } => self.ask(now, Kind::Release, unreleased),
        }
    }

    /// What one server is asked in a round of this number, for an attempt.
    fn request(
        &self,
        number: u64,
        kind: Kind,
        attempt: u64,
        server: u8,
    ) -> Output<Infallible, Request> {
        let ttl = self.config.common.timing.ttl;
        let value = || Value {
            nonce: self.nonce(attempt),
            claimant: self.config.common.claimant.clone(),
        };
        let command = match kind {
            Kind::Set => Command::Set(value(), ttl),
            Kind::Extend => Command::Extend(value(), ttl),
            Kind::Release if self.rules.keeps(Rule::CompareAndDelete) => Command::Release(value()),
            Kind::Release => Command::Delete,
            Kind::Look => Command::Look,
        };
        let ticket = Ticket {
            incarnation: self.incarnation,
            number: Round::ticket(number, kind, server),
        };
        Output::Request(ticket, Request { server, command })
    }
}

/// Takes the first server out of some.
const fn first_of(servers: &mut Servers) -> Option<u8> {
    if *servers == 0 {
        return None;
    }
    let server = servers.trailing_zeros() as u8;
    *servers &= *servers - 1;
    Some(server)
}

impl<R: Rules> Election for Redlock<R> {
    type Peer = Infallible;
    type Request = Request;
    type Reply = Reply;

    fn handle(&mut self, now: Instant, input: Input<Infallible, Reply>) {
        let (now, lapsed) = self.office.look_at_the_clock(now);
        if lapsed && self.aim == Aim::Hold {
            self.rest(now, Duration::ZERO);
        }
        match input {
            Input::Campaign => self.campaign(now),
            Input::Peer(_, never) => match never {},
            Input::Reply(ticket, result) => self.answered(now, ticket, result),
            Input::Resign { .. } => {
                if self.aim == Aim::Hold {
                    self.office.depose(Why::Resigned);
                    // Somebody else comes first, for as long as a lease.
                    self.rest(now, self.config.common.timing.ttl);
                }
            }
            Input::Timeout => {}
        }
        self.act(now);
    }

    fn poll(&mut self) -> Option<Output<Infallible, Request>> {
        match self.office.poll() {
            Some(Output::Event(event)) => return Some(Output::Event(event)),
            Some(Output::Request(_, never) | Output::Send(_, never)) => match never {},
            None => {}
        }
        if let Some(server) = first_of(&mut self.stray.1) {
            // As part of a round that is over: nobody waits for the answer.
            let attempt = self.stray.0;
            return Some(self.request(attempt, Kind::Release, attempt, server));
        }
        if let Some(server) = first_of(&mut self.round.untold) {
            let Round { number, kind, .. } = self.round;
            return Some(self.request(number, kind, self.attempt, server));
        }
        self.office.rest();
        None
    }

    fn deadline(&self) -> Option<Instant> {
        let until = match self.aim {
            Aim::Rest { until, .. } => until,
            _ => Instant::FOREVER,
        };
        let others = [self.next, until];
        self.office.deadline(self.late().into_iter().chain(others))
    }

    fn grain(&self) -> Duration {
        self.config.common.timing.grain
    }

    fn standing(&self, now: Instant) -> Standing {
        self.office.standing(now)
    }

    fn fingerprint<H: Hasher>(&self, now: Instant, hasher: &mut H) {
        self.office.fingerprint(now, hasher);
        let (place, until, over, unreleased) = match self.aim {
            Aim::Observe => (0u8, now, now, 0),
            Aim::Take => (1, now, now, 0),
            Aim::Hold => (2, now, now, 0),
            Aim::Rest {
                until,
                over,
                unreleased,
            } => (3, until, over, unreleased),
        };
        (place, until.ahead_of(now), over.ahead_of(now), unreleased).hash(hasher);
        let round = &self.round;
        (self.next.ahead_of(now), now.since(round.sent), round.kind).hash(hasher);
        (round.untold, round.open, round.granted, round.denied).hash(hasher);
        (round.late, round.settled, self.stray.1).hash(hasher);
    }
}
