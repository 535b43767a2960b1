//! A log as the judges keep it: which term wrote which index, as runs. Their own, for the protocol's may be what is wrong.

use tenure::log::Position;

/// A log after what was compacted away.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Runs {
    /// Up to here the log is a snapshot.
    base: u64,
    base_term: u64,
    /// The terms, each with the index of its last entry, in order.
    runs: Vec<(u64, u64)>,
}

impl Runs {
    /// Up to here nothing is known but that it is there.
    pub(super) const fn base(&self) -> u64 {
        self.base
    }

    pub(super) fn last(&self) -> u64 {
        self.runs.last().map_or(self.base, |(_, last)| *last)
    }

    pub(super) fn last_term(&self) -> u64 {
        self.runs.last().map_or(self.base_term, |(term, _)| *term)
    }

    /// The term of an entry that is there, or of the last one compacted away.
    pub(super) fn term_at(&self, index: u64) -> Option<u64> {
        if index == self.base {
            return Some(self.base_term);
        }
        let after = self.runs.partition_point(|(_, last)| *last < index);
        let run = self.runs.get(after).filter(|_| index > self.base)?;
        Some(run.0)
    }

    /// Whether it has this entry, perhaps in its snapshot: of what is in there only the index is known.
    pub(super) fn has(&self, index: u64, term: u64) -> bool {
        index < self.base || self.term_at(index) == Some(term)
    }

    /// What comes after `index` is gone, and these entries are there instead.
    pub(super) fn put(&mut self, index: u64, term: u64, count: u64) {
        let keep = self.runs.partition_point(|(_, last)| *last <= index);
        let cut = self.runs.get(keep).map(|(term, _)| *term);
        self.runs.truncate(keep);
        if let Some(cut) = cut.filter(|_| index > self.last()) {
            self.runs.push((cut, index));
        }
        if count == 0 {
            return;
        }
        match self.runs.last_mut() {
            Some((same, last)) if *same == term => *last += count,
            _ => self.runs.push((term, index + count)),
        }
    }

    /// The log is what comes after this entry; nothing, when it does not have it.
    pub(super) fn begin_after(&mut self, at: Position) {
        if self.has(at.index, at.term) {
            self.runs.retain(|(_, last)| *last > at.index);
        } else {
            self.runs.clear();
        }
        (self.base, self.base_term) = (at.index, at.term);
    }

    /// Each run of entries after `index`, as far as they are there: term, and last index.
    pub(super) fn after(&self, index: u64) -> impl Iterator<Item = (u64, u64)> {
        let runs = self.runs.iter().copied();
        runs.filter(move |(_, last)| *last > index)
    }
}

#[cfg(test)]
impl Runs {
    /// A log of such runs: term, and how many entries.
    pub(super) fn of(entries: &[(u64, u64)]) -> Self {
        let mut runs = Self::default();
        for (term, count) in entries {
            runs.put(runs.last(), *term, *count);
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(runs: &Runs) -> Vec<u64> {
        let all = runs.base + 1..=runs.last();
        all.filter_map(|index| runs.term_at(index)).collect()
    }

    #[test]
    fn what_is_put_takes_the_place_of_what_came_after() {
        let mut runs = Runs::of(&[(1, 3), (2, 2)]);
        assert_eq!(terms(&runs), [1, 1, 1, 2, 2]);
        runs.put(1, 1, 1);
        assert_eq!((terms(&runs), runs.last_term()), (vec![1, 1], 1));
        runs.put(1, 4, 2);
        assert_eq!(terms(&runs), [1, 4, 4]);
        runs.put(0, 0, 0);
        assert_eq!((runs.last(), runs.last_term()), (0, 0));
    }

    #[test]
    fn of_a_snapshot_the_index_is_known_and_the_term_of_its_last_entry() {
        let mut runs = Runs::of(&[(1, 3), (2, 2)]);
        runs.begin_after(Position::new(2, 4));
        assert_eq!(
            (runs.last(), runs.term_at(4), runs.term_at(3)),
            (5, Some(2), None)
        );
        assert!(runs.has(3, 7) && runs.has(4, 2) && !runs.has(4, 1) && !runs.has(6, 2));
        runs.begin_after(Position::new(9, 8));
        assert_eq!((runs.last(), runs.last_term()), (8, 9));
        runs.put(8, 9, 1);
        assert_eq!(terms(&runs), [9]);
        assert_eq!(runs.after(8).collect::<Vec<_>>(), [(9, 9)]);
    }
}
