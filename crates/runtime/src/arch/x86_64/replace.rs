//! Functions of the program under test that others take the place of: where one begins, a jump is put.

const PAGE: u64 = 4096;
/// `mov r11, imm64` and `jmp r11`: a register that no call keeps.
const LENGTH: usize = 13;

/// Puts a jump to `by` where a function begins that has `length` bytes; not where it is too short for one.
///
/// # Safety
/// A function of the program begins there, which nobody runs now, and `by` takes what it takes.
pub unsafe fn replace(at: u64, length: u64, by: usize) -> bool {
    if length < LENGTH as u64 {
        return false;
    }
    let mut jump = [0; LENGTH];
    jump[..2].copy_from_slice(&[0x49, 0xbb]);
    jump[2..10].copy_from_slice(&(by as u64).to_le_bytes());
    jump[10..].copy_from_slice(&[0x41, 0xff, 0xe3]);
    let first = at & !(PAGE - 1);
    let size = (at + LENGTH as u64 - first).next_multiple_of(PAGE) as usize;
    // SAFETY: the pages of a function.
    unsafe {
        let writable = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
        if libc::mprotect(first as *mut _, size, writable) != 0 {
            return false;
        }
        std::ptr::copy_nonoverlapping(jump.as_ptr(), at as *mut u8, LENGTH);
        libc::mprotect(first as *mut _, size, libc::PROT_READ | libc::PROT_EXEC) == 0
    }
}
