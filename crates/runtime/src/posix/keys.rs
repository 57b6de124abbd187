//! Thread-specific keys and destructors of thread-local objects.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use crate::control::{active, with};
use crate::fiber::{Destructor, KEYS};
use crate::posix::real;

/// Keys made under control start here, above those of libc.
const FIRST: u32 = 1 << 16;

/// How many keys libc has.
const KEYS_OF_LIBC: usize = 1024;

/// The destructors of keys that were made before the search, by key. libc would call them at the end of its own threads, which sleep.
static BEFORE: [AtomicUsize; KEYS_OF_LIBC] = [const { AtomicUsize::new(0) }; KEYS_OF_LIBC];

/// One past the last of them that has a destructor.
static BEHIND: AtomicU32 = AtomicU32::new(0);

fn note(key: u32, destructor: Option<Destructor>) {
    if let Some(place) = BEFORE.get(key as usize) {
        place.store(destructor.map_or(0, |destructor| destructor as usize), Ordering::Relaxed);
        if destructor.is_some() {
            BEHIND.fetch_max(key + 1, Ordering::Relaxed);
        }
    }
}

/// Destroys the current thread's values of keys that were made before the search; whether there was any. A key that is no more has no values.
pub fn destroy_values_from_before() -> bool {
    let mut any = false;
    for key in 0..BEHIND.load(Ordering::Relaxed) {
        let destructor = BEFORE[key as usize].load(Ordering::Relaxed);
        if destructor == 0 {
            continue;
        }
        // SAFETY: a key that libc gave, or that it knows to be deleted.
        let value = unsafe { real::pthread_getspecific()(key) };
        if !value.is_null() {
            // SAFETY: the same key; the destructor was registered with it for this moment.
            unsafe {
                real::pthread_setspecific()(key, std::ptr::null());
                std::mem::transmute::<usize, Destructor>(destructor)(value);
            }
            any = true;
        }
    }
    any
}

/// Makes a key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_key_create(key: *mut u32, destructor: Option<Destructor>) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        let answer = unsafe { real::pthread_key_create()(key, destructor) };
        if answer == 0 {
            // SAFETY: libc has written the key.
            note(unsafe { *key }, destructor);
        }
        return answer;
    }
    match with(|control| control.run.objects.add_key(destructor)) {
        // SAFETY: the caller gives a place for the answer.
        Some(number) => unsafe { key.write(FIRST + number as u32) },
        None => return libc::EAGAIN,
    }
    0
}

/// Drops a key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_key_delete(key: u32) -> c_int {
    if key < FIRST || !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pthread_key_delete()(key) };
    }
    if with(|control| control.run.objects.remove_key((key - FIRST) as usize)) { 0 } else { libc::EINVAL }
}

/// Sets the current thread's value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_setspecific(key: u32, value: *const c_void) -> c_int {
    if key < FIRST || !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pthread_setspecific()(key, value) };
    }
    let key = (key - FIRST) as usize;
    if key >= KEYS {
        return libc::EINVAL;
    }
    with(|control| {
        let keys = &mut control.fiber().keys;
        if keys.len() <= key {
            keys.resize(key + 1, std::ptr::null_mut());
        }
        keys[key] = value.cast_mut();
    });
    0
}

/// The current thread's value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_getspecific(key: u32) -> *mut c_void {
    if key < FIRST || !active() {
        // SAFETY: the caller's request.
        return unsafe { real::pthread_getspecific()(key) };
    }
    with(|control| control.fiber().keys.get((key - FIRST) as usize).copied().unwrap_or(std::ptr::null_mut()))
}

/// Registers the destructor of a `thread_local` object of C++ or Rust.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cxa_thread_atexit_impl(
    destructor: Destructor,
    object: *mut c_void,
    module: *mut c_void,
) -> c_int {
    if !active() {
        // SAFETY: the caller's request.
        return unsafe { real::__cxa_thread_atexit_impl()(destructor, object, module) };
    }
    with(|control| control.fiber().destructors.push((destructor, object)));
    0
}
