//! Time and chance. Time is virtual: it passes when somebody looks or sleeps, by an amount that depends on nothing else but how often
//! the thread has looked without doing anything else: one that waits for a moment gets there soon. Random numbers come from a
//! generator of each thread's own.

use std::ffi::{c_int, c_void};

use selvedge_explore::{Access, Kind};

use crate::arch::site;
use crate::control::{active, with};
use crate::fiber::Wants;
use crate::point;
use crate::posix::{objects, real};

crate::entries! {
    usleep => usleep_at;
    sleep => sleep_at;
    nanosleep => nanosleep_at;
    clock_nanosleep => clock_nanosleep_at;
    clock_gettime => clock_gettime_at;
    gettimeofday => gettimeofday_at;
    time => time_at;
    timespec_get => timespec_get_at;
    clock => clock_at;
}

/// A look at the clock costs so many nanoseconds, the next twice as many, up to a tenth of a second.
const LOOK: u64 = 100;
const DOUBLED_MAX: u32 = 20;

/// Lets time pass, as a step; the time after it. A sleep offers to give up its turn.
fn pass(nanoseconds: u64, yields: bool, pc: u64) -> u64 {
    let access = Access::new(objects::clock(), 1, Kind::Update);
    point::arrive(access, Wants::Nothing, pc);
    with(|control| {
        // What the thread sees is the time, which is never the same again.
        if !yields {
            control.run.endless.disturb();
        }
        let nanoseconds =
            if yields { nanoseconds } else { nanoseconds << control.fiber().spin.looks().min(DOUBLED_MAX) };
        control.run.time = control.run.time.saturating_add(nanoseconds);
        control.run.trace.access(access);
        let yields = yields && control.fiber().spin.gives_way();
        point::finish(control, None, yields, None);
        control.run.time
    })
}

/// A time in nanoseconds.
///
/// # Safety
/// A time is there.
pub unsafe fn nanoseconds(time: *const libc::timespec) -> u64 {
    // SAFETY: the caller says that it is there.
    let time = unsafe { &*time };
    (time.tv_sec as u64).saturating_mul(1_000_000_000).saturating_add(time.tv_nsec as u64)
}

/// When a wait with this limit is over, if it has one: a moment, or so long from now.
///
/// # Safety
/// A `timespec`, or null.
pub unsafe fn until(time: *mut c_void, absolute: bool) -> Option<u64> {
    // SAFETY: the caller says what it is, and it is not null.
    let limit = (!time.is_null()).then(|| unsafe { nanoseconds(time.cast()) })?;
    Some(if absolute { limit } else { with(|control| control.run.time).saturating_add(limit) })
}

/// Sleeps for a time that the caller gives.
///
/// # Safety
/// A time is there.
pub unsafe fn sleep_for(length: *const libc::timespec, pc: u64) {
    // SAFETY: the caller says that it is there.
    pass(unsafe { nanoseconds(length) }, true, pc);
}

unsafe extern "C" fn usleep_at(microseconds: u32) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::usleep()(microseconds) };
    }
    pass(u64::from(microseconds) * 1000, true, site::pc());
    0
}

unsafe extern "C" fn sleep_at(seconds: u32) -> u32 {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::sleep()(seconds) };
    }
    pass(u64::from(seconds) * 1_000_000_000, true, site::pc());
    0
}

unsafe extern "C" fn nanosleep_at(time: *mut libc::timespec, rest: *mut c_void) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::nanosleep()(time.cast(), rest) };
    }
    // SAFETY: the caller's time.
    pass(unsafe { nanoseconds(time) }, true, site::pc());
    0
}

unsafe extern "C" fn clock_nanosleep_at(
    clock: c_int,
    flags: c_int,
    time: *mut libc::timespec,
    rest: *mut c_void,
) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::clock_nanosleep()(clock, flags, time.cast(), rest) };
    }
    // SAFETY: the caller's time.
    let wanted = unsafe { nanoseconds(time) };
    let now = with(|control| control.run.time);
    let length = if flags & libc::TIMER_ABSTIME != 0 { wanted.saturating_sub(now) } else { wanted };
    pass(length, true, site::pc());
    0
}

unsafe extern "C" fn clock_gettime_at(clock: c_int, time: *mut libc::timespec) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::clock_gettime()(clock, time.cast()) };
    }
    let now = pass(LOOK, false, site::pc());
    let (tv_sec, tv_nsec) = ((now / 1_000_000_000) as i64, (now % 1_000_000_000) as i64);
    // SAFETY: the caller gives a place for the answer.
    unsafe { time.write(libc::timespec { tv_sec, tv_nsec }) };
    0
}

unsafe extern "C" fn gettimeofday_at(time: *mut libc::timeval, zone: *mut c_void) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::gettimeofday()(time.cast(), zone) };
    }
    let now = pass(LOOK, false, site::pc());
    let (tv_sec, tv_usec) = ((now / 1_000_000_000) as i64, (now % 1_000_000_000 / 1000) as i64);
    // SAFETY: the caller gives a place for the answer.
    unsafe { time.write(libc::timeval { tv_sec, tv_usec }) };
    0
}

unsafe extern "C" fn time_at(time: *mut i64) -> i64 {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::time()(time) };
    }
    let now = (pass(LOOK, false, site::pc()) / 1_000_000_000) as i64;
    if !time.is_null() {
        // SAFETY: the caller gives a place for the answer.
        unsafe { time.write(now) };
    }
    now
}

unsafe extern "C" fn timespec_get_at(time: *mut libc::timespec, base: c_int) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::timespec_get()(time.cast(), base) };
    }
    // SAFETY: the caller gives a place for the answer.
    unsafe { clock_gettime_at(libc::CLOCK_REALTIME, time) };
    base
}

/// The processor time that was used: all the time that has passed.
unsafe extern "C" fn clock_at() -> libc::clock_t {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::clock()() };
    }
    (pass(LOOK, false, site::pc()) / 1000) as libc::clock_t
}

/// The time stamp of a processor that counts nanoseconds.
pub fn stamp(pc: u64) -> u64 {
    pass(LOOK, false, pc)
}

/// The next random number of the thread that runs.
pub fn next_random() -> u64 {
    with(|control| {
        let fiber = control.fiber();
        fiber.random = fiber.random.wrapping_add(1);
        fiber.spin.effect();
        control.run.endless.disturb();
        let seed = (control.search.settings.seed ^ (control.run.current as u64) << 56)
            .wrapping_add(control.search.lineup.shift);
        selvedge_explore::Rng::for_run(seed, control.fiber().random).next()
    })
}

/// Fills memory with random bytes; how many.
///
/// # Safety
/// There is room for so many bytes.
pub unsafe fn fill_random(to: *mut u8, size: usize) -> isize {
    for at in 0..size {
        // SAFETY: the caller says that there are so many bytes.
        unsafe { to.add(at).write(next_random() as u8) };
    }
    size as isize
}

/// Random bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getrandom(to: *mut u8, size: usize, flags: u32) -> isize {
    if active() {
        // SAFETY: the caller's request.
        return unsafe { fill_random(to, size) };
    }
    // SAFETY: the caller's request.
    unsafe { crate::sys::call(libc::SYS_getrandom, [to as usize, size, flags as usize, 0, 0, 0]) }
}

/// `std::random_device`, which asks the processor where it can.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _ZNSt13random_device9_M_getvalEv(device: *mut c_void) -> u32 {
    // SAFETY: libstdc++'s own.
    if active() { next_random() as u32 } else { unsafe { real::_ZNSt13random_device9_M_getvalEv()(device) } }
}

/// A random number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rand() -> c_int {
    // SAFETY: libc's own.
    if active() { (next_random() >> 33) as c_int } else { unsafe { real::rand()() } }
}

/// A random number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn random() -> i64 {
    // SAFETY: libc's own.
    if active() { (next_random() >> 33) as i64 } else { unsafe { real::random()() } }
}

/// Random bytes; 0 for success.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getentropy(to: *mut u8, size: usize) -> c_int {
    if size > 256 {
        // SAFETY: the current thread's `errno`.
        unsafe { *libc::__errno_location() = libc::EIO };
        return -1;
    }
    // SAFETY: the caller's request.
    let filled = unsafe { getrandom(to, size, 0) };
    if filled == size as isize { 0 } else { -1 }
}

/// A random number of 31 bits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lrand48() -> i64 {
    // SAFETY: libc's own.
    if active() { (next_random() >> 33) as i64 } else { unsafe { real::lrand48()() } }
}

/// A random number of 32 bits with a sign.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mrand48() -> i64 {
    // SAFETY: libc's own.
    if active() { i64::from((next_random() >> 32) as i32) } else { unsafe { real::mrand48()() } }
}

/// A random number from 0 to 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drand48() -> f64 {
    // SAFETY: libc's own.
    if active() { (next_random() >> 11) as f64 / (1u64 << 53) as f64 } else { unsafe { real::drand48()() } }
}
