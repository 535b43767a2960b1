//! Kafka's controller of old: one ephemeral node in ZooKeeper, and beside it an epoch that rises in the same transaction.
//!
//! Every broker reads `/controller`. Where there is none, it reads `/controller_epoch` and its version, and asks for one
//! transaction: create `/controller`, ephemeral, with its name; set the epoch one higher, expecting that version (KZ-2). Whoever
//! fails looks again. There is no queue: all that watch the node come when it goes.
//!
//! The token is the epoch, and it is this node's only by its own claim, never by what it read of another's (KZ-F3, KAFKA-1096). The
//! version of the epoch's node is its [guard](Controller::guard): whatever the host writes into ZooKeeper while it leads goes
//! into one transaction with a check of it (KZ-F1, KAFKA-6082), and when that fails the host says so
//! ([`moved`](Controller::moved)). What is sent to brokers carries the epoch, and they refuse an earlier one (KZ-F2, KAFKA-1188):
//! that is a [fence](crate::fence).
//!
//! # Where it is safer than Kafka's
//! - A node is the own one by its session, not by the name in it: one of a former life is waited for like anybody's
//!   (KAFKA-1029, KAFKA-1451, KAFKA-2437).
//! - Kafka believes until it is told that the session is over. Here it is a write of the own node, with the guard, at every third of
//!   the session's time that the belief rests on, as in the [queue](super); a claim, too, is proven by the write after it
//!   alone. So a takeover takes a tick longer than Kafka's, and nobody believes beside another.
//! - Resigning goes on until the node is gone, or the session over.
//!
//! # What is left out
//! What `/controller` holds is a text with the name, not Kafka's JSON; the sessions of brokers (`/brokers/ids`); batches of
//! requests.
//!
//! # At a glance
//! **Who leads, who takes over, what stops the old leader.** Whoever created `/controller`. Any of the others, as soon as the
//! session of the first is closed, or over. The old one stops by its own clock before its session can be over; what it sends
//! late is refused, by the guard in ZooKeeper and by the epoch elsewhere.
//!
//! **What it costs.** A leader: a write of two parts, one read and one event in a third of the session's time. Everybody else: two
//! reads in that time; and when the leader goes, a read, another, and a transaction each, of which one succeeds.
//!
//! **When it suffices.** A handful of candidates over an ensemble that is there, where what they decide is kept in the same
//! ensemble.
//!
//! **What breaks it.** Writes without the guard. A node or a session that somebody else ends: until the next word of it two
//! believe, and the guard protects. An epoch that is set back, as by a restored backup: raise the generation.

mod aim;
mod answers;
mod api;

use super::api::{Data, Path, Reply};
use super::config::Config;
use super::queue;
use super::session::{Need, Session};
use crate::lease::office::Office;
use crate::lease::refuse::{Refusal, Refusals};
use crate::lease::requests::Requests;
use crate::lease::{Boot, Budget, BudgetError, Claimant, Faithful, Rule, Rules, Timing, value};
use crate::random::Random;
use crate::{
    Duration, Election, Input, Instant, Leader, Output, Standing, Tenure, Ticket, Token, Why,
};
use aim::{Aim, Asked, Kind, Rest};
use alloc::format;
pub use api::{Guard, Request};
use core::convert::Infallible;
use core::hash::{Hash, Hasher};

/// One node's election to Kafka's controller. [`Config::parent`] is the root of the cluster's nodes.
#[derive(Clone, Debug)]
pub struct Controller<R: Rules = Faithful> {
    config: Config,
    rules: R,
    office: Office<Request>,
    requests: Requests<Asked>,
    refusals: Refusals,
    random: Random,
    session: Session,
    aim: Aim,
    /// Until when it observes; [`Instant::FOREVER`] when it is no candidate.
    rests: Instant,
    /// When to ask for what the aim needs; [`Instant::FOREVER`] while an answer is waited for.
    next: Instant,
    /// `/controller`.
    path: Path,
    /// `/controller_epoch`.
    epoch_path: Path,
    /// What `/controller` holds, as last seen.
    seen: Option<Data>,
    /// The epoch that it claims, or has; 0 when it has read none.
    claimed: u64,
    /// The version of the epoch's node, as it was read before the claim, or as the claim made it.
    version: i32,
    /// Which request opened the session, by the low bits of its number.
    handle: u16,
    /// Which request left the watch there is, or 0.
    watch: u16,
    /// The number of the own attempt.
    place: u16,
}

impl Controller {
    /// A machine that keeps every rule.
    ///
    /// # Errors
    /// Parameters that are refused, with the remedy.
    pub fn new(config: Config, boot: Boot, now: Instant) -> Result<Self, BudgetError> {
        Self::with_rules(config, boot, now, Faithful)
    }
}

impl<R: Rules> Controller<R> {
    /// A machine that keeps these rules.
    ///
    /// # Errors
    /// Parameters that are refused, with the remedy.
    pub fn with_rules(
        config: Config,
        boot: Boot,
        now: Instant,
        rules: R,
    ) -> Result<Self, BudgetError> {
        Self::budget_of(&config, config.common.timing.ttl)?;
        config.budget()?;
        let identity = &config.common.claimant.identity;
        let random = Random::new(boot.seed, identity.node(), boot.incarnation);
        let candidate = config.common.candidate;
        let mut machine = Self {
            office: Office::new(now, rules.keeps(Rule::DemoteByTimer)),
            requests: Requests::new(boot.incarnation),
            refusals: Refusals::default(),
            random,
            session: Session::none(),
            aim: if candidate { Aim::Wait } else { Aim::Observe },
            rests: Instant::FOREVER,
            next: now,
            path: format!("{}/controller", config.parent).into(),
            epoch_path: format!("{}/controller_epoch", config.parent).into(),
            seen: None,
            claimed: 0,
            version: 0,
            handle: 0,
            watch: 0,
            place: 0,
            config,
            rules,
        };
        machine.connect(now);
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

    /// Who led when it looked last, with what that wants others to know.
    #[must_use]
    pub fn holder(&self) -> Option<Claimant> {
        self.seen.as_deref().and_then(value::claimant)
    }

    /// What goes into every transaction that the host makes while it leads; nothing while it does not. One that was taken in one
    /// tenure fails after it, which is what it is for.
    #[must_use]
    pub fn guard(&self) -> Option<Guard> {
        self.office.held().map(|_| self.its_guard())
    }

    /// A transaction of the host failed by the guard that was taken in the tenure of this epoch: another is elected
    /// (`ControllerMovedException`). Of an earlier epoch it is no news.
    pub fn moved(&mut self, now: Instant, token: Token) {
        let now = self.look_at_the_clock(now);
        if self.office.held().is_some_and(|held| held.token == token) {
            self.lost(now);
        }
        self.act(now);
    }

    /// What follows from the timeout that was negotiated for the session; from the one that is asked for while there is none.
    ///
    /// # Errors
    /// When the servers grant less than leaves slack: the node takes no part then, and asks for another session after a
    /// while. Raise `maxSessionTimeout` there, or lower `tickTime` and the margin.
    pub fn budget(&self) -> Result<Budget, BudgetError> {
        Self::budget_of(&self.config, self.timing().ttl)
    }

    fn budget_of(config: &Config, ttl: Duration) -> Result<Budget, BudgetError> {
        let budget = config.budget_of(ttl)?;
        let timing = config.timing(ttl);
        let round_trip = config.common.latency + config.common.latency;
        // Where another came between, it looks once more; and a claim is proven by the write a tick after it.
        let later = timing.retry + config.tick() + timing.retry;
        Ok(Budget {
            takeover: budget.takeover + timing.rate.at_most(later) + round_trip + round_trip,
            ..budget
        })
    }

    /// Whether node and session are being given up. Wait for the end of this, at most the timeout of the session, before the
    /// process ends, and nobody has to wait for the end of the session.
    #[must_use]
    pub const fn releasing(&self) -> bool {
        matches!(self.aim, Aim::Leave(_))
    }

    /// The answers that were refused.
    #[must_use]
    pub const fn refusals(&self) -> &Refusals {
        &self.refusals
    }

    /// Does not want to lead any more in this life: what comes before the end of a process.
    pub fn withdraw(&mut self, now: Instant) {
        self.config.common.candidate = false;
        let now = self.look_at_the_clock(now);
        match self.aim {
            Aim::Observe => self.rests = Instant::FOREVER,
            Aim::Leave(_) => {}
            _ => {
                self.office.depose(Why::Resigned);
                self.leave(now, Rest::None);
            }
        }
        self.act(now);
    }

    /// What has ended by now is over.
    fn look_at_the_clock(&mut self, now: Instant) -> Instant {
        let (now, lapsed) = self.office.look_at_the_clock(now);
        if lapsed {
            // With this node it does not lead again (C4). Given up, it lets others come.
            self.leave(now, Rest::None);
        }
        now
    }

    fn campaign(&mut self, now: Instant) {
        match self.aim {
            Aim::Observe if self.rests != Instant::FOREVER && self.session.is_open() => {
                self.want(now);
            }
            // What waits for an answer is asked already.
            Aim::Wait if self.next != Instant::FOREVER => self.next = now,
            _ => {}
        }
    }

    /// How long things take in the present session.
    fn timing(&self) -> Timing {
        match self.session.ttl() {
            Duration::ZERO => self.config.common.timing,
            ttl => self.config.timing(ttl),
        }
    }

    fn its_guard(&self) -> Guard {
        let guarded = self.rules.keeps(Rule::GuardedWrites);
        Guard {
            path: self.epoch_path.clone(),
            version: if guarded { self.version } else { -1 },
        }
    }

    /// Follows whoever leads until the next look but one.
    fn follow(&mut self, now: Instant, epoch: u64) {
        let timing = self.timing();
        let until = now + timing.renew + timing.retry + timing.patience + timing.patience;
        let leader = self.seen.as_deref().and_then(|data| {
            let leader = Leader {
                node: value::node(data)?,
                token: Token::new(self.config.common.generation, epoch),
            };
            Some((leader, until))
        });
        self.office.follow(leader);
    }

    /// Whether the session is kept by writes: for who leads, or is about to. Everybody else's is kept by the client's library.
    fn writes(&self) -> bool {
        matches!(self.aim, Aim::Won | Aim::Hold)
    }

    /// What the aim needs.
    fn needs(&self) -> Kind {
        let watch = self.watch == 0;
        match self.aim {
            Aim::Observe | Aim::Wait | Aim::Hold => Kind::Look(watch),
            Aim::Doubt => Kind::Look(false),
            Aim::Learn | Aim::Read | Aim::Confirm => Kind::Epoch,
            Aim::Prepare(parts) => Kind::Parent(parts),
            Aim::Start => Kind::Start,
            Aim::Claim => Kind::Claim,
            Aim::Won => Kind::Renew,
            Aim::Leave(_) if self.claimed > 0 => Kind::Delete,
            Aim::Leave(_) => Kind::Close,
        }
    }

    /// Whether an answer is waited for, to something of this kind.
    fn waits_for(&self, kind: Kind) -> bool {
        use core::mem::discriminant;
        self.requests.waits_for(|asked: Asked| {
            discriminant(&asked.kind) == discriminant(&kind) && self.is_present(asked)
        })
    }

    /// Whether something is asked in the present attempt.
    fn is_present(&self, asked: Asked) -> bool {
        match asked.kind {
            Kind::Connect => self.session.is_wanted(),
            _ => asked.place == self.place,
        }
    }

    fn ask(&mut self, now: Instant, kind: Kind) -> Ticket {
        let place = self.place;
        self.requests.make(now, Asked { kind, place })
    }

    /// Does what is due.
    fn act(&mut self, now: Instant) {
        let patience = self.config.common.timing.patience;
        while let Some(open) = self.requests.overdue(now, patience) {
            if self.is_present(open.what) {
                self.doubt(now, open.what.kind);
            }
        }
        match self.aim {
            Aim::Leave(rest) if self.session.is_over(now) => self.stand_back(now, rest),
            Aim::Observe if self.rests <= now && self.session.is_open() => self.want(now),
            // Its claim is proven by a write that is sent a tick after it was answered.
            Aim::Won if self.next <= now => {
                self.session.hurry(now);
                self.try_later(now);
            }
            _ => {}
        }
        let timing = self.timing();
        let waits = self.waits_for(Kind::Connect) || self.waits_for(Kind::Renew);
        let asks = (waits, self.writes());
        match self.session.need(now, asks, &timing, &mut self.random) {
            Some(Need::Connect) => {
                self.ask(now, Kind::Connect);
            }
            Some(Need::KeepAlive) => {
                self.ask(now, Kind::Renew);
            }
            None => {}
        }
        if self.session.is_wanted() {
            // What there is to do comes with the session.
            self.next = Instant::FOREVER;
            return;
        }
        if self.aim == Aim::Won {
            return;
        }
        if self.next == Instant::FOREVER && !self.waits_for(self.needs()) {
            self.next = now + timing.retry_pause(&mut self.random);
        }
        if self.next <= now {
            self.next = Instant::FOREVER;
            let needs = self.needs();
            let ticket = self.ask(now, needs);
            if needs == Kind::Look(true) {
                self.watch = ticket.number as u16;
            }
        }
    }

    /// The call that something is asked for with.
    fn call(&self, kind: Kind) -> Option<Request> {
        let session = self.session.id();
        let data = |path: &Path, watch| Request::Data {
            session,
            path: path.clone(),
            watch,
        };
        Some(match kind {
            Kind::Connect => Request::Connect {
                timeout: self.config.common.timing.ttl,
            },
            Kind::Close => Request::Close { session },
            Kind::Renew => Request::Renew {
                session,
                path: self.path.clone(),
                data: self.config.common.claimant.clone(),
                guard: self.its_guard(),
            },
            Kind::Parent(parts) => Request::CreateParent {
                session,
                path: queue::ancestor(&self.config.parent, parts)?.into(),
            },
            Kind::Start => Request::CreateEpoch {
                session,
                path: self.epoch_path.clone(),
            },
            Kind::Look(watch) => data(&self.path, watch),
            Kind::Epoch => data(&self.epoch_path, false),
            Kind::Claim => Request::Claim {
                session,
                path: self.path.clone(),
                data: self.config.common.claimant.clone(),
                epoch: self.claimed,
                guard: Guard {
                    path: self.epoch_path.clone(),
                    version: self.version,
                },
            },
            Kind::Delete => Request::Delete {
                session,
                path: self.path.clone(),
                guard: self.its_guard(),
            },
        })
    }
}

impl<R: Rules> Election for Controller<R> {
    type Peer = Infallible;
    type Request = Request;
    type Reply = Reply;

    fn handle(&mut self, now: Instant, input: Input<Infallible, Reply>) {
        let now = self.look_at_the_clock(now);
        match input {
            Input::Campaign => self.campaign(now),
            Input::Peer(_, never) => match never {},
            Input::Reply(ticket, result) => {
                if let Some(open) = self.requests.answered(ticket) {
                    self.answered(now, ticket.number, open, result);
                } else if !self.told(now, ticket, result) {
                    self.refusals.add(Refusal::UnknownTicket);
                }
            }
            Input::Resign { .. } => {
                if self.aim == Aim::Hold {
                    self.office.depose(Why::Resigned);
                    // Somebody else comes first, for as long as a session.
                    self.leave(now, Rest::Long);
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
            // A host that does not drain has missed what was to be asked in a former attempt.
            if self.is_present(asked)
                && let Some(call) = self.call(asked.kind)
            {
                return Some(Output::Request(ticket, call));
            }
        }
        self.office.rest();
        None
    }

    fn deadline(&self) -> Option<Instant> {
        let until = match self.aim {
            // Which comes with the session, if there is none.
            Aim::Observe if self.session.is_open() => self.rests,
            _ => Instant::FOREVER,
        };
        let patience = self.config.common.timing.patience;
        let overdue = self.requests.next_overdue(patience);
        let others = [self.next, self.session.due(self.writes()), until];
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
        self.session.fingerprint(now, hasher);
        self.next.ahead_of(now).hash(hasher);
        let rests = match self.aim {
            Aim::Observe => self.rests.ahead_of(now),
            _ => Duration::ZERO,
        };
        (self.aim, rests, self.claimed, self.version, self.watch != 0).hash(hasher);
    }
}
