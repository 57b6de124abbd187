//! The same calls made with `syscall`, and calls that are not followed on descriptors of ours.

use std::ffi::{c_int, c_long};

use super::transfer::{self, Manner, part};
use super::{answer, count, epoll, is_ours, message, numbers, open, ready};
use crate::posix::time;

/// The system call, if it is about descriptors of ours or makes some.
///
/// # Safety
/// The caller's request.
pub unsafe fn system_call(number: c_long, arguments: [usize; 6], pc: u64) -> Option<c_long> {
    // SAFETY: the caller's request.
    unsafe {
        opens(number, arguments, pc).or_else(|| waits(number, arguments, pc)).or_else(|| uses(number, arguments, pc))
    }
}

/// # Safety
/// The caller's request.
unsafe fn opens(number: c_long, arguments: [usize; 6], pc: u64) -> Option<c_long> {
    let [first, second, third, fourth, ..] = arguments;
    // SAFETY: the caller gives room for two numbers where they are asked for.
    let made = unsafe {
        match number {
            libc::SYS_pipe => open::new_pipe(first as *mut c_int, 0, pc),
            libc::SYS_pipe2 => open::new_pipe(first as *mut c_int, second as c_int, pc),
            libc::SYS_socketpair => {
                open::new_pair(first as c_int, second as c_int, third as c_int, fourth as *mut c_int, pc)
            }
            libc::SYS_eventfd => open::new_count(first as u32, 0, pc),
            libc::SYS_eventfd2 => open::new_count(first as u32, second as c_int, pc),
            libc::SYS_timerfd_create => open::new_timer(first as c_int, second as c_int, pc),
            libc::SYS_epoll_create1 => open::new_epoll(first as c_int, pc),
            libc::SYS_epoll_create if first as c_int > 0 => open::new_epoll(0, pc),
            _ => return None,
        }
    };
    Some(c_long::from(made))
}

/// # Safety
/// The caller's request.
unsafe fn waits(number: c_long, arguments: [usize; 6], pc: u64) -> Option<c_long> {
    let [first, second, third, fourth, fifth, _] = arguments;
    let milliseconds = |limit: usize| u64::try_from(limit as c_int).ok().map(|limit| limit * 1_000_000);
    // SAFETY: the caller's request.
    let made = unsafe {
        match number {
            libc::SYS_poll => ready::wait_polled(first as *mut _, second, milliseconds(third), "poll", pc),
            libc::SYS_ppoll => {
                let limit = third as *const libc::timespec;
                let limit = (!limit.is_null()).then(|| time::nanoseconds(limit));
                ready::wait_polled(first as *mut _, second, limit, "ppoll", pc)
            }
            libc::SYS_pselect6 => {
                let limit = fifth as *const libc::timespec;
                let limit = (!limit.is_null()).then(|| time::nanoseconds(limit));
                let sets = [second, third, fourth].map(|set| set as *mut libc::fd_set);
                ready::wait_selected(first as c_int, sets, limit, "pselect", pc)
            }
            libc::SYS_epoll_wait | libc::SYS_epoll_pwait if is_ours(first as c_int) => {
                epoll::wait(first as c_int, second as *mut _, third as c_int, milliseconds(fourth), pc)
            }
            libc::SYS_epoll_ctl if is_ours(first as c_int) => {
                epoll::ctl(first as c_int, second as c_int, third as c_int, fourth as *mut _, pc)
            }
            _ => return None,
        }
    };
    Some(c_long::from(made))
}

/// # Safety
/// The caller's request.
unsafe fn uses(number: c_long, arguments: [usize; 6], pc: u64) -> Option<c_long> {
    let [first, second, third, fourth, ..] = arguments;
    let file = first as c_int;
    if !is_ours(file) {
        return None;
    }
    let manner = |name: &'static str| Manner { number: file, flags: 0, pc, name };
    // SAFETY: the caller's memory.
    let made = unsafe {
        match number {
            libc::SYS_read => {
                transfer::received(transfer::receive(manner("read"), &[part(second as *const _, third)]), 0) as c_long
            }
            libc::SYS_write => {
                let told = transfer::transmit(manner("write"), &[part(second as *const _, third)]);
                answer(told.map(|count| count as i64))
            }
            libc::SYS_readv => {
                let parts = transfer::parts_of(second as *const _, third as c_int)?;
                transfer::received(transfer::receive(manner("readv"), parts), 0) as c_long
            }
            libc::SYS_writev => {
                let parts = transfer::parts_of(second as *const _, third as c_int)?;
                answer(transfer::transmit(manner("writev"), parts).map(|count| count as i64))
            }
            libc::SYS_sendmsg => message::send_message(file, second as *const _, third as c_int, pc) as c_long,
            libc::SYS_recvmsg => message::receive_message(file, second as *mut _, third as c_int, pc) as c_long,
            libc::SYS_close => c_long::from(numbers::close_own(file, pc)),
            libc::SYS_dup => c_long::from(numbers::fcntl_own(file, libc::F_DUPFD, 0, pc)),
            libc::SYS_dup2 => c_long::from(numbers::dup_to(file, second as c_int, None, pc)),
            libc::SYS_dup3 => c_long::from(numbers::dup_to(file, second as c_int, Some(third as c_int), pc)),
            libc::SYS_fcntl => c_long::from(numbers::fcntl_own(file, second as c_int, third, pc)),
            libc::SYS_ioctl => c_long::from(numbers::ioctl_own(file, second as u64, third, pc)),
            libc::SYS_shutdown => c_long::from(numbers::shut_down(file, second as c_int, pc)),
            libc::SYS_timerfd_settime => {
                c_long::from(count::settime(file, second as c_int, third as *const _, fourth as *mut _, pc))
            }
            _ => return None,
        }
    };
    Some(made)
}
