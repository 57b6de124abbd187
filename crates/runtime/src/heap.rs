//! The runtime's own memory: always libc's, whatever `malloc` means to the code under test.

use std::alloc::{GlobalAlloc, Layout};
use std::ffi::c_void;

unsafe extern "C" {
    pub(crate) fn __libc_malloc(size: usize) -> *mut c_void;
    pub(crate) fn __libc_free(block: *mut c_void);
    pub(crate) fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    pub(crate) fn __libc_realloc(block: *mut c_void, size: usize) -> *mut c_void;
    pub(crate) fn __libc_memalign(align: usize, size: usize) -> *mut c_void;
}

struct Libc;

// SAFETY: libc's allocator meets the contract; blocks with more than its own alignment come from `memalign`.
unsafe impl GlobalAlloc for Libc {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: plain calls of libc.
        unsafe {
            if layout.align() > 16 {
                __libc_memalign(layout.align(), layout.size()).cast()
            } else {
                __libc_malloc(layout.size()).cast()
            }
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        // SAFETY: the block came from `alloc`.
        unsafe { __libc_free(block.cast()) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if layout.align() <= 16 {
            // SAFETY: the block came from `alloc`, with libc's own alignment.
            return unsafe { __libc_realloc(block.cast(), size).cast() };
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
static HEAP: Libc = Libc;
