//! Many seeds on a few threads. What is summed does not depend on who summed it.

use crate::args::Seeds;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How many seeds a thread takes at a time.
const SHARE: u64 = 16;

/// How often progress is told at least, if it takes long.
const PULSE: Duration = Duration::from_secs(5);

/// Runs `one` on every seed, each thread into an accumulator of its own. Progress goes to the standard error.
///
/// # Errors
/// As of [`quietly`].
pub(crate) fn each<A: Default + Send, E: Send>(
    seeds: &Seeds,
    one: impl Fn(&mut A, u64) -> Result<(), E> + Sync,
    merge: impl Fn(&mut A, A),
) -> Result<A, E> {
    let began = Instant::now();
    // In milliseconds since then.
    let told = AtomicU64::new(0);
    shared(seeds, one, merge, &|before, now, total| {
        let elapsed = began.elapsed();
        let millis = elapsed.as_millis() as u64;
        let tenth = before * 10 / total != now * 10 / total;
        if tenth || millis >= told.load(Ordering::Relaxed) + PULSE.as_millis() as u64 {
            told.store(millis, Ordering::Relaxed);
            let rate = now as f64 / elapsed.as_secs_f64().max(0.001);
            let left = (total - now) as f64 / rate.max(0.001);
            eprintln!("  {now} of {total}, {rate:.0} a second, {left:.0} s left");
        }
    })
}

/// The same without a word.
///
/// # Errors
/// The first error of any seed; the other threads stop at their next share.
pub(crate) fn quietly<A: Default + Send, E: Send>(
    seeds: &Seeds,
    one: impl Fn(&mut A, u64) -> Result<(), E> + Sync,
    merge: impl Fn(&mut A, A),
) -> Result<A, E> {
    shared(seeds, one, merge, &|_, _, _| ())
}

/// Shares the seeds out. `tell` hears how many were done before, are done now, and are to be done.
fn shared<A: Default + Send, E: Send>(
    seeds: &Seeds,
    one: impl Fn(&mut A, u64) -> Result<(), E> + Sync,
    merge: impl Fn(&mut A, A),
    tell: &(impl Fn(u64, u64, u64) + Sync),
) -> Result<A, E> {
    let total = seeds.range.end - seeds.range.start;
    let (next, done) = (AtomicU64::new(0), AtomicU64::new(0));
    let work = || {
        let mut sum = A::default();
        loop {
            let first = next.fetch_add(SHARE, Ordering::Relaxed);
            if first >= total {
                return Ok(sum);
            }
            let share = first..(first + SHARE).min(total);
            let count = share.end - share.start;
            for offset in share {
                if let Err(error) = one(&mut sum, seeds.range.start + offset) {
                    next.store(total, Ordering::Relaxed);
                    return Err(error);
                }
            }
            let before = done.fetch_add(count, Ordering::Relaxed);
            tell(before, before + count, total);
        }
    };
    let parts: Vec<Result<A, E>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..seeds.threads).map(|_| scope.spawn(work)).collect();
        // A thread ends by a panic only, and then so does the command.
        threads
            .into_iter()
            .map(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
            .collect()
    });
    let mut sum = A::default();
    for part in parts {
        merge(&mut sum, part?);
    }
    Ok(sum)
}
