//! What must survive a crash.

use crate::{Duration, NodeId};

/// The one durable record of an election: term and vote together, for a crash between two writes leaves a vote in a term
/// it was not given in (hashicorp/raft#661). Written whole, atomically, before anything that depends on it is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Record {
    /// The highest term this node has entered. Never falls.
    pub term: u64,
    /// Whom it voted for in that term.
    pub vote: Option<NodeId>,
    /// The longest promise this node may have given and not yet outlived. A restarted node waits it out in full
    /// (law C5), also when it was since configured with a shorter one.
    pub promise: Duration,
    /// The generation of the tokens this node issued or follows. Never falls.
    pub generation: u32,
}

/// What a machine starts from.
#[derive(Clone, Debug)]
pub struct Boot {
    /// The durable record; `None` only for a node that never ran. A node whose record was lost must take a new id.
    pub record: Option<Record>,
    /// The shape of its log; empty for an election alone.
    pub log: crate::log::Shape,
    /// A nonce that no earlier life of this node had; not 0. A counter kept on the disk will do.
    pub incarnation: u64,
    /// The seed of its draws; may be the same for the whole group.
    pub seed: u64,
}
