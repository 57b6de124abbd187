//! More functions of libc that read or write strings for the code under test: those that convert, print, cut and search. As [`crate::abi::strings`].

use std::ffi::{c_char, c_double, c_float, c_int, c_long, c_ulong, c_void};

use crate::abi::plain::announce;

type P = *const c_void;
type S = *const c_char;
type W = *const u32;

unsafe extern "C" {
    fn memrchr(bytes: P, byte: c_int, size: usize) -> *mut c_void;
    fn strsep(string: *mut *mut c_char, ends: S) -> *mut c_char;
    fn stpncpy(to: *mut c_char, from: S, size: usize) -> *mut c_char;
    fn memccpy(to: *mut c_void, from: P, byte: c_int, size: usize) -> *mut c_void;
    fn explicit_bzero(bytes: *mut c_void, size: usize);
    fn strtof(string: S, end: *mut *mut c_char) -> c_float;
    fn wcslen(string: W) -> usize;
    fn wcscmp(one: W, other: W) -> c_int;
}

/// All of a string.
unsafe fn all(string: S) {
    // SAFETY: the caller passes a string.
    announce(string.cast(), unsafe { libc::strlen(string) } + 1, false);
}

macro_rules! reading {
    ($($wrapped:ident $name:ident($first:ident $(, $argument:ident: $type:ty)*) -> $result:ty = $real:path;)*) => {
        $(
            unsafe extern "C" fn $name($first: S $(, $argument: $type)*) -> $result {
                // SAFETY: the caller's request: a string, of which everything may be read.
                unsafe {
                    all($first);
                    $real($first $(, $argument)*)
                }
            }
        )*
        crate::entries! { $($wrapped => $name;)* }
    };
}

reading! {
    __wrap_atoi to_int(string) -> c_int = libc::atoi;
    __wrap_atol to_long(string) -> c_long = libc::atol;
    __wrap_atof to_double(string) -> c_double = libc::atof;
    __wrap_strtol long(string, end: *mut *mut c_char, base: c_int) -> c_long = libc::strtol;
    __wrap_strtoll long_long(string, end: *mut *mut c_char, base: c_int) -> c_long = libc::strtol;
    __wrap_strtoul unsigned(string, end: *mut *mut c_char, base: c_int) -> c_ulong = libc::strtoul;
    __wrap_strtoull unsigned_long(string, end: *mut *mut c_char, base: c_int) -> c_ulong = libc::strtoul;
    __wrap_strtod double(string, end: *mut *mut c_char) -> c_double = libc::strtod;
    __wrap_strtof float(string, end: *mut *mut c_char) -> c_float = strtof;
    __wrap_puts put(string) -> c_int = libc::puts;
    __wrap_fputs put_file(string, stream: *mut libc::FILE) -> c_int = libc::fputs;
    __wrap_perror put_error(string) -> () = libc::perror;
}

macro_rules! reading_two {
    ($($wrapped:ident $name:ident -> $result:ty = $real:path;)*) => {
        $(
            unsafe extern "C" fn $name(one: S, other: S) -> $result {
                // SAFETY: the caller's request: two strings, of which everything may be read.
                unsafe {
                    all(one);
                    all(other);
                    $real(one, other)
                }
            }
        )*
        crate::entries! { $($wrapped => $name;)* }
    };
}

reading_two! {
    __wrap_strspn span -> usize = libc::strspn;
    __wrap_strcspn span_without -> usize = libc::strcspn;
    __wrap_strpbrk find_any -> *mut c_char = libc::strpbrk;
    __wrap_strcoll collate -> c_int = libc::strcoll;
}

unsafe extern "C" fn compare_beginnings_of_letters(one: S, other: S, size: usize) -> c_int {
    // SAFETY: the caller's request; a little less than what is read is announced.
    unsafe {
        let read = |string: S| (libc::strnlen(string, size) + 1).min(size);
        let least = read(one).min(read(other));
        announce(one.cast(), least.min(1), false);
        announce(other.cast(), least.min(1), false);
        libc::strncasecmp(one, other, size)
    }
}

unsafe extern "C" fn duplicate_beginning(string: S, size: usize) -> *mut c_char {
    // SAFETY: a string of the caller, or so many bytes of one.
    unsafe {
        announce(string.cast(), (libc::strnlen(string, size) + 1).min(size), false);
        libc::strndup(string, size)
    }
}

unsafe extern "C" fn find_bytes(bytes: P, size: usize, wanted: P, length: usize) -> *mut c_void {
    // SAFETY: so many bytes of the caller's, twice.
    let found = unsafe { libc::memmem(bytes, size, wanted, length) };
    announce(wanted, length, false);
    announce(bytes, if found.is_null() { size } else { found as usize - bytes as usize + length }, false);
    found
}

unsafe extern "C" fn find_last_byte(bytes: P, byte: c_int, size: usize) -> *mut c_void {
    // SAFETY: so many bytes of the caller's.
    let found = unsafe { memrchr(bytes, byte, size) };
    let before = if found.is_null() { 0 } else { found as usize - bytes as usize };
    announce((bytes as usize + before) as P, size - before, false);
    found
}

/// Cuts off the first part of a string, which is written to if it ends before the string does.
unsafe extern "C" fn cut(string: *mut *mut c_char, ends: S) -> *mut c_char {
    // SAFETY: the caller's pointer to a string, or to null, which may be written, and a string.
    unsafe {
        announce(string as P, size_of::<S>(), true);
        let first = *string;
        if !first.is_null() {
            all(ends);
            let length = libc::strcspn(first, ends);
            announce(first as P, length + 1, false);
            if *first.add(length) != 0 {
                announce(first.add(length) as P, 1, true);
            }
        }
        strsep(string, ends)
    }
}

/// The next word of a string, behind which a zero byte is written.
unsafe extern "C" fn next_word(string: *mut c_char, ends: S, kept: *mut *mut c_char) -> *mut c_char {
    // SAFETY: strings of the caller's, and a place of its own that says how far it is.
    unsafe {
        announce(kept as P, size_of::<S>(), true);
        let from = if string.is_null() { *kept } else { string };
        if !from.is_null() {
            all(ends);
            let begin = from.add(libc::strspn(from, ends));
            let length = libc::strcspn(begin, ends);
            announce(from as P, begin as usize - from as usize + length + 1, false);
            if *begin.add(length) != 0 {
                announce(begin.add(length) as P, 1, true);
            }
        }
        libc::strtok_r(string, ends, kept)
    }
}

unsafe extern "C" fn copy_beginning_to_end(to: *mut c_char, from: S, size: usize) -> *mut c_char {
    // SAFETY: a string, or so many bytes of one, and room for so many.
    unsafe {
        announce(from.cast(), (libc::strnlen(from, size) + 1).min(size), false);
        announce(to as P, size, true);
        stpncpy(to, from, size)
    }
}

unsafe extern "C" fn copy_up_to(to: *mut c_void, from: P, byte: c_int, size: usize) -> *mut c_void {
    // SAFETY: so many bytes, and room for as many.
    unsafe {
        let found = libc::memchr(from, byte, size);
        let copied = if found.is_null() { size } else { found as usize - from as usize + 1 };
        announce(from, copied, false);
        announce(to, copied, true);
        memccpy(to, from, byte, size)
    }
}

unsafe extern "C" fn zero_for_certain(bytes: *mut c_void, size: usize) {
    announce(bytes, size, true);
    // SAFETY: so many bytes that the caller may write.
    unsafe { explicit_bzero(bytes, size) };
}

unsafe extern "C" fn write_file(from: P, size: usize, count: usize, stream: *mut libc::FILE) -> usize {
    announce(from, size.saturating_mul(count), false);
    // SAFETY: a stream, and what the caller has to write to it.
    unsafe { libc::fwrite(from, size, count, stream) }
}

unsafe extern "C" fn wide_length(string: W) -> usize {
    // SAFETY: a string of wide characters.
    let length = unsafe { wcslen(string) };
    announce(string.cast(), 4 * (length + 1), false);
    length
}

unsafe extern "C" fn compare_wide(one: W, other: W) -> c_int {
    // SAFETY: two strings of wide characters, each read up to where they differ or end.
    unsafe {
        let mut at = 0;
        while *one.add(at) == *other.add(at) && *one.add(at) != 0 {
            at += 1;
        }
        announce(one.cast(), 4 * (at + 1), false);
        announce(other.cast(), 4 * (at + 1), false);
        wcscmp(one, other)
    }
}

unsafe extern "C" fn copy_wide(to: *mut u32, from: W) -> *mut u32 {
    // SAFETY: a string of wide characters, and room for it.
    unsafe {
        let size = 4 * (wcslen(from) + 1);
        announce(from.cast(), size, false);
        announce(to as P, size, true);
        libc::memmove(to.cast(), from.cast(), size).cast()
    }
}

unsafe extern "C" fn copy_wides(to: *mut u32, from: W, count: usize) -> *mut u32 {
    announce(from.cast(), 4 * count, false);
    announce(to as P, 4 * count, true);
    // SAFETY: so many wide characters, and room for as many.
    unsafe { libc::memmove(to.cast(), from.cast(), 4 * count).cast() }
}

unsafe extern "C" fn fill_wide(to: *mut u32, value: u32, count: usize) -> *mut u32 {
    announce(to as P, 4 * count, true);
    // SAFETY: room for so many wide characters.
    unsafe { std::slice::from_raw_parts_mut(to, count).fill(value) };
    to
}

crate::entries! {
    __wrap_strncasecmp => compare_beginnings_of_letters;
    __wrap_strndup => duplicate_beginning;
    __wrap_memmem => find_bytes;
    __wrap_memrchr => find_last_byte;
    __wrap_strsep => cut;
    __wrap_strtok_r => next_word;
    __wrap_stpncpy => copy_beginning_to_end;
    __wrap_memccpy => copy_up_to;
    __wrap_explicit_bzero => zero_for_certain;
    __wrap_fwrite => write_file;
    __wrap_wcslen => wide_length;
    __wrap_wcscmp => compare_wide;
    __wrap_wcscpy => copy_wide;
    __wrap_wmemcpy => copy_wides;
    __wrap_wmemmove => copy_wides;
    __wrap_wmemset => fill_wide;
}
