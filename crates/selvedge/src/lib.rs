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
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, Location, catch_unwind};

pub use object::{Object, Specification, object, specification};
pub use values::{Arguments, Small};

type Body = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
type Tell = unsafe extern "C" fn(*const u8, usize, *mut c_void);
type Explore = unsafe extern "C" fn(*const u8, usize, Body, *mut c_void, Tell, *mut c_void) -> c_int;
type Panicked = unsafe extern "C" fn(*const u8, usize);

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
    let body: Box<dyn Fn()> = Box::new(body);
    let mut report: Vec<u8> = Vec::new();
    // SAFETY: the name, the closure and the report outlive the call.
    let answer = unsafe {
        let argument = (&raw const body).cast_mut().cast();
        explore(name.as_ptr(), name.len(), run, argument, keep, (&raw mut report).cast())
    };
    let report = String::from_utf8_lossy(&report).into_owned();
    save(&name, &report);
    if answer != 0 {
        panic!("{}", summary(&report));
    }
}

/// Writes the report where `cargo selvedge test` looks for it.
fn save(name: &str, report: &str) {
    let Some(directory) = std::env::var_os("SELVEDGE_REPORT_DIRECTORY") else { return };
    let file: String = name.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '-' }).collect();
    // The same line may explore many times, in a loop or for several tests: no report may replace another.
    let mut path = std::path::Path::new(&directory).join(format!("{file}.json"));
    let mut number = 1;
    while path.exists() {
        number += 1;
        path.set_file_name(format!("{file}-{number}.json"));
    }
    if let Err(error) = std::fs::write(&path, report) {
        eprintln!("selvedge: the report could not be written to {}: {error}", path.display());
    }
}

/// What was found, in a sentence: the first message of the report.
fn summary(report: &str) -> String {
    let text = report.split_once("\"message\":\"").map_or(report, |(_, rest)| rest);
    let end = text.match_indices('"').map(|(at, _)| at).find(|&at| !text[..at].ends_with('\\')).unwrap_or(text.len());
    format!("a schedule fails: {}", text[..end].replace("\\\"", "\"").replace("\\n", "\n"))
}

fn symbol(name: &std::ffi::CStr) -> Option<*mut c_void> {
    // SAFETY: looks a name up in what is loaded.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

unsafe extern "C" fn keep(bytes: *const u8, length: usize, report: *mut c_void) {
    // SAFETY: the runtime passes its text, and what `explore` gave it.
    unsafe { (*report.cast::<Vec<u8>>()).extend_from_slice(std::slice::from_raw_parts(bytes, length)) };
}

unsafe extern "C" fn run(body: *mut c_void) -> *mut c_void {
    // SAFETY: what `explore` passed, which outlives the search.
    let body = unsafe { &*body.cast::<Box<dyn Fn()>>() };
    if let Err(payload) = catch_unwind(AssertUnwindSafe(body)) {
        panicked(&*payload);
    }
    std::ptr::null_mut()
}

/// Ends the run: a panic reached the top.
fn panicked(payload: &(dyn Any + Send)) {
    let message = message(payload);
    if let Some(panicked) = symbol(c"selvedge_panicked") {
        // SAFETY: the runtime's function of that name has that type; it does not come back.
        unsafe { std::mem::transmute::<*mut c_void, Panicked>(panicked)(message.as_ptr(), message.len()) };
    }
}

/// One of `0..options`, all of which are tried: what a specification does that allows several results. Outside of a search, and for
/// fewer than two options, it is 0.
pub fn choose(options: usize) -> usize {
    type Choose = unsafe extern "C" fn(u32) -> u32;
    let Some(found) = symbol(c"selvedge_choose") else { return 0 };
    // SAFETY: the runtime's function of that name has that type.
    unsafe { std::mem::transmute::<*mut c_void, Choose>(found)(options.try_into().unwrap_or(u32::MAX)) as usize }
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

    #[test]
    fn the_message_is_taken_out_of_the_report() {
        let report = r#"{"tests":[{"findings":[{"message":"left \"a\" right","thread":1}]}]}"#;
        assert_eq!(super::summary(report), "a schedule fails: left \"a\" right");
        assert_eq!(super::summary("x"), "a schedule fails: x");
    }
}
