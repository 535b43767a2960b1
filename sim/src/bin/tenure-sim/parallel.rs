//! Many seeds on a few threads. What is summed does not depend on who summed it.

use crate::args::Seeds;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many seeds a thread takes at a time.
const SHARE: u64 = 16;

/// Runs `one` on every seed, each thread into an accumulator of its own. Progress goes to the standard error.
///
/// # Errors
/// The first error of any seed; the other threads stop at their next share.
pub(crate) fn each<A: Default + Send, E: Send>(
    seeds: &Seeds,
    one: impl Fn(&mut A, u64) -> Result<(), E> + Sync,
    merge: impl Fn(&mut A, A),
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
            if before * 10 / total != (before + count) * 10 / total {
                eprintln!("  {} of {total}", before + count);
            }
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
