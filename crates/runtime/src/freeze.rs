//! Holds the other threads of the process still while a search has control of it.
//!
//! A program that runs its tests itself has threads that are not part of any test: the harness that waits for the test that runs, and
//! now and then looks at the clock. Whatever they call while runs are under way would be taken for a call of the code under test. So
//! each of them gets a signal, and waits in its handler until the search is over.
//!
//! Invariant: the runtime's own threads (sleepers and watchdog) are left alone; fibers run on the sleepers' stacks.

use std::ffi::c_int;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicUsize, Ordering};

use crate::sys;

/// What the others are sent. Not used by libc, and by hardly anything else.
const HOLD: c_int = libc::SIGSTKFLT;
/// How many threads the runtime may have.
const OWN_MAX: usize = 128;

static OWN: [AtomicI32; OWN_MAX] = [const { AtomicI32::new(0) }; OWN_MAX];
static OWN_COUNT: AtomicUsize = AtomicUsize::new(0);
/// 1 while the others are to wait.
static CLOSED: AtomicU32 = AtomicU32::new(0);
/// How many wait.
static HELD: AtomicU32 = AtomicU32::new(0);

/// How many of them are not the program's first thread, which is a test harness's.
static BYSTANDERS: AtomicUsize = AtomicUsize::new(0);

/// How many threads of the program take no part in the search, its first one aside.
pub fn bystanders() -> usize {
    BYSTANDERS.load(Ordering::Relaxed)
}

/// The calling thread is one of the runtime's.
pub fn own() {
    let at = OWN_COUNT.fetch_add(1, Ordering::Relaxed);
    if let Some(place) = OWN.get(at) {
        place.store(sys::thread_id(), Ordering::Release);
    }
}

unsafe extern "C" fn hold(_: c_int) {
    HELD.fetch_add(1, Ordering::AcqRel);
    while CLOSED.load(Ordering::Acquire) == 1 {
        sys::futex_wait(&CLOSED, 1);
    }
    HELD.fetch_sub(1, Ordering::AcqRel);
}

/// The others wait until this is dropped.
pub struct Frozen(());

impl Frozen {
    /// Stops every other thread. One that does not stop within a moment is past stopping: on its way in or out.
    pub fn new() -> Self {
        // SAFETY: a handler that makes system calls only.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = hold as *const () as usize;
            action.sa_flags = libc::SA_RESTART;
            libc::sigaction(HOLD, &action, std::ptr::null_mut());
        }
        CLOSED.store(1, Ordering::Release);
        let mut told = Vec::new();
        // Twice: a thread may have started another before it was stopped.
        for _ in 0..2 {
            for thread in others().into_iter().filter(|thread| !told.contains(thread)).collect::<Vec<_>>() {
                wait(|| is_asleep(thread));
                // SAFETY: a signal to a thread of this process.
                unsafe {
                    let process = sys::call(libc::SYS_getpid, [0; 6]) as usize;
                    sys::call(libc::SYS_tgkill, [process, thread as usize, HOLD as usize, 0, 0, 0]);
                }
                told.push(thread);
            }
            wait(|| HELD.load(Ordering::Acquire) as usize >= told.len());
        }
        // SAFETY: asks for the number of this process.
        let first = unsafe { sys::call(libc::SYS_getpid, [0; 6]) } as i32;
        BYSTANDERS.store(told.iter().filter(|&&thread| thread != first).count(), Ordering::Relaxed);
        Frozen(())
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        CLOSED.store(0, Ordering::Release);
        // SAFETY: FUTEX_WAKE does not touch memory.
        unsafe { sys::call(libc::SYS_futex, [CLOSED.as_ptr() as usize, 129, i32::MAX as usize, 0, 0, 0]) };
        wait(|| HELD.load(Ordering::Acquire) == 0);
    }
}

/// The threads that are neither this one nor the runtime's.
fn others() -> Vec<i32> {
    let this = sys::thread_id();
    let own = |thread: i32| OWN.iter().any(|other| other.load(Ordering::Acquire) == thread);
    let Ok(entries) = std::fs::read_dir("/proc/self/task") else { return Vec::new() };
    let threads = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    threads.filter(|&thread| thread != this && !own(thread)).collect()
}

/// Whether a thread waits in the kernel. One that is stopped in the middle of `malloc` would keep a lock that the search needs.
fn is_asleep(thread: i32) -> bool {
    const WAITS: [i64; 9] = [
        libc::SYS_futex,
        libc::SYS_poll,
        libc::SYS_ppoll,
        libc::SYS_epoll_wait,
        libc::SYS_epoll_pwait,
        libc::SYS_nanosleep,
        libc::SYS_clock_nanosleep,
        libc::SYS_read,
        libc::SYS_wait4,
    ];
    WAITS.contains(&crate::watchdog::system_call_of(thread))
}

/// Waits a moment for something.
fn wait(done: impl Fn() -> bool) {
    for _ in 0..2_000 {
        if done() {
            return;
        }
        let pause = libc::timespec { tv_sec: 0, tv_nsec: 50_000 };
        // SAFETY: the kernel reads the pause.
        unsafe { sys::call(libc::SYS_nanosleep, [&raw const pause as usize, 0, 0, 0, 0, 0]) };
    }
}
