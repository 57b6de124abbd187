//! Global and thread-local variables as they were before the first run.
//!
//! Invariant: a snapshot covers the writable segments of every module that the code under test may own, and none of the runtime's
//! or libc's. Restoring copies it back: about 50 µs a megabyte.

use std::ffi::{CStr, c_int, c_void};
use std::sync::OnceLock;

use crate::endless::state::differing;

/// Contents of memory, to be put back.
#[derive(Default)]
pub struct Snapshot {
    parts: Vec<(usize, Box<[u8]>)>,
}

/// Modules that keep state of their own across runs.
const KEPT: [&str; 9] =
    ["libc.so", "ld-linux", "linux-vdso", "libgcc_s", "libm.so", "libstdc++", "libpthread", "libdl", "libselvedge"];

/// Where the variables of those modules lie: first address and size.
static KEPT_DATA: OnceLock<Vec<(usize, usize)>> = OnceLock::new();

/// Where the variables of the code under test lie: first address and one past the last.
static VARIABLES: OnceLock<Vec<(u64, u64)>> = OnceLock::new();

/// Whether an address lies among variables that keep what they hold across runs.
pub fn is_kept(address: usize) -> bool {
    KEPT_DATA.get().is_some_and(|kept| kept.iter().any(|&(start, size)| address.wrapping_sub(start) < size))
}

struct Walk {
    thread: bool,
    ranges: Vec<(usize, usize)>,
    kept: Vec<(usize, usize)>,
}

unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, walk: *mut c_void) -> c_int {
    // SAFETY: the linker's description of a module, and what `ranges` passed.
    let (info, walk) = unsafe { (&*info, &mut *walk.cast::<Walk>()) };
    // SAFETY: a string that the linker keeps.
    let name = unsafe { CStr::from_ptr(info.dlpi_name) }.to_bytes();
    let is = |kept: &&str| name.windows(kept.len()).any(|part| part == kept.as_bytes());
    // What the C++ library keeps for a thread, such as exceptions on their way, belongs to the run.
    let kept = KEPT.iter().any(is) && !(walk.thread && is(&"libstdc++"));
    // SAFETY: the module's program headers.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    let base = info.dlpi_addr as usize;
    let protected = headers.iter().find(|header| header.p_type == libc::PT_GNU_RELRO);
    let protected = protected.map_or((0, 0), |header| {
        let start = base + header.p_vaddr as usize;
        (start, (start + header.p_memsz as usize) & !0xfff)
    });
    for header in headers {
        if walk.thread && !kept && header.p_type == libc::PT_TLS && !info.dlpi_tls_data.is_null() {
            walk.ranges.push((info.dlpi_tls_data as usize, header.p_memsz as usize));
        }
        if !walk.thread && header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W != 0 {
            let mut start = base + header.p_vaddr as usize;
            let end = start + header.p_memsz as usize;
            if start >= protected.0 && start < protected.1 {
                start = protected.1;
            }
            if start < end {
                let ranges = if kept { &mut walk.kept } else { &mut walk.ranges };
                ranges.push((start, end - start));
            }
        }
    }
    0
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
    let kept = KEPT.iter().any(|kept| name.windows(kept.len()).any(|part| part == kept.as_bytes()));
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

impl Snapshot {
    fn of(thread: bool) -> Self {
        let mut walk = Walk { thread, ranges: Vec::new(), kept: Vec::new() };
        // SAFETY: the callback gets the walk.
        unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut walk).cast()) };
        if !thread {
            KEPT_DATA.get_or_init(|| walk.kept);
        }
        Self::copy(walk.ranges.into_iter())
    }

    /// The global variables.
    pub fn of_globals() -> Self {
        Self::of(false)
    }

    /// The calling thread's thread-local variables.
    pub fn of_thread() -> Self {
        touch_storage();
        Self::of(true)
    }

    /// The variables of the code under test as they are now, for a later comparison.
    pub fn of_variables() -> Self {
        let data = VARIABLES.get_or_init(|| modules().data);
        Self::copy(data.iter().map(|&(start, end)| (start as usize, (end - start) as usize)))
    }

    /// Whether an address lies among them.
    pub fn covers(address: u64) -> bool {
        VARIABLES.get().is_some_and(|data| data.iter().any(|&(start, end)| (start..end).contains(&address)))
    }

    /// What is now where this was copied from.
    pub fn again(&self) -> Self {
        Self::copy(self.parts.iter().map(|(start, bytes)| (*start, bytes.len())))
    }

    fn copy(ranges: impl Iterator<Item = (usize, usize)>) -> Self {
        // SAFETY: variables of loaded modules are readable.
        let copy = |(start, size)| (start, unsafe { std::slice::from_raw_parts(start as *const u8, size) }.into());
        Snapshot { parts: ranges.map(copy).collect() }
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
