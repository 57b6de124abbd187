//! What C and C++ call: `include/selvedge_monitor.h`, with the static library of this crate.
//!
//! Invariant: a null handle, or one of another kind of object, does nothing. Handles are made here and freed once.

use std::ffi::c_char;
use std::num::NonZeroU64;

use super::lock::LockWatch;
use super::queue::{Exit, Watch};
use super::record::{Begun, Recorder};
use super::register::{self, READ, WRITE};
use super::report::Findings;
use super::stack::{self, POP, PUSH};
use super::track::unstamp;

/// An object that is watched.
#[allow(private_interfaces, reason = "C sees a pointer only")]
pub enum Handle {
    Queue(Box<Watch>),
    Stack(Box<Recorder<stack::Rules>>),
    Register(Box<Recorder<register::Rules>>),
    Lock(Box<LockWatch>),
}

/// What a value carries through the object; `selvedge_stamp`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Stamp {
    ticket: u64,
    called: u64,
}

/// A removal, read or write that has been called; `selvedge_access`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Access {
    called: u64,
    latest: u64,
}

impl Handle {
    fn findings(&self) -> &Findings {
        match self {
            Handle::Queue(queue) => &queue.findings,
            Handle::Stack(stack) => &stack.findings,
            Handle::Register(register) => &register.findings,
            Handle::Lock(lock) => &lock.findings,
        }
    }

    fn examine(&self) {
        match self {
            Handle::Queue(queue) => queue.examine(),
            Handle::Stack(stack) => stack.check(),
            Handle::Register(register) => register.check(),
            Handle::Lock(_) => {}
        }
    }
}

fn made(handle: Handle) -> *mut Handle {
    Box::into_raw(Box::new(handle))
}

/// A queue that is watched.
#[unsafe(no_mangle)]
pub extern "C" fn selvedge_monitor_queue() -> *mut Handle {
    made(Handle::Queue(Box::new(Watch::new())))
}

/// A stack that is watched.
#[unsafe(no_mangle)]
pub extern "C" fn selvedge_monitor_stack() -> *mut Handle {
    made(Handle::Stack(Box::new(Recorder::new(stack::Rules::new()))))
}

/// A register that is watched.
#[unsafe(no_mangle)]
pub extern "C" fn selvedge_monitor_register(initial: u64) -> *mut Handle {
    made(Handle::Register(Box::new(Recorder::new(register::Rules::new(initial)))))
}

/// A lock that is watched.
#[unsafe(no_mangle)]
pub extern "C" fn selvedge_monitor_lock() -> *mut Handle {
    made(Handle::Lock(Box::default()))
}

/// Watches no more.
///
/// # Safety
/// The handle is null, or was made here, and nobody uses it now or later.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_monitor_free(handle: *mut Handle) {
    if !handle.is_null() {
        // SAFETY: made by `made`, and given back once.
        drop(unsafe { Box::from_raw(handle) });
    }
}

/// The object behind a handle.
///
/// # Safety
/// The handle is null, or was made here and not freed.
unsafe fn object<'a>(handle: *const Handle) -> Option<&'a Handle> {
    // SAFETY: the caller says so.
    unsafe { handle.as_ref() }
}

/// An insertion is about to be called.
///
/// # Safety
/// The handle is null, or was made here and not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_push_begin(handle: *const Handle) -> Stamp {
    // SAFETY: the caller says so.
    match unsafe { object(handle) } {
        Some(Handle::Queue(queue)) => Stamp { ticket: queue.own().map_or(0, |own| queue.enter(own).get()), called: 0 },
        Some(Handle::Stack(stack)) => {
            let ticket = stack.ticket();
            Stamp { ticket, called: stack.begin().call }
        }
        _ => Stamp::default(),
    }
}

/// An insertion has returned.
///
/// # Safety
/// The handle is null, or was made here and not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_push_end(handle: *const Handle, stamp: Stamp) {
    // SAFETY: the caller says so.
    match unsafe { object(handle) } {
        Some(Handle::Queue(queue)) => {
            let own = queue.own().filter(|own| own.thread == unstamp(stamp.ticket).0);
            match (own, NonZeroU64::new(stamp.ticket)) {
                (Some(own), Some(ticket)) => queue.entered(own, ticket),
                _ => queue.entered_unseen(),
            }
        }
        Some(Handle::Stack(stack)) => stack.end(Begun::again(stamp.called), PUSH, stamp.ticket),
        _ => {}
    }
}

/// A removal, a read or a write is about to be called.
///
/// # Safety
/// The handle is null, or was made here and not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_begin(handle: *const Handle) -> Access {
    // SAFETY: the caller says so.
    match unsafe { object(handle) } {
        Some(Handle::Queue(queue)) => {
            let exit = queue.own().map_or_else(|| queue.leave_unseen(), |own| queue.leave(own));
            let Exit { called, latest } = exit;
            Access { called, latest }
        }
        Some(Handle::Stack(stack)) => Access { called: stack.begin().call, latest: 0 },
        Some(Handle::Register(register)) => Access { called: register.begin().call, latest: 0 },
        _ => Access::default(),
    }
}

/// A removal has returned the value with this stamp, or nothing for a null pointer.
///
/// # Safety
/// The handle is null, or was made here and not freed; the stamp is null or may be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_pop_end(handle: *const Handle, access: Access, stamp: *const Stamp) {
    // SAFETY: the caller says so, of both.
    let (object, stamp) = unsafe { (object(handle), stamp.as_ref()) };
    match (object, stamp) {
        (Some(Handle::Queue(queue)), stamp) => {
            // A removal of a thread without a number has no stamp.
            let Some(own) = queue.own().filter(|_| access.called != 0) else { return };
            let exit = Exit { called: access.called, latest: access.latest };
            match stamp {
                Some(stamp) => queue.left(own, exit, stamp.ticket),
                None => queue.found_empty(own, exit),
            }
        }
        (Some(Handle::Stack(stack)), stamp) => {
            stack.end(Begun::again(access.called), POP, stamp.map_or(0, |stamp| stamp.ticket));
        }
        _ => {}
    }
}

/// A read has returned this value.
///
/// # Safety
/// The handle is null, or was made here and not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_read_end(handle: *const Handle, access: Access, value: u64) {
    // SAFETY: the caller says so.
    if let Some(Handle::Register(register)) = unsafe { object(handle) } {
        register.end(Begun::again(access.called), READ, value);
    }
}

/// A write of this value has returned.
///
/// # Safety
/// The handle is null, or was made here and not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_write_end(handle: *const Handle, access: Access, value: u64) {
    // SAFETY: the caller says so.
    if let Some(Handle::Register(register)) = unsafe { object(handle) } {
        register.end(Begun::again(access.called), WRITE, value);
    }
}

/// The lock was acquired.
///
/// # Safety
/// The handle is null, or was made here and not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_acquired(handle: *const Handle) {
    // SAFETY: the caller says so.
    if let Some(Handle::Lock(lock)) = unsafe { object(handle) } {
        lock.acquired();
    }
}

/// The lock is about to be given back.
///
/// # Safety
/// The handle is null, or was made here and not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_releasing(handle: *const Handle) {
    // SAFETY: the caller says so.
    if let Some(Handle::Lock(lock)) = unsafe { object(handle) } {
        lock.release();
    }
}

/// Looks for what is not looked for at each operation.
///
/// # Safety
/// The handle is null, or was made here and not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_examine(handle: *const Handle) {
    // SAFETY: the caller says so.
    if let Some(object) = unsafe { object(handle) } {
        object.examine();
    }
}

/// How many violations were found.
///
/// # Safety
/// The handle is null, or was made here and not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_violations(handle: *const Handle) -> u64 {
    // SAFETY: the caller says so.
    unsafe { object(handle) }.map_or(0, |object| object.findings().report(true).total())
}

/// How many operations could not be checked in full.
///
/// # Safety
/// The handle is null, or was made here and not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_unchecked(handle: *const Handle) -> u64 {
    // SAFETY: the caller says so.
    unsafe { object(handle) }.map_or(0, |object| object.findings().report(true).unchecked())
}

/// Writes the text of a violation, with a zero at its end, and answers its length without that; 0 where there is none.
///
/// # Safety
/// The handle is null, or was made here and not freed; `size` bytes may be written at `text`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_violation(
    handle: *const Handle,
    number: usize,
    text: *mut c_char,
    size: usize,
) -> usize {
    // SAFETY: the caller says so.
    let Some(object) = (unsafe { object(handle) }) else { return 0 };
    let report = object.findings().report(true);
    let Some(violation) = report.violations().get(number) else { return 0 };
    let found = violation.to_string();
    if size > 0 && !text.is_null() {
        let length = found.len().min(size - 1);
        // SAFETY: there is room for `size` bytes, and `length` is less.
        unsafe {
            std::ptr::copy_nonoverlapping(found.as_ptr(), text.cast::<u8>(), length);
            *text.add(length) = 0;
        }
    }
    found.len()
}
