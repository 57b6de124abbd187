//! The first instructions of entry points: they note where the code under test called from ([`super::site`]) before anything else runs, and go on to the function that does the work.

/// Notes the return address and the frame pointer.
#[macro_export]
macro_rules! note_place {
    () => {
        "mov r10, qword ptr [rip + selvedge_site@GOTTPOFF]
        mov r11, [rsp]
        mov fs:[r10], r11
        mov fs:[r10 + 24], rbp"
    };
}

/// Notes the other registers that a call preserves, and the stack pointer, after [`note_place`].
#[macro_export]
macro_rules! note_rest {
    () => {
        "mov fs:[r10 + 8], rsp
        mov fs:[r10 + 16], rbx
        mov fs:[r10 + 32], r12
        mov fs:[r10 + 40], r13
        mov fs:[r10 + 48], r14
        mov fs:[r10 + 56], r15"
    };
}

/// Entry points for plain accesses of so many bytes, reads or writes: they note the return address and the frame pointer, but one to the stack of the thread that runs, on which nobody
/// else has been seen, comes back at once. Most are such. The function that does the work is told the address, the size, whether it is a
/// write, and the return address. Where plain accesses may be steps it is another one, and the registers are noted: loops are known by them.
#[macro_export]
macro_rules! entries_off_stack {
    ($target:path, $attends:path; $($name:ident: $size:literal, $write:literal;)*) => { $(
        /// Entry point: notes the return address, unless there is nothing to look at.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                "mov r11, rdi",
                "sub r11, qword ptr [rip + {stack}]",
                "cmp r11, qword ptr [rip + {stack} + 8]",
                "jb 2f",
                "mov r10, qword ptr [rip + selvedge_site@GOTTPOFF]",
                "mov rcx, [rsp]",
                "mov fs:[r10], rcx",
                "mov fs:[r10 + 24], rbp",
                "mov esi, {size}",
                "mov edx, {write}",
                "test dword ptr [rip + {attention}], {attends_to}",
                "jnz 3f",
                "jmp {target}",
                "2:",
                "ret",
                "3:",
                $crate::note_rest!(),
                "jmp {attends}",
                stack = sym $crate::control::STACK,
                size = const $size,
                write = const $write,
                attention = sym $crate::plain_steps::ATTENTION,
                attends_to = const $crate::plain_steps::ATTENDED,
                target = sym $target,
                attends = sym $attends,
            )
        }
    )* };
}

/// Entry points of copies: they note the return address and the registers, but one from and to the stack of the thread that runs, on which nobody else has been seen, is
/// left to libc at once. Most are values that are moved.
#[macro_export]
macro_rules! copies_off_stack {
    ($target:path; $($name:ident;)*) => { $(
        /// Entry point: notes the return address, unless there is nothing to look at.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                "mov rax, qword ptr [rip + {stack}]",
                "mov rcx, qword ptr [rip + {stack} + 8]",
                "mov r10, rdi",
                "mov r11, rsi",
                "sub r10, rax",
                "sub r11, rax",
                "cmp r10, rcx",
                "jae 2f",
                "cmp r11, rcx",
                "jae 2f",
                "jmp qword ptr [rip + memmove@GOTPCREL]",
                "2:",
                $crate::note_place!(),
                $crate::note_rest!(),
                "jmp {target}",
                stack = sym $crate::control::STACK,
                target = sym $target,
            )
        }
    )* };
}

/// The body of a naked function that notes the return address and the registers, and goes on to the target.
#[macro_export]
macro_rules! note_registers {
    ($target:path) => {
        core::arch::naked_asm!(
            $crate::note_place!(),
            $crate::note_rest!(),
            "jmp {target}",
            target = sym $target,
        )
    };
}

/// Entry points that note the return address and the registers: loops are known by them.
#[macro_export]
macro_rules! entries {
    ($($name:ident => $target:path;)*) => { $(
        /// Entry point: notes the return address and the registers.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            $crate::note_registers!($target)
        }
    )* };
}

/// A function that does the same, and that the code under test does not know by a name.
#[macro_export]
macro_rules! hidden_entry {
    ($name:ident => $target:path) => {
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            $crate::note_registers!($target)
        }
    };
}

/// Entry points that say in `r9`, which none of them has an argument in, what they ask for.
#[macro_export]
macro_rules! entries_with_code {
    ($target:path; $($name:ident => $code:expr;)*) => { $(
        /// Entry point: notes the return address and the registers.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                "mov r9d, {code}",
                "jmp {target}",
                code = const $code,
                target = sym $target,
            )
        }
    )* };
}

/// Entry points that note where they were called from and save all registers that may hold arguments.
#[macro_export]
macro_rules! entries_variadic {
    ($($name:ident => $target:path;)*) => { $(
        /// Entry point: saves what `va_start` would.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                $crate::note_place!(),
                "lea r11, [rsp + 8]",
                "sub rsp, 184",
                "mov [rsp], rdi",
                "mov [rsp + 8], rsi",
                "mov [rsp + 16], rdx",
                "mov [rsp + 24], rcx",
                "mov [rsp + 32], r8",
                "mov [rsp + 40], r9",
                "movups [rsp + 48], xmm0",
                "movups [rsp + 64], xmm1",
                "movups [rsp + 80], xmm2",
                "movups [rsp + 96], xmm3",
                "movups [rsp + 112], xmm4",
                "movups [rsp + 128], xmm5",
                "movups [rsp + 144], xmm6",
                "movups [rsp + 160], xmm7",
                "mov rdi, rsp",
                "mov rsi, r11",
                "call {target}",
                "add rsp, 184",
                "ret",
                target = sym $target,
            )
        }
    )* };
}

/// An entry point that asks a function where to go on, and goes on there with all registers that carry arguments. The function is told what a static variable of the entry point's own is, and
/// what the six registers hold that carry integers.
#[macro_export]
macro_rules! entry_that_asks {
    ($name:ident, $gate:path, $type:ty = $own:expr) => {
        /// Entry point: notes the return address, and goes on where it is told to.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            static OWN: $type = $own;
            core::arch::naked_asm!(
                $crate::note_place!(),
                // How many vector registers a call with a variable number of arguments uses.
                "push rax",
                "push r9",
                "push r8",
                "push rcx",
                "push rdx",
                "push rsi",
                "push rdi",
                "lea rdi, [rip + {own}]",
                "mov rsi, rsp",
                "call {gate}",
                "mov r11, rax",
                "pop rdi",
                "pop rsi",
                "pop rdx",
                "pop rcx",
                "pop r8",
                "pop r9",
                "pop rax",
                "jmp r11",
                own = sym OWN,
                gate = sym $gate,
            )
        }
    };
}
