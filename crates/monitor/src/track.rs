//! What a thread leaves behind on its way: how many insertions and removals it made, and the last of them, in two rings that only it writes.
//!
//! Invariant: entries of insertions are in the order of their calls and of their returns. Counts are exact; the rings remember the last [`ENTRIES`].

use std::sync::atomic::{AtomicU64, Ordering};

/// How many insertions and how many removals of one thread are remembered one by one.
pub const ENTRIES: usize = 1 << 13;

/// So many of the oldest entries may be written while others read.
const SPARE: u64 = 1 << 8;

/// A value's stamp: when its insertion was called, and which thread did. No two values of a queue have the same.
pub const THREAD_BITS: u32 = 8;

/// Of an insertion that overlapped with so many others the return is not known.
pub const LENGTH_MAX: u64 = (1 << LENGTH_BITS) - 1;

const LENGTH_BITS: u32 = 20;

/// Moments from here on do not fit in an entry: order is not looked up any more.
pub const CALLED_MAX: u64 = 1 << (u64::BITS - LENGTH_BITS);

/// Of the word of removals: a removal is open.
const OPEN: u64 = 1 << 47;

/// Of the word of removals: one that found nothing.
const NOTHING: u64 = 1 << 48;

/// The stamp of a value that this thread is about to put in.
#[inline]
pub fn stamp(thread: usize, called: u64) -> u64 {
    called << THREAD_BITS | thread as u64
}

/// The thread that put the value in, and when.
#[inline]
pub fn unstamp(stamp: u64) -> (usize, u64) {
    ((stamp & ((1 << THREAD_BITS) - 1)) as usize, stamp >> THREAD_BITS)
}

/// An insertion: when it was called, and when it returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Insertion {
    pub called: u64,
    /// Nothing when that is not known.
    pub returned: Option<u64>,
}

impl Insertion {
    #[inline]
    fn pack(called: u64, returned: u64) -> u64 {
        called << LENGTH_BITS | (returned - called).min(LENGTH_MAX)
    }

    fn unpack(entry: u64) -> Self {
        let (called, length) = (entry >> LENGTH_BITS, entry & LENGTH_MAX);
        Insertion { called, returned: (length < LENGTH_MAX).then_some(called + length) }
    }
}

/// The removals of a thread so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removals(u64);

impl Removals {
    /// How many returned a value.
    pub fn taken(self) -> u64 {
        self.0 & (OPEN - 1)
    }

    /// Whether one is open.
    pub fn is_open(self) -> bool {
        self.0 & OPEN != 0
    }
}

/// The rings of one thread.
#[repr(align(128))]
#[derive(Debug)]
pub struct Track {
    put: AtomicU64,
    removals: AtomicU64,
    inserted: Box<[AtomicU64; ENTRIES]>,
    removed: Box<[AtomicU64; ENTRIES]>,
}

fn zeros() -> Box<[AtomicU64; ENTRIES]> {
    let zeros: Box<[AtomicU64]> = (0..ENTRIES).map(|_| AtomicU64::new(0)).collect();
    zeros.try_into().expect("there are so many")
}

impl Track {
    pub fn new() -> Self {
        Track { put: AtomicU64::new(0), removals: AtomicU64::new(0), inserted: zeros(), removed: zeros() }
    }

    /// Whether one of the last so many removals took out the value with this stamp.
    pub fn removed(&self, stamp: u64, last: u64) -> bool {
        let taken = self.removals().taken();
        let mut numbers = taken.saturating_sub(last.min(ENTRIES as u64))..taken;
        numbers.any(|number| self.removed[number as usize & (ENTRIES - 1)].load(Ordering::Relaxed) == stamp)
    }

    /// The last insertions that have returned, or more, from the last one back.
    pub fn last_inserted(&self) -> impl Iterator<Item = Insertion> {
        let put = self.put.load(Ordering::Acquire);
        // The oldest may be overwritten meanwhile.
        let numbers = put.saturating_sub(ENTRIES as u64 - SPARE)..put;
        numbers
            .rev()
            .map(|number| Insertion::unpack(self.inserted[number as usize & (ENTRIES - 1)].load(Ordering::Relaxed)))
    }

    /// The thread's own insertion has returned.
    #[inline]
    pub fn entered(&self, called: u64, returned: u64) {
        let number = self.put.load(Ordering::Relaxed);
        self.inserted[number as usize & (ENTRIES - 1)].store(Insertion::pack(called, returned), Ordering::Relaxed);
        self.put.store(number + 1, Ordering::Release);
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
        let word = self.removals.load(Ordering::Relaxed) & !OPEN;
        let taken = word & (OPEN - 1);
        self.removed[taken as usize & (ENTRIES - 1)].store(stamp, Ordering::Relaxed);
        self.removals.store(word + 1, Ordering::Release);
        taken + 1
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
