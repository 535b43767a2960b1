//! Draws for schedules, from a source of their own: the run that is made draws from others.

use tenure::random::Random;

/// A source of draws.
pub(super) struct Draw(Random);

impl Draw {
    /// The source of a seed and a purpose.
    pub(super) fn new(seed: u64, purpose: u64) -> Self {
        Self(Random::from_seed(seed ^ purpose))
    }

    /// From `low` to `high`, both included.
    pub(super) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.below(high.saturating_sub(low).saturating_add(1))
    }

    /// True once in so many times.
    pub(super) fn one_in(&mut self, many: u64) -> bool {
        self.0.below(many) == 0
    }

    /// A place in a list of so many, which is not empty.
    pub(super) fn place(&mut self, many: usize) -> usize {
        self.0.below(many.max(1) as u64) as usize
    }

    /// One of a list; nothing of an empty one.
    pub(super) fn one_of<T: Copy>(&mut self, list: &[T]) -> Option<T> {
        list.get(self.place(list.len())).copied()
    }

    /// A place by its weight; nothing when all weigh nothing.
    pub(super) fn weighted(&mut self, weights: &[u32]) -> Option<usize> {
        let total: u64 = weights.iter().map(|weight| u64::from(*weight)).sum();
        if total == 0 {
            return None;
        }
        let mut pick = self.0.below(total);
        weights.iter().position(|weight| {
            let found = pick < u64::from(*weight);
            pick = pick.saturating_sub(u64::from(*weight));
            found
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_weighs_nothing_is_never_drawn_and_the_rest_by_weight() {
        let mut draw = Draw::new(1, 2);
        let mut counts = [0; 4];
        for _ in 0..4_000 {
            counts[draw.weighted(&[1, 0, 3, 0]).unwrap()] += 1;
        }
        assert_eq!((counts[1], counts[3]), (0, 0));
        assert!((900..1_100).contains(&counts[0]), "{counts:?}");
        assert_eq!(draw.weighted(&[0, 0]), None);
        assert_eq!(draw.one_of::<u8>(&[]), None);
    }
}
