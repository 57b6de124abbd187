//! Whether the code under test looks at what a call answered.
//!
//! A loop that counts its rounds in shared memory never comes back to the same state, although nobody looks at the count. Running the code cannot show that
//! nobody does, so it is read: the answer of the call is in `rax`, and on every path that register is written or given to another call's answer before it is read. What cannot be
//! told is taken for a look. Complexity: linear in the instructions reached, at most [`WORK_MAX`].

use std::sync::OnceLock;

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, OpAccess, Register};

use crate::memory::reset::modules;

/// More instructions are not looked at.
const WORK_MAX: usize = 256;
/// The longest instruction.
const LONGEST: u64 = 15;

/// The instruction at an address of the code under test.
fn at(pc: u64) -> Option<Instruction> {
    static CODE: OnceLock<Vec<(u64, u64)>> = OnceLock::new();
    let code = CODE.get_or_init(|| modules().code);
    let &(_, end) = code.iter().find(|&&(start, end)| (start..end).contains(&pc))?;
    // SAFETY: instructions of a module that is loaded.
    let bytes = unsafe { std::slice::from_raw_parts(pc as *const u8, LONGEST.min(end - pc) as usize) };
    let instruction = Decoder::with_ip(64, bytes, pc, DecoderOptions::NONE).decode();
    (!instruction.is_invalid()).then_some(instruction)
}

/// Whether nobody looks at what the call answered that returns to this address.
pub fn is_unused(pc: u64) -> bool {
    let (mut seen, mut rest) = (vec![pc], vec![pc]);
    let mut info = InstructionInfoFactory::new();
    while let Some(pc) = rest.pop() {
        let Some(instruction) = at(pc) else { return false };
        let mut written = false;
        for used in info.info(&instruction).used_registers() {
            if used.register().full_register() == Register::RAX {
                if used.access() != OpAccess::Write {
                    return false;
                }
                // Half of it, or less, leaves the rest.
                written |= matches!(used.register(), Register::RAX | Register::EAX);
            }
        }
        let next = match instruction.flow_control() {
            _ if written => continue,
            FlowControl::Next => [Some(instruction.next_ip()), None],
            FlowControl::UnconditionalBranch => [Some(instruction.near_branch_target()), None],
            FlowControl::ConditionalBranch => [Some(instruction.next_ip()), Some(instruction.near_branch_target())],
            // No argument of a call is in this register, and its answer will be.
            FlowControl::Call | FlowControl::IndirectCall => continue,
            _ => return false,
        };
        for pc in next.into_iter().flatten().filter(|pc| !seen.contains(pc)).collect::<Vec<u64>>() {
            if seen.len() >= WORK_MAX {
                return false;
            }
            seen.push(pc);
            rest.push(pc);
        }
    }
    true
}
