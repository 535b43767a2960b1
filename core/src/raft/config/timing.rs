//! How long things take: timeouts, the promise and the lease that is left of it.

use crate::Duration;

/// A million: the unit of [`Timing::rate_bound`].
pub const PPM: u32 = 1_000_000;

/// Timeouts of a Raft election. Defaults: election 150–300 ms, heartbeat 50 ms, clocks within 1 % and read to the
/// microsecond. [`Timing::etcd`], [`Timing::tikv`] and [`Timing::mongodb`] are the defaults of those systems.
///
/// A leader keeps its lease when a round trip and the followers' disks take less than the lease less a heartbeat (97 ms
/// by default); a shorter heartbeat buys tolerance. A group whose round trip is longer than `election_min` elects
/// nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// The shortest election timeout. In safe mode also the length of a follower's promise.
    pub election_min: Duration,
    /// The longest election timeout; each arming draws from `election_min..=election_max`.
    pub election_max: Duration,
    /// How often a leader sends a heartbeat.
    pub heartbeat: Duration,
    /// ρ in parts per million: every clock of the group runs at a rate within 1 ± ρ of true time. A node configured below
    /// the truth can believe beside another leader.
    pub rate_bound: u32,
    /// The grain of this node's clock: the `now` that its host passes is never further behind than this. A tick where time
    /// is counted in ticks, the step of a coarsened browser clock, the age of a cached reading. The other nodes need not
    /// know it: each allows for its own.
    pub grain: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self::STANDARD
    }
}

impl Timing {
    /// What [`Timing::default`] is, for constants.
    pub(super) const STANDARD: Self = Self {
        election_min: Duration::from_millis(150),
        election_max: Duration::from_millis(300),
        heartbeat: Duration::from_millis(50),
        rate_bound: 10_000,
        grain: Duration::from_micros(1),
    };

    /// The promise that a voter tells, when it neither votes nor stands for [`election_min`](Self::election_min) on the clock
    /// it reads: a grain less, for what it read when it began may have been that far behind.
    #[must_use]
    pub fn promise(&self) -> Duration {
        self.election_min.saturating_sub(self.grain)
    }

    /// How long a leader may act on one acknowledged round, counted from its send, when the followers told a promise of
    /// `promise`: `promise × (1 − ρ) ÷ (1 + ρ)`, less a grain of the own clock, by which it may end its belief too late.
    /// The slowest leader clock then still ends before the fastest follower clock, whatever the grain of either.
    #[must_use]
    pub fn lease(&self, promise: Duration) -> Duration {
        let (slow, fast) = self.rates();
        promise.scaled_down(slow, fast).saturating_sub(self.grain)
    }

    /// How long to wait on this clock so that `span` has passed on any other clock of the group.
    #[must_use]
    pub fn outlast(&self, span: Duration) -> Duration {
        let (slow, fast) = self.rates();
        span.scaled_up(fast, slow)
    }

    /// The slowest and the fastest rate of a clock, in parts per million of true time.
    fn rates(&self) -> (u64, u64) {
        let rho = u64::from(self.rate_bound.min(PPM));
        (u64::from(PPM) - rho, u64::from(PPM) + rho)
    }

    /// Bounds of the election timeout.
    #[must_use]
    pub fn election(&self) -> (Duration, Duration) {
        (self.election_min, self.election_max)
    }

    /// How long before its election timeout a follower asks for pre-votes, and how much of a promise a voter may have
    /// left and still grant one (RL-10): a fifth of the shortest timeout, so that the two message delays of the
    /// pre-vote pass while the promises run out.
    #[must_use]
    pub fn early(&self) -> Duration {
        self.election_min.scaled_down(1, 5)
    }

    /// Bounds of the pause before the next attempt: shorter than an election timeout, for the leader is already known
    /// to be gone.
    #[must_use]
    pub fn retry(&self) -> (Duration, Duration) {
        (
            self.election_min.scaled_down(2, 5),
            self.election_min.scaled_down(4, 5),
        )
    }

    /// Bounds of the step back from a rival with a higher id (RL-9).
    #[must_use]
    pub fn yielding(&self) -> (Duration, Duration) {
        (
            self.election_min.scaled_down(2, 5),
            self.election_min.scaled_down(3, 5),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::MAX_TIMEOUT;
    use super::*;
    use proptest::prelude::*;

    /// A bound that `validate` refuses still gives an answer: no lease, and a wait without end.
    #[test]
    fn clocks_that_bound_nothing_give_no_lease() {
        for rate_bound in [PPM, u32::MAX] {
            let timing = Timing {
                rate_bound,
                ..Timing::default()
            };
            assert_eq!(timing.lease(MAX_TIMEOUT), Duration::ZERO);
            assert!(timing.outlast(Duration::from_secs(1)) > MAX_TIMEOUT);
        }
    }

    proptest! {
        /// The inequality of the lease, in exact integers: promised on the fastest follower clock, used on the slowest
        /// leader clock, the lease ends first; and it wastes no more than the rounding.
        #[test]
        fn the_lease_ends_before_the_promise(promise in 2u64..1 << 40, rho in 0u32..PPM) {
            let timing = Timing { rate_bound: rho, ..Timing::default() };
            let lease = u128::from(timing.lease(Duration::from_micros(promise)).as_micros());
            let (slow, fast) = (u128::from(PPM - rho), u128::from(PPM + rho));
            // Both sides times the rates: lease / slow <= promise / fast in true time.
            prop_assert!(lease * fast <= u128::from(promise) * slow);
            prop_assert!((lease + 2) * fast >= u128::from(promise) * slow);
        }

        /// Waiting `outlast(span)` on the fastest clock covers `span` on the slowest, and wastes no more than the rounding.
        #[test]
        fn outlasting_covers_the_span(span in 0u64..1 << 40, rho in 0u32..PPM) {
            let timing = Timing { rate_bound: rho, ..Timing::default() };
            let wait = u128::from(timing.outlast(Duration::from_micros(span)).as_micros());
            let (slow, fast) = (u128::from(PPM - rho), u128::from(PPM + rho));
            prop_assert!(wait * slow >= u128::from(span) * fast);
            prop_assert!(wait.saturating_sub(1) * slow <= u128::from(span) * fast);
        }
    }
}
