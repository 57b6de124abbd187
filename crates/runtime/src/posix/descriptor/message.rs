//! `sendto`, `recvfrom`, `sendmsg` and `recvmsg` between the two sockets of a pair. What messages carry besides bytes is not followed.

use std::ffi::{c_int, c_void};

use super::step::refuse;
use super::transfer::{self, Manner, part};
use super::{answer, is_ours};
use crate::abi::plain::announce;
use crate::arch::site;
use crate::posix::{real, uncontrolled};

crate::entries! {
    sendto => sendto_at;
    recvfrom => recvfrom_at;
    __recvfrom_chk => recvfrom_checked_at;
    sendmsg => sendmsg_at;
    recvmsg => recvmsg_at;
}

unsafe extern "C" fn sendto_at(
    number: c_int,
    from: *const c_void,
    size: usize,
    flags: c_int,
    to: *const libc::sockaddr,
    length: u32,
) -> isize {
    if is_ours(number) {
        if !to.is_null() && length > 0 {
            refuse("sendto", site::pc());
        }
        return transfer::send_part(number, part(from, size), flags, "sendto", site::pc());
    }
    uncontrolled::checks("sendto", number, site::pc());
    // SAFETY: the caller's request.
    unsafe { real::sendto()(number, from, size, flags, to, length) }
}

unsafe extern "C" fn recvfrom_at(
    number: c_int,
    to: *mut c_void,
    size: usize,
    flags: c_int,
    from: *mut libc::sockaddr,
    length: *mut u32,
) -> isize {
    if is_ours(number) {
        let told = transfer::receive_part(number, part(to, size), flags, "recvfrom", site::pc());
        if told >= 0 && !from.is_null() && !length.is_null() {
            announce(length.cast(), size_of::<u32>(), true);
            // SAFETY: the caller gives room for it. Who has no name is told so.
            unsafe { length.write(0) };
        }
        return told;
    }
    uncontrolled::checks("recvfrom", number, site::pc());
    // SAFETY: the caller's request.
    unsafe { real::recvfrom()(number, to, size, flags, from, length) }
}

unsafe extern "C" fn recvfrom_checked_at(
    number: c_int,
    to: *mut c_void,
    size: usize,
    room: usize,
    flags: c_int,
    from: *mut libc::sockaddr,
) -> isize {
    if is_ours(number) {
        // Where an address is asked for, where its length goes is in memory that is not looked at here.
        if size > room || !from.is_null() {
            refuse("__recvfrom_chk", site::pc());
        }
        return transfer::receive_part(number, part(to, size), flags, "recvfrom", site::pc());
    }
    uncontrolled::checks("recvfrom", number, site::pc());
    if !from.is_null() {
        refuse("__recvfrom_chk", site::pc());
    }
    // SAFETY: the caller's request.
    unsafe { real::recvfrom()(number, to, size, flags, from, std::ptr::null_mut()) }
}

unsafe extern "C" fn sendmsg_at(number: c_int, message: *const libc::msghdr, flags: c_int) -> isize {
    if !is_ours(number) {
        uncontrolled::checks("sendmsg", number, site::pc());
        // SAFETY: the caller's request.
        return unsafe { real::sendmsg()(number, message, flags) };
    }
    // SAFETY: the caller's request.
    unsafe { send_message(number, message, flags, site::pc()) }
}

/// # Safety
/// A message.
pub unsafe fn send_message(number: c_int, message: *const libc::msghdr, flags: c_int, pc: u64) -> isize {
    announce(message.cast(), size_of::<libc::msghdr>(), false);
    // SAFETY: the caller's message.
    let message = unsafe { &*message };
    transfer::knows(flags, "sendmsg", pc);
    if message.msg_controllen > 0 || message.msg_namelen > 0 {
        refuse("sendmsg", pc);
    }
    if !transfer::is_socket(number) {
        return answer(Err(libc::ENOTSOCK)) as isize;
    }
    // SAFETY: the caller's parts.
    let parts = unsafe { transfer::parts_of(message.msg_iov, message.msg_iovlen as c_int) };
    let manner = Manner { number, flags, pc, name: "sendmsg" };
    let sent = parts.ok_or(libc::EMSGSIZE).and_then(|parts| transfer::transmit(manner, parts));
    answer(sent.map(|count| count as i64)) as isize
}

unsafe extern "C" fn recvmsg_at(number: c_int, message: *mut libc::msghdr, flags: c_int) -> isize {
    if !is_ours(number) {
        uncontrolled::checks("recvmsg", number, site::pc());
        // SAFETY: the caller's request.
        return unsafe { real::recvmsg()(number, message, flags) };
    }
    // SAFETY: the caller's request.
    unsafe { receive_message(number, message, flags, site::pc()) }
}

/// # Safety
/// A message.
pub unsafe fn receive_message(number: c_int, message: *mut libc::msghdr, flags: c_int, pc: u64) -> isize {
    announce(message.cast(), size_of::<libc::msghdr>(), true);
    transfer::knows(flags, "recvmsg", pc);
    if !transfer::is_socket(number) {
        return answer(Err(libc::ENOTSOCK)) as isize;
    }
    // SAFETY: the caller's message, and its parts.
    let (message, parts) = unsafe {
        let message = &mut *message;
        let parts = transfer::parts_of(message.msg_iov, message.msg_iovlen as c_int);
        (message, parts)
    };
    let manner = Manner { number, flags, pc, name: "recvmsg" };
    let told = parts.ok_or(libc::EMSGSIZE).and_then(|parts| {
        let received = transfer::receive(manner, parts)?;
        let cut = received.length > received.count && received.of_message;
        message.msg_flags = if cut { libc::MSG_TRUNC } else { 0 };
        (message.msg_controllen, message.msg_namelen) = (0, 0);
        Ok(received)
    });
    transfer::received(told, flags)
}
