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
//! **What it costs.** A leader: a write of two parts, one read and one event in a third of the session's time. Everybody else:
//! one read in that time; and when the leader goes, a read, another, and a transaction each, of which one succeeds.
//!
//! **When it suffices.** A handful of candidates over an ensemble that is there, where what they decide is kept in the same
//! ensemble.
//!
//! **What breaks it.** Writes without the guard. A node or a session that somebody else ends: until the next word of it two
//! believe, and the guard protects. An epoch that is set back, as by a restored backup: raise the generation.

mod aim;
mod answers;
mod api;
mod calls;

use super::api::{Data, Path, Reply, SessionId};
use super::client::{Client, News, Rest};
use super::config::Config;
use crate::lease::office::Office;
use crate::lease::refuse::Refusals;
use crate::lease::{Boot, Budget, BudgetError, Claimant, Faithful, Rule, Rules, value};
use crate::{Duration, Election, Input, Instant, Leader, Output, Standing, Tenure, Token, Why};
use aim::{Aim, Kind};
use alloc::format;
pub use api::{Guard, Request};
use core::convert::Infallible;
use core::hash::{Hash, Hasher};

/// One node's election to Kafka's controller. [`Config::parent`] is the root of the cluster's nodes.
#[derive(Clone, Debug)]
pub struct Controller<R: Rules = Faithful> {
    client: Client<Kind, R>,
    office: Office<Request>,
    aim: Aim,
    /// `/controller`.
    path: Path,
    /// `/controller_epoch`.
    epoch_path: Path,
    /// What `/controller` holds, as last seen.
    seen: Option<Data>,
    known: Known,
    /// The epoch that it claims, or has; 0 when it has read none.
    claimed: u64,
    /// The version of the epoch's node, as it was read before the claim, or as the claim made it.
    version: i32,
}

/// What is known of the epoch of who is elected.
#[derive(Clone, Copy, Debug, Default, Hash)]
struct Known {
    /// `czxid` of its `/controller`, as last seen.
    node: u64,
    /// The epoch that was read since; 0 when none was.
    epoch: u64,
    /// Whether the node was seen again since that.
    sure: bool,
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
        let candidate = config.common.candidate;
        let mut machine = Self {
            office: Office::new(now, rules.keeps(Rule::DemoteByTimer)),
            aim: if candidate { Aim::Wait } else { Aim::Observe },
            path: format!("{}/controller", config.parent).into(),
            epoch_path: format!("{}/controller_epoch", config.parent).into(),
            seen: None,
            known: Known::default(),
            claimed: 0,
            version: 0,
            client: Client::new(config, boot, now, rules),
        };
        machine.connect(now);
        machine.act(now);
        Ok(machine)
    }

    /// How it takes part.
    #[must_use]
    pub const fn config(&self) -> &Config {
        &self.client.config
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

    /// The session that it has, or had last; [`SessionId::NONE`] before the first. What the host writes goes by it.
    #[must_use]
    pub const fn session(&self) -> SessionId {
        self.client.session.id()
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
        Self::budget_of(&self.client.config, self.client.timing().ttl)
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
    pub fn refusals(&self) -> &Refusals {
        self.client.refusals.counts()
    }

    /// Does not want to lead any more in this life: what comes before the end of a process.
    pub fn withdraw(&mut self, now: Instant) {
        self.client.config.common.candidate = false;
        let now = self.look_at_the_clock(now);
        match self.aim {
            Aim::Observe => self.client.rests = Instant::FOREVER,
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
            Aim::Observe
                if self.client.rests != Instant::FOREVER && self.client.session.is_open() =>
            {
                self.want(now);
            }
            // What waits for an answer is asked already.
            Aim::Wait if self.client.next != Instant::FOREVER => self.client.next = now,
            _ => {}
        }
    }

    fn its_guard(&self) -> Guard {
        let guarded = self.client.rules.keeps(Rule::GuardedWrites);
        Guard {
            path: self.epoch_path.clone(),
            version: if guarded { self.version } else { -1 },
        }
    }

    /// Follows whoever leads until the next look but one.
    fn follow(&mut self, now: Instant, epoch: u64) {
        let seen = self.seen.as_deref();
        let leader = seen.and_then(|data| self.client.leader(now, data, epoch));
        self.office.follow(leader);
    }

    /// Whether the session is kept by writes: for who leads, or is about to. Everybody else's is kept by the client's library.
    fn writes(&self) -> bool {
        matches!(self.aim, Aim::Won | Aim::Hold)
    }

    /// What the aim needs.
    fn needs(&self) -> Kind {
        let watch = !self.client.is_watching();
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

    /// Does what is due.
    fn act(&mut self, now: Instant) {
        while let Some(kind) = self.client.overdue(now) {
            self.doubt(now, kind);
        }
        let session = &self.client.session;
        match self.aim {
            Aim::Leave(rest) if session.is_over(now) => self.stand_back(now, rest),
            Aim::Observe if self.client.rests <= now && session.is_open() => self.want(now),
            // Its claim is proven by a write that is sent a tick after it was answered.
            Aim::Won if self.client.next <= now => {
                self.client.session.hurry(now);
                self.client.try_later(now);
            }
            _ => {}
        }
        self.client.keep(now, self.writes());
        if self.aim != Aim::Won {
            self.client.ask_in_time(now, self.needs());
        }
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
            Input::Reply(ticket, result) => match self.client.hear(now, ticket, result) {
                News::None => {}
                News::Opened => self.opened(now),
                News::Shortened => {
                    self.office.depose(Why::Taken);
                    self.leave(now, Rest::None);
                }
                News::Over => self.session_over(now),
                News::Changed(change) => self.changed(now, change),
                News::Answer(answer) => self.answered(now, answer),
            },
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
        while let Some((ticket, kind)) = self.client.untold() {
            if let Some(call) = self.call(kind) {
                return Some(Output::Request(ticket, call));
            }
        }
        self.office.rest();
        None
    }

    fn deadline(&self) -> Option<Instant> {
        let until = match self.aim {
            // Which comes with the session, if there is none.
            Aim::Observe if self.client.session.is_open() => self.client.rests,
            _ => Instant::FOREVER,
        };
        let others = self.client.due(self.writes());
        self.office.deadline(others.chain([until]))
    }

    fn grain(&self) -> Duration {
        self.client.config.common.timing.grain
    }

    fn standing(&self, now: Instant) -> Standing {
        self.office.standing(now)
    }

    fn fingerprint<H: Hasher>(&self, now: Instant, hasher: &mut H) {
        self.office.fingerprint(now, hasher);
        self.client.fingerprint(now, hasher);
        let rests = match self.aim {
            Aim::Observe => self.client.rests.ahead_of(now),
            _ => Duration::ZERO,
        };
        let watching = self.client.is_watching();
        let claim = (self.claimed, self.version);
        (self.aim, rests, claim, self.known, watching).hash(hasher);
    }
}
