//! Where the code under test called from, and what its registers were.
//!
//! The entry points are a few instructions of their own that note the return address before anything else runs, and then go
//! on to the function that does the work. Invariant: the note is that of the last call of the same thread, so it is read before
//! the code under test goes on. It lies in thread-local storage: the program may have threads that are not under
//! control, such as the one that collects the results of Rust's tests, and they call the same entry points.

use std::arch::{asm, global_asm};

// The return address, the stack pointer at entry, `rbx`, `rbp`, `r12` to `r15`: what the callee preserves; then how often code stopped without a call, and where it did so last.
global_asm!(
    ".pushsection .tbss,\"awT\",@nobits",
    ".globl selvedge_site",
    ".hidden selvedge_site",
    ".type selvedge_site,@object",
    ".size selvedge_site,80",
    ".p2align 4",
    "selvedge_site:",
    ".zero 80",
    ".popsection",
);

/// The return address of the last call.
#[inline(always)]
pub fn pc() -> u64 {
    let pc: u64;
    // SAFETY: reads a word of the runtime's own thread-local storage.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + selvedge_site@GOTTPOFF]",
            "mov {0}, fs:[{0}]",
            out(reg) pc,
            options(nostack, readonly, preserves_flags)
        )
    };
    pc
}

/// Where the words of this thread lie.
#[inline(always)]
fn noted() -> *const u64 {
    let site: *const u64;
    // SAFETY: the block's own address is at fs:0, and the offset is that of the runtime's own variable in it.
    unsafe {
        asm!(
            "mov {0}, fs:0",
            "add {0}, qword ptr [rip + selvedge_site@GOTTPOFF]",
            out(reg) site,
            options(nostack, readonly)
        )
    };
    site
}

/// How many words a call notes, and which of them is the stack pointer.
pub const WORDS: usize = 9;
pub const STACK: usize = 1;

/// What the last call of the thread noted whose control block lies there. How often code stopped without a call only counts if that was the last time.
pub fn note_of(fs: u64) -> [u64; WORDS] {
    let distance = (noted() as u64).wrapping_sub(super::switch::thread_pointer());
    // SAFETY: the words lie at the same distance from the control block in every thread.
    let words = unsafe { *(fs.wrapping_add(distance) as *const [u64; WORDS + 1]) };
    let [pc, .., stops, last] = words;
    let mut note = [0; WORDS];
    note.copy_from_slice(&words[..WORDS]);
    note[WORDS - 1] = if last == pc { stops } else { 0 };
    note
}

/// The last call that noted its registers: where it was made, and the stack and frame pointers.
#[inline(always)]
pub fn call() -> Call {
    let site = noted();
    // SAFETY: the words lie there, and are this thread's own.
    unsafe { Call { pc: site.read(), stack: site.add(1).read(), frame: site.add(3).read() } }
}

/// A call of the code under test.
#[derive(Clone, Copy)]
pub struct Call {
    /// The return address.
    pub pc: u64,
    /// The stack pointer.
    pub stack: u64,
    /// The frame pointer.
    pub frame: u64,
}

/// The registers that a call preserves: `rbx`, `rbp`, `r12` to `r15`.
pub type Preserved = [u64; 6];

/// The stack pointer and the registers of the last call.
#[inline(always)]
pub fn registers() -> (u64, Preserved) {
    let site = noted();
    // SAFETY: the words lie there, and are this thread's own.
    unsafe { (site.add(1).read(), site.add(2).cast::<Preserved>().read()) }
}

/// Notes what a call would, for code that stopped without one. More registers count there than these: no two such notes are the same.
pub fn note(pc: u64, sp: u64, registers: Preserved) {
    let site = noted().cast_mut();
    // SAFETY: the words lie there, and are this thread's own.
    unsafe {
        site.write(pc);
        site.add(1).write(sp);
        site.add(2).cast::<Preserved>().write(registers);
        site.add(8).write(site.add(8).read() + 1);
        site.add(9).write(pc);
    }
}

/// The frame pointer of the last call.
#[inline(always)]
pub fn frame() -> u64 {
    let frame: u64;
    // SAFETY: reads a word of the runtime's own thread-local storage.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + selvedge_site@GOTTPOFF]",
            "mov {0}, fs:[{0} + 24]",
            out(reg) frame,
            options(nostack, readonly, preserves_flags)
        )
    };
    frame
}
