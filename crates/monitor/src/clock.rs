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

/// By thread, the greatest number that it has written. Only that thread writes it.
#[derive(Debug)]
pub struct Greatest([AtomicU64; THREADS_MAX]);

impl Greatest {
    pub const fn new() -> Self {
        Greatest([const { AtomicU64::new(0) }; THREADS_MAX])
    }

    /// The greatest number of the first so many threads.
    #[inline]
    pub fn all(&self, threads: usize) -> u64 {
        let greatest = |cells: &[AtomicU64]| cells.iter().map(|cell| cell.load(Ordering::Acquire)).max().unwrap_or(0);
        // A few at once, without asking how many there are.
        let (near, far) = self.0.split_at(NEAR);
        let first = greatest(near);
        if threads <= NEAR { first } else { first.max(greatest(&far[..threads - NEAR])) }
    }

    /// The greatest number of this thread.
    #[inline]
    pub fn of(&self, thread: usize) -> u64 {
        self.0[thread].load(Ordering::Relaxed)
    }

    /// The thread itself writes a number that is greater than all that it wrote before.
    #[inline]
    pub fn write(&self, thread: usize, number: u64) {
        self.0[thread].store(number, Ordering::Release);
    }
}

/// The clock, and what changes along with it: in this order, so that the first cells stand beside it.
#[repr(C, align(128))]
#[derive(Debug)]
pub struct Clock {
    now: AtomicU64,
    /// The greatest stamp of a value that the thread took out.
    pub latest: Greatest,
}

impl Clock {
    pub const fn new() -> Self {
        Clock { now: AtomicU64::new(BEGIN), latest: Greatest::new() }
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
}
