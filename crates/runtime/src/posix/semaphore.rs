//! Semaphores. The count stays where glibc keeps it.

use std::ffi::{c_int, c_uint, c_void};

use selvedge_explore::{Access, Condition, Kind};
use selvedge_protocol::{Deed, Noun};

use crate::arch::site;
use crate::control::{Control, active, with};
use crate::fiber::Wants;
use crate::point;
use crate::posix::lifetime::{self, Change, Use};
use crate::posix::objects;
use crate::posix::{attempt, real};

crate::entries! {
    sem_wait => wait_at;
    sem_post => post_at;
    sem_init => init_at;
    sem_destroy => destroy_at;
    sem_getvalue => getvalue_at;
}

crate::entries! {
    sem_trywait => trywait_at;
    sem_timedwait => timedwait_at;
    sem_clockwait => clockwait_at;
}

type P = *mut c_void;

/// The count: the low half of glibc's `sem_t` on a 64-bit machine.
///
/// # Safety
/// The semaphore is there.
unsafe fn count(semaphore: P) -> u32 {
    // SAFETY: the caller says that it is there; nobody else runs.
    unsafe { *semaphore.cast::<u32>() }
}

const NOUN: Noun = Noun::Semaphore;

/// The current thread does something to a semaphore, which must be there.
fn check(semaphore: P, deed: Deed, pc: u64) {
    let address = semaphore as usize;
    Use { address, object: objects::lock(address), deed, noun: NOUN }.check(pc);
}

/// Takes a unit, for the step that is under way; how many there were.
///
/// # Safety
/// The semaphore is there, and above zero.
unsafe fn take(control: &mut Control, semaphore: P) -> u64 {
    // SAFETY: the caller says that it is there; nobody else runs.
    let old = unsafe {
        let old = count(semaphore);
        *semaphore.cast::<u32>() = old - 1;
        old
    };
    let current = control.run.current;
    control.run.races.acquire(current, objects::lock(semaphore as usize));
    control.takes_lock(objects::lock(semaphore as usize));
    u64::from(old)
}

/// # Safety
/// The semaphore is the caller's.
unsafe fn try_take(semaphore: P, error: c_int, pc: u64) -> c_int {
    let access = Access::new(objects::lock(semaphore as usize), 1, Kind::Take).if_found(Condition::Unknown);
    let attempt = attempt::arrive(access, pc);
    check(semaphore, Deed::WaitsFor, pc);
    let taken = with(|control| {
        // SAFETY: it was found to be there.
        let some = unsafe { count(semaphore) } > 0;
        if some {
            // SAFETY: it was found to be there, and is above zero.
            let old = unsafe { take(control, semaphore) };
            attempt.succeeds(control, old);
        } else {
            attempt.fails(control, 0, error == libc::ETIMEDOUT);
        }
        some
    });
    if taken {
        return 0;
    }
    // SAFETY: the current thread's `errno`.
    unsafe { *libc::__errno_location() = error };
    -1
}

unsafe extern "C" fn wait_at(semaphore: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::sem_wait()(semaphore) };
    }
    let access = Access::new(objects::lock(semaphore as usize), 1, Kind::Take).waiting();
    let pc = site::pc();
    let polls = with(|control| control.polls(pc));
    point::arrive(access, Wants::Unit(semaphore as usize), pc);
    check(semaphore, Deed::WaitsFor, pc);
    with(|control| {
        // SAFETY: it was found to be there, and the thread was let go because it is above zero.
        let old = unsafe { take(control, semaphore) };
        point::take_turn(control, access.after(old), polls);
    });
    0
}

unsafe extern "C" fn trywait_at(semaphore: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::sem_trywait()(semaphore) };
    }
    // SAFETY: the caller's semaphore.
    unsafe { try_take(semaphore, libc::EAGAIN, site::pc()) }
}

unsafe extern "C" fn timedwait_at(semaphore: P, time: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::sem_timedwait()(semaphore, time) };
    }
    // SAFETY: the caller's semaphore.
    unsafe { try_take(semaphore, libc::ETIMEDOUT, site::pc()) }
}

unsafe extern "C" fn clockwait_at(semaphore: P, clock: c_int, time: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::sem_clockwait()(semaphore, clock, time) };
    }
    // SAFETY: the caller's semaphore.
    unsafe { try_take(semaphore, libc::ETIMEDOUT, site::pc()) }
}

unsafe extern "C" fn post_at(semaphore: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::sem_post()(semaphore) };
    }
    let mut access = Access::new(objects::lock(semaphore as usize), 1, Kind::Give);
    let pc = site::pc();
    point::arrive(access, Wants::Nothing, pc);
    check(semaphore, Deed::PostsTo, pc);
    // SAFETY: it was found to be there; nobody else runs.
    unsafe {
        let old = count(semaphore);
        access.old = u64::from(old);
        *semaphore.cast::<u32>() = old.wrapping_add(1);
    }
    with(|control| {
        let current = control.run.current;
        control.run.races.release(current, access.object);
        control.run.trace.access(access);
        control.gives_lock(access.object);
        point::finish(control, None, false, None);
    });
    0
}

unsafe extern "C" fn init_at(semaphore: P, shared: c_int, value: c_uint) -> c_int {
    if active() {
        Change::Initialises.check(semaphore as usize, objects::lock(semaphore as usize), NOUN, site::pc());
        // SAFETY: the caller's memory, of the size of a semaphore.
        let old = u64::from(unsafe { count(semaphore) });
        with(|control| control.renewed(objects::lock(semaphore as usize), old));
    }
    // SAFETY: the caller's request.
    unsafe { real::sem_init()(semaphore, shared, value) }
}

unsafe extern "C" fn destroy_at(semaphore: P) -> c_int {
    if active() {
        Change::Destroys.check(semaphore as usize, objects::lock(semaphore as usize), NOUN, site::pc());
        // SAFETY: the caller's memory, of the size of a semaphore.
        let old = u64::from(unsafe { count(semaphore) });
        with(|control| control.renewed(objects::lock(semaphore as usize), old));
    }
    // SAFETY: the caller's request; libc never saw anybody wait.
    // The count is above zero then: those who wait go on, and find out.
    lifetime::destroy(semaphore as usize, || unsafe { real::sem_destroy()(semaphore) })
}

unsafe extern "C" fn getvalue_at(semaphore: P, value: *mut c_int) -> c_int {
    if active() {
        let access = Access::new(objects::lock(semaphore as usize), 1, Kind::Read);
        let pc = site::pc();
        point::arrive(access, Wants::Nothing, pc);
        check(semaphore, Deed::LooksAt, pc);
        with(|control| {
            // SAFETY: it was found to be there.
            control.run.trace.access(access.after(u64::from(unsafe { count(semaphore) })));
            control.touch_lock(access.object);
            control.fiber().spin.poll.clear();
            // One that looks again and again waits for others.
            let yields = control.fiber().spin.gives_way();
            point::finish(control, None, yields, None);
        });
    }
    // SAFETY: the caller's request.
    unsafe { real::sem_getvalue()(semaphore, value.cast()) }
}
