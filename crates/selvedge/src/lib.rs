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
    refuse_when_probed();
    let begun = Begun::new(&name);
    note_panics();
    let body: Box<dyn Fn()> = Box::new(body);
    let mut report: Vec<u8> = Vec::new();
    // SAFETY: the name, the closure and the report outlive the call.
    let answer = unsafe {
        let argument = (&raw const body).cast_mut().cast();
        explore(name.as_ptr(), name.len(), run, argument, keep, (&raw mut report).cast())
    };
    let report = String::from_utf8_lossy(&report).into_owned();
    // Nothing is reported of a search that a replay leaves out.
    if report.is_empty() || save(&name, "json", &with_host(&report)) {
        begun.ended();
    }
    match answer {
        0 => {}
        1 => panic!("a schedule fails: {}", text_of(&report, "message")),
        _ => panic!("the search could not start: {}", text_of(&report, "error")),
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

/// A search that has begun. The file that says so goes away when its report is written: without it nobody would know that there was
/// a search whose report is missing.
struct Begun(Option<std::path::PathBuf>);

impl Begun {
    fn new(name: &str) -> Self {
        Begun(write_new(name, "begun", ""))
    }

    fn ended(self) {
        if let Some(path) = self.0 {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Writes the report where `cargo selvedge test` looks for it; whether it is there, or nobody looks.
fn save(name: &str, kind: &str, report: &str) -> bool {
    std::env::var_os("SELVEDGE_REPORT_DIRECTORY").is_none() || write_new(name, kind, report).is_some()
}

/// Writes a new file into the directory of reports; its path, if it could be written whole.
fn write_new(name: &str, kind: &str, report: &str) -> Option<std::path::PathBuf> {
    let directory = std::env::var_os("SELVEDGE_REPORT_DIRECTORY")?;
    let file: String = name.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '-' }).collect();
    // The same line may explore many times, in a loop or for several tests that run side by side: no report may replace another.
    let mut path = std::path::Path::new(&directory).join(format!("{file}.{kind}"));
    let mut number = 1;
    let written = loop {
        match std::fs::File::create_new(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                number += 1;
                path.set_file_name(format!("{file}-{number}.{kind}"));
            }
            Err(error) => break Err(error),
            Ok(mut file) => break std::io::Write::write_all(&mut file, report.as_bytes()),
        }
    };
    if let Err(error) = &written {
        eprintln!("selvedge: the report could not be written to {}: {error}", path.display());
    }
    written.is_ok().then_some(path)
}

/// The report with what is known here of the program that runs the test, so that it can be run again.
fn with_host(report: &str) -> String {
    let Some(rest) = report.strip_prefix('{') else { return report.to_owned() };
    let text = |path: std::io::Result<std::path::PathBuf>| quoted(&path.unwrap_or_default().to_string_lossy());
    let (executable, directory) = (text(std::env::current_exe()), text(std::env::current_dir()));
    // The harness names the thread of a test after it.
    let thread = std::thread::current();
    let function = thread.name().filter(|name| *name != "main").map_or("null".to_owned(), quoted);
    format!(r#"{{"host":{{"executable":{executable},"directory":{directory},"function":{function}}},{rest}"#)
}

/// A string of JSON.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if letter.is_control() => quoted.push_str(&format!("\\u{:04x}", u32::from(letter))),
            letter => quoted.push(letter),
        }
    }
    quoted + "\""
}

/// The first text of the report under that name: `message` is what was found, in a sentence.
fn text_of(report: &str, field: &str) -> String {
    let text = report.split_once(&format!("\"{field}\":\"")).map_or(report, |(_, rest)| rest);
    let end = text.match_indices('"').map(|(at, _)| at).find(|&at| !text[..at].ends_with('\\')).unwrap_or(text.len());
    text[..end].replace("\\\"", "\"").replace("\\n", "\n")
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
        let (bytes, length) = PANICKED_AT.try_with(Cell::get).unwrap_or(([0; 120], 0));
        panicked(&format!("panic at {}: {}", String::from_utf8_lossy(&bytes[..length]), message(&*payload)));
    }
    std::ptr::null_mut()
}

/// Ends the run: a panic reached the top.
fn panicked(message: &str) {
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
        assert_eq!(super::text_of(report, "message"), "left \"a\" right");
        assert_eq!(super::text_of("x", "message"), "x");
        assert_eq!(super::text_of(r#"{"tests":[],"error":"--auto"}"#, "error"), "--auto");
    }

    #[test]
    fn the_report_says_which_program_it_is_of() {
        let report = super::with_host(r#"{"tests":[]}"#);
        assert!(report.starts_with(r#"{"host":{"executable":"/"#) && report.ends_with(r#"},"tests":[]}"#), "{report}");
        assert!(report.contains(r#""function":"tests::the_report_says_which_program_it_is_of""#), "{report}");
        assert_eq!(super::quoted("a\"b\\c\n"), r#""a\"b\\c\u000a""#);
    }
}
