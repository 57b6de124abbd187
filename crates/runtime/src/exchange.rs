//! A page that the search shares with its workers and with whoever started the program: how many runs were made, and a word that asks it to
//! stop.
//!
//! Invariant: nothing that is found depends on this page; without it nobody sees how far the search is, and that is all.

use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::sys;

/// What is on the page, in the order that `selvedge_driver::Watch` knows.
#[repr(C)]
struct Page {
    stop: AtomicU64,
    runs: AtomicU64,
}

const SIZE: usize = 4096;

static PAGE: AtomicPtr<Page> = AtomicPtr::new(std::ptr::null_mut());

/// Maps the page: the file that the environment names, or memory that only the workers share.
pub fn open() {
    if page().is_some() {
        return;
    }
    use std::os::fd::AsRawFd;
    let file = std::env::var_os(selvedge_protocol::channel::EXCHANGE_VARIABLE);
    let file = file.and_then(|path| std::fs::File::options().read(true).write(true).open(path).ok());
    let file = file.filter(|file| file.metadata().is_ok_and(|about| about.len() >= SIZE as u64));
    let (flags, descriptor) = match &file {
        Some(file) => (libc::MAP_SHARED, file.as_raw_fd() as usize),
        None => (libc::MAP_SHARED | libc::MAP_ANONYMOUS, usize::MAX),
    };
    let protection = (libc::PROT_READ | libc::PROT_WRITE) as usize;
    // SAFETY: a new mapping of a page that stays.
    let got = unsafe { sys::call(libc::SYS_mmap, [0, SIZE, protection, flags as usize, descriptor, 0]) };
    if got > 0 {
        PAGE.store(got as *mut Page, Ordering::Relaxed);
    }
}

fn page() -> Option<&'static Page> {
    // SAFETY: null, or a page that is never unmapped, with words that are only used as atomics.
    unsafe { PAGE.load(Ordering::Relaxed).as_ref() }
}

/// One more run was made.
#[inline]
pub fn count() {
    if let Some(page) = page() {
        page.runs.fetch_add(1, Ordering::Relaxed);
    }
}

/// Whether the search is asked to end.
pub fn stopped() -> bool {
    page().is_some_and(|page| page.stop.load(Ordering::Relaxed) != 0)
}
