//! Inline assembly: a call stands before each of its instructions ([`super::unseen`]), and one that touches memory which others may know is a step.
//!
//! The processor says what such an instruction means: with `lock`, and for `xchg`, it is one sequentially consistent update; a load acquires and a store releases; an update
//! without `lock` is a load and then a store, and others may go in between. The value that it leaves behind is computed here, then the instruction itself runs, which leaves the same.
//! What moves other pieces than one word of memory, or computes what is not known here, is looked at as plain accesses are. What is not understood that well
//! ends the run: it is not controlled.

use iced_x86::{FlowControl, Instruction, Mnemonic, OpKind, Register};
use selvedge_explore::Kind;
use selvedge_protocol::{Cause, Out};

use super::frame::{Frame, condition};
use super::unseen::{BETWEEN, Decoded, Hidden, Touched, at, name, note_live, touched};
use super::{answer, step, switch};
use crate::abi::atomic::{self, Outcome, Told};
use crate::abi::{plain, wide};
use crate::control::{active, private, with};
use crate::fiber::fail;
use crate::finding::uninstrumented;

const ACQUIRE: i32 = 2;
const RELEASE: i32 = 3;
const SEQUENTIALLY_CONSISTENT: i32 = 5;
/// The bytes of the widest update.
const WIDE: u64 = 16;

/// Entry point: before an instruction of inline assembly.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_before_assembly() {
    crate::save_registers!([], ["ret"], step = sym before)
}

unsafe extern "C" fn before(frame: *mut Frame) {
    if !active() {
        return;
    }
    // SAFETY: the entry point passes the registers.
    let frame = unsafe { &mut *frame };
    let decoded = at(frame);
    let instruction = &decoded.instruction;
    note_live(frame, decoded);
    if fences(instruction) || answer::answers(frame, instruction) || computes(instruction) {
        return;
    }
    let hidden = Hidden::new(frame, decoded);
    act(frame, decoded);
    hidden.show(frame);
}

/// Makes the steps of an instruction.
fn act(frame: &Frame, decoded: &'static Decoded) {
    let instruction = &decoded.instruction;
    let mut shared = match touched(frame, decoded) {
        Some(all) if !leaves(instruction) => all,
        _ => give_up(instruction),
    };
    // A word of the thread's own stack may be a lock that others know. Whether they do must not change what is a step.
    shared.retain(|one| is_word(one) || !private(one.address));
    if is_idle(instruction) {
        shared.clear();
    }
    if decoded.patched {
        shared.iter().for_each(|one| note_unseen(instruction, one.address));
    }
    match shared.as_slice() {
        [] => {}
        [one] if one.size == WIDE && is_whole(instruction) => exchange_wide(frame, instruction, one),
        [one] if is_whole(instruction) || is_word(one) && !is_unknown(frame, instruction, one) => {
            make_step(frame, instruction, one);
        }
        pieces => pieces.iter().for_each(|piece| look_at(piece, instruction)),
    }
    if is_whole(instruction) {
        fence();
    }
    if atomic::must_tidy() {
        // SAFETY: below the stack pointer is nothing that anybody needs, and the step that was made has seen to it that there is room.
        unsafe { switch::wipe(0) };
    }
}

/// A thread synchronises in code of which plain loads and stores are not seen, so nothing that rests on them can be said of the run. An operation of an object has results, which do.
fn note_unseen(instruction: &Instruction, address: u64) {
    let pc = instruction.next_ip();
    let ends = with(|control| {
        let (thread, objects) = (control.run.current, &mut control.run.objects);
        objects.unseen = pc;
        let by_two = *objects.foreign.entry(address & !7).or_insert(thread) != thread;
        if by_two {
            objects.unseen_by_two = pc;
        }
        by_two && control.search.lineup.object.is_some()
    });
    if ends {
        fail(Cause::Out(uninstrumented(pc)), pc);
    }
}

/// Ends the run: nothing is claimed of what this does.
fn give_up(instruction: &Instruction) -> ! {
    let out = match instruction.mnemonic() {
        Mnemonic::Rdpmc | Mnemonic::Rdpid => Out::Answer(name(instruction)),
        _ => Out::Assembly(name(instruction)),
    };
    fail(Cause::Out(out), instruction.next_ip())
}

/// Whether it is one update to everybody else. The processor takes it for a fence, too.
fn is_whole(instruction: &Instruction) -> bool {
    instruction.has_lock_prefix()
        || instruction.mnemonic() == Mnemonic::Xchg
            && (instruction.op0_kind() == OpKind::Memory || instruction.op1_kind() == OpKind::Memory)
}

/// Whether it is there for the fence alone: it adds nothing to the top of its own stack.
fn is_idle(instruction: &Instruction) -> bool {
    use Mnemonic::{Add, Or, Sub, Xor};
    instruction.has_lock_prefix()
        && matches!(instruction.mnemonic(), Add | Or | Sub | Xor)
        && instruction.memory_base() == Register::RSP
        && instruction.op1_kind() != OpKind::Register
        && instruction.immediate(1) == 0
}

/// What the processor reads and writes at once.
fn is_word(cell: &Touched) -> bool {
    matches!(cell.size, 1 | 2 | 4 | 8) && cell.address.is_multiple_of(cell.size)
}

fn is_unknown(frame: &Frame, instruction: &Instruction, cell: &Touched) -> bool {
    matches!(effect(frame, instruction, cell.size as u32, cell.write, 0), Effect::Unknown)
}

/// An access that is none of one word: others who touch the same memory have to be ordered with it.
fn look_at(piece: &Touched, instruction: &Instruction) {
    with(|control| control.run.objects.assembled.extend((piece.address & !7..piece.address + piece.size).step_by(8)));
    if piece.size > 0 {
        // SAFETY: code under control is about to touch it.
        unsafe {
            plain::look_at(piece.address as usize, piece.size as usize, piece.write, instruction.next_ip());
        }
    }
}

fn fence() {
    with(|control| {
        let thread = control.run.current;
        if control.run.races.on {
            control.run.races.fence(thread, SEQUENTIALLY_CONSISTENT);
            control.run.races.barriers = true;
        }
    });
}

/// A fence orders nothing that is not in order already; it matters to the data races.
fn fences(instruction: &Instruction) -> bool {
    let is_fence = matches!(instruction.mnemonic(), Mnemonic::Mfence | Mnemonic::Lfence | Mnemonic::Sfence);
    if is_fence {
        fence();
    }
    is_fence
}

/// Entry point: inline assembly without an instruction, which keeps the compiler from moving accesses across it. The processor that there is keeps all in order then but loads behind stores.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_at_barrier() {
    crate::save_registers!([], ["ret"], step = sym barrier)
}

unsafe extern "C" fn barrier(_: *mut Frame) {
    const ACQUIRE_AND_RELEASE: i32 = 4;
    if active() {
        with(|control| {
            let thread = control.run.current;
            if control.run.races.on {
                control.run.races.fence(thread, ACQUIRE_AND_RELEASE);
                control.run.races.barriers = true;
            }
        });
    }
}

/// Whether it touches no memory but the top of its own stack, and learns nothing that differs from run to run on one machine.
fn computes(instruction: &Instruction) -> bool {
    use Mnemonic::{Cpuid, Lea, Pause, Popf, Popfq, Pushf, Pushfq, Xgetbv};
    let direct = match instruction.flow_control() {
        FlowControl::Call => instruction.mnemonic() == Mnemonic::Call,
        FlowControl::Return => instruction.mnemonic() == Mnemonic::Ret,
        FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch => true,
        _ => false,
    };
    direct || matches!(instruction.mnemonic(), Cpuid | Xgetbv | Pushf | Pushfq | Popf | Popfq | Lea | Pause)
}

/// Whether it leaves the program, or learns something that differs from run to run.
fn leaves(instruction: &Instruction) -> bool {
    step::is_outward(instruction) || instruction.is_privileged()
}

/// What an instruction makes of a value in memory.
enum Effect {
    /// It only reads.
    Reads,
    /// It writes this, whatever is there.
    Writes(u64),
    /// It writes this in the place of what it found.
    Updates(u64),
    /// It is not known.
    Unknown,
}

fn make_step(frame: &Frame, instruction: &Instruction, cell: &Touched) {
    let Touched { address, size, write } = *cell;
    if !is_word(cell) || is_unknown(frame, instruction, cell) {
        give_up(instruction);
    }
    let size = size as u32;
    with(|control| control.run.objects.assembled.insert(address & !7));
    if is_whole(instruction) {
        return update(frame, instruction, cell);
    }
    if let Effect::Writes(new) = effect(frame, instruction, size, write, 0) {
        return store(address, size, new);
    }
    let waited = atomic::arrive(address, size, Kind::Read, Told::Never, 0, 0);
    // SAFETY: the instruction is about to read it; nobody else runs.
    let old = unsafe { atomic::read(address, size) };
    let outcome = Outcome { kind: Kind::Read, old, new: old, order: ACQUIRE, waited };
    atomic::record(address, size, Told::Never, 0, outcome);
    if let Effect::Updates(new) = effect(frame, instruction, size, write, old) {
        store(address, size, new);
        // It goes on with what it has read, also if somebody else has written since.
        // SAFETY: the instruction writes there next; nobody else runs.
        unsafe { atomic::write(address, size, old) };
    }
}

/// One update, which may be an exchange that fails.
fn update(frame: &Frame, instruction: &Instruction, cell: &Touched) {
    let (address, size) = (cell.address, cell.size as u32);
    let compares = instruction.mnemonic() == Mnemonic::Cmpxchg;
    let expected = if compares { frame.registers[0] & u64::MAX >> (64 - 8 * size) } else { 0 };
    let told = if compares { Told::Apart } else { Told::Never };
    let waited = atomic::arrive(address, size, Kind::Update, told, expected, 0);
    // SAFETY: the instruction is about to touch it; nobody else runs.
    let old = unsafe { atomic::read(address, size) };
    let Effect::Updates(new) = effect(frame, instruction, size, cell.write, old) else { give_up(instruction) };
    let kind = if compares && old != expected { Kind::Read } else { Kind::Update };
    atomic::record(address, size, told, expected, Outcome { kind, old, new, order: SEQUENTIALLY_CONSISTENT, waited });
}

/// A compare and exchange of two words.
fn exchange_wide(frame: &Frame, instruction: &Instruction, cell: &Touched) {
    if instruction.mnemonic() != Mnemonic::Cmpxchg16b || !cell.address.is_multiple_of(WIDE) {
        give_up(instruction);
    }
    with(|control| control.run.objects.assembled.extend([cell.address, cell.address + 8]));
    let get = |register| u128::from(frame.get(register, BETWEEN));
    let expected = get(Register::RDX) << 64 | get(Register::RAX);
    let new = get(Register::RCX) << 64 | get(Register::RBX);
    // SAFETY: the instruction is about to touch it, and is given back what it has to find.
    unsafe { wide::foresees(cell.address as *mut u128, expected, new, SEQUENTIALLY_CONSISTENT) };
}

fn store(address: u64, size: u32, new: u64) {
    let waited = atomic::arrive(address, size, Kind::Write, Told::Never, 0, 0);
    // SAFETY: the instruction is about to touch it; nobody else runs.
    let old = unsafe { atomic::read(address, size) };
    let outcome = Outcome { kind: Kind::Write, old, new, order: RELEASE, waited };
    atomic::record(address, size, Told::Never, 0, outcome);
}

/// What the instruction leaves where it found `old`.
fn effect(frame: &Frame, instruction: &Instruction, size: u32, write: bool, old: u64) -> Effect {
    use Mnemonic::{
        Adc, Add, And, Btc, Btr, Bts, Cmpxchg, Dec, Inc, Mov, Movnti, Neg, Not, Or, Sbb, Sub, Xadd, Xchg, Xor,
    };
    let bits = u64::MAX >> (64 - 8 * size);
    if !write {
        return Effect::Reads;
    }
    if let Some(holds) = condition(instruction, frame.flags) {
        return if size == 1 { Effect::Writes(u64::from(holds)) } else { Effect::Unknown };
    }
    const CARRY: u64 = 1;
    let carry = frame.flags & CARRY;
    let Some(with) = operand(frame, instruction) else { return Effect::Unknown };
    let bit = 1u64 << (with % u64::from(8 * size));
    let new = match instruction.mnemonic() {
        Mov | Movnti => return Effect::Writes(with & bits),
        Xchg => with,
        Add | Xadd => old.wrapping_add(with),
        Sub => old.wrapping_sub(with),
        Adc => old.wrapping_add(with).wrapping_add(carry),
        Sbb => old.wrapping_sub(with).wrapping_sub(carry),
        And => old & with,
        Or => old | with,
        Xor => old ^ with,
        Inc => old.wrapping_add(1),
        Dec => old.wrapping_sub(1),
        Neg => old.wrapping_neg(),
        Not => !old,
        Cmpxchg => {
            let expected = frame.registers[0] & bits;
            if old == expected { with } else { old }
        }
        Bts => old | bit,
        Btr => old & !bit,
        Btc => old ^ bit,
        _ => return Effect::Unknown,
    };
    Effect::Updates(new & bits)
}

/// The operand that is not in memory; 0 when there is none.
fn operand(frame: &Frame, instruction: &Instruction) -> Option<u64> {
    let other = if instruction.op0_kind() == OpKind::Memory { 1 } else { 0 };
    if instruction.op_count() < 2 {
        return Some(0);
    }
    match instruction.op_kind(other) {
        OpKind::Register => {
            let register = instruction.op_register(other);
            let value = frame.get(register, BETWEEN);
            match register {
                Register::AH | Register::BH | Register::CH | Register::DH => Some(value >> 8 & 0xff),
                _ if register.is_gpr() => Some(value),
                _ => None,
            }
        }
        OpKind::Memory => None,
        _ => Some(instruction.immediate(other)),
    }
}
