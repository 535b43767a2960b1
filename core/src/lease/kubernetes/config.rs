//! How a node takes part in an election by a `Lease` object.

use crate::Duration;
use crate::lease::{Budget, BudgetError, Claimant, Config as Common, Preset, Timing};

/// How many own leases a waiter grants a record that names a longer one: a rollout may change the duration so much.
pub const LONGEST: u64 = 4;

/// How one node takes part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// What all schemes have. `ttl` is client-go's `LeaseDuration`, `renew` and `retry` are its `RetryPeriod`.
    pub common: Common,
    /// How long a holder believes at most after the send of its last acknowledged update: `RenewDeadline`.
    pub renew_deadline: Duration,
}

impl Config {
    /// A candidate with the defaults of Kubernetes' own components (the controller manager, the scheduler), which are those
    /// of controller-runtime too: 15, 10 and 2 seconds.
    ///
    /// With answers within 50 ms each way and clocks within 1 % another leads 24.4 s after a crash at the latest, 5.7 s without
    /// an API server are survived whenever they begin, and 4.7 s pass from when a holder stops until another can begin.
    #[must_use]
    pub fn new(claimant: Claimant) -> Self {
        Self::preset(claimant, Preset::ClientGo)
    }

    /// A candidate with the defaults of OpenShift's operators, which are to live through a minute or so without an API server:
    /// 137, 107 and 26 seconds. 54 s are survived whenever they begin and however calls fail; another leads after 254 s.
    #[must_use]
    pub fn openshift(claimant: Claimant) -> Self {
        Self::preset(claimant, Preset::OpenShift)
    }

    /// A candidate that takes part like this, and stops after two thirds of a lease, as it is by default.
    #[must_use]
    pub const fn of(common: Common) -> Self {
        Self {
            renew_deadline: Self::deadline(common.timing.ttl),
            common,
        }
    }

    /// The `RenewDeadline` that is usual for a lease of this length.
    #[must_use]
    pub const fn deadline(ttl: Duration) -> Duration {
        ttl.scaled_down(2, 3)
    }

    /// A candidate with what this system ships with; one that is no user of client-go stops after two thirds of a lease.
    #[must_use]
    pub fn preset(claimant: Claimant, preset: Preset) -> Self {
        let of = Self::of(Common {
            timing: preset.timing(),
            ..Common::new(claimant)
        });
        Self {
            renew_deadline: preset.renew_deadline().unwrap_or(of.renew_deadline),
            ..of
        }
    }

    /// How long a holder believes after the send of its last acknowledged update.
    #[must_use]
    pub fn belief(&self) -> Duration {
        let timing = &self.common.timing;
        timing.belief(timing.ttl).min(self.renew_deadline)
    }

    /// What follows from the parameters. What client-go refuses is refused, and what leaves no slack.
    ///
    /// # Errors
    /// What is wrong, with the parameter to move.
    pub fn budget(&self) -> Result<Budget, BudgetError> {
        let timing = self.common.timing;
        if !timing.ttl.as_micros().is_multiple_of(1_000_000) {
            return Err(BudgetError::NotSeconds(timing.ttl));
        }
        if self.renew_deadline >= timing.ttl {
            return Err(BudgetError::DeadlineTooLong {
                deadline: self.renew_deadline,
                ttl: timing.ttl,
            });
        }
        let needs = jitter(timing.retry);
        if self.renew_deadline <= needs {
            return Err(BudgetError::DeadlineTooShort {
                deadline: self.renew_deadline,
                needs,
            });
        }
        // Belief ends at the renew deadline at the latest.
        let early = timing.belief(timing.ttl).saturating_sub(self.belief());
        let effective = Timing {
            margin: timing.margin + early,
            ..timing
        };
        let budget = effective.budget(self.common.latency)?;
        // The last renewal came through just before the API server went, and the next is a period later; the last that was
        // in vain had just begun when it came back, and after it come a look and an update.
        let round_trip = self.common.latency + self.common.latency;
        let look = timing.retry + jitter(timing.retry);
        let tries = timing.renew + timing.retry.max(timing.patience) + round_trip + round_trip;
        Ok(Budget {
            // The last update was under way when the holder crashed, and just missed by a look: the record stands from the next
            // one on, and is taken after one more.
            takeover: timing.rate.at_most(timing.wait(timing.ttl) + look + look)
                + round_trip
                + round_trip
                + round_trip
                + round_trip,
            outage: timing.rate.at_least(self.belief().saturating_sub(tries)),
            ..budget
        })
    }
}

/// A period times client-go's `JitterFactor`, 1.2: what a pause between two looks may last longer than the period.
pub(super) const fn jitter(period: Duration) -> Duration {
    period.scaled_down(6, 5)
}
