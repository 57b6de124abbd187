//! All registers of a thread that was stopped between two of its instructions: code that makes no call expects to find each of them as it was.

use iced_x86::{ConditionCode, Instruction, Mnemonic, Register};

/// What leaf functions may use below the stack pointer.
pub const RED_ZONE: u64 = 128;

/// Below a [`Frame`] lie the vector registers: within so many bytes, aligned.
pub const VECTORS: u64 = 2752;
/// See above.
pub const VECTORS_ALIGNED: u64 = 64;

/// The registers, as [`crate::save_registers`] puts them on the thread's stack.
#[repr(C)]
pub struct Frame {
    /// By the number that instructions have for them, the stack pointer left out.
    pub registers: [u64; 15],
    /// The flags.
    pub flags: u64,
}

impl Frame {
    /// The value of a register; the stack pointer is what it was there, with so many bytes between it and what was put on the stack.
    pub fn get(&self, register: Register, between: u64) -> u64 {
        match register.full_register() {
            Register::None | Register::RIP => 0,
            Register::RSP => &raw const *self as u64 + size_of::<Frame>() as u64 + between,
            full => self.registers[place(full)],
        }
    }
}

/// Where a register is in a [`Frame`].
pub fn place(register: Register) -> usize {
    let number = register.number();
    number - usize::from(number > Register::RSP.number())
}

/// Whether the condition holds by which an instruction sets a byte; nothing for other instructions.
pub fn condition(instruction: &Instruction, flags: u64) -> Option<bool> {
    use ConditionCode as C;
    let is = |bit: u32| flags >> bit & 1 == 1;
    let (carry, parity, zero, sign, overflow) = (is(0), is(2), is(6), is(7), is(11));
    let sets = |mnemonic: Mnemonic| format!("{mnemonic:?}").starts_with("Set");
    let code = instruction.condition_code();
    if code == C::None || !sets(instruction.mnemonic()) {
        return None;
    }
    Some(match code {
        C::None => return None,
        C::o => overflow,
        C::no => !overflow,
        C::b => carry,
        C::ae => !carry,
        C::e => zero,
        C::ne => !zero,
        C::be => carry || zero,
        C::a => !carry && !zero,
        C::s => sign,
        C::ns => !sign,
        C::p => parity,
        C::np => !parity,
        C::l => sign != overflow,
        C::ge => sign == overflow,
        C::le => zero || sign != overflow,
        C::g => !zero && sign == overflow,
    })
}

/// What an instruction's one operand in memory is, by the values of registers.
pub fn cell(instruction: &Instruction, get: impl Fn(Register) -> u64) -> u64 {
    let index = get(instruction.memory_index()).wrapping_mul(u64::from(instruction.memory_index_scale()));
    get(instruction.memory_base()).wrapping_add(index).wrapping_add(instruction.memory_displacement64())
}

/// Puts all registers on the stack, as a [`Frame`].
#[macro_export]
macro_rules! push_registers {
    () => {
        "pushfq
        push r15
        push r14
        push r13
        push r12
        push r11
        push r10
        push r9
        push r8
        push rdi
        push rsi
        push rbp
        push rbx
        push rdx
        push rcx
        push rax"
    };
}

/// Takes them back.
#[macro_export]
macro_rules! pop_registers {
    () => {
        "pop rax
        pop rcx
        pop rdx
        pop rbx
        pop rbp
        pop rsi
        pop rdi
        pop r8
        pop r9
        pop r10
        pop r11
        pop r12
        pop r13
        pop r14
        pop r15
        popfq"
    };
}

/// The middle of a naked function: puts all registers on the stack, calls a function with where they are, and takes them back. Nobody expects that an
/// instruction which is no call changes the vector registers.
#[macro_export]
macro_rules! save_registers {
    ([$($before:literal),*], [$($after:literal),*], $($name:ident = sym $target:path),*) => {
        core::arch::naked_asm!(
            $($before,)*
            $crate::push_registers!(),
            "mov rbx, rsp",
            "cld",
            "sub rsp, 2752",
            "and rsp, -64",
            "xor eax, eax",
            "mov ecx, 8",
            "lea rdi, [rsp + 512]",
            "rep stosq",
            "mov eax, 0xe7",
            "xor edx, edx",
            "xsave64 [rsp]",
            "mov rdi, rbx",
            "call {step}",
            "mov eax, 0xe7",
            "xor edx, edx",
            "xrstor64 [rsp]",
            "mov rsp, rbx",
            $crate::pop_registers!(),
            $($after,)*
            $($name = sym $target,)*
        )
    };
}
