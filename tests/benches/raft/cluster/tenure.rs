//! This library, through its public API.

use super::Cluster;
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
