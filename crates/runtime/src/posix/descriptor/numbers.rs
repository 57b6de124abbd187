//! Calls that give descriptors other numbers, set their flags, shut them down and close them.
//!
//! Who closes a number while another thread waits in a call on it decides whether that call had looked the number up before: it then goes on with what the number stood for, as in Linux.
//! What is not ours is the kernel's.

use std::ffi::c_int;

use selvedge_explore::{Access, Kind, Pick};

use super::open;
use super::queue::Shape;
use super::step::{Change, finds_out, refuse, table};
use super::table::{self, Awaits, DATA, Description, ROOM, Source};
use super::{answer, is_open, is_ours, kernel};
use crate::abi::plain::announce;
use crate::arch::site;
use crate::control::{Control, with};
use crate::memory::files;
use crate::posix::real;

crate::entries! {
    close => close_at;
    dup => dup_at;
    dup2 => dup2_at;
    dup3 => dup3_at;
    fcntl => fcntl_at;
    fcntl64 => fcntl_at;
    ioctl => ioctl_at;
    shutdown => shutdown_at;
    setsockopt => setsockopt_at;
}

/// Nobody holds the description by this reference any more.
pub fn release(control: &mut Control, description: usize) {
    let known = table(control).description(description);
    known.held -= 1;
    let (last, ends) = (known.held == 0, known.ends);
    let current = control.run.current;
    // Whoever finds the end closed knows of all who closed a number of it.
    for (half, other) in [(DATA, ROOM), (ROOM, DATA)] {
        if let Some(at) = ends.sources[half].filter(|&at| table(control).queue(at).is_some()) {
            let told = table(control).object(at, other);
            control.run.races.release(current, told);
        }
    }
    if !last {
        return;
    }
    for half in [DATA, ROOM] {
        let Some(at) = ends.sources[half] else { continue };
        let Some(queue) = table(control).queue(at) else { continue };
        let unread = half == DATA && !queue.is_empty();
        match (ends.socket, queue.shape) {
            (false, _) => queue.ends[half] = 0,
            // Who waits for messages is not told that none will come.
            (true, Shape::Messages(_, false)) if half == ROOM => {}
            (true, Shape::Messages(_, false)) => queue.ends[DATA] = 0,
            (true, _) => queue.ends = [0, 0],
        }
        let tells = ends.socket && !matches!(queue.shape, Shape::Messages(_, false));
        if unread
            && tells
            && let Some(back) = ends.sources[ROOM].and_then(|at| table(control).queue(at))
        {
            back.reset = true;
        }
    }
    table(control).leaves_epolls(description);
    for at in table(control).sources_of(description) {
        table(control).notify(at, 0);
    }
}

/// Whether calls that others wait in hold what the number stands for: those that wait for something that is there could as well have come before.
fn holds(control: &mut Control, number: c_int, description: usize) -> Option<&'static str> {
    let current = control.run.current;
    let waiting: Vec<usize> = (0..control.run.created).filter(|&thread| thread != current).collect();
    for thread in waiting {
        let Some(call) = table(control).calls.get(&thread).cloned() else { continue };
        match call.awaits {
            Awaits::Any(set) if set.iter().any(|&(other, _)| other == number) => {
                return Some("close");
            }
            Awaits::Level(object, enough)
                if (call.number, call.description) == (number, description)
                    && !call.inside
                    && table(control).level(object) < enough =>
            {
                let chosen = control.pick(2);
                control.run.trace.pick(Pick { chosen, options: 2 });
                if chosen == 0 {
                    table(control).description(description).held += 1;
                    if let Some(call) = table(control).calls.get_mut(&thread) {
                        call.inside = true;
                    }
                }
            }
            _ => {}
        }
    }
    None
}

/// A number stands for nothing any more, in the step that is under way, which has noted what it touches.
fn close_number(control: &mut Control, number: c_int, description: usize) {
    table(control).forget(number);
    release(control, description);
}

unsafe extern "C" fn close_at(number: c_int) -> c_int {
    if !is_ours(number) {
        // SAFETY: the caller's request.
        return unsafe { real::close()(number) };
    }
    close_own(number, site::pc())
}

/// Closes a number that is or was ours.
pub fn close_own(number: c_int, pc: u64) -> c_int {
    let first = Access::new(table::numbers(), 1, Kind::Write);
    let change = Change { number, pc };
    let Some(description) = change.arrives(first) else {
        with(|control| {
            change.touches(control, Some(first), &[]);
            change.ends(control, Some(number as u64));
        });
        return answer(kernel(libc::SYS_close, [number as usize, 0, 0, 0, 0, 0])) as c_int;
    };
    if let Some(name) = with(|control| closes(control, &change, first, description)) {
        refuse(name, pc);
    }
    with(|control| {
        close_number(control, number, description);
        change.ends(control, Some(number as u64));
    });
    answer(kernel(libc::SYS_close, [number as usize, 0, 0, 0, 0, 0])) as c_int
}

/// Notes what it touches that a number is closed; a name where that is not followed.
fn closes(control: &mut Control, change: &Change, first: Access, description: usize) -> Option<&'static str> {
    let last = table(control).description(description).held == 1;
    let touched = if last { table(control).sources_of(description) } else { Vec::new() };
    change.touches(control, Some(first), &touched);
    control.run.trace.access(Access::new(table::slot(change.number), 1, Kind::Write));
    holds(control, change.number, description)
}

/// Has the kernel copy a number, and notes what the copy stands for.
fn duplicate(number: c_int, copy: impl FnOnce() -> Result<i64, c_int>, closed: Option<c_int>, pc: u64) -> i64 {
    let first = Access::new(table::numbers(), 1, Kind::Update);
    let change = Change { number, pc };
    let description = change.arrives(first);
    files::opened();
    let works = description.is_some() || is_open(number);
    if let Some(closed) = closed.filter(|&closed| closed != number && works) {
        let gone = with(|control| {
            let old = table(control).find(closed)?;
            let other = Change { number: closed, pc };
            Some((old, closes(control, &other, first, old)))
        });
        if let Some((old, name)) = gone {
            if let Some(name) = name {
                refuse(name, pc);
            }
            with(|control| close_number(control, closed, old));
        }
    }
    let made = copy();
    with(|control| {
        change.touches(control, Some(first), &[]);
        if let (Ok(new), Some(description)) = (&made, description) {
            let new = *new as c_int;
            if table(control).find(new) != Some(description) {
                table(control).name(new, description);
                control.run.trace.access(Access::new(table::slot(new), 1, Kind::Write));
            }
        }
        change.ends(control, made.as_ref().ok().map(|&new| new as u64));
    });
    answer(made)
}

unsafe extern "C" fn dup_at(number: c_int) -> c_int {
    if !is_ours(number) {
        files::opened();
        // SAFETY: the caller's request.
        return unsafe { real::dup()(number) };
    }
    duplicate(number, || kernel(libc::SYS_dup, [number as usize, 0, 0, 0, 0, 0]), None, site::pc()) as c_int
}

unsafe extern "C" fn dup2_at(number: c_int, new: c_int) -> c_int {
    dup_to(number, new, None, site::pc())
}

unsafe extern "C" fn dup3_at(number: c_int, new: c_int, flags: c_int) -> c_int {
    dup_to(number, new, Some(flags), site::pc())
}

/// `dup3`, or without flags `dup2`.
pub fn dup_to(number: c_int, new: c_int, flags: Option<c_int>, pc: u64) -> c_int {
    let [from, to] = [number as usize, new as usize];
    let copy = || match flags {
        Some(flags) => kernel(libc::SYS_dup3, [from, to, flags as usize, 0, 0, 0]),
        None => kernel(libc::SYS_dup2, [from, to, 0, 0, 0, 0]),
    };
    // What was open before is not put back.
    if is_ours(number) && is_open(new) && !is_ours(new) {
        refuse("dup2", pc);
    }
    if is_ours(number) || is_ours(new) {
        return duplicate(number, copy, Some(new), pc) as c_int;
    }
    files::opened();
    answer(copy()) as c_int
}

unsafe extern "C" fn fcntl_at(number: c_int, command: c_int, argument: usize) -> c_int {
    if !is_ours(number) {
        // SAFETY: the caller's request, with as much of it as there may be.
        return unsafe { real::fcntl()(number, command, argument) };
    }
    fcntl_own(number, command, argument, site::pc())
}

/// `fcntl` of a number that is or was ours.
pub fn fcntl_own(number: c_int, command: c_int, argument: usize, pc: u64) -> c_int {
    let asks = || kernel(libc::SYS_fcntl, [number as usize, command as usize, argument, 0, 0, 0]);
    match command {
        libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => duplicate(number, asks, None, pc) as c_int,
        libc::F_SETFL if argument as c_int & libc::O_ASYNC != 0 => refuse("fcntl", pc),
        libc::F_SETFL => {
            let nonblocking = argument as c_int & libc::O_NONBLOCK != 0;
            let set = |known: &mut Description| std::mem::replace(&mut known.nonblocking, nonblocking) != nonblocking;
            set_flags(number, set, asks, pc)
        }
        libc::F_SETPIPE_SZ => resize(number, asks, pc),
        libc::F_GETFL | libc::F_GETPIPE_SZ => {
            let flags = with(|control| {
                let description = table(control).find(number)?;
                Some(Access::new(table::flags(description, number), 1, Kind::Read))
            });
            finds_out(number, flags, pc);
            answer(asks()) as c_int
        }
        libc::F_GETFD | libc::F_SETFD => answer(asks()) as c_int,
        _ => refuse("fcntl", pc),
    }
}

/// Calls on a descriptor wait from now on, or not.
fn set_flags(
    number: c_int,
    set: impl FnOnce(&mut Description) -> bool,
    ask: impl FnOnce() -> Result<i64, c_int>,
    pc: u64,
) -> c_int {
    let flags = |control: &mut Control| {
        let description = table(control).find(number)?;
        Some(Access::new(table::flags(description, number), 1, Kind::Give))
    };
    let Some(first) = with(flags) else {
        finds_out(number, None, pc);
        return answer(ask()) as c_int;
    };
    let change = Change { number, pc };
    let description = change.arrives(first);
    let others_wait = with(|control| {
        change.touches(control, Some(first), &[]);
        let Some(description) = description else { return false };
        let changes = set(table(control).description(description));
        let current = control.run.current;
        changes
            && table(control).calls.iter().any(|(&thread, call)| thread != current && call.description == description)
    });
    if others_wait {
        refuse("fcntl", pc);
    }
    with(|control| change.ends(control, None));
    answer(ask()) as c_int
}

/// A pipe holds more or less from now on.
fn resize(number: c_int, ask: impl FnOnce() -> Result<i64, c_int>, pc: u64) -> c_int {
    let change = Change { number, pc };
    let first = with(|control| {
        let description = table(control).find(number)?;
        let at = *table(control).sources_of(description).first()?;
        let object = table(control).object(at, ROOM);
        Some(Access::new(object, 1, Kind::Update))
    });
    let Some(mut first) = first else {
        finds_out(number, None, pc);
        return answer(ask()) as c_int;
    };
    let description = change.arrives(first);
    let made = with(|control| {
        first.old = table(control).level(first.object);
        let sources = description.map_or(vec![], |at| table(control).sources_of(at));
        change.touches(control, Some(first), &sources);
        let queue = sources.first().and_then(|&at| table(control).queue(at));
        let made = ask();
        let told = match (queue, &made) {
            (Some(queue), Ok(size)) => {
                let pages = *size as usize / super::queue::PAGE;
                let fits = queue.parts() <= pages;
                if fits {
                    queue.shape = Shape::Pages(pages);
                }
                fits
            }
            _ => true,
        };
        sources.iter().for_each(|&at| table(control).notify(at, libc::EPOLLOUT));
        change.ends(control, None);
        if told { made } else { Err(libc::EBUSY) }
    });
    answer(made) as c_int
}

unsafe extern "C" fn ioctl_at(number: c_int, request: u64, argument: usize) -> c_int {
    if !is_ours(number) {
        // SAFETY: the caller's request, with as much of it as there may be.
        return unsafe { real::ioctl()(number, request, argument) };
    }
    ioctl_own(number, request, argument, site::pc())
}

/// `ioctl` of a number that is or was ours.
pub fn ioctl_own(number: c_int, request: u64, argument: usize, pc: u64) -> c_int {
    let asks = || kernel(libc::SYS_ioctl, [number as usize, request as usize, argument, 0, 0, 0]);
    match request {
        libc::FIONBIO => {
            announce(argument as *const _, size_of::<c_int>(), false);
            // SAFETY: the caller passes a number.
            let on = unsafe { *(argument as *const c_int) } != 0;
            let set = |known: &mut Description| std::mem::replace(&mut known.nonblocking, on) != on;
            set_flags(number, set, asks, pc)
        }
        libc::FIONREAD => {
            announce(argument as *const _, size_of::<c_int>(), true);
            let object = with(|control| {
                let description = table(control).find(number)?;
                let at = table(control).ends(description).sources[DATA]?;
                Some(table(control).object(at, DATA))
            });
            let Some(object) = object else {
                finds_out(number, None, pc);
                return answer(asks()) as c_int;
            };
            finds_out(number, Some(Access::new(object, 1, Kind::Read)), pc);
            let waiting = with(|control| waiting(control, number));
            // SAFETY: the caller gives room for a number.
            unsafe { (argument as *mut c_int).write(waiting as c_int) };
            0
        }
        libc::FIOCLEX | libc::FIONCLEX | libc::TCGETS => answer(asks()) as c_int,
        _ => refuse("ioctl", pc),
    }
}

/// How many bytes are there; the current thread learns who wrote them.
fn waiting(control: &mut Control, number: c_int) -> usize {
    let Some(description) = table(control).find(number) else { return 0 };
    let Some(at) = table(control).ends(description).sources[DATA] else { return 0 };
    let Some(queue) = table(control).queue(at) else { return 0 };
    let (count, writes) = (queue.waiting(), queue.writes(queue.waiting()));
    super::step::learns(control, &writes, true);
    count
}

unsafe extern "C" fn shutdown_at(number: c_int, how: c_int) -> c_int {
    if !is_ours(number) {
        // SAFETY: the caller's request.
        return unsafe { real::shutdown()(number, how) };
    }
    shut_down(number, how, site::pc())
}

/// `shutdown` of a number that is or was ours.
pub fn shut_down(number: c_int, how: c_int, pc: u64) -> c_int {
    let halves: &[usize] = match how {
        libc::SHUT_RD => &[DATA],
        libc::SHUT_WR => &[ROOM],
        libc::SHUT_RDWR => &[DATA, ROOM],
        _ => return answer(Err(libc::EINVAL)) as c_int,
    };
    let ends = with(|control| table(control).find(number).map(|at| table(control).ends(at)));
    let Some(ends) = ends.filter(|ends| ends.socket) else {
        finds_out(number, None, pc);
        return answer(Err(if ends.is_some() { libc::ENOTSOCK } else { libc::EBADF })) as c_int;
    };
    let sources: Vec<usize> = halves.iter().filter_map(|&half| ends.sources[half]).collect();
    let change = Change { number, pc };
    let object = with(|control| table(control).object(sources[0], halves[0]));
    let mut first = Access::new(object, 1, Kind::Update);
    change.arrives(first);
    with(|control| {
        first.old = table(control).level(object);
        change.touches(control, Some(first), &sources);
        let current = control.run.current;
        for &at in &sources {
            if let Some(queue) = table(control).queue(at) {
                queue.ends = [0, 0];
            }
            for half in [DATA, ROOM] {
                let told = table(control).object(at, half);
                control.run.races.release(current, told);
            }
            table(control).notify(at, 0);
        }
        change.ends(control, None);
    });
    0
}

unsafe extern "C" fn setsockopt_at(number: c_int, level: c_int, option: c_int, value: usize, length: u32) -> c_int {
    let arguments = [number as usize, level as usize, option as usize, value, length as usize, 0];
    if !is_ours(number) {
        // SAFETY: the caller's request.
        return unsafe { real::setsockopt()(number, level, option, value as *mut _, length) };
    }
    let pc = site::pc();
    announce(value as *const _, length as usize, false);
    let asks = || kernel(libc::SYS_setsockopt, arguments);
    let half = match (level, option) {
        (libc::SOL_SOCKET, libc::SO_RCVTIMEO) => DATA,
        (libc::SOL_SOCKET, libc::SO_SNDTIMEO) => ROOM,
        (libc::SOL_SOCKET, libc::SO_SNDBUF) => {
            let made = asks();
            if made.is_ok() {
                resize_socket(number, pc);
            }
            return answer(made) as c_int;
        }
        (libc::SOL_SOCKET, libc::SO_RCVBUF | libc::SO_REUSEADDR | libc::SO_KEEPALIVE | libc::SO_LINGER) => {
            return answer(asks()) as c_int;
        }
        _ => refuse("setsockopt", pc),
    };
    if (length as usize) < size_of::<libc::timeval>() {
        return answer(asks()) as c_int;
    }
    // SAFETY: the caller passes a time.
    let limit = unsafe { (value as *const libc::timeval).read_unaligned() };
    let gives_up = (limit.tv_sec, limit.tv_usec) != (0, 0);
    let set = |known: &mut Description| std::mem::replace(&mut known.gives_up[half], gives_up) != gives_up;
    set_flags(number, set, asks, pc)
}

/// A socket may have more or less on its way from now on.
fn resize_socket(number: c_int, pc: u64) {
    let change = Change { number, pc };
    let at = with(|control| {
        let description = table(control).find(number)?;
        table(control).ends(description).sources[ROOM]
    });
    let Some(at) = at else { return finds_out(number, None, pc) };
    let mut first = Access::new(with(|control| table(control).object(at, ROOM)), 1, Kind::Update);
    change.arrives(first);
    with(|control| {
        first.old = table(control).level(first.object);
        change.touches(control, Some(first), &[at]);
        let room = open::room(number);
        if let Source::Socket(queue) = table(control).source(at) {
            queue.shape = match queue.shape {
                Shape::Messages(_, tells) => Shape::Messages(room, tells),
                _ => Shape::Stream(room),
            };
        }
        table(control).notify(at, libc::EPOLLOUT);
        change.ends(control, None);
    });
}
