//! Plain accesses. They are no steps: two that conflict without order are a data race, which is a finding in itself, and the order of those that
//! are ordered does not matter. Those that are steps all the same, and volatile ones, are in [`visible`].

use std::ffi::{c_char, c_int, c_void};

use selvedge_protocol::Cause;

use crate::abi::visible::{self, race, volatile};
use crate::arch::site;
use crate::control::{STACKS, active, private, state, with};
use crate::fiber::fail;
use crate::memory::arena;
use crate::plain_steps;
use crate::race::{Conflict, Quickly, Touch};
use crate::shadow::{Cell, Packed};

/// Looks at an access of the code under test, to an address that is not in the stack of the thread that runs. Most are to a few bytes of memory that is in
/// use, by a thread that does not go round a loop, in a run that is not looked at for data races: for these it saves no register.
#[inline(never)]
unsafe extern "C" fn look_on(address: usize, size: usize, write: bool, pc: u64) {
    if active() {
        look(address, size, write, pc)
    }
}

/// The same where some plain accesses are steps.
#[inline(never)]
pub unsafe extern "C" fn look_at(address: usize, size: usize, write: bool, pc: u64) {
    if !active() {
        return;
    }
    if plain_steps::any_attention() {
        return visible::attend(address, size, write, pc);
    }
    look(address, size, write, pc)
}

/// Looks at an access that is no step.
#[inline(always)]
pub fn look(address: usize, size: usize, write: bool, pc: u64) {
    // SAFETY: there is a state, because code under control calls; the borrow ends before more is looked at.
    let mut control = unsafe { state() };
    let known = arena::inside(address) || (address as u64) < STACKS || control.fiber().has_as_own(address as u64);
    let noted = control.fiber().notes(write) || control.run.endless.is_drifting();
    let easy = known && arena::in_use(address, size) && !noted;
    let looked_at = control.run.races.on;
    drop(control);
    if !easy {
        look_closely(address, size, write, pc)
    } else if looked_at {
        look_for_races(address, size, write, pc)
    }
}

/// Looks at an access of the code under test.
#[inline(always)]
fn plain(address: *mut c_void, size: usize, write: bool) {
    if active() && !private(address as u64) {
        // SAFETY: code under control calls.
        unsafe { look_at(address as usize, size, write, site::pc()) };
    }
}

/// The same for what a function of libc does for the code under test.
pub fn announce(address: *const c_void, size: usize, write: bool) {
    if size > 0 && active() && !private(address as u64) {
        look_apart(address as usize, size, write, site::pc());
    }
}

/// The same for what is known only after the function of libc, which may have called others, at the place where it was called.
pub fn announce_at(address: *const c_void, size: usize, write: bool, pc: u64) {
    if size > 0 && active() && !private(address as u64) {
        look_apart(address as usize, size, write, pc);
    }
}

/// Looks at an access that a function makes later, so that it is no step.
#[inline(never)]
fn look_apart(address: usize, size: usize, write: bool, pc: u64) {
    look(address, size, write, pc)
}

/// The rest of a look where there is nothing else to do.
#[inline(never)]
extern "C" fn look_for_races(address: usize, size: usize, write: bool, pc: u64) {
    // SAFETY: there is a state, because code under control calls; the borrow ends before more is looked at.
    let mut borrowed = unsafe { state() };
    let control = &mut *borrowed;
    control.note_plain(pc);
    let touch = Touch::new(address as u64, size as u64, write, false, pc);
    let current = control.run.current;
    let looked = control.run.races.touch_quickly(&mut control.process.shadow, current, touch);
    drop(borrowed);
    match looked {
        Quickly::Done => {}
        // SAFETY: the cell was found just now.
        Quickly::Compare(cell, access) => unsafe { compare(cell, access, address, size) },
        Quickly::Far => look_closely(address, size, write, pc),
    }
}

/// The rest of a look at a cell that others have touched.
///
/// # Safety
/// The cell was found a moment ago, and nothing has touched the tables since.
#[inline(never)]
unsafe fn compare(cell: *mut Cell, access: Packed, address: usize, size: usize) {
    // SAFETY: the caller says that the cell is still there.
    let other = with(|control| control.run.races.compare(unsafe { &mut *cell }, access));
    if let Some(other) = other {
        let touch = Touch { address: address as u64, size: size as u64, what: access.by_nobody() };
        race(touch, Conflict::with(other));
    }
}

/// A thread's accesses to its own stack are looked at from the moment on at which another thread is seen on it: before that
/// they cannot race. The run in which that happens first is repeated ([`crate::session`]), so none is missed.
#[inline(never)]
extern "C" fn look_closely(address: usize, size: usize, write: bool, pc: u64) {
    arena::check(address, size, write, pc);
    check_stack(address as u64, size as u64, write, pc);
    let touch = Touch::new(address as u64, size as u64, write, false, pc);
    let other = with(|control| {
        let own = control.fiber().holds(address as u64);
        if write && !own && control.run.endless.is_watching() {
            control.wrote(address as u64);
        }
        if control.run.endless.is_drifting() {
            control.run.endless.touches(address as u64, size as u64);
        }
        if write && !own {
            control.fiber().effect();
        } else {
            control.fiber().trail.plain(address as u64, size, write);
        }
        if !control.run.races.on {
            return None;
        }
        if own && !control.search.stacks_shared {
            return None;
        }
        control.reaches(address as u64);
        control.note_plain(pc);
        let current = control.run.current;
        control.run.races.touch(&mut control.process.shadow, current, touch)
    });
    if let Some(other) = other {
        race(touch, Conflict::with(other));
    }
}

/// Stops the run if an access touches the stack of a thread that has ended: its variables are no more.
#[inline(always)]
pub fn check_stack(address: u64, size: u64, write: bool, pc: u64) {
    if address >= STACKS {
        check_other_stacks(address, size, write, pc);
    }
}

/// The same for what is no address of variables or blocks.
#[inline(never)]
pub fn check_other_stacks(address: u64, size: u64, write: bool, pc: u64) {
    let gone = with(|control| {
        if control.fiber().holds(address) {
            return None;
        }
        let created = &control.process.fibers[..control.run.created];
        created.iter().position(|fiber| fiber.ended && fiber.holds(address))
    });
    if let Some(thread) = gone {
        fail(Cause::Gone { write, size, thread: thread as u16 }, pc);
    }
}

macro_rules! accesses {
    ($($name:ident: $how:ident($size:expr, $write:expr);)*) => { $(
        mod $name {
            use super::*;
            pub unsafe extern "C" fn at(address: *mut c_void) {
                super::$how(address, $size, $write)
            }
        }
    )* };
    (noting $entries:ident; $($name:ident: $how:ident($size:expr, $write:expr);)*) => {
        accesses! { $($name: $how($size, $write);)* }
        crate::$entries! { $($name => $name::at;)* }
    };
}

crate::entries_off_stack! {
    look_on, look_at;
    __tsan_read1: 1, 0;
    __tsan_read2: 2, 0;
    __tsan_read4: 4, 0;
    __tsan_read8: 8, 0;
    __tsan_read16: 16, 0;
    __tsan_write1: 1, 1;
    __tsan_write2: 2, 1;
    __tsan_write4: 4, 1;
    __tsan_write8: 8, 1;
    __tsan_write16: 16, 1;
    __tsan_read_write1: 1, 1;
    __tsan_read_write2: 2, 1;
    __tsan_read_write4: 4, 1;
    __tsan_read_write8: 8, 1;
    __tsan_read_write16: 16, 1;
    __tsan_unaligned_read1: 1, 0;
    __tsan_unaligned_read2: 2, 0;
    __tsan_unaligned_read4: 4, 0;
    __tsan_unaligned_read8: 8, 0;
    __tsan_unaligned_read16: 16, 0;
    __tsan_unaligned_write1: 1, 1;
    __tsan_unaligned_write2: 2, 1;
    __tsan_unaligned_write4: 4, 1;
    __tsan_unaligned_write8: 8, 1;
    __tsan_unaligned_write16: 16, 1;
    __tsan_unaligned_read_write1: 1, 1;
    __tsan_unaligned_read_write2: 2, 1;
    __tsan_unaligned_read_write4: 4, 1;
    __tsan_unaligned_read_write8: 8, 1;
    __tsan_unaligned_read_write16: 16, 1;
    __tsan_vptr_read: 8, 0;
    __tsan_vptr_update: 8, 1;
}

accesses! {
    noting entries;
    __tsan_volatile_read1: volatile(1, false);
    __tsan_volatile_read2: volatile(2, false);
    __tsan_volatile_read4: volatile(4, false);
    __tsan_volatile_read8: volatile(8, false);
    __tsan_volatile_read16: volatile(16, false);
    __tsan_volatile_write1: volatile(1, true);
    __tsan_volatile_write2: volatile(2, true);
    __tsan_volatile_write4: volatile(4, true);
    __tsan_volatile_write8: volatile(8, true);
    __tsan_volatile_write16: volatile(16, true);
    __tsan_unaligned_volatile_read1: volatile(1, false);
    __tsan_unaligned_volatile_read2: volatile(2, false);
    __tsan_unaligned_volatile_read4: volatile(4, false);
    __tsan_unaligned_volatile_read8: volatile(8, false);
    __tsan_unaligned_volatile_read16: volatile(16, false);
    __tsan_unaligned_volatile_write1: volatile(1, true);
    __tsan_unaligned_volatile_write2: volatile(2, true);
    __tsan_unaligned_volatile_write4: volatile(4, true);
    __tsan_unaligned_volatile_write8: volatile(8, true);
    __tsan_unaligned_volatile_write16: volatile(16, true);
}

crate::copies_off_stack! {
    copy;
    __tsan_memcpy;
    __tsan_memmove;
    __wrap_memcpy;
    __wrap_memmove;
}

crate::entries! {
    __tsan_read_range => read_range;
    __tsan_write_range => write_range;
    __tsan_memset => set;
    __wrap_memset => set;
    __wrap_strcpy => copy_string;
}

unsafe extern "C" fn read_range(address: *mut c_void, size: usize) {
    plain(address, size, false);
}

unsafe extern "C" fn write_range(address: *mut c_void, size: usize) {
    plain(address, size, true);
}

unsafe extern "C" fn copy(to: *mut c_void, from: *const c_void, size: usize) -> *mut c_void {
    if size > 0 && active() {
        if plain_steps::any() && visible::copies(to as usize, from as usize, size, site::pc()) {
            return to;
        }
        announce(from, size, false);
        announce(to, size, true);
    }
    // SAFETY: the caller's request; `memmove` also serves where `memcpy` was asked for.
    unsafe { libc::memmove(to, from, size) }
}

unsafe extern "C" fn copy_string(to: *mut c_char, from: *const c_char) -> *mut c_char {
    // SAFETY: the caller passes a string that ends, and room for it.
    unsafe {
        // Where it ends is seen before it is copied, so that this is no step.
        let size = libc::strlen(from) + 1;
        announce(from.cast(), size, false);
        announce(to.cast(), size, true);
        libc::memmove(to.cast(), from.cast(), size).cast()
    }
}

unsafe extern "C" fn set(to: *mut c_void, value: c_int, size: usize) -> *mut c_void {
    if size > 0 {
        if active() && plain_steps::any() && visible::sets(to as usize, value as u8, size, site::pc()) {
            return to;
        }
        announce(to, size, true);
    }
    // SAFETY: the caller's request.
    unsafe { libc::memset(to, value, size) }
}

macro_rules! ignored {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => { $(
        /// Nothing to do.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) {
            $(let _ = $argument;)*
        }
    )* };
}

ignored! {
    __tsan_init();
    __tsan_func_entry(pc: *mut c_void);
    __tsan_func_exit();
    __tsan_ignore_thread_begin();
    __tsan_ignore_thread_end();
    __tsan_atomic_signal_fence(order: c_int);
}
