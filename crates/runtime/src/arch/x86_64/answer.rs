//! Instructions that answer differently each time: the time stamp and the processor's random numbers. They are answered as clocks and `rand` are ([`crate::posix::time`]),
//! and passed over.
//!
//! Invariant: a thread that was answered goes on behind the instruction, whose registers and flags hold the answer.

use iced_x86::{Instruction, Mnemonic, Register};

use super::frame::{Frame, place};
use super::unseen::{BETWEEN, go_on_at};
use crate::posix::time;

/// Says that there was a random number; the flags that it clears.
const CARRY: u64 = 1;
const CLEARED: u64 = 0x8d4;

/// Whether it is one of them. The thread that is at it has its answer then.
pub fn answers(frame: &mut Frame, instruction: &Instruction) -> bool {
    let next = instruction.next_ip();
    match instruction.mnemonic() {
        Mnemonic::Rdtsc | Mnemonic::Rdtscp => {
            let now = time::stamp(next);
            put(frame, Register::EAX, now);
            put(frame, Register::EDX, now >> 32);
            if instruction.mnemonic() == Mnemonic::Rdtscp {
                put(frame, Register::ECX, 0);
            }
        }
        Mnemonic::Rdrand | Mnemonic::Rdseed => {
            put(frame, instruction.op0_register(), time::next_random());
            frame.flags = frame.flags & !CLEARED | CARRY;
        }
        _ => return false,
    }
    go_on_at(frame, next);
    true
}

/// Writes a register as instructions do: the upper half of one with 32 bits is cleared, and nothing else of one with 16.
fn put(frame: &mut Frame, register: Register, value: u64) {
    let whole = frame.get(register, BETWEEN);
    let new = match register.size() {
        2 => whole & !0xffff | value & 0xffff,
        4 => value & u64::from(u32::MAX),
        _ => value,
    };
    if register.full_register() != Register::RSP {
        frame.registers[place(register.full_register())] = new;
    }
}
