//! Atomic accesses to sixteen bytes.

/// Puts `new` there if `expected` is there; what was there.
///
/// # Safety
/// The cell is aligned to sixteen bytes, and may be written.
pub unsafe fn compare_exchange(cell: *mut u128, expected: u128, new: u128) -> u128 {
    let (mut low, mut high) = (expected as u64, (expected >> 64) as u64);
    // SAFETY: the caller says that the cell is aligned, as the instruction wants; `rbx`, which the compiler keeps for itself, is put back.
    unsafe {
        std::arch::asm!("xchg {new_low}, rbx", "lock cmpxchg16b [{cell}]", "mov rbx, {new_low}",
            cell = in(reg) cell, new_low = inout(reg) new as u64 => _, in("rcx") (new >> 64) as u64,
            inout("rax") low, inout("rdx") high, options(nostack));
    }
    u128::from(high) << 64 | u128::from(low)
}
