//! The controller on the quorum: KC-1 to KC-3.
//!
//! It is active once its state machine has consumed the log up to the first record of its own epoch: what it decides on is
//! then the newest state. What it proposes has the name (offset, epoch) of the epoch it claimed, and is done when the high
//! watermark has passed that name; until then nobody may be answered. When it gives up, its node resigns: the host fails
//! what waits, and returns to the state as of the high watermark.

use super::config::MAX_OFFSET;
use super::{Applying, Kraft, Role, Rule, Rules};
use crate::log::Position;
use crate::{Event, Instant, Leader, Standing, Tenure, Why};
use core::fmt;

/// Why nothing was proposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProposeError {
    /// This node does not lead. Ask the one that does, if it is known.
    NotLeader(Option<Leader>),
    /// This node leads, and its controller is not active yet, or gave up (KC-1). Ask again in a moment.
    NotActive,
    /// The log would pass [`MAX_OFFSET`].
    TooLong,
    /// No record at all was to be appended. Propose at least one.
    NoRecords,
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
            Self::NotActive => {
                f.write_str("the controller of this node is not active; ask again in a moment")
            }
            Self::TooLong => f.write_str("the log is full; start a new group"),
            Self::NoRecords => f.write_str("no record was to be appended; propose at least one"),
        }
    }
}

impl core::error::Error for ProposeError {}

impl<R: Rules> Kraft<R> {
    /// The epoch this node's controller is active in. Authorises nothing: see [`Election::standing`](crate::Election::standing).
    #[must_use]
    pub fn active(&self) -> Option<u64> {
        let claimed = self.reign.as_ref().is_some_and(|reign| reign.claimed);
        claimed.then_some(self.state.epoch)
    }

    /// Leader: up to where the log was when its epoch began; the LeaderChange record comes after.
    #[must_use]
    pub fn epoch_start(&self) -> Option<u64> {
        self.reign.as_ref().map(|reign| reign.start)
    }

    /// Has the active controller append `count` records, together with others of the next moment (the linger), and answers
    /// the position of the first. Their payloads are the host's, under these names; they are committed once
    /// [`high_watermark`](Self::high_watermark) has reached them *and* the epoch at their offset is still this one. What
    /// still lingers when the leadership ends was never appended.
    ///
    /// # Errors
    /// When the controller is not active, or there is no room.
    pub fn propose(&mut self, now: Instant, count: u64) -> Result<Position, ProposeError> {
        self.at(now);
        let Some(reign) = self.reign.as_mut().filter(|_| !self.halted) else {
            let leader = match crate::Election::standing(self, now) {
                Standing::Following(leader) => Some(leader),
                _ => None,
            };
            self.settle();
            return Err(ProposeError::NotLeader(leader));
        };
        if !reign.claimed {
            return Err(ProposeError::NotActive);
        }
        if count == 0 {
            return Err(ProposeError::NoRecords);
        }
        let end = self.log.last().index + reign.lingering;
        if count > MAX_OFFSET - end.min(MAX_OFFSET) {
            return Err(ProposeError::TooLong);
        }
        if reign.lingering == 0 {
            reign.linger_until = self.now + self.config.timing.append_linger;
        }
        reign.lingering += count;
        if reign.lingers_until(self.now) {
            self.append_lingering();
        }
        self.settle();
        Ok(Position::new(self.state.epoch, end + 1))
    }

    pub(super) fn append_lingering(&mut self) {
        if let Some(reign) = &mut self.reign {
            let count = core::mem::take(&mut reign.lingering);
            self.append(count);
        }
    }

    /// When what was proposed is appended.
    pub(super) fn appends_at(&self) -> Option<Instant> {
        let reign = self.reign.as_ref().filter(|reign| reign.lingering > 0)?;
        Some(reign.linger_until)
    }

    /// The host's state machine has consumed the log up to `index`; not beyond the high watermark. Asked for by
    /// [`Applying::Told`], without effect otherwise.
    pub fn applied(&mut self, now: Instant, index: u64) {
        if self.halted {
            return;
        }
        self.at(now);
        self.applied = self.applied.max(index.min(self.high_watermark));
        self.claim();
        self.settle();
    }

    /// The controller met an error, or lost its state, and gives up: KC-3. Its node resigns too (KAFKA-13104). No effect
    /// where none is active.
    pub fn renounce(&mut self, now: Instant) {
        if self.halted {
            return;
        }
        self.at(now);
        if self.active().is_some() {
            if self.keeps(Rule::RenounceResignsRaft) {
                self.resign(None, Why::Resigned);
            } else {
                self.event(Event::Deposed(self.token(), Why::Resigned));
                if let Some(reign) = &mut self.reign {
                    (reign.claimed, reign.renounced, reign.lingering) = (false, true, 0);
                }
            }
        }
        self.settle();
    }

    /// More is committed. A host that applies at once has consumed it.
    pub(super) fn consume(&mut self) {
        if self.config.applying == Applying::AtOnce {
            self.applied = self.applied.max(self.high_watermark);
        }
        self.claim();
    }

    /// KC-1: active once the state machine has consumed a record of the own epoch.
    pub(super) fn claim(&mut self) {
        let caught_up = |start| self.applied > start || !self.keeps(Rule::ClaimAfterCatchup);
        let claims = self
            .reign
            .as_ref()
            .is_some_and(|reign| !reign.claimed && !reign.renounced && caught_up(reign.start));
        if !claims {
            return;
        }
        if let Some(reign) = &mut self.reign {
            reign.claimed = true;
        }
        let (token, until) = (self.token(), self.due.unwrap_or(Instant::FOREVER));
        self.event(Event::Established(Tenure { token, until }));
    }

    /// KAFKA-17333: without the rule, who led in a former life is told that it leads.
    pub(super) fn claim_in_a_former_life(&mut self) {
        if !self.keeps(Rule::ClaimAfterCatchup) {
            self.leader = Some(self.config.id);
        }
    }

    /// Until when the controller is active, if it is.
    pub(super) fn active_until(&self) -> Option<Instant> {
        let misled = self.role == Role::Resigned && self.leader == Some(self.config.id);
        let active = self.active().is_some() || misled;
        active.then(|| self.due.unwrap_or(Instant::FOREVER))
    }
}
