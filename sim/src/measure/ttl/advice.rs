//! Which length of a lease the figures speak for, in one sentence.

use super::{Lag, Lags, Level, TTLS};
use std::fmt::Write;

/// What the guides advise, in seconds.
pub(super) const ADVISED: [u64; 2] = [5, 10];

/// How often a leader's process dies, for the weighing: once a day.
const DAY: f64 = 86_400.0;

/// Seconds without a leader in a day with one crash: what jitter takes, and what the crash does.
pub(super) fn cost(lag: &Lag) -> f64 {
    lag.unavailable() * DAY + lag.takeover.mean() / 1e6
}

/// The length that costs least.
fn best(lags: &Lags) -> (u64, f64) {
    let costs = TTLS.iter().zip(&lags.by_ttl);
    let costs = costs.map(|(ttl, lag)| (*ttl, cost(lag)));
    costs
        .min_by(|one, other| one.1.total_cmp(&other.1))
        .unwrap_or_default()
}

/// The sentence: of one scheme, under each level of jitter.
pub(super) fn advice(parts: &[(Level, &Lags)]) -> String {
    let mut said = String::new();
    for (level, lags) in parts {
        let (ttl, cost) = best(lags);
        let _ = write!(said, "{} {ttl} s ({cost:.1}); ", level.name());
    }
    said
}
