//! The machine: what the node is about, and what it asks for that.

mod aim;
mod answers;
mod calls;
mod places;

use super::api::{Data, Path, Reply, Request, SessionId};
use super::client::{Client, News, Rest};
use super::config::Config;
use super::queue;
use super::session::Need;
use crate::lease::office::Office;
use crate::lease::refuse::Refusals;
use crate::lease::{
    Boot, Budget, BudgetError, Claimant, Faithful, MetadataTooLong, Nonce, Rule, Rules, value,
};
use crate::{Duration, Election, Input, Instant, Leader, Output, Standing, Tenure, Why};
use aim::{Aim, Kind, Spot};
use core::convert::Infallible;
use core::hash::{Hash, Hasher};

/// One node's election over ZooKeeper.
#[derive(Clone, Debug)]
pub struct ZooKeeper<R: Rules = Faithful> {
    client: Client<Kind, R>,
    office: Office<Request>,
    /// What tells this life from any other of the same name.
    life: u64,
    aim: Aim,
    /// The own node.
    own: Option<Path>,
    /// The one before it.
    before: Option<Path>,
    /// The first of all, as last seen.
    head: Option<Path>,
    /// What that holds.
    seen: Option<Data>,
    /// The version of the own node.
    version: i32,
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
        let office = Office::new(now, rules.keeps(Rule::DemoteByTimer));
        let mut client: Client<Kind, R> = Client::new(config, boot, now, rules);
        let life = if client.rules.keeps(Rule::Nonce) {
            client.random.bits()
        } else {
            0
        };
        let candidate = client.config.common.candidate;
        let mut machine = Self {
            client,
            office,
            life,
            aim: if candidate { Aim::Find } else { Aim::Observe },
            own: None,
            before: None,
            head: None,
            seen: None,
            version: 0,
            stale: false,
            again: false,
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
        self.client.session.id()
    }

    /// Whether the session is open and has no connection, as the host said last. A tenure goes on until its own end.
    #[must_use]
    pub const fn is_suspended(&self) -> bool {
        self.client.session.is_suspended()
    }

    /// What follows from the timeout that was negotiated for the session; from the one that is asked for while there is none.
    ///
    /// # Errors
    /// When the servers grant less than leaves slack: the node takes no part then, and asks for another session after a
    /// while. Raise `maxSessionTimeout` there, or lower `tickTime` and the margin.
    pub fn budget(&self) -> Result<Budget, BudgetError> {
        self.client.config.budget_of(self.client.timing().ttl)
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

    /// What others are to know of this node is this from now on. It is written into the own node, as soon as there is one
    /// and as often as it takes.
    ///
    /// # Errors
    /// When it is too long.
    pub fn proclaim(&mut self, now: Instant, metadata: &str) -> Result<(), MetadataTooLong> {
        let claimant = &mut self.client.config.common.claimant;
        *claimant = claimant.clone().with_metadata(metadata)?;
        let now = self.look_at_the_clock(now);
        self.stale = true;
        self.client.session.hurry(now);
        self.act(now);
        Ok(())
    }

    /// Does not want to lead any more in this life, and gives up its place in the queue as well: what comes before the end
    /// of a process, whether it leads or waits.
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
            // With this node it does not lead again (C4). Given up, it lets the next in the queue come.
            self.leave(now, Rest::None);
        }
        now
    }

    fn campaign(&mut self, now: Instant) {
        match self.aim {
            Aim::Observe if self.client.rests != Instant::FOREVER => self.want(now),
            // What waits for an answer is asked already.
            Aim::Find | Aim::Wait(_) if self.client.next != Instant::FOREVER => {
                self.client.next = now;
            }
            _ => {}
        }
    }

    /// By which the node knows what it made itself.
    fn guid(&self) -> Nonce {
        let name = self.client.config.common.claimant.identity.node();
        Nonce(u128::from(name.0) << 64 | u128::from(self.life))
    }

    /// Follows whoever leads until the next look but one.
    fn follow(&mut self, now: Instant, head: Option<(Data, u64)>) {
        let leader = head
            .as_ref()
            .and_then(|(data, czxid)| self.client.leader(now, data, *czxid));
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
        let watch = !self.client.is_watching();
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

    /// Does what is due.
    fn act(&mut self, now: Instant) {
        while let Some(kind) = self.client.overdue(now) {
            self.doubt(now, kind);
            if kind == Kind::KeepAlive {
                // It was waited for long enough.
                self.client.session.late(now);
            }
        }
        let session = &self.client.session;
        match self.aim {
            // A library that kept it alive closes it with the next.
            Aim::Leave(rest) if session.is_over(now) => self.stand_back(now, rest),
            Aim::Observe if self.client.rests <= now && session.is_open() => self.want(now),
            _ => {}
        }
        if self.client.keep(now, self.writes()) == Some(Need::KeepAlive) {
            self.stale = false;
        }
        let needs = self.needs();
        let asked = self.client.ask_in_time(now, needs);
        if asked && matches!(needs, Kind::Before(_)) && self.head != self.before {
            // Who leads is another.
            self.client.ask(now, Kind::Head(false));
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
            Input::Reply(ticket, result) => match self.client.hear(now, ticket, result) {
                News::None => {}
                News::Opened => self.opened(now),
                News::Shortened => self.taken(now),
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
        match self.aim {
            Aim::Observe => (0u8, self.client.rests.ahead_of(now)).hash(hasher),
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
        (paths, own, self.client.is_watching()).hash(hasher);
    }
}
