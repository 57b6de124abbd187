//! Where the dynamic linker lies, which keeps what it knows across runs: so its memory has to last as well.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Its first address and its size; a size of 1 where there is none.
static START: AtomicUsize = AtomicUsize::new(0);
static SIZE: AtomicUsize = AtomicUsize::new(0);

/// Whether the call that returns to this address was made by the linker.
#[inline(always)]
pub fn called(pc: u64) -> bool {
    if SIZE.load(Ordering::Relaxed) == 0 {
        find();
    }
    (pc as usize).wrapping_sub(START.load(Ordering::Relaxed)) < SIZE.load(Ordering::Relaxed)
}

/// Reads it out of the linker's own headers: at the first call nobody else can be asked.
#[cold]
#[inline(never)]
fn find() {
    // SAFETY: reads what the kernel told the process.
    let base = unsafe { libc::getauxval(libc::AT_BASE) } as usize;
    let mut size = 1;
    if base != 0 {
        // SAFETY: the kernel has mapped the linker there, headers first.
        let headers = unsafe {
            let file = &*(base as *const libc::Elf64_Ehdr);
            let first = (base + file.e_phoff as usize) as *const libc::Elf64_Phdr;
            std::slice::from_raw_parts(first, usize::from(file.e_phnum))
        };
        let loaded = headers.iter().filter(|header| header.p_type == libc::PT_LOAD);
        size = loaded.map(|header| (header.p_vaddr + header.p_memsz) as usize).max().unwrap_or(1);
    }
    START.store(base, Ordering::Relaxed);
    SIZE.store(size, Ordering::Relaxed);
}
