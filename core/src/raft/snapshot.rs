//! Snapshots and compaction (Raft §7). The machine knows where a snapshot ends and who took part there; what is in it is
//! the host's, who makes it, keeps it and carries it.

use super::{LogWrite, Raft, Refusal, Rules};
use crate::log::Position;
use crate::membership::Membership;
use crate::{Instant, NodeId};
use alloc::sync::Arc;
use core::fmt;

/// Why entries were not compacted away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompactError {
    /// The entry is not committed and on this node's disk yet. Compact up to this index at most.
    NotFinal(u64),
    /// The machine was configured without a log.
    NoLog,
}

impl fmt::Display for CompactError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFinal(upto) => write!(
                f,
                "the log is committed and durable up to index {upto} only; compact up to there"
            ),
            Self::NoLog => f.write_str("the machine has no log; configure replication"),
        }
    }
}

impl core::error::Error for CompactError {}

impl<R: Rules> Raft<R> {
    /// The host holds a durable snapshot of its state as of the entry at `index`: the entries up to there are dropped, here
    /// and, with the next write, on the disk. Answers where the log begins from then on; a follower that needs an earlier
    /// entry gets [`Message::InstallSnapshot`](super::Message::InstallSnapshot) with that position, to which the host attaches this snapshot. No effect when
    /// the log begins there already or later.
    ///
    /// # Errors
    /// When the entry may still be taken back; nothing is dropped then.
    pub fn compact(&mut self, now: Instant, index: u64) -> Result<Position, CompactError> {
        self.at(now);
        if self.config.replication.is_none() {
            return Err(CompactError::NoLog);
        }
        let end = self.commit.min(self.durable.log());
        if index > end {
            return Err(CompactError::NotFinal(end));
        }
        if index > self.log.base().index && !self.halted {
            let (upto, membership) = (self.position(index), self.as_of(index));
            self.persist();
            self.request(LogWrite::Compact {
                upto,
                membership: membership.clone(),
            });
            self.log.compact(index);
            self.members.compact(index, &membership);
        }
        Ok(self.log.base())
    }

    pub(super) fn on_install_snapshot(
        &mut self,
        from: NodeId,
        term: u64,
        sent: Instant,
        last: Position,
        membership: Arc<Membership>,
    ) {
        if !self.hear_leader(from, term) {
            return;
        }
        if self.config.replication.is_none() {
            return self.refusals.add(Refusal::NoLog);
        }
        if last.index > self.commit {
            if !self.log.contains(last) {
                self.replace_log(last, membership);
            }
            // Only what is committed goes into a snapshot.
            self.commit = last.index;
        }
        self.matched = self.matched.max(last.index);
        self.owed = Some(sent);
        self.acknowledge_what_is_durable();
    }

    /// The snapshot that ends at `last`, and nothing else, is the log.
    pub(super) fn replace_log(&mut self, last: Position, membership: Arc<Membership>) {
        self.persist();
        self.durable.replace(last.index);
        (self.matched, self.acknowledged) = (0, 0);
        self.log.reset(last);
        self.members.reset(membership.clone());
        self.request(LogWrite::Install { last, membership });
        self.reconfigure();
    }
}
