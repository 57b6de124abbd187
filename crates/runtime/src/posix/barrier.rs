//! Barriers.

use std::ffi::{c_int, c_void};

use selvedge_explore::{Access, Kind};
use selvedge_protocol::{Deed, Fault, Noun};

use crate::arch::site;
use crate::control::{active, with};
use crate::fiber::Wants;
use crate::point;
use crate::posix::condition::{refuse, rouse, sleep};
use crate::posix::lifetime::{self, Change, Use, misuse};
use crate::posix::objects::{self, Barrier};
use crate::posix::real;

crate::entries! {
    pthread_barrier_init => init_at;
    pthread_barrier_destroy => destroy_at;
    pthread_barrier_wait => wait_at;
}

type P = *mut c_void;

unsafe extern "C" fn init_at(barrier: P, attributes: P, count: u32) -> c_int {
    let pc = site::pc();
    if active() {
        forget(barrier as usize, Change::Initialises, pc);
    }
    // SAFETY: the caller's request.
    let answer = unsafe { real::pthread_barrier_init()(barrier, attributes, count) };
    if active() && answer == 0 {
        let state = Barrier { count, waiting: Vec::new() };
        with(|control| control.run.objects.barriers.insert(barrier as usize, state));
    }
    answer
}

unsafe extern "C" fn destroy_at(barrier: P) -> c_int {
    if active() {
        forget(barrier as usize, Change::Destroys, site::pc());
    }
    // SAFETY: the caller's request; libc never saw anybody wait.
    lifetime::destroy(barrier as usize, || unsafe { real::pthread_barrier_destroy()(barrier) })
}

fn forget(barrier: usize, change: Change, pc: u64) {
    change.check(barrier, objects::barrier(barrier), NOUN, pc);
    let waiting = with(|control| {
        let state = control.run.objects.barriers.remove(&barrier).unwrap_or_default();
        control.renewed(objects::barrier(barrier), 0);
        state.waiting
    });
    refuse(&waiting, change, NOUN, pc);
}

const NOUN: Noun = Noun::Barrier;

/// The current thread does something to a barrier, which must be there.
fn check(barrier: usize, deed: Deed, pc: u64) {
    Use { address: barrier, object: objects::barrier(barrier), deed, noun: NOUN }.check(pc);
}

/// The count of a barrier, which is never zero: glibc keeps it in the third word.
fn count_of(barrier: usize) -> u32 {
    const COUNT: usize = 8;
    // SAFETY: glibc's `struct pthread_barrier`; the caller's barrier.
    unsafe { *((barrier + COUNT) as *const u32) }
}

fn wait(barrier: usize, pc: u64) -> c_int {
    let queue = objects::barrier(barrier);
    let access = Access::new(queue, 1, Kind::Update);
    point::arrive(access, Wants::Nothing, pc);
    check(barrier, Deed::WaitsAt, pc);
    // A barrier has no static initialiser, and nobody can wait for nobody.
    if count_of(barrier) == 0 {
        misuse(Deed::WaitsAt, NOUN, Fault::Uninitialised, pc);
    }
    let last = with(|control| {
        let current = control.run.current;
        control.run.races.release(current, queue);
        let new = || Barrier { count: count_of(barrier), waiting: Vec::new() };
        let state = control.run.objects.barriers.entry(barrier).or_insert_with(new);
        let last = state.waiting.len() as u32 + 1 >= state.count;
        if last {
            let waiting = std::mem::take(&mut state.waiting);
            // It knows what all did who came, and tells them; nobody who comes later.
            control.run.races.acquire(current, queue);
            control.run.races.forget_object(queue);
            waiting.into_iter().for_each(|thread| rouse(control, thread));
        } else {
            state.waiting.push(current as u16);
            control.fiber().woken = false;
        }
        control.fiber().spin.effect();
        control.run.trace.access(access);
        point::finish(control, None, false, None);
        last
    });
    if last {
        return libc::PTHREAD_BARRIER_SERIAL_THREAD;
    }
    sleep(queue, None, pc, |_, _| {});
    0
}

unsafe extern "C" fn wait_at(barrier: P) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pthread_barrier_wait()(barrier) };
    }
    wait(barrier as usize, site::pc())
}
