//! Atomic accesses: each is a step.
//!
//! Code that is not under control (before `main`, in the search) gets the real operation. Code under control runs alone,
//! so plain reads and writes of the cell do; the order that it asked for matters to the data races only. The memory model
//! of the search is sequential consistency.

use std::ffi::c_int;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::SeqCst};

use selvedge_explore::{Access, Condition, Kind};

use crate::abi::plain::race;
use crate::control::{Control, active, state, with};
use crate::fiber::Wants;
use crate::memory::arena;
use crate::race::{Conflict, Touch};
use crate::retry::{self, Failure};
use crate::{point, site};

/// How an access tells its caller what it found, as far as it may fail.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    /// It cannot fail.
    Never,
    /// A load.
    Load,
    /// An exchange that answers what it found.
    Answer,
    /// An exchange that stores what it found.
    Stored,
}

impl Told {
    /// On what the outcome of an access of that size depends.
    #[inline(always)]
    fn condition(self, size: u32, expected: u64) -> Condition {
        match self {
            Told::Never | Told::Load => Condition::Always,
            Told::Answer | Told::Stored if size > 8 => Condition::Unknown,
            Told::Answer | Told::Stored => Condition::Equals(expected),
        }
    }

    fn failure(self, place: u64) -> Option<Failure> {
        match self {
            Told::Never => None,
            Told::Load => Some(Failure::Load),
            Told::Answer => Some(Failure::Answer),
            Told::Stored => Some(Failure::Stored(place)),
        }
    }
}

/// Waits for the turn of an access; whether it waited for a change of what its loop reads. What it expects to find goes to
/// `place` if it finds something else.
///
/// There is one copy of this function and of [`record`], and they are told everything in words: copies in every entry point would not
/// stay in the processor's cache, and a structure that was written in pieces is slow to read as a whole.
#[inline(never)]
fn arrive(object: u64, size: u32, kind: Kind, told: Told, expected: u64, place: u64) -> bool {
    let pc = site::pc();
    let (here, _) = site::registers();
    let (waited, retries) = {
        // SAFETY: code under control calls; the borrow ends with this block.
        let control = unsafe { state() };
        let spins = control.settings.spins;
        let fiber = control.fiber();
        let top = fiber.top;
        (spins && fiber.spin.arrives(pc, top), control.retries.on)
    };
    let condition = told.condition(size, expected);
    if retries && !waited && told != Told::Never {
        arrive_again(Access::new(object, size, kind).if_found(condition), told.failure(place), pc, here);
    } else {
        if waited {
            with(Control::expect_change);
        }
        let access = Access { object, size, kind, waits: waited, condition, changed: true, old: 0 };
        point::arrive_here(access, if waited { Wants::Change } else { Wants::Nothing }, pc, here);
    }
    let write = kind != Kind::Read && matches!(told, Told::Never | Told::Load);
    arena::check(object as usize, size as usize, write, pc);
    waited
}

/// The same where loops that try again are looked at.
#[inline(never)]
fn arrive_again(mut access: Access, failure: Option<Failure>, pc: u64, here: u64) {
    let wants = match failure {
        Some(failure) => with(|control| retry::arrive(control, pc, site::registers(), &mut access, failure)),
        None => Wants::Nothing,
    };
    point::arrive_here(access, wants, pc, here);
}

/// An access as it came out.
struct Outcome {
    kind: Kind,
    old: u64,
    new: u64,
    order: c_int,
    /// What [`arrive`] answered.
    waited: bool,
}

/// Records an access that was made.
#[inline(always)]
fn done(object: u64, size: u32, told: Told, expected: u64, outcome: Outcome) {
    let Outcome { kind, old, new, order, waited } = outcome;
    record(object, size, kind, told, expected, old, new, order, waited);
}

#[inline(never)]
#[allow(clippy::too_many_arguments)]
fn record(
    object: u64,
    size: u32,
    kind: Kind,
    told: Told,
    expected: u64,
    old: u64,
    new: u64,
    order: c_int,
    waited: bool,
) {
    // The thread has made no other call since it arrived.
    let pc = site::pc();
    // SAFETY: nothing below switches or borrows the state again before the last use.
    let control = unsafe { state() };
    let mut condition = told.condition(size, expected);
    let mut waits = waited;
    if control.retries.attached != 0
        && let Some(expected) = retry::leave(control)
    {
        waits = true;
        condition = Condition::Equals(expected);
    }
    let access = Access { object, size, kind, waits, condition, changed: kind != Kind::Read && old != new, old };
    control.trace.access(access);
    if waited {
        control.saw_change(None);
    }
    point::finish(control, None, false, Some(new));
    noted(control, &access);
    if told == Told::Load && control.retries.on {
        retry::read(control, pc, site::registers(), &access);
    }
    if !control.settings.races {
        return;
    }
    if !control.fiber().holds(object) {
        control.reaches(object);
    }
    let touch = Touch::new(object, u64::from(size), kind != Kind::Read, true, pc);
    let thread = control.current;
    if let Some(other) = control.races.atomic(thread, touch, kind, order) {
        race(touch, Conflict::with(other));
    }
}

/// Tells the threads that go round loops what happened.
#[inline(always)]
fn noted(control: &mut Control, access: &Access) {
    if !access.changed {
        control.fiber().spin.read(access);
        return;
    }
    control.fiber().effect();
    if control.spinning != 0 {
        control.tell_loops(access);
    }
}

/// Sixteen bytes as an atomic, for code that is not under control.
#[repr(transparent)]
struct AtomicU128(std::cell::UnsafeCell<u128>);

impl AtomicU128 {
    fn compare_exchange(
        &self,
        expected: u128,
        new: u128,
        _: std::sync::atomic::Ordering,
        _: std::sync::atomic::Ordering,
    ) -> Result<u128, u128> {
        let (mut low, mut high) = (expected as u64, (expected >> 64) as u64);
        // SAFETY: the cell is aligned to sixteen bytes, as the instruction wants; `rbx` is put back.
        unsafe {
            std::arch::asm!("xchg {new_low}, rbx", "lock cmpxchg16b [{cell}]", "mov rbx, {new_low}",
                cell = in(reg) self.0.get(), new_low = inout(reg) new as u64 => _, in("rcx") (new >> 64) as u64,
                inout("rax") low, inout("rdx") high, options(nostack));
        }
        let found = u128::from(high) << 64 | u128::from(low);
        if found == expected { Ok(found) } else { Err(found) }
    }

    fn update(&self, f: impl Fn(u128) -> u128) -> u128 {
        let mut old = 0;
        loop {
            match self.compare_exchange(old, f(old), SeqCst, SeqCst) {
                Ok(found) => return found,
                Err(found) => old = found,
            }
        }
    }

    fn load(&self, _: std::sync::atomic::Ordering) -> u128 {
        self.update(|old| old)
    }

    fn store(&self, new: u128, _: std::sync::atomic::Ordering) {
        self.update(|_| new);
    }
}

/// A value as one word, for reports and for telling whether a compare and exchange would succeed elsewhere.
trait Word: Copy + Eq {
    fn word(self) -> u64;
}

macro_rules! words {
    ($($type:ty),*) => { $(
        impl Word for $type {
            fn word(self) -> u64 { u64::from(self) }
        }
    )* };
}

words!(u8, u16, u32, u64);

impl Word for u128 {
    fn word(self) -> u64 {
        (self ^ (self >> 64)) as u64
    }
}

macro_rules! width {
    ($module:ident, $type:ty, $atomic:ty, $size:expr, [$($names:tt)*]) => {
        mod $module {
            use super::*;

            pub unsafe extern "C" fn load(cell: *mut $type, order: c_int) -> $type {
                if !active() {
                    // SAFETY: the caller's cell, shared with other atomic accesses.
                    return unsafe { (*cell.cast::<$atomic>()).load(SeqCst) };
                }
                let waited = arrive(cell as u64, $size, Kind::Read, Told::Load, 0, 0);
                // SAFETY: the caller's cell; nobody else runs.
                let value = unsafe { *cell };
                let (old, new) = (value.word(), value.word());
                done(cell as u64, $size, Told::Load, 0, Outcome { kind: Kind::Read, old, new, order, waited });
                value
            }

            pub unsafe extern "C" fn store(cell: *mut $type, value: $type, order: c_int) {
                if !active() {
                    // SAFETY: as above.
                    return unsafe { (*cell.cast::<$atomic>()).store(value, SeqCst) };
                }
                let waited = arrive(cell as u64, $size, Kind::Write, Told::Never, 0, 0);
                // SAFETY: as above.
                let old = unsafe { std::mem::replace(&mut *cell, value) };
                let (kind, old, new) = (Kind::Write, old.word(), changed(old, value));
                done(cell as u64, $size, Told::Never, 0, Outcome { kind, old, new, order, waited });
            }

            /// The new value as one word, which differs from the old one's exactly if the values do.
            fn changed(old: $type, new: $type) -> u64 {
                if old != new && old.word() == new.word() { !new.word() } else { new.word() }
            }

            fn update(cell: *mut $type, order: c_int, f: impl Fn($type) -> $type) -> $type {
                if !active() {
                    // SAFETY: as above.
                    let shared = unsafe { &*cell.cast::<$atomic>() };
                    let mut old = shared.load(SeqCst);
                    loop {
                        match shared.compare_exchange(old, f(old), SeqCst, SeqCst) {
                            Ok(found) => return found,
                            Err(found) => old = found,
                        }
                    }
                }
                let waited = arrive(cell as u64, $size, Kind::Update, Told::Never, 0, 0);
                // SAFETY: as above.
                let found = unsafe { *cell };
                let value = f(found);
                // SAFETY: as above.
                unsafe { *cell = value };
                let (kind, old, new) = (Kind::Update, found.word(), changed(found, value));
                done(cell as u64, $size, Told::Never, 0, Outcome { kind, old, new, order, waited });
                found
            }

            pub unsafe extern "C" fn exchange(cell: *mut $type, value: $type, order: c_int) -> $type {
                update(cell, order, |_| value)
            }

            pub unsafe extern "C" fn fetch_add(cell: *mut $type, value: $type, order: c_int) -> $type {
                update(cell, order, |old| old.wrapping_add(value))
            }

            pub unsafe extern "C" fn fetch_sub(cell: *mut $type, value: $type, order: c_int) -> $type {
                update(cell, order, |old| old.wrapping_sub(value))
            }

            pub unsafe extern "C" fn fetch_and(cell: *mut $type, value: $type, order: c_int) -> $type {
                update(cell, order, |old| old & value)
            }

            pub unsafe extern "C" fn fetch_or(cell: *mut $type, value: $type, order: c_int) -> $type {
                update(cell, order, |old| old | value)
            }

            pub unsafe extern "C" fn fetch_xor(cell: *mut $type, value: $type, order: c_int) -> $type {
                update(cell, order, |old| old ^ value)
            }

            pub unsafe extern "C" fn fetch_nand(cell: *mut $type, value: $type, order: c_int) -> $type {
                update(cell, order, |old| !(old & value))
            }

            pub unsafe extern "C" fn compare_exchange_val(
                cell: *mut $type,
                expected: $type,
                new: $type,
                order: c_int,
                failure: c_int,
            ) -> $type {
                try_exchange(cell, expected, new, (order, failure), (Told::Answer, 0))
            }

            fn try_exchange(
                cell: *mut $type,
                expected: $type,
                new: $type,
                (order, failure): (c_int, c_int),
                (told, place): (Told, u64),
            ) -> $type {
                if !active() {
                    // SAFETY: as above.
                    let shared = unsafe { &*cell.cast::<$atomic>() };
                    return match shared.compare_exchange(expected, new, SeqCst, SeqCst) {
                        Ok(found) | Err(found) => found,
                    };
                }
                let (object, wanted) = (cell as u64, expected.word());
                let waited = arrive(object, $size, Kind::Update, told, wanted, place);
                // SAFETY: as above.
                let found = unsafe { *cell };
                let old = found.word();
                if found != expected {
                    let outcome = Outcome { kind: Kind::Read, old, new: old, order: failure, waited };
                    done(object, $size, told, wanted, outcome);
                    return found;
                }
                arena::check(cell as usize, $size, true, site::pc());
                // SAFETY: as above.
                unsafe { *cell = new };
                let outcome = Outcome { kind: Kind::Update, old, new: changed(found, new), order, waited };
                done(object, $size, told, wanted, outcome);
                found
            }

            pub unsafe extern "C" fn compare_exchange(
                cell: *mut $type,
                expected: *mut $type,
                new: $type,
                order: c_int,
                failure: c_int,
            ) -> c_int {
                // SAFETY: as above; `expected` is the caller's own.
                unsafe {
                    let wanted = *expected;
                    let told = (Told::Stored, expected as u64);
                    let found = try_exchange(cell, wanted, new, (order, failure), told);
                    if found == wanted {
                        return 1;
                    }
                    *expected = found;
                }
                0
            }
        }
        names!($module $($names)*);
    };
}

macro_rules! names {
    ($module:ident $load:ident $store:ident $exchange:ident $add:ident $sub:ident $and:ident $or:ident $xor:ident
     $nand:ident $strong:ident $weak:ident $val:ident) => {
        crate::entries_with_registers! {
            $load => $module::load;
            $store => $module::store;
            $exchange => $module::exchange;
            $add => $module::fetch_add;
            $sub => $module::fetch_sub;
            $and => $module::fetch_and;
            $or => $module::fetch_or;
            $xor => $module::fetch_xor;
            $nand => $module::fetch_nand;
            $strong => $module::compare_exchange;
            $weak => $module::compare_exchange;
            $val => $module::compare_exchange_val;
        }
    };
}

/// Stores a byte as code under test would, and what came before with it.
///
/// # Safety
/// The byte is one that the code under test accesses atomically.
pub unsafe fn publish(cell: *mut u8, value: u8) {
    const RELEASE: c_int = 3;
    // SAFETY: as above.
    unsafe { byte::store(cell, value, RELEASE) };
}

width!(byte, u8, AtomicU8, 1, [
    __tsan_atomic8_load __tsan_atomic8_store __tsan_atomic8_exchange __tsan_atomic8_fetch_add __tsan_atomic8_fetch_sub
    __tsan_atomic8_fetch_and __tsan_atomic8_fetch_or __tsan_atomic8_fetch_xor __tsan_atomic8_fetch_nand
    __tsan_atomic8_compare_exchange_strong __tsan_atomic8_compare_exchange_weak __tsan_atomic8_compare_exchange_val
]);
width!(half, u16, AtomicU16, 2, [
    __tsan_atomic16_load __tsan_atomic16_store __tsan_atomic16_exchange __tsan_atomic16_fetch_add
    __tsan_atomic16_fetch_sub __tsan_atomic16_fetch_and __tsan_atomic16_fetch_or __tsan_atomic16_fetch_xor
    __tsan_atomic16_fetch_nand __tsan_atomic16_compare_exchange_strong __tsan_atomic16_compare_exchange_weak
    __tsan_atomic16_compare_exchange_val
]);
width!(word, u32, AtomicU32, 4, [
    __tsan_atomic32_load __tsan_atomic32_store __tsan_atomic32_exchange __tsan_atomic32_fetch_add
    __tsan_atomic32_fetch_sub __tsan_atomic32_fetch_and __tsan_atomic32_fetch_or __tsan_atomic32_fetch_xor
    __tsan_atomic32_fetch_nand __tsan_atomic32_compare_exchange_strong __tsan_atomic32_compare_exchange_weak
    __tsan_atomic32_compare_exchange_val
]);
width!(double, u64, AtomicU64, 8, [
    __tsan_atomic64_load __tsan_atomic64_store __tsan_atomic64_exchange __tsan_atomic64_fetch_add
    __tsan_atomic64_fetch_sub __tsan_atomic64_fetch_and __tsan_atomic64_fetch_or __tsan_atomic64_fetch_xor
    __tsan_atomic64_fetch_nand __tsan_atomic64_compare_exchange_strong __tsan_atomic64_compare_exchange_weak
    __tsan_atomic64_compare_exchange_val
]);
width!(quad, u128, AtomicU128, 16, [
    __tsan_atomic128_load __tsan_atomic128_store __tsan_atomic128_exchange __tsan_atomic128_fetch_add
    __tsan_atomic128_fetch_sub __tsan_atomic128_fetch_and __tsan_atomic128_fetch_or __tsan_atomic128_fetch_xor
    __tsan_atomic128_fetch_nand __tsan_atomic128_compare_exchange_strong __tsan_atomic128_compare_exchange_weak
    __tsan_atomic128_compare_exchange_val
]);

/// A fence orders nothing that is not in order already under sequential consistency; it matters to the data races.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_atomic_thread_fence(order: c_int) {
    if !active() {
        return std::sync::atomic::fence(SeqCst);
    }
    with(|control| {
        let thread = control.current;
        if control.settings.races {
            control.races.fence(thread, order);
        }
    });
}
