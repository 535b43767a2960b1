//! What things are called: masters by name, processes by what they drew when they began.

use core::fmt;

/// The name of a watched master, the same in all sentinels. It stays when another server becomes the master.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MasterName(pub u16);

impl fmt::Display for MasterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "master {}", self.0)
    }
}

/// Who somebody is, wherever it is: a sentinel keeps this in its file, a data server draws another in each life. Votes are
/// given to it, not to an address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub u64);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
