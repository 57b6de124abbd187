//! Stops where a replay fails, for whoever wants to look at it with a debugger.
//!
//! Invariant: the stop is on the stack of the thread that failed, inside of the call that failed; without being asked for it never happens.

use crate::arch::kernel::stop_for_debugger;
use crate::control::with;
use crate::sys;
use selvedge_protocol::words;

/// The run has failed, or nobody can go on, and the thread that was last to run is still where it was.
pub fn failed() {
    if with(|control| control.search.settings.stop_at_failure) {
        selvedge_failed();
    }
}

/// Where a debugger stops. Its name is for those who look at the stack.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn selvedge_failed() {
    // SAFETY: no arguments.
    let process = unsafe { sys::call(libc::SYS_getpid, [0; 6]) };
    if !is_traced() {
        sys::complain(&words::Complaint::Stopped(process as i64).to_string());
    }
    while !is_traced() {
        let pause = libc::timespec { tv_sec: 0, tv_nsec: 100_000_000 };
        // SAFETY: the kernel reads the pause.
        unsafe { sys::call(libc::SYS_nanosleep, [&raw const pause as usize, 0, 0, 0, 0, 0]) };
    }
    stop_for_debugger();
}

/// Whether a debugger is there.
fn is_traced() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:"));
    tracer.is_some_and(|tracer| tracer.trim() != "0")
}
