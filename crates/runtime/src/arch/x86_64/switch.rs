//! From one stack to another. A thread of the code under test is a fiber: it runs on the stack of a real thread that
//! sleeps, with that thread's FS base, so that thread-local storage is its own.
//!
//! Invariant: everything that the System V ABI asks a callee to preserve is on the stack that is left; the control words
//! of the floating-point units are taken over as they are, as by an ordinary call.

use std::arch::{asm, global_asm};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::sys;

global_asm!(
    // Callers are inlined into other object files of this library.
    ".globl selvedge_switch",
    ".hidden selvedge_switch",
    ".type selvedge_switch,@function",
    "selvedge_switch:",
    "push rbp",
    "push rbx",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    "mov [rdi], rsp",
    "mov rsp, rsi",
    "test rdx, rdx",
    "jz 2f",
    "wrfsbase rdx",
    "2:",
    "pop r15",
    "pop r14",
    "pop r13",
    "pop r12",
    "pop rbx",
    "pop rbp",
    // The processor expects the return address of the fiber that was left, which stopped at the same place as a rule.
    "ret",
    ".globl selvedge_fiber_start",
    ".hidden selvedge_fiber_start",
    ".type selvedge_fiber_start,@function",
    "selvedge_fiber_start:",
    "xor ebp, ebp",
    "call {main}",
    "ud2",
    main = sym crate::fiber::fiber_main,
);

unsafe extern "C" {
    fn selvedge_switch(save: *mut u64, load: u64, fs: u64);
    fn selvedge_fiber_start();
}

/// Where a fiber or the search goes on: its stack pointer and its FS base.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context {
    /// The stack pointer, below the registers that were saved.
    pub stack: u64,
    /// The FS base.
    pub thread_pointer: u64,
}

/// Whether `wrfsbase` may be used. Without it each switch costs a system call.
static FAST: AtomicBool = AtomicBool::new(false);

/// Whether the processor writes 32 bytes at a time.
static WIDE: AtomicBool = AtomicBool::new(false);

/// Finds out what the processor and the kernel allow.
pub fn probe() {
    const HWCAP2_FSGSBASE: u64 = 2;
    // SAFETY: reads the auxiliary vector.
    let capabilities = unsafe { libc::getauxval(libc::AT_HWCAP2) };
    FAST.store(capabilities & HWCAP2_FSGSBASE != 0, Ordering::Relaxed);
    WIDE.store(std::arch::is_x86_feature_detected!("avx"), Ordering::Relaxed);
}

/// The FS base of the calling thread: the first word of the thread control block points to itself.
#[inline(always)]
pub fn thread_pointer() -> u64 {
    let fs: u64;
    // SAFETY: the x86-64 TLS ABI puts the block's own address at fs:0.
    unsafe { asm!("mov {}, fs:0", out(reg) fs, options(nostack, readonly, preserves_flags)) };
    fs
}

/// Goes on at `to`; comes back when somebody switches to what was written to `from`.
///
/// # Safety
/// `to` was written by a switch, or made by [`new_stack`], and is used once.
#[inline(always)]
pub unsafe fn switch(from: *mut Context, to: Context) {
    let mut fs = to.thread_pointer;
    if !FAST.load(Ordering::Relaxed) {
        const ARCH_SET_FS: usize = 0x1002;
        // SAFETY: nothing between here and the switch uses thread-local storage.
        unsafe { sys::call(libc::SYS_arch_prctl, [ARCH_SET_FS, to.thread_pointer as usize, 0, 0, 0, 0]) };
        fs = 0;
    }
    // SAFETY: `from` can be written, and `to` is where a fiber stopped or begins: the caller says both.
    unsafe { selvedge_switch(&raw mut (*from).stack, to.stack, fs) };
}

/// How much of the stack below a call the runtime uses, seldom more.
const USED: usize = 4 << 10;

/// Answers what it is given, and leaves nothing but zeros below the stack pointer of the caller, and in the registers that a caller need not expect to be kept.
///
/// The runtime works on the stack of the thread that calls it. What is left there shows in variables of the code under test that are not set yet, and differs
/// from run to run: addresses of its tables, numbers of steps.
#[unsafe(naked)]
pub unsafe extern "C" fn wipe(answer: u64) -> u64 {
    core::arch::naked_asm!(
        "mov rdx, rdi",
        "lea rdi, [rsp - {used}]",
        "cmp byte ptr [rip + {wide}], 0",
        "je 2f",
        // Whole lines first, and then what is left up to the stack pointer, with some of what was written already.
        "and rdi, -64",
        "lea rcx, [rsp - 128]",
        "vxorps xmm0, xmm0, xmm0",
        "3:",
        "vmovaps [rdi], ymm0",
        "vmovaps [rdi + 32], ymm0",
        "vmovaps [rdi + 64], ymm0",
        "vmovaps [rdi + 96], ymm0",
        "add rdi, 128",
        "cmp rdi, rcx",
        "jbe 3b",
        "vmovups [rsp - 128], ymm0",
        "vmovups [rsp - 96], ymm0",
        "vmovups [rsp - 64], ymm0",
        "vmovups [rsp - 32], ymm0",
        "vzeroupper",
        "jmp 4f",
        "2:",
        "mov ecx, {used} / 8",
        "xor eax, eax",
        "rep stosq",
        "4:",
        "xor ecx, ecx",
        "mov rax, rdx",
        "xor edx, edx",
        "xor edi, edi",
        "xor esi, esi",
        "xor r8d, r8d",
        "xor r9d, r9d",
        "xor r10d, r10d",
        "xor r11d, r11d",
        "ret",
        used = const USED,
        wide = sym WIDE,
    )
}

/// A stack on which a fiber begins at its beginning.
///
/// # Safety
/// The memory below `top` is a stack that nobody uses.
pub unsafe fn new_stack(top: u64) -> u64 {
    let mut at = (top & !0xf) as *mut u64;
    let start = selvedge_fiber_start as *const () as u64;
    // SAFETY: two words so that the start is reached with an aligned stack, the start, six registers.
    unsafe {
        for word in [0, 0, start, 0, 0, 0, 0, 0, 0] {
            at = at.sub(1);
            at.write(word);
        }
    }
    at as u64
}
