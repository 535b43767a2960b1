//! Logs that are let go once the host has a snapshot.

use super::{Request, Rules, Zab};
use crate::Instant;
use core::fmt;

/// Why nothing was compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompactError {
    /// It is not committed and durable here up to there. Wait for it.
    NotCommitted,
    /// It was compacted before.
    Compacted,
    /// The log is being synchronised with a leader's. Wait for that.
    Busy,
}

impl fmt::Display for CompactError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotCommitted => "not all of it is committed and durable; wait for it",
            Self::Compacted => "it was compacted before; nothing is to be done",
            Self::Busy => "the log is being synchronised; wait until a leader is followed",
        })
    }
}

impl core::error::Error for CompactError {}

impl<R: Rules> Zab<R> {
    /// The host has a snapshot as of `index`: what comes up to it is dropped from the log.
    ///
    /// # Errors
    /// When not all of it is committed and durable here, it was dropped before, or the log is being synchronised.
    pub fn compact(&mut self, now: Instant, index: u64) -> Result<(), CompactError> {
        self.at(now);
        let learns = self.learning.is_some() && self.followed().is_none();
        if self.halted || learns {
            return Err(CompactError::Busy);
        }
        if index > self.commit.min(self.durable.synced()) {
            return Err(CompactError::NotCommitted);
        }
        if index <= self.log.base().index {
            return Err(CompactError::Compacted);
        }
        let upto = self.position(index);
        self.log.compact(index);
        self.request(Request::Compact { upto });
        Ok(())
    }
}
