//! Atomic accesses of code that is not under control: the real operations.

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::SeqCst};

use crate::abi::atomic::Operation;

macro_rules! real {
    ($name:ident, $atomic:ty, $word:ty) => {
        fn $name(operation: Operation, cell: u64, first: u64, second: u64) -> u64 {
            // SAFETY: the caller's cell, shared with other atomic accesses.
            let cell = unsafe { &*(cell as *const $atomic) };
            let value = first as $word;
            let found = match operation {
                Operation::Load => cell.load(SeqCst),
                Operation::Store => {
                    cell.store(value, SeqCst);
                    0
                }
                Operation::Exchange => cell.swap(value, SeqCst),
                Operation::Add => cell.fetch_add(value, SeqCst),
                Operation::Sub => cell.fetch_sub(value, SeqCst),
                Operation::And => cell.fetch_and(value, SeqCst),
                Operation::Or => cell.fetch_or(value, SeqCst),
                Operation::Xor => cell.fetch_xor(value, SeqCst),
                Operation::Nand => cell.fetch_nand(value, SeqCst),
                Operation::Compare => match cell.compare_exchange(value, second as $word, SeqCst, SeqCst) {
                    Ok(found) | Err(found) => found,
                },
                Operation::CompareStored => {
                    // SAFETY: the caller's own.
                    let expected = unsafe { &mut *(first as *mut $word) };
                    match cell.compare_exchange(*expected, second as $word, SeqCst, SeqCst) {
                        Ok(_) => 1,
                        Err(found) => {
                            *expected = found;
                            0
                        }
                    }
                }
            };
            u64::from(found)
        }
    };
}

real!(byte, AtomicU8, u8);
real!(half, AtomicU16, u16);
real!(word, AtomicU32, u32);
real!(double, AtomicU64, u64);

/// Makes an access of so many bytes, with the arguments of its entry point.
#[cold]
#[inline(never)]
pub fn access(operation: Operation, size: u32, cell: u64, first: u64, second: u64) -> u64 {
    match size {
        1 => byte(operation, cell, first, second),
        2 => half(operation, cell, first, second),
        4 => word(operation, cell, first, second),
        _ => double(operation, cell, first, second),
    }
}
