//! The hash behind fingerprints: the same on every target, for the number of states must be.

use std::hash::Hasher;

/// A 64-bit hash. Not for hostile input: its inputs are states of our own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mix(u64);

impl Mix {
    /// Different `kind`s of things have different hashes.
    pub(crate) fn new(kind: u64) -> Self {
        let mut mix = Self(0x243f_6a88_85a3_08d3);
        mix.word(kind);
        mix
    }

    #[inline]
    fn word(&mut self, word: u64) {
        // A bijection of the state for each word, and of the word for each state.
        let mut h = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        h ^= h >> 32;
        h = h.wrapping_mul(0xd6e8_feb8_6659_fd93);
        self.0 = h ^ (h >> 29);
    }
}

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.word(u64::from(value));
    }

    fn write_u16(&mut self, value: u16) {
        self.word(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.word(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.word(value);
    }

    // Lengths and discriminants are as wide as the target's pointers: here they all count as 64 bits.
    fn write_usize(&mut self, value: usize) {
        self.word(value as u64);
    }

    fn write_isize(&mut self, value: isize) {
        self.word(value as u64);
    }
}

/// For tables whose keys are hashes already, or small numbers packed into one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, value: u64) {
        let h = (self.0 ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = h ^ (h >> 32);
    }
}

/// A map from such keys.
pub(super) type Table<V> = std::collections::HashMap<u64, V, std::hash::BuildHasherDefault<Spread>>;

/// A growing set of fingerprints, 8 bytes a place, at most five eighths full.
#[derive(Debug)]
pub(super) struct Seen {
    places: Vec<u64>,
    len: usize,
    has_zero: bool,
}

impl Seen {
    pub(super) fn new() -> Self {
        Self {
            places: vec![0; 1 << 12],
            len: 0,
            has_zero: false,
        }
    }

    /// Whether the fingerprint is new.
    pub(super) fn insert(&mut self, print: u64) -> bool {
        if print == 0 {
            // Marks an empty place in the table.
            return !std::mem::replace(&mut self.has_zero, true);
        }
        let at = self.find(print);
        if self.places[at] == print {
            return false;
        }
        self.places[at] = print;
        self.len += 1;
        if self.len * 8 > self.places.len() * 5 {
            self.grow();
        }
        true
    }

    /// Where the fingerprint is or would be.
    #[inline]
    fn find(&self, print: u64) -> usize {
        let mask = self.places.len() - 1;
        let mut at = print as usize & mask;
        while self.places[at] != 0 && self.places[at] != print {
            at = (at + 1) & mask;
        }
        at
    }

    fn grow(&mut self) {
        let twice = vec![0; self.places.len() * 2];
        for print in std::mem::replace(&mut self.places, twice) {
            if print != 0 {
                let at = self.find(print);
                self.places[at] = print;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_was_put_in_and_nothing_else() {
        let mut seen = Seen::new();
        let prints = |from: u64| {
            (from..from + 20_000).map(|n| {
                let mut mix = Mix::new(0);
                mix.write_u64(n);
                mix.finish()
            })
        };
        assert!(prints(0).all(|print| seen.insert(print)));
        assert!(!prints(0).any(|print| seen.insert(print)));
        assert!(prints(20_000).all(|print| seen.insert(print)));
        assert!(seen.insert(0));
        assert!(!seen.insert(0));
    }

    #[test]
    fn hashes_are_the_same_for_ever() {
        let mut mix = Mix::new(7);
        mix.write_usize(3);
        mix.write_isize(-1);
        mix.write(&[1, 2, 3]);
        let mut wide = Mix::new(7);
        wide.write_u64(3);
        wide.write_u64(u64::MAX);
        wide.write_u64(0x03_0201);
        assert_eq!(mix.finish(), wide.finish());
    }
}
