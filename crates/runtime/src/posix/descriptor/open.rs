//! Calls that open descriptors.
//!
//! Each is a step that touches the table of numbers, so who gets which number depends on an order that is searched. The kernel makes a descriptor of the same kind, of which only the number is used.

use std::ffi::c_int;

use selvedge_explore::{Access, Kind};
use selvedge_protocol::{Cause, Out, Outside};

use super::epoll::Epoll;
use super::queue::{PAGE, Queue, Shape};
use super::step::table;
use super::table::{self, DATA, Descriptors, Ends, ROOM, Source, Timer};
use super::{answer, kernel};
use crate::abi::plain::announce;
use crate::arch::site;
use crate::control::{active, with};
use crate::fiber::{Wants, fail};
use crate::memory::files;
use crate::point;
use crate::posix::real;

crate::entries! {
    pipe => pipe_at;
    pipe2 => pipe2_at;
    socketpair => socketpair_at;
    eventfd => eventfd_at;
    timerfd_create => timerfd_create_at;
    epoll_create => epoll_create_at;
    epoll_create1 => epoll_create1_at;
}

/// What numbers are to stand for.
type Opened = Vec<(c_int, Ends)>;

/// Makes the step of a call that opens descriptors: `make` has the kernel make them, `known` says what they stand for.
fn opens(
    make: impl FnOnce() -> Result<Vec<c_int>, c_int>,
    known: impl FnOnce(&mut Descriptors, &[c_int]) -> Opened,
    nonblocking: bool,
    pc: u64,
) -> Result<Vec<c_int>, c_int> {
    let first = Access::new(table::numbers(), 1, Kind::Update);
    point::arrive(first, Wants::Nothing, pc);
    files::opened();
    let made = make();
    with(|control| {
        control.run.trace.access(first);
        let numbers = made.as_deref().unwrap_or(&[]);
        if !numbers.is_empty() {
            for (number, ends) in known(table(control), numbers) {
                table(control).open(number, ends, nonblocking);
                control.run.trace.access(Access::new(table::slot(number), 1, Kind::Write));
            }
        }
        control.fiber().effect();
        point::finish(control, None, false, numbers.first().map(|&number| number as u64));
    });
    made
}

/// Has the kernel make one descriptor.
fn one(number: i64, arguments: [usize; 6]) -> Result<Vec<c_int>, c_int> {
    kernel(number, arguments).map(|made| vec![made as c_int])
}

/// Has the kernel make two.
fn two(number: i64, arguments: impl FnOnce(usize) -> [usize; 6]) -> Result<Vec<c_int>, c_int> {
    let mut ends = [0; 2];
    kernel(number, arguments(ends.as_mut_ptr() as usize))?;
    Ok(ends.to_vec())
}

/// # Safety
/// The caller gives room for two numbers.
unsafe fn hand_out(made: Result<Vec<c_int>, c_int>, to: *mut c_int) -> c_int {
    let told = made.map(|numbers| {
        announce(to.cast(), 2 * size_of::<c_int>(), true);
        // SAFETY: the caller gives room for two.
        unsafe { to.copy_from_nonoverlapping(numbers.as_ptr(), 2) };
        0
    });
    answer(told) as c_int
}

/// How many pages a pipe has.
pub fn pages(number: c_int) -> usize {
    let size = kernel(libc::SYS_fcntl, [number as usize, libc::F_GETPIPE_SZ as usize, 0, 0, 0, 0]);
    size.map_or(16, |size| size as usize / PAGE)
}

/// How much a socket may have on its way.
pub fn room(number: c_int) -> usize {
    let (mut size, mut length) = (0 as c_int, size_of::<c_int>() as u32);
    let (level, option) = (libc::SOL_SOCKET as usize, libc::SO_SNDBUF as usize);
    let arguments = [number as usize, level, option, &raw mut size as usize, &raw mut length as usize, 0];
    kernel(libc::SYS_getsockopt, arguments).map_or(212_992, |_| size as usize)
}

unsafe extern "C" fn pipe_at(ends: *mut c_int) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pipe()(ends) };
    }
    // SAFETY: the caller's request.
    unsafe { new_pipe(ends, 0, site::pc()) }
}

unsafe extern "C" fn pipe2_at(ends: *mut c_int, flags: c_int) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pipe2()(ends, flags) };
    }
    // SAFETY: the caller's request.
    unsafe { new_pipe(ends, flags, site::pc()) }
}

/// # Safety
/// The caller gives room for two numbers.
pub unsafe fn new_pipe(ends: *mut c_int, flags: c_int, pc: u64) -> c_int {
    if flags & libc::O_DIRECT != 0 {
        super::step::refuse("pipe2", pc);
    }
    let known = |table: &mut Descriptors, numbers: &[c_int]| {
        let queue = Source::Pipe(Queue::new(Shape::Pages(pages(numbers[0]))));
        let source = table.add_source(queue, [numbers[0], numbers[1]]);
        let reads = Ends { sources: [Some(source), None], socket: false };
        let writes = Ends { sources: [None, Some(source)], socket: false };
        vec![(numbers[0], reads), (numbers[1], writes)]
    };
    let make = || two(libc::SYS_pipe2, |ends| [ends, flags as usize, 0, 0, 0, 0]);
    // SAFETY: the caller gives room for two numbers.
    unsafe { hand_out(opens(make, known, flags & libc::O_NONBLOCK != 0, pc), ends) }
}

unsafe extern "C" fn socketpair_at(domain: c_int, kind: c_int, protocol: c_int, ends: *mut c_int) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::socketpair()(domain, kind, protocol, ends) };
    }
    // SAFETY: the caller's request.
    unsafe { new_pair(domain, kind, protocol, ends, site::pc()) }
}

/// # Safety
/// The caller gives room for two numbers.
pub unsafe fn new_pair(domain: c_int, kind: c_int, protocol: c_int, ends: *mut c_int, pc: u64) -> c_int {
    if domain != libc::AF_UNIX {
        fail(Cause::Out(Out::Call { name: "socketpair".into(), why: Outside::HandsOver }), pc);
    }
    let shape = |room: usize| match kind & 0xf {
        libc::SOCK_STREAM => Shape::Stream(room),
        kind => Shape::Messages(room, kind == libc::SOCK_SEQPACKET),
    };
    let known = |table: &mut Descriptors, numbers: &[c_int]| {
        let [a, b] = [numbers[0], numbers[1]];
        let to_b = table.add_source(Source::Socket(Queue::new(shape(room(a)))), [b, a]);
        let to_a = table.add_source(Source::Socket(Queue::new(shape(room(b)))), [a, b]);
        let ends = |data, room| Ends { sources: [Some(data), Some(room)], socket: true };
        vec![(a, ends(to_a, to_b)), (b, ends(to_b, to_a))]
    };
    let arguments = [domain as usize, kind as usize, protocol as usize];
    let make = || two(libc::SYS_socketpair, |ends| [arguments[0], arguments[1], arguments[2], ends, 0, 0]);
    // SAFETY: the caller gives room for two numbers.
    unsafe { hand_out(opens(make, known, kind & libc::SOCK_NONBLOCK != 0, pc), ends) }
}

/// Opens something that is read and written by one number.
fn single(number: i64, arguments: [usize; 6], source: Source, ends: [bool; 2], nonblocking: bool, pc: u64) -> c_int {
    let known = |table: &mut Descriptors, numbers: &[c_int]| {
        let at = table.add_source(source, [numbers[0], numbers[0]]);
        let sources = [DATA, ROOM].map(|half| ends[half].then_some(at));
        vec![(numbers[0], Ends { sources, socket: false })]
    };
    let made = opens(|| one(number, arguments), known, nonblocking, pc);
    answer(made.map(|numbers| numbers[0] as i64)) as c_int
}

unsafe extern "C" fn eventfd_at(count: u32, flags: c_int) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::eventfd()(count, flags) };
    }
    new_count(count, flags, site::pc())
}

pub fn new_count(count: u32, flags: c_int, pc: u64) -> c_int {
    let source = Source::Event(u64::from(count), flags & libc::EFD_SEMAPHORE != 0);
    let arguments = [count as usize, flags as usize, 0, 0, 0, 0];
    single(libc::SYS_eventfd2, arguments, source, [true, true], flags & libc::EFD_NONBLOCK != 0, pc)
}

unsafe extern "C" fn timerfd_create_at(clock: c_int, flags: c_int) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::timerfd_create()(clock, flags) };
    }
    new_timer(clock, flags, site::pc())
}

pub fn new_timer(clock: c_int, flags: c_int, pc: u64) -> c_int {
    let source = Source::Timer(Timer::default());
    let arguments = [clock as usize, flags as usize, 0, 0, 0, 0];
    let nonblocking = flags & libc::TFD_NONBLOCK != 0;
    single(libc::SYS_timerfd_create, arguments, source, [true, false], nonblocking, pc)
}

unsafe extern "C" fn epoll_create_at(size: c_int) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::epoll_create()(size) };
    }
    if size <= 0 {
        return answer(Err(libc::EINVAL)) as c_int;
    }
    new_epoll(0, site::pc())
}

unsafe extern "C" fn epoll_create1_at(flags: c_int) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::epoll_create1()(flags) };
    }
    new_epoll(flags, site::pc())
}

pub fn new_epoll(flags: c_int, pc: u64) -> c_int {
    let source = Source::Epoll(Epoll::default());
    single(libc::SYS_epoll_create1, [flags as usize, 0, 0, 0, 0, 0], source, [true, false], false, pc)
}
