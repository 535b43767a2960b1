//! Instants and durations in integer microseconds.
//!
//! The core reads no clock: every entry point takes `now` as an argument. The host's clock must be monotonic
//! and must count the time a machine spends suspended (`CLOCK_BOOTTIME` on Linux, not `CLOCK_MONOTONIC`):
//! a lease that did not age while the laptop slept is two leaders when it wakes.

use core::fmt;
use core::ops::{Add, Sub};

/// A point on the host's monotonic clock, in microseconds since an origin of the host's choice.
///
/// Instants of two hosts are never compared with each other; no protocol sends one to be read as a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

/// A span of time in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

impl Instant {
    /// The origin of the clock.
    pub const ZERO: Self = Self(0);
    /// The end of time: later than every instant a host can reach (584,542 years). Stands for "without limit".
    pub const FOREVER: Self = Self(u64::MAX);

    /// The instant `micros` microseconds after the origin.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// The instant `millis` milliseconds after the origin; [`FOREVER`](Self::FOREVER) when that is out of range.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1000))
    }

    /// Microseconds since the origin.
    #[must_use]
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// The time from `earlier` to `self`; zero when `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }

    /// How far it is ahead of `now`, for a fingerprint (C10): what never comes is equally far from everywhere.
    pub(crate) const fn ahead_of(self, now: Self) -> Duration {
        if self.0 == Self::FOREVER.0 {
            Duration(u64::MAX)
        } else {
            self.since(now)
        }
    }
}

impl Duration {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// A span of `micros` microseconds.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// A span of `millis` milliseconds; saturates.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1000))
    }

    /// A span of `secs` seconds; saturates.
    #[must_use]
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1_000_000))
    }

    /// The span in microseconds.
    #[must_use]
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// `self × numerator ÷ denominator`, rounded down. Exact while the product is below 2⁶⁴ (an hour times a million is);
    /// beyond it saturates and comes out too small. A zero denominator counts as one.
    #[must_use]
    pub const fn scaled_down(self, numerator: u64, denominator: u64) -> Self {
        let denominator = if denominator == 0 { 1 } else { denominator };
        Self(self.0.saturating_mul(numerator) / denominator)
    }

    /// As [`scaled_down`](Self::scaled_down), rounded up.
    #[must_use]
    pub const fn scaled_up(self, numerator: u64, denominator: u64) -> Self {
        let denominator = if denominator == 0 { 1 } else { denominator };
        Self(self.0.saturating_mul(numerator).div_ceil(denominator))
    }

    /// The difference, or zero when `other` is longer.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

/// Saturates at [`Instant::FOREVER`]: a deadline that cannot be represented never comes.
impl Add<Duration> for Instant {
    type Output = Self;
    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

/// Saturates at [`Instant::ZERO`].
impl Sub<Duration> for Instant {
    type Output = Self;
    fn sub(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
}

/// Saturates.
impl Add for Duration {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

/// Written in the coarsest unit in which it is a whole number: `3h`, `90s`, `150ms`, `1500us`.
impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = |unit: &(u64, &str)| self.0 >= unit.0 && self.0.is_multiple_of(unit.0);
        let (micros, name) = UNITS.into_iter().find(whole).unwrap_or((1, "us"));
        match self.0 {
            0 => f.write_str("0ms"),
            all => write!(f, "{}{name}", all / micros),
        }
    }
}

/// Units of time in microseconds, the coarsest first.
const UNITS: [(u64, &str); 4] = [
    (3_600_000_000, "h"),
    (60_000_000, "min"),
    (1_000_000, "s"),
    (1_000, "ms"),
];

/// Writes the time since the origin, as [`Duration`] does.
impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::FOREVER {
            f.write_str("forever")
        } else {
            Duration(self.0).fmt(f)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn instants_and_durations_add_and_subtract() {
        let (early, late) = (Instant::from_millis(2), Instant::from_millis(5));
        let between = Duration::from_millis(3);
        assert_eq!((early + between, late - between), (late, early));
        assert_eq!(late.since(early), between);
        assert_eq!(between + between, Duration::from_micros(6_000));
        assert_eq!(between.saturating_sub(between + between), Duration::ZERO);
    }

    #[test]
    fn arithmetic_saturates_at_both_ends() {
        assert_eq!(Instant::FOREVER + Duration::from_secs(1), Instant::FOREVER);
        assert_eq!(
            Instant::from_millis(1) - Duration::from_secs(1),
            Instant::ZERO
        );
        assert_eq!(
            Instant::from_millis(1).since(Instant::from_millis(2)),
            Duration::ZERO
        );
        assert_eq!(Duration::from_secs(u64::MAX).as_micros(), u64::MAX);
        assert_eq!(
            Duration::from_micros(u64::MAX).scaled_up(2, 1).as_micros(),
            u64::MAX
        );
        assert!(
            Duration::from_micros(u64::MAX)
                .scaled_down(3, 2)
                .as_micros()
                < u64::MAX
        );
    }

    #[test]
    fn times_are_told_in_the_coarser_unit_that_is_exact() {
        assert_eq!(Duration::from_micros(5_000).to_string(), "5ms");
        assert_eq!(Duration::from_micros(5_001).to_string(), "5001us");
        for (micros, told) in [
            (0, "0ms"),
            (1, "1us"),
            (1_000_000, "1s"),
            (1_500_000, "1500ms"),
            (90_000_000, "90s"),
            (120_000_000, "2min"),
            (10_800_000_000, "3h"),
        ] {
            assert_eq!(Duration::from_micros(micros).to_string(), told);
        }
        assert_eq!(Instant::from_micros(5_000).to_string(), "5ms");
        assert_eq!(Instant::from_micros(5_001).to_string(), "5001us");
        assert_eq!(Instant::FOREVER.to_string(), "forever");
    }

    #[test]
    fn scaling_rounds_to_the_stated_side() {
        let ten = Duration::from_micros(10);
        assert_eq!(ten.scaled_down(1, 3).as_micros(), 3);
        assert_eq!(ten.scaled_up(1, 3).as_micros(), 4);
        assert_eq!(ten.scaled_down(1, 0).as_micros(), 10);
    }
}
