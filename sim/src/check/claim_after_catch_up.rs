//! KC-ClaimAfterCatchup: who may act in a term has applied an entry of it, and so everything before.

use super::Tally;

/// Follows the terms of what nodes applied.
#[derive(Clone, Debug)]
pub(super) struct ClaimAfterCatchUp {
    /// By node: the term of the last entry that it applied.
    applied: Vec<u64>,
    pub(super) tally: Tally,
}

impl ClaimAfterCatchUp {
    pub(super) fn new(nodes: usize) -> Self {
        Self {
            applied: vec![0; nodes],
            tally: Tally::default(),
        }
    }

    /// The state of a node is as of an entry of this term.
    pub(super) fn is_at(&mut self, node: usize, term: u64) {
        self.applied[node] = term;
    }

    /// A node may act in a term. Whether it has applied nothing of it.
    pub(super) fn established(&mut self, now: u64, node: usize, term: u64) -> bool {
        let behind = self.applied[node] < term;
        self.tally.note(now, behind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_acts_on_an_old_state_is_found() {
        let mut check = ClaimAfterCatchUp::new(2);
        check.is_at(0, 2);
        assert!(!check.established(1, 0, 2) && check.established(2, 0, 3));
        assert!(check.established(3, 1, 1));
        assert_eq!((check.tally.exercised, check.tally.broken), (3, 2));
    }
}
