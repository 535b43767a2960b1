//! The own key of a node, for guards and for its next life.

use super::api::{Key, LeaseId};
use crate::lease::BudgetError;
use core::fmt;

/// The own key: enough to guard writes inside etcd, and for the next life of the node to give it up.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The key.
    pub key: Key,
    /// The lease with which it goes.
    pub lease: LeaseId,
    /// The revision in which it was created.
    pub revision: u64,
}

/// Why a former life is not resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResumeError {
    /// The parameters are refused.
    Budget(BudgetError),
    /// The place is in another election: the key is not the one that this election gives to that lease (LS-23).
    OtherElection,
}

impl From<BudgetError> for ResumeError {
    fn from(error: BudgetError) -> Self {
        Self::Budget(error)
    }
}

impl fmt::Display for ResumeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Budget(error) => error.fmt(f),
            Self::OtherElection => f.write_str(
                "the key is none of this election: resume with the mode and the prefix it was created with",
            ),
        }
    }
}

impl core::error::Error for ResumeError {}
