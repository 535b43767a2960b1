//! INV-S1: in true time, the intervals in which two nodes believe to lead do not meet.
//!
//! Belief ends by itself at an instant that is known beforehand, without anything happening then. So the ends are kept,
//! and the overlap is summed exactly, to the microsecond.

use super::Tally;
use super::spans::Spans;

/// Who believes, and until when.
#[derive(Clone, Debug)]
pub(crate) struct BelievedLeaders {
    /// By node: when its belief ends; 0 when it has none.
    until: Vec<u64>,
    count: usize,
    /// Up to when time was accounted for.
    accounted: u64,
    overlap: u64,
    /// When two or more believed.
    spans: Spans,
    last: Option<usize>,
    tally: Tally,
}

impl BelievedLeaders {
    pub(crate) fn new(nodes: usize) -> Self {
        Self {
            until: vec![0; nodes],
            count: 0,
            accounted: 0,
            overlap: 0,
            spans: Spans::default(),
            last: None,
            tally: Tally::default(),
        }
    }

    /// Put to the test whenever another node than the last begins to believe, and broken whenever a node begins to beside
    /// another: only then can the overlap begin to grow.
    pub(crate) fn believes(&mut self, now: u64, node: usize, until: u64) -> bool {
        self.advance(now);
        let Some(slot) = self.until.get_mut(node) else {
            return false;
        };
        let begins = *slot == 0 && until > now;
        self.count = self.count + usize::from(begins) - usize::from(*slot != 0 && until <= now);
        *slot = if until > now { until } else { 0 };
        let meets = self.count > 1;
        self.spans.note(now, meets);
        let another = self.last.is_some_and(|last| last != node);
        if begins {
            self.last = Some(node);
        }
        begins && (another || meets) && self.tally.note(now, meets)
    }

    /// Accounts for the time up to `now`, ending each belief at its own instant.
    pub(crate) fn advance(&mut self, now: u64) {
        while self.accounted < now {
            if self.count == 0 {
                self.accounted = now;
                return;
            }
            let ends = self
                .until
                .iter()
                .copied()
                .filter(|until| *until != 0)
                .min()
                .unwrap_or(now);
            let to = ends.min(now).max(self.accounted);
            if self.count > 1 {
                self.overlap += to - self.accounted;
            }
            self.accounted = to;
            for until in &mut self.until {
                if *until != 0 && *until <= to {
                    *until = 0;
                    self.count -= 1;
                }
            }
            if self.count < 2 {
                self.spans.note(to, false);
            }
        }
    }

    pub(crate) const fn count(&self) -> usize {
        self.count
    }

    /// When two or more believed: beginning and end of each span.
    pub(crate) fn spans(&self) -> &[(u64, u64)] {
        self.spans.list()
    }

    pub(crate) const fn overlap(&self) -> u64 {
        self.overlap
    }

    pub(crate) const fn tally(&self) -> Tally {
        self.tally
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn belief_that_lapses_without_an_event_is_counted_to_the_microsecond() {
        let mut check = BelievedLeaders::new(3);
        assert!(!check.believes(0, 0, 100));
        assert!(check.believes(93, 1, 300), "seven microseconds too early");
        check.believes(250, 1, 400);
        check.advance(1000);
        assert_eq!((check.overlap(), check.count()), (7, 0));
        assert_eq!(
            check.tally(),
            Tally {
                exercised: 1,
                broken: 1,
                first_broken_at: Some(93)
            }
        );
    }

    #[test]
    fn a_belief_that_begins_when_the_other_ends_does_not_meet_it() {
        let mut check = BelievedLeaders::new(2);
        check.believes(0, 0, 100);
        check.believes(100, 1, 200);
        check.advance(500);
        assert_eq!(
            (
                check.overlap(),
                check.tally().broken,
                check.tally().exercised
            ),
            (0, 0, 1)
        );
    }

    #[test]
    fn a_renewal_is_no_new_belief_and_an_early_end_is_heard() {
        let mut check = BelievedLeaders::new(2);
        check.believes(0, 0, 100);
        check.believes(50, 0, 150);
        check.believes(60, 0, 0);
        assert_eq!(check.count(), 0);
        check.believes(61, 1, 200);
        assert_eq!((check.tally().exercised, check.overlap()), (1, 0));
    }

    #[test]
    fn three_at_once_are_counted_once() {
        let mut check = BelievedLeaders::new(3);
        for node in 0..3 {
            check.believes(10, node, 30 + node as u64);
        }
        check.advance(100);
        assert_eq!(
            check.overlap(),
            21,
            "from 10 to 31, when the second belief ends"
        );
    }

    #[test]
    fn one_that_begins_again_beside_another_breaks_it_too() {
        let mut check = BelievedLeaders::new(2);
        check.believes(0, 0, 1000);
        assert!(check.believes(10, 1, 500));
        assert!(!check.believes(20, 1, 0));
        assert!(check.believes(30, 1, 500), "the same node as last");
        check.advance(600);
        assert_eq!((check.overlap(), check.tally().broken), (480, 2));
        assert_eq!(check.spans(), [(10, 20), (30, 500)]);
    }

    #[test]
    fn spans_verdict_and_sum_agree_whatever_happens() {
        let mut random = tenure::random::Random::from_seed(7);
        for _ in 0..200 {
            let mut check = BelievedLeaders::new(4);
            let mut now = 0;
            for _ in 0..random.below(20) {
                now += random.below(30);
                let node = random.below(4) as usize;
                check.believes(
                    now,
                    node,
                    [0, now + random.below(40)][random.below(2) as usize],
                );
            }
            check.advance(now + 100);
            let sum: u64 = check.spans().iter().map(|(begin, end)| end - begin).sum();
            assert_eq!(sum, check.overlap());
            assert!(check.overlap() == 0 || check.tally().broken > 0);
            assert!(check.spans().len() as u64 <= check.tally().broken);
        }
    }
}
