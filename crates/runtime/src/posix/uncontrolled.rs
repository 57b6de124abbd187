//! Calls that lead out of what is controlled: to the kernel's pipes and files, to other processes, to signals, to libraries with threads
//! of their own.
//!
//! What goes through them is not seen: neither the order in which threads make such calls, nor what one hands to another, nor what
//! is left behind for the next run. So a run ends there, and nothing is claimed of what would have come after it. Reading files
//! and writing to standard output and standard error is let through.
//!
//! Invariant: an entry point here either ends the run by name, or is libc's own function with the arguments as they were.

use std::ffi::{CStr, c_char};
use std::sync::atomic::AtomicUsize;

use selvedge_protocol::{Cause, Out, Outside};

use super::real;
use crate::arch::site;
use crate::control::{active, with};
use crate::fiber::fail;
use crate::memory::files;
use crate::posix::descriptor;

/// A function that is not controlled.
pub struct Function {
    /// Its name, with a zero byte at the end.
    name: &'static str,
    /// Why a run ends at a call of it; calls without a reason are left to libc.
    why: fn(&Arguments) -> Option<Outside>,
    /// Where libc's own is.
    known: AtomicUsize,
}

/// What the registers hold that carry arguments.
type Arguments = [usize; 6];

/// What the entry points ask: where to go on.
unsafe extern "C" fn gate(function: &'static Function, arguments: &Arguments) -> usize {
    if active()
        && let Some(why) = (function.why)(arguments)
    {
        let name = function.name.trim_end_matches('\0').to_owned();
        fail(Cause::Out(Out::Call { name, why }), site::pc());
    }
    real::find(&function.known, function.name)
}

macro_rules! uncontrolled {
    ($why:expr; $($name:ident)*) => { $(
        crate::entry_that_asks! {
            $name, gate, Function =
                Function { name: concat!(stringify!($name), "\0"), why: $why, known: AtomicUsize::new(0) }
        }
    )* };
}

uncontrolled! { |_| Some(Outside::HandsOver);
    socket signalfd inotify_init inotify_init1 memfd_create mkfifo mkfifoat mq_open shm_open sem_open shmget shmat semget semop msgget msgsnd msgrcv
}

uncontrolled! { |_| Some(Outside::Process);
    fork vfork _Fork clone posix_spawn posix_spawnp system popen
    execve execv execvp execvpe execl execlp execle fexecve
}

uncontrolled! { |_| Some(Outside::Signals);
    pthread_kill pthread_sigqueue kill killpg sigqueue tgkill alarm ualarm setitimer timer_create
    sigwait sigwaitinfo sigtimedwait sigsuspend sigpause pause
}

uncontrolled! { |arguments| (!is_fatal(arguments[0])).then_some(Outside::Handlers);
    raise
}

uncontrolled! { |arguments| (is_fatal(arguments[0]) && arguments[1] != 0).then_some(Outside::OwnSignal);
    sigaction signal sigset bsd_signal sysv_signal
}

uncontrolled! { |arguments| is_new(arguments[0]).then_some(Outside::Libraries);
    dlopen
}

uncontrolled! { |_| Some(Outside::Libraries);
    dlmopen dlclose
}

uncontrolled! { |arguments| opens(arguments[0], writes(arguments[1]));
    open open64
}

uncontrolled! { |arguments| opens(arguments[1], writes(arguments[2]));
    openat openat64
}

uncontrolled! { |arguments| opens(arguments[0], mode_writes(arguments[1]));
    fopen fopen64 freopen freopen64
}

uncontrolled! { |_| opens(0, false);
    opendir
}

uncontrolled! { |_| Some(Outside::Files);
    creat creat64 tmpfile tmpfile64 mkstemp mkstemp64 mkostemp mkostemp64 mkstemps mkdtemp truncate truncate64 ftruncate
    ftruncate64 rename renameat unlink unlinkat remove mkdir mkdirat rmdir link linkat symlink symlinkat chmod fchmod
    chdir fchdir flock lockf
}

uncontrolled! { |arguments| leads_out(arguments[0]);
    pread pwrite pread64 pwrite64 preadv pwritev preadv64 pwritev64
}

// libc would read and write by itself.
uncontrolled! { |arguments| not_followed(arguments[0]);
    fdopen dprintf vdprintf __dprintf_chk __vdprintf_chk accept accept4 connect bind listen sendmmsg recvmmsg vmsplice tee sendfile sendfile64
}

uncontrolled! { |arguments| not_followed(arguments[0]).or_else(|| not_followed(arguments[2]));
    splice copy_file_range
}

uncontrolled! { |arguments| closes_ours(arguments[0], arguments[1]);
    close_range
}

uncontrolled! { |arguments| closes_ours(arguments[0], usize::MAX);
    closefrom
}

uncontrolled! { |_| Some(Outside::OpenMp);
    GOMP_parallel GOMP_parallel_start GOMP_parallel_loop_static GOMP_parallel_loop_dynamic GOMP_parallel_loop_guided
    GOMP_parallel_loop_runtime GOMP_parallel_loop_nonmonotonic_dynamic GOMP_parallel_loop_nonmonotonic_guided
    GOMP_parallel_loop_maybe_nonmonotonic_runtime GOMP_parallel_sections GOMP_parallel_reductions GOMP_teams_reg
    __kmpc_fork_call __kmpc_fork_teams
}

uncontrolled! { |_| remembers();
    fgetc getc _IO_getc getchar fgetc_unlocked getc_unlocked getchar_unlocked __uflow __underflow ungetc fgets fgets_unlocked
    fread fread_unlocked getline getdelim __getdelim scanf fscanf vscanf vfscanf __isoc99_scanf __isoc99_fscanf
    __isoc99_vscanf __isoc99_vfscanf fseek fseeko fseeko64 fsetpos rewind clearerr lseek lseek64
    readdir readdir64 rewinddir seekdir strtok strsep getopt getopt_long getopt_long_only
    rand_r random_r srand srandom srand48 erand48_r nrand48 jrand48 mblen mbtowc wctomb
    hcreate hsearch hdestroy setenv unsetenv putenv clearenv
    _ZNSi3getEv _ZNSi3getERc _ZNSi4peekEv _ZNSi4readEPcl _ZNSi5ungetEv _ZNSi6ignoreEv _ZNSi7getlineEPcl _ZNSi7getlineEPclc
    _ZNSirsERi _ZNSirsERs
}

/// Why a run ends at a function that only changes what its library remembers: never. Nobody announces that, and a loop that calls it does not just wait.
fn remembers() -> Option<Outside> {
    with(|control| control.fiber().effect());
    None
}

/// Whether the runtime handles the signal itself.
fn is_fatal(signal: usize) -> bool {
    super::process::handles(signal as i32)
}

/// Whether `dlopen` would load something: the library is named and not there yet.
fn is_new(path: usize) -> bool {
    if path == 0 {
        return false;
    }
    // SAFETY: the caller's string; this only looks, and what it finds is given back.
    unsafe {
        let open: unsafe extern "C" fn(*const c_char, i32) -> *mut std::ffi::c_void =
            std::mem::transmute(real::find(&REAL_DLOPEN, "dlopen\0"));
        open(path as *const c_char, libc::RTLD_NOLOAD | libc::RTLD_LAZY).is_null()
    }
}

static REAL_DLOPEN: AtomicUsize = AtomicUsize::new(0);

/// A string of the caller's; nothing for none.
fn text(string: usize) -> &'static [u8] {
    // SAFETY: a string that outlives the call, if it is one.
    if string == 0 { b"" } else { unsafe { CStr::from_ptr(string as *const c_char) }.to_bytes() }
}

/// Whether nothing of what is written there can be read again.
fn is_sink(path: usize) -> bool {
    matches!(text(path), b"/dev/null" | b"/dev/tty" | b"/dev/stdout" | b"/dev/stderr" | b"/dev/full")
}

/// Whether `open` with these flags changes something.
fn writes(flags: usize) -> bool {
    let flags = flags as i32;
    flags & libc::O_ACCMODE != libc::O_RDONLY || flags & (libc::O_CREAT | libc::O_TRUNC) != 0
}

/// The same for the mode of `fopen`.
fn mode_writes(mode: usize) -> bool {
    text(mode).iter().any(|letter| b"wa+".contains(letter))
}

/// Why a run ends where it opens that file. Other descriptors that it opens are closed when the run is over.
fn opens(path: usize, writes: bool) -> Option<Outside> {
    if matches!(text(path), b"/dev/random" | b"/dev/urandom" | b"/dev/hwrng") {
        return Some(Outside::Random);
    }
    if writes && !is_sink(path) {
        return Some(Outside::Files);
    }
    files::opened();
    None
}

/// The same, for calls that nobody follows on descriptors of ours.
fn not_followed(descriptor: usize) -> Option<Outside> {
    match descriptor::is_ours(descriptor as i32) {
        true => Some(Outside::Descriptor),
        false => leads_out(descriptor),
    }
}

/// Whether a descriptor of ours is among these numbers.
fn closes_ours(first: usize, last: usize) -> Option<Outside> {
    let ours = with(|control| control.run.objects.descriptors.all());
    ours.iter().any(|&number| (first..=last).contains(&(number as usize))).then_some(Outside::Descriptor)
}

/// Ends the run where libc would write to a descriptor by itself, of ours or one that leads out.
pub fn checks_output(name: &str, descriptor: i32, pc: u64) {
    if descriptor::is_ours(descriptor) {
        fail(Cause::Out(Out::Call { name: name.to_owned(), why: Outside::Descriptor }), pc);
    }
    checks(name, descriptor, pc);
}

/// Ends the run where it uses a descriptor that leads out.
pub fn checks(name: &str, descriptor: i32, pc: u64) {
    if active()
        && let Some(why) = leads_out(descriptor as usize)
    {
        fail(Cause::Out(Out::Call { name: name.to_owned(), why }), pc);
    }
}

/// Why a run ends where it uses that descriptor: it leads to another thread or process, or to a file that was opened before for writing. The standard
/// streams, devices and files that are only read are let through.
fn leads_out(descriptor: usize) -> Option<Outside> {
    remembers();
    let descriptor = descriptor as i32 as usize;
    if descriptor <= 2 {
        return None;
    }
    // SAFETY: the kernel writes a description of the descriptor.
    let kind = unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        if crate::sys::call(libc::SYS_fstat, [descriptor, &raw mut status as usize, 0, 0, 0, 0]) < 0 {
            return None;
        }
        status.st_mode & libc::S_IFMT
    };
    match kind {
        libc::S_IFCHR | libc::S_IFBLK | libc::S_IFDIR => None,
        libc::S_IFREG if files::is_put_back(descriptor) => None,
        libc::S_IFREG => Some(Outside::Files),
        _ => Some(Outside::HandsOver),
    }
}
