//! What code says of its own locks to a race detector: `<sanitizer/tsan_interface.h>`, which libstdc++ calls from version 13 on for the lock bit of
//! `std::atomic<std::shared_ptr<T>>`.
//!
//! Invariant: an annotation orders what the code says that it orders, for data races and for nothing else. It is a step: where nothing else decides which
//! of two comes first, both orders are searched, and one of them is a race.

use std::ffi::{c_int, c_uint, c_void};

use selvedge_explore::{Access, Kind};

use crate::arch::site;
use crate::control::{active, with};
use crate::fiber::Wants;
use crate::point;
use crate::posix::objects;
use crate::race::Races;

/// The attempt to lock that ends has failed.
const TRY_LOCK_FAILED: c_uint = 1 << 5;

crate::entries! {
    __tsan_acquire => acquire;
    __tsan_release => release;
    __tsan_mutex_post_lock => locked;
    __tsan_mutex_pre_unlock => unlocks;
}

/// The current thread says something of what is at this address.
fn say(address: *mut c_void, kind: Kind, order: fn(&mut Races, usize, u64)) {
    if !active() {
        return;
    }
    let access = Access::new(objects::annotated(address as usize), 1, kind);
    point::arrive(access, Wants::Nothing, site::pc());
    with(|control| order(&mut control.run.races, control.run.current, access.object));
    point::record(access, None);
}

/// What was released there comes before what follows.
pub unsafe extern "C" fn acquire(address: *mut c_void) {
    say(address, Kind::Read, Races::acquire);
}

/// What came before is for those who acquire there.
pub unsafe extern "C" fn release(address: *mut c_void) {
    say(address, Kind::Write, Races::release);
}

/// A lock was taken, unless the flags say that it was not.
unsafe extern "C" fn locked(address: *mut c_void, flags: c_uint, _recursion: c_int) {
    if flags & TRY_LOCK_FAILED == 0 {
        say(address, Kind::Read, Races::acquire);
    }
}

/// A lock is about to be given back; how often it was held.
unsafe extern "C" fn unlocks(address: *mut c_void, _flags: c_uint) -> c_int {
    say(address, Kind::Write, Races::release);
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
