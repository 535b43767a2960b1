//! INV-S1 for the work itself: two nodes never work at one job at the same instant of true time.
//!
//! A leader asks its standing before it begins, and stops where its tenure ends: the work of a lease-holder then lies within
//! its tenure, and tenures do not meet. A process that is frozen does not work.

use super::Tally;

/// Who works at what.
#[derive(Clone, Debug)]
pub(super) struct JobsConcurrent {
    /// By node: the job it works at; 0 when it works at none.
    at: Vec<u64>,
    /// The job that was begun last, and by whom.
    last: (u64, usize),
    tally: Tally,
}

impl JobsConcurrent {
    pub(super) fn new(nodes: usize) -> Self {
        Self {
            at: vec![0; nodes],
            last: (0, 0),
            tally: Tally::default(),
        }
    }

    /// Put to the test whenever a node begins, or goes on, to work at a job that another began last, or is at.
    pub(super) fn works(&mut self, now: u64, node: usize, job: u64) -> bool {
        let Some(slot) = self.at.get_mut(node) else {
            return false;
        };
        *slot = job;
        if job == 0 {
            return false;
        }
        let others = || (0..self.at.len()).filter(|other| *other != node);
        let meets = others().any(|other| self.at[other] == job);
        let (last, by) = self.last;
        self.last = (job, node);
        (meets || (last == job && by != node)) && self.tally.note(now, meets)
    }

    pub(super) const fn tally(&self) -> Tally {
        self.tally
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_at_one_job_break_it_and_one_after_the_other_tests_it() {
        let mut check = JobsConcurrent::new(3);
        assert!(!check.works(1, 0, 5));
        assert!(!check.works(2, 1, 6), "another job");
        check.works(3, 1, 0);
        check.works(4, 0, 0);
        assert!(!check.works(5, 0, 6) && check.tally().exercised == 1);
        assert!(check.works(6, 2, 6));
        assert_eq!(
            check.tally(),
            Tally {
                exercised: 2,
                broken: 1,
                first_broken_at: Some(6)
            }
        );
    }

    #[test]
    fn one_that_is_frozen_does_not_work_and_one_that_goes_on_does() {
        let mut check = JobsConcurrent::new(2);
        check.works(1, 0, 5);
        check.works(2, 0, 0);
        assert!(!check.works(3, 1, 5));
        assert!(check.works(4, 0, 5), "it wakes beside the other");
    }
}
