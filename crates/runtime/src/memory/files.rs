//! Open files: what a run opens and leaves open is closed after it, and what was open before is read from where it was.
//!
//! Invariant: a descriptor that was open when the search began, or when this process became one of its workers, is never closed here. What
//! a run writes to files, and what it closes, is not put back.

use std::cell::UnsafeCell;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::sys;

#[derive(Default)]
struct Files {
    /// The descriptors that were open, in order.
    open: Vec<usize>,
    /// Those of files that are read, and where they are read on.
    places: Vec<(usize, usize)>,
}

struct Cell(UnsafeCell<Files>);

// SAFETY: used by the search between runs only.
unsafe impl Sync for Cell {}

static FILES: Cell = Cell(UnsafeCell::new(Files { open: Vec::new(), places: Vec::new() }));
static OPENED: AtomicBool = AtomicBool::new(false);

/// A run opens something.
pub fn opened() {
    OPENED.store(true, Ordering::Relaxed);
}

/// Whether what the run does with that file leaves nothing behind: the run has opened it, or only reads it and its place is put back.
pub fn is_put_back(descriptor: usize) -> bool {
    // SAFETY: code under control calls, between two calls of the search.
    let files = unsafe { &*FILES.0.get() };
    // SAFETY: asks the kernel about a descriptor.
    let flags = unsafe { sys::call(libc::SYS_fcntl, [descriptor, libc::F_GETFL as usize, 0, 0, 0, 0]) };
    let only_read = flags >= 0 && flags as c_int & libc::O_ACCMODE == libc::O_RDONLY;
    only_read || files.open.binary_search(&descriptor).is_err()
}

/// A search begins: notes what is open now.
pub fn begin() {
    OPENED.store(false, Ordering::Relaxed);
    let open = open();
    let places = open.iter().filter_map(|&file| Some((file, place_of(file)?))).collect();
    // SAFETY: no run is under way.
    unsafe { *FILES.0.get() = Files { open, places } };
}

/// The same in a copy of the process. It reads files for itself: the other one would read on from where this one is.
pub fn begin_anew() {
    // SAFETY: no run is under way in the copy, and its other threads are not copied.
    let files = unsafe { &mut *FILES.0.get() };
    for &(file, _) in &files.places {
        reopen(file);
    }
    files.open = open();
}

/// Opens a file once more, for the same descriptor.
fn reopen(file: usize) {
    let path = format!("/proc/self/fd/{file}\0");
    // SAFETY: the path is borrowed for the call; the descriptor stays open.
    unsafe {
        let flags = sys::call(libc::SYS_fcntl, [file, libc::F_GETFL as usize, 0, 0, 0, 0]);
        let directory = libc::AT_FDCWD as usize;
        let new = sys::call(libc::SYS_openat, [directory, path.as_ptr() as usize, flags as usize, 0, 0, 0]);
        if let Ok(new) = usize::try_from(new) {
            let own = sys::call(libc::SYS_fcntl, [file, libc::F_GETFD as usize, 0, 0, 0, 0]);
            let stays = if own as c_int & libc::FD_CLOEXEC == 0 { 0 } else { libc::O_CLOEXEC };
            sys::call(libc::SYS_dup3, [new, file, stays as usize, 0, 0, 0]);
            sys::call(libc::SYS_close, [new, 0, 0, 0, 0, 0]);
        }
    }
}

/// The descriptors that are open, in order.
fn open() -> Vec<usize> {
    let numbers = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let mut open: Vec<usize> = numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    // The directory itself was among them while it was read.
    // SAFETY: asks the kernel about descriptors.
    open.retain(|&file| unsafe { sys::call(libc::SYS_fcntl, [file, libc::F_GETFD as usize, 0, 0, 0, 0]) >= 0 });
    open.sort_unstable();
    open
}

/// The search is over.
pub fn end() {
    // SAFETY: no run is under way.
    unsafe { *FILES.0.get() = Files::default() };
    OPENED.store(false, Ordering::Relaxed);
}

/// Where a file is read on, if it is one that is read. What the program prints may go to a file as well.
fn place_of(file: usize) -> Option<usize> {
    // SAFETY: asks the kernel about a descriptor.
    let (flags, place) = unsafe {
        let flags = sys::call(libc::SYS_fcntl, [file, libc::F_GETFL as usize, 0, 0, 0, 0]);
        (flags, sys::call(libc::SYS_lseek, [file, 0, libc::SEEK_CUR as usize, 0, 0, 0]))
    };
    // SAFETY: the kernel writes a description of the descriptor.
    let is_file = unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        sys::call(libc::SYS_fstat, [file, &raw mut status as usize, 0, 0, 0, 0]) == 0
            && status.st_mode & libc::S_IFMT == libc::S_IFREG
    };
    let is_read = flags >= 0 && flags as c_int & libc::O_ACCMODE != libc::O_WRONLY && ![1, 2].contains(&file);
    usize::try_from(place).ok().filter(|_| is_file && is_read)
}

/// Puts it back.
pub fn restore() {
    // SAFETY: no run is under way, and nobody changes the list meanwhile.
    let files = unsafe { &*FILES.0.get() };
    for &(file, place) in &files.places {
        // SAFETY: no memory is named.
        unsafe { sys::call(libc::SYS_lseek, [file, place, libc::SEEK_SET as usize, 0, 0, 0]) };
    }
    if OPENED.load(Ordering::Relaxed) && !files.open.is_empty() {
        close_others(&files.open);
    }
}

/// Closes everything but these.
fn close_others(open: &[usize]) {
    const LAST: usize = u32::MAX as usize;
    let mut first = 0;
    for next in open.iter().copied().chain([LAST]) {
        if first < next {
            let last = if next == LAST { LAST } else { next - 1 };
            // SAFETY: what a run that is over has opened; nobody knows of it any more.
            unsafe { sys::call(libc::SYS_close_range, [first, last, 0, 0, 0, 0]) };
        }
        first = next + 1;
    }
}
