//! System calls made directly, never through libc's `syscall`, which this crate replaces.

use selvedge_protocol::words;

pub use crate::arch::kernel::call;
use crate::arch::kernel::come_back;

/// A handler of a signal.
pub type Handler = unsafe extern "C" fn(i32, *mut libc::siginfo_t, *mut std::ffi::c_void);

/// Has a signal handled, on the alternate stack where there is one. Not through libc, whose way back from the handler is a system call of libc's.
pub fn handle(signal: i32, handler: Handler) {
    const SA_RESTORER: usize = 0x0400_0000;
    let flags = (libc::SA_SIGINFO | libc::SA_NODEFER | libc::SA_ONSTACK) as usize | SA_RESTORER;
    // As the kernel has it: the handler, flags, the way back, and no signal blocked meanwhile.
    let action = [handler as *const () as usize, flags, come_back as *const () as usize, 0];
    // SAFETY: the kernel reads the action.
    unsafe { call(libc::SYS_rt_sigaction, [signal as usize, &raw const action as usize, 0, 8, 0, 0]) };
}

/// Sleeps until the word is no longer `value`, or a wake-up comes.
pub fn futex_wait(word: &std::sync::atomic::AtomicU32, value: u32) {
    // SAFETY: FUTEX_WAIT reads a word that is borrowed for the call.
    unsafe { call(libc::SYS_futex, [word.as_ptr() as usize, 128, value as usize, 0, 0, 0]) };
}

/// Wakes one sleeper.
pub fn futex_wake(word: &std::sync::atomic::AtomicU32) {
    // SAFETY: FUTEX_WAKE does not touch memory.
    unsafe { call(libc::SYS_futex, [word.as_ptr() as usize, 129, 1, 0, 0, 0]) };
}

fn clock(id: i32) -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes a timespec to a timespec.
    unsafe { call(libc::SYS_clock_gettime, [id as usize, &raw mut time as usize, 0, 0, 0, 0]) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Seconds since some moment, never going back.
pub fn now() -> f64 {
    clock(libc::CLOCK_MONOTONIC)
}

/// Processor seconds of this process.
pub fn cpu() -> f64 {
    clock(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// The kernel's number of the calling thread.
pub fn thread_id() -> i32 {
    // SAFETY: no arguments.
    unsafe { call(libc::SYS_gettid, [0; 6]) as i32 }
}

/// Waits, for a moment at most, until every other thread of this process sleeps.
pub fn settle() {
    const TRIES: u32 = 1000;
    let own = thread_id().to_string();
    let asleep = |thread: &std::fs::DirEntry| {
        let text = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        // The state follows the name, which ends with the last parenthesis.
        text.rsplit_once(") ").is_none_or(|(_, rest)| !rest.starts_with('R'))
    };
    for _ in 0..TRIES {
        let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return };
        let mut others = threads.flatten().filter(|thread| *thread.file_name() != *own);
        if others.all(|thread| asleep(&thread)) {
            return;
        }
        let pause = libc::timespec { tv_sec: 0, tv_nsec: 100_000 };
        // SAFETY: the kernel reads the pause.
        unsafe { call(libc::SYS_nanosleep, [&raw const pause as usize, 0, 0, 0, 0, 0]) };
    }
}

/// Ends the process at once.
pub fn exit(code: i32) -> ! {
    crate::journal::ends_itself();
    loop {
        // SAFETY: does not return.
        unsafe { call(libc::SYS_exit_group, [code as usize, 0, 0, 0, 0, 0]) };
    }
}

/// Writes to standard error.
pub fn complain(text: &str) {
    // SAFETY: the bytes are borrowed for the call.
    unsafe { call(libc::SYS_write, [2, text.as_ptr() as usize, text.len(), 0, 0, 0]) };
}

/// Says why the process cannot go on, and ends it.
pub fn give_up(complaint: &words::Complaint<'_>, code: i32) -> ! {
    complain(&complaint.to_string());
    exit(code)
}
