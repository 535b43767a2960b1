//! INV-F4: what is accepted under a token takes effect once. Here: no resource takes the effect of a job twice.
//!
//! Put to the test by every effect that arrives, taken or not, of a job that was begun more than once or taken before.

use super::Tally;
use crate::app::RESOURCES;

/// How often a job was begun is counted up to two.
const BEGUN: u8 = 0b11;

/// What became of each job.
#[derive(Clone, Debug, Default)]
pub(super) struct JobsTwice {
    /// By job: how often it was begun, and from the third bit on the resources that took its effect.
    jobs: Vec<u8>,
    tallies: [Tally; RESOURCES],
}

impl JobsTwice {
    /// Somebody began to work at a job.
    pub(super) fn begun(&mut self, job: u64) {
        let job = self.job(job);
        *job |= (*job << 1 | 1) & BEGUN;
    }

    /// The effect of a job reached a resource.
    pub(super) fn finished(&mut self, now: u64, resource: usize, job: u64, taken: bool) -> bool {
        let job = self.job(job);
        let bit = 1 << (resource + 2);
        let again = *job & bit != 0;
        let tested = again || *job & BEGUN == BEGUN;
        if taken {
            *job |= bit;
        }
        let tally = self.tallies.get_mut(resource).filter(|_| tested);
        tally.is_some_and(|tally| tally.note(now, taken && again))
    }

    pub(super) fn tally(&self, resource: usize) -> Tally {
        self.tallies.get(resource).copied().unwrap_or_default()
    }

    fn job(&mut self, job: u64) -> &mut u8 {
        // As many as periods: a run has few enough.
        let place = job as usize;
        if self.jobs.len() <= place {
            self.jobs.resize(place + 1, 0);
        }
        &mut self.jobs[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(exercised: u64, broken: u64) -> Tally {
        Tally {
            exercised,
            broken,
            first_broken_at: (broken > 0).then_some(9),
        }
    }

    #[test]
    fn an_effect_that_is_taken_twice_breaks_it_where_it_is() {
        let mut check = JobsTwice::default();
        check.begun(5);
        assert!(!check.finished(1, 0, 5, true) && !check.finished(1, 1, 5, true));
        assert!(
            !check.finished(9, 0, 5, false),
            "turned away: tested, not broken"
        );
        assert!(check.finished(9, 1, 5, true));
        assert_eq!((check.tally(0), check.tally(1)), (tally(1, 0), tally(1, 1)));
    }

    #[test]
    fn a_job_that_was_begun_twice_puts_it_to_the_test() {
        let mut check = JobsTwice::default();
        check.begun(5);
        check.begun(6);
        check.begun(6);
        check.begun(6);
        assert!(!check.finished(8, 0, 5, true) && !check.finished(8, 0, 6, true));
        assert_eq!(check.tally(0), tally(1, 0));
        assert!(check.finished(9, 0, 6, true));
        assert_eq!(check.tally(0), tally(2, 1));
    }
}
