//! INV-L3: one sequence of committed entries for the whole group. Every node applies the next of them, and its state as of
//! an entry is that of every other.

use super::Tally;
use crate::sorted::Sorted;
use tenure::log::Position;

/// How many entries and states are remembered, and up to a quarter more: the lowest are forgotten first.
const KEPT: usize = 1 << 16;

/// What was applied first at each index, and where each node is.
#[derive(Clone, Debug)]
pub(super) struct Agreement {
    /// By index: term and payload.
    entries: Sorted<u64, (u64, u64)>,
    /// By index: the state.
    states: Sorted<u64, u64>,
    /// By node: the last entry it applied.
    at: Vec<u64>,
    pub(super) tally: Tally,
}

impl Agreement {
    pub(super) fn new(nodes: usize) -> Self {
        Self {
            entries: Sorted::default(),
            states: Sorted::default(),
            at: vec![0; nodes],
            tally: Tally::default(),
        }
    }

    /// A node applied an entry. Whether it is another than the next, or than another node applied there.
    pub(super) fn applied(&mut self, now: u64, node: usize, at: Position, print: u64) -> bool {
        let next = std::mem::replace(&mut self.at[node], at.index) + 1;
        let what = (at.term, print);
        let known = *self.entries.keep(at.index, what);
        self.entries.keep_last(KEPT);
        self.tally.note(now, known != what || at.index != next)
    }

    /// A node knows that an entry is committed; `differs` when another is, in its place.
    pub(super) fn committed(&mut self, now: u64, differs: bool) -> bool {
        differs && self.tally.note(now, true)
    }

    /// A node begins again as of an entry, with a state that it had.
    pub(super) fn restarted(&mut self, node: usize, at: Position, state: u64) {
        self.at[node] = at.index;
        if at.index > 0 {
            self.states.keep(at.index, state);
        }
    }

    /// A node goes on from the state as of an entry. Whether it is another than there was.
    pub(super) fn installed(&mut self, now: u64, node: usize, at: Position, state: u64) -> bool {
        self.at[node] = at.index;
        self.snapshot(now, at, state)
    }

    /// A node shows its state as of an entry. Whether it is another than there was.
    pub(super) fn snapshot(&mut self, now: u64, at: Position, state: u64) -> bool {
        let known = *self.states.keep(at.index, state);
        self.states.keep_last(KEPT);
        self.tally.note(now, known != state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_applies_the_same_one_after_the_other() {
        let at = Position::new;
        let mut check = Agreement::new(3);
        assert!(!check.applied(1, 0, at(1, 1), 5) && !check.applied(1, 0, at(1, 2), 6));
        assert!(!check.applied(2, 1, at(1, 1), 5));
        assert!(check.applied(3, 1, at(2, 2), 6), "of another term");
        assert!(check.applied(4, 2, at(1, 2), 6), "one was left out");
        check.restarted(2, Position::START, 0);
        assert!(check.applied(5, 2, at(1, 1), 4), "another payload");
        assert_eq!((check.tally.exercised, check.tally.broken), (6, 3));
    }

    #[test]
    fn the_state_as_of_an_entry_is_the_same_everywhere() {
        let at = Position::new(2, 9);
        let mut check = Agreement::new(3);
        assert!(!check.snapshot(1, at, 77) && !check.installed(2, 1, at, 77));
        assert!(!check.applied(3, 1, Position::new(2, 10), 1));
        assert!(check.installed(4, 2, at, 78));
        assert!(check.committed(5, true) && !check.committed(6, false));
    }
}
