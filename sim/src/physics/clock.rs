//! The one place where true time becomes a node's time.

use super::NEVER;
use tenure::Instant;

/// A node's monotonic clock. It counts the time the process spends paused, as the core demands of its hosts.
///
/// Clocks run at the true rate, each from its own origin: a protocol that compared instants of two nodes would go wrong
/// here at once.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin: u64,
}

impl Clock {
    /// A clock that reads `origin` microseconds when the run starts.
    #[must_use]
    pub const fn starting_at(origin: u64) -> Self {
        Self { origin }
    }

    /// What the clock reads at a true time.
    #[must_use]
    pub const fn reads(&self, at: u64) -> Instant {
        Instant::from_micros(self.origin.saturating_add(at))
    }

    /// The first true time at which the clock reads `instant`; 0 when that was before the run, [`NEVER`] when it never
    /// comes.
    #[must_use]
    pub fn when(&self, instant: Instant) -> u64 {
        if instant == Instant::FOREVER {
            NEVER
        } else {
            instant.as_micros().saturating_sub(self.origin)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_and_asking_when_agree() {
        let clock = Clock::starting_at(700);
        assert_eq!(clock.reads(5).as_micros(), 705);
        assert_eq!(clock.when(clock.reads(5)), 5);
        assert_eq!(clock.when(Instant::from_micros(3)), 0);
        assert_eq!(clock.when(Instant::FOREVER), NEVER);
    }
}
