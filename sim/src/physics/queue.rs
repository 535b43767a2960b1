//! What is due, ordered by time and then by the order of scheduling: two things due at one instant never race.

use core::cmp::Ordering;
use std::collections::BinaryHeap;

/// A queue of things due at true times.
#[derive(Clone, Debug)]
pub struct Queue<T> {
    heap: BinaryHeap<Entry<T>>,
    scheduled: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry<T> {
    at: u64,
    order: u64,
    what: T,
}

// The heap is a maximum heap: the entry due first is the greatest.
impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.order).cmp(&(self.at, self.order))
    }
}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for Entry<T> {}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self {
            heap: BinaryHeap::new(),
            scheduled: 0,
        }
    }
}

impl<T> Queue<T> {
    /// Schedules `what`.
    pub fn push(&mut self, at: u64, what: T) {
        self.scheduled += 1;
        self.heap.push(Entry {
            at,
            order: self.scheduled,
            what,
        });
    }

    /// When the next thing is due.
    #[must_use]
    pub fn next_at(&self) -> Option<u64> {
        self.heap.peek().map(|entry| entry.at)
    }

    /// Takes the next thing that is due at or before `until`.
    pub fn pop_until(&mut self, until: u64) -> Option<(u64, T)> {
        if self.next_at()? > until {
            return None;
        }
        self.heap.pop().map(|entry| (entry.at, entry.what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_together_comes_in_order_of_scheduling() {
        let mut queue = Queue::default();
        for (at, what) in [(5, 'c'), (3, 'a'), (5, 'd'), (3, 'b'), (9, 'e')] {
            queue.push(at, what);
        }
        let drained: String = std::iter::from_fn(|| queue.pop_until(5))
            .map(|(_, what)| what)
            .collect();
        assert_eq!(drained, "abcd");
        assert_eq!(queue.next_at(), Some(9));
        assert_eq!(queue.pop_until(8), None);
    }
}
