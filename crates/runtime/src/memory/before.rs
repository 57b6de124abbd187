//! Memory that the program allocates while no search is under way: in constructors of global objects, in a test harness.
//!
//! It lies in the arena beside that of runs, behind it, so accesses to it are looked at in the same way. A block that a run frees is free for the
//! rest of that run only.
//!
//! Invariant: nothing is allocated or freed here during a search.

use selvedge_protocol::words;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::memory::arena::{self, FREED, IN_USE, UNUSED};
use crate::memory::pool::{Lock, Pool, UNIT};
use crate::sys;

/// Blocks from this size on lie among themselves, so that what is small lies close together.
const LARGE: usize = 64 << 10;
const SMALL_SIZE: usize = 12 << 30;
const LARGE_SIZE: usize = 48 << 30;
/// All of it.
pub const SIZE: usize = SMALL_SIZE + LARGE_SIZE;

/// In the word before a block, beside its size: where what was taken begins, and how large it is, stands in the unit before.
const MOVED: usize = 1;

struct Pools {
    small: Pool,
    large: Pool,
}

impl Pools {
    fn of(&mut self, total: usize) -> &mut Pool {
        if total < LARGE { &mut self.small } else { &mut self.large }
    }
}

struct Cell(UnsafeCell<Pools>);

// SAFETY: used only while the lock is held.
unsafe impl Sync for Cell {}

static POOLS: Cell = Cell(UnsafeCell::new(Pools {
    small: Pool::new(arena::BEFORE, SMALL_SIZE),
    large: Pool::new(arena::BEFORE + SMALL_SIZE, LARGE_SIZE),
}));
static LOCK: Lock = Lock::new();
static SEARCH: AtomicBool = AtomicBool::new(false);

/// Whether a search is under way.
#[inline]
pub fn is_over() -> bool {
    SEARCH.load(Ordering::Relaxed)
}

/// A search begins or ends.
pub fn set_over(search: bool) {
    SEARCH.store(search, Ordering::Relaxed);
}

/// Whether an address lies here.
#[inline]
pub fn inside(address: usize) -> bool {
    address.wrapping_sub(arena::BEFORE) < SIZE
}

fn with<R>(action: impl FnOnce(&mut Pools) -> R) -> R {
    // SAFETY: the lock is held, and `action` does not call this.
    LOCK.hold(|| action(unsafe { &mut *POOLS.0.get() }))
}

/// The addresses that were ever used, small blocks and large ones.
pub fn used() -> [(usize, usize); 2] {
    with(|pools| [pools.small.used(), pools.large.used()])
}

/// A block of so many bytes; 0 when there is no memory.
pub fn allocate(size: usize, align: usize) -> usize {
    let Some(rounded) = size.max(1).checked_next_multiple_of(UNIT) else { return 0 };
    // Before a block that is aligned to more than a unit is room for a note of where what was taken for it begins.
    let more = if align > UNIT { align + UNIT } else { 0 };
    let Some(total) = rounded.checked_add(UNIT + more) else { return 0 };
    with(|pools| {
        let start = if arena::map() { pools.of(total).take(total) } else { 0 };
        if start == 0 {
            return 0;
        }
        let (mut block, mut noted) = (start + UNIT, rounded);
        if more > 0 {
            block = (start + 2 * UNIT).next_multiple_of(align);
            noted |= MOVED;
            // SAFETY: the block begins two units later at least.
            unsafe { ((block - 2 * UNIT) as *mut [usize; 2]).write([start, total]) };
        }
        // SAFETY: the unit before the block is part of what was taken.
        unsafe { ((block - UNIT) as *mut [usize; 2]).write([noted, size]) };
        // What is left over on both sides may have been part of another block.
        arena::mark(start, (block - start) / UNIT, UNUSED);
        let (end, taken) = (block + rounded, start + Pool::taken(total));
        if end < taken {
            arena::mark(end, (taken - end) / UNIT, UNUSED);
        }
        arena::mark(block, rounded / UNIT, IN_USE);
        block
    })
}

/// Whether a block of so many bytes, just allocated, is zero.
pub fn is_zero(size: usize) -> bool {
    Pool::is_zero(size)
}

/// Frees a block.
pub fn release(block: usize) {
    with(|pools| {
        if !arena::is_block(block) {
            sys::give_up(&words::Complaint::BadFree, 134);
        }
        // SAFETY: a block in use has its sizes in the unit before.
        let [noted, _] = unsafe { *((block - UNIT) as *const [usize; 2]) };
        let [start, total] = if noted & MOVED == 0 {
            [block - UNIT, noted + UNIT]
        } else {
            // SAFETY: where it was moved, what was taken is noted before that.
            unsafe { *((block - 2 * UNIT) as *const [usize; 2]) }
        };
        arena::mark(block, noted / UNIT, FREED);
        pools.of(total).give(start, total);
    });
}
