//! A resource that leaders write: one kind keeps a fence, the other takes whatever comes.

use crate::jobs::{Denied, Table};
use tenure::Token;
use tenure::fence::{ElectionId, Fence, Pass, Refused};

/// The election that the resources of a world are guarded for.
pub const ELECTION: ElectionId = ElectionId(1);

/// One guarded or unguarded counter.
#[derive(Clone, Debug)]
pub struct Resource {
    /// `None`: nothing is checked.
    guard: Option<Fence>,
    value: u64,
    last_writer: Option<u16>,
    accepted: u64,
    refused: u64,
    /// The highest token shown here, by the resource's own account: an unguarded one notes it and does nothing about it.
    highest: Token,
    jobs: Table,
}

impl Resource {
    /// A new resource, fenced or not.
    #[must_use]
    pub fn new(fenced: bool) -> Self {
        let guard = fenced.then(|| Fence::unused(ELECTION));
        Self {
            guard,
            value: 0,
            last_writer: None,
            accepted: 0,
            refused: 0,
            highest: Token::NONE,
            jobs: Table::default(),
        }
    }

    /// Shuts out everybody below the token.
    ///
    /// # Errors
    /// When a guard refuses.
    pub fn fence(&mut self, pass: &Pass) -> Result<(), Refused> {
        self.highest = match &mut self.guard {
            Some(guard) => guard.fence(pass)?.highest,
            None => self.highest.max(pass.token),
        };
        Ok(())
    }

    /// Reads the value. Reading needs no token: this is what makes "read, then fence" wrong (LS-F5).
    #[must_use]
    pub const fn read(&self) -> u64 {
        self.value
    }

    /// Writes a value.
    ///
    /// # Errors
    /// When a guard refuses.
    pub fn write(&mut self, pass: &Pass, writer: u16, value: u64) -> Result<(), Refused> {
        self.admit(pass).inspect_err(|_| self.refused += 1)?;
        self.value = value;
        self.last_writer = Some(writer);
        self.accepted += 1;
        Ok(())
    }

    /// Gives a job to whoever shows the pass, if its owner is as named (by the counter of its token, or 0).
    ///
    /// # Errors
    /// When a guard refuses, or the table does.
    pub fn claim(&mut self, pass: &Pass, job: u64, from: u64) -> Result<(), u64> {
        self.admit(pass).map_err(refusal_code)?;
        self.jobs
            .claim(job, from, pass.token.counter)
            .map_err(|denied| match denied {
                Denied::Done => JOB_DONE,
                Denied::OwnedByAnother => JOB_OWNED,
            })
    }

    /// Takes the effect of a job, and that it is done. Whether it was done before.
    ///
    /// # Errors
    /// When a guard refuses.
    pub fn finish(&mut self, pass: &Pass, job: u64) -> Result<bool, Refused> {
        self.admit(pass)?;
        Ok(self.jobs.finish(job))
    }

    /// How far the jobs are.
    #[must_use]
    pub const fn jobs(&self) -> &Table {
        &self.jobs
    }

    /// What is stored with an effect, in one step: the simulated resource never crashes.
    fn admit(&mut self, pass: &Pass) -> Result<(), Refused> {
        self.highest = match &mut self.guard {
            Some(guard) => guard.admit(pass)?.highest,
            None => self.highest.max(pass.token),
        };
        Ok(())
    }

    /// Whether it keeps a fence.
    #[must_use]
    pub const fn fenced(&self) -> bool {
        self.guard.is_some()
    }

    /// The value.
    #[must_use]
    pub const fn value(&self) -> u64 {
        self.value
    }

    /// Who wrote last.
    #[must_use]
    pub const fn last_writer(&self) -> Option<u16> {
        self.last_writer
    }

    /// How many writes were accepted.
    #[must_use]
    pub const fn accepted(&self) -> u64 {
        self.accepted
    }

    /// How many writes were refused.
    #[must_use]
    pub const fn refused(&self) -> u64 {
        self.refused
    }

    /// How many of the writes it accepted are lost: each raised the value by one, unless another overwrote it.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.accepted.saturating_sub(self.value)
    }

    /// The highest token shown with a fence or a write.
    #[must_use]
    pub const fn highest(&self) -> Token {
        self.highest
    }
}

/// The code of a refusal in the trace: the job is done.
pub const JOB_DONE: u64 = 6;
/// The code of a refusal in the trace: the job has another owner.
pub const JOB_OWNED: u64 = 7;
/// The code of a refusal in the trace: the store keeps nothing of a leader whose epoch is not the stored one.
pub const EPOCH_MOVED: u64 = 8;

/// The code of a guard's refusal in the trace.
#[must_use]
pub const fn refusal_code(refused: Refused) -> u64 {
    match refused {
        Refused::Stale { .. } => 0,
        Refused::Conflict { .. } => 1,
        Refused::NeverIssued => 2,
        Refused::WrongElection { .. } => 3,
        Refused::Closed => 4,
        _ => 5,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use tenure::NodeId;
    use tenure::fence::Holder;

    pub(crate) fn pass(counter: u64) -> Pass {
        Pass {
            election: ELECTION,
            token: Token::new(0, counter),
            holder: Holder {
                node: NodeId(counter),
                incarnation: 1,
            },
        }
    }

    #[test]
    fn only_the_fenced_one_shuts_the_old_leader_out() {
        let mut fenced = Resource::new(true);
        let mut open = Resource::new(false);
        for resource in [&mut fenced, &mut open] {
            resource.write(&pass(5), 0, 1).unwrap();
            resource.fence(&pass(6)).unwrap();
        }
        assert!(matches!(
            fenced.write(&pass(5), 0, 2),
            Err(Refused::Stale { .. })
        ));
        assert_eq!(open.write(&pass(5), 0, 2), Ok(()));
        assert_eq!((fenced.value(), open.value()), (1, 2));
        assert_eq!(
            (fenced.refused(), open.refused(), fenced.highest()),
            (1, 0, Token::new(0, 6))
        );
    }

    #[test]
    fn a_job_is_guarded_like_a_write() {
        let mut fenced = Resource::new(true);
        let mut open = Resource::new(false);
        for resource in [&mut fenced, &mut open] {
            resource.claim(&pass(5), 1, 0).unwrap();
            resource.fence(&pass(6)).unwrap();
            assert_eq!(resource.claim(&pass(6), 1, 0), Err(JOB_OWNED));
            resource.claim(&pass(6), 1, 5).unwrap();
            assert_eq!(resource.finish(&pass(6), 1), Ok(false));
        }
        assert!(fenced.finish(&pass(5), 1).is_err());
        assert_eq!(open.finish(&pass(5), 1), Ok(true), "taken twice");
        assert_eq!((fenced.jobs().effects(), open.jobs().effects()), (1, 2));
    }

    #[test]
    fn an_overwritten_write_is_lost() {
        let mut open = Resource::new(false);
        for value in [1, 2, 2, 3] {
            open.write(&pass(5), 0, value).unwrap();
        }
        assert_eq!((open.accepted(), open.lost()), (4, 1));
    }

    #[test]
    fn a_read_does_not_fence() {
        let mut fenced = Resource::new(true);
        fenced.write(&pass(5), 0, 1).unwrap();
        assert_eq!(fenced.read(), 1);
        assert_eq!(fenced.write(&pass(5), 0, 2), Ok(()));
    }
}
