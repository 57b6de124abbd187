//! What a program that runs its tests itself calls: `crates/selvedge`, from inside of a Rust test.
//!
//! Both ways in, a closure and an object, begin and end in the same way ([`hosted`]): a mark is left, the process is set up, a search is made, and
//! its report takes the place of the mark. Invariant: a search that has begun is reported, or its mark stays.

use std::ffi::{c_int, c_void};
use std::path::PathBuf;

use selvedge_protocol::channel::{Begun, VERSION};
use selvedge_protocol::{Cause, Host, ObjectReport, Report, SearchTrouble, Settings, wire, words};

use crate::control::{self, Body, with};
use crate::freeze::Frozen;
use crate::lineup::{Object, RustObject, check};
use crate::session::{self, Test};
use crate::{apart, fiber, sys};

/// What a caller is told with: bytes, how many, and what it gave.
type Tell = unsafe extern "C" fn(*const u8, usize, *mut c_void);

/// What is the same for every search, as `crates/selvedge` says it.
#[repr(C)]
pub struct Hosting {
    /// [`VERSION`] of the caller.
    version: u32,
    /// Whether the test judges the report itself.
    takes: u32,
    name: *const u8,
    name_length: usize,
    /// The test function, where the harness says; else its length is 0.
    function: *const u8,
    function_length: usize,
    /// Gets the report as JSON where the test judges it, and else what is said with a panic.
    tell: Tell,
    told: *mut c_void,
}

/// Text of Rust.
///
/// # Safety
/// So many bytes.
pub unsafe fn text(start: *const u8, length: usize) -> String {
    // SAFETY: the caller says that there are so many bytes.
    String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(start, length) }).into_owned()
}

/// How often a search was begun in that place, this time included.
fn calls(name: &str) -> u32 {
    static SEEN: std::sync::Mutex<Vec<(String, u32)>> = std::sync::Mutex::new(Vec::new());
    let mut seen = SEEN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some((_, count)) = seen.iter_mut().find(|(other, _)| other == name) {
        *count += 1;
        return *count;
    }
    seen.push((name.to_owned(), 1));
    1
}

/// The program that runs here.
fn host(function: String) -> Host {
    let known = |path: std::io::Result<PathBuf>| path.unwrap_or_default();
    Host {
        executable: known(std::env::current_exe()),
        directory: known(std::env::current_dir()),
        function: Some(function).filter(|function| !function.is_empty()),
    }
}

/// Answers for a caller: 0 when nothing was found, 1 when something was, 2 when there was no search, 3 when a limit was reached.
fn code(report: &Report) -> c_int {
    match (&report.error, report.tests.first(), report.objects.first()) {
        (Some(_), ..) | (None, None, None) => 2,
        (None, Some(test), _) => c_int::from(!test.findings.is_empty()),
        (None, None, Some(object)) if object.error.is_some() => 2,
        (None, None, Some(object)) if !object.findings.is_empty() => 1,
        (None, None, Some(object)) => {
            if object.complete {
                0
            } else {
                3
            }
        }
    }
}

/// A search from beginning to end. `search` makes it, with the settings that are asked for, when everything is set up.
///
/// # Safety
/// What `raw` points at outlives the call.
unsafe fn hosted(raw: *const Hosting, search: impl FnOnce(&str, &Settings, &mut Report)) -> c_int {
    // SAFETY: the caller says that it is there, and the version is the first that is looked at.
    let hosting = unsafe { &*raw };
    let tell = |text: &str| {
        // SAFETY: the caller's own function, with what it asked for.
        unsafe { (hosting.tell)(text.as_ptr(), text.len(), hosting.told) }
    };
    if control::active() {
        tell(&words::search_trouble(&SearchTrouble::Nested));
        return 2;
    }
    // SAFETY: two texts of the caller.
    let (name, function) =
        unsafe { (text(hosting.name, hosting.name_length), text(hosting.function, hosting.function_length)) };
    let asked = session::settings();
    let settings = Settings { call: calls(&name), ..asked.clone() };
    // Only the search that the finding is of is repeated.
    if asked.replay.is_some() && (asked.test.as_ref(), asked.call) != (Some(&name), settings.call) {
        return 0;
    }
    let begun = session::reports().map(|directory| Begun::new(&directory, &name));
    let mut report = Report { host: Some(host(function)), ..Report::default() };
    match session::prepare(&settings) {
        Err(trouble) => report.error = Some(trouble),
        Ok(()) => {
            // A debugger would stop at the signals that hold the others still.
            let _frozen = (!settings.stop_at_failure).then(Frozen::new);
            with(|control| control.process.hosted = true);
            // Whoever waits for this test's result may still be on its way to sleep, through variables that are put back.
            sys::settle();
            search(&name, &settings, &mut report);
        }
    }
    let told = match begun {
        None => Ok(()),
        // Who runs the tests learns that there was a search, and leaves what it saw to the test.
        Some(begun) if hosting.takes != 0 => begun.taken(),
        Some(begun) => begun.report(&report),
    };
    if let Err(error) = told {
        sys::complain(&words::Complaint::Report(&error).to_string());
    }
    tell(&if hosting.takes != 0 { wire::encode(&report) } else { words::answer(&report) });
    code(&report)
}

/// Whether the caller was built for this version of these functions; tells it if it was not.
///
/// # Safety
/// What `raw` points at outlives the call.
unsafe fn fits(raw: *const Hosting) -> bool {
    // SAFETY: the version comes first in every version.
    let test = unsafe { raw.cast::<u32>().read() };
    if test != VERSION {
        sys::complain(&words::search_trouble(&SearchTrouble::Version { runtime: VERSION, test }));
        sys::complain("\n");
    }
    test == VERSION
}

/// Searches the schedules of one test, from inside a program that runs its tests itself. Answers 0 when nothing was
/// found, 1 when something was, 2 when the search could not start.
///
/// # Safety
/// What `raw` points at outlives the call; `body` may be called many times with `argument`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_explore(raw: *const Hosting, body: Body, argument: *mut c_void) -> c_int {
    // SAFETY: what the caller passes on.
    unsafe {
        if !fits(raw) {
            return 2;
        }
        hosted(raw, |name, settings, report| {
            let test = Test { name: name.to_owned(), body, argument };
            match settings.object.flags().first() {
                Some(flag) => {
                    let (flag, test) = ((*flag).to_owned(), test.name);
                    report.error = Some(SearchTrouble::FlagOfObjects { flag, test });
                }
                None => report.tests.push(session::explore(&test, settings)),
            }
        })
    }
}

/// Tests an object that a Rust test describes. Answers as [`selvedge_explore`], and 3 when a limit was reached.
///
/// # Safety
/// Everything that the description points at outlives the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_check_object(raw: *const Hosting, object: *const RustObject) -> c_int {
    // SAFETY: what the caller passes on.
    unsafe {
        if !fits(raw) {
            return 2;
        }
        hosted(raw, |name, settings, report| {
            let test = || match Object::of_rust(object, &settings.object) {
                Ok(object) => check(object, settings),
                Err(trouble) => ObjectReport { error: Some(trouble), ..ObjectReport::new(name) },
            };
            report.objects.push(apart::check(name, settings, test));
        })
    }
}

/// The caller panics; whether it is in a run. Stops for a debugger, if one is asked for: after this the stack is unwound.
#[unsafe(no_mangle)]
pub extern "C" fn selvedge_panicking() -> c_int {
    let running = control::active();
    if running {
        control::set_active(false);
        crate::debug::failed();
        control::set_active(true);
    }
    c_int::from(running)
}

/// Ends the run: a panic reached the top, at `file:line`, where that is known, with this message.
///
/// # Safety
/// Two texts, so many bytes each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_panicked(place: *const u8, place_length: usize, start: *const u8, length: usize) {
    if control::active() {
        // SAFETY: the caller says that there are so many bytes.
        let (place, message) = unsafe { (text(place, place_length), text(start, length)) };
        fiber::fail(Cause::Panic { place, message }, 0);
    }
}
