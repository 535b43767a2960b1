//! The keys of a server with their ends. They change by effects alone: what a master sends its replicas and writes to its
//! file is what it did itself.

use crate::sorted::Sorted;
use crate::store::{Key, Value};

/// What a command did to a key; no command, so that it does the same wherever and whenever it arrives.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Effect {
    /// It holds this now.
    Put(Key, Held),
    /// It is gone.
    Gone(Key),
    /// All are gone.
    Flushed,
}

/// What a key holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Held {
    pub(super) value: Value,
    /// The last millisecond of the wall clock in which it is there; `None` for no end.
    pub(super) until: Option<i64>,
}

impl Held {
    /// Whether it is over at this millisecond.
    pub(super) fn is_over(&self, wall: i64) -> bool {
        self.until.is_some_and(|until| wall > until)
    }
}

/// The keys.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Keyspace {
    records: Sorted<Key, Held>,
}

impl Keyspace {
    /// What is kept there, whether over or not.
    pub(super) fn get(&self, key: &Key) -> Option<&Held> {
        self.records.get(key)
    }

    /// All keys, in order, whether over or not.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Key, &Held)> {
        self.records.iter()
    }

    pub(super) const fn len(&self) -> usize {
        self.records.len()
    }

    pub(super) fn apply(&mut self, effect: Effect) {
        match effect {
            Effect::Put(key, held) => self.records.insert(key, held),
            Effect::Gone(key) => {
                self.records.remove(&key);
            }
            Effect::Flushed => *self = Self::default(),
        }
    }
}
