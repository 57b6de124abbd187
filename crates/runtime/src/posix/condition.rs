//! Condition variables.
//!
//! A wait is three steps: it gives the mutex up and joins the queue in one; it is woken; it takes the mutex again. A signal
//! picks any of those who wait. One that comes back without a reason ([`crate::spurious`]) is the first and the last of these. The second step of a timed wait needs no signal: without one the time has passed.

use std::ffi::{c_int, c_void};

use selvedge_explore::{Access, Kind, Pick};
use selvedge_protocol::{Deed, Fault, Noun};

use crate::arch::site;
use crate::control::{Control, active, with};
use crate::fiber::Wants;
use crate::point;
use crate::posix::lifetime::{self, Change, Use, misuse};
use crate::posix::mutex::{self, Flavour};
use crate::posix::objects;
use crate::posix::{real, time};

crate::entries! {
    pthread_cond_init => init_at;
    pthread_cond_destroy => destroy_at;
    pthread_cond_wait => wait_at;
    pthread_cond_timedwait => timedwait_at;
    pthread_cond_clockwait => clockwait_at;
    pthread_cond_signal => signal_at;
    pthread_cond_broadcast => broadcast_at;
}

type P = *mut c_void;

/// Sleeps in a queue until woken, or until the time has passed; whether it was woken. The thread is in the queue already.
pub fn sleep(object: u64, until: Option<u64>, pc: u64, leave_queue: impl FnOnce(&mut Control, u16)) -> bool {
    let timed = until.is_some();
    let current = with(|control| control.run.current);
    let awaited = Access::new(objects::wake(current), 1, Kind::Await).waiting();
    let access = if timed { Access::new(object, 1, Kind::Update) } else { awaited };
    with(|control| control.fiber().asleep_on = object);
    point::arrive(access, if timed { Wants::Nothing } else { Wants::Wake }, pc);
    with(|control| {
        let woken = control.fiber().woken;
        // Somebody may have moved it to another queue.
        let queue = control.fiber().asleep_on;
        if timed {
            control.run.trace.access(access);
            if queue != object {
                control.run.trace.access(Access::new(queue, 1, Kind::Update));
            }
            if !woken {
                leave_queue(control, current as u16);
                // Whoever looks at the clock now sees that the time has passed.
                if until.is_some_and(|until| until > control.run.time) {
                    control.run.time = until.unwrap_or(control.run.time);
                    control.run.trace.access(Access::new(objects::clock(), 1, Kind::Update));
                }
            }
        }
        if woken {
            control.run.trace.access(awaited);
        }
        let spin = &mut control.fiber().spin;
        spin.effect();
        let yields = timed && spin.times_out(!woken);
        point::finish(control, None, yields, None);
        woken
    })
}

/// Wakes a thread, in the step that is under way. What it learns by that it learns now: others may come to the queue before it goes on, in an
/// order that is not searched.
pub fn rouse(control: &mut Control, thread: u16) {
    control.process.fibers[usize::from(thread)].woken = true;
    control.run.races.tells(control.run.current, usize::from(thread));
    control.run.trace.access(Access::new(objects::wake(usize::from(thread)), 1, Kind::Write));
}

const NOUN: Noun = Noun::Condition;

/// The current thread does something to a condition variable, which must be there.
fn check(condition: usize, deed: Deed, pc: u64) {
    Use { address: condition, object: objects::queue(condition), deed, noun: NOUN }.check(pc);
}

/// Waits for a signal.
pub fn wait(condition: usize, mutex: usize, flavour: Flavour, until: Option<u64>, pc: u64) -> c_int {
    if !mutex::is_mine(mutex) {
        if flavour != Flavour::Normal {
            return libc::EPERM;
        }
        misuse(Deed::WaitsFor, NOUN, Fault::WithoutMutex, pc);
    }
    let queue = objects::queue(condition);
    let access = Access::new(queue, 1, Kind::Update);
    point::arrive(access, Wants::Nothing, pc);
    check(condition, Deed::WaitsFor, pc);
    mutex::check(mutex, Deed::GivesUp, flavour, pc);
    let (count, spurious) = with(|control| {
        let current = control.run.current as u16;
        let count = control.run.objects.mutexes.get(&mutex).map_or(1, |held| held.count);
        let spurious = control.is_spurious(pc, queue);
        let release = mutex::give_up(control, mutex);
        control.run.trace.access(release);
        if spurious {
            control.fiber().effect();
        } else {
            control.run.objects.conditions.entry(condition).or_default().push(current);
            control.fiber().woken = false;
            control.run.trace.access(access);
        }
        point::finish(control, None, false, None);
        (count, spurious)
    });
    let relock = || {
        mutex::lock(mutex, flavour, pc);
        with(|control| control.run.objects.mutexes.entry(mutex).or_default().count = count);
    };
    if spurious {
        relock();
        return 0;
    }
    let woken = sleep(queue, until, pc, |control, thread| {
        let waiting = control.run.objects.conditions.entry(condition).or_default();
        waiting.retain(|&other| other != thread);
    });
    // One who was woken does not need the condition variable any more.
    if !woken {
        check(condition, Deed::WaitsFor, pc);
    }
    relock();
    if woken { 0 } else { libc::ETIMEDOUT }
}

/// Wakes one of those who wait, or all.
pub fn signal(condition: usize, all: bool, pc: u64) -> c_int {
    let queue = objects::queue(condition);
    let access = Access::new(queue, 1, Kind::Update);
    point::arrive(access, Wants::Nothing, pc);
    check(condition, Deed::Signals, pc);
    with(|control| {
        let mut waiting = std::mem::take(control.run.objects.conditions.entry(condition).or_default());
        if all {
            waiting.drain(..).for_each(|thread| rouse(control, thread));
        } else if !waiting.is_empty() {
            let options = waiting.len() as u32;
            let chosen = if options > 1 { control.pick(options) } else { 0 };
            if options > 1 {
                control.run.trace.pick(Pick { chosen, options });
            }
            let thread = waiting.remove(chosen as usize);
            rouse(control, thread);
        }
        control.run.objects.conditions.insert(condition, waiting);
        control.fiber().spin.effect();
        control.run.trace.access(access);
        point::finish(control, None, false, None);
    });
    0
}

/// The condition variable is destroyed or initialised.
pub fn forget(condition: P, change: Change, pc: u64) {
    if !active() {
        return;
    }
    change.check(condition as usize, objects::queue(condition as usize), NOUN, pc);
    let waiting = with(|control| {
        let waiting = control.run.objects.conditions.remove(&(condition as usize)).unwrap_or_default();
        control.renewed(objects::queue(condition as usize), 0);
        waiting
    });
    refuse(&waiting, change, NOUN, pc);
}

/// What somebody waits for is not destroyed or initialised.
pub fn refuse(waiting: &[u16], change: Change, noun: Noun, pc: u64) {
    if let Some(thread) = waiting.first() {
        misuse(change.deed(), noun, Fault::WhileAwaitedBy(*thread), pc);
    }
}

/// As [`forget`] for a destruction.
pub fn destroy(condition: P, real: impl FnOnce() -> c_int) -> c_int {
    forget(condition, Change::Destroys, site::pc());
    lifetime::destroy(condition as usize, real)
}

unsafe extern "C" fn init_at(condition: P, attributes: P) -> c_int {
    forget(condition, Change::Initialises, site::pc());
    // SAFETY: the caller's request.
    unsafe { real::pthread_cond_init()(condition, attributes) }
}

unsafe extern "C" fn destroy_at(condition: P) -> c_int {
    // SAFETY: the caller's request; libc never saw anybody wait.
    destroy(condition, || unsafe { real::pthread_cond_destroy()(condition) })
}

unsafe extern "C" fn wait_at(condition: P, mutex: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pthread_cond_wait()(condition, mutex) };
    }
    wait(condition as usize, mutex as usize, mutex::flavour(mutex as usize), None, site::pc())
}

unsafe extern "C" fn timedwait_at(condition: P, mutex: P, time: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pthread_cond_timedwait()(condition, mutex, time) };
    }
    // SAFETY: the caller's time, or null.
    let until = unsafe { time::until(time, true) };
    wait(condition as usize, mutex as usize, mutex::flavour(mutex as usize), until, site::pc())
}

unsafe extern "C" fn clockwait_at(condition: P, mutex: P, clock: c_int, time: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pthread_cond_clockwait()(condition, mutex, clock, time) };
    }
    // SAFETY: the caller's time, or null.
    let until = unsafe { time::until(time, true) };
    wait(condition as usize, mutex as usize, mutex::flavour(mutex as usize), until, site::pc())
}

unsafe extern "C" fn signal_at(condition: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pthread_cond_signal()(condition) };
    }
    signal(condition as usize, false, site::pc())
}

unsafe extern "C" fn broadcast_at(condition: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pthread_cond_broadcast()(condition) };
    }
    signal(condition as usize, true, site::pc())
}
