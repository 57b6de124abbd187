//! Threads of C11: the same objects as those of POSIX under other names and with other answers.

use std::ffi::{c_int, c_void};

use crate::arch::site;
use crate::control::{Body, active, with};
use crate::fiber::{self, Destructor};
use crate::point;
use crate::posix::lifetime::Change;
use crate::posix::mutex::Flavour;
use crate::posix::{condition, keys, mutex, once, real, thread, time};

const SUCCESS: c_int = 0;
const BUSY: c_int = 1;
const ERROR: c_int = 2;
const NO_MEMORY: c_int = 3;
const TIMED_OUT: c_int = 4;

type P = *mut c_void;

crate::entries! {
    thrd_create => create_at;
    thrd_join => join_at;
    thrd_detach => detach_at;
    thrd_exit => exit_at;
    thrd_yield => yield_at;
    thrd_sleep => sleep_at;
    mtx_init => init_at;
    mtx_destroy => destroy_at;
    cnd_init => condition_init_at;
    cnd_destroy => condition_destroy_at;
    mtx_lock => lock_at;
    mtx_unlock => unlock_at;
    cnd_wait => wait_at;
    cnd_timedwait => timedwait_at;
    cnd_signal => signal_at;
    cnd_broadcast => broadcast_at;
    call_once => once_at;
    tss_create => key_create_at;
    tss_get => key_get_at;
    tss_set => key_set_at;
}

crate::entries! {
    mtx_trylock => trylock_at;
    mtx_timedlock => timedlock_at;
}

/// The kind that glibc's `mtx_init` left: the same object as a `pthread_mutex_t`.
///
/// # Safety
/// A mutex is there.
unsafe fn flavour(mutex: P) -> Flavour {
    const KIND: usize = 16;
    // SAFETY: the caller says that a mutex is there, which has this layout in glibc.
    if unsafe { *((mutex as usize + KIND) as *const i32) } & 3 == 1 { Flavour::Recursive } else { Flavour::Normal }
}

fn answer(error: c_int) -> c_int {
    match error {
        0 => SUCCESS,
        libc::EBUSY => BUSY,
        libc::ETIMEDOUT => TIMED_OUT,
        libc::EAGAIN => NO_MEMORY,
        _ => ERROR,
    }
}

unsafe extern "C" fn create_at(id: *mut libc::pthread_t, body: P, argument: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::thrd_create()(id.cast(), body, argument) };
    }
    // SAFETY: a function that returns an `int` leaves it in the low half of the register of a pointer.
    let body = unsafe { std::mem::transmute::<P, Body>(body) };
    // SAFETY: the caller gives a place for the answer.
    thread::spawn(body, argument, site::pc(), |new| unsafe { id.write(new) });
    SUCCESS
}

unsafe extern "C" fn join_at(id: libc::pthread_t, result: *mut c_int) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::thrd_join()(id, result) };
    }
    match thread::join(id, site::pc()) {
        Ok(value) => {
            if !result.is_null() {
                // SAFETY: the caller gives a place for the answer.
                unsafe { result.write(value as usize as c_int) };
            }
            SUCCESS
        }
        Err(_) => ERROR,
    }
}

unsafe extern "C" fn detach_at(id: libc::pthread_t) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::thrd_detach()(id) };
    }
    let known = with(|control| {
        let found = (0..control.run.created).find(|&thread| control.process.fibers[thread].id == id);
        found.map(|thread| control.process.fibers[thread].detached = true).is_some()
    });
    if known { SUCCESS } else { ERROR }
}

unsafe extern "C" fn exit_at(result: c_int) {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::thrd_exit()(result) };
    }
    fiber::exit_alone(result as usize as P)
}

unsafe extern "C" fn yield_at() {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::thrd_yield()() };
    }
    point::give_way(site::pc());
}

unsafe extern "C" fn sleep_at(length: *mut libc::timespec, rest: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::thrd_sleep()(length.cast(), rest) };
    }
    // SAFETY: the caller's time.
    unsafe { time::sleep_for(length, site::pc()) };
    0
}

unsafe extern "C" fn init_at(mutex: P, kind: c_int) -> c_int {
    mutex::forget(mutex, Change::Initialises, Flavour::Normal, site::pc());
    // SAFETY: the caller's request.
    unsafe { real::mtx_init()(mutex, kind) }
}

unsafe extern "C" fn destroy_at(mutex: P) {
    mutex::destroy(mutex, Flavour::Normal, || {
        // SAFETY: the caller's request; libc never saw it locked.
        unsafe { real::mtx_destroy()(mutex) };
        0
    });
}

unsafe extern "C" fn condition_init_at(condition: P) -> c_int {
    condition::forget(condition, Change::Initialises, site::pc());
    // SAFETY: the caller's request.
    unsafe { real::cnd_init()(condition) }
}

unsafe extern "C" fn condition_destroy_at(condition: P) {
    condition::destroy(condition, || {
        // SAFETY: the caller's request; libc never saw anybody wait.
        unsafe { real::cnd_destroy()(condition) };
        0
    });
}

unsafe extern "C" fn lock_at(mutex: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::mtx_lock()(mutex) };
    }
    // SAFETY: the caller's mutex.
    let flavour = unsafe { flavour(mutex) };
    answer(mutex::lock(mutex as usize, flavour, site::pc()))
}

unsafe extern "C" fn trylock_at(mutex: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::mtx_trylock()(mutex) };
    }
    // SAFETY: the caller's mutex.
    let flavour = unsafe { flavour(mutex) };
    answer(mutex::try_lock(mutex as usize, flavour, libc::EBUSY, site::pc()))
}

unsafe extern "C" fn timedlock_at(mutex: P, time: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::mtx_timedlock()(mutex, time) };
    }
    // SAFETY: the caller's mutex.
    let flavour = unsafe { flavour(mutex) };
    answer(mutex::try_lock(mutex as usize, flavour, libc::ETIMEDOUT, site::pc()))
}

unsafe extern "C" fn unlock_at(mutex: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::mtx_unlock()(mutex) };
    }
    // SAFETY: the caller's mutex.
    let flavour = unsafe { flavour(mutex) };
    answer(mutex::unlock(mutex as usize, flavour, site::pc()))
}

unsafe extern "C" fn wait_at(condition: P, mutex: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::cnd_wait()(condition, mutex) };
    }
    // SAFETY: the caller's mutex.
    let flavour = unsafe { flavour(mutex) };
    answer(condition::wait(condition as usize, mutex as usize, flavour, None, site::pc()))
}

unsafe extern "C" fn timedwait_at(condition: P, mutex: P, time: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::cnd_timedwait()(condition, mutex, time) };
    }
    // SAFETY: the caller's time, or null.
    let until = unsafe { time::until(time, true) };
    // SAFETY: the caller's mutex.
    let flavour = unsafe { flavour(mutex) };
    answer(condition::wait(condition as usize, mutex as usize, flavour, until, site::pc()))
}

unsafe extern "C" fn signal_at(condition: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::cnd_signal()(condition) };
    }
    answer(condition::signal(condition as usize, false, site::pc()))
}

unsafe extern "C" fn broadcast_at(condition: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::cnd_broadcast()(condition) };
    }
    answer(condition::signal(condition as usize, true, site::pc()))
}

unsafe extern "C-unwind" fn once_at(flag: P, body: unsafe extern "C-unwind" fn()) {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::call_once()(flag, body) };
    }
    // SAFETY: the caller's flag and initialisation.
    unsafe { once::once(flag, body, site::pc()) };
}

unsafe extern "C" fn key_create_at(key: *mut u32, destructor: Option<Destructor>) -> c_int {
    // SAFETY: the caller's request; the same keys.
    if unsafe { keys::pthread_key_create(key, destructor) } == 0 { SUCCESS } else { ERROR }
}

unsafe extern "C" fn key_get_at(key: u32) -> P {
    // SAFETY: the caller's request; the same keys.
    unsafe { keys::pthread_getspecific(key) }
}

unsafe extern "C" fn key_set_at(key: u32, value: P) -> c_int {
    // SAFETY: the caller's request; the same keys.
    if unsafe { keys::pthread_setspecific(key, value) } == 0 { SUCCESS } else { ERROR }
}
