//! Raft in the world.

pub(crate) mod code;
mod traced;

pub(crate) use code::message_kind;
pub(crate) use traced::fold;

use super::{Carried, Detail, Logged, Look, PeerSaid, Recorded, RoleCode, Scheme};
use crate::check::configurations::Configuration;
use crate::check::{Check, Fact};
use crate::packet::{Load, Packet};
use crate::physics::disk::Kept;
use crate::physics::trace::Trace;
use std::sync::Arc;
use tenure::fence::Holder;
use tenure::log::{Position, Shape};
use tenure::membership::{Part, Target};
use tenure::quorum::Voters;
#[cfg(not(target_family = "wasm"))]
use tenure::raft::ChangeRefused;
use tenure::raft::{
    Boot, Config, ConfigError, Entries, Invariant, LogWrite, Message, Raft, Record, Refusals,
    Replication, Role, Served, Stored, Switched, Timing, Write,
};
use tenure::{Instant, NodeId};

/// The machine: its rules can be switched off.
pub type Machine = Raft<Switched>;

/// What the nodes of one group are built from. They are 0 to `nodes − 1`.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// How many nodes.
    pub nodes: usize,
    /// The timeouts.
    pub timing: Timing,
    /// PreVote and CheckQuorum.
    pub safe_mode: bool,
    /// The rules that are on.
    pub rules: Switched,
    /// The seed of every draw.
    pub seed: u64,
    /// Whether they replicate a log.
    pub log: bool,
    /// How many of them, the last ones, take no part at the start.
    pub outside: usize,
}

impl Setup {
    /// Whether machines can be built from it: without, none of them starts.
    ///
    /// # Errors
    /// Parameters that are unsafe together.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.config(0)?.validate()
    }

    fn config(&self, node: usize) -> Result<Config, ConfigError> {
        // Consecutive ids, at least one, within the bound that scenarios are held to.
        let voters =
            Voters::new((0..self.nodes.saturating_sub(self.outside).max(1) as u64).map(NodeId))
                .map_err(|_| ConfigError::NotAVoter(NodeId(0)))?;
        Ok(Config {
            timing: self.timing,
            safe_mode: self.safe_mode,
            replication: self.log.then(Replication::default),
            ..Config::new(NodeId(node as u64), voters)
        })
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
            incarnation: life,
            seed: setup.seed,
        };
        Self::with_rules(setup.config(node).ok()?, boot, now, setup.rules).ok()
    }

    fn look(&self) -> Look {
        let role = match self.role() {
            _ if self.halted() => RoleCode::Halted,
            Role::Follower => RoleCode::Follower,
            Role::PreCandidate => RoleCode::PreCandidate,
            Role::Candidate => RoleCode::Candidate,
            Role::Leader if self.established() => RoleCode::Established,
            Role::Leader => RoleCode::Elected,
        };
        Look {
            role,
            term: self.term(),
            vote: self.vote().map(place),
            leader: self.leader().map(place),
        }
    }

    fn detail(&self) -> Detail {
        let Position { term, index } = self.last();
        Detail {
            armed_at: self.armed_at(),
            lease: self.lease().map(|lease| (lease.from, lease.until)),
            promise: self
                .promise()
                .map(|promise| (promise.since, promise.until, promise.to)),
            pending: self.pending(),
            grants: self.grants(),
            last: (term, index),
        }
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
        Packet::Peer(PeerSaid::Raft(message))
    }

    fn log(&self) -> Option<&Shape> {
        self.config()
            .replication
            .is_some()
            .then(|| tenure::raft::Raft::log(self))
    }

    fn committed(&self) -> u64 {
        self.commit()
    }

    fn propose(&mut self, now: Instant) -> Option<Position> {
        Raft::propose(self, now, 1).ok()
    }

    fn change(&mut self, now: Instant, voters: &[u16], learners: &[u16]) -> bool {
        target(voters, learners).is_some_and(|target| Raft::change(self, now, &target).is_ok())
    }

    #[cfg(not(target_family = "wasm"))]
    fn refuses_change(
        &self,
        now: Instant,
        voters: &[u16],
        learners: &[u16],
    ) -> Option<ChangeRefused> {
        let target = target(voters, learners)?;
        Raft::change(&mut self.clone(), now, &target).err()
    }

    fn transfer(&mut self, now: Instant, to: usize) -> bool {
        Raft::transfer(self, now, NodeId(to as u64)).is_ok()
    }

    fn configured(write: &Write) -> Option<(u64, u64, Configuration)> {
        let (at, membership) = match &write.log {
            LogWrite::Append {
                after,
                entries: Entries::Change { term, to },
            } => (Position::new(*term, after.index + 1), to),
            _ => return None,
        };
        let mut halves = [Vec::new(), Vec::new()];
        for member in membership.members() {
            let node = member.id.0 as usize;
            if matches!(member.part, Part::Voter | Part::Incoming) {
                halves[0].push(node);
            }
            let goes = matches!(member.part, Part::Outgoing | Part::OutgoingLearner);
            if membership.is_joint() && (goes || member.part == Part::Voter) {
                halves[1].push(node);
            }
        }
        let learners = membership.learners().map(|id| id.0 as usize).collect();
        Some((at.index, at.term, Configuration::of(halves, learners)))
    }

    fn read(&mut self, now: Instant) -> Option<u64> {
        Raft::read(self, now).ok()
    }

    fn read_leased(&mut self, now: Instant) -> Option<u64> {
        Raft::read_leased(self, now).ok().map(|leased| leased.index)
    }

    fn poll_read(&mut self) -> Option<(u64, Option<u64>)> {
        Some(match Raft::poll_read(self)? {
            Served::Ready { upto, index } => (upto, Some(index)),
            Served::LeaderLost { upto } => (upto, None),
        })
    }

    fn compact(&mut self, now: Instant, index: u64) {
        // What is not durable yet is compacted another time.
        let _ = Raft::compact(self, now, index);
    }

    fn carried(message: &Message) -> Carried {
        match message {
            Message::Append { prev, entries, .. } | Message::Suffix { prev, entries, .. } => {
                carried(*prev, entries)
            }
            Message::InstallSnapshot { last, .. } | Message::SuffixSnapshot { base: last, .. } => {
                Carried::State(*last)
            }
            _ => Carried::Nothing,
        }
    }

    fn changed(write: &Write) -> Carried {
        match &write.log {
            LogWrite::Keep => Carried::Nothing,
            LogWrite::Append { after, entries } => carried(*after, entries),
            LogWrite::Compact { upto: last, .. } | LogWrite::Install { last, .. } => {
                Carried::State(*last)
            }
        }
    }

    fn load(message: Message, load: Arc<Load>) -> Packet {
        Packet::Loaded(PeerSaid::Raft(message), load)
    }

    fn unload(packet: Packet) -> Option<(Message, Option<Arc<Load>>)> {
        match packet {
            Packet::Peer(PeerSaid::Raft(message)) => Some((message, None)),
            Packet::Loaded(PeerSaid::Raft(message), load) => Some((message, Some(load))),
            _ => None,
        }
    }

    fn said(&self, node: usize, to: usize, message: &Message) -> Option<Fact> {
        match *message {
            Message::VoteGranted { term } => Some(Fact::Granted { node, term, to }),
            // To ask for votes is to have voted for oneself.
            Message::RequestVote { term, .. } => Some(Fact::Granted {
                node,
                term,
                to: node,
            }),
            Message::Heartbeat { term, .. } | Message::Append { term, .. } => {
                Some(Fact::Acted { node, term })
            }
            _ => None,
        }
    }

    fn recorded(write: &Write) -> Recorded {
        recorded(&write.record)
    }

    fn stored(stored: &Stored) -> Recorded {
        recorded(&stored.record)
    }

    fn fold(write: &Write, trace: &mut Trace) {
        traced::write(write, trace);
    }
}

fn carried(after: Position, entries: &Entries) -> Carried {
    Carried::Entries {
        after,
        term: entries.term(),
        count: entries.count(),
    }
}

fn recorded(record: &Record) -> Recorded {
    Recorded {
        term: record.term,
        vote: record.vote.map(place),
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

/// A node of the core as a place in the world.
const fn place(id: NodeId) -> u16 {
    id.0 as u16
}

/// The check of the simulator that judges an invariant of the core; `None` when a world does not show it.
#[must_use]
pub const fn check_of(invariant: Invariant) -> Option<Check> {
    match invariant {
        Invariant::OneLeaderPerTerm => Some(Check::OneLeaderPerTerm),
        Invariant::OneVotePerTerm => Some(Check::OneVotePerTerm),
        Invariant::TokenRises => Some(Check::TokenRises),
        Invariant::BelievedLeaders => Some(Check::BelievedLeaders),
        Invariant::NeverRevives => Some(Check::NeverRevives),
        Invariant::LeaderAgain => Some(Check::LeaderAgain),
        Invariant::LogMatching => Some(Check::LogMatching),
        Invariant::LeaderCompleteness => Some(Check::LeaderCompleteness),
        Invariant::StateMachineAgreement => Some(Check::StateMachineAgreement),
        Invariant::CommittedIsDurable => Some(Check::CommittedIsDurable),
        Invariant::CommitRises => Some(Check::CommitRises),
        Invariant::IntersectingQuorums => Some(Check::IntersectingQuorums),
        Invariant::FreshReads => Some(Check::LinearizableStore),
        _ => None,
    }
}

/// What a change is to end in; `None` without voters, or when one is named twice, which the reader of files refuses.
fn target(voters: &[u16], learners: &[u16]) -> Option<Target> {
    let ids = |nodes: &[u16]| -> Vec<NodeId> {
        nodes.iter().map(|node| NodeId(u64::from(*node))).collect()
    };
    Some(Target {
        voters: Voters::new(ids(voters)).ok()?,
        learners: ids(learners),
    })
}
