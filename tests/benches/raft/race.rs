//! Contestants in turn, many times, in slices of about a millisecond; the best of each counts. Wall time: a slice is shorter
//! than the turn the operating system gives a thread, so that among many some are left alone, and what slows the machine
//! for a while slows all contestants.

use std::time::{Duration, Instant};

const TRIES: usize = 300;

/// One slice of work, and how long it took; what is prepared for it is not counted.
pub(crate) type Slice = Box<dyn FnMut() -> Duration>;

/// Times `work`.
pub(crate) fn timed(work: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    work();
    begun.elapsed()
}

/// The best slice of each contestant, in seconds.
pub(crate) fn race<const N: usize>(mut contestants: [Slice; N]) -> [f64; N] {
    let mut best = [f64::INFINITY; N];
    for _ in 0..TRIES {
        for (best, slice) in best.iter_mut().zip(&mut contestants) {
            *best = best.min(slice().as_secs_f64());
        }
    }
    best
}
