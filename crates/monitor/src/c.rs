//! What C and C++ call: `include/selvedge_monitor.h`, with the static library of this crate.
//!
//! Invariant: a null handle, or one of another kind of object, does nothing. Handles are made here and freed once.

use std::ffi::c_char;
use std::num::NonZeroU64;

use super::lock::LockWatch;
use super::queue::{Exit, Own, Watch};
use super::record::{Begun, LOST, Recorder};
use super::register::{self, READ, WRITE};
use super::report::Report;
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
    /// What was found. What waits is looked at first, so that nothing is taken for checked that is not.
    fn report(&self) -> Report {
        match self {
            Handle::Queue(queue) => queue.findings.report(true),
            Handle::Stack(stack) => stack.report(true),
            Handle::Register(register) => register.report(true),
            Handle::Lock(lock) => lock.findings.report(true),
        }
    }

    fn examine(&self) {
        match self {
            Handle::Queue(queue) => queue.examine(),
            Handle::Stack(stack) => drop(stack.report(true)),
            Handle::Register(register) => drop(register.report(true)),
            Handle::Lock(_) => {}
        }
    }
}

/// Where the thread of a removal from a queue is, beside the moment of its call.
const THREAD_SHIFT: u32 = 56;

/// A removal from a queue that cannot be seen, which is counted when it begins.
const UNSEEN: Access = Access { called: u64::MAX, latest: 0 };

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
        Some(Handle::Queue(queue)) => Stamp { ticket: queue.idle().map_or(0, |own| queue.enter(own).get()), called: 0 },
        Some(Handle::Stack(stack)) => {
            let ticket = stack.ticket();
            Stamp { ticket, called: stack.begin().token() }
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
                (Some(own), Some(ticket)) if own.is_entering() => queue.entered(own, ticket),
                // It is over already: what has happened since is not known.
                (Some(_), Some(_)) => queue.overlooked(),
                _ => queue.entered_unseen(),
            }
        }
        Some(Handle::Stack(stack)) => stack.end_anywhere(Begun::of(stamp.called), PUSH, stamp.ticket),
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
        Some(Handle::Queue(queue)) => queue.leaving().map_or(UNSEEN, |(own, exit)| Access {
            called: (own.thread as u64) << THREAD_SHIFT | exit.called,
            latest: exit.latest,
        }),
        Some(Handle::Stack(stack)) => Access { called: stack.begin().token(), latest: 0 },
        Some(Handle::Register(register)) => Access { called: register.begin().token(), latest: 0 },
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
            let Some((own, exit)) = removal(queue, access) else { return };
            match stamp {
                Some(stamp) => queue.left(own, exit, stamp.ticket),
                None => queue.found_empty(own, exit),
            }
        }
        (Some(Handle::Stack(stack)), stamp) => {
            let begun = Begun::of(access.called);
            match stamp.map(|stamp| stamp.ticket) {
                None => stack.end_anywhere(begun, POP, 0),
                // Somebody put it in without a stamp: nobody knows when.
                Some(0) => {
                    stack.findings.unchecked(1);
                    stack.end_anywhere(begun, LOST, 0);
                }
                Some(ticket) => stack.end_anywhere(begun, POP, ticket),
            }
        }
        _ => {}
    }
}

/// A removal that the calling thread has called. Of one that was not seen nothing is known, and of one that another thread called not what it took.
fn removal(queue: &Watch, access: Access) -> Option<(Own<'_>, Exit)> {
    if access.called == UNSEEN.called {
        return None;
    }
    let called = access.called & ((1 << THREAD_SHIFT) - 1);
    let is_own = |own: &Own<'_>| called != 0 && own.thread as u64 == access.called >> THREAD_SHIFT && own.is_leaving();
    let own = queue.own().filter(is_own);
    let Some(own) = own else {
        queue.overlooked();
        return None;
    };
    Some((own, Exit { called, latest: access.latest }))
}

/// An insertion that was about to be called was not made, or did not happen: the object is full.
///
/// # Safety
/// The handle is null, or was made here and not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_push_cancel(handle: *const Handle, stamp: Stamp) {
    // SAFETY: the caller says so.
    match unsafe { object(handle) } {
        Some(Handle::Queue(queue)) => {
            let own = queue.own().filter(|own| stamp.ticket != 0 && own.thread == unstamp(stamp.ticket).0);
            own.into_iter().for_each(|own| queue.not_entered(own));
        }
        Some(Handle::Stack(stack)) => stack.cancel(Begun::of(stamp.called)),
        _ => {}
    }
}

/// A removal, a read or a write that was about to be called was not made, or did not happen.
///
/// # Safety
/// The handle is null, or was made here and not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_cancel(handle: *const Handle, access: Access) {
    // SAFETY: the caller says so.
    match unsafe { object(handle) } {
        Some(Handle::Queue(queue)) => {
            removal(queue, access).into_iter().for_each(|(own, _)| queue.not_left(own));
        }
        Some(Handle::Stack(stack)) => stack.cancel(Begun::of(access.called)),
        Some(Handle::Register(register)) => register.cancel(Begun::of(access.called)),
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
        register.end_anywhere(Begun::of(access.called), READ, value);
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
        register.end_anywhere(Begun::of(access.called), WRITE, value);
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
    unsafe { object(handle) }.map_or(0, |object| object.report().total())
}

/// How many operations could not be checked in full.
///
/// # Safety
/// The handle is null, or was made here and not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_unchecked(handle: *const Handle) -> u64 {
    // SAFETY: the caller says so.
    unsafe { object(handle) }.map_or(0, |object| object.report().unchecked())
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
    let report = object.report();
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
