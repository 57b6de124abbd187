//! Functions of libc that read memory for the code under test: comparisons, lengths and searches, and two that write what they have read. Compilers call
//! them without announcing what they touch; the objects that are linked here call these functions instead.
//!
//! Invariant: what is announced is what has to be read for the answer, and no byte behind it.

use std::ffi::{c_char, c_int, c_void};

use crate::abi::plain::announce;
use crate::control::active;

type P = *const c_void;
type S = *const c_char;

/// How many bytes have to be compared: up to the first that differ, or of a string to its end.
unsafe fn compared(one: P, other: P, size: usize, string: bool) -> usize {
    let (one, other) = (one.cast::<u8>(), other.cast::<u8>());
    for at in 0..size {
        // SAFETY: the caller asked for them to be compared, and all before are equal and do not end the string.
        let (a, b) = unsafe { (*one.add(at), *other.add(at)) };
        if a != b || string && a == 0 {
            return at + 1;
        }
    }
    size
}

unsafe fn reads_both(one: P, other: P, size: usize, string: bool) {
    if active() {
        // SAFETY: as the caller promises.
        let size = unsafe { compared(one, other, size, string) };
        announce(one, size, false);
        announce(other, size, false);
    }
}

unsafe extern "C" fn compare(one: P, other: P, size: usize) -> c_int {
    // SAFETY: the caller's request.
    unsafe {
        reads_both(one, other, size, false);
        libc::memcmp(one, other, size)
    }
}

unsafe extern "C" fn compare_strings(one: S, other: S) -> c_int {
    // SAFETY: as above.
    unsafe {
        reads_both(one.cast(), other.cast(), usize::MAX, true);
        libc::strcmp(one, other)
    }
}

unsafe extern "C" fn compare_beginnings(one: S, other: S, size: usize) -> c_int {
    // SAFETY: as above.
    unsafe {
        reads_both(one.cast(), other.cast(), size, true);
        libc::strncmp(one, other, size)
    }
}

unsafe extern "C" fn length(string: S) -> usize {
    // SAFETY: as above.
    let length = unsafe { libc::strlen(string) };
    announce(string.cast(), length + 1, false);
    length
}

unsafe extern "C" fn find(bytes: P, byte: c_int, size: usize) -> *mut c_void {
    // SAFETY: as above.
    let found = unsafe { libc::memchr(bytes, byte, size) };
    announce(bytes, if found.is_null() { size } else { found as usize - bytes as usize + 1 }, false);
    found
}

unsafe extern "C" fn copy_beginning(to: *mut c_char, from: S, size: usize) -> *mut c_char {
    // SAFETY: as above.
    unsafe {
        announce(from.cast(), (libc::strnlen(from, size) + 1).min(size), false);
        announce(to as P, size, true);
        libc::strncpy(to, from, size)
    }
}

unsafe extern "C" fn append(to: *mut c_char, from: S) -> *mut c_char {
    // SAFETY: as above.
    unsafe {
        let (before, more) = (libc::strlen(to), libc::strlen(from) + 1);
        announce(from.cast(), more, false);
        announce(to as P, before, false);
        announce(to.add(before) as P, more, true);
        libc::strcat(to, from)
    }
}

crate::entries! {
    __wrap_memcmp => compare;
    __wrap_bcmp => compare;
    __wrap_strcmp => compare_strings;
    __wrap_strncmp => compare_beginnings;
    __wrap_strlen => length;
    __wrap_memchr => find;
    __wrap_strncpy => copy_beginning;
    __wrap_strcat => append;
}
