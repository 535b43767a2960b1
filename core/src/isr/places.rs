//! Sets of replicas, by their place in the order in which a partition has them.

use crate::NodeId;

/// The most replicas that a partition may have. Three is usual.
pub const MAX_REPLICAS: usize = 16;

/// Some of a partition's replicas: bit `n` is the one at place `n` of its order, the preferred one first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Places(pub u16);

impl Places {
    /// None of them.
    pub const NONE: Self = Self(0);

    /// The first so many.
    #[must_use]
    pub const fn first(count: usize) -> Self {
        match count {
            0 => Self(0),
            1..MAX_REPLICAS => Self(u16::MAX >> (MAX_REPLICAS - count)),
            _ => Self(u16::MAX),
        }
    }

    /// One alone; none when there is no such place.
    #[must_use]
    pub const fn of(place: usize) -> Self {
        if place < MAX_REPLICAS {
            Self(1 << place)
        } else {
            Self::NONE
        }
    }

    /// Those of `replicas` of which `which` is true.
    pub(super) fn that(replicas: &[NodeId], which: impl Fn(NodeId) -> bool) -> Self {
        let hit = replicas.iter().enumerate().filter(|(_, id)| which(**id));
        hit.fold(Self::NONE, |all, (place, _)| all.or(Self::of(place)))
    }

    /// Whether one is among them.
    #[must_use]
    pub const fn has(self, place: usize) -> bool {
        self.and(Self::of(place)).0 != 0
    }

    /// Those of either.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Those of both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Those that are not among others.
    #[must_use]
    pub const fn but(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    /// How many.
    #[must_use]
    pub const fn count(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether all of them are among others.
    #[must_use]
    pub const fn within(self, others: Self) -> bool {
        self.but(others).is_empty()
    }

    /// Each, in the order of the replicas.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        (0..MAX_REPLICAS).filter(move |place| self.has(*place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn sets_are_what_they_say() {
        let (some, other) = (Places::of(0).or(Places::of(3)), Places::first(2));
        assert_eq!(some.iter().collect::<Vec<_>>(), [0, 3]);
        assert_eq!(
            (some.and(other), some.but(other)),
            (Places::of(0), Places::of(3))
        );
        assert_eq!((some.or(other).count(), Places::of(16)), (3, Places::NONE));
        assert!(Places::of(1).within(other) && !some.within(other));
        assert_eq!(Places::first(0), Places::NONE);
        assert_eq!(Places::first(16).count(), 16);
        assert_eq!(Places::first(99), Places::first(16));
    }
}
