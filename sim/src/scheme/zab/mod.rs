//! ZooKeeper's own election and broadcast in the world: servers with a log, over connections.

pub(crate) mod code;
mod disk;
mod shown;
mod traced;

pub(crate) use code::message_kind;
pub(crate) use traced::fold;

use super::particulars::Particulars;
use super::{Carried, Detail, Look, PeerSaid, Recorded, RoleCode, Scheme};
use crate::check::Fact;
use crate::check::broadcast::Act;
use crate::packet::{Load, Packet as Travels};
use crate::physics::trace::Trace;
use std::sync::Arc;
use tenure::fence::Holder;
use tenure::log::{Position, Shape};
use tenure::zab::{
    Boot, Config, ConfigError, Ensemble, Entries, Message, Packet, Phase, Refusals, Request, Role,
    Served, Stored, Switched, Timing, Zab,
};
use tenure::{Election as _, Instant, NodeId, Standing};

/// How far clocks run from true pace while nothing is wrong, in parts per million. No safety rests on it.
pub(super) const RATE_BOUND: u32 = 10_000;

/// The machine: its rules can be switched off.
pub type Machine = Zab<Switched>;

/// What a scenario says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Timeouts.
    pub timing: Timing,
    /// How many nodes, the last ones, learn without a vote.
    pub observers: usize,
    /// The rules that are on.
    pub rules: Switched,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            timing: Timing::zookeeper(),
            observers: 0,
            rules: Switched::default(),
        }
    }
}

impl Params {
    /// Within what time somebody leads again once all is well. A leader that has lost its quorum, or a follower its leader, finds
    /// that out after `syncLimit`. One that is elected then may have been deserted, which it and who voted for it find out after
    /// `initLimit` (Z-3109); and who comes to elect with a longer wait for notifications sleeps it out. Then they elect, and
    /// take a few ticks to synchronise, of which each step may once more take as long as one leader waits.
    /// In microseconds.
    #[must_use]
    pub fn leader_within(&self) -> u64 {
        let Timing {
            tick,
            init_limit,
            sync_limit,
            finalize_wait,
            max_notification,
            ..
        } = self.timing;
        let ticks = 2 * u64::from(init_limit) + u64::from(sync_limit) + 5;
        tick.scaled_up(ticks, 1)
            .as_micros()
            .saturating_add(max_notification.as_micros())
            .saturating_add(finalize_wait.scaled_up(10, 1).as_micros())
    }
}

/// What the nodes of one ensemble are built from. They are 0 to `nodes − 1`.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// How many nodes.
    pub nodes: usize,
    /// Their timeouts, parts and rules.
    pub params: Params,
    /// The seed of every draw.
    pub seed: u64,
}

impl Setup {
    /// Whether machines can be built from it: without, none of them starts.
    ///
    /// # Errors
    /// Parameters that are impossible together.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.config(0)?.validate()
    }

    fn config(&self, node: usize) -> Result<Config, ConfigError> {
        let ids = |nodes: std::ops::Range<usize>| nodes.map(|node| NodeId(node as u64));
        // Consecutive ids, at least one voter, within the bound that scenarios are held to.
        let voters = self.nodes.saturating_sub(self.params.observers).max(1);
        let ensemble = Ensemble::majority(ids(0..voters))
            .and_then(|ensemble| ensemble.observed_by(ids(voters..self.nodes)))
            .map_err(|_| ConfigError::NotAMember(NodeId(0)))?;
        Ok(Config {
            timing: self.params.timing,
            ..Config::new(NodeId(node as u64), ensemble)
        })
    }
}

impl Scheme for Machine {
    type Setup = Setup;
    type Write = Request;
    type Stored = Stored;
    type Refusals = Refusals;

    fn boot(
        setup: &Setup,
        node: usize,
        life: u64,
        stored: Option<Stored>,
        now: Instant,
    ) -> Option<Self> {
        let boot = Boot {
            stored,
            incarnation: life,
            seed: setup.seed,
        };
        Self::with_rules(setup.config(node).ok()?, boot, now, setup.params.rules).ok()
    }

    fn look(&self) -> Look {
        let role = match (self.role(), self.phase()) {
            _ if self.halted() => RoleCode::Halted,
            (Role::Looking, _) => RoleCode::Looking,
            (Role::Following, _) => RoleCode::Follower,
            (Role::Observing, _) => RoleCode::Observer,
            (Role::Leading, Some(Phase::Broadcasting)) => RoleCode::Established,
            (Role::Leading, Some(Phase::Synchronising)) => RoleCode::Elected,
            // It asks for promises.
            (Role::Leading, _) => RoleCode::Candidate,
        };
        Look {
            role,
            term: self.epoch().unwrap_or(self.current_epoch()),
            vote: Some(place(self.vote().leader)),
            leader: self.leader().map(place),
        }
    }

    fn detail(&self) -> Detail {
        let Position { term, index } = self.last();
        Detail {
            pending: self.pending(),
            grants: self.grants(),
            last: (term, index),
            ..Detail::default()
        }
    }

    fn particulars(&self) -> Particulars {
        shown::particulars(self)
    }

    fn holder(&self) -> Holder {
        Self::holder(self)
    }

    fn refusals(&self) -> Refusals {
        *self.refusals()
    }

    fn newly_refused(before: &Refusals, now: &Refusals) -> Option<u64> {
        now.risen_since(before)
            .map(|reason| code::FIRST_REFUSAL + reason as u64)
    }

    fn pack(message: Message) -> Travels {
        Travels::Peer(PeerSaid::Zab(message))
    }

    fn log(&self) -> Option<&Shape> {
        Some(Self::log(self))
    }

    fn committed(&self) -> u64 {
        Self::committed(self)
    }

    fn propose(&mut self, now: Instant) -> Option<Position> {
        Self::propose(self, now, 1).ok()
    }

    fn connection(&mut self, now: Instant, peer: usize, stands: bool) {
        let peer = NodeId(peer as u64);
        if stands {
            self.connected(now, peer);
        } else {
            self.disconnected(now, peer);
        }
    }

    /// Whoever has the most recent history succeeds; nobody is named.
    /// A server that looks for its leader, or is not synchronised with it yet, serves nobody.
    fn shows(&self, now: Instant) -> bool {
        self.standing(now) != Standing::Unknown
    }

    /// After a `sync`, at a leader or a follower.
    fn read(&mut self, now: Instant) -> Option<u64> {
        self.sync(now).ok()
    }

    /// There is no lease to read by.
    fn poll_read(&mut self) -> Option<(u64, Option<u64>)> {
        Some(match self.poll_sync()? {
            Served::Ready { upto, index } => (upto, Some(index)),
            Served::LeaderLost { upto } => (upto, None),
        })
    }

    fn compact(&mut self, now: Instant, index: u64) {
        // What is not durable yet, or is being synchronised, is compacted another time.
        let _ = Self::compact(self, now, index);
    }

    fn carried(message: &Message) -> Carried {
        match (message.entries(), message.snapshot()) {
            (Some(entries), _) => carried(&entries),
            (_, Some(last)) => Carried::State(last),
            _ => Carried::Nothing,
        }
    }

    fn changed(write: &Request) -> Carried {
        match write {
            Request::Accepted(_) | Request::Current(_) | Request::Sync | Request::Blank => {
                Carried::Nothing
            }
            Request::Append(entries) => carried(entries),
            Request::Truncate { to } => Carried::Cut(*to),
            Request::Install { last } => Carried::Anew(*last),
            Request::Compact { upto } => Carried::State(*upto),
        }
    }

    fn load(message: Message, load: Arc<Load>) -> Travels {
        Travels::Loaded(PeerSaid::Zab(message), load)
    }

    fn unload(packet: Travels) -> Option<(Message, Option<Arc<Load>>)> {
        match packet {
            Travels::Peer(PeerSaid::Zab(message)) => Some((message, None)),
            Travels::Loaded(PeerSaid::Zab(message), load) => Some((message, Some(load))),
            _ => None,
        }
    }

    fn said(&self, node: usize, to: usize, message: &Message) -> Option<Fact> {
        match message.packet()? {
            // A promise that counts is the vote of an epoch; whoever tells of an epoch has promised it itself.
            Packet::AckEpoch {
                current: Some(_), ..
            } => Some(Fact::Granted {
                node,
                term: self.epoch()?,
                to,
            }),
            Packet::LeaderInfo { epoch } => Some(Fact::Granted {
                node,
                term: epoch,
                to: node,
            }),
            Packet::NewLeader { epoch } => Some(Fact::Acted { node, term: epoch }),
            _ => None,
        }
    }

    fn acting_epoch(&self) -> Option<u64> {
        self.epoch()
    }

    fn acts(&self, message: &Message) -> Option<Act> {
        match message.packet()? {
            Packet::Ack { upto } => Some(Act::Acknowledges(upto)),
            Packet::AckNewLeader => Some(Act::Follows),
            _ => None,
        }
    }

    fn epochs(stored: &Stored) -> Option<(u64, u64)> {
        Some((stored.accepted, stored.current))
    }

    /// The epoch that the write is of.
    fn recorded(write: &Request) -> Recorded {
        let term = match write {
            Request::Accepted(epoch) | Request::Current(epoch) => *epoch,
            Request::Append(entries) => entries.epoch,
            Request::Sync | Request::Blank => 0,
            Request::Truncate { to: at }
            | Request::Install { last: at }
            | Request::Compact { upto: at } => at.term,
        };
        Recorded { term, vote: None }
    }

    fn stored(stored: &Stored) -> Recorded {
        Recorded {
            term: stored.accepted,
            vote: None,
        }
    }

    fn fold(write: &Request, trace: &mut Trace) {
        traced::write(write, trace);
    }
}

const fn carried(entries: &Entries) -> Carried {
    Carried::Entries {
        after: entries.after,
        term: entries.epoch,
        count: entries.count,
    }
}

/// A node of the core as a place in the world.
const fn place(id: NodeId) -> u16 {
    id.0 as u16
}
