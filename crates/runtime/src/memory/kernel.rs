//! System calls of the code under test, before they are made, while pages are read-only.
//!
//! The kernel does not fault: it refuses to write to a page that is read-only, and the code under test would be told of an error that it did not make.
//! So the kernel is asked to hand over each system call that is not made from the runtime's own code. What is known to write nothing, or where, is
//! made here. Before anything else is made, all pages become writable, and nothing is handed over any more.
//!
//! Invariant: no system call that may write to memory is made while a page that it may write to is read-only.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU8, Ordering};

use crate::control::active;
use crate::memory::{files, pages};
use crate::sys;

/// Whether system calls are handed over, as the kernel reads it.
static HANDED_OVER: AtomicU8 = AtomicU8::new(0);

const PR_SET_SYSCALL_USER_DISPATCH: usize = 59;

/// Has system calls of the calling kernel thread handed over, unless they are made from these addresses. False when the kernel cannot do that.
pub fn begin(own: (u64, u64)) -> bool {
    const ON: usize = 1;
    sys::handle(libc::SIGSYS, on_call);
    let (start, size) = (own.0 as usize, (own.1 - own.0) as usize);
    let arguments = [PR_SET_SYSCALL_USER_DISPATCH, ON, start, size, HANDED_OVER.as_ptr() as usize, 0];
    // SAFETY: the kernel reads a byte that is always there.
    let done = unsafe { sys::call(libc::SYS_prctl, arguments) } == 0;
    set(done);
    done
}

/// The same in a copy of the process: the kernel does not copy that.
pub fn begin_anew() {
    files::look();
    if is_on() && !begin(super::reset::modules().own) {
        pages::stop_faults();
    }
}

/// The search is over.
pub fn end() {
    set(false);
    // SAFETY: no memory is named.
    unsafe { sys::call(libc::SYS_prctl, [PR_SET_SYSCALL_USER_DISPATCH, 0, 0, 0, 0, 0]) };
}

/// Whether they are handed over.
pub fn is_on() -> bool {
    HANDED_OVER.load(Ordering::Relaxed) == 1
}

/// Has them handed over from now on, or not.
pub fn set(on: bool) {
    HANDED_OVER.store(u8::from(on), Ordering::Relaxed);
}

/// What may be done with a system call.
enum Call {
    /// It writes to no memory.
    Harmless,
    /// The same, and it opens a file.
    Opens,
    /// It writes so many bytes there.
    Writes(usize, usize),
    /// The same for a call that may wait for the descriptor in its first argument.
    Reads(usize, usize),
    /// It writes to no memory, and may wait.
    Waits,
    /// Anything.
    Other,
}

fn kind(number: i64, arguments: [usize; 6]) -> Call {
    const STAT: usize = size_of::<libc::stat>();
    let [first, second, third, fourth, ..] = arguments;
    match number {
        libc::SYS_open | libc::SYS_openat => Call::Opens,
        libc::SYS_close
        | libc::SYS_lseek
        | libc::SYS_mmap
        | libc::SYS_munmap
        | libc::SYS_madvise
        | libc::SYS_brk
        | libc::SYS_getpid
        | libc::SYS_gettid
        | libc::SYS_access
        | libc::SYS_unlink
        | libc::SYS_mkdir
        | libc::SYS_rmdir => Call::Harmless,
        libc::SYS_write | libc::SYS_writev => Call::Waits,
        libc::SYS_read => Call::Reads(second, third),
        libc::SYS_pread64 => Call::Writes(second, third),
        libc::SYS_getrandom => Call::Writes(first, second),
        libc::SYS_fstat | libc::SYS_stat | libc::SYS_lstat => Call::Writes(second, STAT),
        libc::SYS_newfstatat => Call::Writes(third, STAT),
        libc::SYS_prlimit64 => Call::Writes(fourth, size_of::<libc::rlimit>()),
        libc::SYS_getcwd => Call::Writes(first, second),
        _ => Call::Other,
    }
}

/// Calls that have to be made where they stand: they come back elsewhere, or twice.
const IN_PLACE: [i64; 6] =
    [libc::SYS_rt_sigreturn, libc::SYS_clone, libc::SYS_clone3, libc::SYS_fork, libc::SYS_vfork, libc::SYS_execve];

/// Whether a call on that descriptor comes back at once.
fn is_ready(descriptor: usize, events: i16) -> bool {
    let mut ready = libc::pollfd { fd: descriptor as c_int, events, revents: 0 };
    // SAFETY: one description, borrowed for the call.
    unsafe { sys::call(libc::SYS_poll, [&raw mut ready as usize, 1, 0, 0, 0, 0]) == 1 }
}

unsafe extern "C" fn on_call(_: c_int, _: *mut libc::siginfo_t, state: *mut c_void) {
    const SIZE_OF_SYSCALL: i64 = 2;
    // SAFETY: the kernel passes the interrupted context.
    let registers = unsafe { &mut (*state.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let number = registers[libc::REG_RAX as usize];
    let arguments = [libc::REG_RDI, libc::REG_RSI, libc::REG_RDX, libc::REG_R10, libc::REG_R8, libc::REG_R9]
        .map(|register| registers[register as usize] as usize);
    let here = match kind(number, arguments) {
        // The runtime's own memory is never read-only.
        _ if !active() => !IN_PLACE.contains(&number),
        Call::Harmless => true,
        Call::Opens => {
            files::opened();
            true
        }
        Call::Waits => is_ready(arguments[0], libc::POLLOUT),
        Call::Writes(address, size) => {
            pages::expect(address, size);
            true
        }
        Call::Reads(address, size) => {
            pages::expect(address, size);
            is_ready(arguments[0], libc::POLLIN)
        }
        Call::Other => false,
    };
    if here {
        // SAFETY: the call that the code under test is about to make.
        registers[libc::REG_RAX as usize] = unsafe { sys::call(number, arguments) } as i64;
        return;
    }
    // It may be one that opens something, and so may those that come after it.
    if active() {
        files::opened();
    }
    pages::stop_faults();
    set(false);
    registers[libc::REG_RIP as usize] -= SIZE_OF_SYSCALL;
}
