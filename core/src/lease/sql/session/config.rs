//! How a node takes part in an election by a session of a database.

use crate::lease::{Budget, BudgetError, Claimant, Config as Common};

/// How one node takes part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// What is the same in every election over a store. The lease is how long the server lets a session be idle.
    pub common: Common,
}

impl Config {
    /// A candidate with the default timing, of a database in the same data centre.
    #[must_use]
    pub fn new(claimant: Claimant) -> Self {
        Self {
            common: Common::new(claimant),
        }
    }

    /// What follows from the parameters: as by a row that expires, and a holder that is cut off has the lock until its server
    /// has heard nothing for a lease, before the next waits for another.
    ///
    /// # Errors
    /// What leaves no slack, with the parameter to move.
    pub fn budget(&self) -> Result<Budget, BudgetError> {
        let (budget, timing) = (self.common.budget()?, &self.common.timing);
        Ok(Budget {
            takeover: budget.takeover + timing.rate.at_most(timing.ttl),
            ..budget
        })
    }
}
