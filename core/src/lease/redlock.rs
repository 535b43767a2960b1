//! One key on each of N Redis servers that know nothing of each other (Redlock): who holds more than half of them leads.
//!
//! Every [`Request`] names its server, and one round goes to all of them at once. A tenure counts from the first send of its
//! round (LS-R1), and what comes too late elects nobody: the keys are given up again (LS-31).
//!
//! **There is no token.** Each tenure has [`Token::NONE`], so that no resource can tell an older holder from a newer one: use
//! this where two at once cost work twice and nothing else.
//!
//! **What breaks it.** A server that comes back without the key before the longest lease is over, an eviction, a wall clock
//! that jumps forward on one of them: then two hold a majority each.

use super::office::{NotElected, Office, ahead};
pub use super::redis::Value;
use super::refuse::{Refusal, Refusals};
use super::{Boot, BudgetError, Claimant, Faithful, Nonce, Rule, Rules};
use crate::random::Random;
use crate::{
    Duration, Election, Input, Instant, Leader, Output, Standing, Tenure, Ticket, Token, Unknown,
    Why,
};
use core::convert::Infallible;
use core::hash::{Hash, Hasher};

/// The most servers.
pub const MAX_SERVERS: u8 = 16;

/// How a node takes part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// What every scheme over a store has.
    pub common: super::Config,
    /// How many servers there are, reachable or not: the same on every node.
    pub servers: u8,
}

impl Config {
    /// What follows from the parameters.
    ///
    /// # Errors
    /// What leaves no slack, with the parameter to move.
    pub fn budget(&self) -> Result<super::Budget, BudgetError> {
        if self.servers == 0 {
            return Err(BudgetError::Zero("servers"));
        }
        if self.servers > MAX_SERVERS {
            return Err(BudgetError::TooManyServers(self.servers));
        }
        self.common.budget()
    }
}

/// What is asked of one server. Intervals are sent in whole milliseconds, rounded up.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// Which, from 0.
    pub server: u8,
    /// What.
    pub command: Command,
}

/// A command or script for one server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// `SET key value NX PX ttl`. Answered by [`Reply::Granted`] for OK, and for nil as [`Get`](Self::Get) is.
    Set(Value, Duration),
    /// Answered by [`Reply::Granted`] for 1, and else as [`Get`](Self::Get) is. `ARGV`: value, ttl.
    ///
    /// ```lua
    /// if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) else return 0 end
    /// ```
    Extend(Value, Duration),
    /// Answered by [`Reply::Released`] for 1 and 0 alike. `ARGV`: value.
    ///
    /// ```lua
    /// if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end
    /// ```
    Release(Value),
    /// `DEL key`, answered by [`Reply::Released`]. Asked for by a machine without the rule
    /// [`CompareAndDelete`](Rule::CompareAndDelete) alone.
    Delete,
    /// `GET key`, answered by [`Reply::Held`].
    Get,
}

/// What one server answered. What may or may not have been carried out is no reply but [`Unknown`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reply {
    /// Its key is the node's, for the time that was asked for.
    Granted,
    /// Its key is not the node's, but holds this; `None` when it is free, or no machine wrote it.
    Held(Option<Value>),
    /// Its key is not the node's any more.
    Released,
    /// Nothing was done, for certain.
    NotDone,
}

/// What a round is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Set,
    Extend,
    Release,
    Get,
}

/// One command to several servers. Servers are bits.
#[derive(Clone, Debug)]
struct Round {
    kind: Kind,
    number: u64,
    /// The first send of all (LS-31).
    sent: Instant,
    untold: u16,
    open: u16,
    granted: u16,
    /// Those that said for certain that their key is not the node's.
    denied: u16,
    /// Whom the first of them named, and how many named the same attempt.
    named: Option<Value>,
    votes: u32,
}

/// What the node is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Aim {
    Watch,
    Take,
    Hold,
    /// Gives the keys up, and wants none until then.
    Rest(Instant),
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
    nonce: Nonce,
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
        let node = config.common.claimant.identity.node();
        let mut machine = Self {
            office: Office::new(now, rules.keeps(Rule::DemoteByTimer)),
            refusals: Refusals::default(),
            random: Random::new(boot.seed, node, boot.incarnation),
            incarnation: boot.incarnation,
            aim: if config.common.candidate {
                Aim::Take
            } else {
                Aim::Watch
            },
            round: Round {
                kind: Kind::Get,
                number: 0,
                sent: now,
                untold: 0,
                open: 0,
                granted: 0,
                denied: 0,
                named: None,
                votes: 0,
            },
            next: now,
            nonce: Nonce(0),
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

    /// Who held a majority when one was last seen by a node that does not.
    #[must_use]
    pub const fn holder(&self) -> Option<&Claimant> {
        self.holder.as_ref()
    }

    /// The answers that were refused.
    #[must_use]
    pub const fn refusals(&self) -> &Refusals {
        &self.refusals
    }

    const fn all(&self) -> u16 {
        u16::MAX >> (MAX_SERVERS - self.config.servers)
    }

    fn majority(&self) -> u32 {
        u32::from(self.config.servers) / 2 + 1
    }

    /// Begins a round.
    fn ask(&mut self, now: Instant, kind: Kind, servers: u16) {
        self.round = Round {
            kind,
            number: self.round.number + 1,
            sent: now,
            untold: servers,
            open: servers,
            granted: 0,
            denied: 0,
            named: None,
            votes: 0,
        };
        self.next = Instant::FOREVER;
    }

    fn answered(&mut self, now: Instant, ticket: Ticket, result: Result<Reply, Unknown>) {
        let place = ticket.number % u64::from(MAX_SERVERS);
        let server = 1 << place;
        let present = ticket.incarnation == self.incarnation
            && ticket.number / u64::from(MAX_SERVERS) == self.round.number;
        if !present || self.round.open & !self.round.untold & server == 0 {
            self.refusals.add(Refusal::UnknownTicket);
            return;
        }
        self.round.open &= !server;
        match (self.round.kind, result) {
            (Kind::Set | Kind::Extend, Ok(Reply::Granted))
            | (Kind::Release, Ok(Reply::Released)) => {
                self.round.granted |= server;
            }
            (Kind::Set | Kind::Extend | Kind::Get, Ok(Reply::Held(value))) => {
                self.round.denied |= server;
                self.named(value);
            }
            (_, Ok(Reply::NotDone) | Err(Unknown)) => {}
            _ => self.refusals.add(Refusal::WrongAnswer),
        }
        self.count(now);
    }

    /// A server names who holds its key.
    fn named(&mut self, value: Option<Value>) {
        let Some(value) = value else { return };
        let first = self.round.named.get_or_insert_with(|| value.clone());
        self.round.votes += u32::from(first.nonce == value.nonce);
    }

    /// Whether enough granted it.
    fn granted(&self) -> bool {
        let granted = self.round.granted.count_ones();
        if self.rules.keeps(Rule::MajorityOfConfigured) {
            return granted >= self.majority();
        }
        let answered = granted + self.round.denied.count_ones();
        self.round.open == 0 && granted > answered / 2
    }

    /// Does what follows from the answers so far.
    fn count(&mut self, now: Instant) {
        if self.next != Instant::FOREVER {
            return;
        }
        let over = self.round.open == 0;
        let possible = (self.round.granted | self.round.open).count_ones() >= self.majority();
        match self.round.kind {
            Kind::Set if self.granted() => self.lead(now),
            Kind::Set if over || (!possible && self.rules.keeps(Rule::MajorityOfConfigured)) => {
                self.follow(now);
                self.rest(now, Duration::ZERO);
            }
            Kind::Extend if self.granted() => {
                let until = self.until(now);
                self.office.extend(until);
                self.renew_later();
            }
            Kind::Extend if self.round.denied.count_ones() >= self.majority() => {
                self.office.depose(Why::Taken);
                self.follow(now);
                self.rest(now, Duration::ZERO);
            }
            Kind::Get if over => {
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
                self.holder = None;
                self.aim = Aim::Hold;
                self.renew_later();
            }
            Err(why) => {
                if let NotElected::For(refusal) = why {
                    self.refusals.add(refusal);
                }
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

    /// Who holds a majority is followed for a lease.
    fn follow(&mut self, now: Instant) {
        let named = self.round.named.take();
        let held = named.filter(|_| self.round.votes >= self.majority());
        self.holder = held.map(|value| value.claimant);
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
        let pause = self.config.common.timing.retry_pause(&mut self.random);
        self.aim = Aim::Rest(now + rest + pause);
        let denied = match self.round.kind {
            Kind::Set => self.round.denied,
            _ => 0,
        };
        let servers = self.all() & !denied;
        self.ask(now, Kind::Release, servers);
    }

    fn renew_later(&mut self) {
        let pause = self.config.common.timing.renew_pause(&mut self.random);
        self.next = self.round.sent + pause;
    }

    fn retry_later(&mut self, now: Instant) {
        self.next = now + self.config.common.timing.retry_pause(&mut self.random);
    }

    /// Does what is due.
    fn act(&mut self, now: Instant) {
        let patience = self.config.common.timing.patience;
        if self.next == Instant::FOREVER && self.round.sent + patience <= now {
            // They are late: what they did is unknown.
            self.round.open = 0;
            self.count(now);
        }
        if let Aim::Rest(until) = self.aim
            && until <= now
        {
            self.aim = Aim::Take;
            self.next = now;
        }
        if self.next > now {
            return;
        }
        match self.aim {
            Aim::Watch => self.ask(now, Kind::Get, self.all()),
            Aim::Take => {
                self.nonce = if self.rules.keeps(Rule::Nonce) {
                    Nonce::draw(&mut self.random)
                } else {
                    Nonce(self.config.common.claimant.identity.node().0.into())
                };
                self.ask(now, Kind::Set, self.all());
            }
            Aim::Hold => self.ask(now, Kind::Extend, self.all()),
            // Those that did not say so.
            Aim::Rest(_) => match self.all() & !(self.round.granted | self.round.denied) {
                0 => self.next = Instant::FOREVER,
                servers => self.ask(now, Kind::Release, servers),
            },
        }
    }

    fn request(&self, server: u8) -> Request {
        let ttl = self.config.common.timing.ttl;
        let value = Value {
            nonce: self.nonce,
            claimant: self.config.common.claimant.clone(),
        };
        let command = match self.round.kind {
            Kind::Set => Command::Set(value, ttl),
            Kind::Extend => Command::Extend(value, ttl),
            Kind::Release if self.rules.keeps(Rule::CompareAndDelete) => Command::Release(value),
            Kind::Release => Command::Delete,
            Kind::Get => Command::Get,
        };
        Request { server, command }
    }
}

impl<R: Rules> Election for Redlock<R> {
    type Peer = Infallible;
    type Request = Request;
    type Reply = Reply;

    fn handle(&mut self, now: Instant, input: Input<Infallible, Reply>) {
        let (now, lapsed) = self.office.look_at_the_clock(now);
        if lapsed {
            self.rest(now, Duration::ZERO);
        }
        match input {
            Input::Campaign => {
                if self.aim == Aim::Take && self.next != Instant::FOREVER {
                    self.next = now;
                }
                if matches!(self.aim, Aim::Rest(_)) {
                    self.aim = Aim::Rest(now);
                }
            }
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
        if self.round.untold == 0 {
            self.office.rest();
            return None;
        }
        let server = self.round.untold.trailing_zeros() as u8;
        self.round.untold &= self.round.untold - 1;
        let ticket = Ticket {
            incarnation: self.incarnation,
            number: self.round.number * u64::from(MAX_SERVERS) + u64::from(server),
        };
        Some(Output::Request(ticket, self.request(server)))
    }

    fn deadline(&self) -> Option<Instant> {
        let late = match self.next {
            Instant::FOREVER if self.round.open != 0 => {
                self.round.sent + self.config.common.timing.patience
            }
            next => next,
        };
        let rest = match self.aim {
            Aim::Rest(until) => until,
            _ => Instant::FOREVER,
        };
        let all = self.office.deadline().into_iter().chain([late, rest]);
        all.min().filter(|at| *at != Instant::FOREVER)
    }

    fn grain(&self) -> Duration {
        self.config.common.timing.grain
    }

    fn standing(&self, now: Instant) -> Standing {
        self.office.standing(now)
    }

    fn fingerprint<H: Hasher>(&self, now: Instant, hasher: &mut H) {
        self.office.fingerprint(now, hasher);
        let rest = match self.aim {
            Aim::Rest(until) => (3u8, ahead(until, now)),
            Aim::Watch => (0, Duration::ZERO),
            Aim::Take => (1, Duration::ZERO),
            Aim::Hold => (2, Duration::ZERO),
        };
        let round = &self.round;
        (
            rest,
            ahead(self.next, now),
            now.since(round.sent),
            round.kind,
        )
            .hash(hasher);
        (
            round.untold,
            round.open,
            round.granted,
            round.denied,
            round.votes,
        )
            .hash(hasher);
    }
}
