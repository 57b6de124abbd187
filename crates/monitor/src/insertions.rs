//! When the insertions of a thread returned, as far as their call does not tell.
//!
//! An insertion during which the clock did not move needs no entry, for then its return has the same stamp as its call. Those that overlapped with others are in a ring that only
//! their thread writes.
//!
//! Invariant: entries are in the order of their calls and of their returns, and what is answered of a return is never before it.

use std::sync::OnceLock;
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
#[repr(C)]
#[derive(Debug, Default)]
pub struct Insertions {
    /// Those that were called before have returned: one more than the stamp of the last return.
    next: AtomicU64,
    /// How many overlapped with others, and the last of them.
    overlapped: AtomicU64,
    entries: Ring<ENTRIES>,
}

/// Numbers, zeros to begin with. There is no memory for them before one is written.
#[derive(Debug, Default)]
pub struct Ring<const ENTRIES: usize>(OnceLock<Box<[AtomicU64; ENTRIES]>>);

impl<const ENTRIES: usize> Ring<ENTRIES> {
    /// Writes a number in the place of the one that is so many before it.
    #[inline]
    pub fn write(&self, number: u64, entry: u64) {
        self.0.get_or_init(Self::zeros)[number as usize % ENTRIES].store(entry, Ordering::Release);
    }

    #[cold]
    fn zeros() -> Box<[AtomicU64; ENTRIES]> {
        let zeros: Box<[AtomicU64]> = (0..ENTRIES).map(|_| AtomicU64::new(0)).collect();
        zeros.try_into().expect("there are so many")
    }

    pub fn read(&self, number: u64) -> u64 {
        self.0.get().map_or(0, |entries| entries[number as usize % ENTRIES].load(Ordering::Acquire))
    }
}

impl Insertions {
    /// The thread's own insertion has returned. Stamps of calls begin with 1.
    #[inline]
    pub fn over(&self, called: u64, returned: u64) {
        if returned != called {
            self.overlapped(called, returned);
        }
        self.next.store(returned + 1, Ordering::Release);
    }

    /// The thread's own insertion is over, and nobody knows whether it did something, or when.
    #[cold]
    pub fn lost(&self, called: u64, over: u64) {
        self.overlapped(called, called + LENGTH_MAX);
        self.next.store(over + 1, Ordering::Release);
    }

    /// Whether the thread's own insertion has returned right after its last one, with no return of others in between: it overlapped with none then, and is over.
    #[inline]
    pub fn goes_on(&self, returned: u64) -> bool {
        let goes_on = self.next.load(Ordering::Relaxed) == returned;
        if goes_on {
            self.next.store(returned + 1, Ordering::Release);
        }
        goes_on
    }

    /// One more than the stamp of the last return.
    pub fn next(&self) -> u64 {
        self.next.load(Ordering::Acquire)
    }

    #[cold]
    fn overlapped(&self, called: u64, returned: u64) {
        let number = self.overlapped.load(Ordering::Relaxed);
        // In this order: whoever reads an entry in place of an older one sees that the ring is full.
        self.entries.write(number, Insertion::pack(called, returned));
        self.overlapped.store(number + 1, Ordering::Release);
    }

    /// When the thread's insertion that was called then has returned.
    pub fn returned(&self, called: u64) -> Returned {
        if called >= CALLED_MAX {
            return Returned::Unknown;
        }
        if self.next() <= called {
            return Returned::NotYet;
        }
        let overlapped = self.overlapped.load(Ordering::Acquire);
        let mut after = None;
        for number in (overlapped.saturating_sub(ENTRIES as u64)..overlapped).rev() {
            let insertion = Insertion::unpack(self.entries.read(number));
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
