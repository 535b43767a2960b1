//! The machine: what the node is about, and what it asks for that.

mod aim;
mod answers;
mod calls;
mod places;

use super::api::{Data, Path, Reply, Request, SessionId};
use super::config::Config;
use super::queue;
use super::session::{Need, Session};
use crate::lease::office::Office;
use crate::lease::refuse::{Refusal, Refusals};
use crate::lease::requests::Requests;
use crate::lease::{
    Boot, Budget, BudgetError, Claimant, Faithful, MetadataTooLong, Nonce, Rule, Rules, Timing,
    value,
};
use crate::random::Random;
use crate::{
    Duration, Election, Input, Instant, Leader, Output, Standing, Tenure, Ticket, Token, Why,
};
use aim::{Aim, Asked, Kind, Rest, Spot};
use core::convert::Infallible;
use core::hash::{Hash, Hasher};

/// One node's election over ZooKeeper.
#[derive(Clone, Debug)]
pub struct ZooKeeper<R: Rules = Faithful> {
    config: Config,
    rules: R,
    office: Office<Request>,
    requests: Requests<Asked>,
    refusals: Refusals,
    random: Random,
    session: Session,
    /// What tells this life from any other of the same name.
    life: u64,
    aim: Aim,
    /// Until when it observes; [`Instant::FOREVER`] when it is no candidate.
    rests: Instant,
    /// When to ask for what the aim needs; [`Instant::FOREVER`] while an answer is waited for.
    next: Instant,
    /// The own node.
    own: Option<Path>,
    /// The one before it.
    before: Option<Path>,
    /// The first of all, as last seen.
    head: Option<Path>,
    /// What that holds.
    seen: Option<Data>,
    /// Which request opened the session, by the low bits of its number: to take another for it costs a session.
    handle: u16,
    /// Which request left the watch there is, or 0: to take another for it costs a look.
    watch: u16,
    /// The version of the own node.
    version: i32,
    /// The number of the own place.
    place: u16,
    /// Whether the own node may hold something else than it should.
    stale: bool,
    /// Whether the version was not as expected, and was not just before: it is written at once when it is known.
    again: bool,
}

impl ZooKeeper {
    /// A machine that keeps every rule.
    ///
    /// # Errors
    /// Parameters that are refused, with the remedy.
    pub fn new(config: Config, boot: Boot, now: Instant) -> Result<Self, BudgetError> {
        Self::with_rules(config, boot, now, Faithful)
    }
}

impl<R: Rules> ZooKeeper<R> {
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
        config.budget()?;
        let identity = &config.common.claimant.identity;
        let mut random = Random::new(boot.seed, identity.node(), boot.incarnation);
        let life = if rules.keeps(Rule::Nonce) {
            random.bits()
        } else {
            0
        };
        let mut machine = Self {
            office: Office::new(now, rules.keeps(Rule::DemoteByTimer)),
            requests: Requests::new(boot.incarnation),
            refusals: Refusals::default(),
            random,
            session: Session::none(),
            life,
            aim: Aim::Observe,
            rests: Instant::FOREVER,
            next: now,
            own: None,
            before: None,
            head: None,
            seen: None,
            handle: 0,
            watch: 0,
            version: 0,
            place: 0,
            stale: false,
            again: false,
            config,
            rules,
        };
        if machine.config.common.candidate {
            machine.aim = Aim::Find;
        }
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

    /// Who led when a node that does not lead looked last, with what it wants others to know.
    #[must_use]
    pub fn holder(&self) -> Option<Claimant> {
        self.seen.as_deref().and_then(value::claimant)
    }

    /// The path of the own node, if it is known to be there.
    #[must_use]
    pub fn node(&self) -> Option<&Path> {
        let is_own = matches!(self.aim, Aim::Wait(_) | Aim::Hold | Aim::Leave(_));
        self.own.as_ref().filter(|_| is_own)
    }

    /// The session that it has, or had last; [`SessionId::NONE`] before the first. For display: it is no generation of a leader, which
    /// the token is.
    #[must_use]
    pub const fn session(&self) -> SessionId {
        self.session.id()
    }

    /// Whether the session is open and has no connection, as the host said last. A tenure goes on until its own end.
    #[must_use]
    pub const fn is_suspended(&self) -> bool {
        self.session.is_suspended()
    }

    /// What follows from the timeout that was negotiated for the session; from the one that is asked for while there is none.
    ///
    /// # Errors
    /// When the servers grant less than leaves slack: the node takes no part then, and asks for another session after a
    /// while. Raise `maxSessionTimeout` there, or lower `tickTime` and the margin.
    pub fn budget(&self) -> Result<Budget, BudgetError> {
        self.config.budget_of(self.timing().ttl)
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

    /// What others are to know of this node is this from now on. It is written into the own node, as soon as there is one
    /// and as often as it takes.
    ///
    /// # Errors
    /// When it is too long.
    pub fn proclaim(&mut self, now: Instant, metadata: &str) -> Result<(), MetadataTooLong> {
        let claimant = self.config.common.claimant.clone();
        self.config.common.claimant = claimant.with_metadata(metadata)?;
        let now = self.look_at_the_clock(now);
        self.stale = true;
        self.session.hurry(now);
        self.act(now);
        Ok(())
    }

    /// Does not want to lead any more in this life, and gives up its place in the queue as well: what comes before the end
    /// of a process, whether it leads or waits.
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
            // With this node it does not lead again (C4). Given up, it lets the next in the queue come.
            self.leave(now, Rest::None);
        }
        now
    }

    fn campaign(&mut self, now: Instant) {
        match self.aim {
            Aim::Observe if self.rests != Instant::FOREVER => self.want(now),
            // What waits for an answer is asked already.
            Aim::Find | Aim::Wait(_) if self.next != Instant::FOREVER => self.next = now,
            _ => {}
        }
    }

    /// By which the node knows what it made itself.
    fn guid(&self) -> Nonce {
        let name = self.config.common.claimant.identity.node();
        Nonce(u128::from(name.0) << 64 | u128::from(self.life))
    }

    /// How long things take in the present session.
    fn timing(&self) -> Timing {
        match self.session.ttl() {
            Duration::ZERO => self.config.common.timing,
            ttl => self.config.timing(ttl),
        }
    }

    /// Follows whoever leads until the next look but one.
    fn follow(&mut self, now: Instant, head: Option<(Data, u64)>) {
        let timing = self.timing();
        let until = now + timing.renew + timing.retry + timing.patience + timing.patience;
        let leader = head.as_ref().and_then(|(data, czxid)| {
            let leader = Leader {
                node: value::node(data)?,
                token: Token::new(self.config.common.generation, *czxid),
            };
            Some((leader, until))
        });
        self.seen = head.map(|(data, _)| data).filter(|data| value::fits(data));
        self.office.follow(leader);
    }

    /// Whether the session is kept by writes: for who leads, and for who is next. What the others ask keeps theirs.
    fn writes(&self) -> bool {
        self.own.is_some()
            && match self.aim {
                Aim::Hold | Aim::Wait(Spot::First) => true,
                Aim::Wait(Spot::Behind) => self.stale || self.head == self.before,
                _ => false,
            }
    }

    /// What the aim needs.
    fn needs(&self) -> Kind {
        let watch = self.watch == 0;
        match self.aim {
            Aim::Observe if self.head.is_some() => Kind::Head(watch),
            Aim::Observe => Kind::List(watch),
            Aim::Find if self.own.is_some() => Kind::Own(false),
            Aim::Find | Aim::Wait(Spot::Unknown) => Kind::List(false),
            Aim::Prepare(parts) => Kind::Parent(parts),
            Aim::Enter => Kind::Create,
            // Its own writes would fire a watch, and lead to the next.
            Aim::Wait(Spot::First) => Kind::Own(false),
            Aim::Hold => Kind::Own(watch),
            Aim::Wait(Spot::Behind) => Kind::Before(watch),
            Aim::Leave(_) if self.own.is_some() => Kind::Delete,
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

    /// Whether something is asked for the present place.
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
                if open.what.kind == Kind::KeepAlive {
                    // It was waited for long enough.
                    self.session.late(now);
                }
            }
        }
        match self.aim {
            Aim::Leave(rest) if self.session.is_over(now) => {
                // A library that kept it alive closes it with the next.
                self.stand_back(now, rest);
            }
            Aim::Observe if self.rests <= now && self.session.is_open() => self.want(now),
            _ => {}
        }
        let timing = self.timing();
        let waits = self.waits_for(Kind::Connect) || self.waits_for(Kind::KeepAlive);
        let asks = (waits, self.writes());
        match self.session.need(now, asks, &timing, &mut self.random) {
            Some(Need::Connect) => {
                self.ask(now, Kind::Connect);
            }
            Some(Need::KeepAlive) => {
                self.stale = false;
                self.ask(now, Kind::KeepAlive);
            }
            None => {}
        }
        if self.session.is_wanted() {
            // What there is to do comes with the session.
            self.next = Instant::FOREVER;
            return;
        }
        if self.next == Instant::FOREVER && !self.waits_for(self.needs()) {
            self.next = now + timing.retry_pause(&mut self.random);
        }
        if self.next <= now {
            self.next = Instant::FOREVER;
            self.ask_what_is_needed(now);
        }
    }

    fn ask_what_is_needed(&mut self, now: Instant) {
        let needs = self.needs();
        let ticket = self.ask(now, needs);
        match needs {
            Kind::List(true) | Kind::Own(true) | Kind::Before(true) | Kind::Head(true) => {
                self.watch = ticket.number as u16;
            }
            _ => {}
        }
        if matches!(needs, Kind::Before(_)) && self.head != self.before {
            // Who leads is another.
            self.ask(now, Kind::Head(false));
        }
    }
}

impl<R: Rules> Election for ZooKeeper<R> {
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
            // A host that does not drain has missed what was to be asked for a former place.
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
        match self.aim {
            Aim::Observe => (0u8, self.rests.ahead_of(now)).hash(hasher),
            Aim::Find => 1u8.hash(hasher),
            Aim::Prepare(parts) => (2u8, parts).hash(hasher),
            Aim::Enter => 3u8.hash(hasher),
            Aim::Wait(spot) => (4u8, spot).hash(hasher),
            Aim::Hold => 5u8.hash(hasher),
            Aim::Leave(rest) => (6u8, rest).hash(hasher),
        }
        // Of names only the numbers say something.
        let number = |path: &Option<Path>| {
            let name = queue::name(path.as_deref().unwrap_or_default());
            queue::sequence(name)
        };
        let paths = (number(&self.own), number(&self.before), number(&self.head));
        let own = (self.version, self.stale, self.again);
        (paths, own, self.watch != 0).hash(hasher);
    }
}
