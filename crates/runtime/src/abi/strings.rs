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
        // SAFETY: the caller says that what is compared is there, up to where it differs or ends.
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
    // SAFETY: two strings of the caller.
    unsafe {
        reads_both(one.cast(), other.cast(), usize::MAX, true);
        libc::strcmp(one, other)
    }
}

unsafe extern "C" fn compare_beginnings(one: S, other: S, size: usize) -> c_int {
    // SAFETY: two strings of the caller, or so many bytes of each.
    unsafe {
        reads_both(one.cast(), other.cast(), size, true);
        libc::strncmp(one, other, size)
    }
}

unsafe extern "C" fn length(string: S) -> usize {
    // SAFETY: a string of the caller.
    let length = unsafe { libc::strlen(string) };
    announce(string.cast(), length + 1, false);
    length
}

unsafe extern "C" fn find(bytes: P, byte: c_int, size: usize) -> *mut c_void {
    // SAFETY: so many bytes of the caller's.
    let found = unsafe { libc::memchr(bytes, byte, size) };
    announce(bytes, if found.is_null() { size } else { found as usize - bytes as usize + 1 }, false);
    found
}

unsafe extern "C" fn copy_beginning(to: *mut c_char, from: S, size: usize) -> *mut c_char {
    // SAFETY: a string, or so many bytes of one, and room for so many.
    unsafe {
        announce(from.cast(), (libc::strnlen(from, size) + 1).min(size), false);
        announce(to as P, size, true);
        libc::strncpy(to, from, size)
    }
}

unsafe extern "C" fn append(to: *mut c_char, from: S) -> *mut c_char {
    // SAFETY: two strings, with room for both behind the first.
    unsafe {
        let (before, more) = (libc::strlen(to), libc::strlen(from) + 1);
        announce(from.cast(), more, false);
        announce(to as P, before, false);
        announce(to.add(before) as P, more, true);
        libc::strcat(to, from)
    }
}

/// What a search for a byte in a string reads: up to the byte, or to the end.
unsafe extern "C" fn find_first(string: S, byte: c_int) -> *mut c_char {
    // SAFETY: a string of the caller.
    let found = unsafe { libc::strchr(string, byte) };
    let before = match found.is_null() {
        // SAFETY: a string of the caller.
        true => unsafe { libc::strlen(string) },
        false => found as usize - string as usize,
    };
    announce(string.cast(), before + 1, false);
    found
}

unsafe extern "C" fn find_last(string: S, byte: c_int) -> *mut c_char {
    // SAFETY: a string of the caller.
    let (found, length) = unsafe { (libc::strrchr(string, byte), libc::strlen(string)) };
    announce(string.cast(), length + 1, false);
    found
}

unsafe extern "C" fn find_string(string: S, wanted: S) -> *mut c_char {
    // SAFETY: two strings of the caller.
    unsafe {
        let (found, size) = (libc::strstr(string, wanted), libc::strlen(wanted));
        announce(wanted.cast(), size + 1, false);
        let read = if found.is_null() { libc::strlen(string) + 1 } else { found as usize - string as usize + size };
        announce(string.cast(), read, false);
        found
    }
}

unsafe extern "C" fn length_up_to(string: S, size: usize) -> usize {
    // SAFETY: a string of the caller, or so many bytes of one.
    let length = unsafe { libc::strnlen(string, size) };
    announce(string.cast(), (length + 1).min(size), false);
    length
}

unsafe extern "C" fn compare_letters(one: S, other: S) -> c_int {
    // SAFETY: two strings of the caller. What differs only in case is read, too, so a little less is announced.
    unsafe {
        reads_both(one.cast(), other.cast(), usize::MAX, true);
        libc::strcasecmp(one, other)
    }
}

unsafe extern "C" fn duplicate(string: S) -> *mut c_char {
    // SAFETY: a string of the caller.
    unsafe {
        announce(string.cast(), libc::strlen(string) + 1, false);
        libc::strdup(string)
    }
}

unsafe extern "C" fn append_beginning(to: *mut c_char, from: S, size: usize) -> *mut c_char {
    // SAFETY: two strings, with room for both behind the first.
    unsafe {
        let (before, more) = (libc::strlen(to), libc::strnlen(from, size));
        announce(from.cast(), (more + 1).min(size), false);
        announce(to as P, before, false);
        announce(to.add(before) as P, more + 1, true);
        libc::strncat(to, from, size)
    }
}

/// Copies a string; where its end is.
unsafe extern "C" fn copy_to_end(to: *mut c_char, from: S) -> *mut c_char {
    // SAFETY: a string, and room for it.
    unsafe {
        let length = libc::strlen(from);
        announce(from.cast(), length + 1, false);
        announce(to as P, length + 1, true);
        libc::strcpy(to, from).add(length)
    }
}

/// Copies bytes; where their end is.
unsafe extern "C" fn copy_bytes_to_end(to: *mut c_void, from: P, size: usize) -> *mut c_void {
    announce(from, size, false);
    announce(to, size, true);
    // SAFETY: so many bytes, and room for as many.
    unsafe { libc::memcpy(to, from, size).add(size) }
}

unsafe extern "C" fn zero(bytes: *mut c_void, size: usize) {
    announce(bytes, size, true);
    // SAFETY: so many bytes that the caller may write.
    unsafe { libc::memset(bytes, 0, size) };
}

crate::entries! {
    __wrap_strchr => find_first;
    __wrap_strrchr => find_last;
    __wrap_strstr => find_string;
    __wrap_strnlen => length_up_to;
    __wrap_strcasecmp => compare_letters;
    __wrap_strdup => duplicate;
    __wrap_strncat => append_beginning;
    __wrap_stpcpy => copy_to_end;
    __wrap_mempcpy => copy_bytes_to_end;
    __wrap_bzero => zero;
    __wrap_memcmp => compare;
    __wrap_bcmp => compare;
    __wrap_strcmp => compare_strings;
    __wrap_strncmp => compare_beginnings;
    __wrap_strlen => length;
    __wrap_memchr => find;
    __wrap_strncpy => copy_beginning;
    __wrap_strcat => append;
}
