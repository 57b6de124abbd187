//! `eventfd` and `timerfd`: descriptors that a number is read from.

use std::ffi::{c_int, c_void};

use selvedge_explore::{Access, Kind};

use super::step::{self, Aim, Change, Patience, Turn, finds_out, refuse, table};
use super::table::{DATA, Descriptors, ROOM, Source, Timer};
use super::{answer, is_ours};
use crate::abi::plain::announce;
use crate::arch::site;
use crate::control::{Control, with};
use crate::posix::{real, uncontrolled};

crate::entries! {
    eventfd_read => eventfd_read_at;
    eventfd_write => eventfd_write_at;
    timerfd_settime => settime_at;
    timerfd_gettime => gettime_at;
}

/// Reads the number.
pub fn read(aim: Aim, room: usize) -> Result<u64, c_int> {
    if room < size_of::<u64>() {
        return Err(libc::EINVAL);
    }
    let mut turn = step::begin(aim, &|_, _| Ok(1))?;
    with(|control| {
        if !turn.is_open(control) {
            turn.fails(control);
            return Err(libc::EAGAIN);
        }
        turn.touches(control, &[turn.source]);
        let told = match table(control).source(turn.source) {
            Source::Timer(_) => ticks(control, &turn),
            _ => Some(counted(control, &turn)),
        };
        let Some(told) = told else {
            turn.found_nothing(control);
            return Err(libc::EAGAIN);
        };
        let (current, object) = (control.run.current, table(control).object(turn.source, DATA));
        control.run.races.acquire(current, object);
        if let Source::Event(0, false) = table(control).source(turn.source) {
            control.run.races.forget_object(object);
        }
        turn.ends(control, Some(size_of::<u64>() as u64));
        Ok(told)
    })
}

fn counted(control: &mut Control, turn: &Turn) -> u64 {
    let Source::Event(count, one) = table(control).source(turn.source) else { return 0 };
    let told = if *one { 1 } else { *count };
    *count -= told;
    table(control).notify(turn.source, libc::EPOLLOUT);
    told
}

/// How often a timer has expired, if it has.
fn ticks(control: &mut Control, turn: &Turn) -> Option<u64> {
    step::settle(control);
    let ticks = |control: &mut Control| match table(control).source(turn.source) {
        Source::Timer(timer) => std::mem::take(&mut timer.ticks),
        _ => 0,
    };
    let some = ticks(control);
    if some > 0 {
        return Some(some);
    }
    let expired = step::expires(control, &[turn.source], turn.patience, None);
    expired.then(|| ticks(control))
}

/// Adds to the number.
pub fn write(aim: Aim, value: u64) -> Result<(), c_int> {
    if value == u64::MAX {
        return Err(libc::EINVAL);
    }
    let mut turn = step::begin(aim, &move |_: &Descriptors, _| Ok(value))?;
    with(|control| {
        if !turn.is_open(control) {
            turn.fails(control);
            return Err(libc::EAGAIN);
        }
        turn.touches(control, &[turn.source]);
        if let Source::Event(count, _) = table(control).source(turn.source) {
            *count += value;
        }
        let (current, object) = (control.run.current, table(control).object(turn.source, DATA));
        control.run.races.release(current, object);
        table(control).notify(turn.source, libc::EPOLLIN);
        turn.ends(control, Some(size_of::<u64>() as u64));
        Ok(())
    })
}

unsafe extern "C" fn eventfd_read_at(number: c_int, value: *mut u64) -> c_int {
    if !is_ours(number) {
        uncontrolled::checks("eventfd_read", number, site::pc());
        // SAFETY: the caller's request.
        return unsafe { real::eventfd_read()(number, value) };
    }
    let told = read(Aim { number, half: DATA, patience: Patience::Waits, pc: site::pc() }, size_of::<u64>());
    let told = told.map(|told| {
        announce(value as *const c_void, size_of::<u64>(), true);
        // SAFETY: the caller gives room for the number.
        unsafe { value.write(told) };
        0
    });
    answer(told) as c_int
}

unsafe extern "C" fn eventfd_write_at(number: c_int, value: u64) -> c_int {
    if !is_ours(number) {
        uncontrolled::checks("eventfd_write", number, site::pc());
        // SAFETY: the caller's request.
        return unsafe { real::eventfd_write()(number, value) };
    }
    let told = write(Aim { number, half: ROOM, patience: Patience::Waits, pc: site::pc() }, value);
    answer(told.map(|()| 0)) as c_int
}

fn nanoseconds(time: &libc::timespec) -> u64 {
    (time.tv_sec as u64).saturating_mul(1_000_000_000).saturating_add(time.tv_nsec as u64)
}

fn spec(nanoseconds: u64) -> libc::timespec {
    libc::timespec { tv_sec: (nanoseconds / 1_000_000_000) as i64, tv_nsec: (nanoseconds % 1_000_000_000) as i64 }
}

/// What is left of a timer.
fn rest(timer: &Timer, now: u64) -> libc::itimerspec {
    let left = timer.next.map_or(0, |next| next.saturating_sub(now).max(1));
    libc::itimerspec { it_interval: spec(timer.interval), it_value: spec(left) }
}

/// The timer that a number stands for.
fn timer(number: c_int) -> Result<usize, c_int> {
    with(|control| {
        let description = table(control).find(number).ok_or(libc::EBADF)?;
        table(control).timer_of(description).ok_or(libc::EINVAL)?;
        table(control).ends(description).sources[DATA].ok_or(libc::EINVAL)
    })
}

unsafe extern "C" fn settime_at(
    number: c_int,
    flags: c_int,
    new: *const libc::itimerspec,
    old: *mut libc::itimerspec,
) -> c_int {
    if !is_ours(number) {
        uncontrolled::checks("timerfd_settime", number, site::pc());
        // SAFETY: the caller's request.
        return unsafe { real::timerfd_settime()(number, flags, new, old) };
    }
    // SAFETY: the caller's request.
    unsafe { settime(number, flags, new, old, site::pc()) }
}

/// # Safety
/// A time to read, and one to write or nothing.
pub unsafe fn settime(
    number: c_int,
    flags: c_int,
    new: *const libc::itimerspec,
    old: *mut libc::itimerspec,
    pc: u64,
) -> c_int {
    if flags & !libc::TFD_TIMER_ABSTIME != 0 {
        refuse("timerfd_settime", pc);
    }
    let at = match timer(number) {
        Ok(at) => at,
        Err(error) => {
            finds_out(number, None, pc);
            return answer(Err(error)) as c_int;
        }
    };
    announce(new.cast(), size_of::<libc::itimerspec>(), false);
    // SAFETY: the caller's time.
    let asked = unsafe { *new };
    let change = Change { number, pc };
    let mut first = Access::new(with(|control| table(control).object(at, DATA)), 1, Kind::Update);
    change.arrives(first);
    let before = with(|control| {
        first.old = table(control).level(first.object);
        change.touches(control, Some(first), &[at]);
        step::settle(control);
        let now = control.run.time;
        let value = nanoseconds(&asked.it_value);
        let next = if flags & libc::TFD_TIMER_ABSTIME != 0 { value.max(now) } else { now.saturating_add(value) };
        let interval = nanoseconds(&asked.it_interval);
        let timer = Timer { next: (value > 0).then_some(next), interval, ticks: 0, looked: false };
        let before = match table(control).source(at) {
            Source::Timer(old) => rest(&std::mem::replace(old, timer), now),
            _ => rest(&timer, now),
        };
        let current = control.run.current;
        control.run.races.release(current, first.object);
        table(control).settle(now);
        change.ends(control, None);
        before
    });
    if !old.is_null() {
        announce(old.cast(), size_of::<libc::itimerspec>(), true);
        // SAFETY: the caller gives room for a time.
        unsafe { old.write(before) };
    }
    0
}

unsafe extern "C" fn gettime_at(number: c_int, to: *mut libc::itimerspec) -> c_int {
    if !is_ours(number) {
        uncontrolled::checks("timerfd_gettime", number, site::pc());
        // SAFETY: the caller's request.
        return unsafe { real::timerfd_gettime()(number, to) };
    }
    let pc = site::pc();
    let told = timer(number).map(|at| {
        let first = with(|control| {
            control.run.endless.disturb();
            Access::new(table(control).object(at, DATA), 1, Kind::Read)
        });
        finds_out(number, Some(first), pc);
        let left = with(|control| {
            let now = control.run.time;
            match table(control).source(at) {
                Source::Timer(timer) => rest(timer, now),
                _ => rest(&Timer::default(), now),
            }
        });
        announce(to.cast(), size_of::<libc::itimerspec>(), true);
        // SAFETY: the caller gives room for a time.
        unsafe { to.write(left) };
        0
    });
    answer(told) as c_int
}
