//! What a thread remembers of the values it put in: one slot a value, used again when the value is out.
//!
//! Invariant: a slot is used again only after its value came out, so a value whose slot has another number came out before. Only the owner writes
//! the number and the return; only removers write the removal.

use std::sync::atomic::{AtomicU64, Ordering};

/// The insertion has not returned.
pub const OPEN: u64 = u64::MAX;

/// How many values of one thread are remembered.
pub const SLOTS: usize = 1 << 14;

/// Of a removal: the value is inside.
pub const INSIDE: u64 = 0;

/// Of a removal: the value was reported as lost.
pub const LOST: u64 = u64::MAX;

#[derive(Debug)]
pub struct Slot {
    /// The number of the value among those of the thread, from 1.
    pub number: AtomicU64,
    /// When its insertion returned.
    pub returned: AtomicU64,
    /// [`INSIDE`], or the call stamp of the removal.
    pub removed: AtomicU64,
}

/// The slots of one thread, and what its removals tell.
#[repr(align(128))]
#[derive(Debug)]
pub struct Ring {
    slots: Box<[Slot]>,
    /// How many values the thread put in.
    pub put: AtomicU64,
    /// Odd while the thread is in a removal.
    pub removing: AtomicU64,
}

impl Ring {
    pub fn new() -> Self {
        let slot = || Slot { number: AtomicU64::new(0), returned: AtomicU64::new(0), removed: AtomicU64::new(1) };
        Ring { slots: (0..SLOTS).map(|_| slot()).collect(), put: AtomicU64::new(0), removing: AtomicU64::new(0) }
    }

    #[inline]
    pub fn slot(&self, number: u64) -> &Slot {
        &self.slots[number as usize & (SLOTS - 1)]
    }

    /// A slot for the next value of the calling thread, which owns the ring; nothing when the value that has it is still inside.
    #[inline]
    pub fn next(&self) -> Option<u64> {
        let number = self.put.load(Ordering::Relaxed) + 1;
        let slot = self.slot(number);
        if slot.removed.load(Ordering::Acquire) == INSIDE {
            return None;
        }
        slot.number.store(number, Ordering::Relaxed);
        slot.returned.store(OPEN, Ordering::Relaxed);
        // Whoever sees this sees the number too.
        slot.removed.store(INSIDE, Ordering::Release);
        // Those who look at the slots see it as open at least.
        self.put.store(number, Ordering::Release);
        Some(number)
    }
}
