//! Raft in the world.

use super::Carried;
use super::{Detail, Look, Recorded, RoleCode, Scheme};
use crate::check::configurations::Configuration;
use crate::check::{Check, Fact};
use crate::packet::Load;
use crate::packet::Packet;
use crate::physics::disk::Kept;
use crate::physics::trace::Trace;
use std::sync::Arc;
use tenure::fence::Holder;
use tenure::log::Position;
use tenure::log::Shape;
use tenure::membership::Membership;
use tenure::membership::{Part, Target};
use tenure::quorum::Voters;
use tenure::raft::Served;
use tenure::raft::{
    Boot, Config, ConfigError, Entries, Invariant, LogWrite, Message, Raft, Record, Refusal,
    Refusals, Replication, Role, Stored, Switched, Timing, Write,
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
        if before == now {
            return None;
        }
        Refusal::ALL
            .into_iter()
            .find(|reason| now.count(*reason) > before.count(*reason))
            .map(|reason| reason as u64)
    }

    fn pack(message: Message) -> Packet {
        Packet::Raft(message)
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
        let ids = |nodes: &[u16]| -> Vec<NodeId> {
            nodes.iter().map(|node| NodeId(u64::from(*node))).collect()
        };
        let Ok(voters) = Voters::new(ids(voters)) else {
            return false;
        };
        let learners = ids(learners);
        Raft::change(self, now, &Target { voters, learners }).is_ok()
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

    fn log_of(stored: &Stored) -> &Shape {
        &stored.log
    }

    fn load(message: Message, load: Arc<Load>) -> Packet {
        Packet::Loaded(message, load)
    }

    fn unload(packet: Packet) -> Option<(Message, Option<Arc<Load>>)> {
        match packet {
            Packet::Raft(message) => Some((message, None)),
            Packet::Loaded(message, load) => Some((message, Some(load))),
            _ => None,
        }
    }

    fn said(node: usize, to: usize, message: &Message) -> Option<Fact> {
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
        let Record {
            promise,
            generation,
            ..
        } = write.record;
        trace.mix(promise.as_micros() ^ u64::from(generation) << 48);
        match &write.log {
            LogWrite::Keep => {}
            LogWrite::Append { after, entries } => {
                fold_position(*after, trace);
                fold_entries(entries, trace);
            }
            LogWrite::Compact { upto, membership } => {
                trace.mix(1);
                fold_position(*upto, trace);
                fold_membership(membership, trace);
            }
            LogWrite::Install { last, membership } => {
                trace.mix(2);
                fold_position(*last, trace);
                fold_membership(membership, trace);
            }
        }
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

/// What the kinds of messages are in the events of the trace.
pub(crate) mod code {
    pub(crate) const REQUEST_PRE_VOTE: i64 = 0;
    pub(crate) const PRE_VOTE_GRANTED: i64 = 1;
    pub(crate) const PRE_VOTE_REFUSED: i64 = 2;
    pub(crate) const REQUEST_VOTE: i64 = 3;
    pub(crate) const VOTE_GRANTED: i64 = 4;
    pub(crate) const VOTE_REFUSED: i64 = 5;
    pub(crate) const HEARTBEAT: i64 = 6;
    pub(crate) const HEARTBEAT_ACK: i64 = 7;
    pub(crate) const HEARTBEAT_REFUSED: i64 = 8;
    pub(crate) const RELEASE: i64 = 9;
    pub(crate) const APPEND: i64 = 10;
    pub(crate) const APPEND_ACK: i64 = 11;
    pub(crate) const APPEND_REFUSED: i64 = 12;
    pub(crate) const COMMIT: i64 = 13;
    pub(crate) const INSTALL_SNAPSHOT: i64 = 14;
    pub(crate) const FETCH: i64 = 15;
    pub(crate) const SUFFIX: i64 = 16;
    pub(crate) const READ_INDEX: i64 = 17;
    pub(crate) const READ_INDEX_ACK: i64 = 18;
    pub(crate) const NOT_MEMBER: i64 = 19;
    pub(crate) const SUFFIX_SNAPSHOT: i64 = 40;
}

/// The code of a message in the trace.
#[must_use]
pub(crate) const fn message_kind(message: &Message) -> u8 {
    match message {
        Message::RequestPreVote { .. } => code::REQUEST_PRE_VOTE as u8,
        Message::PreVoteGranted { .. } => code::PRE_VOTE_GRANTED as u8,
        Message::PreVoteRefused { .. } => code::PRE_VOTE_REFUSED as u8,
        Message::RequestVote { .. } => code::REQUEST_VOTE as u8,
        Message::VoteGranted { .. } => code::VOTE_GRANTED as u8,
        Message::VoteRefused { .. } => code::VOTE_REFUSED as u8,
        Message::Heartbeat { .. } => code::HEARTBEAT as u8,
        Message::HeartbeatAck { .. } => code::HEARTBEAT_ACK as u8,
        Message::HeartbeatRefused { .. } => code::HEARTBEAT_REFUSED as u8,
        Message::Release { .. } => code::RELEASE as u8,
        Message::Append { .. } => code::APPEND as u8,
        Message::AppendAck { .. } => code::APPEND_ACK as u8,
        Message::AppendRefused { .. } => code::APPEND_REFUSED as u8,
        Message::Commit { .. } => code::COMMIT as u8,
        Message::InstallSnapshot { .. } => code::INSTALL_SNAPSHOT as u8,
        Message::Fetch { .. } => code::FETCH as u8,
        Message::Suffix { .. } => code::SUFFIX as u8,
        Message::ReadIndex { .. } => code::READ_INDEX as u8,
        Message::ReadIndexAck { .. } => code::READ_INDEX_ACK as u8,
        Message::NotMember { .. } => code::NOT_MEMBER as u8,
        Message::SuffixSnapshot { .. } => code::SUFFIX_SNAPSHOT as u8,
    }
}

/// Feeds what the events of a message do not show into the trace: all but kind and term. What an election without a log
/// leaves empty is not fed.
pub(crate) fn fold(message: &Message, trace: &mut Trace) {
    match message {
        Message::RequestPreVote {
            term: _,
            last,
            sent,
            released,
        } => {
            fold_position(*last, trace);
            trace.mix(sent.as_micros());
            fold_some(*released, trace);
        }
        Message::PreVoteGranted {
            term: _,
            remainder,
            sent,
        } => {
            trace.mix(remainder.as_micros());
            trace.mix(sent.as_micros());
        }
        Message::RequestVote {
            term: _,
            last,
            released,
        } => {
            fold_position(*last, trace);
            fold_some(*released, trace);
        }
        Message::PreVoteRefused {
            asked: _,
            term,
            better,
        } => {
            trace.mix(*term);
            if let Some(better) = better {
                fold_position(better.last, trace);
                trace.mix(better.remainder.as_micros());
                trace.mix(better.sent.as_micros());
            }
        }
        Message::VoteRefused { asked: _, term } | Message::HeartbeatRefused { asked: _, term } => {
            trace.mix(*term);
        }
        Message::VoteGranted { term: _ } => {}
        // A round has the number of those before it in its term: the instant names it as well.
        Message::Heartbeat {
            term: _,
            sent,
            round: _,
            commit,
        } => {
            trace.mix(sent.as_micros());
            fold_some(*commit, trace);
        }
        Message::HeartbeatAck {
            term: _,
            sent,
            round: _,
            promise,
            matched,
        } => {
            trace.mix(sent.as_micros());
            trace.mix(promise.as_micros());
            fold_some(*matched, trace);
        }
        Message::Release {
            term: _,
            to,
            orderly: _,
        } => trace.mix(to.map_or(0, |node| node.0 + 1)),
        Message::Append {
            term: _,
            sent,
            prev,
            entries,
            commit,
        } => {
            trace.mix(sent.as_micros());
            fold_position(*prev, trace);
            fold_entries(entries, trace);
            trace.mix(*commit);
        }
        Message::AppendAck {
            term: _,
            sent,
            promise,
            matched,
        } => {
            trace.mix(sent.as_micros());
            trace.mix(promise.as_micros());
            trace.mix(*matched);
        }
        Message::AppendRefused {
            term: _,
            sent,
            promise,
            prev,
            hint,
        } => {
            trace.mix(sent.as_micros());
            trace.mix(promise.as_micros());
            trace.mix(*prev);
            fold_position(*hint, trace);
        }
        Message::Commit { term: _, index } | Message::NotMember { asked: _, index } => {
            trace.mix(*index);
        }
        Message::InstallSnapshot {
            term: _,
            sent,
            last,
            membership,
        } => {
            trace.mix(sent.as_micros());
            fold_position(*last, trace);
            fold_membership(membership, trace);
        }
        Message::Fetch {
            term: _,
            sent,
            after,
        } => {
            trace.mix(sent.as_micros());
            fold_position(*after, trace);
        }
        Message::Suffix {
            term: _,
            sent,
            prev,
            entries,
            last,
        } => {
            trace.mix(sent.as_micros());
            fold_position(*prev, trace);
            fold_entries(entries, trace);
            fold_position(*last, trace);
        }
        Message::SuffixSnapshot {
            term: _,
            sent,
            base,
            membership,
            last,
        } => {
            trace.mix(sent.as_micros());
            fold_position(*base, trace);
            fold_membership(membership, trace);
            fold_position(*last, trace);
        }
        Message::ReadIndex { term: _, number } => trace.mix(*number),
        Message::ReadIndexAck {
            term: _,
            number,
            index,
        } => {
            trace.mix(*number);
            trace.mix(*index);
        }
    }
}

fn fold_some(number: u64, trace: &mut Trace) {
    if number > 0 {
        trace.mix(number);
    }
}

fn fold_position(Position { term, index }: Position, trace: &mut Trace) {
    trace.mix(term);
    trace.mix(index);
}

fn fold_entries(entries: &Entries, trace: &mut Trace) {
    trace.mix(entries.term());
    trace.mix(entries.count());
    if let Entries::Change { to, .. } = entries {
        fold_membership(to, trace);
    }
}

fn fold_membership(membership: &Membership, trace: &mut Trace) {
    for member in membership.members() {
        trace.mix(member.id.0);
        trace.mix(member.part as u64);
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
