//! What `printf` and its relatives read for the code under test, and where they write. They take a variable number of arguments: the entry points save all registers that may hold
//! some, as `va_start` does, and the functions of libc that take such a list do the work.
//!
//! Invariant: what is announced is what the format asks for, with precisions; a conversion that is not known ends the reading of the format.

use std::ffi::{c_char, c_int, c_void};

use crate::abi::plain::announce;
use crate::arch::list::{List, named};
use crate::arch::site;
use crate::control::active;
use crate::posix::uncontrolled;

type S = *const c_char;

unsafe extern "C" {
    fn vfprintf(stream: *mut libc::FILE, format: S, list: *mut List) -> c_int;
    fn vdprintf(descriptor: c_int, format: S, list: *mut List) -> c_int;
    fn vsnprintf(to: *mut c_char, size: usize, format: S, list: *mut List) -> c_int;
    fn vasprintf(to: *mut *mut c_char, format: S, list: *mut List) -> c_int;
    static stdout: *mut libc::FILE;
}

unsafe fn announce_string(string: S, precision: Option<usize>) {
    if string.is_null() {
        return;
    }
    // SAFETY: a string, or as many bytes as may be printed.
    let size = unsafe {
        match precision {
            Some(most) => (libc::strnlen(string, most) + 1).min(most),
            None => libc::strlen(string) + 1,
        }
    };
    announce(string.cast(), size, false);
}

/// Announces the format and the strings that it names.
unsafe fn read(format: S, mut list: List) {
    if !active() {
        return;
    }
    // SAFETY: the caller passes a format, and what it asks for.
    unsafe {
        announce_string(format, None);
        let text = std::ffi::CStr::from_ptr(format).to_bytes();
        let mut at = text.iter().copied().peekable();
        while let Some(byte) = at.next() {
            if byte != b'%' {
                continue;
            }
            let (mut precision, mut long, mut in_precision) = (None, 0, false);
            loop {
                let Some(one) = at.next() else { return };
                match one {
                    b'%' => break,
                    b'-' | b'+' | b' ' | b'#' | b'0'..=b'9' | b'\'' | b'I' => {
                        if in_precision && one.is_ascii_digit() {
                            precision = Some(precision.unwrap_or(0) * 10 + usize::from(one - b'0'));
                        }
                    }
                    b'.' => (in_precision, precision) = (true, Some(0)),
                    b'*' => {
                        let value = list.next() as i32;
                        if in_precision {
                            precision = usize::try_from(value).ok();
                        }
                    }
                    b'l' => long += 1,
                    b'h' | b'z' | b'j' | b't' | b'q' => {}
                    b'L' => long = 3,
                    b'd' | b'i' | b'u' | b'o' | b'x' | b'X' | b'p' => {
                        list.next();
                        break;
                    }
                    b'c' => {
                        list.next();
                        break;
                    }
                    b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' => {
                        list.skip_float(long == 3);
                        break;
                    }
                    b's' => {
                        let string = list.next() as S;
                        if long == 0 {
                            announce_string(string, precision);
                        } else if !string.is_null() {
                            let wide = string.cast::<u32>();
                            let most = precision.unwrap_or(usize::MAX);
                            let length = (0..most).take_while(|&at| *wide.add(at) != 0).count();
                            announce(string.cast(), 4 * (length + 1).min(most), false);
                        }
                        break;
                    }
                    b'n' => {
                        announce(list.next() as *const c_void, if long == 0 { 4 } else { 8 }, true);
                        break;
                    }
                    b'm' => break,
                    // Numbered arguments, and what else there is.
                    _ => return,
                }
            }
        }
    }
}

unsafe extern "C" fn print(saved: *const u8, stack: *const u64) -> c_int {
    // SAFETY: what the entry point saved, of a call of `printf`.
    unsafe {
        let [format] = named(saved);
        print_to(stdout, format as S, List::new(saved, stack, 1))
    }
}

unsafe extern "C" fn print_file(saved: *const u8, stack: *const u64) -> c_int {
    // SAFETY: what the entry point saved, of a call of `fprintf`.
    unsafe {
        let [stream, format] = named(saved);
        print_to(stream as *mut _, format as S, List::new(saved, stack, 2))
    }
}

unsafe fn print_to(stream: *mut libc::FILE, format: S, mut list: List) -> c_int {
    // SAFETY: a stream and a format of the caller, and the list of its arguments.
    unsafe {
        read(format, list);
        vfprintf(stream, format, &mut list)
    }
}

unsafe extern "C" fn print_descriptor(saved: *const u8, stack: *const u64) -> c_int {
    // SAFETY: what the entry point saved, of a call of `dprintf`.
    unsafe {
        let [descriptor, format] = named(saved);
        uncontrolled::checks_output("dprintf", descriptor as c_int, site::pc());
        let mut list = List::new(saved, stack, 2);
        read(format as S, list);
        vdprintf(descriptor as c_int, format as S, &mut list)
    }
}

unsafe extern "C" fn print_string(saved: *const u8, stack: *const u64) -> c_int {
    // SAFETY: what the entry point saved, of a call of `sprintf`.
    unsafe {
        let [to, format] = named(saved);
        print_into(to as *mut c_char, usize::MAX >> 1, format as S, List::new(saved, stack, 2))
    }
}

unsafe extern "C" fn print_sized(saved: *const u8, stack: *const u64) -> c_int {
    // SAFETY: what the entry point saved, of a call of `snprintf`.
    unsafe {
        let [to, size, format] = named(saved);
        print_into(to as *mut c_char, size as usize, format as S, List::new(saved, stack, 3))
    }
}

unsafe extern "C" fn print_allocated(saved: *const u8, stack: *const u64) -> c_int {
    // SAFETY: what the entry point saved, of a call of `asprintf`.
    unsafe {
        let [to, format] = named(saved);
        let mut list = List::new(saved, stack, 2);
        read(format as S, list);
        announce(to as *const c_void, size_of::<*mut c_char>(), true);
        vasprintf(to as *mut *mut c_char, format as S, &mut list)
    }
}

/// The length is found out before anything is written.
unsafe fn print_into(to: *mut c_char, size: usize, format: S, mut list: List) -> c_int {
    // SAFETY: a format of the caller, the list of its arguments, and room for so many bytes.
    unsafe {
        if active() {
            read(format, list);
            let mut copy = list;
            let length = vsnprintf(std::ptr::null_mut(), 0, format, &mut copy);
            if let Ok(length) = usize::try_from(length) {
                announce(to as *const c_void, (length + 1).min(size), true);
            }
        }
        vsnprintf(to, size, format, &mut list)
    }
}

unsafe extern "C" fn list_print(format: S, list: *mut List) -> c_int {
    // SAFETY: the caller's request.
    unsafe {
        read(format, *list);
        vfprintf(stdout, format, list)
    }
}

unsafe extern "C" fn list_print_file(stream: *mut libc::FILE, format: S, list: *mut List) -> c_int {
    // SAFETY: a stream, a format and a list of the caller.
    unsafe {
        read(format, *list);
        vfprintf(stream, format, list)
    }
}

unsafe extern "C" fn list_print_string(to: *mut c_char, format: S, list: *mut List) -> c_int {
    // SAFETY: room, a format and a list of the caller.
    unsafe { print_into(to, usize::MAX >> 1, format, *list) }
}

unsafe extern "C" fn list_print_sized(to: *mut c_char, size: usize, format: S, list: *mut List) -> c_int {
    // SAFETY: room for so many bytes, a format and a list of the caller.
    unsafe { print_into(to, size, format, *list) }
}

crate::entries_variadic! {
    __wrap_printf => print;
    __wrap_fprintf => print_file;
    __wrap_dprintf => print_descriptor;
    __wrap_sprintf => print_string;
    __wrap_snprintf => print_sized;
    __wrap_asprintf => print_allocated;
}

crate::entries! {
    __wrap_vprintf => list_print;
    __wrap_vfprintf => list_print_file;
    __wrap_vsprintf => list_print_string;
    __wrap_vsnprintf => list_print_sized;
}
