//! The shape of a log: which term wrote which index (law C9). Payloads are the host's.

use alloc::vec::Vec;
use core::fmt;

/// The name of an entry, and the measure of a log by its last one: (term, index). Ordered as Raft orders logs
/// (Raft §5.4.1): the later last term wins, and on equal terms the longer log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The term of the leader that wrote the entry; 0 before the first.
    pub term: u64,
    /// The place of the entry, counted from 1; 0 before the first.
    pub index: u64,
}

impl Position {
    /// Before the first entry: the position of an empty log.
    pub const START: Self = Self { term: 0, index: 0 };

    /// The position of the entry that `term` wrote at `index`.
    #[must_use]
    pub const fn new(term: u64, index: u64) -> Self {
        Self { term, index }
    }
}

/// Which term wrote which index, run-length coded: a million entries of one term take one run.
///
/// **Invariant:** runs are contiguous, none is empty, and their terms rise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Shape {
    runs: Vec<Run>,
}

/// A run of entries of one term, ending at `last`; it begins after the end of the run before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Run {
    term: u64,
    last: u64,
}

/// Why a shape was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShapeError {
    /// Entries of term 0 do not exist: terms are counted from 1.
    TermZero,
    /// The terms of a log never fall. Check that the runs are in index order.
    TermFell {
        /// The term of the entries already there.
        from: u64,
        /// The lower term that was appended after them.
        to: u64,
    },
    /// The log would have more than 2⁶⁴ − 1 entries.
    TooLong,
}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TermZero => f.write_str("an entry has term 0: terms are counted from 1"),
            Self::TermFell { from, to } => {
                write!(
                    f,
                    "an entry of term {to} follows one of term {from}: the terms of a log never fall; give the runs in index order"
                )
            }
            Self::TooLong => f.write_str("the log would have more than 2^64 - 1 entries"),
        }
    }
}

impl core::error::Error for ShapeError {}

impl Shape {
    /// The empty log. Allocates nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self { runs: Vec::new() }
    }

    /// The log made of the given runs, each `(term, count of entries)`, from the first entry on.
    ///
    /// # Errors
    /// When a term is 0 or falls, or the counts overflow.
    pub fn from_runs(runs: impl IntoIterator<Item = (u64, u64)>) -> Result<Self, ShapeError> {
        let mut shape = Self::new();
        for (term, count) in runs {
            shape.append(term, count)?;
        }
        Ok(shape)
    }

    /// Appends `count` entries of `term`; none when `count` is 0.
    ///
    /// # Errors
    /// When the term is 0 or below the last one, or the length overflows; the shape is then unchanged.
    pub fn append(&mut self, term: u64, count: u64) -> Result<(), ShapeError> {
        if term == 0 {
            return Err(ShapeError::TermZero);
        }
        let end = self.last();
        if term < end.term {
            return Err(ShapeError::TermFell {
                from: end.term,
                to: term,
            });
        }
        let last = end.index.checked_add(count).ok_or(ShapeError::TooLong)?;
        if count == 0 {
            return Ok(());
        }
        match self.runs.last_mut() {
            Some(run) if run.term == term => run.last = last,
            _ => self.runs.push(Run { term, last }),
        }
        Ok(())
    }

    /// Forgets every entry after `index`.
    pub fn truncate(&mut self, index: u64) {
        let keep = self.runs.partition_point(|run| run.last <= index);
        let start_of_next = if keep == 0 {
            0
        } else {
            self.runs[keep - 1].last
        };
        if let Some(run) = self.runs.get_mut(keep).filter(|_| start_of_next < index) {
            run.last = index;
            self.runs.truncate(keep + 1);
        } else {
            self.runs.truncate(keep);
        }
    }

    /// The position of the last entry; [`Position::START`] for an empty log.
    #[must_use]
    pub fn last(&self) -> Position {
        self.runs
            .last()
            .map_or(Position::START, |run| Position::new(run.term, run.last))
    }

    /// The term that wrote `index`; `None` outside the log.
    #[must_use]
    pub fn term_at(&self, index: u64) -> Option<u64> {
        if index == 0 {
            return None;
        }
        self.runs
            .get(self.runs.partition_point(|run| run.last < index))
            .map(|run| run.term)
    }

    /// Whether the log is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;

    #[test]
    fn logs_compare_by_term_then_index() {
        assert!(Position::new(3, 1) > Position::new(2, 100));
        assert!(Position::new(3, 2) > Position::new(3, 1));
        assert!(Position::START < Position::new(1, 1));
    }

    #[test]
    fn bad_shapes_are_refused_by_name() {
        assert_eq!(Shape::from_runs([(0, 1)]), Err(ShapeError::TermZero));
        assert_eq!(
            Shape::from_runs([(2, 1), (1, 1)]),
            Err(ShapeError::TermFell { from: 2, to: 1 })
        );
        assert_eq!(
            Shape::from_runs([(1, u64::MAX), (1, 1)]),
            Err(ShapeError::TooLong)
        );
        for (error, told) in [
            (ShapeError::TermZero, "terms are counted from 1"),
            (
                ShapeError::TermFell { from: 2, to: 1 },
                "term 1 follows one of term 2",
            ),
            (ShapeError::TooLong, "more than 2^64 - 1 entries"),
        ] {
            assert!(error.to_string().contains(told), "{error}");
        }
    }

    proptest! {
        /// The run-length code says the same as a plain list of terms, through appends and truncations.
        #[test]
        fn agrees_with_a_plain_list(steps in prop::collection::vec((0u64..3, 0u64..5, prop::option::of(0u64..12)), 0..20)) {
            let mut shape = Shape::new();
            let mut plain: Vec<u64> = Vec::new();
            let mut term = 1;
            for (rise, count, cut) in steps {
                term += rise;
                shape.append(term, count).unwrap();
                plain.extend((0..count).map(|_| term));
                if let Some(cut) = cut {
                    shape.truncate(cut);
                    plain.truncate(usize::try_from(cut).unwrap());
                }
                prop_assert_eq!(shape.last().index, plain.len() as u64);
                prop_assert_eq!(shape.last().term, plain.last().copied().unwrap_or(0));
                prop_assert_eq!(shape.is_empty(), plain.is_empty());
                for index in 0..plain.len() as u64 + 2 {
                    let expected = index.checked_sub(1).and_then(|i| plain.get(usize::try_from(i).unwrap()).copied());
                    prop_assert_eq!(shape.term_at(index), expected);
                }
                prop_assert!(shape.runs.windows(2).all(|w| w[0].term < w[1].term && w[0].last < w[1].last));
            }
        }
    }
}
