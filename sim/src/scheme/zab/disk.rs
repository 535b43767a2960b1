//! The disk of a member: two small files and a log, each step of the protocol a write of its own.

use crate::physics::disk::Kept;
use crate::scheme::Logged;
use tenure::log::Shape;
use tenure::random::Random;
use tenure::zab::{Request, Stored};

impl Kept for Stored {
    type Write = Request;

    fn fold(&mut self, write: &Request) -> bool {
        // What does not fit comes after a write that a damaged disk dropped: the log ends before the gap.
        self.apply(write).is_ok()
    }

    /// Every step does: an epoch is of the log that was written before it.
    fn is_rested_on(_: &Request) -> bool {
        true
    }

    /// Of what was appended and not synced, a beginning of any length is there by luck.
    fn crash(&mut self, draw: &mut Random) {
        let unsynced = self.log.last().index.saturating_sub(self.synced);
        let lucky = if unsynced > 0 {
            draw.below(unsynced + 1)
        } else {
            0
        };
        Self::crash(self, self.synced + lucky);
    }
}

impl Logged for Stored {
    fn log(&self) -> &Shape {
        &self.log
    }

    fn synced(&self) -> u64 {
        self.synced
    }
}
