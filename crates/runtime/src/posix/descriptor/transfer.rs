//! Reads and writes of pipes and sockets, and the calls that read and write any descriptor.

use std::ffi::{c_int, c_void};

use super::step::{Aim, Enough, Patience, Turn, broken_pipe, finds_out, learns, table};
use super::table::{self, DATA, Descriptors, ROOM, Source};
use super::{answer, count, is_ours};
use crate::abi::plain::announce;
use crate::arch::site;
use crate::control::{Control, with};
use crate::posix::{real, uncontrolled};

crate::entries! {
    read => read_at;
    write => write_at;
    readv => readv_at;
    writev => writev_at;
    send => send_at;
    recv => recv_at;
    __read_chk => read_checked_at;
    __recv_chk => recv_checked_at;
}

/// Memory that is read or written, in parts.
pub type Parts<'a> = &'a [libc::iovec];

/// How a transfer is made.
#[derive(Clone, Copy)]
pub struct Manner {
    pub number: c_int,
    /// As `send` and `recv` have them.
    pub flags: c_int,
    pub pc: u64,
    /// What the caller calls, for those who read reports.
    pub name: &'static str,
}

impl Manner {
    fn has(&self, flag: c_int) -> bool {
        self.flags & flag != 0
    }

    fn aim(&self, half: usize) -> Aim {
        let patience = if self.has(libc::MSG_DONTWAIT) { Patience::Tries } else { Patience::Waits };
        Aim { number: self.number, half, patience, pc: self.pc }
    }
}

/// One part.
pub fn part(base: *const c_void, length: usize) -> libc::iovec {
    libc::iovec { iov_base: base.cast_mut(), iov_len: length }
}

/// How many bytes there are in all.
pub fn total(parts: Parts) -> usize {
    parts.iter().fold(0usize, |sum, part| sum.saturating_add(part.iov_len))
}

/// The first so many bytes of the caller's memory, which it reads.
pub fn gather(parts: Parts, from: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(total(parts).saturating_sub(from));
    let mut skip = from;
    for part in parts {
        let past = skip.min(part.iov_len);
        skip -= past;
        // SAFETY: the caller passes so many bytes.
        bytes.extend_from_slice(unsafe {
            std::slice::from_raw_parts(part.iov_base.cast::<u8>().add(past), part.iov_len - past)
        });
    }
    bytes
}

/// The parts that so many bytes from a place on lie in are read or written by the code under test.
fn announce_parts(parts: Parts, from: usize, count: usize, write: bool) {
    let (mut skip, mut rest) = (from, count);
    for part in parts {
        let past = skip.min(part.iov_len);
        skip -= past;
        let used = rest.min(part.iov_len - past);
        rest -= used;
        announce(part.iov_base.cast::<u8>().wrapping_add(past).cast(), used, write);
    }
}

/// Writes bytes to the caller's memory, from a place on.
pub fn scatter(parts: Parts, from: usize, bytes: &[u8]) {
    announce_parts(parts, from, bytes.len(), true);
    let (mut skip, mut rest) = (from, bytes);
    for part in parts {
        let past = skip.min(part.iov_len);
        skip -= past;
        let (now, later) = rest.split_at(rest.len().min(part.iov_len - past));
        rest = later;
        // SAFETY: the caller gives room for so many bytes.
        unsafe { part.iov_base.cast::<u8>().add(past).copy_from_nonoverlapping(now.as_ptr(), now.len()) };
    }
}

/// What a number stands for.
enum Thing {
    Bytes { socket: bool },
    Count,
    Epoll,
}

/// What is read or written there; nothing where the number does not stand for that.
fn thing(number: c_int, half: usize) -> Option<Thing> {
    with(|control| {
        let description = table(control).find(number)?;
        let ends = table(control).ends(description);
        let socket = ends.socket;
        Some(match table(control).source(ends.sources[half]?) {
            Source::Pipe(_) | Source::Socket(_) => Thing::Bytes { socket },
            Source::Event(..) | Source::Timer(_) => Thing::Count,
            Source::Epoll(_) => Thing::Epoll,
        })
    })
}

/// What came of reading.
#[derive(Default)]
pub struct Received {
    pub count: usize,
    /// How long the message was.
    pub length: usize,
    /// Whether it was one.
    pub of_message: bool,
}

/// A read of a number that is or was ours.
pub fn receive(manner: Manner, parts: Parts) -> Result<Received, c_int> {
    let Manner { number, pc, .. } = manner;
    match thing(number, DATA) {
        None => {
            finds_out(number, None, pc);
            let writes = with(|control| table(control).find(number).map(|at| table(control).timer_of(at).is_some()));
            return Err(if writes == Some(true) { libc::EINVAL } else { libc::EBADF });
        }
        Some(Thing::Epoll) => return Err(libc::EINVAL),
        Some(Thing::Count) => {
            let told = count::read(manner.aim(DATA), total(parts))?;
            scatter(parts, 0, &told.to_ne_bytes());
            return Ok(Received { count: 8, length: 8, of_message: false });
        }
        Some(Thing::Bytes { socket: false }) if total(parts) == 0 => {
            finds_out(number, None, pc);
            return Ok(Received::default());
        }
        Some(Thing::Bytes { .. }) => {}
    }
    let mut received = receive_once(manner, parts, 0)?;
    while manner.has(libc::MSG_WAITALL) && received.count > 0 && received.count < total(parts) {
        match receive_once(manner, parts, received.count) {
            Ok(more) if more.count > 0 => received.count += more.count,
            _ => break,
        }
    }
    Ok(received)
}

fn receive_once(manner: Manner, parts: Parts, from: usize) -> Result<Received, c_int> {
    let enough: Enough = &|_, _| Ok(1);
    let mut turn = super::step::begin(manner.aim(DATA), enough)?;
    let keep = manner.has(libc::MSG_PEEK);
    let taken = with(|control| {
        if !turn.is_open(control) {
            return Err(libc::EAGAIN);
        }
        turn.touches(control, &[turn.source]);
        let object = table(control).object(turn.source, DATA);
        let Some(queue) = table(control).queue(turn.source) else { return Err(libc::EBADF) };
        let was_full = !queue.is_writable();
        let ended = queue.is_empty();
        let reset = ended && std::mem::take(&mut queue.reset);
        let taken = queue.take(total(parts) - from, keep);
        if ended {
            let current = control.run.current;
            control.run.races.acquire(current, object);
        }
        learns(control, &taken.writes, keep);
        let socket = matches!(table(control).source(turn.source), Source::Socket(_));
        if !ended && !keep && (was_full || socket) {
            table(control).notify(turn.source, libc::EPOLLOUT | libc::EPOLLWRNORM);
        }
        Ok((taken, reset))
    });
    let (taken, reset) = match taken {
        Ok(taken) => taken,
        Err(error) => {
            with(|control| turn.fails(control));
            return Err(error);
        }
    };
    let count = taken.bytes.len();
    // An access that is wrong ends the run in this step.
    scatter(parts, from, &taken.bytes);
    with(|control| turn.ends(control, Some(count as u64)));
    if reset {
        Err(libc::ECONNRESET)
    } else {
        Ok(Received {
            count,
            length: if taken.of_message { taken.length } else { count },
            of_message: taken.of_message,
        })
    }
}

/// A write to a number that is or was ours.
pub fn transmit(manner: Manner, parts: Parts) -> Result<usize, c_int> {
    let Manner { number, pc, name, .. } = manner;
    let size = total(parts);
    let socket = match thing(number, ROOM) {
        None => {
            finds_out(number, None, pc);
            let timer = with(|control| table(control).find(number).map(|at| table(control).timer_of(at).is_some()));
            return Err(if timer == Some(true) { libc::EINVAL } else { libc::EBADF });
        }
        Some(Thing::Epoll) => return Err(libc::EINVAL),
        Some(Thing::Count) => {
            if size < 8 {
                return Err(libc::EINVAL);
            }
            announce_parts(parts, 0, 8, false);
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&gather(parts, 0)[..8]);
            return count::write(manner.aim(ROOM), u64::from_ne_bytes(bytes)).map(|()| 8);
        }
        Some(Thing::Bytes { socket }) => socket,
    };
    let messages = with(|control| {
        let at = table(control).find(number).and_then(|at| table(control).ends(at).sources[ROOM]);
        at.and_then(|at| table(control).queue(at)).is_some_and(|queue| queue.has_messages())
    });
    if size == 0 && !messages {
        finds_out(number, None, pc);
        return Ok(0);
    }
    let mut written = 0;
    loop {
        match transmit_once(manner, parts, written) {
            Ok(more) => written += more,
            // A part that was written is told of; what kept the rest from it is found out by the next call.
            Err(libc::EPIPE) if written > 0 => {
                broken_pipe(name, socket, pc);
                return Ok(written);
            }
            Err(_) if written > 0 => return Ok(written),
            Err(libc::EPIPE) => {
                let silent = socket && manner.has(libc::MSG_NOSIGNAL);
                return Err(broken_pipe(name, silent, pc));
            }
            Err(error) => return Err(error),
        }
        if written >= size {
            return Ok(written);
        }
    }
}

fn transmit_once(manner: Manner, parts: Parts, from: usize) -> Result<usize, c_int> {
    let rest = total(parts) - from;
    let enough = |table: &Descriptors, at: usize| {
        table.queue_at(at).and_then(|queue| queue.needs(rest, from > 0)).ok_or(libc::EMSGSIZE)
    };
    let mut turn = super::step::begin(manner.aim(ROOM), &enough)?;
    if !with(|control| turn.is_open(control)) {
        with(|control| turn.fails(control));
        return Err(libc::EAGAIN);
    }
    with(|control| turn.touches(control, &[turn.source]));
    announce_parts(parts, from, rest, false);
    let bytes = gather(parts, from);
    with(|control| {
        let put = put(control, &turn, &bytes, from > 0);
        turn.ends(control, put.as_ref().ok().map(|&count| count as u64));
        put
    })
}

/// Puts there what fits, in the step that is under way.
fn put(control: &mut Control, turn: &Turn, bytes: &[u8], goes_on: bool) -> Result<usize, c_int> {
    let current = control.run.current;
    let number = table(control).next_write();
    let object = table(control).object(turn.source, ROOM);
    let Some(queue) = table(control).queue(turn.source) else { return Err(libc::EBADF) };
    if queue.is_broken() {
        let refused = matches!(queue.shape, super::queue::Shape::Messages(_, false)) && !queue.has_ended();
        control.run.races.acquire(current, object);
        return Err(if refused { libc::ECONNREFUSED } else { libc::EPIPE });
    }
    let put = queue.put(bytes, number, goes_on);
    control.run.races.release(current, table::write(number));
    table(control).notify(turn.source, libc::EPOLLIN | libc::EPOLLRDNORM);
    Ok(put)
}

/// What the entry points have in common.
fn manner(number: c_int, flags: c_int, name: &'static str) -> Manner {
    Manner { number, flags, pc: site::pc(), name }
}

/// Flags of `send` and `recv` that are followed.
pub fn knows(flags: c_int, name: &'static str, pc: u64) {
    const KNOWN: c_int = libc::MSG_DONTWAIT
        | libc::MSG_NOSIGNAL
        | libc::MSG_PEEK
        | libc::MSG_WAITALL
        | libc::MSG_TRUNC
        | libc::MSG_EOR
        | libc::MSG_CMSG_CLOEXEC;
    if flags & !KNOWN != 0 {
        super::step::refuse(name, pc);
    }
}

/// Whether that is a socket; the call finds out otherwise.
pub fn is_socket(number: c_int) -> bool {
    with(|control| table(control).find(number).is_none_or(|at| table(control).ends(at).socket))
}

/// The answer of a read with `recv`'s flags.
pub fn received(told: Result<Received, c_int>, flags: c_int) -> isize {
    let whole = flags & libc::MSG_TRUNC != 0;
    answer(told.map(|told| if whole { told.length } else { told.count } as i64)) as isize
}

unsafe extern "C" fn read_at(number: c_int, to: *mut c_void, size: usize) -> isize {
    if is_ours(number) {
        return received(receive(manner(number, 0, "read"), &[part(to, size)]), 0);
    }
    uncontrolled::checks("read", number, site::pc());
    // SAFETY: the caller's request.
    unsafe { real::read()(number, to, size) }
}

unsafe extern "C" fn read_checked_at(number: c_int, to: *mut c_void, size: usize, room: usize) -> isize {
    if size > room {
        // SAFETY: the caller's request, at which libc ends the process.
        return unsafe { real::__read_chk()(number, to, size, room) };
    }
    // SAFETY: the caller's request.
    unsafe { read_at(number, to, size) }
}

unsafe extern "C" fn write_at(number: c_int, from: *const c_void, size: usize) -> isize {
    if is_ours(number) {
        return answer(transmit(manner(number, 0, "write"), &[part(from, size)]).map(|count| count as i64)) as isize;
    }
    uncontrolled::checks("write", number, site::pc());
    // SAFETY: the caller's request.
    unsafe { real::write()(number, from, size) }
}

/// # Safety
/// The caller passes so many parts.
pub unsafe fn parts_of<'a>(parts: *const libc::iovec, count: c_int) -> Option<Parts<'a>> {
    if !(0..=1024).contains(&count) {
        return None;
    }
    announce(parts.cast(), count as usize * size_of::<libc::iovec>(), false);
    if count == 0 {
        return Some(&[]);
    }
    // SAFETY: the caller says that there are so many.
    Some(unsafe { std::slice::from_raw_parts(parts, count as usize) })
}

unsafe extern "C" fn readv_at(number: c_int, parts: *const libc::iovec, count: c_int) -> isize {
    if is_ours(number) {
        // SAFETY: the caller passes so many parts.
        let parts = unsafe { parts_of(parts, count) };
        let told = parts.ok_or(libc::EINVAL).and_then(|parts| receive(manner(number, 0, "readv"), parts));
        return received(told, 0);
    }
    uncontrolled::checks("readv", number, site::pc());
    // SAFETY: the caller's request.
    unsafe { real::readv()(number, parts, count) }
}

unsafe extern "C" fn writev_at(number: c_int, parts: *const libc::iovec, count: c_int) -> isize {
    if is_ours(number) {
        // SAFETY: the caller passes so many parts.
        let parts = unsafe { parts_of(parts, count) };
        let told = parts.ok_or(libc::EINVAL).and_then(|parts| transmit(manner(number, 0, "writev"), parts));
        return answer(told.map(|count| count as i64)) as isize;
    }
    uncontrolled::checks("writev", number, site::pc());
    // SAFETY: the caller's request.
    unsafe { real::writev()(number, parts, count) }
}

unsafe extern "C" fn send_at(number: c_int, from: *const c_void, size: usize, flags: c_int) -> isize {
    if is_ours(number) {
        return send_part(number, part(from, size), flags, "send", site::pc());
    }
    uncontrolled::checks("send", number, site::pc());
    // SAFETY: the caller's request.
    unsafe { real::send()(number, from, size, flags) }
}

/// `send` of a number that is or was ours.
pub fn send_part(number: c_int, part: libc::iovec, flags: c_int, name: &'static str, pc: u64) -> isize {
    knows(flags, name, pc);
    if !is_socket(number) {
        return answer(Err(libc::ENOTSOCK)) as isize;
    }
    answer(transmit(Manner { number, flags, pc, name }, &[part]).map(|count| count as i64)) as isize
}

unsafe extern "C" fn recv_at(number: c_int, to: *mut c_void, size: usize, flags: c_int) -> isize {
    if is_ours(number) {
        return receive_part(number, part(to, size), flags, "recv", site::pc());
    }
    uncontrolled::checks("recv", number, site::pc());
    // SAFETY: the caller's request.
    unsafe { real::recv()(number, to, size, flags) }
}

/// `recv` of a number that is or was ours.
pub fn receive_part(number: c_int, part: libc::iovec, flags: c_int, name: &'static str, pc: u64) -> isize {
    knows(flags, name, pc);
    if !is_socket(number) {
        return answer(Err(libc::ENOTSOCK)) as isize;
    }
    received(receive(Manner { number, flags, pc, name }, &[part]), flags)
}

unsafe extern "C" fn recv_checked_at(number: c_int, to: *mut c_void, size: usize, room: usize, flags: c_int) -> isize {
    if size > room {
        // SAFETY: the caller's request, at which libc ends the process.
        return unsafe { real::__recv_chk()(number, to, size, room, flags) };
    }
    // SAFETY: the caller's request.
    unsafe { recv_at(number, to, size, flags) }
}
