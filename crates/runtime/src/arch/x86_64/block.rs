//! The thread control block of glibc.
//!
//! Nothing of its layout is written down here: where it begins to be the thread's own is asked of the kernel, and where it ends of libc.

use std::ffi::CStr;

use super::switch::thread_pointer;
use crate::sys;

/// What libc keeps of the calling thread in its control block, as an address and a size: handlers of `pthread_cleanup_push`, values of keys, the buffer of `strerror`. Not what the
/// kernel knows of, nor what other threads do: lists of threads, the thread's number, the list of its robust mutexes, restartable sequences.
/// `None` where that is not known of this libc. The thread's stack, which has the block at its upper end, ends at `limit`.
pub fn own(limit: usize) -> Option<(usize, usize)> {
    let pointer = thread_pointer() as usize;
    let start = behind_robust_list()?;
    // Restartable sequences are the last part of the block, or (since glibc 2.41) lie outside of it.
    let sequences = variable::<isize>(c"__rseq_offset").and_then(|offset| pointer.checked_add_signed(offset));
    let size = variable::<u32>(c"_thread_db_sizeof_pthread").map(|size| size as usize);
    let behind = size.map_or(limit, |size| limit.min(pointer + size));
    let end = sequences.filter(|&sequences| sequences > start).map_or(behind, |sequences| behind.min(sequences));
    // What debuggers are told of the block: where the values of keys begin.
    let keys =
        variable::<[u32; 3]>(c"_thread_db_pthread_specific").map_or(start, |[.., offset]| pointer + offset as usize);
    (start > pointer && (start..end).contains(&keys)).then(|| (start, end - start))
}

/// What comes after the head of the list of the calling thread's robust mutexes.
fn behind_robust_list() -> Option<usize> {
    let (mut head, mut size) = (0usize, 0usize);
    let places = [0, &raw mut head as usize, &raw mut size as usize, 0, 0, 0];
    // SAFETY: the kernel writes where the list that libc has told it of begins, and how large its head is.
    let told = unsafe { sys::call(libc::SYS_get_robust_list, places) };
    (told == 0 && head != 0).then_some(head + size)
}

/// A variable of libc.
fn variable<T: Copy>(name: &CStr) -> Option<T> {
    // SAFETY: asks the linker for a variable that is there, and then of this type, or not; only libc writes to it.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()).cast::<T>().as_ref().copied() }
}
