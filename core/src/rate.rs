//! How much clocks may differ in pace, and what that costs a lease.

use crate::Duration;

/// A million: parts of a whole, for [`RateBound`].
pub const PPM: u32 = 1_000_000;

/// ρ: every clock that counts runs at a rate within 1 ± ρ of true time. In parts per million.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RateBound(pub u32);

impl RateBound {
    /// Within 1 %.
    pub const ONE_PERCENT: Self = Self(10_000);

    /// How long to believe on this clock, so that it is over before `span` has passed on any other: `span × (1 − ρ) ÷ (1 +
    /// ρ)`, rounded down. The slowest clock of a holder then still ends before the fastest clock of whoever waits.
    #[must_use]
    pub const fn within(self, span: Duration) -> Duration {
        let (slow, fast) = self.rates();
        span.scaled_down(slow, fast)
    }

    /// How long to wait on this clock, so that `span` has passed on any other: `span × (1 + ρ) ÷ (1 − ρ)`, rounded up.
    #[must_use]
    pub const fn outlast(self, span: Duration) -> Duration {
        let (slow, fast) = self.rates();
        span.scaled_up(fast, slow)
    }

    /// The shortest true time in which a clock shows that `span` has passed.
    #[must_use]
    pub const fn at_least(self, span: Duration) -> Duration {
        span.scaled_down(PPM as u64, self.rates().1)
    }

    /// The longest true time until a clock shows that `span` has passed.
    #[must_use]
    pub const fn at_most(self, span: Duration) -> Duration {
        span.scaled_up(PPM as u64, self.rates().0)
    }

    /// The slowest and the fastest rate of a clock, in parts per million of true time.
    const fn rates(self) -> (u64, u64) {
        let rho = if self.0 > PPM { PPM } else { self.0 } as u64;
        (PPM as u64 - rho, PPM as u64 + rho)
    }
}
