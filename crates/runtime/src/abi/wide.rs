//! Atomic accesses to sixteen bytes. Rare, so apart from the others: a value does not fit one word, which is what strategies and reports
//! know of it.

use std::ffi::c_int;

use selvedge_explore::Kind;

use crate::abi::atomic::{self, Outcome, Told};
use crate::arch::{switch, wide};
use crate::control::active;

const SIZE: u32 = 16;

/// Sixteen bytes as an atomic, for code that is not under control.
#[repr(transparent)]
struct Shared(std::cell::UnsafeCell<u128>);

impl Shared {
    fn compare_exchange(&self, expected: u128, new: u128) -> u128 {
        // SAFETY: compilers align what they access in this way to sixteen bytes.
        unsafe { wide::compare_exchange(self.0.get(), expected, new) }
    }

    fn update(&self, f: impl Fn(u128) -> u128) -> u128 {
        let mut old = 0;
        loop {
            let found = self.compare_exchange(old, f(old));
            if found == old {
                return found;
            }
            old = found;
        }
    }
}

/// # Safety
/// The cell is there for as long as this is used, and all others who access it do so atomically.
unsafe fn shared(cell: *mut u128) -> &'static Shared {
    // SAFETY: the caller says that it is there, and a cell has no more than its value.
    unsafe { &*cell.cast::<Shared>() }
}

/// A value as one word: what its low half is, if that is all. Two halves that are equal must not give the same word whatever they are.
pub fn word(value: u128) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    value as u64 ^ ((value >> 64) as u64).wrapping_mul(ODD).rotate_left(32)
}

/// The new value as one word, which differs from the old one's exactly if the values do.
fn changed(old: u128, new: u128) -> u64 {
    if old != new && word(old) == word(new) { !word(new) } else { word(new) }
}

#[inline(never)]
fn arrive(cell: *mut u128, kind: Kind, told: Told, expected: u64, place: u64) -> bool {
    atomic::arrive(cell as u64, SIZE, kind, told, expected, place)
}

#[inline(never)]
fn record(cell: *mut u128, told: Told, expected: u64, outcome: Outcome) {
    atomic::record(cell as u64, SIZE, told, expected, outcome);
    if atomic::must_tidy() {
        // SAFETY: below the stack pointer is nothing that anybody needs, and the step that was made has seen to it that there is room.
        unsafe { switch::wipe(0) };
    }
}

unsafe extern "C" fn load(cell: *mut u128, order: c_int) -> u128 {
    if !active() {
        // SAFETY: the caller's cell, which it accesses in this way.
        return unsafe { shared(cell) }.update(|old| old);
    }
    let waited = arrive(cell, Kind::Read, Told::Load, 0, 0);
    // SAFETY: the caller's cell; nobody else runs.
    let value = unsafe { *cell };
    let (old, new) = (word(value), word(value));
    record(cell, Told::Load, 0, Outcome { kind: Kind::Read, old, new, order, waited });
    value
}

/// # Safety
/// The cell is that of an atomic access that the code under test makes.
unsafe fn update(cell: *mut u128, order: c_int, kind: Kind, f: impl Fn(u128) -> u128) -> u128 {
    if !active() {
        // SAFETY: the caller's cell, which it accesses in this way.
        return unsafe { shared(cell) }.update(f);
    }
    let waited = arrive(cell, kind, Told::Never, 0, 0);
    // SAFETY: the cell of the access that the code under test makes, and nobody else runs.
    let found = unsafe { *cell };
    let value = f(found);
    // SAFETY: the cell of the access that the code under test makes, and nobody else runs.
    unsafe { *cell = value };
    record(cell, Told::Never, 0, Outcome { kind, old: word(found), new: changed(found, value), order, waited });
    found
}

unsafe extern "C" fn store(cell: *mut u128, value: u128, order: c_int) {
    // SAFETY: the caller's cell, which it accesses in this way.
    unsafe { update(cell, order, Kind::Write, |_| value) };
}

macro_rules! updates {
    ($($name:ident: |$old:ident, $value:ident| $new:expr;)*) => { $(
        unsafe extern "C" fn $name(cell: *mut u128, $value: u128, order: c_int) -> u128 {
            // SAFETY: the caller's cell, which it accesses in this way.
            unsafe { update(cell, order, Kind::Update, |$old| $new) }
        }
    )* };
}

updates! {
    exchange: |_old, value| value;
    fetch_add: |old, value| old.wrapping_add(value);
    fetch_sub: |old, value| old.wrapping_sub(value);
    fetch_and: |old, value| old & value;
    fetch_or: |old, value| old | value;
    fetch_xor: |old, value| old ^ value;
    fetch_nand: |old, value| !(old & value);
}

unsafe extern "C" fn compare_exchange_val(
    cell: *mut u128,
    expected: u128,
    new: u128,
    order: c_int,
    failure: c_int,
) -> u128 {
    // SAFETY: the caller's cell, which it accesses in this way.
    unsafe { try_exchange(cell, expected, new, (order, failure), (Told::Answer, 0)) }
}

/// # Safety
/// The cell is that of an atomic access that the code under test makes.
unsafe fn try_exchange(
    cell: *mut u128,
    expected: u128,
    new: u128,
    (order, failure): (c_int, c_int),
    (told, place): (Told, u64),
) -> u128 {
    if !active() {
        // SAFETY: the caller's cell, which it accesses in this way.
        return unsafe { shared(cell) }.compare_exchange(expected, new);
    }
    let wanted = word(expected);
    let waited = arrive(cell, Kind::Update, told, wanted, place);
    // SAFETY: the cell of the access that the code under test makes, and nobody else runs.
    let found = unsafe { *cell };
    let old = word(found);
    if found != expected {
        record(cell, told, wanted, Outcome { kind: Kind::Read, old, new: old, order: failure, waited });
        return found;
    }
    // SAFETY: the cell of the access that the code under test makes, and nobody else runs.
    unsafe { *cell = new };
    record(cell, told, wanted, Outcome { kind: Kind::Update, old, new: changed(found, new), order, waited });
    found
}

/// A compare and exchange that the code under test makes itself as soon as this comes back: it finds what was there.
///
/// # Safety
/// The cell is that of the exchange.
pub unsafe fn foresees(cell: *mut u128, expected: u128, new: u128, order: c_int) {
    // SAFETY: the caller says what it is the cell of; nobody else runs before the exchange.
    unsafe {
        let found = try_exchange(cell, expected, new, (order, order), (Told::Apart, 0));
        if found == expected {
            *cell = found;
        }
    }
}

unsafe extern "C" fn compare_exchange(
    cell: *mut u128,
    expected: *mut u128,
    new: u128,
    order: c_int,
    failure: c_int,
) -> c_int {
    // SAFETY: the cell and the place of the expected value are the caller's.
    unsafe {
        let wanted = *expected;
        let found = try_exchange(cell, wanted, new, (order, failure), (Told::Stored, expected as u64));
        if found == wanted {
            return 1;
        }
        *expected = found;
    }
    0
}

crate::entries! {
    __tsan_atomic128_load => load;
    __tsan_atomic128_store => store;
    __tsan_atomic128_exchange => exchange;
    __tsan_atomic128_fetch_add => fetch_add;
    __tsan_atomic128_fetch_sub => fetch_sub;
    __tsan_atomic128_fetch_and => fetch_and;
    __tsan_atomic128_fetch_or => fetch_or;
    __tsan_atomic128_fetch_xor => fetch_xor;
    __tsan_atomic128_fetch_nand => fetch_nand;
    __tsan_atomic128_compare_exchange_strong => compare_exchange;
    __tsan_atomic128_compare_exchange_weak => compare_exchange;
    __tsan_atomic128_compare_exchange_val => compare_exchange_val;
}
