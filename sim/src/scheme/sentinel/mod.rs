//! Redis Sentinel in the world: the nodes are sentinels, and the data servers that they watch stand after them.
//!
//! An address is the place of an actor: sentinels are 0 to `nodes − 1`, and then come the servers, a master and its replicas,
//! and the next master and its own. All of them speak one language, [`Message`].

pub(crate) mod code;
mod disk;
pub(crate) mod news;
mod server;
mod shown;

pub(crate) use code::message_kind;
pub(crate) use server::DataServer;

use super::particulars::Particulars;
use super::{Carried, Detail, Look, PeerSaid, Recorded, RoleCode, Scheme};
use crate::check::Fact;
use crate::packet::{Load, Packet};
use crate::physics::trace::Trace;
use std::sync::Arc;
use tenure::fence::Holder;
use tenure::log::{Position, Shape};
use tenure::sentinel::{
    Boot, Config, ConfigError, File, Kept, MasterName, Message, Monitor, Refusals, RunId, Sentinel,
    Stage, Switched, data,
};
use tenure::{Duration, Election, Instant, Leader, NodeId, Standing};

/// How far clocks run from true pace while nothing is wrong, in parts per million. No safety rests on it.
pub(super) const RATE_BOUND: u32 = 10_000;

/// The machine: its rules can be switched off.
pub type Machine = Sentinel<Switched>;

/// What a scenario says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// How many masters the sentinels watch. Clients use the first.
    pub masters: usize,
    /// How many replicas each of them has.
    pub replicas: usize,
    /// How many sentinels must hold a master to be down; `None` for a majority.
    pub quorum: Option<usize>,
    /// How long somebody may be silent before it is held to be down.
    pub down_after: Duration,
    /// How long a step of a failover may take.
    pub failover_timeout: Duration,
    /// How many replicas at a time are made to follow the new master.
    pub parallel_syncs: usize,
    /// `min-replicas-to-write`: a master takes writes while so many replicas kept up; 0 turns it off.
    pub min_replicas: usize,
    /// `min-replicas-max-lag`: how long ago a replica may have been heard that keeps up.
    pub max_lag: Duration,
    /// How long a copy of everything takes.
    pub full_sync: Duration,
    /// Whether a data server has its data still after a restart.
    pub persistent: bool,
    /// The rules that are on.
    pub rules: Switched,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            masters: 1,
            replicas: 2,
            quorum: None,
            down_after: Duration::from_secs(30),
            failover_timeout: Duration::from_secs(180),
            parallel_syncs: 1,
            min_replicas: 0,
            max_lag: Duration::from_secs(10),
            full_sync: Duration::from_secs(1),
            persistent: true,
            rules: Switched::default(),
        }
    }
}

impl Params {
    /// How many servers there are.
    #[must_use]
    pub const fn servers(&self) -> usize {
        self.masters * (self.replicas + 1)
    }

    /// Within what time there is a master again once all is well. A sentinel whose clock was not to be trusted only watches for
    /// half a minute; an attempt may have to wait for the one before it, and may collide with that of another sentinel; and a
    /// replica that follows the wrong server is set right when nothing has changed for one more failover timeout.
    /// In microseconds.
    #[must_use]
    pub fn leader_within(&self) -> u64 {
        let timeout = self.failover_timeout.as_micros().saturating_mul(5);
        timeout
            .saturating_add(self.down_after.as_micros())
            .saturating_add(40_000_000)
    }

    /// And within what time all hold one configuration and follow its master: besides, whoever was ordered last is asked what it
    /// is no more often than every ten seconds, and copies everything.
    /// In microseconds.
    #[must_use]
    pub fn converged_within(&self) -> u64 {
        let copies = self.full_sync.as_micros().saturating_mul(4);
        self.leader_within()
            .saturating_add(self.failover_timeout.as_micros().saturating_mul(3))
            .saturating_add(copies)
            .saturating_add(40_000_000)
    }
}

/// What the sentinels of one group, and their servers, are built from.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// How many sentinels.
    pub nodes: usize,
    /// What they watch, and how.
    pub params: Params,
    /// The seed of every draw.
    pub seed: u64,
}

impl Setup {
    /// Whether machines can be built from it: without, none of them starts.
    ///
    /// # Errors
    /// Parameters that are impossible.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.config(0).validate()
    }

    /// Whether sentinels that woke after the master had died replace it.
    pub(crate) fn wakes_late(&self) -> bool {
        tenure::rules::Rules::keeps(&self.params.rules, tenure::sentinel::Rule::LastSignOfLife)
    }

    /// Where a server of a master is.
    pub(crate) const fn address(&self, master: usize, place: usize) -> NodeId {
        NodeId((self.nodes + master * (self.params.replicas + 1) + place) as u64)
    }

    /// Of which master a server is, or was at the start.
    pub(crate) fn group(&self, server: NodeId) -> Option<MasterName> {
        let server = (server.0 as usize).checked_sub(self.nodes)?;
        let group = server / (self.params.replicas + 1);
        (group < self.params.masters).then_some(MasterName(group as u16))
    }

    /// The servers of a master.
    pub(crate) fn group_of(&self, name: MasterName) -> impl Iterator<Item = NodeId> + use<> {
        let setup = *self;
        (0..=self.params.replicas).map(move |place| setup.address(name.0.into(), place))
    }

    /// How many sentinels must hold a master to be down.
    pub(crate) fn quorum(&self) -> usize {
        self.params.quorum.unwrap_or(self.nodes / 2 + 1)
    }

    fn config(&self, node: usize) -> Config {
        let monitor = |master| Monitor {
            down_after: self.params.down_after,
            failover_timeout: self.params.failover_timeout,
            parallel_syncs: self.params.parallel_syncs,
            ..Monitor::new(
                MasterName(master as u16),
                self.address(master, 0),
                self.quorum(),
            )
        };
        Config {
            id: NodeId(node as u64),
            generation: 0,
            masters: (0..self.params.masters).map(monitor).collect(),
        }
    }

    /// The file that a sentinel is started with the first time: it knows all there are, as after some time together.
    fn file(&self, node: usize) -> File {
        let others = (0..self.nodes).filter(|other| *other != node);
        let sentinels: Vec<_> = others
            .map(|other| (NodeId(other as u64), identity(other)))
            .collect();
        let kept = |master| Kept {
            name: MasterName(master as u16),
            address: self.address(master, 0),
            config_epoch: 0,
            leader_epoch: 0,
            replicas: (1..=self.params.replicas)
                .map(|place| self.address(master, place))
                .collect(),
            sentinels: sentinels.clone(),
        };
        File {
            id: identity(node),
            generation: 0,
            current_epoch: 0,
            masters: (0..self.params.masters).map(kept).collect(),
        }
    }

    fn data(&self, server: NodeId) -> data::Config {
        data::Config {
            min_replicas: self.params.min_replicas,
            max_lag: self.params.max_lag,
            full_sync: self.params.full_sync,
            ..data::Config::new(server)
        }
    }

    /// The servers, in order of their addresses.
    pub(crate) fn servers(&self) -> Vec<DataServer> {
        let all = (0..self.params.masters)
            .flat_map(|master| (0..=self.params.replicas).map(move |place| (master, place)));
        all.map(|(master, place)| {
            let follows = (place > 0).then(|| self.address(master, 0));
            let config = self.data(self.address(master, place));
            DataServer::new(config, follows, self.params.persistent)
        })
        .collect()
    }
}

/// Who a sentinel is.
const fn identity(node: usize) -> RunId {
    RunId(node as u64 + 1)
}

/// Which sentinel this is.
pub(crate) const fn sentinel(id: RunId) -> Option<usize> {
    match id.0.checked_sub(1) {
        Some(node) => Some(node as usize),
        None => None,
    }
}

impl Scheme for Machine {
    type Setup = Setup;
    type Write = File;
    type Stored = File;
    type Refusals = Refusals;

    fn boot(
        setup: &Setup,
        node: usize,
        life: u64,
        stored: Option<File>,
        now: Instant,
    ) -> Option<Self> {
        let boot = Boot {
            stored: Some(stored.unwrap_or_else(|| setup.file(node))),
            incarnation: life,
            seed: setup.seed,
        };
        Self::with_rules(setup.config(node), boot, now, setup.params.rules).ok()
    }

    fn look(&self) -> Look {
        let first = self.masters().first();
        let stage = first.and_then(tenure::sentinel::Master::failover);
        let role = match stage.map(|(stage, _)| stage) {
            _ if self.is_halted() => RoleCode::Halted,
            None => RoleCode::Follower,
            Some(Stage::WaitStart) => RoleCode::Candidate,
            Some(_) if matches!(self.standing(Instant::ZERO), Standing::Leading(_)) => {
                RoleCode::Established
            }
            Some(_) => RoleCode::Elected,
        };
        let vote = first.and_then(tenure::sentinel::Master::leader);
        let leads = first.and_then(|master| self.leader_of(master.name()));
        Look {
            role,
            term: self.current_epoch(),
            vote: vote.and_then(sentinel).map(|node| node as u16),
            leader: leads.map(|Leader { node, .. }| node.0 as u16),
        }
    }

    fn detail(&self) -> Detail {
        Detail {
            pending: self.pending(),
            ..Detail::default()
        }
    }

    fn particulars(&self) -> Particulars {
        shown::particulars(self)
    }

    /// No resource is asked for anything in a sentinel's name.
    fn holder(&self) -> Holder {
        Holder {
            node: self.config().id,
            incarnation: 0,
        }
    }

    fn refusals(&self) -> Refusals {
        *self.refusals()
    }

    fn newly_refused(before: &Refusals, now: &Refusals) -> Option<u64> {
        now.risen_since(before).map(|reason| reason as u64)
    }

    fn pack(message: Message) -> Packet {
        Packet::Peer(PeerSaid::Sentinel(message))
    }

    fn log(&self) -> Option<&Shape> {
        None
    }

    fn committed(&self) -> u64 {
        0
    }

    fn propose(&mut self, _: Instant) -> Option<Position> {
        None
    }

    fn read(&mut self, _: Instant) -> Option<u64> {
        None
    }

    fn poll_read(&mut self) -> Option<(u64, Option<u64>)> {
        None
    }

    fn compact(&mut self, _: Instant, _: u64) {}

    fn carried(_: &Message) -> Carried {
        Carried::Nothing
    }

    fn changed(_: &File) -> Carried {
        Carried::Nothing
    }

    fn load(message: Message, _: Arc<Load>) -> Packet {
        Self::pack(message)
    }

    fn unload(packet: Packet) -> Option<(Message, Option<Arc<Load>>)> {
        match packet {
            Packet::Peer(PeerSaid::Sentinel(message)) => Some((message, None)),
            _ => None,
        }
    }

    /// Its judges listen to every message themselves.
    fn said(&self, _: usize, _: usize, _: &Message) -> Option<Fact> {
        None
    }

    fn recorded(write: &File) -> Recorded {
        Self::stored(write)
    }

    fn stored(stored: &File) -> Recorded {
        Recorded {
            term: stored.current_epoch,
            vote: None,
        }
    }

    fn fold(write: &File, trace: &mut Trace) {
        trace.mix(crate::store::print(write));
    }
}

/// Feeds what the events of a message do not show into the trace.
pub(crate) fn fold(message: &Message, trace: &mut Trace) {
    trace.mix(crate::store::print(message));
}
