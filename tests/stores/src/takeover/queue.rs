//! What is due when, in a world whose time is simulated.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use tenure::random::Random;

/// What is due, in the order of time and, at one time, in that in which it was said.
pub(super) struct Queue<E> {
    pub(super) now: u64,
    random: Random,
    due: BinaryHeap<Reverse<(u64, u64)>>,
    events: BTreeMap<u64, E>,
    count: u64,
    /// When the newest from one to another arrives: connections keep the order.
    arrivals: BTreeMap<(u64, u64), u64>,
}

impl<E> Queue<E> {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            // An hour after some beginning: nothing is young because the world is.
            now: 3_600_000_000,
            random: Random::from_seed(seed),
            due: BinaryHeap::new(),
            events: BTreeMap::new(),
            count: 0,
            arrivals: BTreeMap::new(),
        }
    }

    pub(super) fn within(&mut self, (low, high): (u64, u64)) -> u64 {
        low + self.random.below(high - low + 1)
    }

    pub(super) fn bits(&mut self) -> u64 {
        self.random.bits()
    }

    pub(super) fn at(&mut self, at: u64, event: E) {
        self.count += 1;
        self.due.push(Reverse((at, self.count)));
        self.events.insert(self.count, event);
    }

    /// On the connection from one to another, after whatever was said there before.
    pub(super) fn after(&mut self, takes: u64, pair: (u64, u64), event: E) {
        let newest = self.arrivals.entry(pair).or_default();
        *newest = (*newest).max(self.now + takes);
        let at = *newest;
        self.at(at, event);
    }

    /// The next that is due by then, whose time it is now.
    pub(super) fn next(&mut self, until: u64) -> Option<E> {
        let Reverse((at, number)) = *self.due.peek()?;
        if at > until {
            return None;
        }
        self.due.pop();
        self.now = self.now.max(at);
        self.events.remove(&number)
    }
}
