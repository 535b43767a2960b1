//! The job table of a resource: how far the jobs are, and who owns the next.

/// How far the jobs are. They are done in order: all up to one are, and one of the others may have an owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Table {
    done: u64,
    /// The job that was claimed last, and the counter of its owner's token.
    claim: (u64, u64),
    effects: u64,
}

/// Why a job is not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    /// It is done.
    Done,
    /// Its owner is another than was named.
    OwnedByAnother,
}

impl Table {
    /// Every job up to this one is done.
    #[must_use]
    pub const fn done(&self) -> u64 {
        self.done
    }

    /// How many effects were taken: more than [`done`](Self::done) when one was taken twice.
    #[must_use]
    pub const fn effects(&self) -> u64 {
        self.effects
    }

    /// The owner of a job that is not done, by the counter of its token; 0 when it has none.
    #[must_use]
    pub const fn owner(&self, job: u64) -> u64 {
        let (claimed, owner) = self.claim;
        if claimed == job { owner } else { 0 }
    }

    /// Gives a job to another owner, if the present one is as named.
    ///
    /// # Errors
    /// When it is not.
    pub fn claim(&mut self, job: u64, from: u64, by: u64) -> Result<(), Denied> {
        if job <= self.done {
            return Err(Denied::Done);
        }
        if self.owner(job) != from {
            return Err(Denied::OwnedByAnother);
        }
        self.claim = (job, by);
        Ok(())
    }

    /// Takes the effect of a job and marks it done. Whether it was done before: an effect cannot be taken back.
    pub fn finish(&mut self, job: u64) -> bool {
        let again = job <= self.done;
        self.done = self.done.max(job);
        self.effects += 1;
        again
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_goes_to_whom_its_owner_is_known_to() {
        let (old, new) = (3, 5);
        let mut table = Table::default();
        assert_eq!(table.claim(1, 0, old), Ok(()));
        assert_eq!(table.claim(1, 0, new), Err(Denied::OwnedByAnother));
        assert_eq!(table.claim(1, old, new), Ok(()));
        assert_eq!(table.claim(1, old, old), Err(Denied::OwnedByAnother));
        assert!(!table.finish(1));
        assert_eq!(table.claim(1, new, new), Err(Denied::Done));
        assert_eq!((table.owner(1), table.owner(2)), (new, 0));
    }

    #[test]
    fn an_effect_is_taken_as_often_as_it_is_written() {
        let mut table = Table::default();
        assert!(!table.finish(1) && table.finish(1) && !table.finish(2));
        assert_eq!((table.done(), table.effects()), (2, 3));
    }
}
