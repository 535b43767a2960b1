//! The machine: what the node is about, and what it makes of a round.

use super::api::{Command, Reply, Request};
use super::config::Config;
use super::round::{Kind, Round, Servers};
use super::{MAX_SERVERS, Value};
use crate::lease::office::{NotElected, Office, ahead};
use crate::lease::redis::in_milliseconds;
use crate::lease::refuse::{Refusal, Refusals};
use crate::lease::{Boot, BudgetError, Claimant, Faithful, Nonce, Rule, Rules};
use crate::random::Random;
use crate::{
    Duration, Election, Input, Instant, Leader, Output, Standing, Tenure, Ticket, Token, Unknown,
    Why,
};
use core::convert::Infallible;
use core::hash::{Hash, Hasher};

/// What the node is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Aim {
    /// Looks who holds it, and does not want it.
    Watch,
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
    refusals: Refusals,
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
            refusals: Refusals::default(),
            incarnation: boot.incarnation,
            aim: if config.common.candidate {
                Aim::Take
            } else {
                Aim::Watch
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
    pub const fn holder(&self) -> Option<&Claimant> {
        self.holder.as_ref()
    }

    /// Whether keys were given up and not all servers have said so yet. Wait for the end of this, at most a lease, before the
    /// process ends, and the successor need not wait for the lease.
    #[must_use]
    pub const fn releasing(&self) -> bool {
        matches!(self.aim, Aim::Rest { unreleased, .. } if unreleased != 0)
    }

    /// The answers that were refused.
    #[must_use]
    pub const fn refusals(&self) -> &Refusals {
        &self.refusals
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

    fn answered(&mut self, now: Instant, ticket: Ticket, result: Result<Reply, Unknown>) {
        let (number, kind, server) = Round::asked(ticket);
        let present = (number, kind) == (self.round.number, self.round.kind);
        let known = if present {
            self.round.awaits(server)
        } else {
            number <= self.round.number
        };
        if ticket.incarnation != self.incarnation || server >= self.config.servers || !known {
            self.refusals.add(Refusal::UnknownTicket);
            return;
        }
        if !present {
            if kind == Kind::Set && result == Ok(Reply::Granted) {
                self.granted_late(number, server);
            }
            return;
        }
        let bit = 1 << server;
        self.round.open &= !bit;
        match (kind, result) {
            (Kind::Set | Kind::Extend, Ok(Reply::Granted)) => self.round.granted |= bit,
            (Kind::Release, Ok(Reply::Released)) => {
                if let Aim::Rest { unreleased, .. } = &mut self.aim {
                    *unreleased &= !bit;
                }
            }
            (Kind::Set | Kind::Extend | Kind::Look, Ok(Reply::Held(value))) => {
                self.held_by(server, value);
            }
            (_, Ok(Reply::NotDone) | Err(Unknown)) => {}
            _ => self.refusals.add(Refusal::WrongAnswer),
        }
        self.count(now);
    }

    /// A server granted an attempt whose round is over. Of one that was given up, the key would keep others out until its lease
    /// ends (LS-R4).
    fn granted_late(&mut self, attempt: u64, server: u8) {
        let bit = 1 << server;
        let wanted = match self.aim {
            Aim::Hold => attempt == self.attempt,
            // It is given up already.
            Aim::Rest { unreleased, .. } => attempt == self.attempt && unreleased & bit != 0,
            Aim::Watch | Aim::Take => false,
        };
        if !wanted {
            self.give_up(attempt, bit);
        }
    }

    /// Keys of an attempt that was given up are deleted. Those of an earlier one are left to their lease.
    const fn give_up(&mut self, attempt: u64, servers: Servers) {
        let (former, also) = self.stray;
        self.stray = (
            attempt,
            if former == attempt {
                also | servers
            } else {
                servers
            },
        );
    }

    /// A server says who holds its key.
    fn held_by(&mut self, server: u8, value: Option<Value>) {
        let bit = 1 << server;
        let own = value.as_ref().and_then(|value| self.own(value.nonce));
        match (own, self.round.kind) {
            // What was asked was carried out twice, and this is the second answer.
            (Some(attempt), Kind::Set) if attempt == self.attempt => self.round.granted |= bit,
            (Some(attempt), _) if attempt == self.attempt => {
                self.refusals.add(Refusal::WrongAnswer);
            }
            (Some(attempt), _) => {
                self.round.denied |= bit;
                self.give_up(attempt, bit);
            }
            (None, _) => {
                self.round.denied |= bit;
                if let Some(value) = value {
                    self.round.name(value);
                }
            }
        }
    }

    /// The attempt of this life that a nonce is of.
    fn own(&self, nonce: Nonce) -> Option<u64> {
        let since = nonce.0.wrapping_sub(self.first.0);
        let attempt = u64::try_from(since).ok()?;
        (attempt <= self.round.number).then_some(attempt)
    }

    fn nonce(&self, attempt: u64) -> Nonce {
        if self.rules.keeps(Rule::Nonce) {
            Nonce(self.first.0.wrapping_add(attempt.into()))
        } else {
            Nonce(self.config.common.claimant.identity.node().0.into())
        }
    }

    /// Whether enough granted it.
    fn is_granted(&self) -> bool {
        let granted = self.round.granted.count_ones();
        if self.rules.keeps(Rule::MajorityOfConfigured) {
            return granted >= self.majority();
        }
        let answered = granted + self.round.denied.count_ones();
        self.round.is_over() && granted > answered / 2
    }

    /// Whether so many denied it that it cannot be granted: with an even number of servers, half of them are enough for that.
    fn is_denied(&self) -> bool {
        u32::from(self.config.servers) - self.round.denied.count_ones() < self.majority()
    }

    /// Does what follows from the answers so far.
    fn count(&mut self, now: Instant) {
        if self.round.settled {
            return;
        }
        // Whether its end is no news: what comes late may still change it.
        let over = self.round.is_over() && self.next == Instant::FOREVER;
        match self.round.kind {
            Kind::Set if self.is_granted() => self.lead(now),
            Kind::Set if over || self.is_denied() => {
                self.follow(now);
                self.rest(now, Duration::ZERO);
            }
            Kind::Extend if self.is_granted() => {
                self.round.settled = true;
                let until = self.until(now);
                self.office.extend(until);
                self.renew_later();
            }
            Kind::Extend if self.is_denied() => {
                self.office.depose(Why::Taken);
                self.follow(now);
                self.rest(now, Duration::ZERO);
            }
            Kind::Look if over => {
                self.follow(now);
                self.retry_later(now);
            }
            Kind::Extend | Kind::Release if over => self.retry_later(now),
            _ => {}
        }
    }

    fn lead(&mut self, now: Instant) {
        let until = self.until(now);
        match self.office.elect_without_token(until) {
            Ok(()) => {
                self.round.settled = true;
                self.holder = None;
                self.aim = Aim::Hold;
                self.renew_later();
            }
            Err(why) => {
                if let NotElected::For(refusal) = why {
                    self.refusals.add(refusal);
                }
                // It took too long (LS-31).
                self.rest(now, Duration::ZERO);
            }
        }
    }

    /// Until when the present round lets a holder believe.
    fn until(&self, now: Instant) -> Instant {
        let from = if self.rules.keeps(Rule::ValidityFromSend) {
            self.round.sent
        } else {
            now
        };
        let timing = &self.config.common.timing;
        from + timing.belief(timing.ttl)
    }

    /// Who holds more than half is followed for a lease.
    fn follow(&mut self, now: Instant) {
        self.holder = self.round.holder(self.majority());
        let timing = &self.config.common.timing;
        let until = now + timing.rate.outlast(timing.ttl) + timing.retry + timing.patience;
        let leader = self.holder.as_ref().map(|holder| Leader {
            node: holder.identity.node(),
            token: Token::NONE,
        });
        self.office.follow(leader.map(|leader| (leader, until)));
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
            over: now + timing.rate.outlast(timing.ttl) + timing.patience,
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
            Aim::Watch | Aim::Rest { unreleased: 0, .. } => {
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
        let ends = self.office.deadline().into_iter().chain(self.late());
        ends.chain([self.next, until])
            .min()
            .filter(|at| *at != Instant::FOREVER)
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
            Aim::Watch => (0u8, now, now, 0),
            Aim::Take => (1, now, now, 0),
            Aim::Hold => (2, now, now, 0),
            Aim::Rest {
                until,
                over,
                unreleased,
            } => (3, until, over, unreleased),
        };
        (place, ahead(until, now), ahead(over, now), unreleased).hash(hasher);
        let round = &self.round;
        (ahead(self.next, now), now.since(round.sent), round.kind).hash(hasher);
        (round.untold, round.open, round.granted, round.denied).hash(hasher);
        (round.late, round.settled, self.stray.1).hash(hasher);
    }
}
