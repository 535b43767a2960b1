//! The timing that other systems ship with, for who comes from one of them or compares with it.
//!
//! What carries over is how soon a silent leader is missed, how often it is heard, and what the system allows for clocks.
//! Three things differ here, whatever the preset:
//! - `election_min` is also the length of a follower's *promise*: for that long after each heartbeat it neither votes nor
//!   stands, and after a restart it waits the promise out.
//! - A leader acts for [`Timing::lease`] from the *send* of a round that a majority answered: the promise less what the
//!   clocks may differ. Each preset says how much that leaves, and what a heartbeat less of it is for: round trip and disk.
//! - Timeouts are drawn to the microsecond, not in whole ticks, so that fewer candidates collide. A host that does count
//!   ticks sets [`Timing::grain`] to its tick, and the lease is two ticks shorter.

use super::Timing;
use crate::Duration;

impl Timing {
    /// etcd: `--heartbeat-interval` 100 ms, `--election-timeout` 1,000 ms, drawn from once to twice that (etcd itself
    /// draws 10 to 19 ticks of a heartbeat each).
    ///
    /// The lease is 980 ms at clocks within 1 %, which leaves 880 ms for a round trip. An etcd leader that loses its
    /// majority notices at the end of an election timeout of its own, and may by then have believed for almost two.
    #[must_use]
    pub const fn etcd() -> Self {
        Self {
            election_min: Duration::from_secs(1),
            election_max: Duration::from_secs(2),
            heartbeat: Duration::from_millis(100),
            ..Self::STANDARD
        }
    }

    /// TiKV: `raftstore.raft-base-tick-interval` 1 s, `raft-heartbeat-ticks` 2, `raft-election-timeout-ticks` 10, drawn
    /// from once to twice that, and `raft-store-max-leader-lease` 9 s.
    ///
    /// That lease is a tenth shorter than the timeout it must end before; as a rate bound this is 5.26 %, and so the
    /// bound is wider here than anywhere else. It leaves the 9 s, and 7 s for a round trip. TiKV hibernates regions at
    /// rest, whose leaders then send nothing; here a leader beats as long as it leads.
    #[must_use]
    pub const fn tikv() -> Self {
        Self {
            election_min: Duration::from_secs(10),
            election_max: Duration::from_secs(20),
            heartbeat: Duration::from_secs(2),
            rate_bound: 52_632,
            ..Self::STANDARD
        }
    }

    /// MongoDB: `settings.electionTimeoutMillis` 10 s with up to 15 % added at random
    /// (`replElectionTimeoutOffsetLimitFraction`), `settings.heartbeatIntervalMillis` 2 s.
    ///
    /// The lease is 9.8 s at clocks within 1 %, which leaves 7.8 s for a round trip. MongoDB's members poll each other and
    /// its primary steps down when it has not seen a majority for an election timeout; it holds no lease, and majority
    /// read and write concern stand in for one. In a range this narrow candidates meet oftener; pre-votes and the step
    /// back of the lower id keep them apart.
    #[must_use]
    pub const fn mongodb() -> Self {
        Self {
            election_min: Duration::from_secs(10),
            election_max: Duration::from_millis(11_500),
            heartbeat: Duration::from_secs(2),
            ..Self::STANDARD
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NodeId;
    use crate::quorum::Voters;
    use crate::raft::Config;

    /// Each is safe as it stands, and leaves the lease that its documentation states.
    #[test]
    fn presets_are_valid_and_leave_the_lease_they_state() {
        for (preset, lease, spare) in [
            (Timing::etcd(), 980_196, 880_196),
            (Timing::tikv(), 8_999_990, 6_999_990),
            (Timing::mongodb(), 9_801_978, 7_801_978),
        ] {
            let voters = Voters::new((0..3).map(NodeId)).unwrap();
            let config = Config {
                timing: preset,
                ..Config::new(NodeId(0), voters)
            };
            assert_eq!(config.validate(), Ok(()), "{preset:?}");
            let left = preset.lease(preset.promise());
            assert_eq!(left.as_micros(), lease, "{preset:?}");
            let for_a_round_trip = left.saturating_sub(preset.heartbeat);
            assert_eq!(for_a_round_trip.as_micros(), spare, "{preset:?}");
        }
    }

    /// A microsecond more of lease than TiKV allows itself would be a looser bound than its own.
    #[test]
    fn the_rate_bound_of_tikv_is_the_least_that_keeps_its_lease() {
        let (most, tikv) = (Duration::from_secs(9), Timing::tikv());
        assert!(tikv.lease(tikv.promise()) <= most);
        let looser = Timing {
            rate_bound: tikv.rate_bound - 1,
            ..tikv
        };
        assert!(looser.lease(looser.promise()) > most);
    }
}
