//! What code says of its own locks to a race detector: `<sanitizer/tsan_interface.h>`, which libstdc++ calls from version 13 on for the lock bit of
//! `std::atomic<std::shared_ptr<T>>`.
//!
//! Invariant: an annotation orders what the code says that it orders, for data races and for nothing else. It is no step: the atomic accesses that the
//! lock is made of are.

use std::ffi::{c_int, c_uint, c_void};

use crate::control::{active, with};
use crate::posix::objects;

/// The attempt to lock that ends has failed.
const TRY_LOCK_FAILED: c_uint = 1 << 5;

fn acquire(address: *mut c_void) {
    if active() {
        with(|control| {
            let current = control.current;
            control.races.acquire(current, objects::annotated(address as usize));
        });
    }
}

fn release(address: *mut c_void) {
    if active() {
        with(|control| {
            let current = control.current;
            control.races.release(current, objects::annotated(address as usize));
        });
    }
}

/// What was released there comes before what follows.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_acquire(address: *mut c_void) {
    acquire(address);
}

/// What came before is for those who acquire there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_release(address: *mut c_void) {
    release(address);
}

/// A lock was taken, unless the flags say that it was not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_mutex_post_lock(address: *mut c_void, flags: c_uint, _recursion: c_int) {
    if flags & TRY_LOCK_FAILED == 0 {
        acquire(address);
    }
}

/// A lock is about to be given back; how often it was held.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_mutex_pre_unlock(address: *mut c_void, _flags: c_uint) -> c_int {
    release(address);
    1
}

macro_rules! nothing {
    ($($name:ident)*) => { $(
        /// Nothing follows from it.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(_address: *mut c_void, _flags: c_uint) {}
    )* };
}

nothing! {
    __tsan_mutex_create __tsan_mutex_destroy __tsan_mutex_pre_lock __tsan_mutex_post_unlock __tsan_mutex_pre_signal
    __tsan_mutex_post_signal __tsan_mutex_pre_divert __tsan_mutex_post_divert
}
