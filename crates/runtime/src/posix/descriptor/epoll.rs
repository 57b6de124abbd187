//! `epoll`: which descriptors it watches, and the list of those that may have something to tell, in Linux's order.
//!
//! A descriptor comes to the end of the list when something happens to what it stands for. What it tells is looked at when somebody waits: it then leaves the list, or goes to its end if it is
//! to be told of as long as it is so (level triggered).

use std::collections::{BTreeMap, VecDeque};
use std::ffi::{c_int, c_void};

use selvedge_explore::{Access, Kind};
use selvedge_protocol::{Cause, Out, Outside};

use super::step::{self, Aim, Change, Patience, Turn, finds_out, refuse, table};
use super::table::{self, DATA, Source};
use super::{answer, is_open, is_ours, kernel};
use crate::abi::plain::announce;
use crate::arch::site;
use crate::control::{Control, with};
use crate::fiber::fail;
use crate::posix::{real, uncontrolled};

crate::entries! {
    epoll_ctl => ctl_at;
    epoll_wait => wait_at;
    epoll_pwait => pwait_at;
    epoll_pwait2 => pwait2_at;
}

/// Bits that are no events.
const PRIVATE: u32 = (libc::EPOLLET | libc::EPOLLONESHOT | libc::EPOLLWAKEUP | libc::EPOLLEXCLUSIVE) as u32;
const ALWAYS: u32 = (libc::EPOLLERR | libc::EPOLLHUP) as u32;

/// What is to be told of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interest {
    events: u32,
    data: u64,
}

impl Interest {
    /// Whether nothing is to be told until somebody asks again.
    pub fn is_off(&self) -> bool {
        self.events & !PRIVATE == 0
    }

    /// The events that are to be told.
    pub fn wanted(&self) -> u32 {
        if self.is_off() { 0 } else { self.events & !PRIVATE }
    }

    fn has(&self, bit: c_int) -> bool {
        self.events & bit as u32 != 0
    }
}

/// A number and the description that it stood for.
pub type Key = (c_int, usize);

/// What an `epoll` watches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Epoll {
    pub interests: BTreeMap<Key, Interest>,
    pub ready: VecDeque<Key>,
}

/// The source of an `epoll`.
fn source_of(control: &mut Control, number: c_int) -> Result<usize, c_int> {
    let description = table(control).find(number).ok_or(libc::EBADF)?;
    let at = table(control).ends(description).sources[DATA].ok_or(libc::EINVAL)?;
    match table(control).source(at) {
        Source::Epoll(_) => Ok(at),
        _ => Err(libc::EINVAL),
    }
}

fn epoll(control: &mut Control, at: usize) -> &mut Epoll {
    match table(control).source(at) {
        Source::Epoll(epoll) => epoll,
        _ => unreachable!("the source is an epoll"),
    }
}

unsafe extern "C" fn ctl_at(number: c_int, operation: c_int, other: c_int, event: *mut libc::epoll_event) -> c_int {
    if !is_ours(number) {
        uncontrolled::checks("epoll_ctl", number, site::pc());
        // SAFETY: the caller's request.
        return unsafe { real::epoll_ctl()(number, operation, other, event) };
    }
    // SAFETY: the caller's request.
    unsafe { ctl(number, operation, other, event, site::pc()) }
}

/// # Safety
/// An event, or nothing where none is looked at.
pub unsafe fn ctl(number: c_int, operation: c_int, other: c_int, event: *mut libc::epoll_event, pc: u64) -> c_int {
    let mut interest = Interest { events: 0, data: 0 };
    if operation != libc::EPOLL_CTL_DEL {
        announce(event.cast(), size_of::<libc::epoll_event>(), false);
        // SAFETY: the caller's event.
        let event = unsafe { event.read_unaligned() };
        interest = Interest { events: event.events | ALWAYS, data: event.u64 };
    }
    if interest.has(libc::EPOLLEXCLUSIVE) {
        refuse("epoll_ctl(EPOLLEXCLUSIVE)", pc);
    }
    if !is_ours(other) && is_open(other) {
        // Regular files cannot be watched. What else is open leads out.
        let tried =
            kernel(libc::SYS_epoll_ctl, [number as usize, operation as usize, other as usize, event as usize, 0, 0]);
        match tried {
            Err(error) => return answer(Err(error)) as c_int,
            Ok(_) => fail(Cause::Out(Out::Call { name: "epoll_ctl".into(), why: Outside::HandsOver }), pc),
        }
    }
    let at = match with(|control| source_of(control, number)) {
        Ok(at) => at,
        Err(error) => {
            finds_out(number, None, pc);
            return answer(Err(error)) as c_int;
        }
    };
    if with(|control| source_of(control, other)).is_ok() && other != number {
        refuse("epoll_ctl", pc);
    }
    let change = Change { number, pc };
    let mut first = Access::new(with(|control| table(control).object(at, DATA)), 1, Kind::Update);
    change.arrives(first);
    let made = with(|control| {
        first.old = table(control).level(first.object);
        change.touches(control, Some(first), &[]);
        let slot = Access::new(table::slot(other), 1, Kind::Read);
        control.run.trace.access(slot);
        let made = changes(control, at, operation, (number, other), interest);
        change.ends(control, None);
        made
    });
    answer(made) as c_int
}

/// Changes what is watched, in the step that is under way.
fn changes(
    control: &mut Control,
    at: usize,
    operation: c_int,
    (number, other): (c_int, c_int),
    interest: Interest,
) -> Result<i64, c_int> {
    let description = table(control).find(other).ok_or(libc::EBADF)?;
    if number == other {
        return Err(libc::EINVAL);
    }
    for source in table(control).sources_of(description) {
        for half in [DATA, table::ROOM] {
            let object = table(control).object(source, half);
            let level = table(control).level(object);
            control.run.trace.access(Access::new(object, 1, Kind::Read).after(level));
        }
    }
    let key = (other, description);
    let events = table(control).events(description);
    let epoll = epoll(control, at);
    match (operation, epoll.interests.contains_key(&key)) {
        (libc::EPOLL_CTL_ADD, true) => return Err(libc::EEXIST),
        (libc::EPOLL_CTL_MOD | libc::EPOLL_CTL_DEL, false) => return Err(libc::ENOENT),
        (libc::EPOLL_CTL_DEL, true) => {
            epoll.interests.remove(&key);
            epoll.ready.retain(|&ready| ready != key);
            return Ok(0);
        }
        (libc::EPOLL_CTL_ADD | libc::EPOLL_CTL_MOD, _) => {}
        _ => return Err(libc::EINVAL),
    }
    epoll.interests.insert(key, interest);
    if events & interest.wanted() != 0 && !epoll.ready.contains(&key) {
        epoll.ready.push_back(key);
    }
    let current = control.run.current;
    control.run.races.release(current, table::interest(at, other));
    Ok(0)
}

unsafe extern "C" fn wait_at(number: c_int, events: *mut libc::epoll_event, most: c_int, limit: c_int) -> c_int {
    if !is_ours(number) {
        uncontrolled::checks("epoll_wait", number, site::pc());
        // SAFETY: the caller's request.
        return unsafe { real::epoll_wait()(number, events, most, limit) };
    }
    let limit = u64::try_from(limit).ok().map(|limit| limit * 1_000_000);
    // SAFETY: the caller gives room for so many events.
    unsafe { wait(number, events, most, limit, site::pc()) }
}

unsafe extern "C" fn pwait_at(
    number: c_int,
    events: *mut libc::epoll_event,
    most: c_int,
    limit: c_int,
    mask: *const c_void,
) -> c_int {
    if !is_ours(number) {
        uncontrolled::checks("epoll_pwait", number, site::pc());
        // SAFETY: the caller's request.
        return unsafe { real::epoll_pwait()(number, events, most, limit, mask) };
    }
    let limit = u64::try_from(limit).ok().map(|limit| limit * 1_000_000);
    // SAFETY: the caller gives room for so many events.
    unsafe { wait(number, events, most, limit, site::pc()) }
}

unsafe extern "C" fn pwait2_at(
    number: c_int,
    events: *mut libc::epoll_event,
    most: c_int,
    limit: *const libc::timespec,
    mask: *const c_void,
) -> c_int {
    if !is_ours(number) {
        uncontrolled::checks("epoll_pwait2", number, site::pc());
        // SAFETY: the caller's request.
        return unsafe { real::epoll_pwait2()(number, events, most, limit, mask) };
    }
    // SAFETY: the caller's time, or nothing, and room for so many events.
    unsafe {
        let limit = (!limit.is_null()).then(|| {
            let limit = limit.read_unaligned();
            (limit.tv_sec as u64).saturating_mul(1_000_000_000).saturating_add(limit.tv_nsec as u64)
        });
        wait(number, events, most, limit, site::pc())
    }
}

/// Waits for events, so many nanoseconds at most.
///
/// # Safety
/// The caller gives room for so many events.
pub unsafe fn wait(number: c_int, to: *mut libc::epoll_event, most: c_int, limit: Option<u64>, pc: u64) -> c_int {
    if most <= 0 {
        return answer(Err(libc::EINVAL)) as c_int;
    }
    if let Err(error) = with(|control| source_of(control, number)) {
        finds_out(number, None, pc);
        return answer(Err(error)) as c_int;
    }
    let patience = match limit {
        None => Patience::Waits,
        Some(0) => Patience::Tries,
        Some(_) => Patience::GivesUp,
    };
    let until = with(|control| limit.map(|limit| control.run.time.saturating_add(limit)));
    let mut turn = match step::begin(Aim { number, half: DATA, patience, pc }, &|_, _| Ok(1)) {
        Ok(turn) => turn,
        Err(error) => return answer(Err(error)) as c_int,
    };
    let told = with(|control| {
        if !turn.is_open(control) {
            return None;
        }
        let timers = timers(control, turn.source);
        let mut sources = timers.clone();
        sources.push(turn.source);
        turn.touches(control, &sources);
        expire(control, &turn, &timers, until);
        Some(take(control, turn.source, most as usize))
    });
    let Some(told) = told else {
        with(|control| {
            if patience == Patience::GivesUp {
                step::passes_late(control, until);
            }
            turn.fails(control);
        });
        return 0;
    };
    for (place, event) in told.iter().enumerate() {
        announce(to.wrapping_add(place).cast(), size_of::<libc::epoll_event>(), true);
        // SAFETY: the caller gives room for so many.
        unsafe { to.add(place).write_unaligned(*event) };
    }
    with(|control| match told.len() {
        0 => {
            if patience == Patience::GivesUp {
                step::passes_late(control, until);
            }
            turn.found_nothing(control);
        }
        count => turn.ends(control, Some(count as u64)),
    });
    told.len() as c_int
}

/// The timers that an `epoll` watches and that have not expired.
fn timers(control: &mut Control, at: usize) -> Vec<usize> {
    let wanted = |interest: &Interest| interest.wanted() & libc::EPOLLIN as u32 != 0;
    let keys: Vec<Key> =
        epoll(control, at).interests.iter().filter(|(_, one)| wanted(one)).map(|(key, _)| *key).collect();
    let armed = |key: &Key| {
        table(control).timer_of(key.1).filter(|timer| timer.next.is_some())?;
        table(control).ends(key.1).sources[DATA]
    };
    keys.iter().filter_map(armed).collect()
}

/// Time may pass, in the step that is under way.
fn expire(control: &mut Control, turn: &Turn, timers: &[usize], until: Option<u64>) {
    if timers.is_empty() {
        return;
    }
    step::settle(control);
    let Source::Epoll(known) = table(control).source(turn.source).clone() else { return };
    if !table(control).has_events(&known) {
        step::expires(control, timers, turn.patience, until);
        return;
    }
    // What is there may be told of before or after a timer expires.
    if let Some(next) = step::next_of(control, timers)
        && next > control.run.time
        && step::chooses(control)
    {
        step::passes(control, next);
        table(control).settle(next);
    }
}

/// Takes what is to be told.
fn take(control: &mut Control, at: usize, most: usize) -> Vec<libc::epoll_event> {
    let mut told = Vec::new();
    let mut again = Vec::new();
    while told.len() < most
        && let Some(key) = epoll(control, at).ready.pop_front()
    {
        let happened = table(control).events(key.1);
        let Some(interest) = epoll(control, at).interests.get_mut(&key) else { continue };
        let events = happened & interest.wanted();
        if events == 0 {
            continue;
        }
        told.push(libc::epoll_event { events, u64: interest.data });
        if interest.has(libc::EPOLLONESHOT) {
            interest.events &= PRIVATE;
        } else if !interest.has(libc::EPOLLET) {
            again.push(key);
        }
        let current = control.run.current;
        control.run.races.acquire(current, table::interest(at, key.0));
        step::sees(control, key.1, events);
    }
    epoll(control, at).ready.extend(again);
    told
}
