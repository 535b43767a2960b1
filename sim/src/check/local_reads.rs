//! INV-R5: what is read locally is stale, and its age is bounded: once nothing has been wrong for as long as the bound, no
//! node that takes part shows a state that others had left behind longer ago than that. While something is wrong nothing is
//! promised: a node that is cut off shows what it has. Nor is it of one that is out, which may not know it.

use super::Tally;
use crate::physics::NEVER;
use crate::stats::Times;

/// Follows how old what is read locally is.
#[derive(Clone, Debug)]
pub(super) struct LocalReads {
    within: u64,
    /// By revision, from 1: when the first node had it.
    since: Vec<u64>,
    /// Since when nothing is wrong; [`NEVER`] while something is.
    whole: u64,
    /// By node: when its disk was last seen at what was asked of it while it was slow.
    lagged: Vec<u64>,
    /// By node: since when it takes part; [`NEVER`] while it does not.
    joined: Vec<u64>,
    /// How old each was, whatever was wrong then.
    pub(super) ages: Times,
    pub(super) tally: Tally,
}

impl LocalReads {
    /// Of so many nodes, of which the first ones take part.
    pub(super) fn new(nodes: usize, voters: usize, within: u64) -> Self {
        let joined = (0..nodes).map(|node| if node < voters { 0 } else { NEVER });
        Self {
            within,
            since: Vec::new(),
            whole: 0,
            lagged: vec![0; nodes],
            joined: joined.collect(),
            ages: Times::default(),
            tally: Tally::default(),
        }
    }

    /// A node has all changes up to a revision.
    pub(super) fn reached(&mut self, now: u64, revision: u64) {
        let known = self.since.len();
        self.since.resize(known.max(revision as usize), now);
    }

    /// The last fault was healed, or the first one struck.
    pub(super) fn whole(&mut self, now: u64, whole: bool) {
        self.whole = if whole { now } else { NEVER };
    }

    /// It is committed who takes part.
    pub(super) fn take_part(&mut self, now: u64, does: impl Fn(usize) -> bool) {
        for (node, joined) in self.joined.iter_mut().enumerate() {
            *joined = if does(node) { now.min(*joined) } else { NEVER };
        }
    }

    /// The disk of a node is still at what was asked of it while it was slow.
    pub(super) fn lags(&mut self, now: u64, node: usize) {
        self.lagged[node] = now;
    }

    /// A node shows the state as of a revision. Whether that is too old.
    pub(super) fn read(&mut self, now: u64, node: usize, revision: u64) -> bool {
        let left = self.since.get(revision as usize);
        let age = left.map_or(0, |left| now - left);
        self.ages.add(age);
        let since = self.whole.max(self.joined[node]).max(self.lagged[node]);
        let promised = since.saturating_add(self.within) <= now;
        promised && self.tally.note(now, age > self.within)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_behind_too_long_ago_is_found_while_nothing_is_wrong() {
        let mut check = LocalReads::new(2, 1, 100);
        check.reached(10, 1);
        check.reached(20, 3);
        check.reached(90, 2);
        assert!(!check.read(99, 0, 0), "nothing is promised yet");
        assert!(!check.read(110, 0, 0) && check.read(111, 0, 0));
        assert!(!check.read(120, 0, 1) && check.read(121, 0, 1));
        assert!(!check.read(9_000, 0, 3), "the newest is never stale");
        check.whole(9_000, false);
        assert!(!check.read(9_001, 0, 0));
        check.whole(9_010, true);
        assert!(!check.read(9_109, 0, 0) && check.read(9_110, 0, 0));
        check.take_part(9_200, |_| true);
        assert!(!check.read(9_299, 1, 0), "who is out is promised nothing");
        check.take_part(9_290, |_| true);
        assert!(check.read(9_300, 1, 0));
        check.take_part(9_310, |node| node == 0);
        assert!(!check.read(9_900, 1, 0) && check.read(9_900, 0, 0));
        check.lags(9_950, 0);
        assert!(!check.read(10_049, 0, 0) && check.read(10_050, 0, 0));
        assert_eq!((check.tally.exercised, check.tally.broken), (9, 6));
        assert_eq!(check.ages.quantiles().max, 10_040);
    }
}
