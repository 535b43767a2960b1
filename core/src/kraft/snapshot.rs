//! Snapshots: where one ends is known here; what is in it is the host's, who makes it, keeps it and carries it.

use super::message::{Body, Code, Correlation, Message};
use super::{Kraft, LogWrite, ReplicaKey, Role, Rules};
use crate::Instant;
use crate::log::Position;
use core::fmt;

/// Why records were not compacted away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompactError {
    /// The record is not committed, consumed and on this node's disk yet. Compact up to this offset at most.
    NotFinal(u64),
}

impl fmt::Display for CompactError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFinal(upto) => write!(
                f,
                "the log is committed, consumed and durable up to offset {upto} only; compact up to there"
            ),
        }
    }
}

impl core::error::Error for CompactError {}

impl<R: Rules> Kraft<R> {
    /// The host holds a durable snapshot of its state as of the record at `index`: the records up to there are dropped, here
    /// and, with the next write, on the disk. Answers where the log begins from then on; a node that needs an earlier record
    /// gets the snapshot that ends there. No effect when the log begins there already or later.
    ///
    /// # Errors
    /// When the record may still be taken back, or is not in the host's state; nothing is dropped then.
    pub fn compact(&mut self, now: Instant, index: u64) -> Result<Position, CompactError> {
        self.at(now);
        let end = self
            .applied
            .min(self.high_watermark)
            .min(self.durable.log());
        if index > end {
            return Err(CompactError::NotFinal(end));
        }
        if index > self.log.base().index && !self.halted {
            self.log.compact(index);
            let upto = self.log.base();
            self.write_log(LogWrite::Compact { upto });
        }
        self.settle();
        Ok(self.log.base())
    }

    pub(super) fn on_fetch_snapshot(
        &mut self,
        correlation: Correlation,
        epoch: u64,
        snapshot: Position,
        replica: ReplicaKey,
    ) {
        let code = self.serves(epoch);
        let base = self.log.base();
        // A newer one will do as well: it is fetched whole.
        let there = (code == Code::None && base.index >= snapshot.index).then_some(base);
        let code = match (code, there) {
            (Code::None, None) => Code::SnapshotNotFound,
            (code, _) => code,
        };
        if self.role == Role::Leader
            && let Some(place) = self.voter(replica)
            && epoch == self.state.epoch
        {
            // KR-S6: who copies the state is as good as one who fetches.
            self.heard_from(place);
        }
        let head = self.head(code);
        let snapshot = there;
        let body = Body::FetchSnapshotReply { head, snapshot };
        self.send(replica.id, Message { correlation, body });
    }

    pub(super) fn on_snapshot(&mut self, place: usize, code: Code, snapshot: Option<Position>) {
        let follows = self.role == Role::Follower && self.fetch_target() == Some(place);
        if code != Code::None || !follows {
            return;
        }
        let Some(last) = snapshot else { return };
        self.hear_from_leader();
        // Only what is committed goes into a snapshot.
        if last.index <= self.high_watermark {
            return;
        }
        if !self.log.contains(last) {
            self.log.reset(last);
            self.write_log(LogWrite::Install { last });
        }
        self.high_watermark = last.index;
        // The state that came with it is consumed as it is installed.
        self.applied = self.applied.max(last.index);
    }
}
