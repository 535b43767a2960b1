//! INV-L1: two logs that have an entry of one index and term agree up to it.
//!
//! It is enough that an entry of one index and term always comes after the same entry, and carries the same: by that, entry
//! by entry, all before it agree too.

use super::Tally;
use crate::sorted::Sorted;
use tenure::log::Position;

/// How many entries are remembered, and up to a quarter more: the lowest are forgotten first.
const KEPT: usize = 1 << 16;

/// What came before each entry that was ever written, and what it carries.
#[derive(Clone, Debug, Default)]
pub(super) struct LogMatching {
    entries: Sorted<(u64, u64), (u64, u64)>,
    pub(super) tally: Tally,
}

impl LogMatching {
    /// Entries of a term are written after another, with these payloads. Whether one of them is another than before.
    pub(super) fn wrote(
        &mut self,
        now: u64,
        after: Position,
        term: u64,
        prints: impl Iterator<Item = u64>,
    ) -> bool {
        let Position {
            term: mut before,
            mut index,
        } = after;
        let mut differs = false;
        for print in prints {
            index += 1;
            let what = (before, print);
            match self.entries.get(&(index, term)) {
                Some(known) => differs |= self.tally.note(now, *known != what),
                None => self.entries.insert((index, term), what),
            }
            before = term;
        }
        self.entries.keep_last(KEPT);
        differs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_is_one_entry_after_one_other() {
        let mut check = LogMatching::default();
        let mut wrote = |before, index, term, prints: &[u64]| {
            let after = Position::new(before, index);
            check.wrote(7, after, term, prints.iter().copied())
        };
        assert!(!wrote(0, 0, 1, &[5, 6]) && !wrote(1, 2, 3, &[7]));
        // Written again by another; and of another term, at the same place.
        assert!(!wrote(1, 1, 1, &[6]) && !wrote(1, 2, 2, &[8]));
        assert!(wrote(2, 2, 3, &[7]), "it came after another entry");
        assert!(wrote(0, 0, 1, &[4]), "it carried another payload");
        assert_eq!((check.tally.exercised, check.tally.broken), (3, 2));
    }
}
