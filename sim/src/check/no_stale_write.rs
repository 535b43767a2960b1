//! KZ-NoStaleWrite: ZooKeeper takes no write of a controller whose epoch is not the stored one (KZ-F1, KAFKA-6082).
//!
//! Whose epoch it is, the write itself says, and which is stored, the server: the guard that a controller puts into its
//! transactions is not asked. Put to the test by every such write that a server takes, each of an ensemble for itself, or whose
//! refusal is heard.

use super::Tally;

/// The writes of those who were overtaken.
#[derive(Clone, Debug, Default)]
pub(super) struct NoStaleWrite {
    tally: Tally,
}

impl NoStaleWrite {
    pub(super) fn wrote(&mut self, now: u64, taken: bool) -> bool {
        self.tally.note(now, taken)
    }

    pub(super) const fn tally(&self) -> Tally {
        self.tally
    }
}
