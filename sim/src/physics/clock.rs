//! The one place where true time becomes a node's time.

use super::NEVER;
use super::weather::PPM;
use tenure::Instant;

/// A node's monotonic clock. It counts the time the process spends paused, as the core demands of its hosts.
///
/// Each clock has its own origin: a protocol that compared instants of two nodes would go wrong here at once. It may run
/// fast or slow, and jump. All of it is exact: what a change of rate leaves of a microsecond is kept.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// What it read when the run started.
    origin: u64,
    /// The true time of the last change.
    since: u64,
    /// What it read then, in microseconds, and in millionths of one beyond them.
    read: u64,
    part: u64,
    pace: u32,
}

/// The pace of a clock that runs true: microseconds in a second.
pub const TRUE_PACE: u32 = PPM;

/// No run lasts so long, nor any deadline: four weeks. Millionths of its microseconds fit 64 bits at twice the pace.
const LONGEST: u64 = 28 * 24 * 3_600 * 1_000_000;

impl Clock {
    /// A clock that reads `origin` microseconds when the run starts, and counts `pace` in each second from then on.
    #[must_use]
    pub const fn starting_at(origin: u64, pace: u32) -> Self {
        Self {
            origin,
            since: 0,
            read: origin,
            part: 0,
            pace,
        }
    }

    /// What the clock reads at a true time not before its last change.
    #[must_use]
    pub const fn reads(&self, at: u64) -> Instant {
        let elapsed = at.saturating_sub(self.since);
        let counted = if self.pace == TRUE_PACE {
            elapsed
        } else {
            self.parts(elapsed) / PPM as u64
        };
        Instant::from_micros(self.read.saturating_add(counted))
    }

    /// The first true time at which the clock, left alone, reads `instant` or more; [`NEVER`] when it never does. What it
    /// read before its last change is placed as if there had been none, or at 0 when that was before the run.
    #[must_use]
    pub fn when(&self, instant: Instant) -> u64 {
        if instant == Instant::FOREVER {
            return NEVER;
        }
        let micros = instant.as_micros();
        let pace = u64::from(self.pace);
        let Some(ahead) = micros.checked_sub(self.read) else {
            let ago = (self.read - micros).min(LONGEST) * u64::from(PPM);
            return self
                .since
                .saturating_sub(ago.checked_div(pace).unwrap_or(0));
        };
        if self.pace == TRUE_PACE {
            return self.since.saturating_add(ahead);
        }
        if ahead == 0 {
            return self.since;
        }
        if ahead > LONGEST || pace == 0 {
            return NEVER;
        }
        // At least one microsecond, of which less than one is there.
        let missing = ahead * u64::from(PPM) - self.part;
        self.since + missing.div_ceil(pace)
    }

    /// From `now` on it counts `pace` microseconds in each second; 0 stops it. It reads on from where it is, or from where
    /// it jumps to, forward or back. No machine lets its time run backwards: after a jump back it waits until the clock
    /// has caught up.
    pub const fn change(&mut self, now: u64, pace: u32, jump: i64) {
        let parts = self.parts(now.saturating_sub(self.since));
        self.read = (self.read + parts / PPM as u64).saturating_add_signed(jump);
        self.part = parts % PPM as u64;
        self.since = now;
        self.pace = pace;
    }

    /// How far it is ahead of true time, by what it counted since the run started.
    #[must_use]
    pub const fn ahead(&self, at: u64) -> i64 {
        let counted = self.reads(at).as_micros() as i64 - self.origin as i64;
        counted - at as i64
    }

    /// How many microseconds it counts in a second.
    #[must_use]
    pub const fn pace(&self) -> u32 {
        self.pace
    }

    /// What it counts in a span of true time from the last change on, in millionths of a microsecond.
    const fn parts(&self, elapsed: u64) -> u64 {
        let elapsed = if elapsed < LONGEST { elapsed } else { LONGEST };
        elapsed * self.pace as u64 + self.part
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenure::random::Random;

    #[test]
    fn reading_and_asking_when_agree() {
        let clock = Clock::starting_at(700, TRUE_PACE);
        assert_eq!(clock.reads(5).as_micros(), 705);
        assert_eq!(clock.when(clock.reads(5)), 5);
        assert_eq!(clock.when(Instant::from_micros(3)), 0);
        assert_eq!(clock.when(Instant::FOREVER), NEVER);
    }

    #[test]
    fn the_first_time_at_which_it_reads_something_is_exact_at_every_rate() {
        let mut random = Random::from_seed(3);
        for _ in 0..2_000 {
            let mut clock = Clock::starting_at(random.below(1 << 40), 1);
            let mut now = 0;
            for _ in 0..3 {
                now += random.below(5_000);
                clock.change(now, 1 + random.below(2_000_000) as u32, 0);
            }
            let instant = Instant::from_micros(clock.reads(now).as_micros() + random.below(9_000));
            let when = clock.when(instant);
            assert!(clock.reads(when) >= instant, "{clock:?}");
            assert!(
                when == now || clock.reads(when - 1) < instant,
                "{clock:?}: {when} is not the first"
            );
        }
    }

    #[test]
    fn a_change_of_rate_loses_nothing_and_never_turns_it_back() {
        // A third of a microsecond a microsecond, changed at every one of them to what it was.
        let mut clock = Clock::starting_at(0, 333_333);
        let alone = clock;
        for now in 0..10_000 {
            assert_eq!(clock.reads(now), alone.reads(now));
            clock.change(now, 333_333, 0);
            assert_eq!(clock.reads(now), alone.reads(now));
        }
        clock.change(10_000, 0, 0);
        assert_eq!(clock.reads(99_999), clock.reads(10_000));
        assert_eq!(clock.when(clock.reads(10_000)), 10_000);
        assert_eq!(clock.when(Instant::from_micros(99_999)), NEVER);
    }

    #[test]
    fn a_jump_moves_what_it_reads_by_as_much() {
        let mut clock = Clock::starting_at(1_000, TRUE_PACE);
        clock.change(50, TRUE_PACE, 300);
        assert_eq!(clock.reads(60).as_micros(), 1_360);
        clock.change(60, TRUE_PACE, -500);
        assert_eq!(clock.reads(60).as_micros(), 860);
        assert_eq!(clock.when(Instant::from_micros(1_360)), 560);
    }
}
