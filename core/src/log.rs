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

/// Which term wrote which index, run-length coded: a million entries of one term take one run. What was compacted away is
/// remembered by its last position alone, the base.
///
/// **Invariant:** runs are contiguous from the base on, none is empty, their terms rise, and none is below the base's. The
/// first may have the base's own term, for a compaction may cut a run in two. The base is [`Position::START`] or names an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The last entry that was compacted away; [`Position::START`] when none was.
    base: Position,
    runs: Vec<Run>,
}

/// A run of entries of one term, ending at `last`; it begins after the end of the run before it, the first after the base.
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
    /// A log begins after an entry, or at [`Position::START`]; half of each names nothing. Check what the base was read from.
    NoSuchBase(Position),
    /// The entry that others are to follow is not in the log. Restore the log; it belongs to another record.
    Gap(Position),
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
            Self::NoSuchBase(base) => write!(
                f,
                "the log begins after term {}, index {}, which names no entry: give both, or 0 for both when nothing was compacted",
                base.term, base.index
            ),
            Self::Gap(after) => write!(
                f,
                "entries follow term {}, index {}, which the log does not have: restore the log",
                after.term, after.index
            ),
        }
    }
}

impl core::error::Error for ShapeError {}

impl Shape {
    /// The empty log. Allocates nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self::after(Position::START)
    }

    /// The log of which everything up to `base`, an entry or [`Position::START`], was compacted away and nothing came after.
    /// Allocates nothing. A base that was read from outside is checked by [`from_parts`](Self::from_parts).
    #[must_use]
    pub const fn after(base: Position) -> Self {
        Self {
            base,
            runs: Vec::new(),
        }
    }

    /// The log made of the given runs, each `(term, count of entries)`, from the first entry on.
    ///
    /// # Errors
    /// When a term is 0 or falls, or the counts overflow.
    pub fn from_runs(runs: impl IntoIterator<Item = (u64, u64)>) -> Result<Self, ShapeError> {
        Self::from_parts(Position::START, runs)
    }

    /// The log made of the given runs after `base`: what [`base`](Self::base) and [`runs`](Self::runs) tell of one.
    ///
    /// # Errors
    /// When the base has one of term and index alone, a term is 0 or falls, or the counts overflow.
    pub fn from_parts(
        base: Position,
        runs: impl IntoIterator<Item = (u64, u64)>,
    ) -> Result<Self, ShapeError> {
        if (base.term == 0) != (base.index == 0) {
            return Err(ShapeError::NoSuchBase(base));
        }
        let mut shape = Self::after(base);
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
            _ => self.begin_run(Run { term, last }),
        }
        Ok(())
    }

    #[cold]
    fn begin_run(&mut self, run: Run) {
        // The first may be the only one for long.
        if self.runs.capacity() == 0 {
            self.runs.reserve_exact(1);
        }
        self.runs.push(run);
    }

    /// Forgets every entry after `index`; what was compacted away stays so.
    pub fn truncate(&mut self, index: u64) {
        let keep = self.runs.partition_point(|run| run.last <= index);
        let begins = self.end_before(keep).index;
        match self.runs.get_mut(keep) {
            Some(run) if begins < index => {
                run.last = index;
                self.runs.truncate(keep + 1);
            }
            _ => self.runs.truncate(keep),
        }
    }

    /// Forgets the entries up to and including `index`, or all when it is beyond the last, and keeps the position of the last
    /// one forgotten as the base. Nothing at or below the base, which is forgotten already.
    pub fn compact(&mut self, index: u64) {
        let index = index.min(self.last().index);
        if index <= self.base.index {
            return;
        }
        let run = self.run_of(index);
        self.base = Position::new(self.runs[run].term, index);
        let gone = run + usize::from(self.runs[run].last == index);
        self.runs.drain(..gone);
    }

    /// Forgets everything for a snapshot that ends at `base`: the log is empty after it.
    pub fn reset(&mut self, base: Position) {
        self.base = base;
        self.runs.clear();
    }

    /// The position of the last entry that was compacted away; [`Position::START`] when none was.
    #[must_use]
    pub fn base(&self) -> Position {
        self.base
    }

    /// The position of the last entry, even when it was compacted away; [`Position::START`] for a log that never had one.
    #[must_use]
    pub fn last(&self) -> Position {
        match self.runs.last() {
            Some(run) => Position::new(run.term, run.last),
            None => self.base,
        }
    }

    /// Whether no entry is kept: there never was one, or all were compacted away.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// The term that wrote `index`; `None` beyond the end, below the base, where it is forgotten, and for 0.
    #[must_use]
    pub fn term_at(&self, index: u64) -> Option<u64> {
        if index > self.base.index {
            self.runs.get(self.run_of(index)).map(|run| run.term)
        } else {
            (index == self.base.index && index > 0).then_some(self.base.term)
        }
    }

    /// Whether the entry `at` is in the log. By log matching (Raft §5.3) all before it are then those before it anywhere else.
    /// True of the base, [`Position::START`] included; not of what lies below it, where nobody can tell any more.
    #[must_use]
    pub fn contains(&self, at: Position) -> bool {
        at == self.base || self.term_at(at.index) == Some(at.term)
    }

    /// The longest run of entries of one term that begins at `index + 1`, as (term, count): what one message can carry to a
    /// node that has all up to `index`. `None` when there is no such entry or it was compacted away.
    #[must_use]
    pub fn run_after(&self, index: u64) -> Option<(u64, u64)> {
        if index < self.base.index {
            return None;
        }
        let run = self.runs.get(self.run_of(index.checked_add(1)?))?;
        Some((run.term, run.last - index))
    }

    /// The latest position at which this log and one that has `at` can agree: the last one at or before `at.index` whose term
    /// is at most `at.term`, for terms never fall. The base when there is none, even if it lies after `at`.
    ///
    /// The conflict hint of Raft §5.3, told by a follower of what it lacks and asked again by the leader of the answer: one
    /// question skips a whole term on either side.
    ///
    /// ```
    /// # use tenure::log::{Position, Shape};
    /// let leader = Shape::from_runs([(1, 3), (4, 7)]).unwrap();
    /// let follower = Shape::from_runs([(1, 3), (2, 3), (3, 3)]).unwrap();
    /// // "Do you have entry 9 of term 4?" No, and entry 9 of term 3 is the latest that could be common: not here either, where
    /// // all of terms 2 and 3 is passed over at once.
    /// assert_eq!(follower.hint(Position::new(4, 9)), Position::new(3, 9));
    /// assert_eq!(leader.hint(Position::new(3, 9)), Position::new(1, 3));
    /// assert!(follower.contains(Position::new(1, 3)));
    /// ```
    #[must_use]
    pub fn hint(&self, at: Position) -> Position {
        if at.index <= self.base.index {
            return self.base;
        }
        let run = self.run_of(at.index);
        match self.runs.get(run) {
            Some(holds) if holds.term <= at.term => Position::new(holds.term, at.index),
            _ => self.end_before(self.runs[..run].partition_point(|run| run.term <= at.term)),
        }
    }

    /// The runs of the entries kept, from the first after the base on, each `(term, count of entries)`.
    pub fn runs(&self) -> impl ExactSizeIterator<Item = (u64, u64)> {
        let mut before = self.base.index;
        self.runs.iter().map(move |run| {
            let count = run.last - before;
            before = run.last;
            (run.term, count)
        })
    }

    /// Which run holds `index`, which is after the base; their number when it is beyond the end.
    fn run_of(&self, index: u64) -> usize {
        // Mostly it is asked about the end.
        if let Some((newest, older)) = self.runs.split_last()
            && older.last().is_none_or(|before| index > before.last)
        {
            return older.len() + usize::from(index > newest.last);
        }
        self.runs.partition_point(|run| run.last < index)
    }

    /// The last position before the run at `place`.
    fn end_before(&self, place: usize) -> Position {
        place
            .checked_sub(1)
            .and_then(|before| self.runs.get(before))
            .map_or(self.base, |run| Position::new(run.term, run.last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
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
            (
                ShapeError::NoSuchBase(Position::new(3, 0)),
                "term 3, index 0, which names no entry",
            ),
        ] {
            assert!(error.to_string().contains(told), "{error}");
        }
    }

    #[test]
    fn a_base_is_an_entry_or_the_start() {
        for base in [Position::new(3, 0), Position::new(0, 3)] {
            assert_eq!(
                Shape::from_parts(base, []),
                Err(ShapeError::NoSuchBase(base))
            );
        }
        let base = Position::new(3, 7);
        assert_eq!(Shape::from_parts(base, []), Ok(Shape::after(base)));
        assert_eq!(
            Shape::from_parts(base, [(2, 1)]),
            Err(ShapeError::TermFell { from: 3, to: 2 })
        );
        assert_eq!(Shape::from_parts(Position::START, []), Ok(Shape::new()));
    }

    #[test]
    fn a_log_as_long_as_can_be_overflows_nowhere() {
        const END: u64 = u64::MAX;
        let mut log = Shape::from_runs([(1, END - 1), (END, 1)]).unwrap();
        assert_eq!(log.last(), Position::new(END, END));
        assert_eq!(
            (log.term_at(END - 1), log.term_at(END)),
            (Some(1), Some(END))
        );
        assert_eq!(log.run_after(0), Some((1, END - 1)));
        assert_eq!(log.run_after(END - 1), Some((END, 1)));
        assert_eq!(log.run_after(END), None);
        assert_eq!(log.hint(log.last()), log.last());
        assert_eq!(
            log.hint(Position::new(END - 1, END)),
            Position::new(1, END - 1)
        );
        assert_eq!(log.append(END, 0), Ok(()));
        assert_eq!(log.append(END, 1), Err(ShapeError::TooLong));
        log.truncate(END);
        assert_eq!(log.runs().collect::<Vec<_>>(), [(1, END - 1), (END, 1)]);
        log.compact(END);
        assert_eq!(
            (log.base(), log.last()),
            (Position::new(END, END), log.base())
        );
        assert_eq!(log.append(END, 1), Err(ShapeError::TooLong));
        assert_eq!(log.term_at(END), Some(END));
        assert_eq!(log.run_after(END), None);
        assert_eq!(
            Shape::from_parts(Position::new(1, END), [(1, 1)]),
            Err(ShapeError::TooLong)
        );
    }

    #[test]
    fn compaction_may_cut_a_run() {
        let mut log = Shape::from_runs([(1, 2), (2, 5), (4, 1)]).unwrap();
        log.compact(4);
        assert_eq!(log.base(), Position::new(2, 4));
        assert_eq!(log.runs().collect::<Vec<_>>(), [(2, 3), (4, 1)]);
        // Below the base there is nothing to compact or to truncate, and nothing to be told.
        let before = log.clone();
        log.compact(3);
        assert_eq!(log, before);
        assert_eq!((log.term_at(3), log.run_after(3)), (None, None));
        assert!(!log.contains(Position::new(2, 3)));
        assert!(!log.contains(Position::START));
        assert_eq!(log.hint(Position::new(1, 2)), log.base());
        log.truncate(0);
        assert_eq!(log, Shape::after(Position::new(2, 4)));
        assert_eq!(log.last(), log.base());
        log.reset(Position::new(7, 70));
        assert_eq!(log, Shape::after(Position::new(7, 70)));
    }

    /// What a log does to itself.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        /// So many entries, of a term so much higher.
        Append(u64, u64),
        Truncate(u64),
        Compact(u64),
        /// To a base so much higher.
        Reset(u64, u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => (0u64..3, 0u64..5).prop_map(|(rise, count)| Step::Append(rise, count)),
            1 => (0u64..20).prop_map(Step::Truncate),
            1 => (0u64..20).prop_map(Step::Compact),
            1 => (1u64..3, 1u64..6).prop_map(|(rise, count)| Step::Reset(rise, count)),
        ]
    }

    /// A log as a list of all its positions, the base first.
    struct Plain(Vec<Position>);

    impl Plain {
        fn last(&self) -> Position {
            *self.0.last().unwrap()
        }

        fn take(&mut self, step: Step) {
            match step {
                Step::Append(rise, count) => {
                    let Position { term, index } = self.last();
                    // Entries of term 0 do not exist.
                    let term = (term + rise).max(1);
                    self.0
                        .extend((1..=count).map(|n| Position::new(term, index + n)));
                }
                Step::Truncate(index) => {
                    let base = self.0[0].index;
                    self.0.retain(|at| at.index <= index.max(base));
                }
                Step::Compact(index) => {
                    let last = self.last().index;
                    self.0.retain(|at| at.index >= index.min(last));
                }
                Step::Reset(rise, count) => {
                    let Position { term, index } = self.last();
                    self.0 = vec![Position::new(term + rise, index + count)];
                }
            }
        }

        fn at(&self, index: u64) -> Option<Position> {
            self.0.iter().copied().find(|at| at.index == index)
        }

        fn run_after(&self, index: u64) -> Option<(u64, u64)> {
            self.at(index)?;
            let term = self.at(index + 1)?.term;
            let run = |at: &&Position| at.index > index && at.term == term;
            Some((term, self.0.iter().filter(run).count() as u64))
        }

        fn hint(&self, at: Position) -> Position {
            let can = |mine: &&Position| mine.index <= at.index && mine.term <= at.term;
            *self.0.iter().rev().find(can).unwrap_or(&self.0[0])
        }
    }

    proptest! {
        /// The run-length code says the same as a plain list, whatever was appended, cut off and compacted.
        #[test]
        fn agrees_with_a_plain_list(steps in prop::collection::vec(step(), 0..20)) {
            let mut shape = Shape::new();
            let mut plain = Plain(vec![Position::START]);
            for step in steps {
                match step {
                    Step::Append(rise, count) => {
                        shape.append((shape.last().term + rise).max(1), count).unwrap();
                    }
                    Step::Truncate(index) => shape.truncate(index),
                    Step::Compact(index) => shape.compact(index),
                    Step::Reset(rise, count) => {
                        let Position { term, index } = shape.last();
                        shape.reset(Position::new(term + rise, index + count));
                    }
                }
                plain.take(step);

                prop_assert_eq!(shape.base(), plain.0[0]);
                prop_assert_eq!(shape.last(), plain.last());
                prop_assert_eq!(shape.is_empty(), plain.0.len() == 1);
                let Position { term: last_term, index: last } = plain.last();
                for index in 0..last + 3 {
                    let entry = plain.at(index).filter(|at| *at != Position::START);
                    prop_assert_eq!(shape.term_at(index), entry.map(|at| at.term));
                    prop_assert_eq!(shape.run_after(index), plain.run_after(index));
                    for term in 0..last_term + 2 {
                        let at = Position::new(term, index);
                        prop_assert_eq!(shape.contains(at), plain.0.contains(&at), "{:?}", at);
                        prop_assert_eq!(shape.hint(at), plain.hint(at), "{:?}", at);
                    }
                }
                prop_assert!(shape.runs.windows(2).all(|w| w[0].term < w[1].term && w[0].last < w[1].last));
                prop_assert_eq!(shape.runs().len(), shape.runs.len());
                let again = Shape::from_parts(shape.base(), shape.runs());
                prop_assert_eq!(again.as_ref(), Ok(&shape));
            }
        }
    }
}
