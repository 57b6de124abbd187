//! Accesses that the compilers' passes do not announce. Where tests are compiled, a call is put before each of them (`driver::compile`), which
//! keeps all registers; the instruction behind it is decoded here, and says what it is about to touch.
//!
//! Most are plain accesses like those that are announced: structures that are passed and returned by value, blocks that gcc copies and clears inline.
//! Inline assembly is looked at in the same way; what it does beyond that is not controlled.

use std::cell::{OnceCell, UnsafeCell};
use std::collections::HashMap;

use iced_x86::{
    Decoder, DecoderOptions, Instruction, InstructionInfoFactory, InstructionInfoOptions, Mnemonic, OpAccess, OpKind,
    Register, UsedMemory,
};
use selvedge_explore::Access;
use selvedge_protocol::{Cause, Out};

use super::frame::{Frame, RED_ZONE, VECTORS, VECTORS_ALIGNED, place};
use super::live::{self, Live};
use super::{patched, site, switch};
use crate::abi::plain::look_at;
use crate::control::{active, private, with};
use crate::fiber::fail;

/// Between the return address of the call and the instruction: what undoes the step over the red zone.
pub const UNDO: u64 = 8;
/// Between the registers and where the stack pointer was.
pub const BETWEEN: u64 = 8 + RED_ZONE;
/// The most bytes that an instruction has.
pub const LONGEST: usize = 15;

/// One access of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touched {
    /// The first byte.
    pub address: u64,
    /// How many.
    pub size: u64,
    /// Whether it writes.
    pub write: bool,
}

/// An instruction and what it uses.
pub struct Decoded {
    /// The instruction.
    pub instruction: Instruction,
    /// Whether it was found in the machine code ([`patched`]).
    pub patched: bool,
    memory: Vec<UsedMemory>,
    live: OnceCell<Live>,
}

impl Decoded {
    fn live(&self) -> Live {
        *self.live.get_or_init(|| live::from(&self.instruction))
    }
}

struct Cell(UnsafeCell<Option<HashMap<u64, Box<Decoded>>>>);

// SAFETY: used by the one thread that is under control.
unsafe impl Sync for Cell {}

/// By address.
static DECODED: Cell = Cell(UnsafeCell::new(None));

/// Whether the step that the thread has just made is this access: a volatile one, whose instruction comes right behind it, or the load that LLVM leaves
/// behind where it has put a call in the place of an atomic one.
fn was_a_step(touched: &Touched) -> bool {
    with(|control| {
        let Some(last) = control.run.trace.len().checked_sub(1) else { return false };
        let within = |access: &Access| {
            touched.address >= access.object
                && touched.address.saturating_add(touched.size) <= access.object.saturating_add(u64::from(access.size))
        };
        control.run.trace.step(last).thread.index() == control.run.current
            && control.run.trace.accesses(last).iter().any(within)
    })
}

fn decode(pc: u64) -> Decoded {
    // SAFETY: instructions of a loaded module; the longest may reach behind the last one, into its page.
    let bytes = unsafe { std::slice::from_raw_parts(pc as *const u8, LONGEST) };
    let original = patched::original(pc);
    let patched = original.is_some();
    let instruction = original.unwrap_or_else(|| Decoder::with_ip(64, bytes, pc, DecoderOptions::NONE).decode());
    let mut factory = InstructionInfoFactory::new();
    let info = factory.info_options(&instruction, InstructionInfoOptions::NO_REGISTER_USAGE);
    Decoded { instruction, patched, memory: info.used_memory().to_vec(), live: OnceCell::new() }
}

/// The instruction that a thread is at.
pub fn at(frame: &Frame) -> &'static Decoded {
    // SAFETY: the return address lies above the registers.
    let back = unsafe { (&raw const *frame).add(1).cast::<u64>().read() };
    // SAFETY: one thread is under control, and this is it. What is there stays where it is when others put something in, and is never taken out.
    let decoded = unsafe { (*DECODED.0.get()).get_or_insert_with(HashMap::new) };
    decoded.entry(back + UNDO).or_insert_with_key(|&pc| Box::new(decode(pc)))
}

/// Where a thread goes on that passes over its instruction.
static mut GOES_ON: u64 = 0;

/// The thread goes on there when its registers have been taken back, and not at the instruction that it is at.
pub fn go_on_at(frame: &mut Frame, pc: u64) {
    // SAFETY: the return address lies above the registers; one thread is under control, and this is it.
    unsafe {
        (&raw mut *frame).add(1).cast::<u64>().write(pass_over as *const () as u64);
        GOES_ON = pc;
    }
}

/// Undoes the step over the red zone.
#[unsafe(naked)]
unsafe extern "C" fn pass_over() {
    core::arch::naked_asm!("lea rsp, [rsp + {zone}]", "jmp qword ptr [rip + {to}]", zone = const RED_ZONE, to = sym GOES_ON)
}

fn value(frame: &Frame, register: Register) -> Option<u64> {
    match register {
        Register::FS => Some(switch::thread_pointer()),
        Register::DS | Register::ES | Register::SS | Register::CS => Some(0),
        _ if register.is_gpr() => Some(part(frame.get(register, BETWEEN), register)),
        _ => None,
    }
}

/// The part of a register that has this name, where it is used for an address.
fn part(value: u64, register: Register) -> u64 {
    if register.is_gpr32() { value & u64::from(u32::MAX) } else { value }
}

/// What an instruction is about to touch; `None` where that cannot be told.
pub fn touched(frame: &Frame, decoded: &Decoded) -> Option<Vec<Touched>> {
    let Decoded { instruction, memory, .. } = decoded;
    if instruction.is_string_instruction() && (instruction.has_rep_prefix() || instruction.has_repne_prefix()) {
        return repeated(frame, instruction);
    }
    let mut all = Vec::new();
    for used in memory {
        let write = match used.access() {
            OpAccess::None | OpAccess::NoMemAccess => continue,
            OpAccess::Read | OpAccess::CondRead => false,
            _ => true,
        };
        // Pushes, pops, calls: what lies there is nobody else's.
        if used.base() == Register::RSP && instruction.memory_base() != Register::RSP {
            continue;
        }
        let size = used.memory_size().size() as u64;
        // Gathering instructions have a vector of addresses, and those with a mask need not touch all.
        let masked = instruction.op_mask() != Register::None
            || matches!(used.access(), OpAccess::CondRead | OpAccess::CondWrite);
        if size == 0 || masked || used.index().is_vector_register() {
            return None;
        }
        let address = used.virtual_address(0, |register, _, _| value(frame, register))?;
        let address = address.wrapping_add_signed(bits_away(frame, instruction));
        all.push(Touched { address, size, write });
    }
    Some(all)
}

/// How far from its operand an instruction touches memory that counts bits from there by a register.
fn bits_away(frame: &Frame, instruction: &Instruction) -> i64 {
    let counts = matches!(instruction.mnemonic(), Mnemonic::Bt | Mnemonic::Bts | Mnemonic::Btr | Mnemonic::Btc);
    if !counts || instruction.op1_kind() != OpKind::Register {
        return 0;
    }
    let (bits, register) = (frame.get(instruction.op1_register(), BETWEEN) as i64, instruction.op1_register());
    match register.size() {
        2 => i64::from(bits as i16).div_euclid(16) * 2,
        4 => i64::from(bits as i32).div_euclid(32) * 4,
        _ => bits.div_euclid(64) * 8,
    }
}

/// What a repeated instruction touches: as many elements as it counts, or up to the one that ends a comparison.
fn repeated(frame: &Frame, instruction: &Instruction) -> Option<Vec<Touched>> {
    const DIRECTION: u64 = 1 << 10;
    let size = instruction.memory_size().size() as u64;
    let get = |register| frame.get(register, BETWEEN);
    let (from, to, mut count) = (get(Register::RSI), get(Register::RDI), get(Register::RCX));
    if frame.flags & DIRECTION != 0 {
        return None;
    }
    use Mnemonic::{Cmpsb, Lodsb, Lodsd, Lodsq, Lodsw, Movsb, Movsd, Movsq, Movsw, Scasb, Stosb, Stosd, Stosq, Stosw};
    let one = |address, write| vec![Touched { address, size: size * count, write }];
    Some(match instruction.mnemonic() {
        Stosb | Stosw | Stosd | Stosq => one(to, true),
        Lodsb | Lodsw | Lodsd | Lodsq => one(from, false),
        Movsb | Movsw | Movsd | Movsq => [one(from, false), one(to, true)].concat(),
        mnemonic @ (Scasb | Cmpsb) => {
            let wanted = get(Register::RAX) as u8;
            let ends_equal = instruction.has_repne_prefix();
            for at in 0..count {
                // SAFETY: what the instruction is about to compare, up to where it stops.
                let (here, there) = unsafe {
                    let here = *((to + at) as *const u8);
                    (here, if mnemonic == Scasb { wanted } else { *((from + at) as *const u8) })
                };
                if (here == there) == ends_equal {
                    count = at + 1;
                    break;
                }
            }
            let (one, other) = (
                Touched { address: to, size: count, write: false },
                Touched { address: from, size: count, write: false },
            );
            if mnemonic == Scasb { vec![one] } else { vec![other, one] }
        }
        _ => return None,
    })
}

/// Notes where the thread is, as an entry point would. All that a thread is at a call lies in its stack and in what calls preserve; here the other registers
/// are part of it. [`crate::save_registers`] has put them below the stack pointer, the vectors below the others.
fn note(frame: &Frame, instruction: &Instruction, lowest: u64) {
    let preserved = [Register::RBX, Register::RBP, Register::R12, Register::R13, Register::R14, Register::R15];
    site::note(instruction.next_ip(), lowest, preserved.map(|register| frame.get(register, BETWEEN)));
}

/// The same at inline assembly, where threads wait: what nobody reads again is no part of what a thread is, and [`Hidden`] sees to the rest of that.
pub fn note_live(frame: &Frame, decoded: &Decoded) {
    let saved = vectors(frame);
    let everything = decoded.live().vectors || computes_on_stack(saved);
    note(frame, &decoded.instruction, if everything { saved } else { &raw const *frame as u64 });
}

/// What a thread's registers held that nobody reads: while it waits they are the same for all that is alike.
pub struct Hidden {
    registers: [u64; 15],
    flags: u64,
    live: Live,
}

/// The flags that arithmetic sets.
const STATUS: u64 = 0x8d5;

impl Hidden {
    /// Clears what nobody reads from the instruction on.
    pub fn new(frame: &mut Frame, decoded: &Decoded) -> Self {
        let hidden = Hidden { registers: frame.registers, flags: frame.flags, live: decoded.live() };
        hidden.fill(frame, 0, 0);
        hidden
    }

    /// Puts it back. Where the runtime checks itself it leaves something else there: whoever reads it after all goes wrong, and is noticed.
    pub fn show(self, frame: &mut Frame) {
        const POISON: u64 = 0x5ead_5ead_5ead_5ead;
        (frame.registers, frame.flags) = (self.registers, self.flags);
        if cfg!(debug_assertions) {
            self.fill(frame, POISON, !self.flags);
            if !self.live.vectors && !computes_on_stack(vectors(frame)) {
                const LOWER_HALVES: (u64, usize) = (160, 256);
                // SAFETY: the entry point has saved the registers there, and takes them back.
                unsafe { ((vectors(frame) + LOWER_HALVES.0) as *mut u8).write_bytes(POISON as u8, LOWER_HALVES.1) };
            }
        }
    }

    /// Fills the registers that nobody reads.
    fn fill(&self, frame: &mut Frame, value: u64, flags: u64) {
        const STACK: usize = 4;
        for number in (0..16).filter(|&number| number != STACK && self.live.general >> number & 1 == 0) {
            frame.registers[number - usize::from(number > STACK)] = value;
        }
        if !self.live.flags {
            frame.flags = frame.flags & !STATUS | flags & STATUS;
        }
    }
}

/// Where the vector registers were saved.
fn vectors(frame: &Frame) -> u64 {
    (&raw const *frame as u64 - VECTORS) & !(VECTORS_ALIGNED - 1)
}

/// Whether something lies on the stack of the old coprocessor, by what was saved of it.
fn computes_on_stack(saved: u64) -> bool {
    const TAGS: u64 = 4;
    // SAFETY: the entry point has saved the registers there.
    unsafe { *((saved + TAGS) as *const u8) != 0 }
}

/// How an instruction is called in messages.
pub fn name(instruction: &Instruction) -> String {
    let name = format!("{:?}", instruction.mnemonic()).to_lowercase();
    if instruction.has_lock_prefix() { format!("lock {name}") } else { name }
}

unsafe extern "C" fn look(frame: *mut Frame) {
    if !active() {
        return;
    }
    // SAFETY: the entry point passes the registers.
    let frame = unsafe { &*frame };
    let decoded = at(frame);
    remember(decoded);
    note(frame, &decoded.instruction, vectors(frame));
    let pc = decoded.instruction.next_ip();
    let Some(all) = touched(frame, decoded) else { fail(Cause::Out(Out::Unknown(name(&decoded.instruction))), pc) };
    for touched in all {
        if touched.size > 0 && !private(touched.address) && !was_a_step(&touched) {
            // SAFETY: code under control is about to touch it.
            unsafe { look_at(touched.address as usize, touched.size as usize, touched.write, pc) };
        }
    }
}

/// Entry point: before a plain access that nothing has announced. Most are to the thread's own stack, and over soon.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_before_access() {
    core::arch::naked_asm!(
        crate::push_registers!(),
        // The instruction, and where it is noted.
        "mov rsi, [rsp + 128]",
        "add rsi, {undo}",
        "mov eax, esi",
        "and eax, {mask}",
        "shl eax, 4",
        "lea rcx, [rip + {own}]",
        "add rcx, rax",
        "cmp [rcx], rsi",
        "jne 2f",
        // The register and what is added to it: is that in the thread's own stack?
        "movzx eax, byte ptr [rcx + 12]",
        "movsxd rdx, dword ptr [rcx + 8]",
        "lea rdi, [rsp + {above}]",
        "cmp eax, 15",
        "cmovb rdi, [rsp + 8 * rax]",
        "add rdi, rdx",
        "sub rdi, qword ptr [rip + {stack}]",
        "cmp rdi, qword ptr [rip + {stack} + 8]",
        "jb 3f",
        "2:",
        crate::pop_registers!(),
        "jmp {look}",
        "3:",
        crate::pop_registers!(),
        "ret",
        undo = const UNDO,
        mask = const OWN_MAX - 1,
        own = sym OWN,
        stack = sym crate::control::STACK,
        above = const 128 + BETWEEN,
        look = sym look_closely,
    )
}

#[unsafe(naked)]
unsafe extern "C" fn look_closely() {
    crate::save_registers!([], ["ret"], step = sym look)
}

/// How many instructions are noted that touch one place by one register.
const OWN_MAX: usize = 4096;

/// Such an instruction: where it lies, what is added, and the register by its place in a [`Frame`], 15 for the stack pointer.
#[repr(C, align(16))]
#[derive(Clone, Copy)]
struct Simple {
    pc: u64,
    offset: i32,
    register: u8,
}

static mut OWN: [Simple; OWN_MAX] = [Simple { pc: 0, offset: 0, register: 0 }; OWN_MAX];

/// Notes an instruction that touches one place by one register.
fn remember(decoded: &Decoded) {
    let Decoded { instruction, memory, .. } = decoded;
    let [used] = memory.as_slice() else { return };
    let plain = used.index() == Register::None && used.segment() != Register::FS && used.base().is_gpr64();
    let Ok(offset) = i32::try_from(used.displacement() as i64) else { return };
    if plain && !instruction.is_string_instruction() {
        let register = if used.base() == Register::RSP { 15 } else { place(used.base()) as u8 };
        let pc = instruction.ip();
        // SAFETY: one thread is under control, and this is it.
        unsafe { OWN[pc as usize % OWN_MAX] = Simple { pc, offset, register } };
    }
}
