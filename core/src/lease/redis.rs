//! A key of one Redis server that ends by itself, and beside it a counter that rises with every change of hands.
//!
//! `KEYS[1]` is the lock and `KEYS[2]` the counter: two keys of the election, in one slot of a cluster (`{name}` and
//! `{name}:token`). The lock holds a [`Value`], the counter is never deleted and never expires. Each [`Request`] is one script,
//! so that lock and counter are always those of one moment. Intervals are sent in whole milliseconds, rounded *up*.
//!
//! A script's number is a float to Redis, exact to 2⁵³ alone: a counter beyond [`MAX_TOKEN`] elects nobody.
//!
//! What is left out, on purpose: locks that are entered more than once and waiters that are told by a channel (Redisson): a
//! message that is lost leaves the lock to the poll anyhow.
//!
//! **What breaks it.** A replica that is promoted without the lock, a restart without the last writes, `FLUSHALL`, an eviction
//! (use `noeviction`), a wall clock of the server that jumps forward: two hold it, and the counter may fall back with it, so
//! that both have the same token. `WAIT` narrows the first and closes none of them. Raise the generation after each.

use super::office::{NotElected, Office, ahead};
use super::refuse::{Refusal, Refusals};
use super::requests::{Open, Requests};
use super::{Boot, BudgetError, Claimant, Config, Faithful, Identity, Nonce, Rule, Rules};
use crate::random::Random;
use crate::{
    Duration, Election, Input, Instant, Leader, Output, Standing, Tenure, Token, Unknown, Why,
};
use alloc::string::ToString;
use core::convert::Infallible;
use core::fmt;
use core::hash::{Hash, Hasher};

/// The highest counter: beyond it a script's answer loses digits, and two may get the same.
pub const MAX_TOKEN: u64 = (1 << 53) - 1;

/// What the lock holds: `nonce:bytes of the name:name:metadata`, the nonce as 32 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Value {
    /// Of the attempt that took it.
    pub nonce: Nonce,
    /// Who took it.
    pub claimant: Claimant,
}

impl Value {
    /// Reads what the lock holds; `None` when no machine wrote it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (nonce, rest) = text.split_once(':')?;
        let (length, rest) = rest.split_once(':')?;
        let (name, rest) = rest.split_at_checked(length.parse().ok()?)?;
        let value = Self {
            nonce: Nonce(u128::from_str_radix(nonce, 16).ok()?),
            claimant: Claimant::new(Identity::new(name).ok()?)
                .with_metadata(rest.strip_prefix(':')?)
                .ok()?,
        };
        // What is compared as bytes is written in one way alone.
        (value.to_string() == text).then_some(value)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.claimant.identity.name();
        let metadata = self.claimant.metadata();
        write!(f, "{}:{}:{name}:{metadata}", self.nonce, name.len())
    }
}

/// A script for the host to run (`EVAL` or `EVALSHA`). An error that Redis answers after a script began is [`Unknown`]: what
/// came before it was done.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    /// Takes the lock if it is free. Answered by [`Reply::Taken`] with the number that comes back, and else as
    /// [`Read`](Self::Read) is. `ARGV`: value, ttl.
    ///
    /// ```lua
    /// if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return redis.call('INCR', KEYS[2]) end
    /// return {redis.call('GET', KEYS[1]), redis.call('GET', KEYS[2]), redis.call('PTTL', KEYS[1])}
    /// ```
    Take {
        /// What the lock holds then.
        value: Value,
        /// For how long.
        ttl: Duration,
    },
    /// Holds it on. Answered by [`Reply::Renewed`] for a 1, and else as [`Read`](Self::Read) is. `ARGV`: value, ttl, token.
    ///
    /// ```lua
    /// if redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('GET', KEYS[2]) == ARGV[3] then
    ///   return redis.call('PEXPIRE', KEYS[1], ARGV[2])
    /// end
    /// return {redis.call('GET', KEYS[1]), redis.call('GET', KEYS[2]), redis.call('PTTL', KEYS[1])}
    /// ```
    Renew {
        /// What the lock must hold.
        value: Value,
        /// What the counter must be.
        token: u64,
        /// For how long from now.
        ttl: Duration,
    },
    /// Gives it up. Answered by [`Reply::Released`] for 1 and 0 alike: it is not this holder's any more. `ARGV`: value.
    ///
    /// ```lua
    /// if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
    /// return 0
    /// ```
    Release {
        /// What the lock must hold.
        value: Value,
    },
    /// `DEL KEYS[1]`, whosever it is, answered by [`Reply::Released`]. Asked for by a machine without the rule
    /// [`CompareAndDelete`](Rule::CompareAndDelete) alone.
    Delete,
    /// Looks. Answered by [`Reply::Found`]; by `Found(None)` when the first of the three is nil.
    ///
    /// ```lua
    /// return {redis.call('GET', KEYS[1]), redis.call('GET', KEYS[2]), redis.call('PTTL', KEYS[1])}
    /// ```
    Read,
}

/// What the server answered. What may or may not have been carried out is no reply but [`Unknown`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reply {
    /// The lock is the node's, with this token.
    Taken(u64),
    /// It holds it on.
    Renewed,
    /// It does not hold it any more.
    Released,
    /// What the keys hold; `None` when the lock is free.
    Found(Option<Found>),
    /// Nothing was done, for certain: no connection, `READONLY`, `LOADING`, `OOM` before the script began.
    NotDone,
}

/// A lock that is held.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Found {
    /// What it holds; `None` when no machine wrote that.
    pub value: Option<Value>,
    /// The counter; 0 when there is none, or no number.
    pub token: u64,
    /// How long it is held on, by the server's clock; for ever is the longest there is.
    pub left: Duration,
}

/// What a request was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Asked {
    Take(Nonce),
    Renew(Hold),
    Release(Hold),
    Read,
}

/// The lock as this node has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Hold {
    nonce: Nonce,
    token: u64,
}

/// What the node is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Aim {
    /// Looks who holds it, and does not want it: until then, or for good.
    Watch(Instant),
    /// Wants it.
    Take,
    /// Found the lock to be its own, from an attempt whose result it never learned: it is renewed before it counts, so that
    /// the tenure has a send of its own (LS-R4).
    Confirm(Hold),
    /// Holds it.
    Hold(Hold),
    /// Gives it up.
    Release {
        hold: Hold,
        /// For the server the lease is over then at the latest.
        over: Instant,
        /// How long it does not want it afterwards.
        rest: Duration,
    },
}

/// One node's election by a key of a Redis server.
#[derive(Clone, Debug)]
pub struct Redis<R: Rules = Faithful> {
    config: Config,
    rules: R,
    office: Office<Request>,
    requests: Requests<Asked>,
    refusals: Refusals,
    random: Random,
    aim: Aim,
    /// When to ask for what the aim needs; [`Instant::FOREVER`] while an answer is waited for.
    next: Instant,
    /// Of the present attempt.
    nonce: Nonce,
    /// Whether an attempt with this nonce may yet be carried out: then it is kept, to recognise the lock by.
    doubtful: bool,
    /// The holder as it was last seen.
    holder: Option<Claimant>,
}

impl Redis {
    /// A machine that keeps every rule.
    ///
    /// # Errors
    /// Parameters that leave no slack, with the remedy.
    pub fn new(config: Config, boot: Boot, now: Instant) -> Result<Self, BudgetError> {
        Self::with_rules(config, boot, now, Faithful)
    }
}

impl<R: Rules> Redis<R> {
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
            nonce: Nonce::draw(&mut random),
            random,
            aim: if config.candidate {
                Aim::Take
            } else {
                Aim::Watch(Instant::FOREVER)
            },
            next: now,
            doubtful: false,
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

    /// Who held the lock when it was last seen by a node that does not hold it, with what it wants others to know.
    #[must_use]
    pub const fn holder(&self) -> Option<&Claimant> {
        self.holder.as_ref()
    }

    /// Whether the lock was given up and the server has not said so yet. Wait for the end of this, at most a lease,
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
            Aim::Watch(until) if until != Instant::FOREVER => {
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
            (Asked::Take(nonce), Ok(Reply::Taken(token))) => {
                self.taken(now, open.sent, Hold { nonce, token })
            }
            (Asked::Renew(hold), Ok(Reply::Renewed)) => self.renewed(now, open.sent, hold),
            (Asked::Release(hold), Ok(Reply::Released)) => self.released(now, hold),
            (Asked::Take(_) | Asked::Renew(_) | Asked::Read, Ok(Reply::Found(found))) => {
                // A late look may be older than what is known since.
                if !open.late {
                    self.saw(now, open.what, found);
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

    /// The lock was taken by a request that was sent then.
    fn taken(&mut self, now: Instant, sent: Instant, hold: Hold) {
        match self.aim {
            Aim::Take if hold.nonce == self.nonce => self.lead(now, sent, hold),
            Aim::Confirm(own) if own == hold => self.lead(now, sent, hold),
            Aim::Hold(own) | Aim::Release { hold: own, .. } if own == hold => {}
            // By an attempt that was given up. Left alone it would keep everybody out until the lease ends.
            _ => self.ask(now, Asked::Release(hold)),
        }
    }

    /// The lock is held, by a request that was sent then.
    fn lead(&mut self, now: Instant, sent: Instant, hold: Hold) {
        let token = Token::new(self.config.generation, hold.token);
        let elected = if hold.token > MAX_TOKEN {
            Err(NotElected::For(Refusal::TokenExhausted))
        } else {
            self.office.elect(token, self.until(now, sent))
        };
        match elected {
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

    /// The lock is like this, and what was asked for was not done.
    fn saw(&mut self, now: Instant, asked: Asked, found: Option<Found>) {
        let own = found.as_ref().and_then(|found| self.own(found));
        match (self.aim, own) {
            (Aim::Hold(hold), _) if asked == Asked::Renew(hold) => {
                self.office.depose(Why::Taken);
                self.follow(now, found);
                self.want_anew();
            }
            // It lapsed before it was confirmed, or a Renew would have come through.
            (Aim::Confirm(_), Some(hold)) if asked == Asked::Renew(hold) => {
                self.release(now, hold, Duration::ZERO);
            }
            (Aim::Take | Aim::Confirm(_), Some(hold)) => {
                self.aim = Aim::Confirm(hold);
                self.next = now;
            }
            (Aim::Take | Aim::Confirm(_), None) => {
                self.follow(now, found);
                self.aim = Aim::Take;
                if !self.doubtful {
                    self.want_anew();
                }
            }
            // An attempt that was given up came through after all.
            (Aim::Watch(until), Some(hold)) => self.release(now, hold, until.since(now)),
            (Aim::Watch(_), None) => self.follow(now, found),
            _ => {}
        }
    }

    /// The lock, if it is that of the present attempt.
    fn own(&self, found: &Found) -> Option<Hold> {
        let value = found.value.as_ref()?;
        let own = if self.rules.keeps(Rule::Nonce) {
            value.nonce == self.nonce
        } else {
            value.claimant.identity == self.config.claimant.identity
        };
        own.then_some(Hold {
            nonce: value.nonce,
            token: found.token,
        })
    }

    /// Whom the lock names is followed for as long as it is held.
    fn follow(&mut self, now: Instant, found: Option<Found>) {
        let (token, left) = found
            .as_ref()
            .map_or((0, Duration::ZERO), |found| (found.token, found.left));
        self.holder = found
            .and_then(|found| found.value)
            .map(|value| value.claimant);
        let timing = &self.config.timing;
        let held = self.holder.as_ref().filter(|_| left > Duration::ZERO);
        let leader = held.map(|holder| {
            let leader = Leader {
                node: holder.identity.node(),
                token: Token::new(self.config.generation, token),
            };
            // What is left of it on any clock, and a look more.
            let until = now + timing.rate.outlast(left) + timing.retry + timing.patience;
            (leader, until)
        });
        self.office.follow(leader);
    }

    /// Gives it up, and then does not want it for a while.
    fn release(&mut self, now: Instant, hold: Hold, rest: Duration) {
        let timing = &self.config.timing;
        let over = now + timing.rate.outlast(timing.ttl) + timing.patience;
        self.aim = Aim::Release { hold, over, rest };
        self.next = now;
    }

    /// It was given up.
    fn stand_back(&mut self, now: Instant, rest: Duration) {
        self.want_anew();
        if !self.config.candidate {
            self.aim = Aim::Watch(Instant::FOREVER);
        } else if rest > Duration::ZERO {
            self.aim = Aim::Watch(now + rest);
        }
        self.next = now;
    }

    /// With an attempt that no lock can be of yet.
    fn want_anew(&mut self) {
        self.aim = Aim::Take;
        self.nonce = Nonce::draw(&mut self.random);
        self.doubtful = false;
    }

    /// Until when the answer to a request that was sent then lets a holder believe.
    fn until(&self, now: Instant, sent: Instant) -> Instant {
        let from = if self.rules.keeps(Rule::ValidityFromSend) {
            sent
        } else {
            now
        };
        from + self.config.timing.belief(self.config.timing.ttl)
    }

    fn renew_later(&mut self, sent: Instant) {
        self.next = sent + self.config.timing.renew_pause(&mut self.random);
    }

    fn ask(&mut self, now: Instant, asked: Asked) {
        let ttl = self.config.timing.ttl;
        let value = |nonce| Value {
            nonce,
            claimant: self.config.claimant.clone(),
        };
        let request = match asked {
            Asked::Take(nonce) => Request::Take {
                value: value(nonce),
                ttl,
            },
            Asked::Renew(Hold { nonce, token }) => Request::Renew {
                value: value(nonce),
                token,
                ttl,
            },
            Asked::Release(hold) if self.rules.keeps(Rule::CompareAndDelete) => Request::Release {
                value: value(hold.nonce),
            },
            Asked::Release(_) => Request::Delete,
            Asked::Read => Request::Read,
        };
        let ticket = self.requests.make(now, asked);
        self.office.request(ticket, request);
    }

    /// Does what is due.
    fn act(&mut self, now: Instant) {
        while let Some(open) = self.requests.overdue(now, self.config.timing.patience) {
            self.doubtful |= matches!(open.what, Asked::Take(_));
        }
        match self.aim {
            Aim::Release { over, rest, .. } if over <= now => self.stand_back(now, rest),
            Aim::Watch(until) if until <= now => self.want_anew(),
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
            Aim::Watch(_) => Asked::Read,
            Aim::Take => Asked::Take(self.nonce),
            Aim::Confirm(hold) | Aim::Hold(hold) => Asked::Renew(hold),
            Aim::Release { hold, .. } => Asked::Release(hold),
        };
        self.ask(now, asked);
    }
}

impl<R: Rules> Election for Redis<R> {
    type Peer = Infallible;
    type Request = Request;
    type Reply = Reply;

    fn handle(&mut self, now: Instant, input: Input<Infallible, Reply>) {
        let (now, lapsed) = self.office.look_at_the_clock(now);
        if lapsed && let Aim::Hold(hold) = self.aim {
            // With this token it does not lead again (C4). Given up, the lock is free for who is first.
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
        self.office.poll()
    }

    fn deadline(&self) -> Option<Instant> {
        let over = match self.aim {
            Aim::Release { over, .. } => over,
            Aim::Watch(until) => until,
            _ => Instant::FOREVER,
        };
        let overdue = self.requests.next_overdue(self.config.timing.patience);
        let ends = self.office.deadline().into_iter().chain(overdue);
        ends.chain([self.next, over])
            .min()
            .filter(|at| *at != Instant::FOREVER)
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
        ahead(self.next, now).hash(hasher);
        self.doubtful.hash(hasher);
        // Which nonce it is says nothing: whether it is the present one does.
        let hold = |hold: Hold| Some((hold.token, hold.nonce == self.nonce));
        let (place, hold, until, rest) = match self.aim {
            Aim::Watch(until) => (0u8, None, ahead(until, now), Duration::ZERO),
            Aim::Take => (1, None, Duration::ZERO, Duration::ZERO),
            Aim::Confirm(own) => (2, hold(own), Duration::ZERO, Duration::ZERO),
            Aim::Hold(own) => (3, hold(own), Duration::ZERO, Duration::ZERO),
            Aim::Release {
                hold: own,
                over,
                rest,
            } => (4, hold(own), ahead(over, now), rest),
        };
        (place, hold, until, rest).hash(hasher);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_as_it_was_written_and_in_no_other_way() {
        let claimant = Claimant::new(Identity::new("a:b\n").unwrap());
        let value = Value {
            nonce: Nonce(0xab),
            claimant: claimant.with_metadata("host:1").unwrap(),
        };
        let text = value.to_string();
        assert_eq!(text, "000000000000000000000000000000ab:4:a:b\n:host:1");
        assert_eq!(Value::parse(&text), Some(value));
        for foreign in [
            "",
            "OK",
            "ab:1:a:",
            "000000000000000000000000000000ab:9:a:",
            &text[1..],
        ] {
            assert_eq!(Value::parse(foreign), None, "{foreign}");
        }
        assert_eq!(Value::parse("+00000000000000000000000000000ab:1:a:"), None);
    }
}
