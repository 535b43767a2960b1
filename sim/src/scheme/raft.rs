//! Raft in the world.

use super::{Detail, Look, Recorded, RoleCode, Scheme};
use crate::check::{Check, Fact};
use crate::packet::Packet;
use crate::physics::trace::Trace;
use tenure::fence::Holder;
use tenure::log::{Position, Shape};
use tenure::quorum::Voters;
use tenure::raft::{
    Boot, Config, ConfigError, Invariant, Message, Raft, Record, Refusal, Refusals, Role, Switched,
    Timing,
};
use tenure::{Instant, NodeId};

/// The machine: its rules can be switched off.
pub type Machine = Raft<Switched>;

/// What the voters of one group are built from. Voters 0 to `nodes − 1`.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// How many voters.
    pub nodes: usize,
    /// The timeouts.
    pub timing: Timing,
    /// PreVote and CheckQuorum.
    pub safe_mode: bool,
    /// The rules that are on.
    pub rules: Switched,
    /// The seed of every draw.
    pub seed: u64,
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
        let voters = Voters::new((0..self.nodes.max(1) as u64).map(NodeId))
            .map_err(|_| ConfigError::NotAVoter(NodeId(0)))?;
        Ok(Config {
            timing: self.timing,
            safe_mode: self.safe_mode,
            ..Config::new(NodeId(node as u64), voters)
        })
    }
}

impl Scheme for Machine {
    type Setup = Setup;
    type Refusals = Refusals;

    fn boot(
        setup: &Setup,
        node: usize,
        life: u64,
        durable: Option<Record>,
        now: Instant,
    ) -> Option<Self> {
        let boot = Boot {
            record: durable,
            log: Shape::new(),
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

    fn unpack(packet: Packet) -> Option<Message> {
        match packet {
            Packet::Raft(message) => Some(message),
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
            Message::Heartbeat { term, .. } => Some(Fact::Acted { node, term }),
            _ => None,
        }
    }

    fn recorded(record: &Record) -> Recorded {
        Recorded {
            term: record.term,
            vote: record.vote.map(place),
            rest: record.promise.as_micros() ^ u64::from(record.generation) << 48,
        }
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
    }
}

/// Feeds what the events of a message do not show into the trace: all but kind and term.
pub(crate) fn fold(message: &Message, trace: &mut Trace) {
    match *message {
        Message::RequestPreVote {
            term: _,
            last,
            sent,
        } => {
            trace.mix(last.term);
            trace.mix(last.index);
            trace.mix(sent.as_micros());
        }
        Message::PreVoteGranted {
            term: _,
            remainder,
            sent,
        } => {
            trace.mix(remainder.as_micros());
            trace.mix(sent.as_micros());
        }
        Message::RequestVote { term: _, last } => {
            trace.mix(last.term);
            trace.mix(last.index);
        }
        Message::PreVoteRefused { asked: _, term }
        | Message::VoteRefused { asked: _, term }
        | Message::HeartbeatRefused { asked: _, term } => {
            trace.mix(term);
        }
        Message::VoteGranted { term: _ } => {}
        Message::Heartbeat { term: _, sent } => trace.mix(sent.as_micros()),
        Message::HeartbeatAck {
            term: _,
            sent,
            promise,
        } => {
            trace.mix(sent.as_micros());
            trace.mix(promise.as_micros());
        }
        Message::Release { term: _, to } => trace.mix(to.map_or(0, |node| node.0 + 1)),
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
        _ => None,
    }
}
