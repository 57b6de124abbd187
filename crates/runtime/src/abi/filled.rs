//! Functions of libc that fill or rearrange memory of the code under test: those that sort, scan, read lines and convert times. As [`crate::abi::texts`].
//!
//! Invariant: what is announced is what was written, at the place of the call. What depends on the input is announced when it is known.

use std::ffi::{c_char, c_int, c_void};

use crate::abi::plain::{announce, announce_at};
use crate::arch::list::{List, named};
use crate::arch::site;
use crate::control::active;

type P = *const c_void;
type S = *const c_char;
type Compare = unsafe extern "C" fn(P, P) -> c_int;
type CompareWith = unsafe extern "C" fn(P, P, *mut c_void) -> c_int;

unsafe extern "C" {
    fn qsort_r(elements: *mut c_void, count: usize, size: usize, compare: CompareWith, context: *mut c_void);
    fn vsscanf(text: S, format: S, list: *mut List) -> c_int;
    fn vfscanf(stream: *mut libc::FILE, format: S, list: *mut List) -> c_int;
    static stdin: *mut libc::FILE;
}

unsafe extern "C" fn sort(elements: *mut c_void, count: usize, size: usize, compare: Compare) {
    announce(elements, count.saturating_mul(size), count > 1);
    // SAFETY: so many elements of the caller's, and what compares them.
    unsafe { libc::qsort(elements, count, size, Some(compare)) };
}

unsafe extern "C" fn sort_with(
    elements: *mut c_void,
    count: usize,
    size: usize,
    compare: CompareWith,
    context: *mut c_void,
) {
    announce(elements, count.saturating_mul(size), count > 1);
    // SAFETY: so many elements of the caller's, and what compares them.
    unsafe { qsort_r(elements, count, size, compare, context) };
}

unsafe extern "C" fn read_file(to: *mut c_void, size: usize, count: usize, stream: *mut libc::FILE) -> usize {
    let pc = site::pc();
    // SAFETY: a stream, and room for so much.
    let read = unsafe { libc::fread(to, size, count, stream) };
    announce_at(to, read * size, true, pc);
    read
}

unsafe extern "C" fn read_line(to: *mut c_char, size: c_int, stream: *mut libc::FILE) -> *mut c_char {
    let pc = site::pc();
    // SAFETY: a stream, and room for so much; what was read is a string.
    unsafe {
        let line = libc::fgets(to, size, stream);
        if !line.is_null() {
            announce_at(line.cast(), libc::strlen(line) + 1, true, pc);
        }
        line
    }
}

unsafe extern "C" fn time_as_text(to: *mut c_char, size: usize, format: S, parts: *const libc::tm) -> usize {
    // SAFETY: room for so much, a format and a time.
    unsafe {
        let pc = site::pc();
        announce(format.cast(), libc::strlen(format) + 1, false);
        announce(parts.cast(), size_of::<libc::tm>(), false);
        let written = libc::strftime(to, size, format, parts);
        announce_at(to.cast(), if written > 0 { written + 1 } else { 0 }, true, pc);
        written
    }
}

unsafe extern "C" fn local_time(time: *const libc::time_t, parts: *mut libc::tm) -> *mut libc::tm {
    announce(time.cast(), size_of::<libc::time_t>(), false);
    announce(parts.cast(), size_of::<libc::tm>(), true);
    // SAFETY: a time and room for its parts.
    unsafe { libc::localtime_r(time, parts) }
}

unsafe extern "C" fn universal_time(time: *const libc::time_t, parts: *mut libc::tm) -> *mut libc::tm {
    announce(time.cast(), size_of::<libc::time_t>(), false);
    announce(parts.cast(), size_of::<libc::tm>(), true);
    // SAFETY: a time and room for its parts.
    unsafe { libc::gmtime_r(time, parts) }
}

/// How long an item of a scan is, by what stands before its letter.
#[derive(Clone, Copy, Default)]
struct Length {
    long: u8,
    short: u8,
    wide: bool,
}

impl Length {
    /// An integer.
    fn integer(self) -> usize {
        match (self.short, self.wide || self.long > 0) {
            (0, true) => 8,
            (0, false) => 4,
            (1, _) => 2,
            _ => 1,
        }
    }

    /// A number with a point.
    fn floating(self) -> usize {
        match self.long {
            0 => 4,
            1 => 8,
            _ => 16,
        }
    }
}

/// Announces what a scan that converted so many items wrote; a conversion that is not known ends it.
unsafe fn scanned(format: S, mut list: List, mut items: c_int, pc: u64) {
    // SAFETY: the format, its arguments, and strings that the scan made.
    unsafe {
        let text = std::ffi::CStr::from_ptr(format).to_bytes();
        let mut at = 0;
        while at < text.len() {
            at += 1;
            if text[at - 1] != b'%' {
                continue;
            }
            let (mut length, mut width, mut kept, mut allocates) = (Length::default(), None, true, false);
            while let Some(&one) = text.get(at) {
                match one {
                    b'*' => kept = false,
                    b'm' => allocates = true,
                    b'0'..=b'9' => width = Some(width.unwrap_or(0) * 10 + usize::from(one - b'0')),
                    b'l' => length.long += 1,
                    b'L' | b'q' => length.long = 2,
                    b'h' => length.short += 1,
                    b'j' | b'z' | b't' => length.wide = true,
                    _ => break,
                }
                at += 1;
            }
            let Some(&letter) = text.get(at) else { return };
            at += 1;
            if letter == b'[' {
                at += text.get(at).map_or(0, |&one| usize::from(one == b'^'));
                at += 1;
                while text.get(at).is_some_and(|&one| one != b']') {
                    at += 1;
                }
                at += 1;
            }
            if letter == b'%' || !kept {
                continue;
            }
            // What a count of characters stores is no item; it stands behind the last item that was read, too.
            if items == 0 && letter != b'n' {
                return;
            }
            let place = list.next() as *const c_void;
            let size = match letter {
                _ if allocates => size_of::<P>(),
                b'd' | b'i' | b'u' | b'o' | b'x' | b'X' | b'n' => length.integer(),
                b'p' => size_of::<P>(),
                b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' => length.floating(),
                b'c' if length.long == 0 => width.unwrap_or(1),
                b's' | b'[' if length.long == 0 => libc::strlen(place.cast()) + 1,
                _ => return,
            };
            announce_at(place, size, true, pc);
            items -= c_int::from(letter != b'n');
        }
    }
}

unsafe extern "C" fn scan_text(saved: *const u8, stack: *const u64) -> c_int {
    // SAFETY: what the entry point saved, of a call of `sscanf`.
    unsafe {
        let [text, format] = named(saved);
        let (text, format, pc) = (text as S, format as S, site::pc());
        announce(text.cast(), libc::strlen(text) + 1, false);
        scan(format, List::new(saved, stack, 2), pc, |list| vsscanf(text, format, list))
    }
}

unsafe extern "C" fn scan_file(saved: *const u8, stack: *const u64) -> c_int {
    // SAFETY: what the entry point saved, of a call of `fscanf`.
    unsafe {
        let [stream, format] = named(saved);
        let (stream, format) = (stream as *mut libc::FILE, format as S);
        scan(format, List::new(saved, stack, 2), site::pc(), |list| vfscanf(stream, format, list))
    }
}

unsafe extern "C" fn scan_input(saved: *const u8, stack: *const u64) -> c_int {
    // SAFETY: what the entry point saved, of a call of `scanf`.
    unsafe {
        let [format] = named(saved);
        scan(format as S, List::new(saved, stack, 1), site::pc(), |list| vfscanf(stdin, format as S, list))
    }
}

/// # Safety
/// A format and a list of arguments that it asks for.
unsafe fn scan(format: S, mut list: List, pc: u64, real: impl FnOnce(*mut List) -> c_int) -> c_int {
    let before = list;
    let items = real(&mut list);
    if active() && items > 0 {
        // SAFETY: as the caller says.
        unsafe { scanned(format, before, items, pc) };
    }
    items
}

crate::entries! {
    __wrap_qsort => sort;
    __wrap_qsort_r => sort_with;
    __wrap_fread => read_file;
    __wrap_fgets => read_line;
    __wrap_strftime => time_as_text;
    __wrap_localtime_r => local_time;
    __wrap_gmtime_r => universal_time;
}

crate::entries_variadic! {
    __wrap_sscanf => scan_text;
    __wrap_fscanf => scan_file;
    __wrap_scanf => scan_input;
    __wrap___isoc99_sscanf => scan_text;
    __wrap___isoc99_fscanf => scan_file;
    __wrap___isoc99_scanf => scan_input;
}
