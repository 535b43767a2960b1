//! Which length of a lease the figures speak for, in one sentence.
//!
//! A short lease finds a crash soon and takes a stall for one; a long lease does neither. What counts in the end is for how
//! long nobody leads: by jitter, as measured, and by real crashes, of which one a day is reckoned with.

use super::{Lag, Lags, Level, TTLS};
use std::fmt::{self, Write};
use std::ops::RangeInclusive;

/// What the guides advise, in seconds.
const ADVISED: RangeInclusive<u64> = 5..=10;

/// In seconds.
const DAY: f64 = 86_400.0;

/// A length is as good as the best if it costs at most so many seconds a day more: about what one crash does.
const AS_GOOD: f64 = 10.0;

/// Fewer false failovers than so many an hour are few: one a day.
const FEW: f64 = 1.0 / 24.0;

/// Seconds without a leader in a day with one crash: what jitter takes, and what the crash does.
pub(super) fn cost(lag: &Lag) -> f64 {
    lag.unavailable() * DAY + lag.takeover.mean() / 1e6
}

/// A length, and what a day with it is like.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Choice {
    ttl: u64,
    /// Seconds without a leader.
    cost: f64,
    false_failovers: f64,
}

impl Choice {
    fn of((ttl, lag): (&u64, &Lag)) -> Self {
        Self {
            ttl: *ttl,
            cost: cost(lag),
            false_failovers: lag.false_failovers_per_hour() * 24.0,
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            ttl,
            cost,
            false_failovers,
        } = self;
        write!(
            f,
            "{ttl} s ({cost:.1} s a day without a leader, {false_failovers:.1} false failovers)"
        )
    }
}

/// What the figures say of one level of jitter.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Finding {
    level: Level,
    /// The length that costs least.
    best: Choice,
    /// That of those that are advised.
    advised: Choice,
    /// The shortest length with few false failovers.
    calm_from: Option<u64>,
}

impl Finding {
    fn of(level: Level, lags: &Lags) -> Self {
        let least = |within: &RangeInclusive<u64>| {
            let lags = TTLS.iter().zip(&lags.by_ttl);
            let lags = lags.filter(|(ttl, _)| within.contains(ttl));
            let cheapest = lags
                .map(Choice::of)
                .min_by(|one, other| one.cost.total_cmp(&other.cost));
            cheapest.unwrap_or_default()
        };
        // The false failovers of longer leases are few as well.
        let many = |lag: &Lag| lag.false_failovers_per_hour() >= FEW;
        let last_many = lags.by_ttl.iter().rposition(many);
        Self {
            level,
            best: least(&(0..=u64::MAX)),
            advised: least(&ADVISED),
            calm_from: TTLS.get(last_many.map_or(0, |place| place + 1)).copied(),
        }
    }

    /// What is lost by doing as advised, in seconds a day.
    fn regret(&self) -> f64 {
        self.advised.cost - self.best.cost
    }
}

/// The sentence: of one scheme, under each level of jitter.
pub(super) fn advice(parts: &[(Level, &Lags)]) -> String {
    let findings: Vec<Finding> = parts
        .iter()
        .map(|(level, lags)| Finding::of(*level, lags))
        .collect();
    let (low, high) = (ADVISED.start(), ADVISED.end());
    let mut said = String::new();
    let regrets = findings.iter().map(Finding::regret);
    let worst = regrets.fold(0.0, f64::max);
    let _ = if worst <= AS_GOOD {
        write!(
            said,
            "{low} to {high} s confirmed: at most {worst:.1} s a day more without a leader than the best length"
        )
    } else {
        write!(
            said,
            "{low} to {high} s corrected: up to {worst:.1} s a day more without a leader than the best length"
        )
    };
    for Finding {
        level,
        best,
        advised,
        calm_from,
    } in &findings
    {
        let _ = write!(said, "; {}: best {best}", level.name());
        if advised != best {
            let _ = write!(said, ", of the advised {advised}");
        }
        let _ = match calm_from {
            Some(ttl) => write!(said, ", fewer than one of these from {ttl} s on"),
            None => write!(said, ", fewer than one of these with none"),
        };
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lags of a level by what a day costs, and by false failovers a day; crashes cost nothing.
    fn lags(seconds: [u64; TTLS.len()], failovers: [u64; TTLS.len()]) -> Lags {
        let mut lags = Lags::default();
        for (place, lag) in lags.by_ttl.iter_mut().enumerate() {
            lag.time = 10 * 86_400_000_000;
            lag.without_leader = 10_000_000 * seconds[place];
            lag.false_failovers = 10 * failovers[place];
            lag.takeover.add(0);
        }
        lags
    }

    #[test]
    fn what_is_advised_is_confirmed_where_nothing_is_much_better() {
        let calm = lags([1, 2, 5, 10, 15, 30, 60], [0; 7]);
        let rough = lags([90, 70, 30, 20, 22, 30, 60], [90, 40, 3, 0, 0, 0, 0]);
        let parts = [(Level::Calm, &calm), (Level::Stalls, &rough)];
        assert_eq!(
            advice(&parts),
            "5 to 10 s confirmed: at most 4.0 s a day more without a leader than the best length; calm: best 1 s (1.0 s a day \
             without a leader, 0.0 false failovers), of the advised 5 s (5.0 s a day without a leader, 0.0 false failovers), \
             fewer than one of these from 1 s on; stalls: best 10 s (20.0 s a day without a leader, 0.0 false failovers), \
             fewer than one of these from 10 s on"
        );
    }

    #[test]
    fn it_is_corrected_where_another_is_much_better() {
        let rough = lags([90, 70, 50, 40, 32, 28, 60], [9, 0, 3, 2, 1, 1, 1]);
        let said = advice(&[(Level::Stalls, &rough)]);
        assert!(
            said.starts_with("5 to 10 s corrected: up to 12.0 s a day more"),
            "{said}"
        );
        assert!(
            said.ends_with(
                "best 30 s (28.0 s a day without a leader, 1.0 false failovers), of the advised 10 s (40.0 s a day without a \
                 leader, 2.0 false failovers), fewer than one of these with none"
            ),
            "{said}"
        );
    }
}
