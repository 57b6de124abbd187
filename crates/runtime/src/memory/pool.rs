//! Blocks of memory by size, over a range of addresses of their own.
//!
//! Invariant: a block belongs to one class of sizes for ever, so one that was freed fits every request of its class. A large one gives its
//! memory back to the system when it is freed, and is zero again. Nothing here uses libc, which may be in the middle of anything.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::sys;

/// What blocks are aligned to.
pub const UNIT: usize = 16;
const PAGE: usize = 4096;
/// Blocks up to this size have a class for each multiple of [`UNIT`].
const FINE: usize = 1024;
/// Above it each power of two has so many classes.
const STEPS: usize = 8;
/// Classes up to 2^46 bytes.
const CLASSES: usize = FINE / UNIT + 1 + 36 * STEPS;
/// From this size on a freed block's memory goes back to the system.
const LARGE: usize = 256 << 10;

/// So much is mapped at once.
const CHUNK: usize = 32 << 20;

/// A lock for a few instructions.
pub struct Lock(AtomicBool);

impl Lock {
    /// Nobody has it.
    pub const fn new() -> Self {
        Lock(AtomicBool::new(false))
    }

    /// Does something while nobody else has the lock.
    #[inline]
    pub fn hold<R>(&self, action: impl FnOnce() -> R) -> R {
        while self.0.swap(true, Ordering::Acquire) {
            // SAFETY: no arguments.
            unsafe { sys::call(libc::SYS_sched_yield, [0; 6]) };
        }
        let result = action();
        self.0.store(false, Ordering::Release);
        result
    }
}

/// Maps so many bytes there, which are zero and take no memory before they are used. False when the addresses are taken.
pub fn map(at: usize, size: usize) -> bool {
    map_as(at, size, libc::PROT_READ | libc::PROT_WRITE)
}

/// The same for memory that is read only, until it is opened: that takes nothing of what the system may hand out.
pub fn reserve(at: usize, size: usize) -> bool {
    map_as(at, size, libc::PROT_READ)
}

/// Memory that was reserved can be written to.
pub fn open(at: usize, size: usize) -> bool {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: memory of the arena, which more is allowed with than before.
    unsafe { sys::call(libc::SYS_mprotect, [at, size, protection as usize, 0, 0, 0]) == 0 }
}

fn map_as(at: usize, size: usize, protection: libc::c_int) -> bool {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    // SAFETY: a new mapping, at addresses that nobody has.
    let got = unsafe { sys::call(libc::SYS_mmap, [at, size, protection as usize, flags as usize, usize::MAX, 0]) };
    got == at as isize
}

/// A range of addresses, and what is free in it.
pub struct Pool {
    base: usize,
    size: usize,
    used: usize,
    mapped: usize,
    /// The first freed block of each class; each holds the address of the next.
    free: [usize; CLASSES],
}

/// The class of blocks for that many bytes, and their size.
#[inline]
fn class(size: usize) -> (usize, usize) {
    if size <= FINE {
        let units = size.div_ceil(UNIT).max(1);
        return (units, units * UNIT);
    }
    let last = size - 1;
    let log = last.ilog2() as usize;
    let shift = log - STEPS.ilog2() as usize;
    let step = last >> shift;
    let first = FINE / UNIT + 1 + (log - FINE.ilog2() as usize) * STEPS;
    (first + step % STEPS, (step + 1) << shift)
}

impl Pool {
    /// All of these addresses are free.
    pub const fn new(base: usize, size: usize) -> Self {
        Pool { base, size, used: 0, mapped: 0, free: [0; CLASSES] }
    }

    /// The addresses that were ever used.
    pub fn used(&self) -> (usize, usize) {
        (self.base, self.base + self.used)
    }

    /// A block of so many bytes, or 0. Of a large one all bytes are zero but for those of the first unit.
    pub fn take(&mut self, size: usize) -> usize {
        if size > self.size {
            return 0;
        }
        let (class, size) = class(size);
        let block = self.free[class];
        if block != 0 {
            // SAFETY: a freed block holds the address of the next.
            self.free[class] = unsafe { *(block as *const usize) };
            return block;
        }
        let start = if size >= LARGE { self.used.next_multiple_of(PAGE) } else { self.used };
        if !self.reach(start + size) {
            return 0;
        }
        self.used = start + size;
        self.base + start
    }

    /// Maps memory up to there.
    fn reach(&mut self, end: usize) -> bool {
        if end <= self.mapped {
            return true;
        }
        let more = (end - self.mapped).next_multiple_of(CHUNK);
        let done = self.mapped + more <= self.size && map(self.base + self.mapped, more);
        self.mapped += if done { more } else { 0 };
        done
    }

    /// The block that was taken for so many bytes is free.
    pub fn give(&mut self, block: usize, size: usize) {
        let (class, size) = class(size);
        if size >= LARGE {
            // SAFETY: whole pages of a block that nobody uses.
            unsafe {
                sys::call(libc::SYS_madvise, [block, size & !(PAGE - 1), libc::MADV_DONTNEED as usize, 0, 0, 0]);
                std::ptr::write_bytes((block + (size & !(PAGE - 1))) as *mut u8, 0, size % PAGE);
            }
        }
        // SAFETY: the block is large enough for an address, and nobody uses it.
        unsafe { *(block as *mut usize) = self.free[class] };
        self.free[class] = block;
    }

    /// How large a block is that was taken for so many bytes.
    pub fn taken(size: usize) -> usize {
        class(size).1
    }

    /// Whether a block that was taken for so many bytes is one for so many others as well.
    pub fn fits(old: usize, new: usize) -> bool {
        class(old).0 == class(new).0
    }

    /// Whether a block of so many bytes is zero behind its first unit.
    pub fn is_zero(size: usize) -> bool {
        class(size).1 >= LARGE
    }
}
