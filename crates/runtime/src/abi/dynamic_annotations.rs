//! The older annotations, `Annotate...`, which libtsan has and which libraries call without a header; and functions of `<sanitizer/...>` that only ask for reports.
//!
//! Invariant: what orders accesses orders them here ([`super::annotate`]). What calls a race benign, or wants accesses ignored, changes nothing: a race is one by the
//! rules of the language, and a search that does not see it could not say *every schedule*.

use std::ffi::{CStr, c_char, c_int, c_long, c_void};

use super::annotate::{acquire, release};

crate::entries! {
    AnnotateHappensBefore => before;
    AnnotateHappensAfter => after;
    WTFAnnotateHappensBefore => before;
    WTFAnnotateHappensAfter => after;
    AnnotateRWLockAcquired => after;
    AnnotateRWLockReleased => before;
}

unsafe extern "C" fn before(_file: *const c_char, _line: c_int, address: *mut c_void) {
    // SAFETY: an address is all that it takes.
    unsafe { release(address) };
}

unsafe extern "C" fn after(_file: *const c_char, _line: c_int, address: *mut c_void) {
    // SAFETY: an address is all that it takes.
    unsafe { acquire(address) };
}

macro_rules! nothing {
    ($($name:ident)*) => { $(
        /// Nothing follows from it; its arguments are not looked at.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case)]
        pub extern "C" fn $name() {}
    )* };
}

nothing! {
    AnnotateRWLockCreate AnnotateRWLockCreateStatic AnnotateRWLockDestroy
    AnnotateCondVarSignal AnnotateCondVarSignalAll AnnotateCondVarWait
    AnnotateMutexIsNotPHB AnnotateMutexIsUsedAsCondVar
    AnnotatePCQCreate AnnotatePCQDestroy AnnotatePCQGet AnnotatePCQPut
    AnnotateNewMemory AnnotatePublishMemoryRange AnnotateUnpublishMemoryRange AnnotateMemoryIsInitialized AnnotateMemoryIsUninitialized
    AnnotateExpectRace AnnotateFlushExpectedRaces AnnotateBenignRace AnnotateBenignRaceSized WTFAnnotateBenignRaceSized
    AnnotateIgnoreReadsBegin AnnotateIgnoreReadsEnd AnnotateIgnoreWritesBegin AnnotateIgnoreWritesEnd
    AnnotateIgnoreSyncBegin AnnotateIgnoreSyncEnd AnnotateEnableRaceDetection
    AnnotateThreadName AnnotateTraceMemory AnnotateNoOp AnnotateFlushState
    __tsan_flush_memory __tsan_set_fiber_name __tsan_destroy_fiber __tsan_switch_to_fiber
    __tsan_external_register_header __tsan_external_assign_tag
    __sanitizer_print_stack_trace __sanitizer_set_death_callback __sanitizer_set_report_path __sanitizer_set_report_fd
    __sanitizer_sandbox_on_notify __sanitizer_report_error_summary
}

/// Whether the program runs under Valgrind.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
pub extern "C" fn RunningOnValgrind() -> c_int {
    0
}

/// How much slower than alone, as libtsan says it.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
pub extern "C" fn ValgrindSlowdown() -> f64 {
    10.0
}

/// What libtsan answers to the one thing that it is asked.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
pub unsafe extern "C" fn ThreadSanitizerQuery(query: *const c_char) -> *const c_char {
    // SAFETY: a string that ends with a zero byte.
    let is_known = unsafe { CStr::from_ptr(query) } == c"pure_happens_before";
    if is_known { c"1".as_ptr() } else { c"0".as_ptr() }
}

/// Stacks that a thread switches between by itself are all its own here: a thread is what the system calls one.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_create_fiber(_flags: c_int) -> *mut c_void {
    __tsan_get_current_fiber()
}

/// The only one.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_get_current_fiber() -> *mut c_void {
    static ONLY: u8 = 0;
    (&raw const ONLY).cast_mut().cast()
}

/// A tag for what is accessed through a library; nobody here reads it.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_external_register_tag(_name: *const c_char) -> *mut c_void {
    __tsan_get_current_fiber()
}

macro_rules! zero {
    ($($name:ident)*) => { $(
        /// There is no heap of a sanitizer.
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> c_long {
            0
        }
    )* };
}

zero! {
    __sanitizer_get_current_allocated_bytes __sanitizer_get_heap_size __sanitizer_get_free_bytes __sanitizer_get_unmapped_bytes
    __sanitizer_install_malloc_and_free_hooks __sanitizer_acquire_crash_state
}
