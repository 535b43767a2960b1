//! How long things take in an election over a store, and what follows from it.

use super::budget::{Budget, BudgetError};
use crate::Duration;
use crate::random::Random;
use crate::rate::{PPM, RateBound};

/// The longest lease: a day. A longer one is a mistake in the unit.
pub const MAX_TTL: Duration = Duration::from_secs(86_400);

/// How long things take, the same on every node of an election. Defaults: a lease of 9 seconds that is renewed every third
/// of it, clocks within 1 % and read to the microsecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// How long the store keeps a record that is not renewed, on the store's clock; or how long a waiter lets an unchanged
    /// record stand, on the waiter's. Set it by [`of`](Self::of), which sets what goes with it.
    pub ttl: Duration,
    /// The longest time from one renewal to the next. Each is drawn from nine tenths of it to the whole.
    pub renew: Duration,
    /// The longest pause before whatever failed is tried again, and between two looks of a waiter that polls. Each is drawn
    /// from half of it to the whole.
    pub retry: Duration,
    /// How long an answer of the store may take before its request is tried again. An answer that comes later still
    /// counts, from its own send.
    pub patience: Duration,
    /// How long before the end of the lease work must have stopped: a holder's tenure ends so much sooner.
    pub margin: Duration,
    /// ρ: how far the clocks of nodes and store may be from true pace. Beyond it two may believe at once, and only the
    /// guard of the resource protects.
    pub rate: RateBound,
    /// The grain of the clocks: how far behind the truth a `now` may be.
    pub grain: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self::of(Duration::from_secs(9))
    }
}

impl Timing {
    /// What is usual for a lease of this length: renewed every third of it, retried and given up on after a ninth, stopped a
    /// tenth before its end.
    #[must_use]
    pub const fn of(ttl: Duration) -> Self {
        Self {
            ttl,
            renew: ttl.scaled_down(1, 3),
            retry: ttl.scaled_down(1, 9),
            patience: ttl.scaled_down(1, 9),
            margin: ttl.scaled_down(1, 10),
            rate: RateBound::ONE_PERCENT,
            grain: Duration::from_micros(1),
        }
    }

    /// How long a holder may believe from the send of a request that was acknowledged, where the store grants `ttl` (LS-R1):
    /// what is left of it on the slowest clock of a holder by the fastest of whoever waits, less two grains and the margin.
    #[must_use]
    pub fn belief(&self, ttl: Duration) -> Duration {
        let (within, grain) = (self.rate.within(ttl), self.grain);
        within.saturating_sub(grain + grain + self.margin)
    }

    /// How long a waiter lets a record stand that does not change, counted from the receipt of its first sight (LS-R1).
    #[must_use]
    pub fn wait(&self, ttl: Duration) -> Duration {
        ttl + self.grain + self.grain
    }

    /// After how long a lease of `ttl` is over for the store, though a renewal was under way: nobody waits for its end any
    /// longer.
    pub(super) fn surely_over(&self, ttl: Duration) -> Duration {
        self.rate.outlast(ttl) + self.patience
    }

    /// How long after the send of one renewal the next is sent.
    pub(super) fn renew_pause(&self, random: &mut Random) -> Duration {
        random.duration(self.renew.scaled_down(9, 10), self.renew)
    }

    /// How long to wait before something is tried again.
    pub(super) fn retry_pause(&self, random: &mut Random) -> Duration {
        random.duration(self.retry.scaled_down(1, 2), self.retry)
    }

    /// Checks what can be unsafe or useless together, for a store that answers within `latency`, and says what follows: how
    /// long a takeover takes, which outages are survived, and what is left before two believe to lead.
    ///
    /// # Errors
    /// What leaves no slack, with the parameter to move.
    pub fn budget(&self, latency: Duration) -> Result<Budget, BudgetError> {
        if self.rate.0 >= PPM {
            return Err(BudgetError::RateBound(self.rate.0));
        }
        if self.ttl > MAX_TTL {
            return Err(BudgetError::TtlTooLong(self.ttl));
        }
        for (name, value) in [
            ("renew", self.renew),
            ("retry", self.retry),
            ("patience", self.patience),
        ] {
            if value == Duration::ZERO {
                return Err(BudgetError::Zero(name));
            }
        }
        let belief = self.belief(self.ttl);
        let needs = self.renew + self.retry + latency + latency;
        if belief < needs {
            return Err(BudgetError::NoSlack { belief, needs });
        }
        let round_trip = latency + latency;
        if self.patience < round_trip {
            return Err(BudgetError::Impatient {
                patience: self.patience,
                round_trip,
            });
        }
        let tries = self.renew + self.patience + self.retry;
        Ok(Budget {
            belief,
            // The last renewal was under way when the holder crashed; the record ends on the slowest clock, just after a waiter
            // saw it stand; that one sees a pause and a round trip later that it is free, and takes it in another one.
            takeover: self.rate.at_most(self.wait(self.ttl) + self.retry)
                + round_trip
                + round_trip
                + round_trip,
            // The last renewal came through just before the store went, and the next is a renewal later; the last that was in
            // vain was lost just before it came back, which is noticed by patience alone, and after a pause comes another.
            outage: self
                .rate
                .at_least(belief.saturating_sub(tries))
                .saturating_sub(round_trip),
            // Not the grains, which clocks take up.
            slack: self
                .rate
                .at_least(self.ttl)
                .saturating_sub(self.rate.at_most(belief + self.grain + self.grain)),
        })
    }
}
