//! `syscall`: futexes, which Rust's standard library and many lock-free libraries wait with, and a few others.

use std::ffi::{c_int, c_long, c_void};

use selvedge_driver::FindingKind;
use selvedge_explore::{Access, Kind};

use crate::control::{active, with};
use crate::fiber::{Wants, fail};
use crate::memory::arena;
use crate::posix::condition::{rouse, sleep};
use crate::posix::{objects, time};
use crate::{point, site, sys};

crate::entries! {
    syscall => syscall_at;
}

fn error(number: c_int) -> c_long {
    // SAFETY: the current thread's `errno`.
    unsafe { *libc::__errno_location() = number };
    -1
}

/// Sleeps if the word is as expected.
fn wait(word: usize, expected: u32, until: Option<u64>, pc: u64) -> c_long {
    let queue = objects::futex(word);
    let access = Access::new(word as u64, 4, Kind::Read);
    point::arrive(access, Wants::Nothing, pc);
    // To wake who waits at an address is no access to it, and may come when the memory is gone.
    arena::check(word, size_of::<u32>(), false, pc);
    // SAFETY: the caller's word.
    let found = unsafe { *(word as *const u32) };
    with(|control| {
        control.trace.access(access.after(u64::from(found)));
        if found == expected {
            let current = control.current as u8;
            control.objects.futexes.entry(word).or_default().push(current);
            control.fiber().woken = false;
            control.trace.access(Access::new(queue, 1, Kind::Update));
        }
        control.fiber().spin.effect();
        point::finish(control, None, false, Some(u64::from(found)));
    });
    if found != expected {
        return error(libc::EAGAIN);
    }
    let woken = sleep(queue, until, pc, |control, thread| {
        control.objects.futexes.entry(word).or_default().retain(|&other| other != thread);
    });
    if woken { 0 } else { error(libc::ETIMEDOUT) }
}

/// Wakes those who came first, and moves others to another queue.
fn wake(word: usize, count: usize, moved: Option<(usize, usize)>, pc: u64) -> c_long {
    let queue = objects::futex(word);
    let access = Access::new(queue, 1, Kind::Update);
    point::arrive(access, Wants::Nothing, pc);
    with(|control| {
        let current = control.current;
        control.races.release(current, queue);
        let mut waiting = std::mem::take(control.objects.futexes.entry(word).or_default());
        let count = count.min(waiting.len());
        let mut total = count;
        waiting.drain(..count).for_each(|thread| rouse(control, thread));
        if let Some((to, limit)) = moved {
            let limit = limit.min(waiting.len());
            total += limit;
            control.objects.futexes.entry(to).or_default().extend(waiting.drain(..limit));
            control.trace.access(Access::new(objects::futex(to), 1, Kind::Update));
        }
        control.objects.futexes.insert(word, waiting);
        control.fiber().spin.effect();
        control.trace.access(access);
        point::finish(control, None, false, None);
        total as c_long
    })
}

fn futex(arguments: [usize; 6], pc: u64) -> c_long {
    let [word, operation, value, fourth, other, expected] = arguments;
    let count = value as u32 as usize;
    match (operation & 0x7f) as c_int {
        libc::FUTEX_WAIT => wait(word, value as u32, time::until(fourth as *mut c_void, false), pc),
        libc::FUTEX_WAIT_BITSET => wait(word, value as u32, time::until(fourth as *mut c_void, true), pc),
        libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET => wake(word, count, None, pc),
        libc::FUTEX_REQUEUE => wake(word, count, Some((other, fourth)), pc),
        libc::FUTEX_CMP_REQUEUE => {
            // SAFETY: the caller's word.
            if unsafe { *(word as *const u32) } != expected as u32 {
                return error(libc::EAGAIN);
            }
            wake(word, count, Some((other, fourth)), pc)
        }
        unknown => fail(FindingKind::Uncontrolled, format!("futex operation {unknown} is not controlled"), pc),
    }
}

unsafe extern "C" fn syscall_at(number: c_long, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> c_long {
    let pc = site::pc();
    if active() {
        match number {
            libc::SYS_futex => return futex([a, b, c, d, e, f], pc),
            libc::SYS_sched_yield => {
                point::give_way(pc);
                return 0;
            }
            libc::SYS_gettid => return 1000 + with(|control| control.current) as c_long,
            // SAFETY: the caller gives room for so many bytes.
            libc::SYS_getrandom => return unsafe { time::fill_random(a as *mut u8, b) } as c_long,
            _ => {}
        }
    }
    // SAFETY: the caller's request.
    let answer = unsafe { sys::call(number, [a, b, c, d, e, f]) };
    if (-4095..0).contains(&answer) { error(-answer as c_int) } else { answer as c_long }
}
