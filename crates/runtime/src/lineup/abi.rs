//! What the header and `crates/selvedge` call: objects are registered or handed over, results are given as text, and a
//! specification may wait.

use std::cell::UnsafeCell;
use std::ffi::c_char;
use std::rc::Rc;

use selvedge_protocol::{Cause, ObjectOptions, ObjectReport, ObjectTrouble, Settings};

use super::check::check;
use super::object::{Object, RawObject, Registered, TEXT, Value, text, wrong};
use crate::arch::site;
use crate::control::{active, with};
use crate::fiber::{self, Wants};
use crate::{host, point};

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
        return ObjectReport::new(name);
    }
    match described {
        Ok(object) => check(object, settings),
        Err(error) => ObjectReport { error: Some(error), ..ObjectReport::new(name) },
    }
}

fn describe(name: &str, settings: &Settings) -> Result<Object, ObjectTrouble> {
    let find = |wanted: &dyn Fn(&&Registered) -> bool| registry().objects.iter().find(wanted);
    let Some(found) = find(&|object| object.name == name && object.reference_of.is_none()) else {
        return Err(ObjectTrouble::NoObject(name.to_owned()));
    };
    let own = registry().options.iter().filter(|(object, _)| object == name).map(|(_, option)| option.as_str());
    let said = ObjectOptions::of_lines(own).map_err(wrong)?;
    let mut object = found.object(said.overridden(&settings.object))?;
    if let Some(reference) = find(&|object| object.reference_of.as_deref() == Some(name)) {
        let mut reference = reference.object(ObjectOptions::default())?;
        reference.calls.declared.clone_from(&object.calls.declared);
        reference.calls.ignored.clone_from(&object.calls.ignored);
        object.reference = Some(Rc::new(reference));
    }
    object.matched()
}

/// Gives the result of the operation under way as text.
///
/// # Safety
/// So many bytes of text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_result(start: *const u8, length: usize) {
    if active() {
        // SAFETY: the caller says that there are so many bytes.
        let text = unsafe { host::text(start, length) };
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
        let text = unsafe { host::text(start, length) };
        fiber::fail(Cause::Panic { place: String::new(), message: text }, 0);
    }
}

crate::entries! {
    selvedge_block => block_at;
}

/// Waits for ever: what an operation of a specification does where it has to.
unsafe extern "C" fn block_at() {
    while active() {
        with(|control| control.fiber().woken = false);
        point::arrive(point::nothing(), Wants::Wake, site::pc());
        point::record(point::nothing(), None);
    }
}
