//! What sentinels say to each other and to data servers, and these among themselves.
//!
//! All of them share one space of addresses and one enum, so that a network carries everybody's messages alike. A question
//! has a name, which the answer repeats: over a network that loses, repeats and reorders, an answer to an earlier question is
//! told from one to the present.

use super::data::{History, Mark, Origin};
use super::names::{MasterName, RunId};
use crate::{Duration, NodeId, Ticket};
use alloc::sync::Arc;

/// Any message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// `PING`: from a sentinel to anybody.
    Ping {
        /// The name of the question.
        query: Ticket,
    },
    /// The answer to `PING`.
    Pong {
        /// The question.
        query: Ticket,
        /// What was answered.
        life: Life,
    },
    /// `INFO`: from a sentinel to a data server.
    Info {
        /// The name of the question.
        query: Ticket,
    },
    /// The answer to `INFO`.
    Told {
        /// The question.
        query: Ticket,
        /// What the server says of itself.
        report: Report,
        /// Its replicas, as far as they are connected.
        replicas: Arc<[NodeId]>,
    },
    /// `SENTINEL is-master-down-by-addr`: from a sentinel to another.
    Ask {
        /// The name of the question.
        query: Ticket,
        /// The master, by address: who holds another address for it knows nothing of this one.
        master: NodeId,
        /// The epoch in which a vote is asked for.
        epoch: u64,
        /// Who asks for the vote; `None`, an asterisk on the wire, when nobody does.
        candidate: Option<RunId>,
    },
    /// The answer to it.
    Answer {
        /// The question.
        query: Ticket,
        /// The master it was about.
        master: NodeId,
        /// Whether the other holds it to be down.
        down: bool,
        /// Whom the other voted for last, if it was asked to vote and remembers.
        leader: Option<RunId>,
        /// In which epoch.
        epoch: u64,
    },
    /// What a sentinel tells the others about itself and a master: `PUBLISH` when it is sent to a data server, which passes it
    /// on to all who are subscribed there.
    Hello(Hello),
    /// `REPLICAOF`: an order from a sentinel to a data server, to follow another one or, with `None`, nobody. It has no epoch in
    /// it, and the server obeys whoever comes last.
    ReplicaOf(Option<NodeId>),
    /// `PSYNC` and `REPLCONF ACK` in one: what a replica has, told to its master every second.
    Psync {
        /// The last write it has.
        last: Option<Mark>,
    },
    /// From a master to a replica: the writes after one that the replica has. With none it is a sign of life.
    Stream {
        /// The write before them.
        after: Option<Mark>,
        /// Who made them, and how many.
        writes: Option<(Origin, u64)>,
    },
    /// From a master to a replica: all there is, instead of whatever the replica has.
    Full(Arc<History>),
    /// Nobody says this: a host puts it in the mouth of a node whose connection was closed or refused, because its process is
    /// gone and its machine is not. It saves waiting for an answer that cannot come; a host that cannot tell leaves it out.
    Closed,
}

/// An answer to `PING`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Life {
    /// `PONG`: alive.
    Pong,
    /// `LOADING`: alive, and serves nobody yet.
    Loading,
    /// `MASTERDOWN`: a replica that serves nobody without its master; alive.
    MasterDown,
    /// Any other answer, as of a server that is busy with a script that does not end. It does not count as alive.
    Other,
}

/// What a data server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// It takes writes.
    Master,
    /// It follows another.
    Replica,
}

/// What a data server says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Report {
    /// What it is.
    pub role: Role,
    /// Which life of it this is.
    pub run: RunId,
    /// Whom it follows, if anybody.
    pub master: Option<NodeId>,
    /// For how long its link to that one has been broken; `None` while it is up, and for a master.
    pub link_down: Option<Duration>,
    /// `replica-priority`: the lower, the sooner it is chosen; with 0 it never is.
    pub priority: u32,
    /// How many writes it has.
    pub offset: u64,
}

/// What a sentinel tells about itself and one master: eight fields on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hello {
    /// Where the sentinel is.
    pub sentinel: NodeId,
    /// Who it is.
    pub id: RunId,
    /// The highest epoch it has entered.
    pub current_epoch: u64,
    /// Of which master it speaks.
    pub name: MasterName,
    /// Where it holds that master to be.
    pub master: NodeId,
    /// The epoch of the failover that made it the master; 0 where nobody was elected for one yet.
    pub config_epoch: u64,
}
