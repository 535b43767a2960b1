//! The machine: what the node is about, and what it asks the database for that.

use super::api::{Reply, Request, Row};
use crate::lease::office::{NotElected, Office};
use crate::lease::refuse::{Refusal, Refusals};
use crate::lease::requests::{Open, Requests};
use crate::lease::rules::counts_from;
use crate::lease::{Boot, BudgetError, Claimant, Config, Faithful, Nonce, Rule, Rules};
use crate::random::Random;
use crate::{
    Duration, Election, Input, Instant, Leader, Output, Standing, Tenure, Token, Unknown, Why,
};
use core::convert::Infallible;
use core::hash::{Hash, Hasher};

/// What a request was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Asked {
    Take(u32),
    Renew(Hold),
    Release(Hold),
    Read,
}

/// The row as this node has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Hold {
    /// By which attempt.
    attempt: u32,
    epoch: u64,
}

/// What the node is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Aim {
    /// Looks who holds it, and does not want it: until then, or for good.
    Observe(Instant),
    /// Wants it.
    Take,
    /// Found the row to be its own, from an attempt whose result it never learned: it is renewed before it counts, so that
    /// the tenure has a send of its own (LS-R4).
    Confirm(Hold),
    /// Holds it.
    Hold(Hold),
    /// Gives it up.
    Release {
        hold: Hold,
        /// For the database the lease is over then at the latest.
        over: Instant,
        /// How long it does not want it afterwards.
        rest: Duration,
    },
}

/// One node's election by a row of a database.
#[derive(Clone, Debug)]
pub struct Sql<R: Rules = Faithful> {
    config: Config,
    rules: R,
    office: Office<Request>,
    requests: Requests<Asked>,
    refusals: Refusals,
    random: Random,
    aim: Aim,
    /// When to ask for what the aim needs; [`Instant::FOREVER`] while an answer is waited for.
    next: Instant,
    /// Which attempt is the present one.
    attempt: u32,
    /// Its nonce. Those of the others count up to it, and down from it.
    nonce: Nonce,
    /// Whether an attempt with this nonce may yet be carried out: then it is kept, to recognise the row by.
    doubtful: bool,
    /// Whether another held the row when it was last seen: then it is read until that is over, for to take it is to write.
    taken: bool,
    /// The holder as it was last seen.
    holder: Option<Claimant>,
}

impl Sql {
    /// A machine that keeps every rule.
    ///
    /// # Errors
    /// Parameters that leave no slack, with the remedy.
    pub fn new(config: Config, boot: Boot, now: Instant) -> Result<Self, BudgetError> {
        Self::with_rules(config, boot, now, Faithful)
    }
}

impl<R: Rules> Sql<R> {
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
        let node = config.claimant.identity.node();
        let mut random = Random::new(boot.seed, node, boot.incarnation);
        let mut machine = Self {
            office: Office::new(now, rules.keeps(Rule::DemoteByTimer)),
            requests: Requests::new(boot.incarnation),
            refusals: Refusals::default(),
            attempt: 0,
            nonce: Nonce::draw(&mut random),
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

    /// Who held the row when it was last seen by a node that does not hold it, with what it wants others to know.
    #[must_use]
    pub const fn holder(&self) -> Option<&Claimant> {
        self.holder.as_ref()
    }

    /// Whether the row was given up and the database has not said so yet. Wait for the end of this, at most a lease,
    /// before the process ends, and the successor need not wait for the lease.
    #[must_use]
    pub const fn releasing(&self) -> bool {
        matches!(self.aim, Aim::Release { .. })
    }

    /// The answers that were refused.
    #[must_use]
    pub const fn refusals(&self) -> &Refusals {
        &self.refusals
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

    fn answered(&mut self, now: Instant, open: Open<Asked>, result: Result<Reply, Unknown>) {
        match (open.what, result) {
            (Asked::Take(attempt), Ok(Reply::Taken(epoch))) => {
                self.taken(now, open.sent, Hold { attempt, epoch })
            }
            (Asked::Renew(hold), Ok(Reply::Renewed)) => self.renewed(now, open.sent, hold),
            (Asked::Release(hold), Ok(Reply::Released)) => self.released(now, hold),
            (Asked::Take(_) | Asked::Renew(_) | Asked::Read, Ok(Reply::Row(row))) => {
                // A late look may be older than what is known since.
                if !open.late {
                    self.saw(now, open.what, row);
                }
            }
            (_, Ok(Reply::NotDone)) => {}
            (asked, result) => {
                if result.is_ok() {
                    self.refusals.add(Refusal::WrongAnswer);
                }
                self.doubtful |= matches!(asked, Asked::Take(_));
            }
        }
    }

    /// The row was taken by a request that was sent then.
    fn taken(&mut self, now: Instant, sent: Instant, hold: Hold) {
        match self.aim {
            Aim::Take if hold.attempt == self.attempt => self.lead(now, sent, hold),
            // Carried out twice, it may have been taken twice. What it leads by, or may yet, is not given up: a release that is
            // late would free it for another.
            Aim::Confirm(own) if own.attempt == hold.attempt => {
                if own.epoch <= hold.epoch {
                    self.lead(now, sent, hold);
                }
            }
            Aim::Hold(own) if own.attempt == hold.attempt => {}
            Aim::Release { hold: own, .. } if own == hold => {}
            // By an attempt that was given up. Left alone it would keep everybody out until the lease ends.
            _ => {
                self.requests.make(now, Asked::Release(hold));
            }
        }
    }

    /// The row is held, by a request that was sent then.
    fn lead(&mut self, now: Instant, sent: Instant, hold: Hold) {
        let token = Token::new(self.config.generation, hold.epoch);
        match self.office.elect(token, self.until(now, sent)) {
            Ok(()) => {
                self.holder = None;
                self.aim = Aim::Hold(hold);
                self.renew_later(sent);
            }
            Err(why) => {
                if let NotElected::For(refusal) = why {
                    self.refusals.add(refusal);
                }
                self.release(now, hold, self.config.timing.retry);
            }
        }
    }

    fn renewed(&mut self, now: Instant, sent: Instant, hold: Hold) {
        match self.aim {
            Aim::Confirm(own) if own == hold => self.lead(now, sent, hold),
            Aim::Hold(own) if own == hold => {
                let until = self.until(now, sent);
                self.office.extend(until);
                self.renew_later(sent);
            }
            _ => {}
        }
    }

    fn released(&mut self, now: Instant, hold: Hold) {
        if let Aim::Release {
            hold: own, rest, ..
        } = self.aim
            && own == hold
        {
            self.stand_back(now, rest);
        }
    }

    /// The row is like this, and what was asked for was not done.
    fn saw(&mut self, now: Instant, asked: Asked, row: Option<Row>) {
        let own = row.as_ref().filter(|row| self.is_own(row));
        let own = own.map(|row| (row.nonce, row.epoch));
        let own = own.map(|(nonce, epoch)| {
            // Where it is known by the name alone, that of another.
            self.nonce = nonce;
            let attempt = self.attempt;
            Hold { attempt, epoch }
        });
        match (self.aim, own) {
            (Aim::Hold(hold), _) if asked == Asked::Renew(hold) => {
                self.office.depose(Why::Taken);
                self.follow(now, row.as_ref());
                self.want_anew();
            }
            // It lapsed before it was confirmed, or a Renew would have come through.
            (Aim::Confirm(_), Some(hold)) if asked == Asked::Renew(hold) => {
                self.release(now, hold, Duration::ZERO)
            }
            (Aim::Take | Aim::Confirm(_), Some(hold)) => {
                self.aim = Aim::Confirm(hold);
                self.next = now;
            }
            (Aim::Take | Aim::Confirm(_), None) => {
                self.follow(now, row.as_ref());
                self.aim = Aim::Take;
                if !self.doubtful {
                    self.want_anew();
                }
                self.taken = self.office.leader().is_some();
                if asked == Asked::Read && !self.taken {
                    self.next = now;
                }
            }
            // An attempt that was given up came through after all.
            (Aim::Observe(until), Some(hold)) => self.release(now, hold, until.since(now)),
            (Aim::Observe(_), None) => self.follow(now, row.as_ref()),
            _ => {}
        }
    }

    /// Whether a row is that of the present attempt.
    fn is_own(&self, row: &Row) -> bool {
        let Some(holder) = &row.holder else {
            return false;
        };
        if self.rules.keeps(Rule::Nonce) {
            row.nonce == self.nonce
        } else {
            holder.identity == self.config.claimant.identity
        }
    }

    /// Whom the row names is followed for as long as it is held.
    fn follow(&mut self, now: Instant, row: Option<&Row>) {
        self.holder = row.and_then(|row| row.holder.clone());
        let timing = &self.config.timing;
        let leader = row.filter(|row| row.left > Duration::ZERO).and_then(|row| {
            let leader = Leader {
                node: row.holder.as_ref()?.identity.node(),
                token: Token::new(self.config.generation, row.epoch),
            };
            // What is left of it on any clock, and a look more.
            let until = now + timing.surely_over(row.left) + timing.retry;
            Some((leader, until))
        });
        self.office.follow(leader);
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

    /// With an attempt that no row can be of yet.
    fn want_anew(&mut self) {
        self.aim = Aim::Take;
        self.attempt = self.attempt.wrapping_add(1);
        self.nonce = Nonce(self.nonce.0.wrapping_add(1));
        self.doubtful = false;
        self.taken = false;
    }

    /// Until when the answer to a request that was sent then lets a holder believe.
    fn until(&self, now: Instant, sent: Instant) -> Instant {
        let from = counts_from(&self.rules, sent, now);
        from + self.config.timing.belief(self.config.timing.ttl)
    }

    fn renew_later(&mut self, sent: Instant) {
        self.next = sent + self.config.timing.renew_pause(&mut self.random);
    }

    /// The nonce of an attempt.
    fn nonce_of(&self, attempt: u32) -> Nonce {
        let ago = self.attempt.wrapping_sub(attempt);
        Nonce(self.nonce.0.wrapping_sub(ago.into()))
    }

    /// The statement that something is asked for with.
    fn statement(&self, asked: Asked) -> Request {
        let ttl = self.config.timing.ttl;
        match asked {
            Asked::Take(attempt) => Request::Take {
                claimant: self.config.claimant.clone(),
                nonce: self.nonce_of(attempt),
                ttl,
            },
            Asked::Renew(Hold { attempt, epoch }) => Request::Renew {
                nonce: self.nonce_of(attempt),
                epoch,
                ttl,
            },
            Asked::Release(Hold { attempt, epoch }) => Request::Release {
                nonce: self.nonce_of(attempt),
                epoch,
            },
            Asked::Read => Request::Read,
        }
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

impl<R: Rules> Election for Sql<R> {
    type Peer = Infallible;
    type Request = Request;
    type Reply = Reply;

    fn handle(&mut self, now: Instant, input: Input<Infallible, Reply>) {
        let (now, lapsed) = self.office.look_at_the_clock(now);
        if lapsed && let Aim::Hold(hold) = self.aim {
            // With this epoch it does not lead again (C4). Given up, the row is free for who is first.
            self.release(now, hold, Duration::ZERO);
        }
        match input {
            Input::Campaign => self.campaign(now),
            Input::Peer(_, never) => match never {},
            Input::Reply(ticket, result) => match self.requests.answered(ticket) {
                Some(open) => self.answered(now, open, result),
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

    fn poll(&mut self) -> Option<Output<Infallible, Request>> {
        if let Some(output) = self.office.poll() {
            return Some(output);
        }
        let Some((ticket, asked)) = self.requests.untold() else {
            self.office.rest();
            return None;
        };
        Some(Output::Request(ticket, self.statement(asked)))
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
        let hold = |hold: Hold| Some((hold.epoch, hold.attempt == self.attempt));
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
