//! Kafka's controller of old, in the world: the machine of the core, and what its host writes into ZooKeeper while it leads.
//!
//! **As Kafka's host** (3.x): what a leader writes for its clients it keeps in ZooKeeper, too, as the state of a partition is kept:
//! in one transaction with the check of the epoch that it was elected in (KZ-F1). What is to be written is written in turn, by
//! whatever session there is then, and tried again until ZooKeeper has answered. So what a frozen or a cut-off controller had
//! still to write comes after another was elected (KAFKA-6082), and is refused; of that, it tells its machine.

use super::super::candidate::Candidate;
use super::super::{StoreAsk, StoreSaid};
use super::{KAFKA, epoch_of};
use crate::store::Key;
use crate::store::zookeeper::Image;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::hash::{Hash, Hasher};
use tenure::lease::zookeeper::controller::{Controller, Guard, Request};
use tenure::lease::zookeeper::{self as core, Reply, SessionId};
use tenure::lease::{Boot, BudgetError, Refusals, Switched, Timing};
use tenure::{
    Duration, Election, Input, Instant, Leader, Output, Standing, Tenure, Ticket, Token, Unknown,
};

/// Under these numbers the host asks, and below them its machine does.
const HOST: u64 = 1 << 63;

/// A write of a host, for it to make.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Guarded {
    pub(super) session: SessionId,
    pub(super) path: Key,
    /// The epoch of whoever wrote it, and what.
    pub(super) data: Key,
    /// Whether it is the first there.
    pub(super) creates: bool,
    pub(super) guard: Guard,
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in super::super) enum Call {
    /// By the machine.
    Elect(Request),
    /// By its host.
    Write(Guarded),
}

/// A broker that may be the controller.
#[derive(Clone, Debug)]
pub(in super::super) struct Broker {
    machine: Controller<Switched>,
    /// What each of its tenures is guarded by, the newest last.
    guards: Vec<(Token, Guard)>,
    /// What is to be written, first come first: in which tenure, and what.
    writes: VecDeque<(Token, u64)>,
    /// Whether the first of them creates the znode.
    creates: bool,
    /// How the first of them was asked for, and when.
    asked: Option<(Ticket, Instant)>,
    /// When to ask for it.
    next: Instant,
    life: u64,
    /// How often it asked.
    number: u64,
    says: VecDeque<(Ticket, Guarded)>,
    refused: VecDeque<Token>,
}

/// Where it writes.
fn state() -> Key {
    format!("{KAFKA}/state").into()
}

/// The change by which somebody wrote whose epoch was not the stored one, if that is what was written last (KZ-NoStaleWrite).
pub(super) fn stale_write(held: &Image) -> Option<u64> {
    let (epoch, now) = epoch_of(held)?;
    let state = state();
    let written = held.stat(&state)?;
    let by = held.data(&state)?.split_whitespace().next()?;
    let is_stale = written.mzxid > now.mzxid && by.parse() != Ok(epoch);
    is_stale.then_some(written.mzxid.cast_unsigned())
}

impl Broker {
    pub(in super::super) fn with_rules(
        config: core::Config,
        boot: Boot,
        now: Instant,
        rules: Switched,
    ) -> Result<Self, BudgetError> {
        let life = boot.incarnation;
        Ok(Self {
            machine: Controller::with_rules(config, boot, now, rules)?,
            guards: Vec::new(),
            writes: VecDeque::new(),
            creates: false,
            asked: None,
            next: now,
            life,
            number: HOST,
            says: VecDeque::new(),
            refused: VecDeque::new(),
        })
    }

    /// What was decided in a tenure is to be kept.
    pub(in super::super) fn keep(&mut self, now: Instant, token: Token, value: u64) {
        self.writes.push_back((token, value));
        self.look(now);
    }

    /// In which tenure something was decided that ZooKeeper refused to keep.
    pub(in super::super) fn poll_refused(&mut self) -> Option<Token> {
        self.refused.pop_front()
    }

    pub(in super::super) const fn tenure(&self) -> Option<Tenure> {
        self.machine.tenure()
    }

    pub(in super::super) fn leader(&self) -> Option<Leader> {
        self.machine.leader()
    }

    pub(in super::super) fn refusals(&self) -> &Refusals {
        self.machine.refusals()
    }

    #[cfg(all(feature = "peers", not(target_family = "wasm")))]
    pub(in super::super) const fn session(&self) -> SessionId {
        self.machine.session()
    }

    const fn timing(&self) -> Timing {
        self.machine.config().common.timing
    }

    /// Asks for the first write, if it is time.
    fn look(&mut self, now: Instant) {
        if let (Some(tenure), Some(guard)) = (self.machine.tenure(), self.machine.guard())
            && self
                .guards
                .last()
                .is_none_or(|(last, _)| *last != tenure.token)
        {
            self.guards.push((tenure.token, guard));
        }
        if self.due().is_none_or(|due| due > now) {
            return;
        }
        self.asked = None;
        self.next = now + self.timing().retry;
        let Some((token, value)) = self.writes.front().copied() else {
            return;
        };
        let session = self.machine.session();
        let guard = self.guards.iter().rev().find(|(of, _)| *of == token);
        let Some((_, guard)) = guard.filter(|_| session != SessionId::NONE) else {
            return;
        };
        self.number += 1;
        let ticket = Ticket {
            incarnation: self.life,
            number: self.number,
        };
        let write = Guarded {
            session,
            path: state(),
            data: format!("{} {value}", token.counter).into(),
            creates: self.creates,
            guard: guard.clone(),
        };
        self.asked = Some((ticket, now));
        self.says.push_back((ticket, write));
    }

    /// When it looks.
    fn due(&self) -> Option<Instant> {
        match self.asked {
            Some((_, asked)) => Some(asked + self.timing().patience),
            None => (!self.writes.is_empty()).then_some(self.next),
        }
    }

    fn answered(&mut self, now: Instant, ticket: Ticket, result: Result<Reply, Unknown>) {
        // What was asked for again is answered again.
        if self.asked.is_none_or(|(asked, _)| asked != ticket) {
            return;
        }
        self.asked = None;
        match result {
            Ok(Reply::NoNode) if !self.creates => (self.creates, self.next) = (true, now),
            Ok(Reply::NodeExists) => (self.creates, self.next) = (false, now),
            Ok(Reply::Set(_) | Reply::Created(_)) => self.is_over(now),
            Ok(Reply::BadVersion) => {
                if let Some((token, _)) = self.writes.front().copied() {
                    self.refused.push_back(token);
                    self.machine.moved(now, token);
                }
                self.is_over(now);
            }
            _ => self.next = now + self.timing().retry,
        }
    }

    /// The first write was made, or refused.
    fn is_over(&mut self, now: Instant) {
        self.writes.pop_front();
        (self.creates, self.next) = (false, now);
    }
}

impl Election for Broker {
    type Peer = Infallible;
    type Request = Call;
    type Reply = Reply;

    fn handle(&mut self, now: Instant, input: Input<Infallible, Reply>) {
        match input {
            Input::Reply(ticket, result) if ticket.number >= HOST => {
                self.answered(now, ticket, result);
            }
            input => self.machine.handle(now, input),
        }
        self.look(now);
    }

    fn poll(&mut self) -> Option<Output<Infallible, Call>> {
        Some(match self.machine.poll() {
            Some(Output::Request(ticket, request)) => {
                Output::Request(ticket, Call::Elect(request))
            }
            Some(Output::Event(event)) => Output::Event(event),
            Some(Output::Send(_, never)) => match never {},
            None => {
                let (ticket, write) = self.says.pop_front()?;
                Output::Request(ticket, Call::Write(write))
            }
        })
    }

    fn deadline(&self) -> Option<Instant> {
        self.machine.deadline().into_iter().chain(self.due()).min()
    }

    fn grain(&self) -> Duration {
        self.machine.grain()
    }

    fn standing(&self, now: Instant) -> Standing {
        self.machine.standing(now)
    }

    fn fingerprint<H: Hasher>(&self, now: Instant, hasher: &mut H) {
        self.machine.fingerprint(now, hasher);
        (self.writes.len(), self.asked.is_some(), self.creates).hash(hasher);
    }
}

impl Candidate for Broker {
    fn ask(call: Call) -> (usize, StoreAsk) {
        let ask = match call {
            Call::Elect(request) => StoreAsk::Controller(request),
            Call::Write(write) => StoreAsk::Guarded(write),
        };
        (0, ask)
    }

    fn reply(said: StoreSaid) -> Result<Reply, Unknown> {
        match said {
            StoreSaid::ZooKeeper(reply) => Ok(reply),
            _ => Err(Unknown),
        }
    }

    fn belief(&self) -> Duration {
        // Of what was granted: without slack it does not lead.
        self.machine
            .budget()
            .map_or(Duration::ZERO, |budget| budget.belief)
    }
}
