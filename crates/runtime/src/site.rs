//! Where the code under test called from, and what its registers were.
//!
//! The entry points are a few instructions of their own that note the return address before anything else runs, and then go
//! on to the function that does the work. Invariant: the note is that of the last call, so it is read before any switch.

/// What an entry point notes.
#[repr(C)]
pub struct Site {
    /// The return address.
    pub pc: u64,
    /// The stack pointer at entry.
    pub sp: u64,
    /// `rbx`, `rbp`, `r12` to `r15`: what the callee preserves.
    pub registers: [u64; 6],
}

/// The last call. Written by entry points only.
pub static mut SITE: Site = Site { pc: 0, sp: 0, registers: [0; 6] };

/// The return address of the last call.
#[inline(always)]
pub fn pc() -> u64 {
    // SAFETY: one word, written by the entry point that led here, on the one kernel thread that is under control.
    unsafe { (&raw const SITE.pc).read() }
}

/// The stack pointer and the registers of the last call.
#[inline(always)]
pub fn registers() -> (u64, [u64; 6]) {
    // SAFETY: as above.
    unsafe { ((&raw const SITE.sp).read(), (&raw const SITE.registers).read()) }
}

/// The frame pointer of the last call.
#[inline(always)]
pub fn frame() -> u64 {
    // SAFETY: as above.
    unsafe { (&raw const SITE.registers[1]).read() }
}

/// Entry points that note the return address and the frame pointer.
#[macro_export]
macro_rules! entries {
    ($($name:ident => $target:path;)*) => { $(
        /// Entry point: notes the return address.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                "mov r11, [rsp]",
                "mov [rip + {site}], r11",
                "mov [rip + {site} + 24], rbp",
                "jmp {target}",
                site = sym $crate::site::SITE,
                target = sym $target,
            )
        }
    )* };
}

/// Entry points that note the return address and the registers.
#[macro_export]
macro_rules! entries_with_registers {
    ($($name:ident => $target:path;)*) => { $(
        /// Entry point: notes the return address and the registers.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                "mov r11, [rsp]",
                "mov [rip + {site}], r11",
                "mov [rip + {site} + 8], rsp",
                "mov [rip + {site} + 16], rbx",
                "mov [rip + {site} + 24], rbp",
                "mov [rip + {site} + 32], r12",
                "mov [rip + {site} + 40], r13",
                "mov [rip + {site} + 48], r14",
                "mov [rip + {site} + 56], r15",
                "jmp {target}",
                site = sym $crate::site::SITE,
                target = sym $target,
            )
        }
    )* };
}
