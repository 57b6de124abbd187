//! When the insertions of a thread returned, as far as their call does not tell.
//!
//! An insertion during which the clock did not move needs no entry, for then its return has the same stamp as its call. Those that overlapped with others are in a ring that only
//! their thread writes.
//!
//! Invariant: entries are in the order of their calls and of their returns, and what is answered of a return is never before it.

use std::sync::atomic::{AtomicU64, Ordering};

/// How many insertions of one thread that overlapped are remembered one by one.
const ENTRIES: usize = 1 << 13;

/// Of an insertion that overlapped with so many others the return is not known.
pub const LENGTH_MAX: u64 = (1 << LENGTH_BITS) - 1;

const LENGTH_BITS: u32 = 20;

/// Moments from here on do not fit in an entry: order is not looked up any more.
pub const CALLED_MAX: u64 = 1 << (u64::BITS - LENGTH_BITS);

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

/// What is known of the return of an insertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returned {
    /// It is open.
    NotYet,
    At(u64),
    /// It is forgotten, but was over when this later one of the same thread was called.
    Before(u64),
    Unknown,
}

/// The insertions of one thread.
#[derive(Debug)]
pub struct Insertions {
    /// When the last one that has returned was called; 0 for none.
    last: AtomicU64,
    /// How many overlapped with others, and the last of them.
    overlapped: AtomicU64,
    entries: Box<[AtomicU64; ENTRIES]>,
}

/// Zeros to begin with.
pub fn zeros<const ENTRIES: usize>() -> Box<[AtomicU64; ENTRIES]> {
    let zeros: Box<[AtomicU64]> = (0..ENTRIES).map(|_| AtomicU64::new(0)).collect();
    zeros.try_into().expect("there are so many")
}

impl Insertions {
    pub fn new() -> Self {
        Insertions { last: AtomicU64::new(0), overlapped: AtomicU64::new(0), entries: zeros() }
    }

    /// The thread's own insertion has returned. Stamps of calls begin with 1.
    #[inline]
    pub fn over(&self, called: u64, returned: u64) {
        if returned != called {
            self.overlapped(called, returned);
        }
        self.last.store(called, Ordering::Release);
    }

    #[cold]
    fn overlapped(&self, called: u64, returned: u64) {
        let number = self.overlapped.load(Ordering::Relaxed);
        // In this order: whoever reads an entry in place of an older one sees that the ring is full.
        let entry = &self.entries[number as usize & (ENTRIES - 1)];
        entry.store(Insertion::pack(called, returned), Ordering::Release);
        self.overlapped.store(number + 1, Ordering::Release);
    }

    /// When the thread's insertion that was called then has returned.
    pub fn returned(&self, called: u64) -> Returned {
        if called >= CALLED_MAX {
            return Returned::Unknown;
        }
        if self.last.load(Ordering::Acquire) < called {
            return Returned::NotYet;
        }
        let overlapped = self.overlapped.load(Ordering::Acquire);
        let mut after = None;
        for number in (overlapped.saturating_sub(ENTRIES as u64)..overlapped).rev() {
            let entry = self.entries[number as usize & (ENTRIES - 1)].load(Ordering::Acquire);
            let insertion = Insertion::unpack(entry);
            match insertion.called.cmp(&called) {
                // Entries are overwritten from the oldest on: where one is left that is older than it, its own would be left too.
                std::cmp::Ordering::Less => return Returned::At(called),
                std::cmp::Ordering::Equal => return insertion.returned.map_or(Returned::Unknown, Returned::At),
                std::cmp::Ordering::Greater => after = Some(insertion.called),
            }
        }
        // Nothing was overwritten: it is not there because it did not overlap.
        if self.overlapped.load(Ordering::Acquire) < ENTRIES as u64 {
            return Returned::At(called);
        }
        after.map_or(Returned::Unknown, Returned::Before)
    }
}
