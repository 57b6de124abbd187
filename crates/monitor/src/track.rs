//! What a thread leaves behind on its way: its insertions, how many removals it made, the last of them in a ring that only it writes, and the sums of
//! what it put in and took out.
//!
//! Invariant: counts and sums are exact; the ring remembers the last [`REMOVALS`].

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

use super::insertions::{Insertions, Returned, zeros};

/// How many removals of one thread are remembered one by one: so few that they stay in the nearest cache.
const REMOVALS: usize = 1 << 10;

/// A value's stamp: when its insertion was called, which thread did, and a one. No two values of a queue have the same.
const THREAD_BITS: u32 = 8;

/// Of the word of removals: a removal is open. Next come those that returned a value.
const OPEN: u64 = 1;

/// Of the word of removals: one that found nothing.
const NOTHING: u64 = 1 << 48;

/// The stamp of a value that a thread without a number put in.
pub const UNSEEN: NonZeroU64 = NonZeroU64::MIN;

/// The stamp of a value that this thread is about to put in.
#[inline]
pub fn stamp(thread: usize, called: u64) -> NonZeroU64 {
    UNSEEN | (called << (THREAD_BITS + 1) | (thread as u64) << 1)
}

/// The thread that put the value in, and when: 0 for none.
#[inline]
pub fn unstamp(stamp: u64) -> (usize, u64) {
    ((stamp >> 1 & ((1 << THREAD_BITS) - 1)) as usize, stamp >> (THREAD_BITS + 1))
}

/// The removals of a thread so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removals(u64);

impl Removals {
    /// How many returned a value.
    pub fn taken(self) -> u64 {
        (self.0 & (NOTHING - 1)) / 2
    }

    /// Whether one is open.
    pub fn is_open(self) -> bool {
        self.0 & OPEN != 0
    }
}

/// What a thread has done in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// What the insertions that have returned put in.
    pub put_sum: u64,
    /// The removals, and what they took out.
    pub removals: Removals,
    pub removed_sum: u64,
}

/// Of a sum: how many were added up.
pub const ADDED: u64 = (1 << 16) - 1;

/// A stamp as a number that looks drawn at random, so that different values have different sums but by accident; and the one that counts it.
#[inline]
fn mix(stamp: u64) -> u64 {
    let product = u128::from(stamp) * u128::from(0x9e37_79b9_7f4a_7c15_u64);
    ((product as u64) ^ (product >> u64::BITS) as u64) & !ADDED | 1
}

/// The rings of one thread.
#[repr(align(128))]
#[derive(Debug)]
pub struct Track {
    removals: AtomicU64,
    /// What went in and what came out, mixed and added up: equal when these are the same values.
    put_sum: AtomicU64,
    removed_sum: AtomicU64,
    insertions: Insertions,
    removed: Box<[AtomicU64; REMOVALS]>,
}

impl Track {
    pub fn new() -> Self {
        Track {
            removals: AtomicU64::new(0),
            put_sum: AtomicU64::new(0),
            removed_sum: AtomicU64::new(0),
            insertions: Insertions::new(),
            removed: zeros(),
        }
    }

    /// Whether one of the last so many removals took out the value with this stamp.
    pub fn removed(&self, stamp: u64, last: u64) -> bool {
        let taken = self.removals().taken();
        let mut numbers = taken.saturating_sub(last.min(REMOVALS as u64))..taken;
        numbers.any(|number| self.removed[number as usize & (REMOVALS - 1)].load(Ordering::Relaxed) == stamp)
    }

    /// What the thread has done in all.
    pub fn done(&self) -> Done {
        Done {
            put_sum: self.put_sum.load(Ordering::Acquire),
            removals: self.removals(),
            removed_sum: self.removed_sum.load(Ordering::Acquire),
        }
    }

    /// The thread's own insertion of the value with this stamp has returned.
    #[inline]
    pub fn entered(&self, stamp: u64, returned: u64) {
        self.put_sum.store(self.put_sum.load(Ordering::Relaxed).wrapping_add(mix(stamp)), Ordering::Relaxed);
        self.insertions.over(unstamp(stamp).1, returned);
    }

    /// When the thread's insertion that was called then has returned.
    pub fn returned(&self, called: u64) -> Returned {
        self.insertions.returned(called)
    }

    /// The removals of the thread.
    pub fn removals(&self) -> Removals {
        Removals(self.removals.load(Ordering::Acquire))
    }

    /// The thread is about to call a removal.
    #[inline]
    pub fn leave(&self) {
        let open = self.removals.load(Ordering::Relaxed) | OPEN;
        self.removals.store(open, Ordering::Relaxed);
        settle();
    }

    /// The thread's removal has returned the value with this stamp; how many have returned one.
    #[inline]
    pub fn left(&self, stamp: u64) -> u64 {
        let word = self.removals.load(Ordering::Relaxed) | OPEN;
        self.removed_sum.store(self.removed_sum.load(Ordering::Relaxed).wrapping_add(mix(stamp)), Ordering::Relaxed);
        self.removed[(word / 2) as usize & (REMOVALS - 1)].store(stamp, Ordering::Relaxed);
        // The one that is open becomes one that is over.
        self.removals.store(word + 1, Ordering::Release);
        word / 2 + 1
    }

    /// The thread's removal has returned nothing, or nothing that counts.
    #[inline]
    pub fn left_nothing(&self) {
        let word = self.removals.load(Ordering::Relaxed) & !OPEN;
        self.removals.store(word.wrapping_add(NOTHING), Ordering::Release);
    }
}

/// What was stored before is seen by whoever sees what comes after. On x86-64 that is how stores are, and only the compiler must be told.
#[inline]
pub fn settle() {
    if cfg!(target_arch = "x86_64") {
        std::sync::atomic::compiler_fence(Ordering::SeqCst);
    } else {
        std::sync::atomic::fence(Ordering::SeqCst);
    }
}
