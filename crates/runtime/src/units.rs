//! Which code is compiled by a standard in which a thread's later stores go on with what it released: C, and C++ before C++20. There a relaxed store by the
//! thread that made a release store to the same variable belongs to its release sequence (C11 5.1.2.4, C++17 6.8.2.1); C++20 and Rust have dropped that.
//!
//! Every file that is compiled as such registers where its functions lie (`driver::compile`). Invariant: nothing is registered after the first look.

use std::cell::UnsafeCell;

/// Where functions lie: first address and one past the last.
struct Ranges(UnsafeCell<(Vec<(u64, u64)>, bool)>);

// SAFETY: written before `main`, then read and put in order by the one thread that is under control.
unsafe impl Sync for Ranges {}

static RANGES: Ranges = Ranges(UnsafeCell::new((Vec::new(), false)));

/// A function, as the assembler has it: how far it lies from here, and its size.
#[repr(C)]
pub struct Function {
    offset: i32,
    size: u32,
}

/// Registers the functions of a module; called before `main`, once for each of its files.
///
/// # Safety
/// The functions lie between the two pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_register_units(first: *const Function, end: *const Function) {
    // SAFETY: before `main` there is one thread.
    let (ranges, sorted) = unsafe { &mut *RANGES.0.get() };
    *sorted = false;
    let mut at = first;
    while at < end {
        // SAFETY: between the ends of the table that the linker made.
        let Function { offset, size } = unsafe { at.read() };
        let start = (at as u64).wrapping_add_signed(i64::from(offset));
        ranges.push((start, start + u64::from(size)));
        // SAFETY: at most one past the last entry of the table.
        at = unsafe { at.add(1) };
    }
}

/// Whether a thread's later stores go on with a release that was called for from there: the address behind the call.
pub fn goes_on(pc: u64) -> bool {
    // SAFETY: nobody else runs.
    let (ranges, sorted) = unsafe { &mut *RANGES.0.get() };
    if ranges.is_empty() {
        return false;
    }
    if !*sorted {
        ranges.sort_unstable();
        ranges.dedup();
        *sorted = true;
    }
    let next = ranges.partition_point(|&(start, _)| start < pc);
    next > 0 && pc <= ranges[next - 1].1
}
