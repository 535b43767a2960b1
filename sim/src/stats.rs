//! Percentiles of measured times.

/// Measured times, in microseconds.
#[derive(Clone, Debug, Default)]
pub struct Times(Vec<u64>);

/// What is told of measured times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quantiles {
    /// How many there are.
    pub count: usize,
    /// Half are at or below this.
    pub p50: u64,
    /// Nine of ten are at or below this.
    pub p90: u64,
    /// 99 of 100 are at or below this.
    pub p99: u64,
    /// 999 of 1,000 are at or below this.
    pub p999: u64,
    /// The longest.
    pub max: u64,
}

impl Times {
    /// Adds one.
    pub fn add(&mut self, time: u64) {
        self.0.push(time);
    }

    /// Adds others.
    pub fn merge(&mut self, mut others: Self) {
        self.0.append(&mut others.0);
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The quantiles, by the nearest rank: each is a time that was measured.
    #[must_use]
    pub fn quantiles(&self) -> Quantiles {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let rank = |per_mille: usize| {
            let place = (sorted.len() * per_mille).div_ceil(1000).saturating_sub(1);
            sorted.get(place).copied().unwrap_or(0)
        };
        Quantiles {
            count: sorted.len(),
            p50: rank(500),
            p90: rank(900),
            p99: rank(990),
            p999: rank(999),
            max: rank(1000),
        }
    }

    /// Their mean; 0 of none.
    #[must_use]
    pub fn mean(&self) -> f64 {
        let sum: u128 = self.0.iter().map(|time| u128::from(*time)).sum();
        sum as f64 / self.0.len().max(1) as f64
    }

    /// How many are at or below a bound.
    #[must_use]
    pub fn within(&self, bound: u64) -> usize {
        self.0.iter().filter(|time| **time <= bound).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_measured_times_of_the_nearest_rank() {
        let mut times = Times::default();
        for time in (1..=1000).rev() {
            times.add(time);
        }
        let expected = Quantiles {
            count: 1000,
            p50: 500,
            p90: 900,
            p99: 990,
            p999: 999,
            max: 1000,
        };
        assert_eq!(times.quantiles(), expected);
        assert_eq!(times.within(500), 500);
        let mut one = Times::default();
        assert_eq!(one.quantiles(), Quantiles::default());
        one.add(7);
        assert_eq!(
            one.quantiles(),
            Quantiles {
                count: 1,
                p50: 7,
                p90: 7,
                p99: 7,
                p999: 7,
                max: 7
            }
        );
    }
}
