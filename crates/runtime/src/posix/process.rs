//! How the code under test ends: assertions, aborts, exits, signals.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicI32, Ordering};

use selvedge_protocol::{Cause, Out, Signal, words};

use crate::arch::kernel::Interrupted;
use crate::arch::site;
use crate::arch::step;
use crate::arch::{left_over, patched};
use crate::control::{active, end_borrows, set_active, with};
use crate::fiber::fail;
use crate::memory::{pages, reset};
use crate::posix::real;
use crate::{plain_steps, sys};

crate::entries! {
    __assert_fail => assert_fail_at;
    abort => abort_at;
    _ZN9__gnu_cxx27__verbose_terminate_handlerEv => terminate_at;
    exit => exit_at;
    _exit => exit_now_at;
    _Exit => exit_now_at;
    quick_exit => exit_now_at;
    __cxa_atexit => at_exit_at;
    __cxa_at_quick_exit => at_quick_exit_at;
    on_exit => on_exit_at;
    sigaltstack => sigaltstack_at;
    sigprocmask => process_mask_at;
    pthread_sigmask => mask_at;
}

/// # Safety
/// A string that ends with a zero byte, or null.
unsafe fn text(string: *const c_char) -> String {
    if string.is_null() {
        return String::new();
    }
    // SAFETY: the caller says that it is a string, and it is not null.
    unsafe { CStr::from_ptr(string) }.to_string_lossy().into_owned()
}

unsafe extern "C" fn assert_fail_at(
    expression: *const c_char,
    file: *const c_char,
    line: u32,
    function: *const c_char,
) -> ! {
    let pc = site::pc();
    // SAFETY: what `assert` passes are strings.
    let [expression, file, function] = unsafe { [text(expression), text(file), text(function)] };
    let cause = Cause::Assertion { expression, file, line, function };
    if active() {
        fail(cause, pc);
    }
    sys::complain(&cause.to_string());
    sys::complain("\n");
    sys::exit(134)
}

/// What `std::terminate` does by default in GNU's C++ library, which remembers that it was here: it would say something else the next time.
unsafe extern "C" fn terminate_at() {
    let pc = site::pc();
    if active() {
        fail(Cause::Terminate, pc);
    }
    // SAFETY: the caller's request.
    unsafe { real::_ZN9__gnu_cxx27__verbose_terminate_handlerEv()() }
}

unsafe extern "C" fn abort_at() -> ! {
    let pc = site::pc();
    if active() {
        fail(Cause::Abort, pc);
    }
    sys::exit(134)
}

/// Something is to be done at the end of the process, such as the destructor of a local static of C++. What a run registers is
/// forgotten with everything else that it did: the process ends later, and the static will not exist.
unsafe extern "C" fn at_exit_at(body: *mut c_void, argument: *mut c_void, module: *mut c_void) -> c_int {
    if active() {
        return 0;
    }
    // SAFETY: the caller's request.
    unsafe { real::__cxa_atexit()(body, argument, module) }
}

unsafe extern "C" fn at_quick_exit_at(body: *mut c_void, module: *mut c_void) -> c_int {
    if active() {
        return 0;
    }
    // SAFETY: the caller's request.
    unsafe { real::__cxa_at_quick_exit()(body, module) }
}

unsafe extern "C" fn on_exit_at(body: *mut c_void, argument: *mut c_void) -> c_int {
    if active() {
        return 0;
    }
    // SAFETY: the caller's request.
    unsafe { real::on_exit()(body, argument) }
}

/// In a program whose `main` is the test, `exit(0)` by the first thread is the end of `main`.
fn exit_of_main(code: c_int) {
    if code != 0 || !crate::session::runs_main() {
        return;
    }
    if with(|control| control.run.current) == 0 {
        crate::fiber::exit(std::ptr::null_mut());
    }
    fail(Cause::Out(Out::ExitOfMain), site::pc());
}

unsafe extern "C" fn exit_at(code: c_int) {
    if active() {
        exit_of_main(code);
        fail(Cause::Exit(code), site::pc());
    }
    // SAFETY: the caller's request.
    unsafe { real::exit()(code) }
}

unsafe extern "C" fn exit_now_at(code: c_int) -> ! {
    if active() {
        exit_of_main(code);
        fail(Cause::Exit(code), site::pc());
    }
    sys::exit(code)
}

/// The runtime has an alternate stack of its own, which threads under control must not replace. They are told that there is one:
/// Rust's standard library would else map, guard and unmap one for every thread, with five system calls.
unsafe extern "C" fn sigaltstack_at(new: *const libc::stack_t, old: *mut libc::stack_t) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { sys::call(libc::SYS_sigaltstack, [new as usize, old as usize, 0, 0, 0, 0]) as c_int };
    }
    if !old.is_null() {
        let there = libc::stack_t { ss_sp: std::ptr::null_mut(), ss_flags: 0, ss_size: libc::SIGSTKSZ };
        // SAFETY: the caller gives a place for the answer.
        unsafe { old.write(there) };
    }
    0
}

/// Which signals a thread has blocked is only noted: the kernel's mask belongs to all fibers, and the runtime needs some signals itself.
unsafe extern "C" fn mask_at(how: c_int, new: *mut c_void, old: *mut c_void) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pthread_sigmask()(how, new, old) };
    }
    with(|control| {
        let blocked = control.run.objects.blocked.entry(control.run.current).or_default();
        let was = *blocked;
        if !new.is_null() {
            // SAFETY: the caller's set, of which the kernel knows the first word.
            let set = unsafe { new.cast::<u64>().read() };
            *blocked = match how {
                libc::SIG_BLOCK => was | set,
                libc::SIG_UNBLOCK => was & !set,
                libc::SIG_SETMASK => set,
                _ => return libc::EINVAL,
            };
        }
        if !old.is_null() {
            // SAFETY: the caller gives a place for a set.
            unsafe {
                old.cast::<libc::sigset_t>().write(std::mem::zeroed());
                old.cast::<u64>().write(was);
            }
        }
        0
    })
}

unsafe extern "C" fn process_mask_at(how: c_int, new: *mut c_void, old: *mut c_void) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::sigprocmask()(how, new, old) };
    }
    // SAFETY: sets of signals that the caller of `sigprocmask` has, or null.
    match unsafe { mask_at(how, new, old) } {
        0 => 0,
        error => {
            // SAFETY: the current thread's `errno`.
            unsafe { *libc::__errno_location() = error };
            -1
        }
    }
}

const FATAL: [(c_int, Signal); 5] = [
    (libc::SIGSEGV, Signal::SegmentationFault),
    (libc::SIGBUS, Signal::BusError),
    (libc::SIGFPE, Signal::ArithmeticFault),
    (libc::SIGILL, Signal::IllegalInstruction),
    (libc::SIGABRT, Signal::Aborted),
];

/// Whether a signal is handled by the runtime, so that nobody else can.
pub fn handles(signal: c_int) -> bool {
    signal == WAKE_UP || FATAL.iter().any(|(fatal, _)| *fatal == signal)
}

/// What the watchdog sends.
pub const WAKE_UP: c_int = libc::SIGURG;

/// Where a thread was stopped. Places are those that calls return to, behind the instruction that they are about: the one before may be another function's.
fn place_of(thread: &Interrupted) -> u64 {
    let pc = thread.pc();
    pc + u64::from(pc != 0)
}

/// Where the code under test called the runtime from, when a thread was stopped in it: the first word on its stack that may be such a place. Functions that are called in
/// loops without steps do not note it.
fn caller_of(thread: &Interrupted) -> u64 {
    const WORDS: u64 = 512;
    let pc = thread.pc();
    let modules = reset::modules();
    let is_in = |(start, end): (u64, u64), address: u64| (start..end).contains(&address);
    let top = with(|control| control.fiber().top);
    if !is_in(modules.own, pc) {
        return place_of(thread);
    }
    let stack = thread.stack();
    let words = (0..WORDS).map(|word| stack + 8 * word).take_while(|&word| word + 8 <= top);
    // SAFETY: words of the stack of a thread that exists.
    let mut called = words.map(|word| unsafe { *(word as *const u64) });
    called.find(|&word| modules.code.iter().any(|&code| is_in(code, word))).unwrap_or(0)
}

/// Whether a trap of the runtime's may have sent the signal.
fn is_trap(signal: c_int) -> bool {
    signal == libc::SIGILL || signal == libc::SIGSEGV
}

unsafe extern "C" fn on_signal(signal: c_int, info: *mut libc::siginfo_t, state: *mut c_void) {
    if signal == WAKE_UP {
        // A thread that only goes round a loop tells what it looks at.
        let asked = crate::watchdog::computes() && active() && plain_steps::ask();
        if active() && !step::is_running() && !asked {
            end_borrows();
            set_active(false);
            // SAFETY: the kernel passes the interrupted context, and the handler is left for good.
            fail(Cause::Out(crate::watchdog::verdict()), caller_of(&unsafe { Interrupted::new(state) }));
        }
        return;
    }
    // SAFETY: the kernel passes the interrupted context, and nothing else looks at it before the handler returns.
    let mut thread = unsafe { Interrupted::new(state) };
    // SAFETY: the kernel's description of the signal.
    let address = unsafe { (*info).si_addr() } as u64;
    if signal == libc::SIGSEGV && thread.was_writing() && pages::fault(address as usize) {
        return;
    }
    if step::fault(&mut thread) || is_trap(signal) && (left_over::stopped(&mut thread) || patched::stopped(&mut thread))
    {
        return;
    }
    if !active() {
        // A bug of the runtime, or code that is not under control: let it take its course.
        // SAFETY: restores the default and returns to the fault.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
        return;
    }
    // It may have come in the middle of the runtime, which then does not go on.
    end_borrows();
    let raised = FATAL.iter().find(|(number, _)| *number == signal).map_or(Signal::Other, |(_, raised)| *raised);
    let (bottom, top) = with(|control| (control.fiber().bottom, control.fiber().top));
    const GUARD: u64 = 64 << 10;
    let cause = if signal == libc::SIGSEGV && address < bottom + GUARD && address + GUARD > bottom && address < top {
        Cause::StackOverflow
    } else {
        Cause::Signal { signal: raised, address }
    };
    fail(cause, place_of(&thread))
}

/// Installs the handlers, and a stack for them, on the calling kernel thread.
pub fn install_handlers() {
    const SIZE: usize = 256 << 10;
    static LAST: AtomicI32 = AtomicI32::new(0);
    let thread = sys::thread_id();
    if LAST.swap(thread, Ordering::Relaxed) == thread {
        return;
    }
    // SAFETY: a new mapping that stays.
    unsafe {
        let flags = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS) as usize;
        let stack = sys::call(libc::SYS_mmap, [0, SIZE, 3, flags, usize::MAX, 0]);
        if stack > 0 {
            let stack = libc::stack_t { ss_sp: stack as *mut c_void, ss_flags: 0, ss_size: SIZE };
            sys::call(libc::SYS_sigaltstack, [&raw const stack as usize, 0, 0, 0, 0, 0]);
        }
    }
    FATAL.iter().for_each(|(signal, _)| handle(*signal));
    handle(WAKE_UP);
}

/// Has the signal handled here: the handler leaves by switching stacks, or lets the signal take its course.
pub fn handle(signal: c_int) {
    sys::handle(signal, on_signal);
}

/// Has the signals of an overflown stack handled here from the start. Rust's standard library then leaves them alone, and does not keep
/// a list of its threads for them, which would be a tenth of what a short test executes.
pub fn claim_faults() {
    FATAL[..2].iter().for_each(|(signal, _)| handle(*signal));
}

/// Takes the place of libc's entry: when the driver started the program, the tests run instead of `main`, or `main` as
/// the only test.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __libc_start_main(
    main: *mut c_void,
    count: c_int,
    arguments: *mut c_void,
    init: *mut c_void,
    finish: *mut c_void,
    linker: *mut c_void,
    stack: *mut c_void,
) -> c_int {
    let taken = crate::session::take_over(main);
    // SAFETY: libc's own, with everything that it was given but for `main`.
    unsafe { real::__libc_start_main()(taken, count, arguments, init, finish, linker, stack) }
}

/// The `main` of a program that has tests and no `main`.
#[unsafe(no_mangle)]
pub extern "C" fn main() -> c_int {
    sys::complain(&words::Complaint::HoldsTests.to_string());
    2
}

/// Whether a `main` is the one above: in this library. (Its name is the program's own where the program has one.)
pub fn is_own_main(other: *mut c_void) -> bool {
    let base = |address: *const c_void| {
        // SAFETY: asks the linker about an address; it fills in what it knows.
        unsafe {
            let mut info: libc::Dl_info = std::mem::zeroed();
            libc::dladdr(address, &mut info);
            info.dli_fbase as usize
        }
    };
    base(other) == base(on_signal as *const c_void)
}
