//! The machine: what the node is about, and what it asks for that.

mod answers;
mod calls;

use super::api::{Key, KeyValue, Reply, Request, Value};
use super::config::{Config, Mode};
use super::place::{Place, ResumeError};
use super::session::{Need, Session};
use crate::lease::office::Office;
use crate::lease::refuse::{Counter, Refusal, Refusals};
use crate::lease::requests::Requests;
use crate::lease::{
    Boot, Budget, BudgetError, Claimant, Faithful, MetadataTooLong, Rule, Rules, value,
};
use crate::random::Random;
use crate::{Duration, Election, Input, Instant, Leader, Output, Standing, Tenure, Token, Why};
use core::convert::Infallible;
use core::hash::{Hash, Hasher};

/// What a request was for, and in which of the node's sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Asked {
    kind: Kind,
    session: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Grant,
    KeepAlive,
    /// Creates the own key.
    Create,
    /// Looks at the own key and who is before it.
    Look,
    /// Looks who leads.
    Head,
    /// Writes the value of the own key anew.
    Proclaim,
    /// Deletes the own key.
    Delete,
    Revoke,
}

/// What the node is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Aim {
    /// Looks who leads, and does not want to: until then, or for good.
    Observe(Instant),
    /// Creates its key.
    Enter,
    /// Waits for who is before it: in the queue, or under the single key.
    Wait,
    /// Leads.
    Hold,
    /// Gives up its key, and then its lease.
    Leave {
        /// How long it does not want to lead afterwards.
        rest: Duration,
    },
}

/// The watch that is open.
#[derive(Clone, Debug)]
struct Watch {
    number: u64,
    /// Of this key; of all candidates' when it is how those begin.
    key: Key,
}

/// One node's election over etcd.
#[derive(Clone, Debug)]
pub struct Etcd<R: Rules = Faithful> {
    config: Config,
    rules: R,
    office: Office<Request>,
    requests: Requests<Asked>,
    refusals: Counter,
    random: Random,
    session: Session,
    aim: Aim,
    /// When to ask for what the aim needs; [`Instant::FOREVER`] while an answer is waited for.
    next: Instant,
    /// The revision in which the own key was created; 0 when it is not known to be there.
    revision: u64,
    watch: Option<Watch>,
    /// The value of whoever leads, as last seen.
    seen: Option<Value>,
    /// Whether the own key may hold another value than it should.
    stale: bool,
}

impl Etcd {
    /// A machine that keeps every rule.
    ///
    /// # Errors
    /// Parameters that are refused, with the remedy.
    pub fn new(config: Config, boot: Boot, now: Instant) -> Result<Self, BudgetError> {
        Self::with_rules(config, boot, now, Faithful)
    }

    /// A machine whose node had this place in a former life. That term is over: the place is given up first, if it is
    /// still the one it was, so that nobody has to wait for the end of its lease; then the node takes part like any other
    /// (C7).
    ///
    /// # Errors
    /// A place in another election, and parameters that are refused.
    pub fn resume(
        config: Config,
        boot: Boot,
        now: Instant,
        former: &Place,
    ) -> Result<Self, ResumeError> {
        let mut machine = Self::at_rest(config, boot, now, Faithful)?;
        if machine.config.mode.own(former.lease) != former.key {
            return Err(ResumeError::OtherElection);
        }
        machine.session = Session::left(former.lease);
        machine.revision = former.revision;
        machine.leave(now, Duration::ZERO);
        machine.act(now);
        Ok(machine)
    }
}

impl<R: Rules> Etcd<R> {
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
        let mut machine = Self::at_rest(config, boot, now, rules)?;
        if machine.config.common.candidate {
            machine.begin(now);
        }
        machine.act(now);
        Ok(machine)
    }

    fn at_rest(config: Config, boot: Boot, now: Instant, rules: R) -> Result<Self, BudgetError> {
        config.budget()?;
        let node = config.common.claimant.identity.node();
        Ok(Self {
            office: Office::new(now, rules.keeps(Rule::DemoteByTimer)),
            requests: Requests::new(boot.incarnation),
            refusals: Counter::NEVER,
            random: Random::new(boot.seed, node, boot.incarnation),
            session: Session::none(),
            aim: Aim::Observe(Instant::FOREVER),
            next: now,
            revision: 0,
            watch: None,
            seen: None,
            stale: false,
            config,
            rules,
        })
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

    /// Who led when a node that does not lead looked last, with what it wants others to know.
    #[must_use]
    pub fn holder(&self) -> Option<Claimant> {
        self.seen.as_deref().and_then(value::claimant)
    }

    /// The own key, if it is known to be there.
    #[must_use]
    pub fn place(&self) -> Option<Place> {
        (self.revision != 0).then(|| Place {
            key: self.own_key(),
            lease: self.session.lease(),
            revision: self.revision,
        })
    }

    /// What follows from the lease that was granted; from the one that is asked for while there is none.
    ///
    /// # Errors
    /// When the store grants less than leaves slack.
    pub fn budget(&self) -> Result<Budget, BudgetError> {
        match self.session.ttl() {
            Duration::ZERO => self.config.budget(),
            ttl => self.config.budget_of(ttl),
        }
    }

    /// Whether key and lease are being given up. Wait for the end of this, at most a lease, before the process ends, and
    /// nobody has to wait for the end of the lease.
    #[must_use]
    pub const fn releasing(&self) -> bool {
        matches!(self.aim, Aim::Leave { .. })
    }

    /// The answers that were refused.
    #[must_use]
    pub fn refusals(&self) -> &Refusals {
        self.refusals.counts()
    }

    /// What others are to know of this node is this from now on. It is written under the own key, as soon as there is one
    /// and as often as it takes.
    ///
    /// # Errors
    /// When it is too long.
    pub fn proclaim(&mut self, now: Instant, metadata: &str) -> Result<(), MetadataTooLong> {
        let claimant = self.config.common.claimant.clone();
        self.config.common.claimant = claimant.with_metadata(metadata)?;
        self.stale = self.session.is_kept();
        let now = self.look_at_the_clock(now);
        if matches!(self.aim, Aim::Wait | Aim::Hold) {
            self.next = now;
        }
        self.act(now);
        Ok(())
    }

    /// Does not want to lead any more in this life, and gives up its place in the queue as well: what comes before the end
    /// of a process, whether it leads or waits.
    pub fn withdraw(&mut self, now: Instant) {
        self.config.common.candidate = false;
        let now = self.look_at_the_clock(now);
        match &mut self.aim {
            Aim::Observe(until) => *until = Instant::FOREVER,
            Aim::Enter | Aim::Wait | Aim::Hold => {
                self.office.depose(Why::Resigned);
                self.leave(now, Duration::ZERO);
            }
            Aim::Leave { .. } => {}
        }
        self.act(now);
    }

    /// What has ended by now is over.
    fn look_at_the_clock(&mut self, now: Instant) -> Instant {
        let (now, lapsed) = self.office.look_at_the_clock(now);
        if lapsed {
            // With this key it does not lead again (C4). Given up, it lets the next in the queue come.
            self.leave(now, Duration::ZERO);
        }
        now
    }

    fn campaign(&mut self, now: Instant) {
        match self.aim {
            Aim::Observe(until) if until != Instant::FOREVER => self.begin(now),
            // What waits for an answer is asked already.
            Aim::Enter | Aim::Wait if self.next != Instant::FOREVER => self.next = now,
            _ => {}
        }
    }

    /// Wants to lead, with a new lease.
    fn begin(&mut self, now: Instant) {
        self.session.begin(now, &mut self.random);
        self.stale = false;
        self.enter(now);
    }

    /// Wants a key of its own under its lease.
    fn enter(&mut self, now: Instant) {
        self.revision = 0;
        self.aim = Aim::Enter;
        self.next = now;
    }

    /// Gives up key and lease, and then does not want to lead for a while.
    fn leave(&mut self, now: Instant, rest: Duration) {
        self.session.leave(now, &self.config.common.timing);
        self.unwatch();
        self.aim = Aim::Leave { rest };
        self.next = now;
    }

    /// They were given up.
    fn stand_back(&mut self, now: Instant, rest: Duration) {
        self.revision = 0;
        self.session.forget();
        if !self.config.common.candidate {
            self.aim = Aim::Observe(Instant::FOREVER);
        } else if rest > Duration::ZERO {
            self.aim = Aim::Observe(now + rest);
        } else {
            self.begin(now);
        }
        self.next = now;
    }

    /// Whether a key goes with the lease of this node.
    fn is_own(&self, key: &KeyValue) -> bool {
        if self.rules.keeps(Rule::Nonce) {
            key.lease == self.session.lease()
        } else {
            value::name(&key.value) == Some(self.config.common.claimant.identity.name())
        }
    }

    const fn is_queue(&self) -> bool {
        matches!(self.config.mode, Mode::Queue(_))
    }

    fn own_key(&self) -> Key {
        self.config.mode.own(self.session.lease())
    }

    /// Follows whoever leads until the next look but one.
    fn follow(&mut self, now: Instant, head: Option<&KeyValue>) {
        let seen = head.filter(|head| value::fits(&head.value));
        self.seen = seen.map(|head| head.value.clone());
        let timing = &self.config.common.timing;
        let until = now + timing.renew + timing.retry + timing.patience + timing.patience;
        let leader = head.and_then(|head| {
            let leader = Leader {
                node: value::node(&head.value)?,
                token: Token::new(self.config.common.generation, head.create_revision),
            };
            Some((leader, until))
        });
        self.office.follow(leader);
    }

    fn look_later(&mut self, now: Instant) {
        self.next = now + self.config.common.timing.renew_pause(&mut self.random);
    }

    /// What the aim needs.
    const fn needs(&self) -> Kind {
        match self.aim {
            Aim::Observe(_) => Kind::Head,
            Aim::Enter => Kind::Create,
            Aim::Wait | Aim::Hold => Kind::Look,
            Aim::Leave { .. } if self.revision != 0 => Kind::Delete,
            Aim::Leave { .. } => Kind::Revoke,
        }
    }

    /// Whether an answer is waited for, of one of these kinds.
    fn waits_for(&self, kinds: &[Kind]) -> bool {
        self.requests
            .waits_for(|asked: Asked| kinds.contains(&asked.kind) && self.is_present(asked))
    }

    /// Whether something is asked for the present lease, or for none.
    fn is_present(&self, asked: Asked) -> bool {
        asked.session == self.session.number() || asked.kind == Kind::Head
    }

    fn ask(&mut self, now: Instant, kind: Kind) {
        let session = self.session.number();
        self.requests.make(now, Asked { kind, session });
    }

    /// Does what is due.
    fn act(&mut self, now: Instant) {
        let patience = self.config.common.timing.patience;
        while let Some(open) = self.requests.overdue(now, patience) {
            if self.is_present(open.what) {
                self.doubt(open.what.kind);
            }
        }
        match self.aim {
            Aim::Leave { rest } if self.session.is_over(now) => self.stand_back(now, rest),
            Aim::Observe(until) if until <= now => self.begin(now),
            _ => {}
        }
        let waits = self.waits_for(&[Kind::Grant, Kind::KeepAlive]);
        let timing = self.config.common.timing;
        if let Some(need) = self.session.need(now, waits, &timing, &mut self.random) {
            let kind = match need {
                Need::Grant => Kind::Grant,
                Need::KeepAlive => Kind::KeepAlive,
            };
            self.ask(now, kind);
        }
        if self.aim == Aim::Enter && !self.session.is_live() {
            // What there is to do comes with the lease.
            self.next = Instant::FOREVER;
            return;
        }
        if self.next == Instant::FOREVER && !self.waits_for(&[self.needs()]) {
            self.next = now + timing.retry_pause(&mut self.random);
        }
        if self.next > now {
            return;
        }
        self.next = Instant::FOREVER;
        self.ask(now, self.needs());
        if self.stale && self.revision != 0 && matches!(self.aim, Aim::Wait | Aim::Hold) {
            self.stale = false;
            self.ask(now, Kind::Proclaim);
        }
    }
}

impl<R: Rules> Election for Etcd<R> {
    type Peer = Infallible;
    type Request = Request;
    type Reply = Reply;

    fn handle(&mut self, now: Instant, input: Input<Infallible, Reply>) {
        let now = self.look_at_the_clock(now);
        match input {
            Input::Campaign => self.campaign(now),
            Input::Peer(_, never) => match never {},
            Input::Reply(ticket, result) => {
                let watch = self.watch.as_ref().map(|watch| watch.number);
                if watch.is_some_and(|number| self.requests.numbered(number) == ticket) {
                    self.watched(now, result);
                } else if let Some(open) = self.requests.answered(ticket) {
                    self.answered(now, open, result);
                } else {
                    self.refusals.add(Refusal::UnknownTicket);
                }
            }
            Input::Resign { .. } => {
                if self.aim == Aim::Hold {
                    self.office.depose(Why::Resigned);
                    // Somebody else comes first, for as long as a lease.
                    self.leave(now, self.config.common.timing.ttl);
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
            // A host that does not drain has missed what was to be asked for a former lease.
            if self.is_present(asked) {
                return Some(Output::Request(ticket, self.call(asked.kind)));
            }
        }
        self.office.rest();
        None
    }

    fn deadline(&self) -> Option<Instant> {
        let until = match self.aim {
            Aim::Observe(until) => until,
            _ => Instant::FOREVER,
        };
        let overdue = self
            .requests
            .next_overdue(self.config.common.timing.patience);
        let others = [self.next, self.session.due(), until];
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
        let (place, until, rest) = match self.aim {
            Aim::Observe(until) => (0u8, until, Duration::ZERO),
            Aim::Enter => (1, now, Duration::ZERO),
            Aim::Wait => (2, now, Duration::ZERO),
            Aim::Hold => (3, now, Duration::ZERO),
            Aim::Leave { rest } => (4, now, rest),
        };
        (place, until.ahead_of(now), rest).hash(hasher);
        // Keys have the numbers of leases in them, which say nothing.
        let (mode, lease) = (&self.config.mode, self.session.lease());
        let watch = self.watch.as_ref();
        let watched = watch.map(|watch| mode.is_own(&watch.key, lease));
        (self.revision, self.stale, watched).hash(hasher);
    }
}
