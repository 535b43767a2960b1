//! Every job that falls due is done (T4 to T6): none is skipped, and while the world is whole an
//! established leader makes up for those that were missed, each within the bound.
//!
//! The bound is for the next job. It begins anew with every job that is done, with every leader, when somebody asks one to
//! resign or another to campaign, and when the last fault is healed: how long all that was missed takes depends on how much
//! it is.

use super::Tally;

/// Follows the jobs of one resource.
#[derive(Clone, Debug)]
pub(super) struct JobsLost {
    within: u64,
    due: u64,
    done: u64,
    whole: bool,
    /// Since when the next job is waited for, while that is being judged.
    waiting_since: Option<u64>,
    tally: Tally,
}

impl JobsLost {
    pub(super) fn new(within: u64) -> Self {
        Self {
            within,
            due: 0,
            done: 0,
            whole: true,
            waiting_since: None,
            tally: Tally::default(),
        }
    }

    /// A job fell due.
    pub(super) fn fell_due(&mut self, now: u64, job: u64) -> bool {
        let broken = self.advance(now);
        self.due = self.due.max(job);
        if self.done + 1 == job {
            self.wait_from(now);
        }
        broken
    }

    /// The effect of a job was taken: those before it that were not done never will be.
    pub(super) fn done(&mut self, now: u64, job: u64) -> bool {
        let mut broken = self.advance(now);
        while self.done < job {
            self.done += 1;
            broken |= self.tally.note(now, self.done < job);
            self.wait_from(now);
        }
        broken
    }

    /// A leader was established, or somebody asked for another: what was waited for so far says nothing.
    pub(super) fn begins_anew(&mut self, now: u64) -> bool {
        let broken = self.advance(now);
        self.wait_from(now);
        broken
    }

    /// The last fault was healed, or the first one struck.
    pub(super) fn whole(&mut self, now: u64, whole: bool) -> bool {
        let broken = self.advance(now);
        self.whole = whole;
        self.wait_from(now);
        broken
    }

    /// When the bound is over, while a job is waited for.
    pub(super) fn bound(&self) -> Option<u64> {
        self.waiting_since
            .map(|since| since.saturating_add(self.within))
    }

    pub(super) fn advance(&mut self, now: u64) -> bool {
        let Some(bound) = self.bound().filter(|bound| *bound < now) else {
            return false;
        };
        self.waiting_since = None;
        self.tally.note(bound, true)
    }

    pub(super) const fn tally(&self) -> Tally {
        self.tally
    }

    fn wait_from(&mut self, now: u64) {
        self.waiting_since = Some(now).filter(|_| self.whole && self.done < self.due);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_is_skipped_is_lost() {
        let mut check = JobsLost::new(100);
        for job in 1..=4 {
            check.fell_due(10 * job, job);
        }
        assert!(
            !check.done(41, 1) && !check.done(42, 1),
            "once more is no matter here"
        );
        assert!(check.done(43, 4), "2 and 3 are lost");
        assert_eq!(
            check.tally(),
            Tally {
                exercised: 4,
                broken: 2,
                first_broken_at: Some(43)
            }
        );
    }

    #[test]
    fn a_job_that_is_never_done_is_lost_at_the_bound() {
        let mut check = JobsLost::new(100);
        assert_eq!(check.bound(), None);
        check.fell_due(10, 1);
        check.fell_due(60, 2);
        assert!(!check.advance(110) && check.advance(111));
        assert_eq!(
            (check.bound(), check.tally().first_broken_at),
            (None, Some(110))
        );
    }

    #[test]
    fn the_bound_is_for_each_of_many_and_begins_anew_with_a_leader_and_a_healing() {
        let mut check = JobsLost::new(100);
        check.whole(5, false);
        check.fell_due(10, 1);
        check.fell_due(20, 2);
        assert_eq!(check.bound(), None, "faults may keep it from being done");
        check.whole(500, true);
        assert_eq!(check.bound(), Some(600));
        check.begins_anew(590);
        assert_eq!(check.bound(), Some(690));
        assert!(!check.done(690, 1));
        assert_eq!(check.bound(), Some(790));
        assert!(!check.done(700, 2));
        assert_eq!((check.bound(), check.tally().exercised), (None, 2));
    }
}
