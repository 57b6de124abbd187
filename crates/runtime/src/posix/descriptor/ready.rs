//! `poll` and `select`: one step that looks at several descriptors, and waits until one of them is ready.

use std::ffi::{c_int, c_void};

use selvedge_explore::{Access, Condition, Kind};
use selvedge_protocol::{Cause, Out, Outside};

use super::step::{self, Patience, goes_round, table};
use super::table::{self, Awaits, Call, DATA};
use super::{answer, is_open, is_ours};
use crate::abi::plain::announce;
use crate::arch::site;
use crate::control::{Control, active, with};
use crate::fiber::{Wants, fail};
use crate::point;
use crate::posix::{real, time};

crate::entries! {
    poll => poll_at;
    ppoll => ppoll_at;
    __poll_chk => poll_checked_at;
    __ppoll_chk => ppoll_checked_at;
    select => select_at;
    pselect => pselect_at;
}

const ALWAYS: u32 = (libc::EPOLLERR | libc::EPOLLHUP) as u32;
const CLOSED: u32 = libc::POLLNVAL as u32;

/// What is waited for: numbers with events.
struct Wait {
    wanted: Vec<(c_int, u32)>,
    patience: Patience,
    until: Option<u64>,
    pc: u64,
}

/// How long a wait with this limit in nanoseconds is.
fn patience(limit: Option<u64>) -> Patience {
    match limit {
        None => Patience::Waits,
        Some(0) => Patience::Tries,
        Some(_) => Patience::GivesUp,
    }
}

/// Ends the run where a number leads out of the process.
fn checks(wanted: &[(c_int, u32)], name: &str, pc: u64) {
    for &(number, _) in wanted {
        if !is_ours(number) && is_open(number) {
            fail(Cause::Out(Out::Call { name: name.to_owned(), why: Outside::Kernel }), pc);
        }
    }
}

impl Wait {
    fn new(wanted: Vec<(c_int, u32)>, limit: Option<u64>, pc: u64) -> Self {
        let until = with(|control| limit.map(|limit| control.run.time.saturating_add(limit)));
        Wait { wanted, patience: patience(limit), until, pc }
    }

    /// What the step touches, with what is found there now.
    fn accesses(&self, control: &mut Control, waited: bool) -> Vec<Access> {
        let mut accesses: Vec<Access> = Vec::new();
        for &(number, events) in &self.wanted {
            let Some(description) = table(control).find(number) else { continue };
            for (object, enough) in table(control).needs(description, events) {
                let access = Access::new(object, 1, Kind::Read).after(table(control).level(object));
                let access = match self.patience {
                    Patience::Waits => access.waiting().if_found(enough),
                    _ if waited => access.waiting(),
                    _ => access.if_found(Condition::Unknown),
                };
                // The least that is asked for counts.
                match accesses.iter_mut().find(|other| other.object == object) {
                    Some(other) if other.condition == Condition::AtLeast(super::queue::GONE) => *other = access,
                    Some(_) => {}
                    None => accesses.push(access),
                }
            }
        }
        accesses
    }

    /// What each of the numbers has to tell.
    fn found(&self, control: &mut Control) -> Vec<u32> {
        let tells = |&(number, events): &(c_int, u32)| match table(control).find(number) {
            Some(description) => table(control).events(description) & (events | ALWAYS),
            None => CLOSED,
        };
        self.wanted.iter().map(tells).collect()
    }

    /// The timers among them that have not expired.
    fn timers(&self, control: &mut Control) -> Vec<usize> {
        let armed = |&(number, events): &(c_int, u32)| {
            let description = table(control).find(number).filter(|_| events & libc::EPOLLIN as u32 != 0)?;
            table(control).timer_of(description).filter(|timer| timer.next.is_some())?;
            table(control).ends(description).sources[DATA]
        };
        self.wanted.iter().filter_map(armed).collect()
    }

    /// Comes to the step, and back when it may be made; whether the thread waited for a change.
    fn arrives(&self) -> bool {
        let pc = self.pc;
        let (first, waited, wants) = with(|control| {
            let current = control.run.current;
            if self.patience == Patience::Waits {
                let first = self.accesses(control, false).first().copied();
                let wanted = self.wanted.iter().map(|&(number, events)| (number, events | ALWAYS)).collect();
                let call = Call { number: -1, description: usize::MAX, awaits: Awaits::Any(wanted), inside: false };
                table(control).calls.insert(current, call);
                if control.run.created > 1 && !table(control).may_go(current) {
                    for &(number, _) in &self.wanted {
                        control.run.trace.amend(Access::new(table::slot(number), 1, Kind::Read));
                    }
                }
                return (first, false, Wants::Ready);
            }
            let waited = goes_round(control, pc);
            let first = self.accesses(control, waited).first().copied();
            (first, waited, if waited { Wants::Change } else { Wants::Nothing })
        });
        point::arrive(first.unwrap_or(point::nothing()), wants, pc);
        with(|control| {
            let current = control.run.current;
            table(control).calls.remove(&current);
        });
        waited
    }

    /// Waits; what each number has to tell, nothing of any if the time has passed.
    fn waits(&self) -> Vec<u32> {
        let waited = self.arrives();
        with(|control| {
            let accesses = self.accesses(control, waited);
            accesses.iter().for_each(|access| control.run.trace.access(*access));
            if accesses.is_empty() {
                control.run.trace.access(point::nothing());
            }
            if waited {
                control.saw_change(None);
            }
            for &(number, _) in &self.wanted {
                control.run.trace.access(Access::new(table::slot(number), 1, Kind::Read));
            }
            let found = self.looks(control);
            let any = found.iter().any(|&events| events != 0);
            if any {
                for (&(number, _), &events) in self.wanted.iter().zip(&found) {
                    if let Some(description) = table(control).find(number) {
                        step::sees(control, description, events);
                    }
                }
            }
            self.ends(control, &accesses, any);
            found
        })
    }

    /// Looks, and lets time pass where a timer is among them.
    fn looks(&self, control: &mut Control) -> Vec<u32> {
        let timers = self.timers(control);
        if !timers.is_empty() {
            let touched = table(control).touched(&timers);
            touched.into_iter().for_each(|access| control.run.trace.access(access));
            step::settle(control);
        }
        let found = self.found(control);
        if timers.is_empty() {
            return found;
        }
        if found.iter().all(|&events| events == 0) {
            step::expires(control, &timers, self.patience, self.until);
        } else if let Some(next) = step::next_of(control, &timers)
            && next > control.run.time
            && step::chooses(control)
        {
            step::passes(control, next);
            table(control).settle(next);
        }
        self.found(control)
    }

    /// The step is over.
    fn ends(&self, control: &mut Control, accesses: &[Access], any: bool) {
        if !any && self.patience == Patience::GivesUp {
            step::passes_late(control, self.until);
        }
        let timed = self.patience == Patience::GivesUp;
        // To look changes nothing: a loop that only looks is one that waits.
        if let Some((first, rest)) = accesses.split_first() {
            control.fiber().spin.read(first);
            rest.iter().for_each(|access| control.fiber().spin.keep(access));
        }
        control.fiber().spin.poll.clear();
        let yields = timed && !any && control.fiber().spin.gives_way();
        point::finish(control, None, yields, None);
        point::tidy(control);
    }
}

unsafe extern "C" fn poll_at(polled: *mut libc::pollfd, count: libc::nfds_t, limit: c_int) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::poll()(polled, count, limit) };
    }
    let limit = u64::try_from(limit).ok().map(|limit| limit * 1_000_000);
    // SAFETY: the caller passes so many.
    unsafe { wait_polled(polled, count as usize, limit, "poll", site::pc()) }
}

unsafe extern "C" fn poll_checked_at(polled: *mut libc::pollfd, count: libc::nfds_t, limit: c_int, _: usize) -> c_int {
    // SAFETY: the caller's request.
    unsafe { poll_at(polled, count, limit) }
}

/// # Safety
/// A time, or nothing.
unsafe fn limit_of(time: *const libc::timespec) -> Option<u64> {
    // SAFETY: the caller says that it is there if it is not null.
    (!time.is_null()).then(|| unsafe { time::nanoseconds(time) })
}

unsafe extern "C" fn ppoll_at(
    polled: *mut libc::pollfd,
    count: libc::nfds_t,
    limit: *const libc::timespec,
    mask: *const c_void,
) -> c_int {
    // SAFETY: the caller's request: a time or nothing, and so many descriptors.
    unsafe {
        if !active() {
            return real::ppoll()(polled, count, limit, mask);
        }
        wait_polled(polled, count as usize, limit_of(limit), "ppoll", site::pc())
    }
}

unsafe extern "C" fn ppoll_checked_at(
    polled: *mut libc::pollfd,
    count: libc::nfds_t,
    limit: *const libc::timespec,
    mask: *const c_void,
    _: usize,
) -> c_int {
    // SAFETY: the caller's request.
    unsafe { ppoll_at(polled, count, limit, mask) }
}

/// # Safety
/// So many descriptors.
pub unsafe fn wait_polled(polled: *mut libc::pollfd, count: usize, limit: Option<u64>, name: &str, pc: u64) -> c_int {
    announce(polled.cast(), count * size_of::<libc::pollfd>(), false);
    // SAFETY: the caller passes so many.
    let polled = if count == 0 { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(polled, count) } };
    let asked = polled.iter().filter(|one| one.fd >= 0);
    let wanted: Vec<(c_int, u32)> = asked.map(|one| (one.fd, u32::from(one.events as u16))).collect();
    checks(&wanted, name, pc);
    let mut found = Wait::new(wanted, limit, pc).waits().into_iter();
    let mut ready = 0;
    for one in polled {
        announce((&raw const one.revents).cast(), size_of::<i16>(), true);
        let events = if one.fd >= 0 { found.next().unwrap_or(0) } else { 0 };
        one.revents = events as u16 as i16;
        ready += c_int::from(events != 0);
    }
    ready
}

unsafe extern "C" fn select_at(
    count: c_int,
    read: *mut libc::fd_set,
    write: *mut libc::fd_set,
    other: *mut libc::fd_set,
    limit: *mut libc::timeval,
) -> c_int {
    // SAFETY: the caller's request: sets of so many numbers or nothing, and a time or nothing.
    unsafe {
        if !active() {
            return real::select()(count, read, write, other, limit);
        }
        let time = (!limit.is_null()).then(|| {
            let limit = &*limit;
            (limit.tv_sec as u64).saturating_mul(1_000_000_000).saturating_add(limit.tv_usec as u64 * 1000)
        });
        let made = wait_selected(count, [read, write, other], time, "select", site::pc());
        if made == 0 && !limit.is_null() {
            // Linux tells what is left of the time.
            limit.write(libc::timeval { tv_sec: 0, tv_usec: 0 });
        }
        made
    }
}

unsafe extern "C" fn pselect_at(
    count: c_int,
    read: *mut libc::fd_set,
    write: *mut libc::fd_set,
    other: *mut libc::fd_set,
    limit: *const libc::timespec,
    mask: *const c_void,
) -> c_int {
    // SAFETY: the caller's request: sets of so many numbers or nothing, and a time or nothing.
    unsafe {
        if !active() {
            return real::pselect()(count, read, write, other, limit, mask);
        }
        wait_selected(count, [read, write, other], limit_of(limit), "pselect", site::pc())
    }
}

/// # Safety
/// Sets of so many numbers, or nothing.
pub unsafe fn wait_selected(
    count: c_int,
    sets: [*mut libc::fd_set; 3],
    limit: Option<u64>,
    name: &str,
    pc: u64,
) -> c_int {
    if !(0..=libc::FD_SETSIZE as c_int).contains(&count) {
        return answer(Err(libc::EINVAL)) as c_int;
    }
    // What makes a number of each set ready.
    const READY: [u32; 3] = [
        (libc::EPOLLIN | libc::EPOLLRDNORM | libc::EPOLLHUP | libc::EPOLLERR) as u32,
        (libc::EPOLLOUT | libc::EPOLLWRNORM | libc::EPOLLERR) as u32,
        libc::EPOLLPRI as u32,
    ];
    let bytes = (count as usize).next_multiple_of(64) / 8;
    for set in sets.iter().filter(|set| !set.is_null()) {
        announce((*set).cast(), bytes, false);
    }
    // SAFETY: the caller's sets, where they are not null.
    let is_in = |set: usize, number: c_int| unsafe { !sets[set].is_null() && libc::FD_ISSET(number, sets[set]) };
    let asked = |number: c_int| (0..3).filter(|&set| is_in(set, number)).fold(0, |all, set| all | READY[set]);
    let wanted: Vec<(c_int, u32)> = (0..count).map(|number| (number, asked(number))).filter(|one| one.1 != 0).collect();
    checks(&wanted, name, pc);
    let wait = Wait::new(wanted, limit, pc);
    let found = wait.waits();
    if found.contains(&CLOSED) {
        return answer(Err(libc::EBADF)) as c_int;
    }
    let mut ready = 0;
    for (&(number, _), events) in wait.wanted.iter().zip(found) {
        for (set, makes_ready) in READY.into_iter().enumerate().filter(|(set, _)| is_in(*set, number)) {
            if events & makes_ready != 0 {
                ready += 1;
            } else {
                // SAFETY: the number is in the caller's set.
                unsafe { libc::FD_CLR(number, sets[set]) };
            }
        }
    }
    for set in sets.iter().filter(|set| !set.is_null()) {
        announce((*set).cast(), bytes, true);
    }
    ready
}
