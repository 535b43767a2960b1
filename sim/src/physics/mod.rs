//! The physics: time, network, disks, clocks and the trace. Nothing here knows a protocol.
//!
//! True time is a `u64` of microseconds since the start of the run. A node never sees it: [`clock`] is the one place
//! that turns it into what a node reads.

pub mod clock;
pub mod disk;
pub mod links;
pub mod network;
pub mod queue;
pub mod stream;
pub mod trace;
pub mod weather;

/// A true time that never comes.
pub const NEVER: u64 = u64::MAX;

/// Which action something is to be blamed on: its place in the plan, or [`NOBODY`].
pub(crate) type Blame = u32;

/// No action is to blame.
pub(crate) const NOBODY: Blame = Blame::MAX;
