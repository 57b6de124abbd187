//! `malloc` and its relatives, as everybody calls them.
//!
//! Who calls, and when, decides where a block lies: a run's are gone with the run ([`arena`]), those from before a search are put back
//! ([`before`]), those that somebody allocates between runs last ([`heap`]), and so do those of the linker, which knows across runs what it has loaded.

use std::ffi::{c_int, c_void};

use crate::abi::plain::announce_at;
use crate::arch::site;
use crate::control::{active, with};
use crate::heap;
use crate::memory::arena::{self, allocate, check, inside, release, size_of_block};
use crate::memory::pool::UNIT;
use crate::memory::{before, linker};

unsafe extern "C" {
    fn __libc_free(block: *mut c_void);
    fn __libc_realloc(block: *mut c_void, size: usize) -> *mut c_void;
}

crate::entries! {
    malloc => malloc_at;
    free => free_at;
    calloc => calloc_at;
    realloc => realloc_at;
    reallocarray => reallocarray_at;
    memalign => memalign_at;
    aligned_alloc => memalign_at;
    posix_memalign => posix_memalign_at;
    malloc_usable_size => usable_size_at;
    valloc => valloc_at;
    pvalloc => pvalloc_at;
}

unsafe extern "C" fn malloc_at(size: usize) -> *mut c_void {
    block_for(size, UNIT)
}

/// A block for whoever calls.
#[inline(always)]
fn block_for(size: usize, align: usize) -> *mut c_void {
    let lasts = linker::called(site::pc());
    if active() && !lasts {
        return allocate(size, align);
    }
    if lasts || before::is_over() {
        return heap::allocate(size, align);
    }
    if !arena::map() {
        // There will be no search.
        return heap::allocate(size, align);
    }
    before::allocate(size, align) as *mut c_void
}

unsafe extern "C" fn free_at(block: *mut c_void) {
    let address = block as usize;
    if inside(address) {
        if active() {
            release(address, site::pc());
        } else if before::inside(address) && !before::is_over() {
            before::release(address);
        }
        // Else the run's, which is gone with it and which nobody outside can own; or from before, and put back whatever is said of it now.
    } else if heap::inside(address) {
        // SAFETY: a block that was handed out from there, which its owner gives back.
        unsafe { heap::free(block) };
    } else {
        // SAFETY: not ours, so libc's.
        unsafe { __libc_free(block) }
    }
}

/// How much of what `calloc` and `realloc` fill is looked at.
const FILLED_MAX: usize = 4096;

/// What was allocated is filled, which is a write like any other: who gets to the block without an order reads beside it. Where races are allowed
/// that is no step: nobody else knows of the block yet.
fn filled(block: *mut c_void, size: usize, pc: u64) {
    if active() && inside(block as usize) && with(|control| control.search.settings.races && control.run.races.on) {
        announce_at(block, size.min(FILLED_MAX), true, pc);
    }
}

unsafe extern "C" fn calloc_at(count: usize, size: usize) -> *mut c_void {
    let pc = site::pc();
    let Some(total) = count.checked_mul(size) else { return std::ptr::null_mut() };
    let block = block_for(total, UNIT);
    let is_zero = before::inside(block as usize) && before::is_zero(total);
    if !block.is_null() && !is_zero {
        // SAFETY: a block of that size.
        unsafe { std::ptr::write_bytes(block.cast::<u8>(), 0, total) };
        filled(block, total, pc);
    }
    block
}

/// How many bytes a block has; 0 for null and for what is no block of ours.
///
/// # Safety
/// A block that was handed out, or null.
unsafe fn bytes_of(block: *mut c_void) -> usize {
    match block as usize {
        address if inside(address) => size_of_block(address),
        // SAFETY: what lies there was handed out from there.
        address if heap::inside(address) => unsafe { heap::size_of(block) },
        _ => 0,
    }
}

unsafe extern "C" fn realloc_at(block: *mut c_void, size: usize) -> *mut c_void {
    let (pc, address) = (site::pc(), block as usize);
    if !block.is_null() && !inside(address) && !heap::inside(address) {
        // SAFETY: not ours, so libc's.
        return unsafe { __libc_realloc(block, size) };
    }
    if inside(address) {
        if active() {
            check(address, 1, true, pc);
        } else if !before::inside(address) {
            return std::ptr::null_mut();
        }
    }
    // SAFETY: the caller's block, or null.
    let old = unsafe { bytes_of(block) };
    let other = block_for(size, UNIT);
    if !other.is_null() && !block.is_null() {
        // SAFETY: both blocks are in use and large enough; what calls this may free the old one.
        unsafe {
            std::ptr::copy_nonoverlapping(block.cast::<u8>(), other.cast::<u8>(), old.min(size));
            filled(other, old.min(size), pc);
            free_at(block);
        }
    }
    other
}

unsafe extern "C" fn reallocarray_at(block: *mut c_void, count: usize, size: usize) -> *mut c_void {
    match count.checked_mul(size) {
        // SAFETY: as `realloc`.
        Some(total) => unsafe { realloc_at(block, total) },
        None => std::ptr::null_mut(),
    }
}

unsafe extern "C" fn memalign_at(align: usize, size: usize) -> *mut c_void {
    if align.is_power_of_two() { block_for(size, align) } else { std::ptr::null_mut() }
}

unsafe extern "C" fn posix_memalign_at(out: *mut *mut c_void, align: usize, size: usize) -> c_int {
    if !align.is_power_of_two() || !align.is_multiple_of(size_of::<usize>()) {
        return libc::EINVAL;
    }
    // SAFETY: as `memalign`; the caller gives a place for the answer.
    unsafe {
        let block = memalign_at(align, size);
        if block.is_null() {
            return libc::ENOMEM;
        }
        out.write(block);
    }
    0
}

unsafe extern "C" fn usable_size_at(block: *mut c_void) -> usize {
    // SAFETY: the caller's block, or null.
    unsafe { bytes_of(block) }
}

unsafe extern "C" fn valloc_at(size: usize) -> *mut c_void {
    // SAFETY: as `memalign`.
    unsafe { memalign_at(4096, size) }
}

unsafe extern "C" fn pvalloc_at(size: usize) -> *mut c_void {
    match size.checked_next_multiple_of(4096) {
        // SAFETY: as `memalign`.
        Some(size) => unsafe { memalign_at(4096, size) },
        None => std::ptr::null_mut(),
    }
}
