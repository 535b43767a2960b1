//! This library, through its public API.

use super::{Cluster, Read, Replicated};
use tenure_counts::Group;

impl Cluster for Group {
    const NAME: &'static str = "Tenure";

    fn new(voters: usize) -> Self {
        Group::new(voters)
    }

    fn elect(&mut self) {
        Group::elect(self);
    }

    fn heartbeat(&mut self) {
        Group::heartbeat(self);
    }

    fn led(&self) -> bool {
        Group::led(self)
    }

    fn delivered(&self) -> u64 {
        Group::delivered(self)
    }
}

/// With a log.
pub(crate) struct Logged(pub(crate) Group);

impl Cluster for Logged {
    const NAME: &'static str = "Tenure, with a log";

    fn new(voters: usize) -> Self {
        Self(Group::with_log(voters))
    }

    fn elect(&mut self) {
        self.0.elect();
    }

    fn heartbeat(&mut self) {
        self.0.heartbeat();
    }

    fn led(&self) -> bool {
        self.0.led()
    }

    fn delivered(&self) -> u64 {
        self.0.delivered()
    }
}

impl Replicated for Logged {
    fn replicating(voters: usize) -> Self {
        Self(Group::with_log(voters).carrying())
    }

    fn replicate(&mut self, entries: u32) {
        self.0.replicate(entries);
    }

    /// All machines know it: the followers are told at once.
    fn committed(&self) -> u64 {
        self.0.committed()
    }
}

impl Read for Logged {
    fn read(&mut self, reads: u32) -> u64 {
        self.0.read(reads)
    }
}
