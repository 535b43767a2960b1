//! The machine: which tenure it takes over for, what authorises work, and when it looks again.

use super::config::{Config, ConfigError};
use super::refuse::{Refusal, Refusals};
use super::rules::{Faithful, Rule, Rules};
use super::task::{Task, What};
use super::words::{Because, Event, Input, Output, Permit, Request};
use crate::fence::Pass;
use crate::{Instant, Standing, Tenure, Ticket, Token};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};
use core::mem::discriminant;

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// There is no tenure to take over for.
    Idle,
    Fencing,
    Watching,
    Reading,
    /// Waits until nothing of a former tenure runs in this process.
    Clearing,
    Listing,
    /// Takes over the items of a page.
    Taking,
    Announcing,
    Serving,
    /// Hands over: what runs may go on until then.
    Draining(Instant),
    /// Wants the election to resign, and says so next at that time.
    Resigning(Because, Instant),
}

/// The takeover of one node, for each of its tenures in turn. `K` names work: see [`Item`](super::Item).
#[derive(Clone, Debug)]
pub struct Takeover<K, R = Faithful> {
    pub(super) config: Config,
    pub(super) rules: R,
    /// The latest `now` that was seen (C2).
    pub(super) clock: Instant,
    /// What it takes over for, or has taken over for.
    pub(super) tenure: Option<Tenure>,
    /// The highest token it began with: none at or below it is begun with again (C4).
    highest: Token,
    pub(super) stage: Stage,
    /// When it began to take over, or to look for work once more.
    pub(super) since: Instant,
    /// What the stage needs done. It is over when all of it is.
    pub(super) tasks: Vec<Task<K>>,
    /// The last item that was listed, and whether there are more.
    pub(super) after: Option<K>,
    pub(super) more: bool,
    /// Whether it was ready in this tenure.
    pub(super) ready: bool,
    /// Whether work of the tenure may run.
    pub(super) works: bool,
    /// The first and the last ask of the watch, as long as there is one.
    pub(super) watch: Option<(u64, u64)>,
    /// Whether something changed since it was listed.
    pub(super) changed: bool,
    /// What has to stop, and is not known to have.
    pub(super) stopping: Option<(Pass, Task<K>)>,
    /// How many requests were made, and how many of them before this tenure.
    made: u64,
    pub(super) before: u64,
    pub(super) out: VecDeque<Output<K>>,
    pub(super) refusals: Refusals,
}

impl<K: Clone + Ord> Takeover<K> {
    /// A takeover that keeps every rule, for one life of a node.
    ///
    /// # Errors
    /// What is out of bounds in the configuration, with the remedy.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        Self::with_rules(config, Faithful)
    }
}

impl<K: Clone + Ord, R: Rules> Takeover<K, R> {
    /// A takeover that keeps these rules.
    ///
    /// # Errors
    /// What is out of bounds in the configuration, with the remedy.
    pub fn with_rules(config: Config, rules: R) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self {
            config,
            rules,
            clock: Instant::ZERO,
            tenure: None,
            highest: Token::NONE,
            stage: Stage::Idle,
            since: Instant::ZERO,
            tasks: Vec::new(),
            after: None,
            more: false,
            ready: false,
            works: false,
            watch: None,
            changed: false,
            stopping: None,
            made: 0,
            before: 0,
            out: VecDeque::new(),
            refusals: Refusals::default(),
        })
    }

    /// Takes one input. `standing` is what the election shows at `now`: whatever it is that happened, this is looked at
    /// first, so that the takeover is interrupted by the end of a tenure at any instant. Call it after every input of the
    /// election, at the [`deadline`](Self::deadline), and with every answer; then drain [`poll`](Self::poll).
    pub fn handle(&mut self, now: Instant, standing: Standing, input: Input<K>) {
        let now = self.clock.max(now);
        self.clock = now;
        self.look_at(now, standing);
        match input {
            Input::Look => {}
            Input::Reply(ticket, result) => self.answered(now, ticket, result),
            Input::Refused(token, refused) => {
                // What a former tenure sent may be refused late, and says nothing of this one.
                if self.tenure.is_some_and(|tenure| tenure.token == token) {
                    self.refused(now, refused);
                }
            }
            Input::HandOver => self.hand_over(now),
        }
        self.act(now);
    }

    /// The next thing it says, until `None`. Drain after every [`handle`](Self::handle).
    #[must_use]
    pub fn poll(&mut self) -> Option<Output<K>> {
        let output = self.out.pop_front();
        if output.is_none() && matches!(self.stage, Stage::Idle | Stage::Serving) {
            // For as long as it lasts there is next to nothing to do.
            self.out = VecDeque::new();
            self.tasks = Vec::new();
        }
        output
    }

    /// When to call `handle` at the latest, with [`Input::Look`]; `None` when nothing is due.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let timing = &self.config.timing;
        let tasks = self.tasks.iter().filter(|task| task.is_open());
        let asks = tasks.map(|task| task.next);
        let stopping = self.stopping.as_ref().map(|(_, task)| task.next);
        let ends = self.tenure.map(|tenure| {
            let hard = self.hard_deadline(tenure);
            match self.stage {
                Stage::Resigning(_, say) => say.min(tenure.until),
                Stage::Draining(until) if self.stopping.is_some() => {
                    tenure.until.min(until + timing.stop)
                }
                Stage::Draining(until) => hard.min(until),
                _ if self.takes_over() => hard.min(self.since + timing.limit),
                _ => hard,
            }
        });
        let all = asks.chain(stopping).chain(ends);
        all.min().filter(|at| *at != Instant::FOREVER)
    }

    /// What new work may do now, if any may begin: it has taken over, and neither hands over nor resigns.
    #[must_use]
    pub fn may_begin(&self, now: Instant, standing: Standing) -> Option<Permit> {
        let hands_over = matches!(self.stage, Stage::Draining(_));
        (self.ready && !hands_over).then(|| self.permit(now, standing))?
    }

    /// What work that runs may do now, if it may go on.
    #[must_use]
    pub fn may_go_on(&self, now: Instant, standing: Standing) -> Option<Permit> {
        self.works.then(|| self.permit(now, standing))?
    }

    /// Whether the process may end without anything of it being left: it does not lead, and nothing runs.
    #[must_use]
    pub const fn may_leave(&self) -> bool {
        self.tenure.is_none() && self.stopping.is_none()
    }

    /// Whether it has taken over and leads on, as of the last input.
    #[must_use]
    pub const fn is_ready(&self) -> bool {
        self.ready
    }

    /// What the leader shows, while it takes over or has.
    #[must_use]
    pub fn pass(&self) -> Option<Pass> {
        self.tenure.map(|tenure| self.pass_of(tenure.token))
    }

    /// How it takes over.
    #[must_use]
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// The answers that were refused.
    #[must_use]
    pub const fn refusals(&self) -> &Refusals {
        &self.refusals
    }

    /// Feeds the state into `hasher`, with instants relative to `now` (law C10).
    pub fn fingerprint<H: Hasher>(&self, now: Instant, hasher: &mut H)
    where
        K: Hash,
    {
        let tenure = self
            .tenure
            .map(|held| (held.token, held.until.ahead_of(now)));
        (tenure, self.highest, discriminant(&self.stage)).hash(hasher);
        match self.stage {
            Stage::Draining(until) => until.ahead_of(now).hash(hasher),
            Stage::Resigning(because, say) => (because, say.ahead_of(now)).hash(hasher),
            _ if self.takes_over() => now.since(self.since).hash(hasher),
            _ => {}
        }
        for task in self.tasks.iter().filter(|task| task.is_open()) {
            match task.what() {
                Some(What::Drain(until)) => until.ahead_of(now).hash(hasher),
                what => what.hash(hasher),
            }
            task.next.ahead_of(now).hash(hasher);
        }
        let stopping = self.stopping.as_ref();
        stopping
            .map(|(pass, task)| (*pass, task.next.ahead_of(now)))
            .hash(hasher);
        (&self.after, self.more, self.out.len()).hash(hasher);
        (self.ready, self.works, self.watch.is_some(), self.changed).hash(hasher);
    }

    /// Whether it is in the middle of something that has a limit.
    pub(super) const fn takes_over(&self) -> bool {
        !matches!(
            self.stage,
            Stage::Idle | Stage::Serving | Stage::Draining(_) | Stage::Resigning(..)
        )
    }

    /// Nothing of the work runs at this instant or later.
    pub(super) fn hard_deadline(&self, tenure: Tenure) -> Instant {
        if tenure.until == Instant::FOREVER {
            tenure.until
        } else {
            tenure.until - self.config.timing.stop
        }
    }

    fn permit(&self, now: Instant, standing: Standing) -> Option<Permit> {
        let own = self.tenure?;
        let (Standing::Leading(tenure), None) = (standing, &self.stopping) else {
            return None;
        };
        let until = match self.stage {
            Stage::Draining(until) => until.min(self.hard_deadline(tenure)),
            Stage::Resigning(..) => return None,
            _ => self.hard_deadline(tenure),
        };
        (tenure.token == own.token && self.clock.max(now) < until).then(|| Permit {
            pass: self.pass_of(own.token),
            until,
        })
    }

    pub(super) const fn pass_of(&self, token: Token) -> Pass {
        Pass {
            election: self.config.election,
            token,
            holder: self.config.holder,
        }
    }

    /// The election shows this: what it took over for may be over, and something to take over for may be there.
    fn look_at(&mut self, now: Instant, standing: Standing) {
        let led = match standing {
            Standing::Leading(tenure) if now < tenure.until => Some(tenure),
            _ => None,
        };
        if let Some(own) = self.tenure {
            match led {
                Some(tenure) if tenure.token == own.token => self.tenure = led,
                _ => self.over(now, own.token),
            }
        }
        if let (None, Some(tenure)) = (self.tenure, led) {
            let refused = if !tenure.token.is_issued() {
                Some(Because::NoToken)
            } else if tenure.token <= self.highest {
                Some(Because::Revived)
            } else {
                self.highest = tenure.token;
                None
            };
            self.tenure = led;
            (self.since, self.before) = (now, self.made);
            self.begin(now, refused);
        }
    }

    /// The tenure is over: of its work nothing may run any more, whatever it was at.
    fn over(&mut self, now: Instant, token: Token) {
        self.drop_requests();
        if !matches!(self.stage, Stage::Resigning(Because::Revived, _)) {
            self.out.push_back(Output::Event(Event::Over(token)));
        }
        self.stop_work(now, token);
        self.tenure = None;
        self.stage = Stage::Idle;
        (self.ready, self.works) = (false, false);
        (self.watch, self.changed) = (None, false);
        self.after = None;
    }

    /// What was not asked yet, or not answered, is not needed any more; but for what has to stop.
    pub(super) fn drop_requests(&mut self) {
        self.tasks.clear();
        self.out.retain(|output| {
            matches!(
                output,
                Output::Event(_) | Output::Request(_, _, Request::Stop)
            )
        });
    }

    /// What may run of this tenure has to stop: which is asked before anything else is said, as that the node resigns.
    pub(super) fn stop_work(&mut self, now: Instant, token: Token) {
        if self.works && self.stopping.is_none() {
            let pass = self.pass_of(token);
            self.stopping = Some((pass, Task::new(What::Stop, now)));
            self.ask(now, None, pass);
        }
    }

    pub(super) fn ticket(&mut self) -> Ticket {
        self.made += 1;
        Ticket {
            incarnation: self.config.holder.incarnation,
            number: self.made,
        }
    }

    pub(super) fn refuse(&mut self, reason: Refusal) {
        self.refusals.add(reason);
    }

    pub(super) fn keeps(&self, rule: Rule) -> bool {
        self.rules.keeps(rule)
    }
}
