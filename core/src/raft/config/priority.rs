//! Who should lead, as a bias and never as a condition.
//!
//! A priority that is weighed in a vote can refuse the only node that could win, and it has to travel in messages that
//! were made without it (raft-rs#511: with pre-vote, a comparison of priorities ended in a panic). Here it only moves the
//! moment at which a node stands for want of a leader. Its timeout stays within the bounds that every node knows, so
//! that promises, leases and the time to a leader rest on what they always rested on; and no message tells it, so that
//! there is nothing to compare, to forge or to agree on.
//!
//! Of two that ask at the same moment the lower id steps back (RL-9), whatever their priorities. To put priority before
//! the id there, both would have to judge the same pair: a node that went by its own priority alone would meet a rival
//! that goes by its id, and both would stay. They meet within the flight of one message only. Of 1,000 cold starts of three
//! nodes (`tests/priority.rs`) a preferred one wins 726 to 808 against two ordinary ones, the least where its id is the
//! lowest, and all against two reluctant ones. Who must lead, not should, is named by the leader that resigns.

use super::Config;
use crate::Duration;

/// How soon a node stands when nobody leads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    /// Late: its election timeout is drawn from the last quarter of the range. It still wins where nobody else can.
    Reluctant,
    /// Any time: drawn from the whole range.
    #[default]
    Ordinary,
    /// Early: drawn from the first quarter of the range. Give it to few nodes of a group: those that share it share a
    /// quarter of the range, and collide more often.
    Preferred,
}

impl Config {
    /// Bounds of this node's election timeout: its priority's part of the range that [`Timing`](super::Timing) gives.
    ///
    /// Only the wait for a leader goes by it. Pauses after a failed attempt are drawn alike for all, or two nodes of one
    /// priority would meet in a quarter of the range again and again.
    #[must_use]
    pub fn election(&self) -> (Duration, Duration) {
        let (min, max) = self.timing.election();
        let quarter = max.saturating_sub(min).scaled_down(1, 4);
        match self.priority {
            Priority::Preferred => (min, min + quarter),
            Priority::Ordinary => (min, max),
            Priority::Reluctant => (max.saturating_sub(quarter), max),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NodeId;
    use crate::quorum::Voters;
    use crate::raft::Timing;

    fn bounds(priority: Priority, timing: Timing) -> (u64, u64) {
        let voters = Voters::new((0..3).map(NodeId)).unwrap();
        let config = Config {
            priority,
            timing,
            ..Config::new(NodeId(0), voters)
        };
        let (low, high) = config.election();
        (low.as_micros(), high.as_micros())
    }

    #[test]
    fn a_priority_is_a_part_of_the_range() {
        for (priority, part) in [
            (Priority::Preferred, (150_000, 187_500)),
            (Priority::Ordinary, (150_000, 300_000)),
            (Priority::Reluctant, (262_500, 300_000)),
        ] {
            assert_eq!(bounds(priority, Timing::default()), part);
        }
    }

    /// The narrowest range that is taken has no quarters: its ends remain.
    #[test]
    fn no_priority_leaves_the_range() {
        let election_max = Duration::from_micros(150_001);
        let narrow = Timing {
            election_max,
            ..Timing::default()
        };
        assert_eq!(bounds(Priority::Preferred, narrow), (150_000, 150_000));
        assert_eq!(bounds(Priority::Reluctant, narrow), (150_001, 150_001));
    }
}
