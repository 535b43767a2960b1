//! Everything that travels: what nodes say to each other, and what clients, leaders and resources say.

use crate::physics::trace::Trace;
use tenure::fence::Pass;
use tenure::raft;

/// A message on the network.
#[derive(Clone, Copy, Debug)]
pub enum Packet {
    /// Between Raft voters.
    Raft(raft::Message),
    /// A client asks the node it takes for the leader to write.
    Request {
        /// The client's number of the write.
        request: u64,
    },
    /// The node answers the client.
    Reply {
        /// The number of the write.
        request: u64,
        /// What became of it.
        outcome: Outcome,
    },
    /// A leader writes to a resource.
    Write {
        /// What it shows.
        pass: Pass,
        /// The client's number of the write.
        request: u64,
        /// The new value.
        value: u64,
    },
    /// A new leader shuts its predecessors out of a resource.
    Fence {
        /// What it shows.
        pass: Pass,
    },
    /// A new leader reads a resource.
    Read {
        /// What it shows.
        pass: Pass,
    },
    /// A resource answers.
    Answer {
        /// What was shown.
        pass: Pass,
        /// What was done.
        done: Done,
    },
}

/// How a node answers a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The write is done.
    Acknowledged,
    /// The resource refused it: this leader was overtaken.
    Refused,
    /// Another leads, as far as this node knows.
    Redirected(Option<u16>),
    /// This node leads but has not taken over yet.
    NotYet,
}

/// How a resource answers a leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// The fence is up.
    Fenced,
    /// The value.
    Read(u64),
    /// The write of this number is in.
    Written(u64),
    /// The guard refused.
    Refused {
        /// The client's number of the write; 0 when it was no write.
        request: u64,
        /// The code of the reason.
        reason: u64,
    },
}

impl Packet {
    /// The code of the message kind. Raft's are 0 to 9.
    #[must_use]
    pub const fn kind(&self) -> u8 {
        match self {
            Self::Raft(message) => crate::scheme::raft::message_kind(message),
            Self::Request { .. } => 20,
            Self::Reply { .. } => 21,
            Self::Write { .. } => 22,
            Self::Answer { .. } => 23,
            Self::Fence { .. } => 24,
            Self::Read { .. } => 25,
        }
    }

    /// The term it speaks of, or the counter of the token it shows.
    #[must_use]
    pub const fn term(&self) -> Option<u64> {
        match self {
            Self::Raft(message) => Some(message.term()),
            Self::Request { .. } | Self::Reply { .. } => None,
            Self::Write { pass, .. }
            | Self::Fence { pass }
            | Self::Read { pass }
            | Self::Answer { pass, .. } => Some(pass.token.counter),
        }
    }

    /// Feeds every field that its events do not show into the hash of the trace.
    pub fn fold(&self, trace: &mut Trace) {
        match self {
            Self::Raft(message) => crate::scheme::raft::fold(message, trace),
            Self::Request { request } => trace.mix(*request),
            Self::Reply { request, outcome } => {
                trace.mix(*request);
                trace.mix(match outcome {
                    Outcome::Acknowledged => 0,
                    Outcome::Refused => 1,
                    Outcome::NotYet => 2,
                    Outcome::Redirected(None) => 3,
                    Outcome::Redirected(Some(node)) => 4 + u64::from(*node),
                });
            }
            Self::Write {
                pass,
                request,
                value,
            } => {
                trace.mix(holder_number(pass));
                trace.mix(*request);
                trace.mix(*value);
            }
            Self::Fence { pass } | Self::Read { pass } => trace.mix(holder_number(pass)),
            Self::Answer { pass, done } => {
                trace.mix(holder_number(pass));
                let (what, number) = match done {
                    Done::Fenced => (0, 0),
                    Done::Read(value) => (1, *value),
                    Done::Written(request) => (2, *request),
                    Done::Refused { request, reason } => (3 + *reason, *request),
                };
                trace.mix(what);
                trace.mix(number);
            }
        }
    }
}

/// Node and life in one number.
const fn holder_number(pass: &Pass) -> u64 {
    pass.holder.incarnation << 16 | (pass.holder.node.0 + 1)
}
