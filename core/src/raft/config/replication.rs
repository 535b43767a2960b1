//! How a leader feeds its followers.

/// The highest index this implementation writes: an index and one more can always be counted.
pub const MAX_INDEX: u64 = u64::MAX >> 1;

/// How a leader feeds its followers. Counted in entries, for the machine does not know their sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replication {
    /// The most entries in one message; at least one.
    pub batch: u64,
    /// The most entries on the way to one follower, sent and not acknowledged; at least one.
    pub window: u64,
}

impl Default for Replication {
    fn default() -> Self {
        Self {
            batch: 256,
            window: 4_096,
        }
    }
}
