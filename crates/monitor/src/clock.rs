//! One clock for all threads: a counter that every return moves on.
//!
//! Invariant: operation a returned before b was called exactly when a's return stamp is less than b's call stamp. A call reads the
//! clock and a return adds one to it, with sequential consistency, around the operation itself.

use std::sync::atomic::{AtomicU64, Ordering};

/// The clock, and what changes along with it, on a cache line of their own.
#[repr(align(128))]
#[derive(Debug)]
pub struct Clock {
    now: AtomicU64,
    /// The greatest call stamp of an insertion over the removals that have returned.
    latest: AtomicU64,
}

impl Clock {
    pub const fn new() -> Self {
        Clock { now: AtomicU64::new(1), latest: AtomicU64::new(0) }
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

    /// The greatest call stamp of an insertion over the removals that have returned.
    #[inline]
    pub fn latest(&self) -> u64 {
        self.latest.load(Ordering::SeqCst)
    }

    /// A removal returned what was inserted by a call with this stamp.
    #[inline]
    pub fn removed(&self, inserted: u64) {
        // Mostly another removal was later: then nothing needs to be written.
        if self.latest.load(Ordering::Relaxed) < inserted {
            self.latest.fetch_max(inserted, Ordering::SeqCst);
        }
    }
}
