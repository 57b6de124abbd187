//! Exceptions of C++ that several threads hold: `std::exception_ptr`, and what futures rethrow. Their count of holders lies in libstdc++, which is not
//! instrumented; whoever is the last to let go destroys the exception, so letting go is an atomic update, and a step.
//!
//! Invariant: the destruction comes after everything that any holder did with the exception. An exception that only one thread ever had makes no steps.
//!
//! The layout is that of libstdc++ for the C++ ABI of Itanium (`__cxa_refcounted_exception`); exceptions of others are left alone.

use selvedge_explore::Kind;

use crate::abi::atomic::{self, Outcome, Told};
use crate::control::{active, with};
use crate::posix::real;

/// How far before the exception its count is, and its header.
const COUNT: usize = 128;
const HEADER: usize = 112;
/// Where in a header the number of handlers that have it is, and whose exception it is.
const HANDLERS: usize = 40;
const CLASS: usize = 80;
/// "GNUCC++" and a byte that says whether the header only stands for that of another exception, to which its first word points.
const PRIMARY: u64 = u64::from_be_bytes(*b"GNUCC++\0");
const DEPENDENT: u64 = u64::from_be_bytes(*b"GNUCC++\x01");
const ACQUIRE_RELEASE: i32 = 4;

/// The exception that the innermost handler would let go now, if it is one.
unsafe fn caught() -> Option<usize> {
    // SAFETY: what is asked of the C++ library is the current thread's own; its headers have the layout above.
    unsafe {
        let header = *real::__cxa_get_globals()().cast::<usize>();
        if header == 0 || *((header + HANDLERS) as *const i32) != 1 {
            return None;
        }
        match *((header + CLASS) as *const u64) {
            PRIMARY => Some(header + HEADER),
            DEPENDENT => Some(*(header as *const usize)),
            _ => None,
        }
    }
}

/// The current thread is about to let go of an exception.
unsafe fn let_go(exception: usize, explicit: bool) {
    let cell = (exception - COUNT) as *mut i32;
    // SAFETY: the exception is alive: the caller holds it.
    let shared = explicit || unsafe { *cell } > 1 || with(|control| control.run.objects.exceptions_shared);
    if !shared {
        return;
    }
    let waited = atomic::arrive(cell as u64, 4, Kind::Update, Told::Never, 0, 0);
    // SAFETY: the exception is alive, because the caller holds it until the release below; nobody else runs.
    let count = unsafe { *cell };
    let (old, new) = (u64::from(count as u32), u64::from(count.wrapping_sub(1) as u32));
    let outcome = Outcome { kind: Kind::Update, old, new, order: ACQUIRE_RELEASE, waited };
    atomic::record(cell as u64, 4, Told::Never, 0, outcome);
    with(|control| control.run.objects.exceptions_shared = true);
}

/// `exception_ptr::_M_release`: all that is in the object is where the exception is.
unsafe extern "C" fn release_at(pointer: *mut usize) {
    // SAFETY: the caller's own object.
    unsafe {
        if active() && *pointer != 0 {
            let_go(*pointer, true);
        }
        real::_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv()(pointer.cast());
    }
}

/// A handler ends.
unsafe extern "C-unwind" fn end_catch_at() {
    // SAFETY: `caught` looks at what the C++ library keeps of this thread, and the rest is what the caller of the library asked for.
    unsafe {
        if active()
            && let Some(exception) = caught()
        {
            let_go(exception, false);
        }
        real::__cxa_end_catch()();
    }
}

crate::entries! {
    _ZNSt15__exception_ptr13exception_ptr10_M_releaseEv => release_at;
    __cxa_end_catch => end_catch_at;
}
