//! A `Lease` object of Kubernetes, as client-go's `leaderelection` uses it.
//!
//! Who leads updates the object over and over, each time only if its `resourceVersion` is still the one it knows; who waits
//! looks, and takes it over when it saw no change for a lease. Times in the object are for people: nobody reads them.
//!
//! What differs from client-go, each because of a way in which two led at once or one never stopped:
//! - A tenure counts from the send of an acknowledged update, not from its answer (LS-4), ends by the clock, before a release
//!   is tried (LS-3), and at once when another holder, or no object, is read (LS-1).
//! - A record is the own one by a nonce, kept in an annotation, and not by the name: two of one name wait for each other, and
//!   a process that comes back waits out its former self.
//! - The `leaseDurationSeconds` of others can only make a waiter wait longer, and at most [`LONGEST`] own leases (LS-8).
//! - An object that is deleted while it was held is not created anew before the record seen last was waited out.
//!
//! # The token
//! It is the `resourceVersion` of the write that acquired the lease: it rises with every write, also when the object is
//! deleted and created again, and can be compared as a number. `leaseTransitions` cannot serve: it has 32 bits, begins anew
//! with a new object, and clients have reset or raised it on renewals (LS-10). It is kept up for those who look at it.
//!
//! **What breaks it.** Deleting or editing the object by hand, clocks beyond the bound of their pace, a cluster restored from
//! a backup (raise the generation then).

use super::office::{NotElected, Office, ahead};
use super::refuse::{Refusal, Refusals};
use super::requests::{Open, Requests};
use super::{Boot, Budget, BudgetError, Claimant, Faithful, Nonce, Rule, Rules, Timing};
use crate::random::Random;
use crate::{
    Duration, Election, Input, Instant, Leader, Output, Standing, Tenure, Token, Unknown, Why,
};
use alloc::sync::Arc;
use core::convert::Infallible;
use core::hash::{Hash, Hasher};

/// How many own leases a waiter grants a record that names a longer one: a rollout may change the duration so much.
pub const LONGEST: u64 = 4;

/// The longest text of an `acquireTime` that is handed on; a longer one is written anew.
pub const MAX_TIME: usize = 64;

/// What `leaseTransitions` holds at most.
pub const MAX_TRANSITIONS: u32 = i32::MAX as u32;

/// How one node takes part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// What all schemes have. `ttl` is client-go's `LeaseDuration`, `renew` and `retry` are its `RetryPeriod`.
    pub common: super::Config,
    /// How long a holder believes at most after the send of its last acknowledged update: `RenewDeadline`.
    pub renew_deadline: Duration,
}

impl Config {
    /// A candidate with the defaults of client-go: 15, 10 and 2 seconds.
    #[must_use]
    pub fn new(claimant: Claimant) -> Self {
        let period = Duration::from_secs(2);
        let timing = Timing {
            renew: period,
            retry: period,
            patience: period,
            ..Timing::of(Duration::from_secs(15))
        };
        Self {
            common: super::Config {
                timing,
                ..super::Config::new(claimant)
            },
            renew_deadline: Duration::from_secs(10),
        }
    }

    /// What follows from the parameters. What client-go refuses is refused, and what leaves no slack.
    ///
    /// # Errors
    /// What is wrong, with the parameter to move.
    pub fn budget(&self) -> Result<Budget, BudgetError> {
        let timing = self.common.timing;
        if timing.ttl.as_micros() % 1_000_000 != 0 {
            return Err(BudgetError::NotSeconds(timing.ttl));
        }
        if self.renew_deadline >= timing.ttl {
            return Err(BudgetError::DeadlineTooLong {
                deadline: self.renew_deadline,
                ttl: timing.ttl,
            });
        }
        let needs = jittered(timing.retry, 0);
        if self.renew_deadline <= needs {
            return Err(BudgetError::DeadlineTooShort {
                deadline: self.renew_deadline,
                needs,
            });
        }
        let budget = self.effective().budget(self.common.latency)?;
        // Who waits looks less often than a holder tries.
        let rarer = jittered(timing.retry, 1).saturating_sub(timing.retry);
        Ok(Budget {
            takeover: budget.takeover + timing.rate.at_most(rarer),
            ..budget
        })
    }

    /// The timing with a margin by which belief ends at the renew deadline at the latest.
    fn effective(&self) -> Timing {
        let mut timing = self.common.timing;
        let beyond = timing
            .belief(timing.ttl)
            .saturating_sub(self.renew_deadline);
        timing.margin = timing.margin + beyond;
        timing
    }
}

/// So many periods, and one times client-go's `JitterFactor`, 1.2.
fn jittered(period: Duration, whole: u64) -> Duration {
    period.scaled_down(6, 5) + if whole == 0 { Duration::ZERO } else { period }
}

/// A call of the API for the host to make: of the one `Lease` of the election, in `coordination.k8s.io/v1`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    /// `GET …/leases/NAME`, not from a cache. Answered by [`Reply::Object`] or [`Reply::NotFound`].
    Get,
    /// `POST …/leases`. Answered by [`Reply::Object`] or [`Reply::AlreadyExists`].
    Create(Record),
    /// `PUT …/leases/NAME` with this `metadata.resourceVersion`. Answered by [`Reply::Object`], [`Reply::Conflict`] or
    /// [`Reply::NotFound`].
    Update {
        /// The `resourceVersion` it must have.
        version: u64,
        /// What it says from then on.
        record: Record,
    },
}

/// What the API server answered. A timeout or a broken connection is no reply but [`Unknown`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reply {
    /// The object: as it is, or as it was written.
    Object(Lease),
    /// There is none (404).
    NotFound,
    /// It has another `resourceVersion` (409, reason `Conflict`).
    Conflict,
    /// There is one (409, reason `AlreadyExists`).
    AlreadyExists,
    /// Nothing was done, for certain: refused (401, 403, 422, 429), or never sent.
    NotDone,
}

/// The object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lease {
    /// `metadata.resourceVersion`, a decimal number.
    pub version: u64,
    /// What it says.
    pub record: Record,
    /// How long ago `renewTime` is by the host's calendar. For showing only: calendars are wrong by hours (LS-8).
    pub age: Duration,
}

/// What the object says. The host writes its calendar's time as `renewTime` with every write.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// `holderIdentity`, and what others shall know in an annotation; `None` for an empty or missing one.
    pub holder: Option<Claimant>,
    /// Of the tenure, in an annotation; `Nonce(0)` when there is none, which is another client's.
    pub nonce: Nonce,
    /// `leaseDurationSeconds`.
    pub seconds: u32,
    /// `leaseTransitions`.
    pub transitions: u32,
    /// `acquireTime` as text, to be written back; `None`: the same as `renewTime`.
    pub acquired: Option<Arc<str>>,
    /// The token's version, in an annotation, from the first renewal on; until then it is that of the object.
    pub since: Option<u64>,
}

/// What a request was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Asked {
    Look,
    Take(Nonce),
    Renew(Nonce),
    Release(Nonce),
}

/// What the node is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Aim {
    /// Does not want it, until then.
    Watch(Instant),
    /// Looks who holds it, and wants it.
    Seek,
    /// Creates it, or takes this version over.
    Take(Option<u64>),
    /// Found it to be its own in this version, from a write whose result it never learned (LS-R4).
    Confirm(u64),
    /// Holds it since the one version, and has written the other last.
    Hold { since: u64, version: u64 },
    /// Gives it up.
    Release {
        version: u64,
        over: Instant,
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
    timing: Timing,
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
    /// Whether a write with this nonce may yet be carried out.
    doubtful: bool,
    /// The version written last is not known to be the newest: look before the next write.
    stale: bool,
    seen: Option<Seen>,
    holder: Option<Claimant>,
    transitions: u32,
    acquired: Option<Arc<str>>,
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
            refusals: Refusals::default(),
            nonce: Nonce::draw(&mut random),
            random,
            aim: if config.common.candidate {
                Aim::Seek
            } else {
                Aim::Watch(Instant::FOREVER)
            },
            next: now,
            doubtful: false,
            stale: false,
            seen: None,
            holder: None,
            transitions: 0,
            acquired: None,
            timing: config.effective(),
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
    pub const fn holder(&self) -> Option<&Claimant> {
        self.holder.as_ref()
    }

    /// Whether it was given up and the API server has not said so yet.
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
            Aim::Seek if self.next != Instant::FOREVER => self.next = now,
            _ => {}
        }
    }

    fn answered(&mut self, now: Instant, open: Open<Asked>, result: Result<Reply, Unknown>) {
        match (open.what, result) {
            (Asked::Look, Ok(Reply::Object(lease))) if !open.late => self.saw(now, lease),
            (Asked::Look, Ok(Reply::NotFound)) if !open.late => self.missed(now),
            (Asked::Look, Ok(Reply::Object(_) | Reply::NotFound)) => {}
            (Asked::Take(nonce) | Asked::Renew(nonce), Ok(Reply::Object(lease))) => {
                if lease.record.nonce == nonce && lease.record.holder.is_some() {
                    self.wrote(now, open, nonce, lease);
                } else {
                    self.refusals.add(Refusal::WrongAnswer);
                    self.doubt(open.what);
                }
            }
            (Asked::Release(nonce), Ok(Reply::Object(_) | Reply::NotFound)) => {
                if nonce == self.nonce
                    && let Aim::Release { rest, .. } = self.aim
                {
                    self.stand_back(now, rest);
                }
            }
            (Asked::Renew(nonce), Ok(Reply::NotFound)) => {
                if nonce == self.nonce && !open.late {
                    self.missed(now);
                }
            }
            (
                Asked::Take(nonce) | Asked::Renew(nonce) | Asked::Release(nonce),
                Ok(Reply::Conflict | Reply::AlreadyExists | Reply::NotFound),
            ) => {
                if nonce == self.nonce && !open.late {
                    self.stale = true;
                    self.seek();
                    self.next = now;
                }
            }
            (_, Ok(Reply::NotDone)) => {
                if !open.late {
                    self.seek();
                }
            }
            (asked, result) => {
                if result.is_ok() {
                    self.refusals.add(Refusal::WrongAnswer);
                }
                self.doubt(asked);
            }
        }
    }

    /// A write may or may not have been done: the next thing is a look.
    fn doubt(&mut self, asked: Asked) {
        match asked {
            Asked::Look => {}
            Asked::Take(nonce) | Asked::Renew(nonce) | Asked::Release(nonce) => {
                if nonce == self.nonce {
                    self.stale = true;
                    self.doubtful |= matches!(asked, Asked::Take(_));
                    self.seek();
                }
            }
        }
    }

    /// What was to be taken is to be looked at again.
    fn seek(&mut self) {
        if matches!(self.aim, Aim::Take(_) | Aim::Confirm(_)) {
            self.aim = Aim::Seek;
        }
    }

    /// A write of the own record was acknowledged.
    fn wrote(&mut self, now: Instant, open: Open<Asked>, nonce: Nonce, lease: Lease) {
        if nonce != self.nonce {
            // By an attempt that was given up. It keeps others out for a lease, and nobody leads by it.
            return;
        }
        let until = self.until(now, open.sent);
        match &mut self.aim {
            Aim::Hold { version, .. } => {
                *version = lease.version.max(*version);
                self.stale = false;
                self.office.extend(until);
                self.keep(lease.record);
                self.renew_later(open.sent);
            }
            Aim::Release { version, .. } => *version = lease.version.max(*version),
            Aim::Seek | Aim::Take(_) | Aim::Confirm(_) => {
                let version = lease.version;
                self.keep(lease.record);
                let token = Token::new(self.config.common.generation, version);
                match self.office.elect(token, until) {
                    Ok(()) => {
                        self.holder = None;
                        self.seen = None;
                        self.stale = false;
                        self.aim = Aim::Hold {
                            since: version,
                            version,
                        };
                        self.renew_later(open.sent);
                    }
                    Err(why) => {
                        if let NotElected::For(refusal) = why {
                            self.refusals.add(refusal);
                        }
                        self.release(now, version, self.timing.retry);
                    }
                }
            }
            Aim::Watch(_) => {}
        }
    }

    fn keep(&mut self, record: Record) {
        self.transitions = record.transitions.min(MAX_TRANSITIONS);
        self.acquired = record.acquired.filter(|text| text.len() <= MAX_TIME);
    }

    /// The object is not there.
    fn missed(&mut self, now: Instant) {
        self.holder = None;
        match self.aim {
            Aim::Hold { .. } => {
                self.office.depose(Why::Taken);
                self.want_anew();
                // Whoever creates it now comes first.
                self.next = now + self.look_pause();
            }
            Aim::Release { rest, .. } => self.stand_back(now, rest),
            Aim::Watch(_) => self.office.follow(None),
            Aim::Seek | Aim::Take(_) | Aim::Confirm(_) => {
                self.office.follow(None);
                let stands = self.seen.is_some_and(|seen| now < seen.stands);
                self.aim = if stands { Aim::Seek } else { Aim::Take(None) };
                self.next = if stands { now + self.look_pause() } else { now };
            }
        }
    }

    /// The object is like this.
    fn saw(&mut self, now: Instant, lease: Lease) {
        let own = self.is_own(&lease.record);
        match self.aim {
            // Older than what it wrote itself.
            Aim::Hold { version, .. } | Aim::Release { version, .. } if lease.version < version => {
            }
            Aim::Hold { since, .. } if own => {
                self.stale = false;
                self.aim = Aim::Hold {
                    since,
                    version: lease.version,
                };
                self.next = now;
            }
            Aim::Hold { .. } => {
                self.office.depose(Why::Taken);
                self.want_anew();
                self.observe(now, &lease);
            }
            Aim::Release { over, rest, .. } if own => {
                self.stale = false;
                self.aim = Aim::Release {
                    version: lease.version,
                    over,
                    rest,
                };
                self.next = now;
            }
            Aim::Release { rest, .. } => {
                self.observe(now, &lease);
                self.stand_back(now, rest);
            }
            Aim::Seek | Aim::Take(_) | Aim::Confirm(_) if own => {
                self.aim = Aim::Confirm(lease.version);
                self.keep(lease.record);
                self.next = now;
            }
            Aim::Seek | Aim::Take(_) | Aim::Confirm(_) => {
                let free = self.observe(now, &lease);
                self.transitions = lease.record.transitions.min(MAX_TRANSITIONS);
                self.aim = if free {
                    Aim::Take(Some(lease.version))
                } else {
                    Aim::Seek
                };
                if free {
                    self.next = now;
                }
            }
            Aim::Watch(_) => {
                self.observe(now, &lease);
            }
        }
    }

    /// A record of somebody else, or of nobody. Whether it may be taken.
    fn observe(&mut self, now: Instant, lease: &Lease) -> bool {
        let record = &lease.record;
        self.holder.clone_from(&record.holder);
        let Some(holder) = &record.holder else {
            self.seen = None;
            self.office.follow(None);
            return true;
        };
        let named = Duration::from_secs(u64::from(record.seconds));
        let stands = match self.seen {
            Some(seen) if seen.version == lease.version => seen.stands,
            _ if self.rules.keeps(Rule::OwnClockOnly) => {
                let (least, most) = (self.timing.ttl, self.timing.ttl.scaled_down(LONGEST, 1));
                now + self.timing.wait(named.clamp(least, most))
            }
            _ => now + self.timing.wait(named).saturating_sub(lease.age),
        };
        self.seen = Some(Seen {
            version: lease.version,
            stands,
        });
        let leader = Leader {
            node: holder.identity.node(),
            token: Token::new(
                self.config.common.generation,
                record.since.unwrap_or(lease.version),
            ),
        };
        self.office
            .follow((now < stands).then_some((leader, stands)));
        now >= stands
    }

    fn is_own(&self, record: &Record) -> bool {
        let Some(holder) = &record.holder else {
            return false;
        };
        if self.rules.keeps(Rule::Nonce) {
            record.nonce == self.nonce
        } else {
            holder.identity == self.config.common.claimant.identity
        }
    }

    fn release(&mut self, now: Instant, version: u64, rest: Duration) {
        let over = now + self.timing.rate.outlast(self.timing.ttl) + self.timing.patience;
        self.aim = Aim::Release {
            version,
            over,
            rest,
        };
        self.next = now;
    }

    fn stand_back(&mut self, now: Instant, rest: Duration) {
        self.want_anew();
        if !self.config.common.candidate {
            self.aim = Aim::Watch(Instant::FOREVER);
        } else if rest > Duration::ZERO {
            self.aim = Aim::Watch(now + rest);
        }
        self.next = now;
    }

    /// With a nonce that no record can have yet.
    fn want_anew(&mut self) {
        self.aim = Aim::Seek;
        self.nonce = Nonce::draw(&mut self.random);
        self.doubtful = false;
        self.stale = false;
        self.acquired = None;
    }

    fn until(&self, now: Instant, sent: Instant) -> Instant {
        let from = if self.rules.keeps(Rule::ValidityFromSend) {
            sent
        } else {
            now
        };
        from + self.timing.belief(self.timing.ttl)
    }

    fn renew_later(&mut self, sent: Instant) {
        self.next = sent + self.timing.renew_pause(&mut self.random);
    }

    /// Until a waiter looks again: a period, and up to 1.2 of it more.
    fn look_pause(&mut self) -> Duration {
        let period = self.timing.retry;
        self.random.duration(period, jittered(period, 1))
    }

    fn record(&self, held: bool, since: Option<u64>) -> Record {
        Record {
            holder: held.then(|| self.config.common.claimant.clone()),
            nonce: self.nonce,
            // An object with less than a second is refused (LS-6).
            seconds: if held {
                (self.timing.ttl.as_micros() / 1_000_000) as u32
            } else {
                1
            },
            transitions: self.transitions,
            acquired: self.acquired.clone(),
            since,
        }
    }

    /// Does what is due.
    fn act(&mut self, now: Instant) {
        while let Some(open) = self.requests.overdue(now, self.timing.patience) {
            self.doubt(open.what);
        }
        match self.aim {
            Aim::Release { over, rest, .. } if over <= now => self.stand_back(now, rest),
            Aim::Watch(until) if until <= now => self.want_anew(),
            _ => {}
        }
        if self.next == Instant::FOREVER && !self.requests.waits() {
            let waits = matches!(self.aim, Aim::Watch(_)) || self.aim == Aim::Seek;
            self.next = now
                + if waits && !self.doubtful {
                    self.look_pause()
                } else {
                    self.timing.retry_pause(&mut self.random)
                };
        }
        if self.next > now {
            return;
        }
        self.next = Instant::FOREVER;
        let update = |version, record| Request::Update { version, record };
        let (asked, request) = match self.aim {
            Aim::Watch(_) | Aim::Seek => (Asked::Look, Request::Get),
            Aim::Hold { .. } | Aim::Release { .. } if self.stale => (Asked::Look, Request::Get),
            Aim::Take(version) => {
                let mut record = self.record(true, None);
                record.acquired = None;
                let request = match version {
                    None => {
                        record.transitions = 0;
                        Request::Create(record)
                    }
                    Some(version) => {
                        record.transitions = (record.transitions + 1).min(MAX_TRANSITIONS);
                        update(version, record)
                    }
                };
                (Asked::Take(self.nonce), request)
            }
            Aim::Confirm(version) => {
                let record = self.record(true, None);
                (Asked::Take(self.nonce), update(version, record))
            }
            Aim::Hold { since, version } => {
                let record = self.record(true, Some(since));
                (Asked::Renew(self.nonce), update(version, record))
            }
            Aim::Release { version, .. } => {
                let record = self.record(false, None);
                (Asked::Release(self.nonce), update(version, record))
            }
        };
        let ticket = self.requests.make(now, asked);
        self.office.request(ticket, request);
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
                    self.release(now, version, self.timing.ttl);
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
        let overdue = self.requests.next_overdue(self.timing.patience);
        let ends = self.office.deadline().into_iter().chain(overdue);
        ends.chain([self.next, over])
            .min()
            .filter(|at| *at != Instant::FOREVER)
    }

    fn grain(&self) -> Duration {
        self.timing.grain
    }

    fn standing(&self, now: Instant) -> Standing {
        self.office.standing(now)
    }

    fn fingerprint<H: Hasher>(&self, now: Instant, hasher: &mut H) {
        self.office.fingerprint(now, hasher);
        self.requests.fingerprint(now, hasher);
        ahead(self.next, now).hash(hasher);
        let seen = self
            .seen
            .map(|seen| (seen.version, ahead(seen.stands, now)));
        (self.doubtful, self.stale, self.transitions, seen).hash(hasher);
        match self.aim {
            Aim::Watch(until) => (0u8, ahead(until, now)).hash(hasher),
            Aim::Release {
                version,
                over,
                rest,
            } => (1u8, version, ahead(over, now), rest).hash(hasher),
            aim => (2u8, aim).hash(hasher),
        }
    }
}
