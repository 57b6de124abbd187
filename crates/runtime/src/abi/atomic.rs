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

/// An access that the current thread is about to make.
struct Atomic {
    access: Access,
    pc: u64,
    order: c_int,
    /// Whether it waited for a change of what its loop reads.
    waited: bool,
}

/// Waits for the turn of an access. An access is copied as few times as can be: words that were written in pieces are slow to
/// read as a whole.
#[inline(always)]
fn arrive(mut access: Access, order: c_int, failure: Option<Failure>) -> Atomic {
    let pc = site::pc();
    let (waited, wants) = with(|control| {
        let spins = control.settings.spins;
        let fiber = control.fiber();
        let top = fiber.top;
        if spins && fiber.spin.arrives(pc, top) {
            return (true, Wants::Change);
        }
        match failure {
            Some(failure) if control.retries.on => {
                (false, retry::arrive(control, pc, site::registers(), &mut access, failure))
            }
            _ => (false, Wants::Nothing),
        }
    });
    if waited {
        access.waits = true;
        with(Control::expect_change);
    }
    point::arrive(access, wants, pc);
    let write = access.kind != Kind::Read;
    arena::check(access.object as usize, access.size as usize, write && access.condition == Condition::Always, pc);
    Atomic { access, pc, order, waited }
}

impl Atomic {
    /// Records the access as it came out.
    #[inline(always)]
    fn done(self, kind: Kind, old: u64, new: u64) {
        self.record(kind, old, new, false);
    }

    #[inline(always)]
    fn record(self, kind: Kind, old: u64, new: u64, load: bool) {
        let Atomic { mut access, pc, order, waited } = self;
        access.kind = kind;
        access.old = old;
        access.changed = kind != Kind::Read && old != new;
        let touch = Touch::new(access.object, u64::from(access.size), kind != Kind::Read, true, pc);
        // SAFETY: nothing below switches or borrows the state again before the last use.
        let control = unsafe { state() };
        if control.retries.attached != 0
            && let Some(expected) = retry::leave(control)
        {
            access.waits = true;
            access.condition = Condition::Equals(expected);
        }
        control.trace.access(access);
        if waited {
            control.saw_change(None);
        }
        point::finish(control, None, false, Some(new));
        noted(control, &access);
        if load && control.retries.on {
            // The thread has made no other call since it arrived.
            retry::read(control, pc, site::registers(), &access);
        }
        if !control.settings.races {
            return;
        }
        if !control.fiber().holds(access.object) {
            control.reaches(access.object);
        }
        let conflict = synchronise(control, touch, kind, order);
        if let Some(conflict) = conflict {
            race(touch, conflict);
        }
    }
}

/// Tells the data races of an atomic access; answers one.
fn synchronise(control: &mut Control, touch: Touch, kind: Kind, order: c_int) -> Option<Conflict> {
    let thread = control.current;
    // The access itself belongs to what a release publishes, so it is noted before.
    let conflict = control.races.touch(thread, touch);
    match kind {
        Kind::Read => control.races.load(thread, touch.address, order),
        kind => control.races.store(thread, touch.address, order, kind == Kind::Update),
    }
    conflict
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
    /// On what a compare and exchange with this value depends.
    fn condition(self) -> Condition;
}

macro_rules! words {
    ($($type:ty),*) => { $(
        impl Word for $type {
            fn word(self) -> u64 { u64::from(self) }
            fn condition(self) -> Condition { Condition::Equals(u64::from(self)) }
        }
    )* };
}

words!(u8, u16, u32, u64);

impl Word for u128 {
    fn word(self) -> u64 {
        (self ^ (self >> 64)) as u64
    }

    fn condition(self) -> Condition {
        Condition::Unknown
    }
}

macro_rules! width {
    ($module:ident, $type:ty, $atomic:ty, $size:expr, [$($names:tt)*]) => {
        mod $module {
            use super::*;

            fn access(cell: *mut $type, kind: Kind) -> Access {
                Access::new(cell as u64, $size, kind)
            }

            pub unsafe extern "C" fn load(cell: *mut $type, order: c_int) -> $type {
                if !active() {
                    // SAFETY: the caller's cell, shared with other atomic accesses.
                    return unsafe { (*cell.cast::<$atomic>()).load(SeqCst) };
                }
                let atomic = arrive(access(cell, Kind::Read), order, Some(Failure::Load));
                // SAFETY: the caller's cell; nobody else runs.
                let value = unsafe { *cell };
                atomic.record(Kind::Read, value.word(), value.word(), true);
                value
            }

            pub unsafe extern "C" fn store(cell: *mut $type, value: $type, order: c_int) {
                if !active() {
                    // SAFETY: as above.
                    return unsafe { (*cell.cast::<$atomic>()).store(value, SeqCst) };
                }
                let atomic = arrive(access(cell, Kind::Write), order, None);
                // SAFETY: as above.
                let old = unsafe { std::mem::replace(&mut *cell, value) };
                atomic.done(Kind::Write, old.word(), if old == value { old.word() } else { changed(old, value) });
            }

            /// The new value as one word, which must differ from the old one's.
            fn changed(old: $type, new: $type) -> u64 {
                if old.word() == new.word() { !new.word() } else { new.word() }
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
                let atomic = arrive(access(cell, Kind::Update), order, None);
                // SAFETY: as above.
                let old = unsafe { *cell };
                let new = f(old);
                // SAFETY: as above.
                unsafe { *cell = new };
                atomic.done(Kind::Update, old.word(), if old == new { old.word() } else { changed(old, new) });
                old
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
                try_exchange(cell, expected, new, (order, failure), Failure::Answer)
            }

            fn try_exchange(
                cell: *mut $type,
                expected: $type,
                new: $type,
                (order, failure): (c_int, c_int),
                told: Failure,
            ) -> $type {
                if !active() {
                    // SAFETY: as above.
                    let shared = unsafe { &*cell.cast::<$atomic>() };
                    return match shared.compare_exchange(expected, new, SeqCst, SeqCst) {
                        Ok(found) | Err(found) => found,
                    };
                }
                let mut atomic = arrive(access(cell, Kind::Update).if_found(expected.condition()), order, Some(told));
                // SAFETY: as above.
                let old = unsafe { *cell };
                if old != expected {
                    atomic.order = failure;
                    atomic.done(Kind::Read, old.word(), old.word());
                    return old;
                }
                arena::check(cell as usize, $size, true, atomic.pc);
                // SAFETY: as above.
                unsafe { *cell = new };
                atomic.done(Kind::Update, old.word(), if old == new { old.word() } else { changed(old, new) });
                old
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
                    let found = try_exchange(cell, wanted, new, (order, failure), Failure::Stored(expected as u64));
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
