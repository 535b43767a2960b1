//! One record that a holder takes, renews and gives up, with a counter that rises with every change of hands: a
//! [row](super::sql) of a database, a [key](super::redis) of a server. The machine is the same, and what differs from one
//! store to the other is in [`Keeper`].

mod answers;

use super::office::Office;
use super::refuse::{Counter, Refusal, Refusals};
use super::requests::Requests;
use super::{Boot, BudgetError, Claimant, Config, Faithful, Nonce, Rule, Rules};
use crate::random::Random;
use crate::{Duration, Election, Input, Instant, Leader, Output, Standing, Tenure, Why};
use core::convert::Infallible;
use core::fmt::Debug;
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;

/// A kind of store that keeps a record: what it is asked by, and what differs from one to the other.
pub trait Keeper: Clone + Debug {
    /// What it is asked.
    type Request: Clone + Debug + PartialEq;
    /// What it answers.
    type Reply: Clone + Debug + PartialEq;

    /// The highest counter with which anybody leads.
    const LAST: u64;
    /// Whether to take it is to write, even if another holds it: then who waits looks until it is free.
    const LOOKS_FIRST: bool;
    /// Whether a record that is the own one and cannot be renewed keeps everybody out, until it is given up.
    const STAYS: bool;

    /// What counts of a configuration.
    fn configured(config: Config) -> Config {
        config
    }

    /// How something is asked for.
    fn request(call: Call) -> Self::Request;

    /// What an answer says.
    fn answer(reply: Self::Reply) -> Answer;
}

/// What is asked of a store.
#[derive(Debug)]
pub enum Call {
    /// To be the holder, if there is none.
    Take(Mark, Duration),
    /// To hold it on, with this counter.
    Renew(Mark, u64, Duration),
    /// To be the holder no more.
    Release {
        /// By which attempt it is.
        mark: Mark,
        /// With which counter.
        counter: u64,
        /// Whether it is compared first, where it can be left out: [`Rule::CompareAndDelete`].
        compare: bool,
    },
    /// Who holds it.
    Read,
}

/// By what the record is that of one attempt.
#[derive(Debug)]
pub struct Mark {
    /// Who attempted it.
    pub claimant: Claimant,
    /// What tells it from every other.
    pub nonce: Nonce,
}

/// What a store answered.
#[derive(Debug)]
pub enum Answer {
    /// The record is the node's, with this counter.
    Taken(u64),
    /// It holds it on.
    Renewed,
    /// It does not hold it any more.
    Released,
    /// How the record is, if there is one.
    Seen(Option<Seen>),
    /// Nothing was done, for certain.
    NotDone,
}

/// The record.
#[derive(Debug)]
pub struct Seen {
    /// Who holds it, and by which attempt; `None` when nobody does that could be known.
    pub mark: Option<Mark>,
    /// Its counter.
    pub counter: u64,
    /// How long it is held on.
    pub left: Duration,
}

/// What a request was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Asked {
    /// With the nonce of this attempt.
    Take(u32),
    Renew(Hold),
    Release(Hold),
    Read,
}

/// The record as this node has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Hold {
    /// By which attempt.
    attempt: u32,
    counter: u64,
}

/// What the node is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Aim {
    /// Looks who holds it, and does not want it: until then, or for good.
    Observe(Instant),
    /// Wants it.
    Take,
    /// Found the record to be its own, from an attempt whose result it never learned: it is renewed before it counts, so
    /// that the tenure has a send of its own (LS-R4).
    Confirm(Hold),
    /// Holds it.
    Hold(Hold),
    /// Gives it up.
    Release {
        hold: Hold,
        /// For the store the lease is over then at the latest.
        over: Instant,
        /// How long it does not want it afterwards.
        rest: Duration,
    },
}

/// One node's election by a record of a store: [`Sql`](super::sql::Sql), [`Redis`](super::redis::Redis).
#[derive(Clone, Debug)]
pub struct Record<K: Keeper, R: Rules = Faithful> {
    config: Config,
    rules: R,
    office: Office<Infallible>,
    requests: Requests<Asked>,
    refusals: Counter,
    random: Random,
    aim: Aim,
    /// When to ask for what the aim needs; [`Instant::FOREVER`] while an answer is waited for.
    next: Instant,
    /// The nonce of the first attempt of this life; those after it count up from there.
    first: Nonce,
    /// The present attempt.
    attempt: u32,
    /// Whether it may yet be carried out: then it is gone on with, to recognise the record by.
    doubtful: bool,
    /// Whether another held the record when it was last seen, where who waits looks until that is over.
    taken: bool,
    /// The holder as it was last seen.
    holder: Option<Claimant>,
    keeper: PhantomData<K>,
}

impl<K: Keeper> Record<K> {
    /// A machine that keeps every rule.
    ///
    /// # Errors
    /// Parameters that leave no slack, with the remedy.
    pub fn new(config: Config, boot: Boot, now: Instant) -> Result<Self, BudgetError> {
        Self::with_rules(config, boot, now, Faithful)
    }
}

impl<K: Keeper, R: Rules> Record<K, R> {
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
        let config = K::configured(config);
        config.budget()?;
        let node = config.claimant.identity.node();
        let mut random = Random::new(boot.seed, node, boot.incarnation);
        let mut machine = Self {
            office: Office::new(now, rules.keeps(Rule::DemoteByTimer)),
            requests: Requests::new(boot.incarnation),
            refusals: Counter::NEVER,
            first: Nonce::draw(&mut random),
            attempt: 0,
            random,
            aim: if config.candidate {
                Aim::Take
            } else {
                Aim::Observe(Instant::FOREVER)
            },
            next: now,
            doubtful: false,
            taken: false,
            holder: None,
            keeper: PhantomData,
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

    /// Who held the record when it was last seen by a node that does not hold it, with what it wants others to know.
    #[must_use]
    pub fn holder(&self) -> Option<Claimant> {
        self.holder.clone()
    }

    /// Whether the record was given up and the store has not said so yet. Wait for the end of this, at most a lease,
    /// before the process ends, and the successor need not wait for the lease.
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
            Aim::Take if self.next != Instant::FOREVER => self.next = now,
            _ => {}
        }
    }

    /// The nonce of an attempt of this life.
    fn nonce(&self, attempt: u32) -> Nonce {
        if self.rules.keeps(Rule::Nonce) {
            Nonce(self.first.0.wrapping_add(attempt.into()))
        } else {
            Nonce(self.config.claimant.identity.node().0.into())
        }
    }

    /// Gives it up, and then does not want it for a while.
    fn release(&mut self, now: Instant, hold: Hold, rest: Duration) {
        let timing = &self.config.timing;
        let over = now + timing.surely_over(timing.ttl);
        self.aim = Aim::Release { hold, over, rest };
        self.next = now;
    }

    /// It was given up.
    fn stand_back(&mut self, now: Instant, rest: Duration) {
        self.want_anew();
        if !self.config.candidate {
            self.aim = Aim::Observe(Instant::FOREVER);
        } else if rest > Duration::ZERO {
            self.aim = Aim::Observe(now + rest);
        }
        self.next = now;
    }

    /// With an attempt that no record can be of yet.
    fn want_anew(&mut self) {
        self.aim = Aim::Take;
        self.attempt = self.attempt.wrapping_add(1);
        self.doubtful = false;
        self.taken = false;
    }

    fn renew_later(&mut self, sent: Instant) {
        self.next = sent + self.config.timing.renew_pause(&mut self.random);
    }

    /// What something is asked for by.
    fn request(&self, asked: Asked) -> K::Request {
        let ttl = self.config.timing.ttl;
        let mark = |attempt| Mark {
            claimant: self.config.claimant.clone(),
            nonce: self.nonce(attempt),
        };
        K::request(match asked {
            Asked::Take(attempt) => Call::Take(mark(attempt), ttl),
            Asked::Renew(hold) => Call::Renew(mark(hold.attempt), hold.counter, ttl),
            Asked::Release(hold) => Call::Release {
                mark: mark(hold.attempt),
                counter: hold.counter,
                compare: self.rules.keeps(Rule::CompareAndDelete),
            },
            Asked::Read => Call::Read,
        })
    }

    /// Does what is due.
    fn act(&mut self, now: Instant) {
        while let Some(open) = self.requests.overdue(now, self.config.timing.patience) {
            self.doubtful |= matches!(open.what, Asked::Take(_));
        }
        match self.aim {
            Aim::Release { over, rest, .. } if over <= now => self.stand_back(now, rest),
            Aim::Observe(until) if until <= now => self.want_anew(),
            _ => {}
        }
        if self.next == Instant::FOREVER && !self.requests.waits() {
            self.next = now + self.config.timing.retry_pause(&mut self.random);
        }
        if self.next > now {
            return;
        }
        self.next = Instant::FOREVER;
        let asked = match self.aim {
            Aim::Observe(_) => Asked::Read,
            Aim::Take if self.taken => Asked::Read,
            Aim::Take => Asked::Take(self.attempt),
            Aim::Confirm(hold) | Aim::Hold(hold) => Asked::Renew(hold),
            Aim::Release { hold, .. } => Asked::Release(hold),
        };
        self.requests.make(now, asked);
    }
}

impl<K: Keeper, R: Rules> Election for Record<K, R> {
    type Peer = Infallible;
    type Request = K::Request;
    type Reply = K::Reply;

    fn handle(&mut self, now: Instant, input: Input<Infallible, K::Reply>) {
        let (now, lapsed) = self.office.look_at_the_clock(now);
        if lapsed && let Aim::Hold(hold) = self.aim {
            // With this token it does not lead again (C4). Given up, the record is free for who is first.
            self.release(now, hold, Duration::ZERO);
        }
        match input {
            Input::Campaign => self.campaign(now),
            Input::Peer(_, never) => match never {},
            Input::Reply(ticket, result) => match self.requests.answered(ticket) {
                Some(open) => self.answered(now, open, result.map(K::answer)),
                None => self.refusals.add(Refusal::UnknownTicket),
            },
            Input::Resign { .. } => {
                if let Aim::Hold(hold) = self.aim {
                    self.office.depose(Why::Resigned);
                    // Somebody else comes first, for as long as a lease.
                    self.release(now, hold, self.config.timing.ttl);
                }
            }
            Input::Timeout => {}
        }
        self.act(now);
    }

    fn poll(&mut self) -> Option<Output<Infallible, K::Request>> {
        match self.office.poll() {
            Some(Output::Event(event)) => return Some(Output::Event(event)),
            Some(Output::Request(_, never) | Output::Send(_, never)) => match never {},
            None => {}
        }
        if let Some((ticket, asked)) = self.requests.untold() {
            return Some(Output::Request(ticket, self.request(asked)));
        }
        self.office.rest();
        None
    }

    fn deadline(&self) -> Option<Instant> {
        let over = match self.aim {
            Aim::Release { over, .. } => over,
            Aim::Observe(until) => until,
            _ => Instant::FOREVER,
        };
        let overdue = self.requests.next_overdue(self.config.timing.patience);
        let others = [self.next, over];
        self.office.deadline(overdue.into_iter().chain(others))
    }

    fn grain(&self) -> Duration {
        self.config.timing.grain
    }

    fn standing(&self, now: Instant) -> Standing {
        self.office.standing(now)
    }

    fn fingerprint<H: Hasher>(&self, now: Instant, hasher: &mut H) {
        self.office.fingerprint(now, hasher);
        self.requests.fingerprint(now, hasher);
        self.next.ahead_of(now).hash(hasher);
        (self.doubtful, self.taken).hash(hasher);
        // Which attempt it is says nothing: whether it is the present one does.
        let hold = |hold: Hold| Some((hold.counter, hold.attempt == self.attempt));
        let (place, hold, until, rest) = match self.aim {
            Aim::Observe(until) => (0u8, None, until.ahead_of(now), Duration::ZERO),
            Aim::Take => (1, None, Duration::ZERO, Duration::ZERO),
            Aim::Confirm(own) => (2, hold(own), Duration::ZERO, Duration::ZERO),
            Aim::Hold(own) => (3, hold(own), Duration::ZERO, Duration::ZERO),
            Aim::Release {
                hold: own,
                over,
                rest,
            } => (4, hold(own), over.ahead_of(now), rest),
        };
        (place, hold, until, rest).hash(hasher);
    }
}
