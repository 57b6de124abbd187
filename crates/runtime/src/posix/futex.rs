//! `syscall`: futexes, which Rust's standard library and many lock-free libraries wait with, and a few others.

use std::ffi::{c_int, c_long, c_void};

use selvedge_explore::{Access, Kind};
use selvedge_protocol::{Cause, Out};

use crate::arch::site;
use crate::control::{active, with};
use crate::fiber::{Wants, fail};
use crate::memory::arena;
use crate::posix::condition::{rouse, sleep};
use crate::posix::thread::gettid;
use crate::posix::{descriptor, objects, time};
use crate::{point, sys};

crate::entries! {
    syscall => syscall_at;
}

fn error(number: c_int) -> c_long {
    // SAFETY: the current thread's `errno`.
    unsafe { *libc::__errno_location() = number };
    -1
}

/// The bits of those who do not say which.
const ALL: u32 = u32::MAX;

/// Sleeps if the word is as expected, until somebody wakes it or the moment has come; whether it was not the latter.
pub fn wait_until(word: usize, expected: u32, until: Option<u64>, pc: u64) -> bool {
    // SAFETY: the current thread's `errno`.
    wait(word, expected, until, ALL, pc) == 0 || unsafe { *libc::__errno_location() } != libc::ETIMEDOUT
}

/// Wakes all who sleep.
pub fn wake_all(word: usize, pc: u64) {
    wake(word, usize::MAX, ALL, None, pc);
}

/// Sleeps if the word is as expected, until somebody wakes one of the bits.
fn wait(word: usize, expected: u32, until: Option<u64>, bits: u32, pc: u64) -> c_long {
    let queue = objects::futex(word);
    let access = Access::new(word as u64, 4, Kind::Read);
    point::arrive(access, Wants::Nothing, pc);
    // To wake who waits at an address is no access to it, and may come when the memory is gone.
    arena::check(word, size_of::<u32>(), false, pc);
    // SAFETY: the caller's word.
    let found = unsafe { *(word as *const u32) };
    with(|control| {
        control.run.trace.access(access.after(u64::from(found)));
        if found == expected {
            let current = control.run.current as u16;
            control.run.objects.futexes.entry(word).or_default().push(current);
            let fiber = control.fiber();
            (fiber.woken, fiber.bits) = (false, bits);
            control.run.trace.access(Access::new(queue, 1, Kind::Update));
        }
        control.fiber().spin.effect();
        point::finish(control, None, false, Some(u64::from(found)));
    });
    if found != expected {
        return error(libc::EAGAIN);
    }
    let woken = sleep(queue, until, pc, |control, thread| {
        // Somebody may have moved it.
        let word = objects::inner(control.fiber().asleep_on) as usize;
        control.run.objects.futexes.entry(word).or_default().retain(|&other| other != thread);
    });
    if woken { 0 } else { error(libc::ETIMEDOUT) }
}

/// Who is moved: to which queue, how many at most, and what the word must be.
struct Move {
    to: usize,
    limit: usize,
    expected: Option<u32>,
}

/// Looks, in the step that is under way, whether the word is as expected.
fn is_still(word: usize, expected: u32, pc: u64) -> bool {
    arena::check(word, size_of::<u32>(), false, pc);
    // SAFETY: the caller's word.
    let found = unsafe { *(word as *const u32) };
    with(|control| control.run.trace.access(Access::new(word as u64, 4, Kind::Read).after(u64::from(found))));
    found == expected
}

/// Wakes those who came first and sleep for one of the bits, and moves others to another queue.
fn wake(word: usize, count: usize, bits: u32, moved: Option<Move>, pc: u64) -> c_long {
    let queue = objects::futex(word);
    let access = Access::new(queue, 1, Kind::Update);
    point::arrive(access, Wants::Nothing, pc);
    if let Some(expected) = moved.as_ref().and_then(|moved| moved.expected)
        && !is_still(word, expected, pc)
    {
        with(|control| {
            control.fiber().spin.effect();
            point::finish(control, None, false, None);
        });
        return error(libc::EAGAIN);
    }
    with(|control| {
        let mut waiting = std::mem::take(control.run.objects.futexes.entry(word).or_default());
        let mut total = 0;
        waiting.retain(|&thread| {
            let stays = total == count || control.process.fibers[usize::from(thread)].bits & bits == 0;
            if !stays {
                rouse(control, thread);
                total += 1;
            }
            stays
        });
        if let Some(Move { to, limit, .. }) = moved {
            let limit = limit.min(waiting.len());
            total += limit;
            for thread in waiting.drain(..limit) {
                control.process.fibers[usize::from(thread)].asleep_on = objects::futex(to);
                control.run.objects.futexes.entry(to).or_default().push(thread);
            }
            control.run.trace.access(Access::new(objects::futex(to), 1, Kind::Update));
        }
        control.run.objects.futexes.insert(word, waiting);
        control.fiber().spin.effect();
        control.run.trace.access(access);
        point::finish(control, None, false, None);
        total as c_long
    })
}

fn futex(arguments: [usize; 6], pc: u64) -> c_long {
    let [word, operation, value, fourth, other, sixth] = arguments;
    let count = value as u32 as usize;
    let time = fourth as *mut c_void;
    let operation = (operation & 0x7f) as c_int;
    // The last argument: a word to compare with, or bits.
    let last = sixth as u32;
    match operation {
        libc::FUTEX_WAIT_BITSET | libc::FUTEX_WAKE_BITSET if last == 0 => error(libc::EINVAL),
        // SAFETY: the caller's time, or null.
        libc::FUTEX_WAIT => wait(word, value as u32, unsafe { time::until(time, false) }, ALL, pc),
        // SAFETY: the caller's time, or null.
        libc::FUTEX_WAIT_BITSET => wait(word, value as u32, unsafe { time::until(time, true) }, last, pc),
        libc::FUTEX_WAKE => wake(word, count, ALL, None, pc),
        libc::FUTEX_WAKE_BITSET => wake(word, count, last, None, pc),
        libc::FUTEX_REQUEUE => wake(word, count, ALL, Some(Move { to: other, limit: fourth, expected: None }), pc),
        libc::FUTEX_CMP_REQUEUE => {
            wake(word, count, ALL, Some(Move { to: other, limit: fourth, expected: Some(last) }), pc)
        }
        unknown => fail(Cause::Out(Out::FutexOperation(i64::from(unknown))), pc),
    }
}

/// System calls that hand nothing from one thread to another and leave nothing behind that a later run could see.
const HARMLESS: [c_long; 18] = [
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_getcpu,
    libc::SYS_sched_getaffinity,
    libc::SYS_get_mempolicy,
    libc::SYS_membarrier,
    libc::SYS_madvise,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mprotect,
    libc::SYS_uname,
    libc::SYS_sysinfo,
    libc::SYS_getrlimit,
    libc::SYS_prctl,
];

unsafe extern "C" fn syscall_at(number: c_long, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> c_long {
    let pc = site::pc();
    if active() {
        match number {
            libc::SYS_futex => return futex([a, b, c, d, e, f], pc),
            libc::SYS_sched_yield => {
                point::give_way(pc);
                return 0;
            }
            // SAFETY: no arguments.
            libc::SYS_gettid => return unsafe { gettid() } as c_long,
            // SAFETY: the caller gives room for so many bytes.
            libc::SYS_getrandom => return unsafe { time::fill_random(a as *mut u8, b) } as c_long,
            number if HARMLESS.contains(&number) => {}
            libc::SYS_write if (1..=2).contains(&a) => {}
            // SAFETY: the caller's request.
            number => match unsafe { descriptor::system_call(number, [a, b, c, d, e, f], pc) } {
                Some(answer) => return answer,
                None => fail(Cause::Out(Out::SystemCall(number)), pc),
            },
        }
    }
    // SAFETY: the caller's request.
    let answer = unsafe { sys::call(number, [a, b, c, d, e, f]) };
    if (-4095..0).contains(&answer) { error(-answer as c_int) } else { answer as c_long }
}
