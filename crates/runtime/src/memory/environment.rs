//! The environment, which the kernel puts on the stack of the program's first thread: `unsetenv` and `strtok` change it in place.
//!
//! Invariant: its strings are put back from the first run on in which somebody asked for one.

use std::ffi::{CStr, c_char};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::control::active;
use crate::memory::reset::Copies;

static HANDED_OUT: AtomicBool = AtomicBool::new(false);

/// The environment as it was.
pub struct Environment {
    list: Copies,
    strings: Copies,
}

unsafe extern "C" {
    static environ: *const *const c_char;
}

impl Environment {
    /// As it is now.
    pub fn new() -> Self {
        let mut strings = Vec::new();
        // SAFETY: a list of strings that ends with a null pointer.
        let list = unsafe {
            let mut count = 0;
            while !environ.is_null() && !(*environ.add(count)).is_null() {
                let text = CStr::from_ptr(*environ.add(count)).to_bytes_with_nul();
                strings.push((text.as_ptr() as usize, text.len()));
                count += 1;
            }
            (environ as usize, if environ.is_null() { 0 } else { (count + 1) * size_of::<usize>() })
        };
        Environment { list: Copies::of(vec![list]), strings: Copies::of(strings) }
    }

    /// Puts it back.
    pub fn restore(&self) {
        self.list.restore();
        if HANDED_OUT.load(Ordering::Relaxed) {
            self.strings.restore();
        }
    }
}

/// The value of a variable. What a caller gets is libc's own string, and may be changed by it.
unsafe fn value(name: *const c_char) -> *mut c_char {
    if active() {
        HANDED_OUT.store(true, Ordering::Relaxed);
    }
    // SAFETY: the caller's string, and a list of strings that ends with a null pointer.
    unsafe {
        let name = CStr::from_ptr(name).to_bytes();
        let mut at = environ;
        while !at.is_null() && !(*at).is_null() {
            let text = CStr::from_ptr(*at).to_bytes();
            if text.len() > name.len() && text[name.len()] == b'=' && text.starts_with(name) {
                return (*at).add(name.len() + 1).cast_mut();
            }
            at = at.add(1);
        }
    }
    std::ptr::null_mut()
}

/// As libc has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getenv(name: *const c_char) -> *mut c_char {
    // SAFETY: the caller of libc gives a name that ends with a zero byte.
    unsafe { value(name) }
}

/// As libc has it: tests are never run with more rights than their user has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn secure_getenv(name: *const c_char) -> *mut c_char {
    // SAFETY: the caller of libc gives a name that ends with a zero byte.
    unsafe { value(name) }
}
