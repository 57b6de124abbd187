//! What both programs of the comparison need.

/// The CPU seconds that this process has used.
pub fn cpu_seconds() -> f64 {
    // SAFETY: the system fills in a structure of its own.
    let time = unsafe {
        let mut time: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time);
        time
    };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
