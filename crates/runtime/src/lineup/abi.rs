//! What the header and `crates/selvedge` call: objects are registered or handed over, results are given as text, and a
//! specification may choose.

use std::cell::UnsafeCell;
use std::ffi::{c_char, c_int, c_void};
use std::rc::Rc;

use selvedge_driver::{ObjectReport, Report, Settings};
use selvedge_explore::Pick;

use super::check::{blank, check};
use super::object::{Object, RawObject, Registered, RustObject, TEXT, Value, bytes, text};
use crate::arch::site;
use crate::control::{self, active, with};
use crate::fiber::{self, Wants};
use crate::freeze::Frozen;
use crate::point;
use crate::session::{self, Tell};

/// What the program registered.
#[derive(Default)]
struct Registry {
    objects: Vec<Registered>,
    /// Names of objects and what was said of them.
    options: Vec<(String, String)>,
}

struct Cell(UnsafeCell<Option<Registry>>);

// SAFETY: written before `main` and read by the thread that runs the tests only.
unsafe impl Sync for Cell {}

static REGISTRY: Cell = Cell(UnsafeCell::new(None));

fn registry() -> &'static mut Registry {
    // SAFETY: before `main` there is one thread, and then only the one that runs the tests calls; no borrow outlives a call.
    unsafe { (*REGISTRY.0.get()).get_or_insert_with(Registry::default) }
}

/// Adds an object; called before `main`.
///
/// # Safety
/// A static object that the header made.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_register_object(object: *const RawObject) {
    // SAFETY: the caller says that the header made it.
    registry().objects.push(unsafe { Registered::new(object) });
}

/// Adds an option of an object; called before `main`.
///
/// # Safety
/// Two strings of the program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_register_option(object: *const c_char, option: *const c_char) {
    // SAFETY: the caller says that these are strings.
    registry().options.push(unsafe { (text(object), text(option)) });
}

/// The names of the objects that the program registered.
pub fn registered() -> Vec<String> {
    let objects = registry().objects.iter().filter(|object| object.reference_of.is_none());
    objects.map(|object| object.name.clone()).collect()
}

/// Tests a registered object.
pub fn check_registered(name: &str, settings: &Settings) -> ObjectReport {
    let described = describe(name, settings);
    // A session without runs only asks what there is.
    if settings.runs_max == 0 {
        return blank(name);
    }
    match described {
        Ok(object) => check(object, settings),
        Err(error) => ObjectReport { error: Some(error), ..blank(name) },
    }
}

fn describe(name: &str, settings: &Settings) -> Result<Object, String> {
    let find = |wanted: &dyn Fn(&&Registered) -> bool| registry().objects.iter().find(wanted);
    let Some(found) = find(&|object| object.name == name && object.reference_of.is_none()) else {
        return Err(format!("there is no object `{name}`"));
    };
    let own = registry().options.iter().filter(|(object, _)| object == name).map(|(_, option)| option.clone());
    let options: Vec<String> = own.chain(settings.object.options.iter().cloned()).collect();
    let mut object = found.object(&options)?;
    if let Some(reference) = find(&|object| object.reference_of.as_deref() == Some(name)) {
        let mut reference = reference.object(&[])?;
        reference.calls.declared.clone_from(&object.calls.declared);
        reference.calls.ignored.clone_from(&object.calls.ignored);
        object.reference = Some(Rc::new(reference));
    }
    object.matched()
}

/// Tests an object that a Rust test describes. Answers 0 when nothing was found, 1 when something was, 2 when it cannot be
/// tested, 3 when a limit was reached. The report goes to `tell` as JSON, and then once more as text for people.
///
/// # Safety
/// Everything that the description points at outlives the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_check_object(raw: *const RustObject, tell: Tell, told: *mut c_void) -> c_int {
    // SAFETY: the caller says that the description is there, and its name is part of it.
    let name = unsafe { bytes((*raw).name, (*raw).length) };
    let asked = session::settings();
    let settings = Settings { call: session::calls(&name), ..asked.clone() };
    // Only the search that the finding is of is repeated.
    if asked.replay.is_some() && (asked.test.as_ref(), asked.call) != (Some(&name), settings.call) {
        return 0;
    }
    // SAFETY: the caller says that all of the description is there.
    let described = unsafe { Object::of_rust(raw, &settings.object.options) };
    let mut report = Report::default();
    if control::active() {
        report.error = Some("a search inside a search".into());
    } else if let Err(error) = session::prepare(&settings) {
        report.error = Some(error);
    } else {
        let _frozen = Frozen::new();
        with(|control| control.process.hosted = true);
        match described {
            Ok(object) => report.objects.push(check(object, &settings)),
            Err(error) => report.objects.push(ObjectReport { error: Some(error), ..blank(&name) }),
        }
    }
    let (code, words) = answer(&report);
    for text in [serde_json::to_string(&report).unwrap_or_default(), words] {
        // SAFETY: the caller's own function, with what it asked for.
        unsafe { tell(text.as_ptr(), text.len(), told) };
    }
    code
}

/// The code and the text for people.
fn answer(report: &Report) -> (c_int, String) {
    let Some(object) = report.objects.first() else {
        return (2, report.error.clone().unwrap_or_default());
    };
    if let Some(error) = &object.error {
        return (2, error.clone());
    }
    if let Some(finding) = object.findings.first() {
        let kind = finding.kind.name();
        let mut text = format!("{kind}: {}\n\n{}", finding.finding.message, finding.explanation);
        text += &format!("\n  What happened:\n\n{}", finding.timeline);
        text += &format!("\n  As a test: .matrix({:?})\n", finding.matrix);
        return (1, text);
    }
    if object.complete {
        return (0, String::new());
    }
    let open = [object.limit.clone(), object.doubt()];
    (3, open.into_iter().flatten().collect::<Vec<_>>().join("; "))
}

/// Gives the result of the operation under way as text.
///
/// # Safety
/// So many bytes of text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_result(start: *const u8, length: usize) {
    if active() {
        // SAFETY: the caller says that there are so many bytes.
        let text = unsafe { bytes(start, length) };
        with(|control| control.put_text(&text));
    }
}

/// Gives the result of the operation under way as a string of C; what the operation then returns.
///
/// # Safety
/// A string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_text(string: *const c_char) -> Value {
    if active() {
        // SAFETY: the caller says that it is a string.
        let text = unsafe { text(string) };
        with(|control| control.put_text(&text));
    }
    TEXT
}

/// Ends the run: the object could not be constructed.
///
/// # Safety
/// So many bytes of text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_not_constructed(start: *const u8, length: usize) {
    if active() {
        // SAFETY: the caller says that there are so many bytes.
        let text = unsafe { bytes(start, length) };
        fiber::fail(selvedge_driver::FindingKind::Panic, text, 0);
    }
}

crate::entries! {
    selvedge_choose => choose_at;
    selvedge_block => block_at;
}

/// A choice of a specification: one of so many, all of which are tried. In a serial run it is part of what the operation did.
unsafe extern "C" fn choose_at(options: u32) -> u32 {
    if !active() || options < 2 {
        return 0;
    }
    point::arrive(point::nothing(), Wants::Nothing, site::pc());
    with(|control| {
        let chosen = control.pick(options);
        control.run.trace.pick(Pick { chosen, options });
        if let Some(column) = control.run.recorder.column(control.run.current) {
            control.run.recorder.chose(column, chosen);
        }
        point::finish(control, None, false, None);
        chosen
    })
}

/// Waits for ever: what an operation of a specification does where it has to.
unsafe extern "C" fn block_at() {
    while active() {
        with(|control| control.fiber().woken = false);
        point::arrive(point::nothing(), Wants::Wake, site::pc());
        point::record(point::nothing(), None);
    }
}
