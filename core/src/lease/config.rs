//! How a node takes part in an election over a store, and how a life of its machine begins.

use super::{Budget, BudgetError, Claimant, Timing};
use crate::Duration;

/// How one node takes part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// What the record says of its holder.
    pub claimant: Claimant,
    /// How long things take. The same on every node.
    pub timing: Timing,
    /// How long a request or its answer is under way at most, one way, as the budget counts. Safety does not depend on it.
    pub latency: Duration,
    /// Whether it wants to lead. If not, it only says who does.
    pub candidate: bool,
    /// The generation of the tokens: raise it, on every node while none of them runs, when the store was restored from a
    /// backup.
    pub generation: u32,
}

impl Config {
    /// A candidate with the default timing, of a store in the same data centre.
    #[must_use]
    pub fn new(claimant: Claimant) -> Self {
        Self {
            claimant,
            timing: Timing::default(),
            latency: Duration::from_millis(50),
            candidate: true,
            generation: 0,
        }
    }

    /// What follows from the parameters.
    ///
    /// # Errors
    /// What leaves no slack, with the parameter to move.
    pub fn budget(&self) -> Result<Budget, BudgetError> {
        self.timing.budget(self.latency)
    }
}

/// How a life of a machine begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boot {
    /// A number that no other life of this node had or will have: counted on a disk, or drawn from the system's source of
    /// random numbers, where there is no disk.
    pub incarnation: u64,
    /// Of every draw: pauses and nonces. No two nodes of one name may share both seed and incarnation.
    pub seed: u64,
}
