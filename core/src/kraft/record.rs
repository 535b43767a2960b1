//! What must survive a crash.

use super::voters::{DirectoryId, ReplicaKey};
use crate::NodeId;
use crate::log::{Position, Shape, ShapeError};

/// The quorum-state file. Written whole, before what it says is acted upon: before an answer that depends on it leaves,
/// before the own vote counts, before a candidate that has won leads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct QuorumState {
    /// The highest epoch this node has entered. Never falls.
    pub epoch: u64,
    /// Who leads that epoch, as far as this node was told; itself when it was elected.
    pub leader: Option<NodeId>,
    /// Whom it voted for in that epoch, and with which disk.
    pub voted: Option<ReplicaKey>,
    /// The generation of the tokens. Never falls.
    pub generation: u32,
}

/// One write.
///
/// Writes take effect in the order of their tickets, each of them whole or not at all: a crash may take back the newest that
/// were not answered, and nothing else. A change of the quorum-state has a write of its own, before those of the log that
/// come of it; writes of the log repeat the state that was asked for last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Write {
    /// The quorum-state from now on.
    pub state: QuorumState,
    /// What happens to the log.
    pub log: LogWrite,
}

/// What happens to the log in one [`Write`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LogWrite {
    /// Nothing.
    Keep,
    /// These records are appended. The first of an epoch is its leader's own, the LeaderChange record, and has no payload
    /// ([`own`](super::own)); a host writes the payloads of the others with them.
    Append {
        /// The record before them, which is the last.
        after: Position,
        /// The epoch of them all.
        epoch: u64,
        /// How many.
        count: u64,
    },
    /// The records after this one are dropped: the leader does not have them (KR-F3).
    Truncate {
        /// The last that stays.
        to: Position,
    },
    /// The records up to this one are dropped: a snapshot of the host holds them.
    Compact {
        /// The last record of the snapshot.
        upto: Position,
    },
    /// The whole log is replaced by a snapshot, which came with the answer to a FetchSnapshot.
    Install {
        /// The last record of the snapshot.
        last: Position,
    },
}

/// What a disk holds: the fold of all writes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stored {
    /// The quorum-state.
    pub state: QuorumState,
    /// The shape of the log.
    pub log: Shape,
}

impl Stored {
    /// Carries out one more write.
    ///
    /// # Errors
    /// When the write does not fit what is stored. A machine never asks for that: the disk is damaged, or another node's.
    pub fn apply(&mut self, write: &Write) -> Result<(), ShapeError> {
        match write.log {
            LogWrite::Keep => {}
            LogWrite::Append {
                after,
                epoch,
                count,
            } => {
                if self.log.last() != after {
                    return Err(ShapeError::Gap(after));
                }
                self.log.append(epoch, count)?;
            }
            LogWrite::Truncate { to } => {
                if !self.log.contains(to) {
                    return Err(ShapeError::Gap(to));
                }
                self.log.truncate(to.index);
            }
            LogWrite::Compact { upto } => self.log.compact(upto.index),
            LogWrite::Install { last } => self.log.reset(last),
        }
        self.state = write.state;
        Ok(())
    }
}

/// What a machine starts from.
#[derive(Clone, Debug)]
pub struct Boot {
    /// What the disk holds; `None` for one that was just formatted.
    pub stored: Option<Stored>,
    /// The name the disk was given when it was formatted. Another disk has another one, also under the same node id.
    pub directory: DirectoryId,
    /// A nonce that no earlier life of this node had; not 0. A counter kept on the disk will do.
    pub incarnation: u64,
    /// The seed of its draws; may be the same for the whole group.
    pub seed: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_fold_and_what_does_not_fit_is_refused() {
        let mut stored = Stored::default();
        let mut write = |log| {
            let state = QuorumState {
                epoch: 3,
                ..QuorumState::default()
            };
            stored.apply(&Write { state, log }).map(|()| stored.clone())
        };
        let append = |after, epoch, count| LogWrite::Append {
            after,
            epoch,
            count,
        };
        let log = write(append(Position::START, 1, 4)).unwrap().log;
        assert_eq!(log.last(), Position::new(1, 4));
        let gap = Position::new(1, 3);
        assert_eq!(write(append(gap, 2, 1)), Err(ShapeError::Gap(gap)));
        let absent = Position::new(2, 4);
        let truncate = |to| LogWrite::Truncate { to };
        assert_eq!(write(truncate(absent)), Err(ShapeError::Gap(absent)));
        assert_eq!(write(truncate(gap)).unwrap().log.last(), gap);
        let compacted = write(LogWrite::Compact { upto: gap }).unwrap();
        assert_eq!((compacted.log.base(), compacted.state.epoch), (gap, 3));
        let last = Position::new(2, 9);
        assert_eq!(write(LogWrite::Install { last }).unwrap().log.base(), last);
        assert_eq!(write(LogWrite::Keep).unwrap().log.last(), last);
    }
}
