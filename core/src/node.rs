//! Who takes part.

use core::fmt;

/// The name of a participant that may lead. Unique in its group and never reused for another disk: a node that
/// lost its durable record and returns under its old name may vote twice in one term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u64);

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
