//! The quorum of Kafka's controllers in the world: nodes with a log from which followers fetch, and a store on it.
//!
//! Voters are named without their disks, as before KIP-853: one whose disk was replaced votes again. What a client reads
//! goes through the log, for a leader has no lease to read by, and nobody is answered before what was decided is committed
//! (KC-2).

pub(crate) mod code;
mod shown;
mod traced;

pub(crate) use code::message_kind;
pub(crate) use traced::fold;

use super::particulars::Particulars;
use super::{Carried, Detail, Logged, Look, PeerSaid, Recorded, RoleCode, Scheme};
use crate::brokers::{self, BrokerServer};
use crate::check::Fact;
use crate::packet::{Load, Packet};
use crate::physics::disk::Kept;
use crate::physics::trace::Trace;
use std::sync::Arc;
use tenure::fence::Holder;
use tenure::kraft::{
    Applying, Body, Boot, Config, ConfigError, DirectoryId, Fetched, Kraft, LogWrite, Message,
    QuorumState, Refusals, Role, Stored, Switched, Timing, Write,
};
use tenure::log::{Position, Shape};
use tenure::quorum::Voters;
use tenure::{Instant, NodeId};

/// How far clocks run from true pace while nothing is wrong, in parts per million. No safety rests on it.
pub(super) const RATE_BOUND: u32 = 10_000;

/// The machine: its rules can be switched off.
pub type Machine = Kraft<Switched>;

/// What a scenario says of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Params {
    /// Timeouts.
    pub timing: Timing,
    /// How many nodes, the last ones, fetch without a vote.
    pub observers: usize,
    /// The brokers beside the nodes, if there are any.
    pub brokers: Option<brokers::Params>,
    /// The rules that are on.
    pub rules: Switched,
}

impl Params {
    /// Within what time somebody leads again once all is well: a leader that lost its quorum resigns, and its
    /// followers doubt it; what was asked and is lost is given up; and there are a few elections, each with its back-off.
    /// In microseconds.
    #[must_use]
    pub fn leader_within(&self) -> u64 {
        let Timing {
            election_timeout,
            election_backoff_max,
            request_timeout,
            ..
        } = self.timing;
        let election = election_timeout.scaled_up(2, 1) + election_backoff_max;
        let all = self.timing.check_quorum() + request_timeout + election.scaled_up(3, 1);
        all.as_micros()
    }

    /// For how long a leader whose voters turned to another goes on believing that it leads (KR-S6), on any clock. Twice its
    /// check of the quorum: who asked just before they turned away counts once more, together with one who did not.
    /// In microseconds.
    #[must_use]
    pub fn stops_within(&self) -> u64 {
        let checks = self.timing.check_quorum().scaled_up(2, 1);
        let slow = checks.scaled_up(u64::from(RATE_BOUND) * 2, 1_000_000);
        (checks + slow).as_micros()
    }
}

/// What the nodes of one quorum are built from. They are 0 to `nodes − 1`.
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
        self.config(0).map_or(Ok(()), |config| config.validate())
    }

    /// None where there are more voters than a group can have, which the reader of files refuses.
    fn config(&self, node: usize) -> Option<Config> {
        let voters = self.nodes.saturating_sub(self.params.observers).max(1);
        let voters = Voters::new((0..voters as u64).map(NodeId)).ok()?;
        Some(Config {
            timing: self.params.timing,
            // A controller is active once the replica has applied what is committed (KC-1).
            applying: Applying::Told,
            ..Config::new(NodeId(node as u64), voters)
        })
    }
}

impl Setup {
    /// The brokers beside the nodes: actors after them.
    pub(crate) fn servers(&self) -> Vec<BrokerServer> {
        let count = self.params.brokers.map_or(0, |params| params.count);
        let params = std::iter::repeat_n(self.params.brokers, count).flatten();
        (self.nodes..)
            .zip(params)
            .map(|(actor, params)| BrokerServer::new(params, actor, self.nodes))
            .collect()
    }
}

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
        let boot = Boot {
            stored,
            directory: DirectoryId(node as u64),
            incarnation: life,
            seed: setup.seed,
        };
        Self::with_rules(setup.config(node)?, boot, now, setup.params.rules).ok()
    }

    fn look(&self) -> Look {
        let role = match self.role() {
            _ if self.halted() => RoleCode::Halted,
            _ if !self.is_voter() => RoleCode::Observer,
            Role::Follower | Role::Resigned => RoleCode::Follower,
            Role::Unattached => RoleCode::Looking,
            Role::Prospective => RoleCode::PreCandidate,
            Role::Candidate => RoleCode::Candidate,
            Role::Leader if self.active().is_some() => RoleCode::Established,
            Role::Leader => RoleCode::Elected,
        };
        Look {
            role,
            term: self.epoch(),
            vote: self.voted().map(|voted| place(voted.id)),
            leader: self.leader().map(place),
        }
    }

    fn detail(&self) -> Detail {
        let Position { term, index } = self.last();
        Detail {
            armed_at: self.armed_at(),
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
        now.risen_since(before).map(|reason| reason as u64)
    }

    fn pack(message: Message) -> Packet {
        Packet::Peer(PeerSaid::Kraft(message))
    }

    fn log(&self) -> Option<&Shape> {
        Some(Self::log(self))
    }

    fn committed(&self) -> u64 {
        self.high_watermark()
    }

    fn applied(&mut self, now: Instant, index: u64) -> bool {
        let before = self.active();
        Self::applied(self, now, index);
        self.active() != before
    }

    fn propose(&mut self, now: Instant) -> Option<Position> {
        Self::propose(self, now, 1).ok()
    }

    fn connection(&mut self, now: Instant, peer: usize, stands: bool) {
        if !stands {
            self.disconnected(now, NodeId(peer as u64));
        }
    }

    /// Whoever is most up to date succeeds a leader that resigns; nobody is named.
    fn reads_by_entry(&self) -> bool {
        true
    }

    /// What is read is an entry.
    fn read(&mut self, _: Instant) -> Option<u64> {
        None
    }

    /// There is no lease to read by.
    fn poll_read(&mut self) -> Option<(u64, Option<u64>)> {
        None
    }

    fn compact(&mut self, now: Instant, index: u64) {
        // What is not durable yet is compacted another time.
        let _ = Self::compact(self, now, index);
    }

    fn carried(message: &Message) -> Carried {
        match message.body {
            Body::FetchReply {
                after,
                content: Fetched::Records { epoch, count },
                ..
            } => Carried::Entries {
                after,
                term: epoch,
                count,
            },
            Body::FetchSnapshotReply {
                snapshot: Some(last),
                ..
            } => Carried::State(last),
            _ => Carried::Nothing,
        }
    }

    fn changed(write: &Write) -> Carried {
        match write.log {
            LogWrite::Keep => Carried::Nothing,
            LogWrite::Append {
                after,
                epoch,
                count,
            } => Carried::Entries {
                after,
                term: epoch,
                count,
            },
            LogWrite::Truncate { to } => Carried::Cut(to),
            LogWrite::Compact { upto } => Carried::State(upto),
            LogWrite::Install { last } => Carried::Anew(last),
        }
    }

    fn load(message: Message, load: Arc<Load>) -> Packet {
        Packet::Loaded(PeerSaid::Kraft(message), load)
    }

    fn unload(packet: Packet) -> Option<(Message, Option<Arc<Load>>)> {
        match packet {
            Packet::Peer(PeerSaid::Kraft(message)) => Some((message, None)),
            Packet::Loaded(PeerSaid::Kraft(message), load) => Some((message, Some(load))),
            _ => None,
        }
    }

    fn said(&self, node: usize, to: usize, message: &Message) -> Option<Fact> {
        match message.body {
            // What it grants is a vote where it is recorded as one; a pre-vote binds nobody.
            Body::VoteReply {
                head,
                granted: true,
            } => {
                let voted = self.voted().filter(|voted| place(voted.id) == to as u16);
                voted.map(|_| Fact::Granted {
                    node,
                    term: head.epoch,
                    to,
                })
            }
            // To ask for votes is to have voted for oneself.
            Body::Vote {
                epoch,
                pre_vote: false,
                ..
            } => Some(Fact::Granted {
                node,
                term: epoch,
                to: node,
            }),
            Body::BeginQuorumEpoch { epoch, .. } => Some(Fact::Acted { node, term: epoch }),
            _ => None,
        }
    }

    fn recorded(write: &Write) -> Recorded {
        recorded(&write.state)
    }

    fn stored(stored: &Stored) -> Recorded {
        recorded(&stored.state)
    }

    fn fold(write: &Write, trace: &mut Trace) {
        traced::write(write, trace);
    }
}

impl Kept for Stored {
    type Write = Write;

    fn fold(&mut self, write: &Write) -> bool {
        // What does not fit comes after a write that a damaged disk dropped: what is read ends before the gap.
        self.apply(write).is_ok()
    }
}

impl Logged for Stored {
    fn log(&self) -> &Shape {
        &self.log
    }
}

fn recorded(state: &QuorumState) -> Recorded {
    Recorded {
        term: state.epoch,
        vote: state.voted.map(|voted| place(voted.id)),
    }
}

/// A node of the core as a place in the world.
const fn place(id: NodeId) -> u16 {
    id.0 as u16
}
