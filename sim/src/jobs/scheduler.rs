//! What one tenure does about the jobs. It forgets everything when the tenure is over: that is the hard deadline of the
//! work too (LS-11). A process that is frozen does not work; what was left is done when it goes on, if it may.

use super::Table;
use crate::app::RESOURCES;
use crate::packet::Packet;
use tenure::fence::Pass;

/// The jobs of one tenure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scheduler {
    /// The job to do next.
    next: u64,
    /// Its owner at each resource as far as is known: the counter of a token, or 0.
    owners: [u64; RESOURCES],
    step: Step,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Waits for the next job to fall due.
    Idle,
    /// Another began the next job: it is taken over first.
    Begun,
    Claiming,
    /// Works until the first, and looks at its tenure at the second, if that is earlier.
    Working(u64, u64),
    /// Is frozen with so much left to work.
    Frozen(u64),
    Finishing,
}

impl Scheduler {
    pub(crate) const fn new() -> Self {
        Self {
            next: 1,
            owners: [0; RESOURCES],
            step: Step::Idle,
        }
    }

    /// A resource told how far its jobs are. The first, which is fenced, has the say which is the next, and whether it has
    /// to be taken over from another than `own`; the other is there to be compared with.
    pub(crate) fn listed(&mut self, resource: usize, done: u64, owner: u64, own: u64) {
        if resource == 0 {
            self.next = done + 1;
            self.step = if owner == 0 || owner == own {
                Step::Idle
            } else {
                Step::Begun
            };
        }
        if let Some(slot) = self.owners.get_mut(resource) {
            *slot = owner;
        }
    }

    /// A mistake, for the tests of the judges: what another owns is passed over.
    pub(crate) fn forget_others(&mut self) {
        if self.owners[0] != 0 {
            self.next += 1;
            self.owners = [0; RESOURCES];
            self.step = Step::Idle;
        }
    }

    /// How to take the next job over, from `owner` at the resource that has the say.
    pub(crate) fn take_over(&mut self, pass: Pass, owner: u64) -> [Packet; RESOURCES] {
        self.owners[0] = owner;
        self.step = Step::Claiming;
        let job = self.next;
        self.owners.map(|from| Packet::Claim { pass, job, from })
    }

    /// The job that was to be taken over is done.
    pub(crate) fn gone(&mut self, job: u64) {
        if job == self.next {
            *self = Self {
                next: job + 1,
                ..Self::new()
            };
        }
    }

    /// Jobs up to this one are due: how to make the next one its own, at each resource.
    pub(crate) fn claim(&mut self, due: u64, pass: Pass) -> Option<[Packet; RESOURCES]> {
        if self.step != Step::Idle || self.next > due {
            return None;
        }
        self.step = Step::Claiming;
        let job = self.next;
        Some(self.owners.map(|from| Packet::Claim { pass, job, from }))
    }

    /// The job is its own, and it works at it until then. False when it asked for no such job.
    pub(crate) fn start(&mut self, job: u64, until: u64) -> bool {
        let starts = self.step == Step::Claiming && job == self.next;
        if starts {
            self.step = Step::Working(until, 0);
        }
        starts
    }

    /// Its tenure is not over before `end`: when to look again, or the work is done by then.
    pub(crate) fn look_at(&mut self, end: u64) -> Option<u64> {
        let Step::Working(until, look) = &mut self.step else {
            return None;
        };
        *look = end.min(*until);
        Some(*look)
    }

    /// Whether it is now that it wanted to look.
    pub(crate) fn looks(&self, now: u64) -> bool {
        matches!(self.step, Step::Working(_, look) if look == now)
    }

    /// The job it works at, frozen or not.
    pub(crate) fn working(&self) -> Option<u64> {
        matches!(self.step, Step::Working(..) | Step::Frozen(_)).then_some(self.next)
    }

    /// The work of a job is done, if it is now.
    pub(crate) fn worked(&mut self, now: u64) -> Option<u64> {
        matches!(self.step, Step::Working(until, _) if until == now).then(|| {
            self.step = Step::Finishing;
            self.next
        })
    }

    /// The effect of a job was taken.
    pub(crate) fn finished(&mut self, job: u64) {
        if self.step == Step::Finishing && job == self.next {
            *self = Self {
                next: job + 1,
                ..Self::new()
            };
        }
    }

    pub(crate) fn freeze(&mut self, now: u64) {
        if let Step::Working(until, _) = self.step {
            self.step = Step::Frozen(until.saturating_sub(now));
        }
    }

    /// Goes on with the job it was frozen in.
    pub(crate) fn thaw(&mut self, now: u64) -> Option<u64> {
        let Step::Frozen(left) = self.step else {
            return None;
        };
        self.step = Step::Working(now.saturating_add(left), 0);
        Some(self.next)
    }
}

/// What a resource tells of its jobs.
pub(crate) fn told(table: &Table) -> (u64, u64) {
    (table.done(), table.owner(table.done() + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::ELECTION;
    use tenure::fence::Holder;
    use tenure::{NodeId, Token};

    fn pass() -> Pass {
        Pass {
            election: ELECTION,
            token: Token::new(0, 9),
            holder: Holder {
                node: NodeId(1),
                incarnation: 1,
            },
        }
    }

    fn claimed(scheduler: &mut Scheduler, due: u64) -> Option<(u64, [u64; RESOURCES])> {
        let claims = scheduler.claim(due, pass())?;
        let Packet::Claim { job, .. } = claims[0] else {
            panic!()
        };
        Some((
            job,
            claims.map(|claim| match claim {
                Packet::Claim { from, .. } => from,
                _ => panic!(),
            }),
        ))
    }

    #[test]
    fn missed_jobs_are_done_in_order_one_at_a_time() {
        let mut scheduler = Scheduler::new();
        for job in 1..=3 {
            assert_eq!(claimed(&mut scheduler, 3).unwrap().0, job);
            assert_eq!(claimed(&mut scheduler, 3), None, "one at a time");
            assert!(!scheduler.start(job + 1, 50) && scheduler.start(job, 50));
            assert_eq!(scheduler.worked(49), None);
            assert_eq!(scheduler.worked(50), Some(job));
            scheduler.finished(job);
        }
        assert_eq!(claimed(&mut scheduler, 3), None, "none is due");
    }

    #[test]
    fn what_another_began_is_taken_over_first_from_whom_the_resource_names() {
        let mut scheduler = Scheduler::new();
        scheduler.listed(0, 6, 4, 9);
        scheduler.listed(1, 7, 3, 9);
        assert_eq!(claimed(&mut scheduler, 8), None);
        let claims = scheduler.take_over(pass(), 5);
        let from = claims.map(|claim| match claim {
            Packet::Claim { job: 7, from, .. } => from,
            other => panic!("{other:?}"),
        });
        assert_eq!(from, [5, 3]);
        let mut gone = scheduler;
        gone.gone(6);
        assert_eq!(claimed(&mut gone, 8), None);
        gone.gone(7);
        assert_eq!(claimed(&mut gone, 8), Some((8, [0; RESOURCES])));
        scheduler.start(7, 50);
        scheduler.worked(50);
        scheduler.finished(7);
        assert_eq!(claimed(&mut scheduler, 8), Some((8, [0; RESOURCES])));
    }

    #[test]
    fn what_is_its_own_already_is_claimed_like_what_is_nobodys() {
        let mut scheduler = Scheduler::new();
        scheduler.listed(0, 6, 9, 9);
        assert_eq!(claimed(&mut scheduler, 8), Some((7, [9, 0])));
    }

    #[test]
    fn it_looks_where_its_tenure_ends_and_where_the_work_does() {
        let mut scheduler = Scheduler::new();
        assert_eq!(scheduler.look_at(30), None);
        claimed(&mut scheduler, 1);
        scheduler.start(1, 50);
        assert_eq!(scheduler.look_at(30), Some(30));
        assert!(scheduler.looks(30) && !scheduler.looks(50));
        assert_eq!(scheduler.look_at(80), Some(50));
        assert!(scheduler.looks(50) && !scheduler.looks(30));
    }

    #[test]
    fn a_frozen_one_does_not_work() {
        let mut scheduler = Scheduler::new();
        claimed(&mut scheduler, 1);
        scheduler.start(1, 50);
        scheduler.freeze(20);
        assert_eq!((scheduler.working(), scheduler.worked(50)), (Some(1), None));
        assert_eq!(scheduler.thaw(500), Some(1));
        assert_eq!(
            (scheduler.worked(530), scheduler.thaw(540)),
            (Some(1), None)
        );
    }
}
