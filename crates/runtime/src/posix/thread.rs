//! Threads: creation, join, detach, exit.

use std::ffi::{c_int, c_void};

use selvedge_explore::{Access, Kind, Pick, Thread};
use selvedge_protocol::{Cause, Out};

use crate::arch::site;
use crate::control::{Body, active, with};
use crate::fiber::{self, Wants, fail};
use crate::point;
use crate::posix::objects::{ended, threads};
use crate::posix::{attempt, real};

crate::entries! {
    pthread_create => create_at;
    pthread_join => join_at;
    pthread_detach => detach_at;
    pthread_exit => exit_at;
    pthread_cancel => cancel_at;
    __pthread_register_cancel => register_at;
    __pthread_unregister_cancel => unregister_at;
    __pthread_unwind_next => unwind_at;
    pthread_getattr_np => getattr_at;
    sched_yield => yield_at;
    pthread_yield => yield_at;
}

crate::entries! {
    pthread_tryjoin_np => tryjoin_at;
    pthread_timedjoin_np => timedjoin_at;
    pthread_clockjoin_np => clockjoin_at;
}

/// Creates a thread under control; its number. The run ends where there cannot be one more: a program would take that for an error of
/// its own.
pub fn spawn(body: Body, argument: *mut c_void, pc: u64, publish: impl FnOnce(libc::pthread_t)) -> usize {
    // Threads are numbered in the order of creation, so creations by different threads do not commute.
    let access = Access::new(threads(), 1, Kind::Update);
    point::arrive(access, Wants::Nothing, pc);
    let (creator, created) = with(|control| {
        let creator = control.run.current;
        let created = control.create(body, argument).ok();
        control.run.trace.access(access);
        point::finish(control, created.map(|thread| Thread(thread as u16)), false, None);
        if let Some(thread) = created {
            control.run.races.created(creator, thread);
            if let Some(&mask) = control.run.objects.blocked.get(&creator) {
                control.run.objects.blocked.insert(thread, mask);
            }
        }
        control.fiber().spin.effect();
        (creator, created)
    });
    let Some(thread) = created else {
        fail(Cause::Out(Out::Threads { max: Thread::MAX as u32 }), pc);
    };
    publish(with(|control| control.process.fibers[thread].id));
    fiber::start(creator, thread);
    thread
}

unsafe extern "C" fn create_at(
    id: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    body: Body,
    argument: *mut c_void,
) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pthread_create()(id, attributes, body, argument) };
    }
    let mut state = libc::PTHREAD_CREATE_JOINABLE;
    if !attributes.is_null() {
        // SAFETY: the caller's attributes.
        unsafe { pthread_attr_getdetachstate(attributes, &mut state) };
    }
    // SAFETY: the caller gives a place for the answer.
    let thread = spawn(body, argument, site::pc(), |new| unsafe { id.write(new) });
    with(|control| control.process.fibers[thread].detached = state == libc::PTHREAD_CREATE_DETACHED);
    0
}

unsafe extern "C" {
    fn pthread_attr_getdetachstate(attributes: *const libc::pthread_attr_t, state: *mut c_int) -> c_int;
}

fn find(id: libc::pthread_t) -> Option<usize> {
    with(|control| (0..control.run.created).find(|&thread| control.process.fibers[thread].id == id))
}

/// Waits for the end of a thread; what it returned.
pub fn join(id: libc::pthread_t, pc: u64) -> Result<*mut c_void, c_int> {
    let thread = find(id).ok_or(libc::ESRCH)?;
    let usable = with(|control| {
        let fiber = &control.process.fibers[thread];
        if thread == control.run.current {
            Err(libc::EDEADLK)
        } else if fiber.detached || fiber.joined {
            Err(libc::EINVAL)
        } else {
            Ok(())
        }
    });
    usable?;
    let access = Access::new(ended(thread), 1, Kind::Await).waiting();
    point::arrive(access, Wants::End(thread), pc);
    point::record(access, None);
    with(|control| {
        let current = control.run.current;
        control.run.races.joined(current, thread);
        control.process.fibers[thread].joined = true;
        control.fiber().spin.effect();
        Ok(control.process.fibers[thread].result)
    })
}

unsafe extern "C" fn join_at(id: libc::pthread_t, result: *mut *mut c_void) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pthread_join()(id, result) };
    }
    match join(id, site::pc()) {
        Ok(value) => {
            if !result.is_null() {
                // SAFETY: the caller gives a place for the answer.
                unsafe { result.write(value) };
            }
            0
        }
        Err(error) => error,
    }
}

/// Joins if the thread has ended by now.
///
/// # Safety
/// The place for the result is one, or null.
unsafe fn join_if_ended(id: libc::pthread_t, result: *mut *mut c_void, otherwise: c_int, pc: u64) -> c_int {
    let Some(thread) = find(id) else { return libc::ESRCH };
    let attempt = attempt::arrive(Access::new(ended(thread), 1, Kind::Await), pc);
    let value = with(|control| {
        let current = control.run.current;
        // A thread that makes no step has ended by now, but need not have.
        let early = control.process.fibers[thread].ends_unseen() && !attempt.waited && {
            let chosen = control.pick(2);
            control.run.trace.pick(Pick { chosen, options: 2 });
            chosen == 1
        };
        if early || !control.process.fibers[thread].ended {
            attempt.fails(control, 0, otherwise == libc::ETIMEDOUT);
            return None;
        }
        control.run.races.joined(current, thread);
        control.process.fibers[thread].joined = true;
        attempt.succeeds(control, 1);
        Some(control.process.fibers[thread].result)
    });
    let Some(value) = value else { return otherwise };
    if !result.is_null() {
        // SAFETY: the caller gives a place for the answer.
        unsafe { result.write(value) };
    }
    0
}

unsafe extern "C" fn tryjoin_at(id: libc::pthread_t, result: *mut *mut c_void) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pthread_tryjoin_np()(id, result) };
    }
    // SAFETY: the caller's place for the result.
    unsafe { join_if_ended(id, result, libc::EBUSY, site::pc()) }
}

unsafe extern "C" fn timedjoin_at(id: libc::pthread_t, result: *mut *mut c_void, time: *mut c_void) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pthread_timedjoin_np()(id, result, time) };
    }
    // SAFETY: the caller's place for the result.
    unsafe { join_if_ended(id, result, libc::ETIMEDOUT, site::pc()) }
}

unsafe extern "C" fn clockjoin_at(
    id: libc::pthread_t,
    result: *mut *mut c_void,
    clock: c_int,
    time: *mut c_void,
) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pthread_clockjoin_np()(id, result, clock, time) };
    }
    // SAFETY: the caller's place for the result.
    unsafe { join_if_ended(id, result, libc::ETIMEDOUT, site::pc()) }
}

unsafe extern "C" fn detach_at(id: libc::pthread_t) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pthread_detach()(id) };
    }
    let Some(thread) = find(id) else { return libc::ESRCH };
    with(|control| {
        let was = std::mem::replace(&mut control.process.fibers[thread].detached, true);
        if was { libc::EINVAL } else { 0 }
    })
}

unsafe extern "C" fn exit_at(result: *mut c_void) {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pthread_exit()(result) };
    }
    fiber::exit_alone(result)
}

/// `pthread_cleanup_push` of C: where to go on when the thread exits.
unsafe extern "C" fn register_at(buffer: *mut c_void) {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::__pthread_register_cancel()(buffer) };
    }
    with(|control| control.fiber().cleanups.push(buffer));
}

unsafe extern "C" fn unregister_at(buffer: *mut c_void) {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::__pthread_unregister_cancel()(buffer) };
    }
    with(|control| control.fiber().cleanups.retain(|&other| other != buffer));
}

/// A handler has done its work; the thread goes on to exit.
unsafe extern "C" fn unwind_at(buffer: *mut c_void) {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::__pthread_unwind_next()(buffer) };
    }
    fiber::exit(with(|control| control.fiber().result))
}

unsafe extern "C" fn cancel_at(id: libc::pthread_t) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pthread_cancel()(id) };
    }
    fail(Cause::Out(Out::Cancel), site::pc())
}

/// Rust's standard library asks for the stack of a new thread in order to guard it; the answer is that of the fiber.
unsafe extern "C" fn getattr_at(id: libc::pthread_t, attributes: *mut libc::pthread_attr_t) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pthread_getattr_np()(id, attributes) };
    }
    let Some(thread) = find(id) else { return libc::ESRCH };
    let (bottom, top) = with(|control| (control.process.fibers[thread].bottom, control.process.fibers[thread].top));
    // SAFETY: the caller's attributes are initialised here.
    unsafe {
        libc::pthread_attr_init(attributes);
        let bottom = (bottom + 0xfff) & !0xfff;
        libc::pthread_attr_setstack(attributes, bottom as *mut c_void, ((top - bottom) & !0xfff) as usize);
    }
    0
}

/// What the kernel would call the thread: another number for each, the same in every run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gettid() -> c_int {
    const FIRST: c_int = 1 << 20;
    if active() { FIRST + with(|control| control.run.current) as c_int } else { crate::sys::thread_id() }
}

unsafe extern "C" fn yield_at() -> c_int {
    if active() {
        point::give_way(site::pc());
    } else {
        // SAFETY: no arguments.
        unsafe { crate::sys::call(libc::SYS_sched_yield, [0; 6]) };
    }
    0
}
