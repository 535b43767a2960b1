//! Everything that travels: what nodes say to each other, and what clients, leaders and resources say.

#[cfg(feature = "peers")]
use crate::brokers;
use crate::physics::trace::Trace;
use crate::scheme::{PeerSaid, ServerSaid, StoreAsk, StoreSaid};
use crate::store::replica::{Payload, Snapshot};
use crate::store::{Call, Said, Want};
use std::sync::Arc;
use tenure::Ticket;
use tenure::fence::Pass;
use tenure::log::Position;

/// A message on the network.
#[derive(Clone, Debug)]
pub enum Packet {
    /// Between nodes.
    Peer(PeerSaid),
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
    /// A node that does not ask who leads looks at a resource before it writes there.
    Look {
        /// What it shows: no token.
        pass: Pass,
        /// The client's number of the write.
        request: u64,
    },
    /// A new leader asks how far the jobs are.
    List {
        /// What it shows.
        pass: Pass,
    },
    /// A leader makes a job its own, if its owner is the one it names.
    Claim {
        /// What it shows.
        pass: Pass,
        /// Which job.
        job: u64,
        /// The counter of the token of the owner that the leader knows of; 0 when it knows of none.
        from: u64,
    },
    /// A leader writes the effect of a job, and that it is done.
    Finish {
        /// What it shows.
        pass: Pass,
        /// Which job.
        job: u64,
    },
    /// Between nodes, with what the host attached to the entries or the snapshot in it.
    Loaded(PeerSaid, Arc<Load>),
    /// A client wants something of a node, as a server of the store.
    Call(Call),
    /// A node says something to a client of the store.
    Said {
        /// The number of the client's call.
        number: u64,
        /// What is said.
        said: Arc<Said>,
    },
    /// A node that elects by a store asks it for something.
    AskStore {
        /// The node's name for it.
        ticket: Ticket,
        /// What.
        ask: Arc<StoreAsk>,
    },
    /// A store answers.
    StoreSaid {
        /// What it is the answer to.
        ticket: Ticket,
        /// What is said.
        said: Arc<StoreSaid>,
    },
    /// Between the servers of a store, which are one cluster.
    Servers(Arc<ServerSaid>),
    /// Between brokers, controllers and their clients.
    #[cfg(feature = "peers")]
    Brokers(Box<brokers::Said>),
}

/// What a host attaches to what its machine says or writes.
#[derive(Clone, Debug)]
pub enum Load {
    /// The payloads of entries.
    Commands(Vec<(Position, Payload)>),
    /// The state as of an entry.
    State(Arc<Snapshot>),
}

/// How a node answers a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The write is done: the resource now holds this.
    Acknowledged(u64),
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
    Written {
        /// The client's number of the write.
        request: u64,
        /// What the resource holds now.
        value: u64,
    },
    /// The guard refused.
    Refused {
        /// The client's number of the write; 0 when it was no write.
        request: u64,
        /// The code of the reason.
        reason: u64,
    },
    /// What somebody sees who looks.
    Seen {
        /// The client's number of the write that it is looked for.
        request: u64,
        /// The value.
        value: u64,
    },
    /// How far the jobs are.
    Listed {
        /// Every job up to this one is done.
        done: u64,
        /// The counter of the token of the owner of the next; 0 when it has none.
        owner: u64,
    },
    /// The job is the leader's own now.
    Claimed(u64),
    /// The effect of the job is in.
    Finished(u64),
    /// The job was not taken from whom the leader named, or its effect not admitted.
    Denied {
        /// Which job.
        job: u64,
        /// The code of the reason.
        reason: u64,
        /// The counter of the token of its owner; 0 when it has none, or is done.
        owner: u64,
    },
}

/// What the kinds of messages are in the events of the trace, but for those of a scheme.
pub(crate) mod code {
    pub(crate) const REQUEST: i64 = 20;
    pub(crate) const REPLY: i64 = 21;
    pub(crate) const WRITE: i64 = 22;
    pub(crate) const ANSWER: i64 = 23;
    pub(crate) const FENCE: i64 = 24;
    pub(crate) const READ: i64 = 25;
    pub(crate) const LOOK: i64 = 26;
    pub(crate) const LIST: i64 = 27;
    pub(crate) const CLAIM: i64 = 28;
    pub(crate) const FINISH: i64 = 29;
    pub(crate) const ASK: i64 = 30;
    pub(crate) const SAID: i64 = 31;
    pub(crate) const ASK_STORE: i64 = 32;
    pub(crate) const STORE_SAID: i64 = 33;
    pub(crate) const SERVERS: i64 = 34;
}

impl Packet {
    /// Whether it is a notification of an election: a connection of ZooKeeper's keeps the newest alone of those that wait.
    #[cfg(feature = "peers")]
    pub(crate) const fn is_notification(&self) -> bool {
        self.kind() == crate::scheme::zab::code::NOTIFICATION as u8
    }

    /// The code of the message kind; a scheme's are its own.
    #[must_use]
    pub const fn kind(&self) -> u8 {
        match self {
            Self::Peer(said) => said.kind(),
            Self::Request { .. } => code::REQUEST as u8,
            Self::Reply { .. } => code::REPLY as u8,
            Self::Write { .. } => code::WRITE as u8,
            Self::Answer { .. } => code::ANSWER as u8,
            Self::Fence { .. } => code::FENCE as u8,
            Self::Read { .. } => code::READ as u8,
            Self::Look { .. } => code::LOOK as u8,
            Self::List { .. } => code::LIST as u8,
            Self::Claim { .. } => code::CLAIM as u8,
            Self::Finish { .. } => code::FINISH as u8,
            Self::Loaded(said, _) => said.kind(),
            Self::Call(_) => code::ASK as u8,
            Self::Said { .. } => code::SAID as u8,
            Self::AskStore { .. } => code::ASK_STORE as u8,
            Self::StoreSaid { .. } => code::STORE_SAID as u8,
            Self::Servers(_) => code::SERVERS as u8,
            #[cfg(feature = "peers")]
            Self::Brokers(said) => said.kind(),
        }
    }

    /// The term it speaks of, or the counter of the token it shows, if it shows any.
    #[must_use]
    pub const fn term(&self) -> Option<u64> {
        match self {
            Self::Peer(said) => said.term(),
            Self::Request { .. } | Self::Reply { .. } => None,
            Self::Loaded(said, _) => said.term(),
            Self::Call(_) | Self::Said { .. } => None,
            Self::AskStore { .. } | Self::StoreSaid { .. } => None,
            // Their terms are not those of the election.
            Self::Servers(_) => None,
            #[cfg(feature = "peers")]
            Self::Brokers(said) => said.epoch(),
            Self::Write { pass, .. }
            | Self::Fence { pass }
            | Self::Read { pass }
            | Self::Answer { pass, .. }
            | Self::Look { pass, .. }
            | Self::List { pass }
            | Self::Claim { pass, .. }
            | Self::Finish { pass, .. } => match pass.token.counter {
                0 => None,
                counter => Some(counter),
            },
        }
    }

    /// Feeds every field that its events do not show into the hash of the trace.
    pub fn fold(&self, trace: &mut Trace) {
        match self {
            Self::Peer(said) => said.fold(trace),
            Self::Loaded(said, load) => {
                said.fold(trace);
                load.fold(trace);
            }
            Self::Call(Call { number, want }) => {
                trace.mix(*number);
                match want {
                    Want::Do(request, reading) => {
                        trace.mix(*reading as u64);
                        mix_hash(&**request, trace);
                    }
                    #[cfg(not(target_family = "wasm"))]
                    Want::Watch(watch) => mix_hash(watch, trace),
                }
            }
            Self::Said { number, said } => {
                trace.mix(*number);
                mix_hash(&**said, trace);
            }
            Self::AskStore { ticket, ask } => {
                trace.mix(ticket.number);
                mix_hash(&**ask, trace);
            }
            Self::StoreSaid { ticket, said } => {
                trace.mix(ticket.number);
                mix_hash(&**said, trace);
            }
            Self::Servers(said) => mix_hash(&**said, trace),
            #[cfg(feature = "peers")]
            Self::Brokers(said) => mix_hash(&**said, trace),
            Self::Request { request } => trace.mix(*request),
            Self::Reply { request, outcome } => {
                trace.mix(*request);
                trace.mix(match outcome {
                    // The value was heard when the resource took it.
                    Outcome::Acknowledged(_) => 0,
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
            Self::Fence { pass } | Self::Read { pass } | Self::List { pass } => {
                trace.mix(holder_number(pass));
            }
            Self::Look { pass, request } => {
                trace.mix(holder_number(pass));
                trace.mix(*request);
            }
            Self::Claim { pass, job, from } => {
                trace.mix(holder_number(pass));
                trace.mix(*job);
                trace.mix(*from);
            }
            Self::Finish { pass, job } => {
                trace.mix(holder_number(pass));
                trace.mix(*job);
            }
            Self::Answer { pass, done } => {
                trace.mix(holder_number(pass));
                let (what, number) = match done {
                    Done::Fenced => (0, 0),
                    Done::Read(value) => (1, *value),
                    Done::Written { request, .. } => (2, *request),
                    Done::Refused { request, reason } => (3 + *reason, *request),
                    Done::Seen { request, value } => {
                        trace.mix(*value);
                        (16, *request)
                    }
                    Done::Listed { done, owner } => {
                        trace.mix(*owner);
                        (17, *done)
                    }
                    Done::Claimed(job) => (18, *job),
                    Done::Finished(job) => (19, *job),
                    Done::Denied { job, reason, owner } => {
                        trace.mix(*owner);
                        (20 + *reason, *job)
                    }
                };
                trace.mix(what);
                trace.mix(number);
            }
        }
    }
}

/// Feeds the hash of a value into the trace: one that is the same on every target.
fn mix_hash(value: &impl std::hash::Hash, trace: &mut Trace) {
    trace.mix(crate::store::print(value));
}

impl Load {
    pub(crate) fn fold(&self, trace: &mut Trace) {
        match self {
            Self::Commands(commands) => {
                for (_, payload) in commands {
                    trace.mix(payload.as_deref().map_or(0, crate::store::Command::print));
                }
            }
            Self::State(snapshot) => mix_hash(&snapshot.kv, trace),
        }
    }
}

/// Node and life in one number.
const fn holder_number(pass: &Pass) -> u64 {
    pass.holder.incarnation << 16 | (pass.holder.node.0 + 1)
}
