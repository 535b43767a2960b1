//! A machine of any scheme, so that hosts, worlds and judges are made once for all of them.

use super::{
    Answer, Ask, Carried, Detail, Look, PeerSaid, Recorded, Scheme, Stored, Write, lease,
    raft::{self, Machine as Raft},
};
use crate::check::Fact;
use crate::check::configurations::Configuration;
use crate::packet::{Load, Packet};
use crate::physics::trace::Trace;
use std::fmt;
use std::hash::Hasher;
use std::sync::Arc;
use tenure::fence::Holder;
use tenure::lease::{Budget, BudgetError};
use tenure::log::{Position, Shape};
#[cfg(not(target_family = "wasm"))]
use tenure::raft::ChangeRefused;
use tenure::raft::ConfigError;
use tenure::{Duration, Election, Input, Instant, Output, Standing, Unknown};

/// A machine of one scheme or another.
#[derive(Clone, Debug)]
pub enum Machine {
    /// Raft.
    Raft(Box<Raft>),
    /// One that elects by a store.
    Lease(Box<lease::Machine>),
}

/// What the machines of a world are built from.
#[derive(Clone, Debug)]
pub enum Setup {
    /// Of Raft.
    Raft(raft::Setup),
    /// Of an election by a store.
    Lease(lease::Setup),
}

/// Why no machine can be built from a setup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// Of Raft.
    Raft(ConfigError),
    /// Of an election by a store.
    Lease(BudgetError),
}

impl Unfit {
    /// A short name for programs.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Raft(error) => error.code(),
            Self::Lease(error) => error.code(),
        }
    }

    /// What is wrong, without the remedy.
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            Self::Raft(error) => error.reason().to_string(),
            Self::Lease(error) => error.reason().to_string(),
        }
    }

    /// What to do about it.
    #[must_use]
    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::Raft(error) => error.remedy(),
            Self::Lease(error) => error.remedy(),
        }
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Raft(error) => error.fmt(f),
            Self::Lease(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Unfit {}

impl Setup {
    /// Whether machines can be built from it: without, none of them starts.
    ///
    /// # Errors
    /// Parameters that are unsafe together.
    pub fn check(&self) -> Result<(), Unfit> {
        match self {
            Self::Raft(setup) => setup.check().map_err(Unfit::Raft),
            Self::Lease(setup) => setup.check().map_err(Unfit::Lease),
        }
    }

    /// Whether their leaders have tokens.
    pub(crate) const fn has_tokens(&self) -> bool {
        match self {
            Self::Raft(_) => true,
            Self::Lease(setup) => setup.has_tokens(),
        }
    }

    /// What follows from their timing, where they elect by a store.
    #[must_use]
    pub fn budget(&self) -> Option<Budget> {
        match self {
            Self::Raft(_) => None,
            Self::Lease(setup) => setup.budget().ok(),
        }
    }

    /// Whether they replicate a log.
    #[must_use]
    pub const fn has_log(&self) -> bool {
        matches!(self, Self::Raft(setup) if setup.log)
    }

    /// After how long without a sign of life somebody else wants to lead, at the least.
    #[must_use]
    pub const fn timeout(&self) -> Duration {
        match self {
            Self::Raft(setup) => setup.timing.election_min,
            Self::Lease(setup) => setup.ttl(),
        }
    }

    /// How far clocks may run from true pace, in parts per million.
    #[must_use]
    pub const fn rate_bound(&self) -> u32 {
        match self {
            Self::Raft(setup) => setup.timing.rate_bound,
            Self::Lease(setup) => setup.rate_bound(),
        }
    }

    /// The servers of the store by which they elect.
    pub(crate) fn servers(&self) -> Vec<lease::Kept> {
        match self {
            Self::Raft(_) => Vec::new(),
            Self::Lease(setup) => setup.servers(),
        }
    }
}

/// Counts of what a machine refused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Refusals {
    /// Of Raft.
    Raft(tenure::raft::Refusals),
    /// Of an election by a store.
    Lease(tenure::lease::Refusals),
}

impl Default for Refusals {
    fn default() -> Self {
        Self::Raft(tenure::raft::Refusals::default())
    }
}

impl Refusals {
    /// How many inputs were refused in all.
    #[must_use]
    pub fn total(&self) -> u64 {
        match self {
            Self::Raft(refusals) => refusals.total(),
            Self::Lease(refusals) => u64::from(refusals.total()),
        }
    }
}

impl Machine {
    /// The machine of Raft, if it is one.
    #[must_use]
    pub fn raft(&self) -> Option<&Raft> {
        match self {
            Self::Raft(raft) => Some(raft),
            Self::Lease(_) => None,
        }
    }

    fn raft_mut(&mut self) -> Option<&mut Raft> {
        match self {
            Self::Raft(raft) => Some(raft),
            Self::Lease(_) => None,
        }
    }
}

impl Election for Machine {
    type Peer = PeerSaid;
    type Request = Ask<Write>;
    type Reply = Answer;

    fn handle(&mut self, now: Instant, input: Input<PeerSaid, Answer>) {
        match self {
            Self::Raft(raft) => {
                let input = match input {
                    Input::Reply(ticket, Ok(Answer::Written)) => Input::Reply(ticket, Ok(())),
                    Input::Reply(ticket, _) => Input::Reply(ticket, Err(Unknown)),
                    Input::Peer(from, PeerSaid::Raft(message)) => Input::Peer(from, message),
                    Input::Campaign => Input::Campaign,
                    Input::Resign { to } => Input::Resign { to },
                    Input::Timeout => Input::Timeout,
                };
                raft.handle(now, input);
            }
            Self::Lease(lease) => lease.handle(now, input),
        }
    }

    fn poll(&mut self) -> Option<Output<PeerSaid, Ask<Write>>> {
        match self {
            Self::Raft(raft) => Some(match raft.poll()? {
                Output::Request(ticket, write) => {
                    Output::Request(ticket, Ask::Disk(Write::Raft(write)))
                }
                Output::Send(to, message) => Output::Send(to, PeerSaid::Raft(message)),
                Output::Event(event) => Output::Event(event),
            }),
            Self::Lease(lease) => lease.poll(),
        }
    }

    fn deadline(&self) -> Option<Instant> {
        match self {
            Self::Raft(raft) => raft.deadline(),
            Self::Lease(lease) => lease.deadline(),
        }
    }

    fn grain(&self) -> Duration {
        match self {
            Self::Raft(raft) => raft.grain(),
            Self::Lease(lease) => lease.grain(),
        }
    }

    fn standing(&self, now: Instant) -> Standing {
        match self {
            Self::Raft(raft) => raft.standing(now),
            Self::Lease(lease) => lease.standing(now),
        }
    }

    fn fingerprint<H: Hasher>(&self, now: Instant, hasher: &mut H) {
        match self {
            Self::Raft(raft) => raft.fingerprint(now, hasher),
            Self::Lease(lease) => lease.fingerprint(now, hasher),
        }
    }
}

/// Those that elect by a store have neither peers nor a disk.
impl Scheme for Machine {
    type Setup = Setup;
    type Write = Write;
    type Stored = Stored;
    type Refusals = Refusals;

    fn boot(
        setup: &Setup,
        node: usize,
        life: u64,
        stored: Option<Stored>,
        now: Instant,
    ) -> Option<Self> {
        Some(match setup {
            Setup::Raft(setup) => {
                let stored = stored.map(|Stored::Raft(stored)| stored);
                Self::Raft(Box::new(Raft::boot(setup, node, life, stored, now)?))
            }
            Setup::Lease(setup) => Self::Lease(Box::new(setup.boot(node, life, now)?)),
        })
    }

    fn look(&self) -> Look {
        match self {
            Self::Raft(raft) => raft.look(),
            Self::Lease(lease) => lease.look(),
        }
    }

    fn detail(&self) -> Detail {
        match self {
            Self::Raft(raft) => raft.detail(),
            Self::Lease(lease) => lease.detail(),
        }
    }

    fn holder(&self) -> Holder {
        match self {
            Self::Raft(raft) => Scheme::holder(&**raft),
            Self::Lease(lease) => lease.holder(),
        }
    }

    fn refusals(&self) -> Refusals {
        match self {
            Self::Raft(raft) => Refusals::Raft(Scheme::refusals(&**raft)),
            Self::Lease(lease) => Refusals::Lease(lease.refusals()),
        }
    }

    fn newly_refused(before: &Refusals, now: &Refusals) -> Option<u64> {
        match (before, now) {
            (Refusals::Raft(before), Refusals::Raft(now)) => Raft::newly_refused(before, now),
            (Refusals::Lease(before), Refusals::Lease(now)) => lease::newly_refused(before, now),
            _ => None,
        }
    }

    fn pack(said: PeerSaid) -> Packet {
        Packet::Peer(said)
    }

    fn log(&self) -> Option<&Shape> {
        self.raft().and_then(Scheme::log)
    }

    fn committed(&self) -> u64 {
        self.raft().map_or(0, Scheme::committed)
    }

    fn propose(&mut self, now: Instant) -> Option<Position> {
        Scheme::propose(self.raft_mut()?, now)
    }

    fn change(&mut self, now: Instant, voters: &[u16], learners: &[u16]) -> bool {
        self.raft_mut()
            .is_some_and(|raft| Scheme::change(raft, now, voters, learners))
    }

    fn transfer(&mut self, now: Instant, to: usize) -> bool {
        self.raft_mut()
            .is_some_and(|raft| Scheme::transfer(raft, now, to))
    }

    #[cfg(not(target_family = "wasm"))]
    fn refuses_change(
        &self,
        now: Instant,
        voters: &[u16],
        learners: &[u16],
    ) -> Option<ChangeRefused> {
        self.raft()?.refuses_change(now, voters, learners)
    }

    fn configured(write: &Write) -> Option<(u64, u64, Configuration)> {
        match write {
            Write::Raft(write) => Raft::configured(write),
        }
    }

    fn read(&mut self, now: Instant) -> Option<u64> {
        Scheme::read(self.raft_mut()?, now)
    }

    fn read_leased(&mut self, now: Instant) -> Option<u64> {
        Scheme::read_leased(self.raft_mut()?, now)
    }

    fn poll_read(&mut self) -> Option<(u64, Option<u64>)> {
        Scheme::poll_read(self.raft_mut()?)
    }

    fn compact(&mut self, now: Instant, index: u64) {
        if let Some(raft) = self.raft_mut() {
            Scheme::compact(raft, now, index);
        }
    }

    fn carried(said: &PeerSaid) -> Carried {
        match said {
            PeerSaid::Raft(message) => Raft::carried(message),
        }
    }

    fn changed(write: &Write) -> Carried {
        match write {
            Write::Raft(write) => Raft::changed(write),
        }
    }

    fn log_of(stored: &Stored) -> &Shape {
        match stored {
            Stored::Raft(stored) => Raft::log_of(stored),
        }
    }

    fn load(said: PeerSaid, load: Arc<Load>) -> Packet {
        Packet::Loaded(said, load)
    }

    fn unload(packet: Packet) -> Option<(PeerSaid, Option<Arc<Load>>)> {
        match packet {
            Packet::Peer(said) => Some((said, None)),
            Packet::Loaded(said, load) => Some((said, Some(load))),
            _ => None,
        }
    }

    fn said(node: usize, to: usize, said: &PeerSaid) -> Option<Fact> {
        match said {
            PeerSaid::Raft(message) => Raft::said(node, to, message),
        }
    }

    fn recorded(write: &Write) -> Recorded {
        match write {
            Write::Raft(write) => Raft::recorded(write),
        }
    }

    fn stored(stored: &Stored) -> Recorded {
        match stored {
            Stored::Raft(stored) => Raft::stored(stored),
        }
    }

    fn fold(write: &Write, trace: &mut Trace) {
        match write {
            Write::Raft(write) => Raft::fold(write, trace),
        }
    }
}
