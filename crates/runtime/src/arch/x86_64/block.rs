//! The thread control block of glibc.

use std::ffi::CStr;

use super::switch::thread_pointer;

/// What libc keeps of the calling thread in its control block, as an address and a size: values of keys, the buffer of `strerror`. Not what the kernel knows of, nor what other
/// threads do: lists of threads, the thread's number, the list of its robust mutexes, restartable sequences.
pub fn own() -> (usize, usize) {
    /// Where the handlers of `pthread_cleanup_push` are, behind those; so in every version of glibc for this processor.
    const FIRST: usize = 760;
    let word = |name: &CStr| {
        // SAFETY: asks the linker for a variable of libc, which is there or not; only libc writes to it.
        unsafe {
            let found = libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()).cast::<u32>();
            if found.is_null() { None } else { Some(*found as usize) }
        }
    };
    // Restartable sequences come last, where there are any.
    let end = word(c"__rseq_offset").or_else(|| word(c"_thread_db_sizeof_pthread")).unwrap_or(FIRST);
    (thread_pointer() as usize + FIRST, end.saturating_sub(FIRST))
}
