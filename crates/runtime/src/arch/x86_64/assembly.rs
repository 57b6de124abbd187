//! Inline assembly: a call stands before each of its instructions ([`super::unseen`]), and one that touches memory which others may know is a step.
//!
//! The processor says what such an instruction means: with `lock`, and for `xchg`, it is one sequentially consistent update; a load acquires and a store releases; an update
//! without `lock` is a load and then a store, and others may go in between. The value that it leaves behind is computed here, then the instruction itself runs, which leaves the same.
//! What is not understood that well ends the run: it is not controlled.

use iced_x86::{FlowControl, Instruction, Mnemonic, OpKind, Register};
use selvedge_explore::Kind;
use selvedge_protocol::{Cause, Out};

use super::frame::Frame;
use super::step;
use super::switch;
use super::unseen::{BETWEEN, Decoded, Touched, at, name, note, touched};
use crate::abi::atomic::{self, Outcome, Told};
use crate::control::{active, private, with};
use crate::fiber::fail;

const ACQUIRE: i32 = 2;
const RELEASE: i32 = 3;
const SEQUENTIALLY_CONSISTENT: i32 = 5;

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
    let frame = unsafe { &*frame };
    let decoded = at(frame);
    note(frame, &decoded.instruction);
    if fences(&decoded.instruction) || computes(&decoded.instruction) {
        return;
    }
    let mut shared = match touched(frame, decoded) {
        Some(all) if !leaves(&decoded.instruction) => all,
        _ => give_up(&decoded.instruction),
    };
    shared.retain(|one| !private(one.address));
    match shared.as_slice() {
        [] => {}
        [one] => make_step(frame, decoded, one),
        _ => give_up(&decoded.instruction),
    }
    if atomic::must_tidy() {
        // SAFETY: below the stack pointer is nothing that anybody needs, and the step that was made has seen to it that there is room.
        unsafe { switch::wipe(0) };
    }
}

/// Ends the run: nothing is claimed of what this does.
fn give_up(instruction: &Instruction) -> ! {
    let out = match instruction.mnemonic() {
        Mnemonic::Rdtsc
        | Mnemonic::Rdtscp
        | Mnemonic::Rdrand
        | Mnemonic::Rdseed
        | Mnemonic::Rdpmc
        | Mnemonic::Rdpid => Out::Answer(name(instruction)),
        _ => Out::Assembly(name(instruction)),
    };
    fail(Cause::Out(out), instruction.next_ip())
}

/// A fence orders nothing that is not in order already; it matters to the data races.
fn fences(instruction: &Instruction) -> bool {
    let is_fence = matches!(instruction.mnemonic(), Mnemonic::Mfence | Mnemonic::Lfence | Mnemonic::Sfence);
    if is_fence {
        with(|control| {
            let thread = control.run.current;
            if control.run.races.on {
                control.run.races.fence(thread, SEQUENTIALLY_CONSISTENT);
            }
        });
    }
    is_fence
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

fn make_step(frame: &Frame, decoded: &Decoded, cell: &Touched) {
    let instruction = &decoded.instruction;
    let Touched { address, size, write } = *cell;
    if !matches!(size, 1 | 2 | 4 | 8) || !address.is_multiple_of(size) {
        give_up(instruction);
    }
    let size = size as u32;
    with(|control| control.run.objects.assembled.insert(address & !7));
    let is_whole = instruction.has_lock_prefix() || instruction.mnemonic() == Mnemonic::Xchg;
    if matches!(effect(frame, instruction, size, write, 0), Effect::Unknown) {
        give_up(instruction);
    }
    if is_whole {
        let waited = atomic::arrive(address, size, Kind::Update, Told::Never, 0, 0);
        // SAFETY: the instruction is about to touch it; nobody else runs.
        let old = unsafe { atomic::read(address, size) };
        let Effect::Updates(new) = effect(frame, instruction, size, write, old) else { give_up(instruction) };
        let outcome = Outcome { kind: Kind::Update, old, new, order: SEQUENTIALLY_CONSISTENT, waited };
        return atomic::record(address, size, Told::Never, 0, outcome);
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

fn store(address: u64, size: u32, new: u64) {
    let waited = atomic::arrive(address, size, Kind::Write, Told::Never, 0, 0);
    // SAFETY: the instruction is about to touch it; nobody else runs.
    let old = unsafe { atomic::read(address, size) };
    let outcome = Outcome { kind: Kind::Write, old, new, order: RELEASE, waited };
    atomic::record(address, size, Told::Never, 0, outcome);
}

/// What the instruction leaves where it found `old`.
fn effect(frame: &Frame, instruction: &Instruction, size: u32, write: bool, old: u64) -> Effect {
    use Mnemonic::{Add, And, Btc, Btr, Bts, Cmpxchg, Dec, Inc, Mov, Movnti, Neg, Not, Or, Sub, Xadd, Xchg, Xor};
    let bits = u64::MAX >> (64 - 8 * size);
    if !write {
        return Effect::Reads;
    }
    let Some(with) = operand(frame, instruction) else { return Effect::Unknown };
    let bit = || matches!(instruction.op1_kind(), OpKind::Immediate8).then(|| 1u64 << (with % u64::from(8 * size)));
    let new = match instruction.mnemonic() {
        Mov | Movnti => return Effect::Writes(with & bits),
        Xchg => with,
        Add | Xadd => old.wrapping_add(with),
        Sub => old.wrapping_sub(with),
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
        mnemonic @ (Bts | Btr | Btc) => match (bit(), mnemonic) {
            (None, _) => return Effect::Unknown,
            (Some(bit), Bts) => old | bit,
            (Some(bit), Btr) => old & !bit,
            (Some(bit), _) => old ^ bit,
        },
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
