//! Which sets of nodes decide.
//!
//! Every rule of the protocols that says "a majority" asks this file, so that weighted and joint configurations have
//! one place to live in.

use crate::{Instant, NodeId};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

/// The most voters one group may have. A message count rises with the square of it; lengths read from outside are
/// checked against it before anything is allocated.
pub const MAX_VOTERS: usize = 1 << 12;

/// The nodes that decide, in rising order of id. Majority quorums: any two intersect.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Voters(Box<[NodeId]>);

/// Why a set of voters was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VotersError {
    /// A group without voters can never decide. Name at least one node.
    Empty,
    /// The same node was named twice: it would count twice. Remove one.
    Repeated(NodeId),
    /// More than [`MAX_VOTERS`].
    TooMany,
}

impl fmt::Display for VotersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("no voters: a group needs at least one node"),
            Self::Repeated(id) => write!(
                f,
                "node {id} is named twice among the voters: it would count twice; remove one"
            ),
            Self::TooMany => write!(
                f,
                "more than {MAX_VOTERS} voters: use fewer, or several groups"
            ),
        }
    }
}

impl core::error::Error for VotersError {}

impl Voters {
    /// The group of the given nodes, in any order.
    ///
    /// # Errors
    /// When none is given, one is given twice, or there are too many.
    pub fn new(ids: impl IntoIterator<Item = NodeId>) -> Result<Self, VotersError> {
        let mut sorted: Vec<NodeId> = Vec::new();
        for id in ids {
            if sorted.len() == MAX_VOTERS {
                return Err(VotersError::TooMany);
            }
            match sorted.binary_search(&id) {
                Ok(_) => return Err(VotersError::Repeated(id)),
                Err(place) => sorted.insert(place, id),
            }
        }
        if sorted.is_empty() {
            return Err(VotersError::Empty);
        }
        Ok(Self(sorted.into_boxed_slice()))
    }

    /// The voters in rising order.
    #[must_use]
    pub fn ids(&self) -> &[NodeId] {
        &self.0
    }

    /// The place of a voter in [`ids`](Self::ids).
    #[must_use]
    pub fn place(&self, id: NodeId) -> Option<usize> {
        // Groups are small: a scan beats a binary search up to a few dozen.
        if self.0.len() <= 16 {
            self.0.iter().position(|voter| *voter == id)
        } else {
            self.0.binary_search(&id).ok()
        }
    }

    /// How many voters make a quorum.
    #[must_use]
    pub fn majority(&self) -> usize {
        self.0.len() / 2 + 1
    }

    /// Whether the voters for which `said` holds (asked by place) are a quorum.
    #[must_use]
    pub fn is_quorum(&self, said: impl Fn(usize) -> bool) -> bool {
        (0..self.0.len()).filter(|place| said(*place)).count() >= self.majority()
    }

    /// The latest instant that a quorum has reached, when each voter reached `at(place)`.
    #[must_use]
    pub fn reached_by_quorum(&self, at: impl Fn(usize) -> Instant) -> Instant {
        // The answer is one of the voters' own instants: the highest that enough others are at or beyond.
        // Quadratic, and faster than a sort for the group sizes there are; it allocates nothing.
        (0..self.0.len())
            .map(&at)
            .filter(|candidate| self.is_quorum(|place| at(place) >= *candidate))
            .max()
            .unwrap_or(Instant::ZERO)
    }

    /// The first instant at which a quorum is free, when each voter is free from `at(place)` on.
    #[must_use]
    pub fn freed_by_quorum(&self, at: impl Fn(usize) -> Instant) -> Instant {
        (0..self.0.len())
            .map(&at)
            .filter(|candidate| self.is_quorum(|place| at(place) <= *candidate))
            .min()
            .unwrap_or(Instant::FOREVER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;
    use std::string::ToString;

    fn voters(n: u64) -> Voters {
        Voters::new((0..n).map(NodeId)).unwrap()
    }

    #[test]
    fn bad_groups_are_refused_by_name() {
        assert_eq!(Voters::new([]), Err(VotersError::Empty));
        assert_eq!(
            Voters::new([NodeId(2), NodeId(1), NodeId(2)]),
            Err(VotersError::Repeated(NodeId(2)))
        );
        assert_eq!(Voters::new((0..).map(NodeId)), Err(VotersError::TooMany));
        for (error, told) in [
            (VotersError::Empty, "at least one node"),
            (VotersError::Repeated(NodeId(2)), "node 2 is named twice"),
            (VotersError::TooMany, "more than 4096 voters"),
        ] {
            assert!(error.to_string().contains(told), "{error}");
        }
    }

    #[test]
    fn any_two_quorums_intersect() {
        for n in 1..=7u64 {
            let group = voters(n);
            for a in 0..1u32 << n {
                for b in 0..1u32 << n {
                    let has = |set: u32| group.is_quorum(|place| set >> place & 1 == 1);
                    assert!(!(has(a) && has(b)) || a & b != 0, "n={n} {a:b} {b:b}");
                }
            }
        }
    }

    proptest! {
        /// The instants of a quorum are what sorting would give.
        #[test]
        fn quorum_instant_agrees_with_sorting(at in prop::collection::vec(0u64..20, 1..40)) {
            let group = voters(at.len() as u64);
            let mut sorted = at.clone();
            sorted.sort_unstable_by(|a, b| b.cmp(a));
            let expected = Instant::from_micros(sorted[group.majority() - 1]);
            prop_assert_eq!(group.reached_by_quorum(|place| Instant::from_micros(at[place])), expected);
            sorted.reverse();
            let first = Instant::from_micros(sorted[group.majority() - 1]);
            prop_assert_eq!(group.freed_by_quorum(|place| Instant::from_micros(at[place])), first);
        }
    }

    #[test]
    fn places_are_found_in_small_and_large_groups() {
        for n in [1, 5, 16, 17, 200] {
            let group = voters(n);
            assert_eq!(
                group.place(NodeId(n - 1)),
                Some(usize::try_from(n - 1).unwrap())
            );
            assert_eq!(group.place(NodeId(n)), None);
            assert_eq!(group.ids().len(), usize::try_from(n).unwrap());
        }
        assert_eq!(
            vec![1, 2, 2, 3, 3],
            (1..=5).map(|n| voters(n).majority()).collect::<Vec<_>>()
        );
    }
}
