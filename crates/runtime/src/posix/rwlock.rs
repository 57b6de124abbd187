//! Locks for readers and writers. Readers are let in whenever there is no writer, also while one waits.

use std::ffi::{c_int, c_void};

use selvedge_explore::{Access, Condition, Kind};
use selvedge_protocol::{Deed, Fault, Noun};

use crate::arch::site;
use crate::control::{Control, active, with};
use crate::fiber::Wants;
use crate::point;
use crate::posix::lifetime::{self, Change, Use, misuse};
use crate::posix::objects::{self, RwLock};
use crate::posix::{attempt, real};

crate::entries! {
    pthread_rwlock_init => init_at;
    pthread_rwlock_destroy => destroy_at;
    pthread_rwlock_rdlock => rdlock_at;
    pthread_rwlock_wrlock => wrlock_at;
    pthread_rwlock_unlock => unlock_at;
}

crate::entries! {
    pthread_rwlock_tryrdlock => tryrdlock_at;
    pthread_rwlock_trywrlock => trywrlock_at;
    pthread_rwlock_timedrdlock => timedrdlock_at;
    pthread_rwlock_timedwrlock => timedwrlock_at;
    pthread_rwlock_clockrdlock => clockrdlock_at;
    pthread_rwlock_clockwrlock => clockwrlock_at;
}

type P = *mut c_void;

const NOUN: Noun = Noun::RwLock;

/// The current thread does something to a lock, which must be there.
fn check(lock: usize, deed: Deed, pc: u64) {
    Use { address: lock, object: objects::lock(lock), deed, noun: NOUN }.check(pc);
}

/// Takes the lock, for the step that is under way; what it was before.
fn take(control: &mut Control, lock: usize, write: bool) -> u64 {
    let current = control.run.current;
    let state = control.run.objects.rwlocks.entry(lock).or_default();
    let old = state.old();
    if write {
        state.writer = Some(current as u16);
    } else {
        state.readers.push(current as u16);
    }
    control.run.races.acquire(current, objects::lock(lock));
    // Readers do not wait for one another, so that nothing orders them; which comes first is not searched.
    if write {
        control.run.races.acquire(current, objects::readers(lock));
    }
    control.takes_lock(objects::lock(lock));
    old
}

fn kind(write: bool) -> Kind {
    if write { Kind::Acquire } else { Kind::AcquireShared }
}

fn lock(lock: usize, write: bool, pc: u64) -> c_int {
    let access = Access::new(objects::lock(lock), 1, kind(write)).waiting();
    let polls = with(|control| control.polls(pc));
    point::arrive(access, if write { Wants::Exclusive(lock) } else { Wants::Shared(lock) }, pc);
    check(lock, Deed::Locks, pc);
    with(|control| {
        let old = take(control, lock, write);
        point::take_turn(control, access.after(old), polls);
    });
    0
}

fn try_lock(lock: usize, write: bool, busy: c_int, pc: u64) -> c_int {
    let access = Access::new(objects::lock(lock), 1, kind(write)).if_found(Condition::Unknown);
    let attempt = attempt::arrive(access, pc);
    check(lock, Deed::TriesToLock, pc);
    with(|control| {
        if control.would_succeed(&access) {
            let old = take(control, lock, write);
            attempt.succeeds(control, old);
            return 0;
        }
        let old = control.run.objects.rwlocks.get(&lock).map_or(Access::FREE, RwLock::old);
        attempt.fails(control, old, busy == libc::ETIMEDOUT);
        busy
    })
}

fn unlock(lock: usize, pc: u64) -> c_int {
    check(lock, Deed::Unlocks, pc);
    let current = with(|control| control.run.current as u16);
    let state = with(|control| control.run.objects.rwlocks.get(&lock).cloned().unwrap_or_default());
    let write = state.writer == Some(current);
    if !write && !state.readers.contains(&current) {
        misuse(Deed::Unlocks, NOUN, Fault::NotHeld, pc);
    }
    let kind = if write { Kind::Release } else { Kind::ReleaseShared };
    let mut access = Access::new(objects::lock(lock), 1, kind);
    point::arrive(access, Wants::Nothing, pc);
    check(lock, Deed::Unlocks, pc);
    with(|control| {
        let state = control.run.objects.rwlocks.entry(lock).or_default();
        access.old = state.old();
        if write {
            state.writer = None;
        } else if let Some(at) = state.readers.iter().position(|&reader| reader == current) {
            state.readers.swap_remove(at);
        }
        let published = if write { objects::lock(lock) } else { objects::readers(lock) };
        control.run.races.release(usize::from(current), published);
        control.run.trace.access(access);
        control.gives_lock(objects::lock(lock));
        point::finish(control, None, false, None);
    });
    0
}

fn forget(lock: P, change: Change, pc: u64) {
    if !active() {
        return;
    }
    change.check(lock as usize, objects::lock(lock as usize), NOUN, pc);
    let holder = with(|control| {
        let state = control.run.objects.rwlocks.remove(&(lock as usize)).unwrap_or_default();
        control.renewed(objects::lock(lock as usize), state.old());
        state.writer.or(state.readers.first().copied())
    });
    if let Some(holder) = holder {
        misuse(change.deed(), NOUN, Fault::WhileHeldBy(holder), pc);
    }
}

unsafe extern "C" fn init_at(lock: P, attributes: P) -> c_int {
    forget(lock, Change::Initialises, site::pc());
    // SAFETY: the caller's request.
    unsafe { real::pthread_rwlock_init()(lock, attributes) }
}

unsafe extern "C" fn destroy_at(lock: P) -> c_int {
    forget(lock, Change::Destroys, site::pc());
    // SAFETY: the caller's request.
    lifetime::destroy(lock as usize, || unsafe { real::pthread_rwlock_destroy()(lock) })
}

unsafe extern "C" fn rdlock_at(rwlock: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pthread_rwlock_rdlock()(rwlock) };
    }
    lock(rwlock as usize, false, site::pc())
}

unsafe extern "C" fn wrlock_at(rwlock: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pthread_rwlock_wrlock()(rwlock) };
    }
    lock(rwlock as usize, true, site::pc())
}

unsafe extern "C" fn tryrdlock_at(rwlock: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pthread_rwlock_tryrdlock()(rwlock) };
    }
    try_lock(rwlock as usize, false, libc::EBUSY, site::pc())
}

unsafe extern "C" fn trywrlock_at(rwlock: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pthread_rwlock_trywrlock()(rwlock) };
    }
    try_lock(rwlock as usize, true, libc::EBUSY, site::pc())
}

unsafe extern "C" fn timedrdlock_at(rwlock: P, time: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pthread_rwlock_timedrdlock()(rwlock, time) };
    }
    try_lock(rwlock as usize, false, libc::ETIMEDOUT, site::pc())
}

unsafe extern "C" fn clockrdlock_at(rwlock: P, clock: c_int, time: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pthread_rwlock_clockrdlock()(rwlock, clock, time) };
    }
    try_lock(rwlock as usize, false, libc::ETIMEDOUT, site::pc())
}

unsafe extern "C" fn clockwrlock_at(rwlock: P, clock: c_int, time: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pthread_rwlock_clockwrlock()(rwlock, clock, time) };
    }
    try_lock(rwlock as usize, true, libc::ETIMEDOUT, site::pc())
}

unsafe extern "C" fn timedwrlock_at(rwlock: P, time: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pthread_rwlock_timedwrlock()(rwlock, time) };
    }
    try_lock(rwlock as usize, true, libc::ETIMEDOUT, site::pc())
}

unsafe extern "C" fn unlock_at(rwlock: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pthread_rwlock_unlock()(rwlock) };
    }
    unlock(rwlock as usize, site::pc())
}
