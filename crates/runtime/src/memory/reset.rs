//! Everything as it was before the first run: variables, global and thread-local, those of libraries too, and memory that was allocated before.
//!
//! Invariant: what is put back covers the writable segments of every module but those that keep their state ([`KEPT`]). Variables of the code under test are copied
//! whole: about 50 µs a megabyte. Of the system's libraries, and of memory, only what runs write to is ([`pages`]).

use selvedge_protocol::words;
use std::ffi::{CStr, c_int, c_void};
use std::sync::OnceLock;

use crate::arch::block;
use crate::endless::state::differing;
use crate::memory::environment::Environment;
use crate::memory::{before, files, kernel, pages};
use crate::posix::process;
use crate::sys;

/// Contents of memory, to be put back.
#[derive(Default)]
pub struct Copies {
    parts: Vec<(usize, Box<[u8]>)>,
}

/// Everything that a search puts back after each of its runs, until this is dropped.
pub struct Snapshot {
    variables: Copies,
    environment: Environment,
}

/// Libraries of the system: no code under test.
const SYSTEM: [&str; 9] =
    ["libc.so", "ld-linux", "linux-vdso", "libgcc_s", "libm.so", "libstdc++", "libpthread", "libdl", "libselvedge"];

/// Those that keep their state across runs: the linker knows what the system has mapped, and libgcc only remembers where it found things.
const KEPT: [&str; 4] = ["ld-linux", "linux-vdso", "libgcc_s", OWN];

/// What the runtime's file is called.
const OWN: &str = "libselvedge";

/// Where the variables of those modules lie: first address and size.
static KEPT_DATA: OnceLock<Vec<(usize, usize)>> = OnceLock::new();

/// Where the variables of the code under test lie: first address and one past the last.
static VARIABLES: OnceLock<Vec<(u64, u64)>> = OnceLock::new();

/// Whether an address lies among variables that keep what they hold across runs.
pub fn is_kept(address: usize) -> bool {
    KEPT_DATA.get().is_some_and(|kept| kept.iter().any(|&(start, size)| address.wrapping_sub(start) < size))
}

/// Whether a module is one of these.
fn is_one(name: &[u8], modules: &[&str]) -> bool {
    modules.iter().any(|module| name.windows(module.len()).any(|part| part == module.as_bytes()))
}

/// Variables of the loaded modules, first address and size.
#[derive(Default)]
struct Variables {
    /// Of the code under test.
    tested: Vec<(usize, usize)>,
    /// Of libraries of the system.
    system: Vec<(usize, usize)>,
    /// Of those that keep their state.
    kept: Vec<(usize, usize)>,
    /// Thread-local ones of the thread that looks.
    local: Vec<(usize, usize)>,
}

unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
    // SAFETY: the linker's description of a module, and what `variables` passed.
    let (info, found) = unsafe { (&*info, &mut *found.cast::<Variables>()) };
    // SAFETY: a string that the linker keeps; the module's program headers.
    let (name, headers) = unsafe {
        let headers = std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum));
        (CStr::from_ptr(info.dlpi_name).to_bytes(), headers)
    };
    let base = info.dlpi_addr as usize;
    let protected = headers.iter().find(|header| header.p_type == libc::PT_GNU_RELRO);
    let protected = protected.map_or((0, 0), |header| {
        let start = base + header.p_vaddr as usize;
        (start, (start + header.p_memsz as usize) & !0xfff)
    });
    let globals = if is_one(name, &KEPT) {
        &mut found.kept
    } else if is_one(name, &SYSTEM) {
        &mut found.system
    } else {
        &mut found.tested
    };
    for header in headers {
        if header.p_type == libc::PT_TLS && !info.dlpi_tls_data.is_null() && !is_one(name, &[OWN]) {
            found.local.push((info.dlpi_tls_data as usize, header.p_memsz as usize));
        }
        if header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W != 0 {
            let mut start = base + header.p_vaddr as usize;
            let end = start + header.p_memsz as usize;
            if start >= protected.0 && start < protected.1 {
                start = protected.1;
            }
            if start < end {
                globals.push((start, end - start));
            }
        }
    }
    0
}

/// Looks where variables lie.
fn variables() -> Variables {
    let mut found = Variables::default();
    // SAFETY: the callback gets what it expects.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut found).cast()) };
    found
}

/// Where modules lie: first address and one past the last, of each segment.
#[derive(Default)]
pub struct Modules {
    /// Instructions of the code under test.
    pub code: Vec<(u64, u64)>,
    /// Everything of the code under test.
    pub all: Vec<(u64, u64)>,
    /// Variables of the code under test.
    pub data: Vec<(u64, u64)>,
    /// What the linker filled in and nobody can change.
    pub fixed: Vec<(u64, u64)>,
    /// The tables by which exceptions are caught in the code under test.
    pub tables: Vec<u64>,
    /// Instructions of the runtime.
    pub own: (u64, u64),
}

unsafe extern "C" fn visit_segments(info: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
    // SAFETY: the linker's description of a module, and what `modules` passed.
    let (info, found) = unsafe { (&*info, &mut *found.cast::<Modules>()) };
    // SAFETY: a string that the linker keeps; the module's program headers.
    let (name, headers) = unsafe {
        let headers = std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum));
        (CStr::from_ptr(info.dlpi_name).to_bytes(), headers)
    };
    let kept = is_one(name, &SYSTEM);
    let here = visit_segments as *const () as u64;
    for header in headers {
        let start = info.dlpi_addr + header.p_vaddr;
        let segment = (start, start + header.p_memsz);
        if header.p_type == libc::PT_GNU_RELRO && !kept {
            found.fixed.push(segment);
        }
        if header.p_type == libc::PT_GNU_EH_FRAME && !kept {
            found.tables.push(start);
        }
        if header.p_type != libc::PT_LOAD {
            continue;
        }
        let executable = header.p_flags & libc::PF_X != 0;
        if executable && (segment.0..segment.1).contains(&here) {
            found.own = segment;
        } else if !kept {
            found.all.push(segment);
            if header.p_flags & libc::PF_W != 0 {
                found.data.push(segment);
            }
            if executable {
                found.code.push(segment);
            }
        }
    }
    0
}

/// Looks up where the code under test and the runtime lie.
pub fn modules() -> Modules {
    let mut found = Modules::default();
    // SAFETY: the callback gets what it expects.
    unsafe { libc::dl_iterate_phdr(Some(visit_segments), (&raw mut found).cast()) };
    found
}

unsafe extern "C" fn visit_lazy(info: *mut libc::dl_phdr_info, _: usize, modules: *mut c_void) -> c_int {
    // SAFETY: the linker's description of a module, and what `touch_storage` passed.
    let (info, modules) = unsafe { (&*info, &mut *modules.cast::<Vec<usize>>()) };
    if info.dlpi_tls_modid != 0 && info.dlpi_tls_data.is_null() {
        modules.push(info.dlpi_tls_modid);
    }
    0
}

unsafe extern "C" {
    fn __tls_get_addr(place: *const [usize; 2]) -> *mut c_void;
}

/// Makes the linker allocate the calling thread's storage of modules loaded late, now and not inside a run.
fn touch_storage() {
    let mut modules: Vec<usize> = Vec::new();
    // SAFETY: the callback gets the vector; the numbers are those of loaded modules.
    unsafe {
        libc::dl_iterate_phdr(Some(visit_lazy), (&raw mut modules).cast());
        for module in modules {
            __tls_get_addr(&[module, 0]);
        }
    }
}

impl Copies {
    /// Copies what is there.
    pub fn of(places: Vec<(usize, usize)>) -> Self {
        let copy = |(start, size): (usize, usize)| {
            // SAFETY: writable segments and thread-local storage of loaded modules are readable.
            (start, unsafe { std::slice::from_raw_parts(start as *const u8, size) }.into())
        };
        Copies { parts: places.into_iter().map(copy).collect() }
    }

    /// What the calling thread has of its own, whose stack ends at this address: thread-local variables, and what libc keeps of it.
    pub fn of_thread(stack_end: usize) -> Self {
        touch_storage();
        let mut places = variables().local;
        match block::own(stack_end) {
            Some(block) => places.push(block),
            None => sys::give_up(&words::Complaint::UnknownLibc, 2),
        }
        Copies::of(places)
    }

    /// The variables of the code under test as they are now, for a later comparison.
    pub fn of_variables() -> Self {
        let data = VARIABLES.get_or_init(|| modules().data);
        Self::of(data.iter().map(|&(start, end)| (start as usize, (end - start) as usize)).collect())
    }

    /// Whether an address lies among them.
    pub fn covers(address: u64) -> bool {
        VARIABLES.get_or_init(|| modules().data).iter().any(|&(start, end)| (start..end).contains(&address))
    }

    /// What is now where this was copied from.
    pub fn again(&self) -> Self {
        Self::of(self.parts.iter().map(|(start, bytes)| (*start, bytes.len())).collect())
    }

    /// Whether everything is as it was.
    pub fn is_now(&self) -> bool {
        self.parts.iter().all(|(start, bytes)| {
            // SAFETY: where it was copied from.
            unsafe { std::slice::from_raw_parts(*start as *const u8, bytes.len()) == &**bytes }
        })
    }

    /// Adds the words that are not as they were; false where they are too many.
    pub fn differs(&self, words: &mut Vec<u64>) -> bool {
        self.parts.iter().all(|(start, bytes)| {
            // SAFETY: where it was copied from.
            let now = unsafe { std::slice::from_raw_parts(*start as *const u8, bytes.len()) };
            differing(*start, bytes, now, words)
        })
    }

    /// Puts everything back.
    pub fn restore(&self) {
        for (start, bytes) in &self.parts {
            // SAFETY: where it was copied from; no run is under way.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), *start as *mut u8, bytes.len()) };
        }
    }
}

impl Snapshot {
    /// A search begins. With `copying` no memory is made read-only for it.
    pub fn new(copying: bool) -> Self {
        crate::session::flush();
        files::begin();
        let found = variables();
        KEPT_DATA.get_or_init(|| found.kept);
        let snapshot = Snapshot { variables: Copies::of(found.tested), environment: Environment::new() };
        let system = found.system.into_iter().map(|(start, size)| (start & !0xfff, (start + size + 0xfff) & !0xfff));
        before::set_over(true);
        process::handle(libc::SIGSEGV);
        let copying = copying
            || !kernel::begin(modules().own) && {
                sys::complain(&words::Complaint::NoSystemCalls.to_string());
                true
            };
        if !pages::begin(system.chain(before::used()), copying) {
            sys::give_up(&words::Complaint::NoMemory, 2);
        }
        snapshot
    }

    /// Puts everything back.
    pub fn restore(&self) {
        write_out();
        pages::restore();
        self.variables.restore();
        self.environment.restore();
        files::restore();
        kernel::renew();
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        kernel::end();
        files::end();
        pages::end();
        before::set_over(false);
    }
}

/// Writes what the run has printed and libc has not written yet: its stream forgets that.
fn write_out() {
    /// Where glibc keeps how much of a stream's buffer is to be written, and its descriptor; part of its binary interface.
    const WRITE_BASE: usize = 32;
    const FILE_NUMBER: usize = 112;
    // SAFETY: libc's stream; nobody else prints.
    unsafe {
        let stream = stdout as usize;
        let [base, end] = *((stream + WRITE_BASE) as *const [usize; 2]);
        if end > base {
            let number = *((stream + FILE_NUMBER) as *const c_int);
            sys::call(libc::SYS_write, [number as usize, base, end - base, 0, 0, 0]);
        }
    }
}

unsafe extern "C" {
    static stdout: *mut libc::FILE;
}
