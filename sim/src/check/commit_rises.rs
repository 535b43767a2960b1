//! INV-L5: the commit index of a node never falls while it runs, and a leader moves it only over an entry of its own term.

use super::Tally;
use super::logs::Ghost;

/// Follows the commit indices.
#[derive(Clone, Debug)]
pub(super) struct CommitRises {
    /// By node.
    at: Vec<u64>,
    pub(super) tally: Tally,
}

impl CommitRises {
    pub(super) fn new(nodes: usize) -> Self {
        Self {
            at: vec![0; nodes],
            tally: Tally::default(),
        }
    }

    /// A node starts again, and knows of nothing beyond its snapshot.
    pub(super) fn restarted(&mut self, node: usize) {
        self.at[node] = 0;
    }

    /// A node takes its log for committed up to an index; `leads` in which term it leads, if it does. Whether that fell, or
    /// ends with an entry of another leader, where one may not commit by itself what it `inherits`.
    pub(super) fn committed(
        &mut self,
        now: u64,
        ghost: &Ghost,
        node: usize,
        index: u64,
        leads: Option<u64>,
        inherits: bool,
    ) -> bool {
        let fell = std::mem::replace(&mut self.at[node], index) > index;
        let foreign = leads.is_some_and(|term| !inherits && !ghost.logs[node].has(index, term));
        (fell || leads.is_some()) && self.tally.note(now, fell || foreign)
    }
}

#[cfg(test)]
mod tests {
    use super::super::runs::Runs;
    use super::*;

    #[test]
    fn it_rises_and_a_leader_moves_it_over_its_own_entries_alone() {
        let logs = [Runs::of(&[(1, 4), (3, 2)])];
        let ghost = Ghost::of(logs, Default::default(), Runs::default());
        let mut check = CommitRises::new(1);
        let mut committed = |index, leads| check.committed(9, &ghost, 0, index, leads, false);
        assert!(!committed(3, None) && committed(2, None));
        assert!(committed(4, Some(3)) && !committed(5, Some(3)));
        check.restarted(0);
        assert!(!check.committed(9, &ghost, 0, 1, None, false));
        assert_eq!((check.tally.exercised, check.tally.broken), (3, 2));
    }
}
