//! One clock for all threads: a counter that the return of every insertion moves on, and beside it, for each thread, the latest insertion that it took out.
//!
//! Invariant: an insertion a returned before an operation b was called exactly when a's return stamp is less than b's call stamp. A call reads the
//! clock and a return adds one to it, around the operation itself, so the clock is also how many insertions have returned.
//!
//! Everything stands in neighbouring words: with up to seven threads it is one cache line, and an operation asks for no other line that others write.

use std::sync::atomic::{AtomicU64, Ordering};

use super::threads::THREADS_MAX;

/// The first reading.
pub const BEGIN: u64 = 1;

/// How many threads are looked at in any case.
const NEAR: usize = 3;

/// The clock, and what changes along with it.
#[repr(align(128))]
#[derive(Debug)]
pub struct Clock {
    now: AtomicU64,
    /// By thread: the greatest stamp of a value that it took out. Only that thread writes it.
    latest: [AtomicU64; THREADS_MAX],
}

impl Clock {
    pub const fn new() -> Self {
        Clock { now: AtomicU64::new(BEGIN), latest: [const { AtomicU64::new(0) }; THREADS_MAX] }
    }

    /// The stamp of a call that is made next.
    #[inline]
    pub fn call(&self) -> u64 {
        self.now.load(Ordering::SeqCst)
    }

    /// The stamp of a return that was made just now.
    #[inline]
    pub fn ret(&self) -> u64 {
        self.now.fetch_add(1, Ordering::SeqCst)
    }

    /// The greatest stamp of a value over the removals that have returned, of the first so many threads.
    #[inline]
    pub fn latest(&self, threads: usize) -> u64 {
        let latest = |cells: &[AtomicU64]| cells.iter().map(|cell| cell.load(Ordering::Acquire)).max().unwrap_or(0);
        // A few at once, without asking how many there are.
        let (near, far) = self.latest.split_at(NEAR);
        let first = latest(near);
        if threads <= NEAR { first } else { first.max(latest(&far[..threads - NEAR])) }
    }

    /// A removal of this thread returned the value with this stamp, which is greater than all that it returned before.
    #[inline]
    pub fn removed(&self, thread: usize, stamp: u64) {
        self.latest[thread].store(stamp, Ordering::Release);
    }
}
