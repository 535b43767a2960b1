//! What the nodes of any scheme say to each other, write, and keep on their disks.

use super::raft;
use crate::physics::disk::Kept;
use crate::physics::trace::Trace;
use tenure::raft::{Message, Stored as RaftStored, Write as RaftWrite};

/// What nodes of one scheme or another say to each other. Those that elect by a store say nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum PeerSaid {
    /// Raft.
    Raft(Message),
}

impl PeerSaid {
    /// The code of its kind in the trace.
    #[must_use]
    pub const fn kind(&self) -> u8 {
        match self {
            Self::Raft(message) => raft::message_kind(message),
        }
    }

    /// The term it speaks of.
    #[must_use]
    pub const fn term(&self) -> Option<u64> {
        match self {
            Self::Raft(message) => Some(message.term()),
        }
    }

    /// Feeds every field that its events do not show into the hash of the trace.
    pub(crate) fn fold(&self, trace: &mut Trace) {
        match self {
            Self::Raft(message) => raft::fold(message, trace),
        }
    }
}

/// What a machine of one scheme or another has its disk write.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    /// Raft.
    Raft(RaftWrite),
}

/// What a disk holds of a machine of one scheme or another: the fold of its writes.
#[derive(Clone, Debug)]
pub enum Stored {
    /// Raft.
    Raft(RaftStored),
}

impl Default for Stored {
    fn default() -> Self {
        Self::Raft(RaftStored::default())
    }
}

impl Kept for Stored {
    type Write = Write;

    fn fold(&mut self, write: &Write) -> bool {
        match (self, write) {
            (Self::Raft(stored), Write::Raft(write)) => Kept::fold(stored, write),
        }
    }
}
