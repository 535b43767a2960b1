//! How a node takes part, and what follows from that.

use crate::Duration;
use crate::lease::redis::in_milliseconds;
use crate::lease::{Budget, BudgetError, Claimant, Timing};

/// The most servers.
pub const MAX_SERVERS: u8 = 16;

/// How a node takes part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// What every scheme over a store has. `patience` is the time that each server has to answer.
    pub common: crate::lease::Config,
    /// How many servers there are, reachable or not: the same on every node.
    pub servers: u8,
}

impl Config {
    /// A candidate, of five servers in the same data centre.
    #[must_use]
    pub fn new(claimant: Claimant) -> Self {
        let mut common = crate::lease::Config::new(claimant);
        common.timing = Self::timing(common.timing.ttl);
        Self { common, servers: 5 }
    }

    /// What is usual for a lease of this length: a server that does not answer within a twentieth of it is not waited for.
    #[must_use]
    pub const fn timing(ttl: Duration) -> Timing {
        let mut timing = Timing::of(ttl);
        timing.patience = ttl.scaled_down(1, 20);
        timing
    }

    /// What follows from the parameters.
    ///
    /// # Errors
    /// What leaves no slack, with the parameter to move.
    pub fn budget(&self) -> Result<Budget, BudgetError> {
        if self.servers == 0 {
            return Err(BudgetError::Zero("servers"));
        }
        if self.servers > MAX_SERVERS {
            return Err(BudgetError::TooManyServers(self.servers));
        }
        in_milliseconds(self.common.clone()).budget()
    }
}
