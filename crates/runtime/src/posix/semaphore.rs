//! Semaphores. The count stays where glibc keeps it, so `sem_init` and `sem_getvalue` are libc's own.

use std::ffi::{c_int, c_void};

use selvedge_explore::{Access, Condition, Kind};

use crate::control::{active, with};
use crate::fiber::Wants;
use crate::posix::objects;
use crate::posix::real;
use crate::{point, site};

crate::entries! {
    sem_wait => wait_at;
    sem_trywait => trywait_at;
    sem_timedwait => timedwait_at;
    sem_clockwait => clockwait_at;
    sem_post => post_at;
}

type P = *mut c_void;

/// The count: the low half of glibc's `sem_t` on a 64-bit machine.
fn count(semaphore: P) -> &'static mut u32 {
    // SAFETY: the caller's semaphore; nobody else runs.
    unsafe { &mut *semaphore.cast::<u32>() }
}

fn taken(semaphore: P, mut access: Access) {
    access.old = u64::from(*count(semaphore));
    *count(semaphore) -= 1;
    with(|control| {
        let current = control.current;
        control.races.acquire(current, access.object);
        control.fiber().spin.effect();
    });
    point::record(access, None);
}

fn try_take(semaphore: P, error: c_int, pc: u64) -> c_int {
    let mut access = Access::new(objects::lock(semaphore as usize), 1, Kind::Take).if_found(Condition::Unknown);
    point::arrive(access, Wants::Nothing, pc);
    if *count(semaphore) > 0 {
        taken(semaphore, access);
        return 0;
    }
    access.kind = Kind::Read;
    access.old = 0;
    with(|control| {
        control.trace.access(access);
        point::finish(control, None, error == libc::ETIMEDOUT, None);
    });
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
    point::arrive(access, Wants::Unit(semaphore as usize), site::pc());
    taken(semaphore, access);
    0
}

unsafe extern "C" fn trywait_at(semaphore: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::sem_trywait()(semaphore) };
    }
    try_take(semaphore, libc::EAGAIN, site::pc())
}

unsafe extern "C" fn timedwait_at(semaphore: P, time: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::sem_timedwait()(semaphore, time) };
    }
    try_take(semaphore, libc::ETIMEDOUT, site::pc())
}

unsafe extern "C" fn clockwait_at(semaphore: P, clock: c_int, time: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::sem_clockwait()(semaphore, clock, time) };
    }
    try_take(semaphore, libc::ETIMEDOUT, site::pc())
}

unsafe extern "C" fn post_at(semaphore: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::sem_post()(semaphore) };
    }
    let mut access = Access::new(objects::lock(semaphore as usize), 1, Kind::Give);
    point::arrive(access, Wants::Nothing, site::pc());
    access.old = u64::from(*count(semaphore));
    *count(semaphore) += 1;
    with(|control| {
        let current = control.current;
        control.races.release(current, access.object);
        control.fiber().spin.effect();
    });
    point::record(access, None);
    0
}
