//! The points of a search that were reached before.

use super::Model;
use super::walk::Walk;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// The points of a search, each with the fewest operations of unknown outcome that were spent to reach it. What is not
/// there was not spent, so there are none for most histories.
#[derive(Debug)]
pub(super) struct Seen<S>(HashMap<Point<S>, Vec<Box<[u64]>>, BuildHasherDefault<Mixer>>);

impl<S> Default for Seen<S> {
    fn default() -> Self {
        Self(HashMap::default())
    }
}

impl<S: Clone + Eq + Hash> Seen<S> {
    pub(super) fn is_new<M: Model<State = S>>(&mut self, walk: &Walk<'_, '_, M>) -> bool {
        let spent = &*walk.spent;
        match self.0.entry(Point::of(walk)) {
            Entry::Vacant(place) => {
                place.insert(match spent {
                    [] => Vec::new(),
                    _ => vec![spent.into()],
                });
                true
            }
            Entry::Occupied(mut place) => {
                let within = |few: &[u64], many: &[u64]| {
                    few.iter().zip(many).all(|(few, many)| few & !many == 0)
                };
                let known = spent.is_empty() || place.get().iter().any(|few| within(few, spent));
                if !known {
                    place.get_mut().retain(|many| !within(spent, many));
                    place.get_mut().push(spent.into());
                }
                !known
            }
        }
    }
}

/// A point of the search, to be known again.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Point<S> {
    level: usize,
    taken: Taken,
    state: S,
}

/// Bits; nothing is allocated for few.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Taken {
    Few([u64; 2]),
    Many(Box<[u64]>),
}

impl<S: Clone> Point<S> {
    fn of<M: Model<State = S>>(walk: &Walk<'_, '_, M>) -> Self {
        let taken = match *walk.bits {
            [] => Taken::Few([0, 0]),
            [low] => Taken::Few([low, 0]),
            [low, high] => Taken::Few([low, high]),
            _ => Taken::Many(walk.bits.as_slice().into()),
        };
        Self {
            level: walk.level,
            taken,
            state: walk.state.clone(),
        }
    }
}

/// A quick hash: nobody chooses histories to make it collide, and no decision rests on its order.
#[derive(Clone, Copy, Debug, Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn write_isize(&mut self, word: isize) {
        self.write_u64(word as u64);
    }
}
