//! Proposals (ZAB-B1).

use super::lead::Phase;
use super::{MAX_COUNTER, MAX_INDEX, Rule, Rules, Zab};
use crate::log::Position;
use crate::{Instant, Leader, Why};
use core::fmt;

/// Why nothing was proposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProposeError {
    /// This node does not lead an established epoch. Ask the one that does, if it is known.
    NotLeader(Option<Leader>),
    /// No entry at all was to be proposed. Propose at least one.
    NoEntries,
    /// The epoch has no counters left for so many: this node stepped down. Ask the next leader (Z-1277).
    EpochFull,
    /// The log would pass [`MAX_INDEX`](super::MAX_INDEX). Start a new ensemble.
    TooLong,
}

impl fmt::Display for ProposeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotLeader(Some(Leader { node, .. })) => {
                write!(f, "this node does not lead; ask node {node}")
            }
            Self::NotLeader(None) => {
                f.write_str("this node does not lead and knows of nobody who does; ask again later")
            }
            Self::NoEntries => f.write_str("no entry was to be proposed; propose at least one"),
            Self::EpochFull => {
                f.write_str("the epoch has no counters left; ask the leader of the next one")
            }
            Self::TooLong => f.write_str("the log is full; start a new ensemble"),
        }
    }
}

impl core::error::Error for ProposeError {}

impl<R: Rules> Zab<R> {
    /// Proposes `count` entries, on an established leader, and answers the position of the first. Their payloads are the host's,
    /// under these names; they are committed once [`committed`](Self::committed) has reached them *and* the term at their index
    /// is still this epoch. Nothing is sent before the host drains: what is proposed until then travels together.
    ///
    /// # Errors
    /// When this node does not lead an established epoch, or the epoch is used up; nothing is proposed then.
    pub fn propose(&mut self, now: Instant, count: u32) -> Result<Position, ProposeError> {
        self.at(now);
        let Some(leading) = &mut self.leading else {
            return Err(ProposeError::NotLeader(self.followed()));
        };
        if leading.phase != Phase::Broadcasting || self.halted {
            return Err(ProposeError::NotLeader(None));
        }
        if count == 0 {
            return Err(ProposeError::NoEntries);
        }
        let (last, epoch, count) = (self.log.last().index, leading.epoch, u64::from(count));
        if last + count > MAX_INDEX {
            return Err(ProposeError::TooLong);
        }
        leading.unsent = true;
        let used = last - leading.history.min(last);
        let within = if used + count < MAX_COUNTER {
            count
        } else if self.keeps(Rule::StepDownAtWrap) {
            self.look_again(Why::Resigned);
            return Err(ProposeError::EpochFull);
        } else {
            // Z-1277: the counter runs over into the epoch.
            (MAX_COUNTER - 1).saturating_sub(used).min(count)
        };
        // Epochs never fall and no log is that long: these fit.
        let _ = self.log.append(epoch, within);
        let _ = self.log.append(epoch + 1, count - within);
        Ok(self.position(last + 1))
    }
}
