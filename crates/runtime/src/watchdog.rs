//! Notices when the code under test makes no steps: it waits in a call that is not controlled, or computes for ever.
//!
//! A thread of its own looks at the number of steps now and then. When that stands still it looks up what the controlled thread is
//! doing, and sends it a signal; the handler ends the run with a finding that names the call. A thread that waits in no call must have had
//! the processor for as long: on a busy machine it may only not have had its turn.

use std::ffi::c_void;
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, Ordering};

use selvedge_protocol::Out;

use crate::control;
use crate::memory::pages;
use crate::posix::process::WAKE_UP;
use crate::posix::real;
use crate::{journal, sys};

/// So many looks without a step, this far apart, are too many.
const LOOKS: u32 = 8;
const PAUSE_MS: u32 = 250;

static WATCHED: AtomicI32 = AtomicI32::new(0);
/// The system call that the watched thread is in; -1 when it is in none.
static CALL: AtomicI64 = AtomicI64::new(-1);

/// 1 when the watch is known as a thread of the runtime's own: before that it would be taken for one of the program, and be held still with those.
static KNOWN: AtomicU32 = AtomicU32::new(0);

/// Watches the calling thread from now on.
pub fn watch() {
    if WATCHED.swap(sys::thread_id(), Ordering::Relaxed) != 0 {
        return;
    }
    let mut id: libc::pthread_t = 0;
    // SAFETY: a thread without arguments that never ends; without it only the watch is lost.
    let failed = unsafe { real::pthread_create()(&mut id, std::ptr::null(), look, std::ptr::null_mut()) };
    while failed == 0 && KNOWN.load(Ordering::Acquire) == 0 {
        sys::futex_wait(&KNOWN, 0);
    }
}

/// The same in a process that was made by copying one that watched: its watch was not copied.
pub fn watch_anew() {
    WATCHED.store(0, Ordering::Relaxed);
    KNOWN.store(0, Ordering::Relaxed);
    // Libc counts the new thread in every run.
    pages::commit(watch);
}

unsafe extern "C" fn look(_: *mut c_void) -> *mut c_void {
    crate::freeze::own();
    KNOWN.store(1, Ordering::Release);
    sys::futex_wake(&KNOWN);
    let mut last = 0;
    let mut still = 0;
    let mut used = 0;
    loop {
        let pause = libc::timespec { tv_sec: 0, tv_nsec: i64::from(PAUSE_MS) * 1_000_000 };
        // SAFETY: the kernel reads the pause.
        unsafe { sys::call(libc::SYS_nanosleep, [&raw const pause as usize, 0, 0, 0, 0, 0]) };
        let now = journal::decisions();
        let watched = WATCHED.load(Ordering::Relaxed);
        still = if control::any_active() && now == last { still + 1 } else { 0 };
        if still == 0 {
            used = processor_ms(watched);
        }
        last = now;
        if still >= LOOKS || still >= 1 && journal::is_late() {
            let call = system_call_of(watched);
            if !journal::is_late() && call < 0 && processor_ms(watched) < used + u64::from(LOOKS * PAUSE_MS) {
                continue;
            }
            // One that only computes may have been asked what it looks at; then it has not answered the next time.
            still = LOOKS - 2;
            CALL.store(call, Ordering::Relaxed);
            // SAFETY: a signal to a thread of this process.
            unsafe {
                let process = sys::call(libc::SYS_getpid, [0; 6]) as usize;
                sys::call(libc::SYS_tgkill, [process, watched as usize, WAKE_UP as usize, 0, 0, 0]);
            }
        }
    }
}

/// How long a thread of this process has had the processor, in milliseconds.
fn processor_ms(thread: i32) -> u64 {
    // As the kernel numbers the clocks of threads.
    let clock = !thread << 3 | 6;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes the time.
    unsafe { sys::call(libc::SYS_clock_gettime, [clock as usize, &raw mut time as usize, 0, 0, 0, 0]) };
    time.tv_sec as u64 * 1_000 + time.tv_nsec as u64 / 1_000_000
}

/// The number of the system call that a thread of this process is in; -1 when it is in none.
pub fn system_call_of(thread: i32) -> i64 {
    let text = std::fs::read_to_string(format!("/proc/self/task/{thread}/syscall")).unwrap_or_default();
    text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(-1)
}

/// Whether the watched thread was found in no call, and there is time to ask it what it does.
pub fn computes() -> bool {
    CALL.load(Ordering::Relaxed) < 0 && !journal::is_late()
}

/// What the watched thread was found at.
pub fn verdict() -> Out {
    match CALL.load(Ordering::Relaxed) {
        call if call < 0 => Out::Computes,
        call => Out::WaitsInCall(call),
    }
}
