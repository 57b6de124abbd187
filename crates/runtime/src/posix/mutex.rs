//! Mutexes and spin locks.

use std::ffi::{c_int, c_void};

use selvedge_explore::{Access, Condition, Kind};
use selvedge_protocol::{Deed, Fault, Noun};

use crate::arch::site;
use crate::control::{Control, active, with};
use crate::fiber::Wants;
use crate::point;
use crate::posix::lifetime::{self, Change, Use, misuse};
use crate::posix::objects::{self, Mutex};
use crate::posix::{attempt, real};

crate::entries! {
    pthread_mutex_init => init_at;
    pthread_mutex_destroy => destroy_at;
    pthread_mutex_lock => lock_at;
    pthread_mutex_unlock => unlock_at;
    pthread_spin_init => spin_init_at;
    pthread_spin_destroy => spin_destroy_at;
    pthread_spin_lock => spin_lock_at;
    pthread_spin_unlock => spin_unlock_at;
}

// A loop that only tries is recognised by the state of its thread.
crate::entries! {
    pthread_mutex_trylock => trylock_at;
    pthread_mutex_timedlock => timedlock_at;
    pthread_mutex_clocklock => clocklock_at;
    pthread_spin_trylock => spin_trylock_at;
}

/// How a mutex treats an owner who locks it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// It waits for itself.
    Normal,
    /// It counts.
    Recursive,
    /// It refuses.
    Checking,
    /// A spin lock: as the first.
    Spin,
    /// A lock of ours, that lies nowhere.
    Turn,
}

impl Flavour {
    fn noun(self) -> Noun {
        if self == Flavour::Spin { Noun::SpinLock } else { Noun::Mutex }
    }
}

/// The current thread does something to a mutex, which must be there.
pub fn check(mutex: usize, deed: Deed, flavour: Flavour, pc: u64) {
    if flavour == Flavour::Turn {
        return;
    }
    Use { address: mutex, object: objects::lock(mutex), deed, noun: flavour.noun() }.check(pc);
}

/// What glibc's object says.
pub fn flavour(mutex: usize) -> Flavour {
    const KIND: usize = 16;
    // SAFETY: `__kind` of glibc's `pthread_mutex_t` on x86-64; the caller's mutex.
    match unsafe { *((mutex + KIND) as *const i32) } & 3 {
        1 => Flavour::Recursive,
        2 => Flavour::Checking,
        _ => Flavour::Normal,
    }
}

fn held(control: &Control, mutex: usize) -> Mutex {
    control.run.objects.mutexes.get(&mutex).copied().unwrap_or_default()
}

fn take(control: &mut Control, mutex: usize) {
    let current = control.run.current;
    control.run.objects.mutexes.insert(mutex, Mutex { owner: Some(current as u16), count: 1 });
    control.run.races.acquire(current, objects::lock(mutex));
    control.takes_lock(objects::lock(mutex));
}

/// What locking again answers to the owner; `None` when the caller does not own it.
fn again(mutex: usize, flavour: Flavour) -> Option<c_int> {
    with(|control| {
        let current = control.run.current as u16;
        let held = control.run.objects.mutexes.get_mut(&mutex).filter(|held| held.owner == Some(current))?;
        control.process.fibers[usize::from(current)].spin.poll.clear();
        match flavour {
            Flavour::Recursive => {
                held.count += 1;
                Some(0)
            }
            Flavour::Checking => Some(libc::EDEADLK),
            Flavour::Normal | Flavour::Spin | Flavour::Turn => None,
        }
    })
}

/// Locks, and waits for it.
pub fn lock(mutex: usize, flavour: Flavour, pc: u64) -> c_int {
    if let Some(answer) = again(mutex, flavour) {
        check(mutex, Deed::Locks, flavour, pc);
        return answer;
    }
    let access = Access::new(objects::lock(mutex), 1, Kind::Acquire).waiting().after(Access::FREE);
    let polls = flavour != Flavour::Turn && with(|control| control.polls(pc));
    point::arrive(access, Wants::Mutex(mutex), pc);
    check(mutex, Deed::Locks, flavour, pc);
    with(|control| {
        take(control, mutex);
        point::take_turn(control, access, polls);
    });
    0
}

/// Locks if it is free by now, else answers `busy`. A timeout is a choice of the search: it passes when the thread is chosen
/// while the lock is held.
pub fn try_lock(mutex: usize, flavour: Flavour, busy: c_int, pc: u64) -> c_int {
    match again(mutex, flavour) {
        // An attempt like any other, of which a loop has to be seen.
        Some(libc::EDEADLK) if busy == libc::EBUSY => {}
        Some(answer) => return answer,
        None => {}
    }
    let access = Access::new(objects::lock(mutex), 1, Kind::Acquire).if_found(Condition::Equals(Access::FREE));
    let attempt = attempt::arrive(access, pc);
    check(mutex, Deed::TriesToLock, flavour, pc);
    with(|control| {
        if control.run.objects.mutex_free(mutex) {
            take(control, mutex);
            attempt.succeeds(control, Access::FREE);
            return 0;
        }
        attempt.fails(control, Access::HELD, busy == libc::ETIMEDOUT);
        busy
    })
}

/// Gives the mutex up, as part of a step that is under way.
pub fn give_up(control: &mut Control, mutex: usize) -> Access {
    let current = control.run.current;
    control.run.objects.mutexes.insert(mutex, Mutex::default());
    control.gives_lock(objects::lock(mutex));
    control.run.races.release(current, objects::lock(mutex));
    Access::new(objects::lock(mutex), 1, Kind::Release).after(Access::HELD)
}

/// Whether the current thread holds the mutex.
pub fn is_mine(mutex: usize) -> bool {
    with(|control| held(control, mutex).owner == Some(control.run.current as u16))
}

/// Unlocks.
pub fn unlock(mutex: usize, flavour: Flavour, pc: u64) -> c_int {
    check(mutex, Deed::Unlocks, flavour, pc);
    let (owner, count, current) = with(|control| {
        let held = held(control, mutex);
        (held.owner, held.count, control.run.current as u16)
    });
    if owner != Some(current) {
        if matches!(flavour, Flavour::Recursive | Flavour::Checking) {
            return libc::EPERM;
        }
        misuse(Deed::Unlocks, flavour.noun(), owner.map_or(Fault::HeldByNobody, Fault::HeldBy), pc);
    }
    if count > 1 {
        with(|control| {
            control.run.objects.mutexes.insert(mutex, Mutex { owner, count: count - 1 });
            control.fiber().spin.poll.clear();
        });
        return 0;
    }
    let access = Access::new(objects::lock(mutex), 1, Kind::Release).after(Access::HELD);
    point::arrive(access, Wants::Nothing, pc);
    check(mutex, Deed::Unlocks, flavour, pc);
    with(|control| {
        control.run.trace.access(access);
        give_up(control, mutex);
        point::finish(control, None, false, None);
    });
    0
}

type P = *mut c_void;

/// The mutex is destroyed or initialised.
pub fn forget(mutex: P, change: Change, flavour: Flavour, pc: u64) {
    if !active() {
        return;
    }
    change.check(mutex as usize, objects::lock(mutex as usize), flavour.noun(), pc);
    let owner = with(|control| {
        let owner = control.run.objects.mutexes.remove(&(mutex as usize)).and_then(|held| held.owner);
        let old = if owner.is_some() { Access::HELD } else { Access::FREE };
        control.renewed(objects::lock(mutex as usize), old);
        owner
    });
    if let Some(owner) = owner {
        misuse(change.deed(), flavour.noun(), Fault::WhileHeldBy(owner), pc);
    }
}

/// As [`forget`] for a destruction.
pub fn destroy(mutex: P, flavour: Flavour, real: impl FnOnce() -> c_int) -> c_int {
    forget(mutex, Change::Destroys, flavour, site::pc());
    lifetime::destroy(mutex as usize, real)
}

unsafe extern "C" fn init_at(mutex: P, attributes: P) -> c_int {
    forget(mutex, Change::Initialises, Flavour::Normal, site::pc());
    // SAFETY: the caller's request; writes the kind that `flavour` reads.
    unsafe { real::pthread_mutex_init()(mutex, attributes) }
}

unsafe extern "C" fn destroy_at(mutex: P) -> c_int {
    // SAFETY: the caller's request; libc never saw it locked.
    destroy(mutex, Flavour::Normal, || unsafe { real::pthread_mutex_destroy()(mutex) })
}

unsafe extern "C" fn lock_at(mutex: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pthread_mutex_lock()(mutex) };
    }
    lock(mutex as usize, flavour(mutex as usize), site::pc())
}

unsafe extern "C" fn trylock_at(mutex: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pthread_mutex_trylock()(mutex) };
    }
    try_lock(mutex as usize, flavour(mutex as usize), libc::EBUSY, site::pc())
}

unsafe extern "C" fn timedlock_at(mutex: P, time: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pthread_mutex_timedlock()(mutex, time) };
    }
    try_lock(mutex as usize, flavour(mutex as usize), libc::ETIMEDOUT, site::pc())
}

unsafe extern "C" fn clocklock_at(mutex: P, clock: c_int, time: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pthread_mutex_clocklock()(mutex, clock, time) };
    }
    try_lock(mutex as usize, flavour(mutex as usize), libc::ETIMEDOUT, site::pc())
}

unsafe extern "C" fn unlock_at(mutex: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pthread_mutex_unlock()(mutex) };
    }
    unlock(mutex as usize, flavour(mutex as usize), site::pc())
}

unsafe extern "C" fn spin_init_at(lock: P, shared: c_int) -> c_int {
    forget(lock, Change::Initialises, Flavour::Spin, site::pc());
    // SAFETY: the caller's request.
    unsafe { real::pthread_spin_init()(lock, shared) }
}

unsafe extern "C" fn spin_destroy_at(lock: P) -> c_int {
    // SAFETY: the caller's request.
    destroy(lock, Flavour::Spin, || unsafe { real::pthread_spin_destroy()(lock) })
}

unsafe extern "C" fn spin_lock_at(mutex: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pthread_spin_lock()(mutex) };
    }
    lock(mutex as usize, Flavour::Spin, site::pc())
}

unsafe extern "C" fn spin_trylock_at(mutex: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pthread_spin_trylock()(mutex) };
    }
    try_lock(mutex as usize, Flavour::Spin, libc::EBUSY, site::pc())
}

unsafe extern "C" fn spin_unlock_at(mutex: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pthread_spin_unlock()(mutex) };
    }
    unlock(mutex as usize, Flavour::Spin, site::pc())
}
