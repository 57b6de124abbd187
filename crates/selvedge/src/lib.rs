//! Tests of concurrent code under every schedule.
//!
//! ```no_run
//! use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
//! use std::sync::Arc;
//!
//! # fn test() {
//! selvedge::explore(|| {
//!     let counter = Arc::new(AtomicU32::new(0));
//!     let other = counter.clone();
//!     let thread = std::thread::spawn(move || other.fetch_add(1, SeqCst));
//!     counter.fetch_add(1, SeqCst);
//!     thread.join().unwrap();
//!     assert_eq!(counter.load(SeqCst), 2);
//! });
//! # }
//! ```
//!
//! The closure is ordinary code: `std::thread`, `std::sync`, atomics, whatever builds on them. It runs many times, each
//! time under another schedule, and everything that it left behind is put back in between. The tests are run with
//! `cargo selvedge test`, which compiles them so that every access can be seen; under plain `cargo test` they fail
//! with a sentence that says so.

mod object;
mod values;

use std::any::Any;
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::sync::Once;

/// Wrappers that check queues, stacks, registers and locks of a running program.
#[cfg(feature = "monitor")]
pub use selvedge_monitor as monitor;

pub use object::{Object, Specification, object, specification};
pub use values::{Arguments, Small};

type Body = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
type Explore = unsafe extern "C" fn(*const Hosting, Body, *mut c_void) -> c_int;
type Give = unsafe extern "C" fn(*const u8, usize);
type Panicked = unsafe extern "C" fn(*const u8, usize, *const u8, usize);

/// The version of the runtime's functions that this crate was written for.
const VERSION: u32 = 2;

/// What is the same for every search: `Hosting` of the runtime.
#[repr(C)]
struct Hosting {
    version: u32,
    /// Whether the test judges the report itself.
    takes: u32,
    name: *const u8,
    name_length: usize,
    function: *const u8,
    function_length: usize,
    tell: unsafe extern "C" fn(*const u8, usize, *mut c_void),
    told: *mut c_void,
}

/// Asks the runtime for a search; its answer, and what it told.
fn hosted(name: &str, takes: bool, search: impl FnOnce(*const Hosting) -> c_int) -> (c_int, String) {
    note_panics();
    // The harness names the thread of a test after it.
    let thread = std::thread::current();
    let function = thread.name().filter(|name| *name != "main").unwrap_or_default();
    let mut told: Vec<u8> = Vec::new();
    let hosting = Hosting {
        version: VERSION,
        takes: takes.into(),
        name: name.as_ptr(),
        name_length: name.len(),
        function: function.as_ptr(),
        function_length: function.len(),
        tell: keep,
        told: (&raw mut told).cast(),
    };
    let answer = search(&raw const hosting);
    (answer, String::from_utf8_lossy(&told).into_owned())
}

/// Runs the closure under every schedule that the settings of `cargo selvedge test` ask for.
///
/// # Panics
/// When some schedule fails, with what was found; and when the test does not run under `cargo selvedge test`.
#[track_caller]
pub fn explore(body: impl Fn() + Send + Sync + 'static) {
    let place = Location::caller();
    let name = format!("{}:{}", place.file(), place.line());
    let Some(found) = symbol(c"selvedge_explore") else {
        panic!("this test explores schedules: run it with `cargo selvedge test`");
    };
    // SAFETY: the runtime's function of that name has that type.
    let explore = unsafe { std::mem::transmute::<*mut c_void, Explore>(found) };
    refuse_when_probed();
    let body: Box<dyn Fn()> = Box::new(body);
    let argument = (&raw const body).cast_mut().cast();
    // SAFETY: the name, the closure and what is told outlive the call.
    let (answer, told) = hosted(&name, false, |hosting| unsafe { explore(hosting, run, argument) });
    match answer {
        0 => {}
        1 => panic!("a schedule fails: {told}"),
        _ => panic!("the search could not start: {told}"),
    }
}

/// Where a thread panicked: so many bytes of `file:line`. Its own, so that noting it is nothing that another thread could see.
type Place = ([u8; 120], usize);

thread_local!(static PANICKED_AT: Cell<Place> = const { Cell::new(([0; 120], 0)) });

/// Whether the caller, which panics, is in a run. A debugger that was asked for stops here.
fn panics_in_run() -> bool {
    // SAFETY: the runtime's function of that name has that type.
    let running = |found| unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> c_int>(found)() };
    symbol(c"selvedge_panicking").is_some_and(|found| running(found) != 0)
}

/// Notes where threads panic from now on. What a panic in a run prints otherwise is left out; the finding tells it.
fn note_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let other = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if let Some(location) = info.location() {
                let text = format!("{}:{}", location.file(), location.line());
                // The end of a long path says most.
                let mut bytes = [0; 120];
                let end = &text.as_bytes()[text.len().saturating_sub(bytes.len())..];
                bytes[..end.len()].copy_from_slice(end);
                let _ = PANICKED_AT.try_with(|place| place.set((bytes, end.len())));
            }
            // In a run it is a part of what the run does: printing it, with all callers, would be thousands of steps in thousands of runs.
            if !panics_in_run() {
                other(info);
            }
        }));
    });
}

/// The panic of a test whose searches are left out: `cargo selvedge test` asks whether the test takes any panic for the one that it expects.
fn refuse_when_probed() {
    if std::env::var_os("SELVEDGE_PROBE").is_some() {
        panic!("no search was made");
    }
}

fn symbol(name: &std::ffi::CStr) -> Option<*mut c_void> {
    // SAFETY: looks a name up in what is loaded.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

unsafe extern "C" fn keep(bytes: *const u8, length: usize, report: *mut c_void) {
    // SAFETY: the runtime passes its text, and what `hosted` gave it.
    unsafe { (*report.cast::<Vec<u8>>()).extend_from_slice(std::slice::from_raw_parts(bytes, length)) };
}

unsafe extern "C" fn run(body: *mut c_void) -> *mut c_void {
    // SAFETY: what `explore` passed, which outlives the search.
    let body = unsafe { &*body.cast::<Box<dyn Fn()>>() };
    if let Err(payload) = catch_unwind(AssertUnwindSafe(body)) {
        let (bytes, length) = PANICKED_AT.try_with(Cell::get).unwrap_or(([0; 120], 0));
        panicked(&bytes[..length], &message(&*payload));
    }
    std::ptr::null_mut()
}

/// Ends the run: a panic reached the top, at this place, as `file:line`.
fn panicked(place: &[u8], message: &str) {
    if let Some(found) = symbol(c"selvedge_panicked") {
        // SAFETY: the runtime's function of that name has that type; it does not come back.
        unsafe {
            let panicked = std::mem::transmute::<*mut c_void, Panicked>(found);
            panicked(place.as_ptr(), place.len(), message.as_ptr(), message.len());
        }
    }
}

/// One of `0..options`, all of which are tried: in a test, and in a specification that allows several results. Outside of a search it is 0.
///
/// # Panics
/// When there is nothing to choose from.
#[track_caller]
pub fn choose(options: usize) -> usize {
    type Choose = unsafe extern "C" fn(u32) -> u32;
    assert!(options > 0, "choose(0): there is nothing to choose from");
    let Some(found) = symbol(c"selvedge_choose") else { return 0 };
    // SAFETY: the runtime's function of that name has that type.
    unsafe { std::mem::transmute::<*mut c_void, Choose>(found)(options.try_into().unwrap_or(u32::MAX)) as usize }
}

/// Only runs in which this holds are to be looked at: in any other the thread goes no further, and that it does not is no finding. What goes wrong among the other
/// threads is one: it could have happened before this thread looked. Such runs are counted as blocked; where no other is left, the verdict is *unknown*. For tests, not for objects.
///
/// # Panics
/// When it does not hold outside of a search.
#[track_caller]
pub fn assume(condition: bool) {
    type Exclude = unsafe extern "C" fn();
    if condition {
        return;
    }
    if let Some(found) = symbol(c"selvedge_exclude") {
        // SAFETY: the runtime's function of that name has that type; in a run it does not come back.
        unsafe { std::mem::transmute::<*mut c_void, Exclude>(found)() };
    }
    panic!("an assumption does not hold outside of a search");
}

/// Waits for ever: what an operation of a specification does where it has to wait.
///
/// # Panics
/// Outside of a search.
pub fn block() -> ! {
    type Block = unsafe extern "C" fn();
    if let Some(found) = symbol(c"selvedge_block") {
        // SAFETY: the runtime's function of that name has that type.
        unsafe { std::mem::transmute::<*mut c_void, Block>(found)() };
    }
    panic!("only a specification under test can wait for ever");
}

fn message(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        return (*text).to_string();
    }
    payload.downcast_ref::<String>().cloned().unwrap_or_else(|| "a panic without a message".into())
}

#[cfg(test)]
mod tests {
    #[test]
    #[should_panic(expected = "run it with `cargo selvedge test`")]
    fn plain_cargo_test_says_what_to_do() {
        super::explore(|| {});
    }
}
