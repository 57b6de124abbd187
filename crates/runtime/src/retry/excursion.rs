//! Excursions: code of a thread runs from one call of the runtime to the next, without consequences ([`crate::arch::step`]). Here is where one begins and ends, and where the code under test lies.

use std::sync::OnceLock;

use super::call::Call;
use super::value_at;
use crate::arch::site::Preserved;
use crate::memory::reset::{self, Modules};

/// Everything that a thread is at a call of the runtime, besides memory that is not its stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct State {
    /// The return address.
    pub pc: u64,
    /// The stack pointer at the entry of the function called.
    pub sp: u64,
    /// The registers that calls preserve.
    pub registers: Preserved,
    /// The stack from there up.
    pub stack: Vec<u8>,
}

impl State {
    /// Takes the place of what was there. False when the stack is not as expected.
    pub fn capture(&mut self, pc: u64, (sp, registers): (u64, Preserved), top: u64) -> bool {
        const STACK_MAX: u64 = 16 << 10;
        if sp >= top || top - sp > STACK_MAX {
            return false;
        }
        (self.pc, self.sp, self.registers) = (pc, sp, registers);
        self.stack.clear();
        // SAFETY: between the stack pointer and the top of a thread's own stack.
        self.stack.extend_from_slice(unsafe { std::slice::from_raw_parts(sp as *const u8, (top - sp) as usize) });
        true
    }

    /// The bytes of the stack at an address.
    pub fn bytes(&mut self, address: u64, size: usize) -> Option<&mut [u8]> {
        let at = usize::try_from(address.checked_sub(self.sp)?).ok()?;
        self.stack.get_mut(at..at.checked_add(size)?)
    }
}

/// Whose code is run.
#[derive(Clone, Copy, Debug)]
pub struct Lane {
    /// The lowest address of the stack.
    pub bottom: u64,
    /// The top of the part that is used.
    pub top: u64,
    /// The lowest address in use while the thread waits.
    pub low: u64,
    /// Where its thread-local storage is.
    pub thread_pointer: u64,
}

/// Where an excursion ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Stop {
    /// At a call of the runtime.
    At(Call, State),
    /// Somewhere else: it cannot be known what happens there.
    Lost,
}

/// What to read in memory instead of what is there.
pub type Overlay = (u64, u8, [u8; 16]);

/// Where the code under test lies, and the runtime; looked up once.
pub fn places() -> &'static Modules {
    static PLACES: OnceLock<Modules> = OnceLock::new();
    PLACES.get_or_init(reset::modules)
}

/// Whether an address lies in a module of the code under test.
pub fn in_modules(address: u64, size: u64) -> bool {
    let inside = |&(from, to): &(u64, u64)| address >= from && address.saturating_add(size) <= to;
    places().all.iter().any(inside)
}

/// The word at an address that the linker filled in and nobody can change.
pub fn fixed_word(address: u64) -> Option<u64> {
    let inside = |&(from, to): &(u64, u64)| address >= from && address.saturating_add(8) <= to;
    places().fixed.iter().any(inside).then(|| {
        // SAFETY: inside of a segment of a loaded module.
        unsafe { value_at(address, 8) }
    })
}

/// Where the segment of the code under test ends that an address lies in.
pub fn code_end(pc: u64) -> Option<u64> {
    places().code.iter().find(|(from, to)| (*from..*to).contains(&pc)).map(|&(_, to)| to)
}

/// Whether an address lies in the runtime's instructions.
pub fn is_own(pc: u64) -> bool {
    let (from, to) = places().own;
    (from..to).contains(&pc)
}
