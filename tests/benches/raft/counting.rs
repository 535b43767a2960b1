//! An allocator that counts while it is asked to. Asking costs every contestant a look at one flag, so that the times beside
//! the counts stay fair to those who allocate.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static COUNTS: AtomicBool = AtomicBool::new(false);
static CALLS: AtomicU64 = AtomicU64::new(0);
static HELD: AtomicI64 = AtomicI64::new(0);

struct Counting;

/// What some work did with memory.
#[derive(Clone, Copy)]
pub(crate) struct Allocated {
    /// How often it asked for memory, growing included.
    pub(crate) calls: u64,
    /// How many bytes it holds more than before; less than nothing where it gave some back.
    pub(crate) held: i64,
}

/// Counts what `work` does with memory.
pub(crate) fn allocated<T>(work: impl FnOnce() -> T) -> (T, Allocated) {
    CALLS.store(0, Relaxed);
    HELD.store(0, Relaxed);
    COUNTS.store(true, Relaxed);
    let done = work();
    COUNTS.store(false, Relaxed);
    let counted = Allocated {
        calls: CALLS.load(Relaxed),
        held: HELD.load(Relaxed),
    };
    (done, counted)
}

fn count(calls: u64, held: i64) {
    if COUNTS.load(Relaxed) {
        CALLS.fetch_add(calls, Relaxed);
        HELD.fetch_add(held, Relaxed);
    }
}

fn bytes(size: usize) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}

// SAFETY: every call is passed on to the system's allocator as it came; counting touches no memory but its own.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(1, bytes(layout.size()));
        // SAFETY: the caller's promise, passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(0, -bytes(layout.size()));
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(1, bytes(size) - bytes(layout.size()));
        // SAFETY: as above.
        unsafe { System.realloc(at, layout, size) }
    }
}
