//! What a data server has, as a shape: who wrote which offset.

use crate::NodeId;
use alloc::vec::Vec;

/// Who made writes: one server, in one life, since it last became a master in that. The real one's replication id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    /// The server.
    pub node: NodeId,
    /// Its life.
    pub incarnation: u64,
    /// Counted from 1 within that life: how often it became a master.
    pub turn: u32,
}

/// The name of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mark {
    /// Who made it.
    pub origin: Origin,
    /// Its place among all writes of its history, counted from 1.
    pub offset: u64,
}

/// How many runs are remembered: each failover begins one.
const MAX_RUNS: usize = 1 << 12;

/// The writes of a server in order, run-length coded by who made them.
///
/// **Invariant:** runs are contiguous, none is empty, and neighbours differ in origin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct History {
    /// Up to where it is not remembered any more who wrote: then all are taken to agree.
    forgotten: u64,
    runs: Vec<Run>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Run {
    origin: Origin,
    last: u64,
}

impl History {
    /// No writes at all.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            forgotten: 0,
            runs: Vec::new(),
        }
    }

    /// How many writes there are.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.runs.last().map_or(self.forgotten, |run| run.last)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The last write.
    #[must_use]
    pub fn last(&self) -> Option<Mark> {
        self.runs.last().map(|run| Mark {
            origin: run.origin,
            offset: run.last,
        })
    }

    /// Whether it has this write. All before it are then those before it anywhere else, for who appends to a history has it.
    #[must_use]
    pub fn contains(&self, mark: Mark) -> bool {
        mark.offset > 0
            && (mark.offset <= self.forgotten
                || self
                    .runs
                    .get(self.run_of(mark.offset))
                    .map(|run| run.origin)
                    == Some(mark.origin))
    }

    /// The longest run of writes of one origin that begins after `offset`, with how many there are.
    #[must_use]
    pub fn run_after(&self, offset: u64) -> Option<(Origin, u64)> {
        if offset < self.forgotten {
            return None;
        }
        let run = self.runs.get(self.run_of(offset.checked_add(1)?))?;
        Some((run.origin, run.last - offset))
    }

    /// The runs, each with its origin and how many writes it has.
    pub fn runs(&self) -> impl ExactSizeIterator<Item = (Origin, u64)> {
        let mut before = self.forgotten;
        self.runs.iter().map(move |run| {
            let count = run.last - before;
            before = run.last;
            (run.origin, count)
        })
    }

    /// Adds writes to the end. False when they cannot be counted; then nothing changes.
    pub fn append(&mut self, origin: Origin, count: u64) -> bool {
        let Some(last) = self.len().checked_add(count) else {
            return false;
        };
        match self.runs.last_mut() {
            _ if count == 0 => {}
            Some(run) if run.origin == origin => run.last = last,
            _ => {
                if self.runs.len() == MAX_RUNS {
                    self.forgotten = self.runs.remove(0).last;
                }
                self.runs.push(Run { origin, last });
            }
        }
        true
    }

    fn run_of(&self, offset: u64) -> usize {
        self.runs.partition_point(|run| run.last < offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(node: u64) -> Origin {
        Origin {
            node: NodeId(node),
            incarnation: 1,
            turn: 1,
        }
    }

    fn mark(node: u64, offset: u64) -> Mark {
        Mark {
            origin: origin(node),
            offset,
        }
    }

    #[test]
    fn writes_are_found_by_name() {
        let mut history = History::new();
        assert!(history.is_empty() && history.last().is_none());
        assert!(history.append(origin(1), 3) && history.append(origin(2), 0));
        assert!(history.append(origin(1), 1) && history.append(origin(2), 2));
        assert_eq!(history.len(), 6);
        assert_eq!(history.last(), Some(mark(2, 6)));
        let has = [mark(1, 1), mark(1, 4), mark(2, 5)];
        assert!(has.into_iter().all(|mark| history.contains(mark)));
        let lacks = [mark(1, 0), mark(2, 4), mark(1, 5), mark(2, 7)];
        assert!(!lacks.into_iter().any(|mark| history.contains(mark)));
        assert_eq!(history.run_after(0), Some((origin(1), 4)));
        assert_eq!(history.run_after(4), Some((origin(2), 2)));
        assert_eq!(history.run_after(6), None);
        assert!(history.runs().eq([(origin(1), 4), (origin(2), 2)]));
    }

    #[test]
    fn what_cannot_be_counted_is_not_taken() {
        let mut history = History::new();
        assert!(history.append(origin(1), u64::MAX));
        let before = history.clone();
        assert!(!history.append(origin(1), 1));
        assert_eq!(history, before);
        assert_eq!(history.run_after(u64::MAX), None);
    }

    #[test]
    fn the_oldest_runs_are_forgotten_and_the_length_is_not() {
        let mut history = History::new();
        for node in 0..2 * MAX_RUNS as u64 {
            assert!(history.append(origin(node), 2));
        }
        assert_eq!(history.len(), 4 * MAX_RUNS as u64);
        assert_eq!(history.runs().len(), MAX_RUNS);
        assert!(history.contains(mark(7, 2)));
        assert_eq!(history.run_after(0), None);
    }
}
