//! Atomic accesses of sizes that the processor has no instruction for: `std::atomic` of three bytes, or of twenty-four. Compilers call libatomic for
//! them, with the size as first argument, and their thread-sanitizer passes leave it at that; the objects that are linked here call these
//! functions instead.
//!
//! Invariant: one call is one step, whatever the size. Loops that try again are not looked at: what is known of those are words.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

use selvedge_explore::Kind;

use crate::abi::atomic::{self, Outcome, Told};
use crate::arch::switch;
use crate::control::active;

type P = *mut c_void;

/// So many bytes as one word: the number that they are, if they fit.
pub fn word(bytes: &[u8]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    bytes.chunks(8).fold(0, |word: u64, chunk| {
        let mut next = [0; 8];
        next[..chunk.len()].copy_from_slice(chunk);
        word.wrapping_mul(ODD).rotate_left(32) ^ u64::from_le_bytes(next)
    })
}

/// The bytes at an address.
///
/// # Safety
/// The caller's own memory, of that size, while nobody else runs.
unsafe fn bytes<'a>(address: P, size: usize) -> &'a mut [u8] {
    // SAFETY: the caller says that so many bytes are there, and that nobody else runs.
    unsafe { std::slice::from_raw_parts_mut(address.cast::<u8>(), size) }
}

/// What an access does.
#[derive(Clone, Copy)]
enum Operation {
    /// Copies what is there to a place.
    Load(P),
    /// Copies from a place, and what was there to another, if one is given.
    Put(P, Option<P>),
    /// Copies from the second place if what is there is what the first one has, and to the first one otherwise.
    Compare(P, P),
}

impl Operation {
    fn kind(self) -> Kind {
        match self {
            Operation::Load(_) => Kind::Read,
            Operation::Put(_, None) => Kind::Write,
            Operation::Put(..) | Operation::Compare(..) => Kind::Update,
        }
    }

    /// Makes the access; whether it was made as it was asked for.
    ///
    /// # Safety
    /// All places have that size, and nobody else runs. They may be the same, as for the original.
    unsafe fn apply(self, cell: P, size: usize) -> bool {
        // SAFETY: the caller says that all places are there; `copy` lets them be the same.
        unsafe {
            match self {
                Operation::Load(to) => to.cast::<u8>().copy_from(cell.cast(), size),
                Operation::Put(from, None) => cell.cast::<u8>().copy_from(from.cast(), size),
                Operation::Put(from, Some(to)) => {
                    let new = bytes(from, size).to_vec();
                    to.cast::<u8>().copy_from(cell.cast(), size);
                    cell.cast::<u8>().copy_from(new.as_ptr(), size);
                }
                Operation::Compare(expected, new) => {
                    let equal = bytes(cell, size) == bytes(expected, size);
                    let (to, from) = if equal { (cell, new) } else { (expected, cell) };
                    to.cast::<u8>().copy_from(from.cast(), size);
                    return equal;
                }
            }
        }
        true
    }
}

/// The same for code that is not under control: one after the other.
///
/// # Safety
/// The cell and all places of the operation have that size, and are those of an access that the code under test makes.
#[cold]
unsafe fn outside(operation: Operation, cell: P, size: usize) -> bool {
    static BUSY: AtomicBool = AtomicBool::new(false);
    while BUSY.swap(true, Ordering::Acquire) {
        std::hint::spin_loop();
    }
    // SAFETY: the caller's own places; the others wait.
    let done = unsafe { operation.apply(cell, size) };
    BUSY.store(false, Ordering::Release);
    done
}

/// # Safety
/// The cell and all places of the operation have that size, and are those of an access that the code under test makes.
#[inline(never)]
unsafe fn access(operation: Operation, cell: P, size: usize, order: c_int, failure: c_int) -> bool {
    let short = u32::try_from(size).unwrap_or(u32::MAX);
    let told = if matches!(operation, Operation::Compare(..)) { Told::Apart } else { Told::Never };
    let expected = match operation {
        // SAFETY: the caller's own place.
        Operation::Compare(expected, _) => word(unsafe { bytes(expected, size) }),
        _ => 0,
    };
    let waited = atomic::arrive(cell as u64, short, operation.kind(), told, expected, 0);
    // SAFETY: the caller's cell; nobody else runs.
    let before = unsafe { bytes(cell, size) }.to_vec();
    // SAFETY: the places that the code under test named, of that size; nobody else runs.
    let done = unsafe { operation.apply(cell, size) };
    // SAFETY: the cell of the code under test; what was changed is not borrowed any more.
    let after = unsafe { bytes(cell, size) };
    let (old, mut new) = (word(&before), word(after));
    if old == new && before != *after {
        new = !new;
    }
    let (kind, order) = if done { (operation.kind(), order) } else { (Kind::Read, failure) };
    atomic::record(cell as u64, short, told, expected, Outcome { kind, old, new, order, waited });
    done
}

/// # Safety
/// The cell and all places of the operation have that size, and are those of an access that the code under test makes.
unsafe fn step(operation: Operation, cell: P, size: usize, order: c_int, failure: c_int) -> bool {
    if size == 0 {
        return true;
    }
    if !active() {
        // SAFETY: the caller says that all places are there.
        return unsafe { outside(operation, cell, size) };
    }
    // SAFETY: the caller says that all places are there.
    let done = unsafe { access(operation, cell, size, order, failure) };
    if atomic::must_tidy() {
        // SAFETY: below the stack pointer is nothing that anybody needs, and the step that was made has seen to it that there is room.
        unsafe { switch::wipe(0) };
    }
    done
}

unsafe extern "C" fn load(size: usize, cell: P, to: P, order: c_int) {
    // SAFETY: the caller's cell and place, of that size.
    unsafe { step(Operation::Load(to), cell, size, order, order) };
}

unsafe extern "C" fn store(size: usize, cell: P, from: P, order: c_int) {
    // SAFETY: the caller's cell and place, of that size.
    unsafe { step(Operation::Put(from, None), cell, size, order, order) };
}

unsafe extern "C" fn exchange(size: usize, cell: P, from: P, to: P, order: c_int) {
    // SAFETY: the caller's cell and places, of that size.
    unsafe { step(Operation::Put(from, Some(to)), cell, size, order, order) };
}

unsafe extern "C" fn compare_exchange(
    size: usize,
    cell: P,
    expected: P,
    new: P,
    order: c_int,
    failure: c_int,
) -> c_int {
    // SAFETY: the caller's cell and places, of that size.
    c_int::from(unsafe { step(Operation::Compare(expected, new), cell, size, order, failure) })
}

crate::entries! {
    __wrap___atomic_load => load;
    __wrap___atomic_store => store;
    __wrap___atomic_exchange => exchange;
    __wrap___atomic_compare_exchange => compare_exchange;
}
