//! INV-S1: in true time, the intervals in which two nodes believe to lead do not meet.
//!
//! Belief ends by itself at an instant that is known beforehand, without anything happening then. So the ends are kept,
//! and the overlap is summed exactly, to the microsecond.

use super::Tally;

/// Who believes, and until when.
#[derive(Clone, Debug)]
pub(super) struct BelievedLeaders {
    /// By node: when its belief ends; 0 when it has none.
    until: Vec<u64>,
    count: usize,
    /// Up to when time was accounted for.
    accounted: u64,
    overlap: u64,
    last: Option<usize>,
    tally: Tally,
}

impl BelievedLeaders {
    pub(super) fn new(nodes: usize) -> Self {
        Self {
            until: vec![0; nodes],
            count: 0,
            accounted: 0,
            overlap: 0,
            last: None,
            tally: Tally::default(),
        }
    }

    /// Put to the test whenever another node than the last begins to believe.
    pub(super) fn believes(&mut self, now: u64, node: usize, until: u64) -> bool {
        self.advance(now);
        let Some(slot) = self.until.get_mut(node) else {
            return false;
        };
        let begins = *slot == 0 && until > now;
        self.count = self.count + usize::from(begins) - usize::from(*slot != 0 && until <= now);
        *slot = if until > now { until } else { 0 };
        let another = begins && self.last.is_some_and(|last| last != node);
        if begins {
            self.last = Some(node);
        }
        another && self.tally.note(now, self.count > 1)
    }

    /// Accounts for the time up to `now`, ending each belief at its own instant.
    pub(super) fn advance(&mut self, now: u64) {
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
        }
    }

    pub(super) const fn count(&self) -> usize {
        self.count
    }

    pub(super) const fn overlap(&self) -> u64 {
        self.overlap
    }

    pub(super) const fn tally(&self) -> Tally {
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
}
