//! One-time initialisation: `pthread_once`, and the guards of C++'s local statics.
//!
//! Invariant: at most one thread is at an initialisation; whoever finds it done comes after its end. One that an exception left is
//! as if it had not begun. What the program sees of it, glibc's word or the guard's first byte, says whether it is done: a new one may lie where
//! an old one was. Only in libraries that keep their variables across runs that is not written, so that every run is like the first.

use std::ffi::{c_int, c_void};

use selvedge_explore::{Access, Condition, Kind};
use selvedge_protocol::{Deed, Noun};

use crate::abi::atomic;
use crate::arch::site;
use crate::control::{active, with};
use crate::fiber::Wants;
use crate::memory::reset;
use crate::point;
use crate::posix::lifetime::Use;
use crate::posix::objects::{self, Once};
use crate::posix::real;

crate::entries! {
    pthread_once => once_at;
    __cxa_guard_acquire => acquire_at;
    __cxa_guard_abort => abort_at;
}

crate::entries! {
    __cxa_guard_release => release_at;
}

type P = *mut c_void;

/// What glibc writes to the word of an initialisation that is done.
const DONE: u32 = 2;

/// Whether it was done before the run; one that is not done and lies where an old one was is new.
fn was_done_before(once: usize, is_done: bool) -> bool {
    if reset::is_kept(once) {
        return is_done;
    }
    with(|control| match control.run.objects.onces.get(&once) {
        None => is_done,
        Some(Once::Done) if !is_done => {
            control.run.objects.onces.remove(&once);
            false
        }
        Some(_) => false,
    })
}

/// Looks whether the initialisation is done, and if it has not begun, begins it. Where somebody is at it, waits for the end.
fn begin(once: usize, pc: u64) -> bool {
    loop {
        let found = look(once, pc);
        let done = objects::done(once);
        if found == Once::Running {
            let access = Access::new(done, 1, Kind::Await).waiting();
            point::arrive(access, Wants::Once(once), pc);
            point::record(access, None);
        }
        let left = with(|control| {
            let current = control.run.current;
            control.run.races.acquire(current, done);
            found == Once::Running && !control.run.objects.onces.get(&once).is_some_and(|state| *state == Once::Done)
        });
        if !left {
            return found == Once::New;
        }
    }
}

/// It changes something exactly when it finds that the initialisation has not begun: a reduction has to know what it would find elsewhere.
fn look(once: usize, pc: u64) -> Once {
    let begun = Condition::Equals(Once::New as u64);
    let access = Access::new(objects::lock(once), 1, Kind::Update).if_found(begun);
    point::arrive(access, Wants::Nothing, pc);
    Use { address: once, object: objects::lock(once), deed: Deed::LooksAt, noun: Noun::Initialisation }.check(pc);
    with(|control| {
        let state = control.run.objects.onces.entry(once).or_default();
        let found = *state;
        if found == Once::New {
            *state = Once::Running;
        }
        let mut access = access.after(found as u64);
        if found != Once::New {
            access.kind = Kind::Read;
        }
        control.run.trace.access(access);
        control.fiber().spin.effect();
        point::finish(control, None, false, None);
        found
    })
}

/// The thread that was at the initialisation is no longer.
fn end(once: usize, state: Once, pc: u64) {
    let done = objects::done(once);
    let access = Access::new(done, 1, Kind::Write);
    point::arrive(access, Wants::Nothing, pc);
    with(|control| {
        let current = control.run.current;
        control.run.objects.onces.insert(once, state);
        control.run.races.release(current, done);
        control.run.trace.access(access);
        // Those who look from now on find it so.
        let running = Once::Running as u64;
        control.run.trace.access(Access::new(objects::lock(once), 1, Kind::Write).after(running));
        point::finish(control, None, false, None);
    });
}

/// An initialisation under way; dropped by an exception, it has not begun.
struct UnderWay(usize, u64);

impl Drop for UnderWay {
    fn drop(&mut self) {
        end(self.0, Once::New, self.1);
    }
}

/// Runs an initialisation once; others wait for its end.
///
/// # Safety
/// The flag is a word of the code under test, and `body` its initialisation.
pub unsafe fn once(flag: P, body: unsafe extern "C-unwind" fn(), pc: u64) {
    let (word, once) = (flag.cast::<u32>(), flag as usize);
    // SAFETY: the caller's flag, which is a word; nobody else runs.
    if was_done_before(once, unsafe { *word } == DONE) {
        return;
    }
    if begin(once, pc) {
        let under_way = UnderWay(once, pc);
        // SAFETY: the caller's own initialisation.
        unsafe { body() };
        std::mem::forget(under_way);
        end(once, Once::Done, pc);
        if !reset::is_kept(once) {
            // SAFETY: the word of the guard that the caller has.
            unsafe { *word = DONE };
        }
    }
}

unsafe extern "C-unwind" fn once_at(control: P, body: unsafe extern "C-unwind" fn()) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pthread_once()(control, body) };
    }
    // SAFETY: the caller's flag and initialisation.
    unsafe { once(control, body, site::pc()) };
    0
}

/// A local static is about to be initialised, if this answers 1. The first byte of the guard says whether it is.
unsafe extern "C" fn acquire_at(guard: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::__cxa_guard_acquire()(guard) };
    }
    // SAFETY: the caller's guard; nobody else runs.
    let was_done = was_done_before(guard as usize, unsafe { *guard.cast::<u8>() } != 0);
    c_int::from(!was_done && begin(guard as usize, site::pc()))
}

/// It is initialised.
unsafe extern "C" fn release_at(guard: P) {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::__cxa_guard_release()(guard) };
    }
    let pc = site::pc();
    if !reset::is_kept(guard as usize) {
        // SAFETY: the caller's guard, whose first byte compiled code reads before it asks.
        unsafe { atomic::publish(guard.cast::<u8>(), 1) };
    }
    end(guard as usize, Once::Done, pc);
}

/// An exception left its initialisation.
unsafe extern "C" fn abort_at(guard: P) {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::__cxa_guard_abort()(guard) };
    }
    end(guard as usize, Once::New, site::pc());
}
