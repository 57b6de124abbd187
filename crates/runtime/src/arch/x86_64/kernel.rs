//! System calls, the way back from signals, and what a signal interrupted.

use std::arch::asm;
use std::ffi::{c_int, c_void};

/// A system call with up to six arguments; the kernel's answer, errors as negative numbers.
///
/// # Safety
/// As the system call asks.
pub unsafe fn call(number: i64, arguments: [usize; 6]) -> isize {
    let [a, b, c, d, e, f] = arguments;
    let answer: isize;
    // SAFETY: the registers are those of the x86-64 system call convention; `rcx` and `r11` are declared lost.
    unsafe {
        asm!("syscall", inlateout("rax") number as isize => answer, in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d,
            in("r8") e, in("r9") f, lateout("rcx") _, lateout("r11") _, options(nostack));
    }
    answer
}

/// The way back from a handler of a signal. Debuggers know it by its instructions.
#[unsafe(naked)]
pub unsafe extern "C" fn come_back() {
    core::arch::naked_asm!("mov rax, 15", "syscall")
}

/// What stops a thread before an instruction, one byte. It is no breakpoint, because debuggers stop at those. The first is none that the processor has, which debuggers are told to pass over; the
/// second is only allowed to the kernel, and found out in half the time.
pub const TRAP_OF_DEBUGGED: u8 = 0x06;
/// See above.
pub const TRAP: u8 = 0xfa;

/// Stops for a debugger that is there.
pub fn stop_for_debugger() {
    // SAFETY: a trap that changes no register; the debugger goes on after it.
    unsafe { asm!("int3") };
}

/// The general registers, by the kernel's numbers.
pub(super) type Registers = [i64; 23];

/// The thread that a signal interrupted, as it will go on after the handler.
pub struct Interrupted<'a> {
    pub(super) registers: &'a mut Registers,
}

impl<'a> Interrupted<'a> {
    /// What a handler was given.
    ///
    /// # Safety
    /// It is the third argument of a handler that has not returned, and nobody else looks at it meanwhile.
    pub unsafe fn new(state: *mut c_void) -> Self {
        // SAFETY: the kernel put a context there, which lives until the handler returns.
        Interrupted { registers: unsafe { &mut (*state.cast::<libc::ucontext_t>()).uc_mcontext.gregs } }
    }

    pub(super) fn get(&self, register: c_int) -> u64 {
        self.registers[register as usize] as u64
    }

    pub(super) fn set(&mut self, register: c_int, value: u64) {
        self.registers[register as usize] = value as i64;
    }

    /// The instruction that it is at.
    pub fn pc(&self) -> u64 {
        self.get(libc::REG_RIP)
    }

    /// Where its stack is.
    pub fn stack(&self) -> u64 {
        self.get(libc::REG_RSP)
    }

    /// Whether it was about to write, where the signal is that of a page which it may not access.
    pub fn was_writing(&self) -> bool {
        const WRITE: u64 = 2;
        self.get(libc::REG_ERR) & WRITE != 0
    }

    /// The system call that it was about to make, where the kernel handed one over: its number and its arguments.
    pub fn system_call(&self) -> (i64, [usize; 6]) {
        let arguments = [libc::REG_RDI, libc::REG_RSI, libc::REG_RDX, libc::REG_R10, libc::REG_R8, libc::REG_R9];
        (self.registers[libc::REG_RAX as usize], arguments.map(|register| self.get(register) as usize))
    }

    /// The system call has been made for it.
    pub fn answer(&mut self, answer: isize) {
        self.set(libc::REG_RAX, answer as u64);
    }

    /// It makes the system call itself.
    pub fn call_again(&mut self) {
        const SIZE_OF_SYSCALL: u64 = 2;
        self.set(libc::REG_RIP, self.pc() - SIZE_OF_SYSCALL);
    }
}
