//! System calls of the code under test, before they are made, while pages are read-only.
//!
//! The kernel does not fault: it refuses to write to a page that is read-only, and the code under test would be told of an error that it did not make.
//! So the kernel is asked to hand over each system call that is not made from the runtime's own code. What is known to write nothing, or where, is
//! made here. Before anything else is made, all pages become writable, and nothing is handed over in the rest of that run.
//!
//! Invariant: no system call that may write to memory is made while a page that it may write to is read-only.

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};

use selvedge_protocol::{Cause, Memory, Out};

use crate::arch::kernel::Interrupted;
use crate::control::{active, end_borrows};
use crate::fiber::fail;
use crate::memory::{files, linker, pages};
use crate::posix::descriptor;
use crate::sys;

/// Whether system calls are handed over, as the kernel reads it.
static HANDED_OVER: AtomicU8 = AtomicU8::new(0);

/// Whether a search has asked for it.
static BEGUN: AtomicBool = AtomicBool::new(false);

const PR_SET_SYSCALL_USER_DISPATCH: usize = 59;

/// Has system calls of the calling kernel thread handed over, unless they are made from these addresses. False when the kernel cannot do that.
pub fn begin(own: (u64, u64)) -> bool {
    const ON: usize = 1;
    sys::handle(libc::SIGSYS, on_call);
    let (start, size) = (own.0 as usize, (own.1 - own.0) as usize);
    let arguments = [PR_SET_SYSCALL_USER_DISPATCH, ON, start, size, HANDED_OVER.as_ptr() as usize, 0];
    // SAFETY: the kernel reads a byte that is always there.
    let done = unsafe { sys::call(libc::SYS_prctl, arguments) } == 0;
    BEGUN.store(done, Ordering::Relaxed);
    set(done);
    done
}

/// The same in a copy of the process: the kernel does not copy that.
pub fn begin_anew() {
    files::begin_anew();
    if BEGUN.load(Ordering::Relaxed) && !begin(super::reset::modules().own) {
        pages::stop_faults();
    }
}

/// The search is over.
pub fn end() {
    BEGUN.store(false, Ordering::Relaxed);
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

/// The run is over: what it has mapped and left is unmapped, and the next one's calls are handed over again.
pub fn renew() {
    if !BEGUN.load(Ordering::Relaxed) {
        return;
    }
    for (start, end) in mapped().drain(..) {
        // SAFETY: what a run that is over has mapped; nobody knows of it any more.
        unsafe { sys::call(libc::SYS_munmap, [start, end - start, 0, 0, 0, 0]) };
    }
    set(true);
}

struct Cell(UnsafeCell<Vec<(usize, usize)>>);

// SAFETY: used by the thread that searches only.
unsafe impl Sync for Cell {}

static MAPPED: Cell = Cell(UnsafeCell::new(Vec::new()));

/// What the run has mapped.
fn mapped() -> &'static mut Vec<(usize, usize)> {
    // SAFETY: used by the thread that searches only, whichever fiber it is on; no borrow outlives a call here.
    unsafe { &mut *MAPPED.0.get() }
}

/// How much a run may map; 0 for no limit.
static ALLOWED: AtomicUsize = AtomicUsize::new(0);

/// A run may map so many bytes.
pub fn allow(bytes: Option<u64>) {
    ALLOWED.store(bytes.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(0), Ordering::Relaxed);
}

/// The limit, where a call would map more than it.
fn full(call: &Call, size: usize) -> Option<u64> {
    let max = ALLOWED.load(Ordering::Relaxed);
    if max == 0 || !matches!(call, Call::Maps) {
        return None;
    }
    let all = mapped().iter().map(|(start, end)| end - start).fold(size, usize::saturating_add);
    (all > max).then_some(max as u64)
}

/// These addresses are not mapped any more, or by somebody else.
fn forget(start: usize, size: usize) {
    let end = start.saturating_add(size.next_multiple_of(4096));
    let rest = mapped().drain(..).flat_map(|(from, to)| [(from, to.min(start)), (from.max(end), to)]);
    let rest: Vec<_> = rest.filter(|(from, to)| from < to).collect();
    *mapped() = rest;
}

/// What may be done with a system call.
enum Call {
    /// It writes to no memory.
    Harmless,
    /// The same, and it opens a file.
    Opens,
    /// The same, and it maps memory.
    Maps,
    /// The same, and it unmaps memory.
    Unmaps,
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
    let [first, second, third, fourth, fifth, _] = arguments;
    let is = |argument: usize, constants: &[c_int]| constants.contains(&(argument as c_int));
    match number {
        libc::SYS_open | libc::SYS_openat => Call::Opens,
        libc::SYS_mmap if fourth as c_int & libc::MAP_FIXED == 0 => Call::Maps,
        libc::SYS_munmap => Call::Unmaps,
        libc::SYS_prctl if is(first, &[libc::PR_SET_NAME]) => Call::Harmless,
        libc::SYS_fcntl if is(second, &[libc::F_GETFD, libc::F_SETFD, libc::F_GETFL]) => Call::Harmless,
        libc::SYS_close
        | libc::SYS_lseek
        | libc::SYS_madvise
        | libc::SYS_brk
        | libc::SYS_getpid
        | libc::SYS_gettid
        | libc::SYS_getuid
        | libc::SYS_geteuid
        | libc::SYS_access
        | libc::SYS_sched_yield => Call::Harmless,
        libc::SYS_write | libc::SYS_writev => Call::Waits,
        libc::SYS_read => Call::Reads(second, third),
        libc::SYS_ioctl if second == libc::TCGETS as usize => Call::Writes(third, size_of::<libc::termios>()),
        libc::SYS_pread64 | libc::SYS_getdents64 | libc::SYS_readlink => Call::Writes(second, third),
        libc::SYS_sched_getaffinity => Call::Writes(third, second),
        libc::SYS_readlinkat => Call::Writes(third, fourth),
        libc::SYS_getrandom | libc::SYS_getcwd => Call::Writes(first, second),
        libc::SYS_fstat | libc::SYS_stat | libc::SYS_lstat => Call::Writes(second, STAT),
        libc::SYS_newfstatat => Call::Writes(third, STAT),
        libc::SYS_statx => Call::Writes(fifth, size_of::<libc::statx>()),
        libc::SYS_sysinfo => Call::Writes(first, size_of::<libc::sysinfo>()),
        libc::SYS_prlimit64 => Call::Writes(fourth, size_of::<libc::rlimit>()),
        _ => Call::Other,
    }
}

/// Calls that have to be made where they stand: they come back elsewhere, or twice.
const IN_PLACE: [i64; 6] =
    [libc::SYS_rt_sigreturn, libc::SYS_clone, libc::SYS_clone3, libc::SYS_fork, libc::SYS_vfork, libc::SYS_execve];

/// Calls that make descriptors which threads hand something over through. Whoever makes them here makes them past libc, where they are not followed.
const HANDS_OVER: [i64; 8] = [
    libc::SYS_pipe,
    libc::SYS_pipe2,
    libc::SYS_socketpair,
    libc::SYS_eventfd,
    libc::SYS_eventfd2,
    libc::SYS_timerfd_create,
    libc::SYS_epoll_create,
    libc::SYS_epoll_create1,
];

/// Calls on a descriptor of ours that are not followed here: streams of libc make them, and code that does without libc.
const ON_OURS: [i64; 12] = [
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_close,
    libc::SYS_dup,
    libc::SYS_sendto,
    libc::SYS_recvfrom,
    libc::SYS_sendmsg,
    libc::SYS_recvmsg,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_wait,
];

/// Whether the call hands something over, past what is followed.
fn hands_over(number: i64, arguments: [usize; 6]) -> bool {
    active()
        && (HANDS_OVER.contains(&number) || ON_OURS.contains(&number) && descriptor::is_ours(arguments[0] as c_int))
}

/// Whether a call on that descriptor comes back at once.
fn is_ready(descriptor: usize, events: i16) -> bool {
    let mut ready = libc::pollfd { fd: descriptor as c_int, events, revents: 0 };
    // SAFETY: one description, borrowed for the call.
    unsafe { sys::call(libc::SYS_poll, [&raw mut ready as usize, 1, 0, 0, 0, 0]) == 1 }
}

unsafe extern "C" fn on_call(_: c_int, _: *mut libc::siginfo_t, state: *mut c_void) {
    // SAFETY: the kernel passes the interrupted context, and nothing else looks at it before the handler returns.
    let mut thread = unsafe { Interrupted::new(state) };
    let (number, arguments) = thread.system_call();
    if hands_over(number, arguments) {
        end_borrows();
        fail(Cause::Out(Out::SystemCall(number)), thread.pc());
    }
    let kind = kind(number, arguments);
    if let Some(max) = full(&kind, arguments[1]).filter(|_| active() && !linker::called(thread.pc())) {
        end_borrows();
        fail(Cause::Memory { max, of: Memory::Maps }, thread.pc());
    }
    let here = match kind {
        // The runtime's own memory is never read-only.
        _ if !active() => !IN_PLACE.contains(&number),
        Call::Harmless | Call::Maps | Call::Unmaps => true,
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
        let answer = unsafe { sys::call(number, arguments) };
        thread.answer(answer);
        match kind {
            // The linker keeps what it has loaded.
            Call::Maps if active() && answer > 0 && !linker::called(thread.pc()) => {
                mapped().push((answer as usize, answer as usize + arguments[1].next_multiple_of(4096)));
            }
            Call::Unmaps => forget(arguments[0], arguments[1]),
            _ => {}
        }
        return;
    }
    // What the run does from here on is not seen: it may open something, or unmap what it has mapped.
    if active() {
        files::opened();
        mapped().clear();
    }
    pages::stop_faults();
    set(false);
    thread.call_again();
}
