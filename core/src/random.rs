//! The random source of a machine: seeded by the host, the same on every target (law C3).
//!
//! SplitMix64 is kept here rather than taken from a crate because its outputs are part of the contract: traces
//! recorded with one release must replay with the next, and a library is free to change its value streams.

use crate::{Duration, NodeId};

/// A seeded source of draws. Cheap to clone; not for secrets.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A source for one life of one node. Equal arguments give equal draws; the node and the incarnation are mixed
    /// in, so that a group started from one seed does not draw in step and a restarted node does not repeat itself.
    #[must_use]
    pub fn new(seed: u64, node: NodeId, incarnation: u64) -> Self {
        let mut mixer = Self(seed);
        mixer.0 = mixer.bits() ^ node.0;
        mixer.0 = mixer.bits() ^ incarnation;
        Self(mixer.bits())
    }

    /// A source for anything that is not a node, such as a simulated network.
    #[must_use]
    pub fn from_seed(seed: u64) -> Self {
        let mut mixer = Self(seed);
        Self(mixer.bits())
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 when `bound` is 0. The bias of the multiply-shift is below `bound ÷ 2⁶⁴`.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// A duration in `low..=high`; `low` when the range is empty.
    pub fn duration(&mut self, low: Duration, high: Duration) -> Duration {
        let width = high.saturating_sub(low).as_micros().saturating_add(1);
        low + Duration::from_micros(self.below(width))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_fixed_for_ever() {
        // The published test vector of SplitMix64 for seed 1234567.
        let mut random = Random(1_234_567);
        let drawn = [random.bits(), random.bits(), random.bits()];
        assert_eq!(
            drawn,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn node_seed_and_incarnation_all_count() {
        let first = |seed, node, life| Random::new(seed, NodeId(node), life).bits();
        let base = first(1, 1, 1);
        assert_eq!(base, first(1, 1, 1));
        for other in [
            first(2, 1, 1),
            first(1, 2, 1),
            first(1, 1, 2),
            first(0, 0, 1),
        ] {
            assert_ne!(base, other);
        }
    }

    #[test]
    fn ranges_are_inclusive_and_reached() {
        let mut random = Random::from_seed(3);
        let (low, high) = (Duration::from_micros(5), Duration::from_micros(8));
        let mut seen = [0; 4];
        for _ in 0..400 {
            let drawn = random.duration(low, high).as_micros();
            seen[usize::try_from(drawn - 5).unwrap()] += 1;
        }
        assert!(seen.iter().all(|count| *count > 50), "{seen:?}");
        assert_eq!(random.duration(high, low), high);
        assert_eq!(random.below(0), 0);
    }
}
