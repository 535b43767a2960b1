//! A machine of any scheme, so that hosts, worlds and judges are made once for all of them.

use super::any::Among;
#[cfg(feature = "peers")]
use super::kraft::{self, Machine as Kraft};
#[cfg(feature = "peers")]
use super::particulars::Particulars;
#[cfg(feature = "peers")]
use super::sentinel::{self, Machine as Sentinel};
#[cfg(feature = "peers")]
use super::zab::{self, Machine as Zab};
use super::{
    Answer, Ask, Carried, Detail, Look, PeerSaid, Recorded, Scheme, Stored, Write, lease,
    raft::{self, Machine as Raft},
};
use crate::check::Fact;
#[cfg(feature = "peers")]
use crate::check::broadcast::Act;
use crate::check::configurations::Configuration;
use crate::packet::{Load, Packet};
use crate::physics::trace::Trace;
use crate::server::Holds;
use std::fmt;
use std::hash::Hasher;
use std::sync::Arc;
use tenure::fence::Holder;
use tenure::lease::{Budget, BudgetError};
use tenure::log::{Position, Shape};
#[cfg(not(target_family = "wasm"))]
use tenure::raft::ChangeRefused;
use tenure::{Duration, Election, Input, Instant, Output, Standing, Token, Unknown};

/// A machine of one scheme or another.
#[derive(Clone, Debug)]
pub enum Machine {
    /// Raft.
    Raft(Box<Raft>),
    /// One that elects by a store.
    Lease(Box<lease::Machine>),
    /// ZooKeeper's own election.
    #[cfg(feature = "peers")]
    Zab(Box<Zab>),
    /// A sentinel.
    #[cfg(feature = "peers")]
    Sentinel(Box<Sentinel>),
    /// The quorum of Kafka's controllers.
    #[cfg(feature = "peers")]
    Kraft(Box<Kraft>),
}

/// Does the same for all that elect among themselves, and another thing for those that elect by a store. A further scheme of
/// peers is a further line.
macro_rules! either {
    ($machine:expr, $peer:ident => $among:expr, $lease:pat => $by_store:expr) => {
        match $machine {
            Self::Raft($peer) => $among,
            #[cfg(feature = "peers")]
            Self::Zab($peer) => $among,
            #[cfg(feature = "peers")]
            Self::Sentinel($peer) => $among,
            #[cfg(feature = "peers")]
            Self::Kraft($peer) => $among,
            Self::Lease($lease) => $by_store,
        }
    };
}

/// The same for what is of peers alone.
macro_rules! any {
    ($of:ident, $value:expr, $inner:ident, $scheme:ident => $among:expr) => {
        match $value {
            $of::Raft($inner) => {
                type $scheme = Raft;
                $among
            }
            #[cfg(feature = "peers")]
            $of::Zab($inner) => {
                type $scheme = Zab;
                $among
            }
            #[cfg(feature = "peers")]
            $of::Sentinel($inner) => {
                type $scheme = Sentinel;
                $among
            }
            #[cfg(feature = "peers")]
            $of::Kraft($inner) => {
                type $scheme = Kraft;
                $among
            }
        }
    };
}

/// What the machines of a world are built from.
#[derive(Clone, Debug)]
pub enum Setup {
    /// Of Raft.
    Raft(raft::Setup),
    /// Of an election by a store.
    Lease(lease::Setup),
    /// Of ZooKeeper's own election.
    #[cfg(feature = "peers")]
    Zab(zab::Setup),
    /// Of sentinels and their data servers.
    #[cfg(feature = "peers")]
    Sentinel(sentinel::Setup),
    /// Of the quorum of Kafka's controllers.
    #[cfg(feature = "peers")]
    Kraft(kraft::Setup),
}

/// Why no machine can be built from a setup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// Of Raft.
    Raft(tenure::raft::ConfigError),
    /// Of an election by a store.
    Lease(BudgetError),
    /// Of ZooKeeper's own election.
    #[cfg(feature = "peers")]
    Zab(tenure::zab::ConfigError),
    /// Of sentinels.
    #[cfg(feature = "peers")]
    Sentinel(tenure::sentinel::ConfigError),
    /// Of the quorum of Kafka's controllers.
    #[cfg(feature = "peers")]
    Kraft(tenure::kraft::ConfigError),
}

impl Unfit {
    /// A short name for programs.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Raft(error) => error.code(),
            Self::Lease(error) => error.code(),
            #[cfg(feature = "peers")]
            Self::Zab(error) => error.code(),
            #[cfg(feature = "peers")]
            Self::Sentinel(error) => error.code(),
            #[cfg(feature = "peers")]
            Self::Kraft(error) => error.code(),
        }
    }

    /// What is wrong, without the remedy.
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            Self::Raft(error) => error.reason().to_string(),
            Self::Lease(error) => error.reason().to_string(),
            #[cfg(feature = "peers")]
            Self::Zab(error) => error.reason().to_string(),
            #[cfg(feature = "peers")]
            Self::Sentinel(error) => error.reason().to_string(),
            #[cfg(feature = "peers")]
            Self::Kraft(error) => error.reason().to_string(),
        }
    }

    /// What to do about it.
    #[must_use]
    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::Raft(error) => error.remedy(),
            Self::Lease(error) => error.remedy(),
            #[cfg(feature = "peers")]
            Self::Zab(error) => error.remedy(),
            #[cfg(feature = "peers")]
            Self::Sentinel(error) => error.remedy(),
            #[cfg(feature = "peers")]
            Self::Kraft(error) => error.remedy(),
        }
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Raft(error) => error.fmt(f),
            Self::Lease(error) => error.fmt(f),
            #[cfg(feature = "peers")]
            Self::Zab(error) => error.fmt(f),
            #[cfg(feature = "peers")]
            Self::Sentinel(error) => error.fmt(f),
            #[cfg(feature = "peers")]
            Self::Kraft(error) => error.fmt(f),
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
            #[cfg(feature = "peers")]
            Self::Zab(setup) => setup.check().map_err(Unfit::Zab),
            #[cfg(feature = "peers")]
            Self::Sentinel(setup) => setup.check().map_err(Unfit::Sentinel),
            #[cfg(feature = "peers")]
            Self::Kraft(setup) => setup.check().map_err(Unfit::Kraft),
        }
    }

    /// Whether their leaders have tokens.
    pub(crate) const fn has_tokens(&self) -> bool {
        match self {
            Self::Lease(setup) => setup.has_tokens(),
            _ => true,
        }
    }

    /// Whether leaders keep what they decide in the store by which they were elected.
    pub(crate) const fn keeps_in_store(&self) -> bool {
        match self {
            Self::Lease(setup) => setup.keeps_in_store(),
            _ => false,
        }
    }

    /// What follows from their timing, where they elect by a store.
    #[must_use]
    pub fn budget(&self) -> Option<Budget> {
        match self {
            Self::Lease(setup) => setup.budget().ok(),
            _ => None,
        }
    }

    /// Whether they replicate a log.
    #[must_use]
    pub const fn has_log(&self) -> bool {
        match self {
            Self::Raft(setup) => setup.log,
            Self::Lease(_) => false,
            #[cfg(feature = "peers")]
            Self::Sentinel(_) => false,
            #[cfg(feature = "peers")]
            Self::Zab(_) => true,
            #[cfg(feature = "peers")]
            Self::Kraft(_) => true,
        }
    }

    /// Whether its server keeps a session for each node, which is over when the machine of a process that died closes its
    /// connection.
    #[cfg(feature = "stores")]
    pub(crate) const fn has_sessions(&self) -> bool {
        matches!(self, Self::Lease(setup) if setup.has_sessions())
    }

    /// Whether its machines are told of the connections between nodes, and its servers of theirs.
    #[must_use]
    pub const fn is_connected(&self) -> bool {
        match self {
            Self::Raft(_) => false,
            Self::Lease(setup) => setup.is_connected(),
            #[cfg(feature = "peers")]
            Self::Sentinel(_) => false,
            #[cfg(feature = "peers")]
            Self::Zab(_) => true,
            #[cfg(feature = "peers")]
            Self::Kraft(_) => true,
        }
    }

    /// Whether they replicate by atomic broadcast, whose invariants are judged then.
    #[must_use]
    pub const fn is_broadcast(&self) -> bool {
        match self {
            Self::Raft(_) | Self::Lease(_) => false,
            #[cfg(feature = "peers")]
            Self::Sentinel(_) => false,
            #[cfg(feature = "peers")]
            Self::Zab(_) => true,
            #[cfg(feature = "peers")]
            Self::Kraft(_) => false,
        }
    }

    /// For how long one that was overtaken believes that it leads, at most, where the logs are those of Kafka's controllers.
    #[must_use]
    pub fn stops_within(&self) -> Option<u64> {
        match self {
            #[cfg(feature = "peers")]
            Self::Kraft(setup) => Some(setup.params.stops_within()),
            _ => None,
        }
    }

    /// After how long without a sign of life somebody else wants to lead, at the least.
    #[must_use]
    pub const fn timeout(&self) -> Duration {
        match self {
            Self::Raft(setup) => setup.timing.election_min,
            Self::Lease(setup) => setup.ttl(),
            #[cfg(feature = "peers")]
            Self::Zab(setup) => setup.params.timing.sync(),
            #[cfg(feature = "peers")]
            Self::Sentinel(setup) => setup.params.down_after,
            #[cfg(feature = "peers")]
            Self::Kraft(setup) => setup.params.timing.fetch_timeout,
        }
    }

    /// How far clocks may run from true pace, in parts per million.
    #[must_use]
    pub const fn rate_bound(&self) -> u32 {
        match self {
            Self::Raft(setup) => setup.timing.rate_bound,
            Self::Lease(setup) => setup.rate_bound(),
            // No promise of it rests on the pace of a clock.
            #[cfg(feature = "peers")]
            Self::Zab(_) => zab::RATE_BOUND,
            #[cfg(feature = "peers")]
            Self::Sentinel(_) => sentinel::RATE_BOUND,
            // No promise of it rests on the pace of a clock.
            #[cfg(feature = "peers")]
            Self::Kraft(_) => kraft::RATE_BOUND,
        }
    }

    /// The sentinels and their servers, if it is of those.
    #[cfg(feature = "peers")]
    pub(crate) const fn sentinels(&self) -> Option<&sentinel::Setup> {
        match self {
            Self::Sentinel(setup) => Some(setup),
            _ => None,
        }
    }

    /// The brokers beside the nodes, if there are any.
    #[cfg(feature = "peers")]
    pub(crate) const fn brokers(&self) -> Option<crate::brokers::Params> {
        match self {
            Self::Kraft(setup) => setup.params.brokers,
            _ => None,
        }
    }

    /// The servers beside the nodes: of the store by which they elect, those that they watch, or brokers.
    pub(crate) fn servers(&self) -> Vec<Holds> {
        match self {
            Self::Lease(setup) => setup.servers().into_iter().map(Holds::Store).collect(),
            #[cfg(feature = "peers")]
            Self::Sentinel(setup) => setup.servers().into_iter().map(Holds::Data).collect(),
            #[cfg(feature = "peers")]
            Self::Kraft(setup) => (setup.servers().into_iter())
                .map(|broker| Holds::Broker(Box::new(broker)))
                .collect(),
            _ => Vec::new(),
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
    /// Of ZooKeeper's own election.
    #[cfg(feature = "peers")]
    Zab(tenure::zab::Refusals),
    /// Of sentinels.
    #[cfg(feature = "peers")]
    Sentinel(tenure::sentinel::Refusals),
    /// Of the quorum of Kafka's controllers.
    #[cfg(feature = "peers")]
    Kraft(tenure::kraft::Refusals),
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
            Self::Lease(refusals) => refusals.total(),
            #[cfg(feature = "peers")]
            Self::Zab(refusals) => refusals.total(),
            #[cfg(feature = "peers")]
            Self::Sentinel(refusals) => refusals.total(),
            #[cfg(feature = "peers")]
            Self::Kraft(refusals) => refusals.total(),
        }
    }
}

impl Machine {
    /// The number of its session with ZooKeeper, if it has one.
    #[cfg(all(feature = "stores", feature = "peers", not(target_family = "wasm")))]
    pub(crate) const fn session(&self) -> Option<u64> {
        match self {
            Self::Lease(lease) => lease.session(),
            _ => None,
        }
    }

    /// The sentinel, if it is one.
    #[cfg(feature = "peers")]
    pub(crate) fn sentinel(&self) -> Option<&Sentinel> {
        match self {
            Self::Sentinel(sentinel) => Some(sentinel),
            _ => None,
        }
    }

    /// The next of a sentinel's news.
    #[cfg(feature = "peers")]
    pub(crate) fn poll_news(&mut self) -> Option<tenure::sentinel::News> {
        match self {
            Self::Sentinel(sentinel) => sentinel.poll_news(),
            _ => None,
        }
    }

    /// The machine of Raft, if it is one.
    #[must_use]
    pub fn raft(&self) -> Option<&Raft> {
        match self {
            Self::Raft(raft) => Some(raft),
            _ => None,
        }
    }
}

/// Hands a machine what is for it.
fn hand<M: Among>(machine: &mut M, now: Instant, input: Input<PeerSaid, Answer>) {
    let input = match input {
        Input::Reply(ticket, Ok(Answer::Written)) => Input::Reply(ticket, Ok(())),
        Input::Reply(ticket, _) => Input::Reply(ticket, Err(Unknown)),
        Input::Peer(from, said) => match M::hears(said) {
            Some(message) => Input::Peer(from, message),
            None => return,
        },
        Input::Campaign => Input::Campaign,
        Input::Resign { to } => Input::Resign { to },
        Input::Timeout => Input::Timeout,
    };
    machine.handle(now, input);
}

/// The next that a machine has to say.
fn drain<M: Among>(machine: &mut M) -> Option<Output<PeerSaid, Ask<Write>>> {
    Some(match machine.poll()? {
        Output::Request(ticket, write) => Output::Request(ticket, Ask::Disk(M::writes(write))),
        Output::Send(to, message) => Output::Send(to, M::says(message)),
        Output::Event(event) => Output::Event(event),
    })
}

fn start<M: Among>(
    setup: &M::Setup,
    node: usize,
    life: u64,
    stored: Option<Stored>,
    now: Instant,
) -> Option<Box<M>> {
    M::boot(setup, node, life, stored.and_then(M::held), now).map(Box::new)
}

fn said<M: Among>(machine: &M, node: usize, to: usize, said: &PeerSaid) -> Option<Fact> {
    M::said(machine, node, to, M::heard(said)?)
}

#[cfg(feature = "peers")]
fn acts<M: Among>(machine: &M, message: &PeerSaid) -> Option<Act> {
    machine.acts(M::heard(message)?)
}

impl Election for Machine {
    type Peer = PeerSaid;
    type Request = Ask<Write>;
    type Reply = Answer;

    fn handle(&mut self, now: Instant, input: Input<PeerSaid, Answer>) {
        // What an operator orders a sentinel by `SENTINEL FAILOVER`: of the first master.
        #[cfg(feature = "peers")]
        if let (Self::Sentinel(sentinel), Input::Campaign) = (&mut *self, &input) {
            let _ = sentinel.failover(now, tenure::sentinel::MasterName(0));
            return;
        }
        either!(self, peer => hand(&mut **peer, now, input), lease => lease.handle(now, input));
    }

    fn poll(&mut self) -> Option<Output<PeerSaid, Ask<Write>>> {
        either!(self, peer => drain(&mut **peer), lease => lease.poll())
    }

    fn deadline(&self) -> Option<Instant> {
        either!(self, peer => peer.deadline(), lease => lease.deadline())
    }

    fn grain(&self) -> Duration {
        either!(self, peer => peer.grain(), lease => lease.grain())
    }

    fn standing(&self, now: Instant) -> Standing {
        either!(self, peer => peer.standing(now), lease => lease.standing(now))
    }

    fn fingerprint<H: Hasher>(&self, now: Instant, hasher: &mut H) {
        either!(self, peer => peer.fingerprint(now, hasher), lease => lease.fingerprint(now, hasher));
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
            Setup::Raft(setup) => Self::Raft(start(setup, node, life, stored, now)?),
            Setup::Lease(setup) => Self::Lease(Box::new(setup.boot(node, life, now)?)),
            #[cfg(feature = "peers")]
            Setup::Zab(setup) => Self::Zab(start(setup, node, life, stored, now)?),
            #[cfg(feature = "peers")]
            Setup::Sentinel(setup) => Self::Sentinel(start(setup, node, life, stored, now)?),
            #[cfg(feature = "peers")]
            Setup::Kraft(setup) => Self::Kraft(start(setup, node, life, stored, now)?),
        })
    }

    fn look(&self) -> Look {
        either!(self, peer => peer.look(), lease => lease.look())
    }

    fn detail(&self) -> Detail {
        either!(self, peer => peer.detail(), lease => lease.detail())
    }

    #[cfg(feature = "peers")]
    fn particulars(&self) -> Particulars {
        either!(self, peer => peer.particulars(), _ => Particulars::default())
    }

    fn holder(&self) -> Holder {
        either!(self, peer => Scheme::holder(&**peer), lease => lease.holder())
    }

    fn refusals(&self) -> Refusals {
        match self {
            Self::Raft(raft) => Refusals::Raft(Scheme::refusals(&**raft)),
            Self::Lease(lease) => Refusals::Lease(lease.refusals()),
            #[cfg(feature = "peers")]
            Self::Zab(zab) => Refusals::Zab(Scheme::refusals(&**zab)),
            #[cfg(feature = "peers")]
            Self::Sentinel(one) => Refusals::Sentinel(Scheme::refusals(&**one)),
            #[cfg(feature = "peers")]
            Self::Kraft(kraft) => Refusals::Kraft(Scheme::refusals(&**kraft)),
        }
    }

    fn newly_refused(before: &Refusals, now: &Refusals) -> Option<u64> {
        match (before, now) {
            (Refusals::Raft(before), Refusals::Raft(now)) => Raft::newly_refused(before, now),
            (Refusals::Lease(before), Refusals::Lease(now)) => lease::newly_refused(before, now),
            #[cfg(feature = "peers")]
            (Refusals::Zab(before), Refusals::Zab(now)) => Zab::newly_refused(before, now),
            #[cfg(feature = "peers")]
            (Refusals::Sentinel(before), Refusals::Sentinel(now)) => {
                Sentinel::newly_refused(before, now)
            }
            #[cfg(feature = "peers")]
            (Refusals::Kraft(before), Refusals::Kraft(now)) => Kraft::newly_refused(before, now),
            _ => None,
        }
    }

    fn pack(said: PeerSaid) -> Packet {
        Packet::Peer(said)
    }

    fn log(&self) -> Option<&Shape> {
        either!(self, peer => Scheme::log(&**peer), _ => None)
    }

    fn committed(&self) -> u64 {
        either!(self, peer => Scheme::committed(&**peer), _ => 0)
    }

    fn applied(&mut self, now: Instant, index: u64) -> bool {
        either!(self, peer => Scheme::applied(&mut **peer, now, index), _ => false)
    }

    fn reads_by_entry(&self) -> bool {
        either!(self, peer => peer.reads_by_entry(), _ => false)
    }

    fn propose(&mut self, now: Instant) -> Option<Position> {
        either!(self, peer => Scheme::propose(&mut **peer, now), _ => None)
    }

    fn connection(&mut self, now: Instant, with: usize, stands: bool) {
        #[cfg(feature = "peers")]
        if let Self::Lease(machine) = self {
            return machine.connection(now, with, stands);
        }
        either!(self, peer => peer.connection(now, with, stands), _ => {});
    }

    fn keep(&mut self, now: Instant, token: Token, value: u64) -> bool {
        match self {
            Self::Lease(machine) => machine.keep(now, token, value),
            _ => false,
        }
    }

    fn poll_refused(&mut self) -> Option<Token> {
        match self {
            Self::Lease(machine) => machine.poll_refused(),
            _ => None,
        }
    }

    fn change(&mut self, now: Instant, voters: &[u16], learners: &[u16]) -> bool {
        either!(self, peer => Scheme::change(&mut **peer, now, voters, learners), _ => false)
    }

    fn transfer(&mut self, now: Instant, to: usize) -> bool {
        either!(self, peer => Scheme::transfer(&mut **peer, now, to), _ => false)
    }

    #[cfg(not(target_family = "wasm"))]
    fn refuses_change(
        &self,
        now: Instant,
        voters: &[u16],
        learners: &[u16],
    ) -> Option<ChangeRefused> {
        either!(self, peer => peer.refuses_change(now, voters, learners), _ => None)
    }

    fn configured(write: &Write) -> Option<(u64, u64, Configuration)> {
        any!(Write, write, write, Of => Of::configured(write))
    }

    fn shows(&self, now: Instant) -> bool {
        either!(self, peer => Scheme::shows(&**peer, now), _ => true)
    }

    fn read(&mut self, now: Instant) -> Option<u64> {
        either!(self, peer => Scheme::read(&mut **peer, now), _ => None)
    }

    fn read_leased(&mut self, now: Instant) -> Option<u64> {
        either!(self, peer => Scheme::read_leased(&mut **peer, now), _ => None)
    }

    fn poll_read(&mut self) -> Option<(u64, Option<u64>)> {
        either!(self, peer => Scheme::poll_read(&mut **peer), _ => None)
    }

    fn compact(&mut self, now: Instant, index: u64) {
        either!(self, peer => Scheme::compact(&mut **peer, now, index), _ => {});
    }

    fn carried(said: &PeerSaid) -> Carried {
        any!(PeerSaid, said, message, Of => Of::carried(message))
    }

    fn changed(write: &Write) -> Carried {
        any!(Write, write, write, Of => Of::changed(write))
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

    fn said(&self, node: usize, to: usize, message: &PeerSaid) -> Option<Fact> {
        either!(self, peer => said(&**peer, node, to, message), _ => None)
    }

    #[cfg(feature = "peers")]
    fn acting_epoch(&self) -> Option<u64> {
        either!(self, peer => peer.acting_epoch(), _ => None)
    }

    #[cfg(feature = "peers")]
    fn acts(&self, message: &PeerSaid) -> Option<Act> {
        either!(self, peer => acts(&**peer, message), _ => None)
    }

    #[cfg(feature = "peers")]
    fn epochs(stored: &Stored) -> Option<(u64, u64)> {
        any!(Stored, stored, stored, Of => Of::epochs(stored))
    }

    fn recorded(write: &Write) -> Recorded {
        any!(Write, write, write, Of => Of::recorded(write))
    }

    fn stored(stored: &Stored) -> Recorded {
        any!(Stored, stored, stored, Of => Of::stored(stored))
    }

    fn fold(write: &Write, trace: &mut Trace) {
        any!(Write, write, write, Of => <Of as Scheme>::fold(write, trace));
    }
}
