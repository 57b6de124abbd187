//! Whether a variable on a thread's stack is dead: written before it is read on every path, or gone with its frame.
//!
//! A failed exchange stores what it found in a variable that the next attempt may leave alone and never look at. Running the code
//! cannot show that, so it is read instead: all instructions that can come next, through both arms of every branch, into calls and
//! out of returns, with what is certain about registers and about the words of the stack. An address is certain, or comes from
//! outside (memory that is not the stack, a call's answer), or may be one of the stack. What cannot be told ends the search with
//! "not dead".
//!
//! Assumption: the variable's address is not in shared memory, from where the thread might take it back. The variable is the one that
//! the code passes as the expected value of an exchange. Complexity: linear in the instructions reached, at most [`WORK_MAX`].

use std::collections::HashMap;

use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register,
    UsedMemory,
};

use super::step;
use crate::retry::call::{Call, Function, function_at};
use crate::retry::excursion::{self, Lane, State};

/// More instructions are not looked at.
const WORK_MAX: u32 = 6000;

/// What is known about a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Known(u64),
    /// Not an address on the stack.
    Foreign,
    /// Anything.
    Any,
}

/// The sixteen registers, by number.
type Registers = [Word; 16];
const SP: usize = 4;
const BP: usize = 5;

struct Reader<'a> {
    lane: &'a Lane,
    /// The variable: first address, one past the last.
    variable: (u64, u64),
    state: &'a State,
    /// Words of the stack that were written, with everything that they may hold.
    written: HashMap<u64, Word>,
    seen: HashMap<(u64, u64), Registers>,
    rest: Vec<(u64, Registers)>,
    work: u32,
    /// Whether `written` changed since the last pass began.
    changed: bool,
    /// Where the access was called for that is looked for instead of the end of the variable, if one is.
    goal: Option<u64>,
    /// Whether a path comes to it.
    reached: bool,
}

/// Whether so many bytes at an address are dead once a call that the thread is at returns.
pub fn is_dead(lane: &Lane, call: &Call, state: &State, address: u64, size: u8) -> bool {
    read(lane, call, state, (address, address + u64::from(size)), None) == Some(true)
}

/// Whether an access that the thread is at may be its next one too, as far as that can be told: without any other in between but those to its own stack.
pub fn may_come_back(lane: &Lane, state: &State) -> bool {
    let call = Call { function: Function::Ignored, arguments: [0; 7] };
    read(lane, &call, state, (u64::MAX, u64::MAX), Some(state.pc)).is_none_or(|reached| reached)
}

/// Follows all paths from a call; whether all are as wanted, or one comes to the goal; `None` where that cannot be told.
fn read(lane: &Lane, call: &Call, state: &State, variable: (u64, u64), goal: Option<u64>) -> Option<bool> {
    let mut reader = Reader {
        lane,
        variable,
        state,
        written: HashMap::new(),
        seen: HashMap::new(),
        rest: Vec::new(),
        work: 0,
        changed: true,
        goal,
        reached: false,
    };
    let mut registers = [Word::Foreign; 16];
    for (at, value) in [3, 5, 12, 13, 14, 15].into_iter().zip(state.registers) {
        registers[at] = Word::Known(value);
    }
    for (at, value) in [7, 6, 2, 1, 8, 9].into_iter().zip(call.arguments) {
        registers[at] = Word::Known(value);
    }
    registers[SP] = Word::Known(state.sp + 8);
    while reader.changed {
        reader.changed = false;
        reader.seen.clear();
        let mut first = registers;
        if !reader.calls(call.function, &mut first) {
            return None;
        }
        reader.rest.push((state.pc, first));
        while let Some((pc, registers)) = reader.rest.pop() {
            if !reader.follow(pc, registers) {
                return None;
            }
            if reader.reached {
                return Some(true);
            }
        }
    }
    Some(goal.is_none())
}

fn number(register: Register) -> Option<usize> {
    let full = register.full_register();
    full.is_gpr64().then(|| full.number())
}

fn writes(access: OpAccess) -> bool {
    matches!(access, OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite)
}

fn reads(access: OpAccess) -> bool {
    matches!(access, OpAccess::Read | OpAccess::CondRead | OpAccess::ReadWrite | OpAccess::ReadCondWrite)
}

impl Reader<'_> {
    fn on_stack(&self, address: u64) -> bool {
        (self.lane.bottom..self.lane.top).contains(&address)
    }

    /// Whether a word may be an address on the stack.
    fn may_point(&self, word: Word) -> bool {
        match word {
            Word::Known(value) => self.on_stack(value),
            Word::Foreign => false,
            Word::Any => true,
        }
    }

    fn join(&self, a: Word, b: Word) -> Word {
        match (a, b) {
            _ if a == b => a,
            _ if self.may_point(a) || self.may_point(b) => Word::Any,
            _ => Word::Foreign,
        }
    }

    fn overlaps(&self, address: u64, size: u64) -> bool {
        address < self.variable.1 && self.variable.0 < address.saturating_add(size)
    }

    /// What a word of the stack holds.
    fn load(&self, address: u64) -> Word {
        if !address.is_multiple_of(8) {
            return Word::Any;
        }
        let at = address.wrapping_sub(self.state.sp) as usize;
        let first = self.state.stack.get(at..at.saturating_add(8)).filter(|_| address >= self.state.sp);
        let first = first.map(|bytes| Word::Known(u64::from_le_bytes(bytes.try_into().expect("eight bytes"))));
        match (first, self.written.get(&address)) {
            (Some(first), Some(&later)) => self.join(first, later),
            (Some(word), None) | (None, Some(&word)) => word,
            (None, None) => Word::Foreign,
        }
    }

    fn store(&mut self, address: u64, size: u64, word: Word) {
        let whole = address.is_multiple_of(8) && size == 8;
        let word = match word {
            Word::Known(value) if !whole && !self.on_stack(value) => Word::Foreign,
            Word::Known(_) if !whole => Word::Any,
            word => word,
        };
        for at in (address & !7..address.saturating_add(size)).step_by(8) {
            let joined = match self.written.get(&at) {
                Some(&before) => self.join(before, word),
                None => word,
            };
            self.changed |= self.written.insert(at, joined) != Some(joined);
        }
    }

    /// A call of the runtime. False when it may read the variable.
    fn calls(&mut self, function: Function, registers: &mut Registers) -> bool {
        let cell = registers[7];
        if matches!(function, Function::Looked | Function::Assembly) {
            return function == Function::Looked;
        }
        let fine = match function {
            Function::Ignored | Function::Looked | Function::Assembly | Function::Yields => true,
            Function::Read(_) | Function::Write(_) => true,
            Function::Load(size) | Function::ExchangeValue(size) | Function::Update(size, _) => {
                self.misses(cell, size.into())
            }
            Function::Exchange(size) => {
                if let Word::Known(expected) = registers[6]
                    && self.on_stack(expected)
                    && !self.overlaps(expected, size.into())
                {
                    self.store(expected, size.into(), Word::Foreign);
                }
                self.misses(cell, size.into()) && self.misses(registers[6], size.into())
            }
            Function::Other(_) => [7, 6, 2, 1, 8, 9].iter().all(|&at| !self.may_point(registers[at])),
        };
        for at in [0, 1, 2, 6, 7, 8, 9, 10, 11] {
            registers[at] = Word::Foreign;
        }
        fine
    }

    /// Whether a read there is certainly not one of the variable.
    fn misses(&self, address: Word, size: u64) -> bool {
        match address {
            Word::Known(address) => !self.overlaps(address, size),
            Word::Foreign => true,
            Word::Any => false,
        }
    }

    /// Follows one path until it meets one that was followed, or the variable is dead. False when it may be read.
    fn follow(&mut self, mut pc: u64, mut registers: Registers) -> bool {
        loop {
            self.work += 1;
            let Word::Known(sp) = registers[SP] else { return false };
            if self.work > WORK_MAX || sp > self.lane.top {
                return false;
            }
            if self.variable.1 <= sp {
                return true;
            }
            if let Some(before) = self.seen.get(&(pc, sp)).copied() {
                let joined: Registers = std::array::from_fn(|at| self.join(before[at], registers[at]));
                if joined == before {
                    return true;
                }
                registers = joined;
            }
            self.seen.insert((pc, sp), registers);
            if self.goal.is_some() && excursion::is_own(pc) {
                // The function that the thread began with has returned.
                return true;
            }
            let Some(instruction) = decode(pc) else { return false };
            match self.execute(&instruction, &mut registers) {
                Then::Dead => return true,
                Then::Unknown => return false,
                Then::At(next) => pc = next,
                Then::Either(one, other) => {
                    self.rest.push((other, registers));
                    pc = one;
                }
            }
        }
    }

    /// Where an operand lies; `None` when it may lie anywhere on the stack, `Some(None)` when it does not lie there.
    fn place(&self, used: &UsedMemory, registers: &Registers) -> Option<Option<u64>> {
        let mut foreign = false;
        let mut any = false;
        let address = used.virtual_address(0, |register, _, _| match register {
            Register::FS | Register::GS => {
                foreign = true;
                None
            }
            Register::DS | Register::ES | Register::SS | Register::CS => Some(0),
            register => match number(register).map_or(Word::Any, |at| registers[at]) {
                Word::Known(value) => Some(value),
                Word::Foreign => {
                    foreign = true;
                    None
                }
                Word::Any => {
                    any = true;
                    None
                }
            },
        });
        // A base that is certain to be on the stack with an index that is not: somewhere on the stack.
        let base = number(used.base()).is_some_and(|at| self.may_point(registers[at]));
        let index = number(used.index()).is_some_and(|at| self.may_point(registers[at]));
        match address {
            Some(address) => Some(Some(address)),
            None if any || base || index => None,
            None if foreign => Some(None),
            None => None,
        }
    }

    fn execute(&mut self, instruction: &Instruction, registers: &mut Registers) -> Then {
        if step::is_outward(instruction) {
            // An instruction that never completes ends the path.
            return if instruction.flow_control() == FlowControl::Exception { Then::Dead } else { Then::Unknown };
        }
        let next = instruction.next_ip();
        let Word::Known(sp) = registers[SP] else { return Then::Unknown };
        match instruction.flow_control() {
            FlowControl::Next => self.compute(instruction, registers),
            FlowControl::UnconditionalBranch => Then::At(instruction.near_branch_target()),
            FlowControl::ConditionalBranch => Then::Either(instruction.near_branch_target(), next),
            FlowControl::Return => match self.load(sp) {
                // Where it goes on is read, too.
                Word::Known(back) if !self.overlaps(sp, 8) => {
                    registers[SP] = Word::Known(sp + 8);
                    Then::At(back)
                }
                _ => Then::Unknown,
            },
            FlowControl::Call => self.call(instruction.near_branch_target(), next, registers),
            FlowControl::IndirectCall => match slot(instruction) {
                Some(target) => self.call(target, next, registers),
                None => Then::Unknown,
            },
            _ => Then::Unknown,
        }
    }

    fn call(&mut self, target: u64, back: u64, registers: &mut Registers) -> Then {
        let target = stub(target).unwrap_or(target);
        if let Some(goal) = self.goal
            && (excursion::is_own(target) || excursion::code_end(target).is_none())
        {
            return self.passes(goal, target, back, registers);
        }
        if excursion::is_own(target) {
            return if self.calls(function_at(target), registers) { Then::At(back) } else { Then::Unknown };
        }
        if excursion::code_end(target).is_none() {
            return if self.calls(Function::Other(target), registers) { Then::At(back) } else { Then::Unknown };
        }
        let Word::Known(sp) = registers[SP] else { return Then::Unknown };
        self.store(sp - 8, 8, Word::Known(back));
        registers[SP] = Word::Known(sp - 8);
        Then::At(target)
    }

    /// A call out of the code under test, on the way to a goal.
    fn passes(&mut self, goal: u64, target: u64, back: u64, registers: &mut Registers) -> Then {
        let function = if excursion::is_own(target) { function_at(target) } else { Function::Other(target) };
        let own = matches!(registers[7], Word::Known(address) if self.on_stack(address));
        let goes_on = match function {
            Function::Ignored | Function::Looked | Function::Yields => true,
            Function::Read(_) | Function::Write(_) => own || registers[7] == Word::Any,
            _ => false,
        };
        self.reached |= !goes_on && back == goal;
        if goes_on && self.calls(function, registers) { Then::At(back) } else { Then::Dead }
    }

    /// An instruction that goes on to the next one.
    fn compute(&mut self, instruction: &Instruction, registers: &mut Registers) -> Then {
        if instruction.mnemonic() == Mnemonic::Leave {
            let Word::Known(base) = registers[BP] else { return Then::Unknown };
            if self.overlaps(base, 8) {
                return Then::Unknown;
            }
            (registers[SP], registers[BP]) = (Word::Known(base + 8), self.load(base));
            return Then::At(instruction.next_ip());
        }
        let mut factory = InstructionInfoFactory::new();
        let info = factory.info(instruction);
        let mut found = Word::Foreign;
        let (mut dead, mut unknown) = (false, false);
        let value = self.value(instruction, registers);
        for used in info.used_memory().iter().filter(|used| reads(used.access()) || writes(used.access())) {
            let size = used.memory_size().size() as u64;
            let Some(place) = self.place(used, registers).filter(|_| size > 0) else {
                unknown = true;
                continue;
            };
            let Some(address) = place.filter(|&address| self.on_stack(address)) else { continue };
            if reads(used.access()) {
                unknown |= self.overlaps(address, size);
                let word = self.load(address & !7);
                let whole = address.is_multiple_of(8) && size == 8;
                found = if whole {
                    word
                } else if self.may_point(word) || size > 8 {
                    Word::Any
                } else {
                    Word::Foreign
                };
            }
            if writes(used.access()) {
                dead |=
                    used.access() == OpAccess::Write && address <= self.variable.0 && address + size >= self.variable.1;
                self.store(address, size, if size <= 8 { value } else { Word::Any });
            }
        }
        if unknown || dead {
            return if unknown { Then::Unknown } else { Then::Dead };
        }
        let moved = self.moved(instruction, registers, found);
        let inputs = info.used_registers().iter().filter(|used| reads(used.access()));
        let implicit = matches!(instruction.mnemonic(), Mnemonic::Push | Mnemonic::Pop);
        let may_point = self.may_point(found)
            || inputs
                .filter_map(|used| number(used.register()))
                .any(|at| !(implicit && at == SP) && self.may_point(registers[at]));
        let outputs = info.used_registers().iter().filter(|used| writes(used.access()));
        for at in outputs.filter_map(|used| number(used.register())).collect::<Vec<_>>() {
            registers[at] = match moved {
                Some((to, word)) if to == at => word,
                _ if at == SP => continue,
                _ if may_point => Word::Any,
                _ => Word::Foreign,
            };
        }
        let Some(sp) = self.stack_after(instruction, registers) else { return Then::Unknown };
        registers[SP] = sp;
        Then::At(instruction.next_ip())
    }

    /// What an instruction that stores one operand stores.
    fn value(&self, instruction: &Instruction, registers: &Registers) -> Word {
        let last = instruction.op_count().checked_sub(1).map(|at| (at, instruction.op_kind(at)));
        match (instruction.mnemonic(), last) {
            (Mnemonic::Mov | Mnemonic::Push, Some((at, OpKind::Register))) => {
                let register = instruction.op_register(at);
                number(register).map_or(Word::Any, |at| match registers[at] {
                    Word::Known(value) if register.size() < 8 && !self.on_stack(value) => Word::Foreign,
                    word => word,
                })
            }
            (Mnemonic::Mov | Mnemonic::Push, Some(_)) => Word::Foreign,
            _ => Word::Any,
        }
    }

    /// The register that gets a value that is certain, and the value.
    fn moved(&self, instruction: &Instruction, registers: &Registers, found: Word) -> Option<(usize, Word)> {
        let to = (instruction.op_count() > 0 && instruction.op0_kind() == OpKind::Register)
            .then(|| instruction.op0_register())
            .filter(|register| register.size() == 8 || register.size() == 4)?;
        let at = number(to)?;
        let wide = to.size() == 8;
        let word = match (instruction.mnemonic(), instruction.op_count()) {
            (Mnemonic::Mov, 2) if wide && instruction.op1_kind() == OpKind::Register => {
                number(instruction.op1_register()).map(|from| registers[from])?
            }
            (Mnemonic::Mov | Mnemonic::Movzx | Mnemonic::Movsx | Mnemonic::Movsxd, 2)
                if instruction.op1_kind() == OpKind::Memory =>
            {
                found
            }
            (Mnemonic::Mov, 2) if !wide => return None,
            (Mnemonic::Mov, 2) => Word::Known(instruction.immediate(1)),
            (Mnemonic::Pop, 1) => found,
            (Mnemonic::Xor, 2) if instruction.op1_kind() == OpKind::Register && instruction.op1_register() == to => {
                Word::Known(0)
            }
            (Mnemonic::Lea, 2) if wide => {
                let address = instruction.virtual_address(1, 0, |register, _, _| {
                    match number(register).map(|at| registers[at]) {
                        Some(Word::Known(value)) => Some(value),
                        _ => None,
                    }
                })?;
                Word::Known(address)
            }
            _ => return None,
        };
        Some((at, word))
    }

    /// The stack pointer after an instruction.
    fn stack_after(&self, instruction: &Instruction, registers: &Registers) -> Option<Word> {
        let Word::Known(sp) = registers[SP] else { return None };
        let on_sp = instruction.op_count() > 0
            && instruction.op0_kind() == OpKind::Register
            && instruction.op0_register() == Register::RSP;
        match instruction.mnemonic() {
            Mnemonic::Add if on_sp => Some(Word::Known(sp.wrapping_add(instruction.immediate(1)))),
            Mnemonic::Sub if on_sp => Some(Word::Known(sp.wrapping_sub(instruction.immediate(1)))),
            // `moved` has taken care of these.
            Mnemonic::Mov | Mnemonic::Lea if on_sp => Some(registers[SP]),
            _ if on_sp => None,
            _ => Some(Word::Known(sp.wrapping_add_signed(instruction.stack_pointer_increment().into()))),
        }
    }
}

/// What comes after an instruction.
enum Then {
    At(u64),
    Either(u64, u64),
    Dead,
    Unknown,
}

/// What a call or jump through a word of the linker's table leads to.
pub(super) fn slot(instruction: &Instruction) -> Option<u64> {
    let address = instruction.is_ip_rel_memory_operand().then(|| instruction.ip_rel_memory_address())?;
    excursion::fixed_word(address)
}

/// Where a stub of the linker leads to.
pub(super) fn stub(target: u64) -> Option<u64> {
    let mut instruction = decode(target)?;
    if instruction.mnemonic() == Mnemonic::Endbr64 {
        instruction = decode(instruction.next_ip())?;
    }
    if instruction.flow_control() == FlowControl::IndirectBranch { slot(&instruction) } else { None }
}

/// The instruction at an address of the code under test.
pub(super) fn decode(pc: u64) -> Option<Instruction> {
    let end = excursion::code_end(pc)?;
    // SAFETY: inside an executable segment.
    let bytes = unsafe { std::slice::from_raw_parts(pc as *const u8, (end - pc).min(15) as usize) };
    let instruction = Decoder::with_ip(64, bytes, pc, DecoderOptions::NONE).decode();
    (!instruction.is_invalid()).then_some(instruction)
}
