//! How a node takes part in an election over etcd.

use super::api::{Key, LeaseId};
use crate::Duration;
use crate::lease::{Budget, BudgetError, Claimant, Config as Common, Preset, Timing};
use alloc::format;

/// By which keys the nodes elect. The same on every node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// A key for each candidate, named by its lease: these characters and the number. The one that was created first leads,
    /// and each other waits for the one before it. As the package `concurrency` of etcd's client; see [`Mode::queue`].
    Queue(Key),
    /// One key, held by whoever creates it. Whoever does not waits until it is gone, and then all try at once.
    Single(Key),
}

impl Mode {
    /// The queue that `concurrency.NewElection(session, prefix)` has: keys are `prefix/lease`.
    #[must_use]
    pub fn queue(prefix: &str) -> Self {
        Self::Queue(format!("{prefix}/").into())
    }

    /// The key itself, or how all of them begin.
    pub(super) const fn key(&self) -> &Key {
        match self {
            Self::Queue(key) | Self::Single(key) => key,
        }
    }

    /// The key of a candidate with this lease.
    pub(super) fn own(&self, lease: LeaseId) -> Key {
        match self {
            Self::Queue(prefix) => format!("{prefix}{lease}").into(),
            Self::Single(key) => key.clone(),
        }
    }

    /// Whether that is this key.
    pub(super) fn is_own(&self, key: &str, lease: LeaseId) -> bool {
        match self {
            Self::Queue(prefix) => {
                let digits = key.strip_prefix(&**prefix);
                let number = digits.map(|digits| i64::from_str_radix(digits, 16));
                number == Some(Ok(lease.0))
            }
            Self::Single(own) => *key == **own,
        }
    }
}

/// How one node takes part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// What is the same in every election over a store.
    pub common: Common,
    /// By which keys.
    pub mode: Mode,
}

impl Config {
    /// A candidate with the default timing, of a store in the same data centre.
    #[must_use]
    pub fn new(mode: Mode, claimant: Claimant) -> Self {
        Self {
            common: Common::new(claimant),
            mode,
        }
    }

    /// The active one of a pair of Milvus's coordinators: the single key `root/meta/session/role` under the lease of the
    /// node's session, which lasts 30 seconds. The session is kept alive while the node stands by, and granted anew when it
    /// is over; before the node takes the key it has been renewed.
    #[must_use]
    pub fn milvus(root: &str, role: &str, claimant: Claimant) -> Self {
        Self {
            common: Common {
                timing: Preset::Milvus.timing(),
                ..Common::new(claimant)
            },
            mode: Mode::Single(format!("{root}/meta/session/{role}").into()),
        }
    }

    /// What follows from the parameters, where the store grants what is asked for.
    ///
    /// # Errors
    /// What leaves no slack, or what etcd cannot have, with the parameter to move.
    pub fn budget(&self) -> Result<Budget, BudgetError> {
        self.budget_of(self.common.timing.ttl)
    }

    /// What follows where the store granted a lease of `ttl`.
    pub(super) fn budget_of(&self, ttl: Duration) -> Result<Budget, BudgetError> {
        let claimant = &self.common.claimant;
        let timing = Timing {
            ttl,
            ..self.common.timing
        };
        if self.mode.key().is_empty() {
            return Err(BudgetError::NoKey);
        }
        if claimant.identity.name().contains('\n') {
            return Err(BudgetError::LineBreak);
        }
        if !timing.ttl.as_micros().is_multiple_of(1_000_000) {
            return Err(BudgetError::NotSeconds(timing.ttl));
        }
        let budget = timing.budget(self.common.latency)?;
        Ok(Budget {
            // A watch that is silent is noticed at the next look.
            takeover: budget.takeover + timing.rate.at_most(timing.renew),
            ..budget
        })
    }
}
