//! One clock for all threads: a counter that the return of every insertion moves on, and beside it the latest insertion that was taken out.
//!
//! Invariant: an insertion a returned before an operation b was called exactly when a's return stamp is less than b's call stamp. A call reads the
//! clock and a return adds one to it, around the operation itself, so the clock is also how many insertions have returned.
//!
//! Everything stands in neighbouring words: it is one cache line, and an operation asks for no other line that others write.

use std::sync::atomic::{AtomicU64, Ordering};

/// The first reading.
pub const BEGIN: u64 = 1;

/// How many threads have a word of their own.
const NEAR: usize = 2;

/// The greatest number that anyone has written. The first few threads have a word each, which only they write; the others have one together. So a look is at these few words, however many threads there are.
#[derive(Debug)]
pub struct Greatest {
    near: [AtomicU64; NEAR],
    far: AtomicU64,
}

impl Greatest {
    pub const fn new() -> Self {
        Greatest { near: [const { AtomicU64::new(0) }; NEAR], far: AtomicU64::new(0) }
    }

    /// The greatest number of all threads.
    #[inline]
    pub fn all(&self) -> u64 {
        let far = self.far.load(Ordering::Acquire);
        self.near.iter().fold(far, |greatest, cell| greatest.max(cell.load(Ordering::Acquire)))
    }

    /// The thread writes a number; it is greater than all that this thread wrote before.
    #[inline]
    pub fn write(&self, thread: usize, number: u64) {
        match self.near.get(thread) {
            Some(cell) => cell.store(number, Ordering::Release),
            None => self.write_far(number),
        }
    }

    #[cold]
    fn write_far(&self, number: u64) {
        self.far.fetch_max(number, Ordering::AcqRel);
    }
}

/// The clock, and what changes along with it.
#[repr(C, align(128))]
#[derive(Debug)]
pub struct Clock {
    now: AtomicU64,
    /// The greatest stamp of a value that came out.
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
