//! Memory that lasts: the runtime's own, and what libc and the linker allocate for it or keep for themselves.
//!
//! Invariant: nothing of it is put back between runs, and none of it is libc's: what libc keeps is put back, and with that what it knows
//! of its own heap.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::ffi::c_void;

use crate::memory::pool::{Lock, Pool, UNIT};

const BASE: usize = 0x6200_0000_0000;
const SIZE: usize = 1 << 40;

struct Cell(UnsafeCell<Pool>);

// SAFETY: used only while the lock is held.
unsafe impl Sync for Cell {}

static POOL: Cell = Cell(UnsafeCell::new(Pool::new(BASE, SIZE)));
static LOCK: Lock = Lock::new();

#[inline]
fn take(size: usize) -> usize {
    // SAFETY: the lock is held.
    LOCK.hold(|| unsafe { (*POOL.0.get()).take(size) })
}

#[inline]
fn give(block: usize, size: usize) {
    // SAFETY: the lock is held.
    LOCK.hold(|| unsafe { (*POOL.0.get()).give(block, size) });
}

/// So much is taken for a block of that size and alignment, where alignment asks for more than a unit: the block, and before it a unit that says where
/// what was taken begins, and how large it is.
fn with_note(size: usize, align: usize) -> Option<usize> {
    size.checked_add(align)?.checked_add(UNIT)
}

/// Takes a block with such a note; 0 when there is no memory.
fn take_noted(size: usize, align: usize) -> usize {
    let align = align.max(UNIT);
    let Some(total) = with_note(size, align) else { return 0 };
    let start = take(total);
    if start == 0 {
        return 0;
    }
    let block = (start + UNIT).next_multiple_of(align);
    // SAFETY: the unit before the block is part of what was taken.
    unsafe { ((block - UNIT) as *mut [usize; 2]).write([start, total]) };
    block
}

/// # Safety
/// The block is one of [`take_noted`].
unsafe fn note_of(block: usize) -> [usize; 2] {
    // SAFETY: the unit before such a block has its note.
    unsafe { *((block - UNIT) as *const [usize; 2]) }
}

/// # Safety
/// The block is one of [`take_noted`], and nobody uses it any more.
unsafe fn give_noted(block: usize) {
    // SAFETY: the caller says which block it is.
    let [start, total] = unsafe { note_of(block) };
    give(start, total);
}

/// Whether an address lies here.
#[inline]
pub fn inside(address: usize) -> bool {
    address.wrapping_sub(BASE) < SIZE
}

/// As `memalign`, for code that gives the block back with [`free`].
pub fn allocate(size: usize, align: usize) -> *mut c_void {
    take_noted(size, align) as *mut c_void
}

/// Gives a block back.
///
/// # Safety
/// The block is one of [`allocate`], and nobody uses it any more.
pub unsafe fn free(block: *mut c_void) {
    // SAFETY: the caller says which block it is.
    unsafe { give_noted(block as usize) };
}

/// How much may be written to a block.
///
/// # Safety
/// The block is one of [`allocate`].
pub unsafe fn size_of(block: *mut c_void) -> usize {
    // SAFETY: the caller says which block it is.
    let [start, total] = unsafe { note_of(block as usize) };
    start + total - block as usize
}

struct Own;

// SAFETY: blocks of the pool are its callers' own, and as large and as aligned as asked for.
unsafe impl GlobalAlloc for Own {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let block = if layout.align() > UNIT { take_noted(layout.size(), layout.align()) } else { take(layout.size()) };
        block as *mut u8
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller says that the layout is one; what is filled is the block that was made of it.
        unsafe {
            let block = self.alloc(layout);
            if !block.is_null() {
                let zero = layout.align() <= UNIT && Pool::is_zero(layout.size());
                std::ptr::write_bytes(block, 0, if zero { UNIT } else { layout.size() });
            }
            block
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if layout.align() > UNIT {
            // SAFETY: a block of that alignment was taken with a note, and its owner gives it back.
            unsafe { give_noted(block as usize) };
        } else {
            give(block as usize, layout.size());
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if layout.align() <= UNIT && Pool::fits(layout.size(), size) {
            return block;
        }
        // SAFETY: as the default method does it.
        unsafe {
            let other = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !other.is_null() {
                std::ptr::copy_nonoverlapping(block, other, layout.size().min(size));
                self.dealloc(block, layout);
            }
            other
        }
    }
}

#[global_allocator]
static HEAP: Own = Own;
