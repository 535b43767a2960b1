//! What was seen first in each term, in bounded memory.

/// How many first sights are kept: 2 MB of them. Beyond it, the oldest half is forgotten.
const KEPT: usize = 1 << 20;
const NOBODY: u16 = u16::MAX;

/// For each term that is kept, whom each of some places saw first.
#[derive(Clone, Debug)]
pub(super) struct Terms {
    places: usize,
    /// In order.
    terms: Vec<u64>,
    /// `first[row * places + place]`, a row for each term.
    first: Vec<u16>,
    /// The highest term that was forgotten.
    forgotten: Option<u64>,
    unknown: u64,
}

/// How a sight compares with the first of its term and place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sight {
    /// It is the first.
    First,
    /// It is the same.
    Same,
    /// It is another.
    Another,
    /// The term was forgotten.
    Unknown,
}

impl Terms {
    pub(super) const fn new(places: usize) -> Self {
        Self {
            places,
            terms: Vec::new(),
            first: Vec::new(),
            forgotten: None,
            unknown: 0,
        }
    }

    pub(super) fn see(&mut self, term: u64, place: usize, whom: usize) -> Sight {
        if self.forgotten.is_some_and(|forgotten| term <= forgotten) || place >= self.places {
            self.unknown += 1;
            return Sight::Unknown;
        }
        let row = self.row(term);
        let first = &mut self.first[row * self.places + place];
        let whom = whom as u16;
        match *first {
            NOBODY => {
                *first = whom;
                Sight::First
            }
            known if known == whom => Sight::Same,
            _ => Sight::Another,
        }
    }

    /// How many sights there were of terms that had been forgotten.
    pub(super) const fn unknown(&self) -> u64 {
        self.unknown
    }

    /// The row of a term, a new one if need be.
    fn row(&mut self, term: u64) -> usize {
        // Nearly always the newest.
        let newest = self.terms.len().wrapping_sub(1);
        if self.terms.get(newest) == Some(&term) {
            return newest;
        }
        if let Ok(row) = self.terms.binary_search(&term) {
            return row;
        }
        if self.first.len() + self.places > KEPT {
            self.forget();
        }
        let row = self.terms.partition_point(|known| *known < term);
        self.terms.insert(row, term);
        // Moved by hand: what the standard library has for it is much code in a browser.
        let (begin, end) = (row * self.places, self.first.len());
        self.first.resize(end + self.places, NOBODY);
        self.first.copy_within(begin..end, begin + self.places);
        self.first[begin..begin + self.places].fill(NOBODY);
        row
    }

    fn forget(&mut self) {
        let rows = self.terms.len().div_ceil(2);
        self.forgotten = self.terms[..rows].last().copied();
        self.terms.copy_within(rows.., 0);
        self.terms.truncate(self.terms.len() - rows);
        self.first.copy_within(rows * self.places.., 0);
        self.first.truncate(self.terms.len() * self.places);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sight_of_each_term_and_place_counts_in_any_order_of_terms() {
        let mut terms = Terms::new(2);
        for (term, place, whom, sight) in [
            (5, 0, 1, Sight::First),
            (5, 1, 2, Sight::First),
            (3, 0, 2, Sight::First),
            (4, 1, 0, Sight::First),
            (5, 0, 1, Sight::Same),
            (3, 0, 1, Sight::Another),
            (3, 1, 1, Sight::First),
            (4, 1, 0, Sight::Same),
            (3, 2, 0, Sight::Unknown),
        ] {
            assert_eq!(terms.see(term, place, whom), sight, "{term} {place} {whom}");
        }
    }

    #[test]
    fn old_terms_are_forgotten_and_then_not_judged() {
        let mut terms = Terms::new(1_001);
        for term in 0..1_000_000 {
            assert_eq!(terms.see(term, 7, 1), Sight::First);
            assert!(terms.first.len() <= KEPT);
        }
        assert_eq!(terms.see(999_900, 7, 2), Sight::Another);
        assert_eq!((terms.see(3, 7, 2), terms.unknown()), (Sight::Unknown, 1));
    }
}
