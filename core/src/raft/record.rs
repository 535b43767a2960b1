//! What must survive a crash.

use super::members::Members;
use super::message::Entries;
use crate::log::{Position, Shape, ShapeError};
use crate::membership::Membership;
use crate::{Duration, NodeId};
use alloc::sync::Arc;

/// The durable record of an election: term and vote together, for a crash between two writes leaves a vote in a term it
/// was not given in (hashicorp/raft#661). Written whole, atomically, before anything that depends on it is said.
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

/// One atomic write: the record, and what happens to the log.
///
/// Writes take effect in the order of their tickets, each of them whole or not at all: a crash may take back the newest
/// that were not answered, and nothing else. With an [`Append`](LogWrite::Append) the host writes the payloads of the
/// entries that have one, with an [`Install`](LogWrite::Install) the state that came with the snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Write {
    /// The record as it is from now on.
    pub record: Record,
    /// What happens to the log.
    pub log: LogWrite,
}

/// What happens to the log in one [`Write`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LogWrite {
    /// Nothing.
    Keep,
    /// Whatever came after `after` is dropped, and these entries take its place.
    ///
    /// Entries that were proposed have payloads, which the host writes along with them: the leader's has them from what it
    /// proposed, a follower's from the message. Entries of the machine's own have none ([`Entries::own`]).
    Append {
        /// The entry before them.
        after: Position,
        /// They themselves.
        entries: Entries,
    },
    /// The entries up to `upto` are dropped: a snapshot of the host holds them.
    Compact {
        /// The last entry of the snapshot.
        upto: Position,
        /// Who took part as of that entry.
        membership: Arc<Membership>,
    },
    /// The whole log is replaced by a snapshot that ends at `last`.
    Install {
        /// The last entry of the snapshot.
        last: Position,
        /// Who took part as of that entry.
        membership: Arc<Membership>,
    },
}

/// What a disk holds: the fold of all writes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stored {
    /// The record.
    pub record: Record,
    /// The shape of the log.
    pub log: Shape,
    /// The configurations in the log, and the one it begins with.
    pub members: Members,
}

impl Stored {
    /// Carries out one more write.
    ///
    /// # Errors
    /// When the write does not fit what is stored: entries after a gap, or of terms that fall. A machine never asks for
    /// that, so that the store is damaged or belongs to another node.
    pub fn apply(&mut self, write: &Write) -> Result<(), ShapeError> {
        match &write.log {
            LogWrite::Keep => {}
            LogWrite::Append { after, entries } => {
                if !self.log.contains(*after) {
                    return Err(ShapeError::Gap(*after));
                }
                self.log.truncate(after.index);
                self.members.truncate(after.index);
                self.log.append(entries.term(), entries.count())?;
                if let Entries::Change { to, .. } = entries {
                    self.members.push(after.index + 1, to.clone());
                }
            }
            LogWrite::Compact { upto, membership } => {
                self.log.compact(upto.index);
                self.members.compact(upto.index, membership);
            }
            LogWrite::Install { last, membership } => {
                self.log.reset(*last);
                self.members.reset(membership.clone());
            }
        }
        self.record = write.record;
        Ok(())
    }
}

/// An election without a log keeps a record alone.
impl From<Record> for Stored {
    fn from(record: Record) -> Self {
        Self {
            record,
            ..Self::default()
        }
    }
}

/// What a machine starts from.
#[derive(Clone, Debug)]
pub struct Boot {
    /// What the disk holds; `None` only for a node that never ran. A node whose disk was lost must take a new id.
    pub stored: Option<Stored>,
    /// A nonce that no earlier life of this node had; not 0. A counter kept on the disk will do.
    pub incarnation: u64,
    /// The seed of its draws; may be the same for the whole group.
    pub seed: u64,
}
