//! The time of leases. It is no part of what a store replicates: whoever leads keeps it, on its own clock, and proposes that
//! a lease is over. A new leader knows nothing of when a lease was kept alive last, and begins each anew, so that none ends
//! early because of a change of leaders (etcd's `Promote`).

use super::{Kv, LeaseId};
use crate::sorted::Sorted;

/// When each lease ends, on the clock of whoever leads.
#[derive(Clone, Debug, Default)]
pub struct Lessor {
    ends: Sorted<LeaseId, u64>,
}

impl Lessor {
    /// Leads from now on: every lease begins anew.
    #[must_use]
    pub fn promoted(now: u64, kv: &Kv) -> Self {
        let ends = kv.leases().map(|(id, ttl)| (id, now.saturating_add(ttl)));
        Self {
            ends: ends.collect(),
        }
    }

    /// A lease was granted, or is kept alive.
    pub fn begin(&mut self, now: u64, lease: LeaseId, ttl: u64) {
        self.ends.insert(lease, now.saturating_add(ttl));
    }

    /// A lease was revoked.
    pub fn end(&mut self, lease: LeaseId) {
        self.ends.remove(&lease);
    }

    /// A lease that is over, to be revoked. It is not named again until `again` microseconds have passed: the proposal may
    /// be lost with the leader, but is mostly on its way.
    pub fn over(&mut self, now: u64, again: u64) -> Option<LeaseId> {
        let (lease, end) = self.ends.iter_mut().find(|(_, end)| **end <= now)?;
        *end = now.saturating_add(again);
        Some(*lease)
    }

    /// When a lease is over.
    #[must_use]
    pub fn ends(&self, lease: LeaseId) -> Option<u64> {
        self.ends.get(&lease).copied()
    }

    /// When the next lease is over.
    #[must_use]
    pub fn due(&self) -> Option<u64> {
        self.ends.iter().map(|(_, end)| *end).min()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Request;
    use super::*;

    #[test]
    fn a_lease_lasts_its_time_from_when_it_was_kept_alive_last() {
        let mut lessor = Lessor::default();
        lessor.begin(100, 7, 50);
        lessor.begin(100, 8, 90);
        lessor.begin(140, 7, 50);
        assert_eq!((lessor.due(), lessor.over(189, 10)), (Some(190), None));
        assert_eq!(lessor.over(190, 10), Some(7));
        assert_eq!(lessor.over(190, 10), Some(8));
        // On its way; and once more when that seems lost.
        assert_eq!(lessor.over(199, 10), None);
        assert_eq!(lessor.over(200, 10), Some(7));
        lessor.end(7);
        assert_eq!(lessor.over(200, 10), Some(8));
        lessor.end(8);
        assert_eq!((lessor.over(9_999, 10), lessor.due()), (None, None));
    }

    #[test]
    fn a_new_leader_begins_every_lease_anew() {
        let mut kv = Kv::default();
        for (lease, ttl) in [(1, 30), (2, 60)] {
            kv.apply(&Request::Grant { lease, ttl }).unwrap();
        }
        let mut lessor = Lessor::promoted(1_000, &kv);
        assert_eq!(lessor.due(), Some(1_030));
        assert_eq!(lessor.over(1_029, 9), None);
    }
}
