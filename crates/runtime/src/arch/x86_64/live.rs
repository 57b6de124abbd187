//! Which of the registers that calls do not preserve the code under test still reads.
//!
//! Between two instructions of inline assembly a thread is all of its registers, and most of them hold what a function of the runtime has left there: something else
//! each time, which nobody reads. So the code is read, along every path, into the functions that it calls and out of them again: a register that is written before it is read on
//! all of them is dead. Invariant: what cannot be told is live. Complexity: linear in the instructions reached, at most [`WORK_MAX`], once for each place.

use std::collections::HashMap;

use iced_x86::{FlowControl, Instruction, InstructionInfoFactory, OpAccess, Register};

use super::dead::{decode, slot, stub};
use super::step;
use crate::retry::call::{Function, function_at};
use crate::retry::excursion;

/// More instructions are not looked at.
const WORK_MAX: usize = 4000;
/// Functions are not followed into deeper than this.
const DEPTH_MAX: usize = 8;

/// One bit for each register: the general ones by number, then the lower halves of the vector registers, what else belongs to them, and the status flags.
type Set = u64;

const VECTORS_AT: usize = 16;
const VECTORS: Set = 0xffff << VECTORS_AT;
/// Upper halves, the sixteen registers that only the newest processors have, masks, and those of the old coprocessor.
const REST: Set = 1 << 32;
const FLAGS_AT: u32 = 33;
/// As iced numbers them: those that arithmetic sets.
const STATUS: u32 = 0x3f;

const fn general(numbers: &[u8]) -> Set {
    let (mut set, mut at) = (0, 0);
    while at < numbers.len() {
        set |= 1 << numbers[at];
        at += 1;
    }
    set
}

/// `rax`, `rcx`, `rdx`, `rsi`, `rdi` and `r8` to `r11`.
const CLOBBERED: Set = general(&[0, 1, 2, 6, 7, 8, 9, 10, 11]);
/// What a function may be given: all of those but `r11`, and eight vectors.
const ARGUMENTS: Set = general(&[0, 1, 2, 6, 7, 8, 9, 10]) | 0xff << VECTORS_AT;
/// What a function of the runtime is given that announces an access.
const ANNOUNCED: Set = general(&[6, 7]);
/// What a function may answer.
const RESULTS: Set = general(&[0, 2]) | 0b11 << VECTORS_AT;
const ALL: Set = CLOBBERED | VECTORS | REST | (STATUS as Set) << FLAGS_AT;

/// What is still read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Live {
    /// The general registers, one bit for each by number. Those that calls preserve are always among them.
    pub general: u16,
    /// Whether anything is read of the vector registers and what belongs to them.
    pub vectors: bool,
    /// Whether a status flag is.
    pub flags: bool,
}

impl Live {
    fn new(set: Set) -> Self {
        Live {
            general: set as u16 | !(CLOBBERED as u16),
            vectors: set & (VECTORS | REST) != 0,
            flags: set >> FLAGS_AT != 0,
        }
    }
}

/// Code that can be read.
trait Code {
    /// The instruction at an address.
    fn at(&self, pc: u64) -> Option<Instruction>;
    /// Where a call leads, or a jump by a word in memory.
    fn target(&self, instruction: &Instruction) -> Target;
}

/// Where a call leads.
enum Target {
    /// To code that can be read.
    Here(u64),
    /// To a function that keeps every register.
    Keeps,
    /// To one that may read these, and changes what it need not preserve.
    Outside(Set),
    /// Nobody knows.
    Unknown,
}

/// The code under test.
struct Program;

impl Code for Program {
    fn at(&self, pc: u64) -> Option<Instruction> {
        decode(pc)
    }

    fn target(&self, instruction: &Instruction) -> Target {
        let target = match instruction.flow_control() {
            FlowControl::Call => {
                let target = instruction.near_branch_target();
                Some(stub(target).unwrap_or(target))
            }
            _ => slot(instruction),
        };
        match target {
            Some(target) if excursion::is_own(target) => match function_at(target) {
                Function::Looked | Function::Assembly => Target::Keeps,
                Function::Load(_) | Function::Read(_) | Function::Write(_) => Target::Outside(ANNOUNCED),
                _ => Target::Outside(ARGUMENTS),
            },
            Some(target) if excursion::code_end(target).is_some() => Target::Here(target),
            Some(_) => Target::Outside(ARGUMENTS),
            None => Target::Unknown,
        }
    }
}

/// What is read from an instruction on, itself included.
pub fn from(first: &Instruction) -> Live {
    read(first, &Program)
}

fn read(first: &Instruction, code: &dyn Code) -> Live {
    let mut reader = Reader { code, first: *first, live: 0, wide: false, seen: HashMap::new(), rest: Vec::new() };
    reader.rest.push((Place { pc: first.ip(), back: Vec::new() }, ALL));
    while let Some((place, asked)) = reader.rest.pop() {
        if reader.seen.len() > WORK_MAX {
            return Live::new(ALL);
        }
        reader.visit(place, asked);
    }
    // A function may answer with a whole vector, which is what code uses that uses such vectors at all.
    let rest = if reader.wide { REST } else { 0 };
    Live::new(reader.live | rest)
}

/// An instruction, and where the functions return to that it is in.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Place {
    pc: u64,
    back: Vec<u64>,
}

struct Reader<'a> {
    code: &'a dyn Code,
    first: Instruction,
    live: Set,
    /// Whether an instruction was seen that uses more of a vector than its lower half, and no more is known of that.
    wide: bool,
    /// What was asked about at each place.
    seen: HashMap<Place, Set>,
    rest: Vec<(Place, Set)>,
}

impl Reader<'_> {
    /// What of these is read from there on.
    fn visit(&mut self, place: Place, asked: Set) {
        let before = self.seen.entry(place.clone()).or_insert(0);
        let asked = asked & !*before & !self.live;
        *before |= asked;
        if asked == 0 {
            return;
        }
        let instruction = if place.pc == self.first.ip() { Some(self.first) } else { self.code.at(place.pc) };
        let Some(instruction) = instruction else { return self.live |= asked };
        // The first one has been understood; what it leads to is not in the code if it leads elsewhere.
        if step::is_outward(&instruction) && place.pc != self.first.ip() {
            return self.live |= asked;
        }
        let asked = self.execute(&instruction, asked);
        if asked != 0 {
            self.go_on(&instruction, place, asked);
        }
    }

    /// Takes away what the instruction reads, which is live, and what it writes whole, which is dead.
    fn execute(&mut self, instruction: &Instruction, asked: Set) -> Set {
        let (mut read, mut written) = (0, 0);
        let mut info = InstructionInfoFactory::new();
        for used in info.info(instruction).used_registers() {
            let (set, whole) = pieces(used.register());
            self.wide |= set & REST != 0;
            match used.access() {
                OpAccess::Write if whole => written |= set,
                OpAccess::Write | OpAccess::CondWrite | OpAccess::None | OpAccess::NoMemAccess => {}
                _ => read |= set,
            }
        }
        let flags = |bits: u32| Set::from(bits & STATUS) << FLAGS_AT;
        read |= flags(instruction.rflags_read());
        written |= flags(instruction.rflags_modified());
        self.live |= asked & read;
        asked & !read & !written
    }

    fn go_on(&mut self, instruction: &Instruction, place: Place, asked: Set) {
        let next = instruction.next_ip();
        let at = |pc: u64| Place { pc, back: place.back.clone() };
        match instruction.flow_control() {
            FlowControl::Next => self.rest.push((at(next), asked)),
            FlowControl::UnconditionalBranch => self.rest.push((at(instruction.near_branch_target()), asked)),
            FlowControl::ConditionalBranch => {
                self.rest.push((at(next), asked));
                self.rest.push((at(instruction.near_branch_target()), asked));
            }
            FlowControl::Return => {
                let mut back = place.back;
                match back.pop() {
                    Some(pc) => self.rest.push((Place { pc, back }, asked)),
                    None => self.live |= asked & RESULTS,
                }
            }
            FlowControl::Call | FlowControl::IndirectCall => match self.code.target(instruction) {
                Target::Keeps => self.rest.push((at(next), asked)),
                Target::Outside(given) => self.live |= asked & given,
                Target::Unknown => self.live |= asked & ARGUMENTS,
                Target::Here(_) if place.back.len() == DEPTH_MAX => self.live |= asked,
                Target::Here(pc) => {
                    // What it leaves alone the caller may know that it does.
                    let mut back = place.back;
                    back.push(next);
                    self.rest.push((Place { pc, back }, asked));
                }
            },
            // The end of a function that goes on with another one, or a stub of the linker.
            FlowControl::IndirectBranch => match self.code.target(instruction) {
                Target::Here(pc) => self.rest.push((at(pc), asked)),
                Target::Outside(given) => self.live |= asked & given,
                Target::Keeps | Target::Unknown => self.live |= asked,
            },
            _ => self.live |= asked,
        }
    }
}

/// The bits of a register, and whether who writes it changes all of it that the bits stand for.
fn pieces(register: Register) -> (Set, bool) {
    let number = register.number();
    if register.is_gpr() {
        (1 << register.full_register().number() & CLOBBERED, register.size() >= 4)
    } else if register.is_xmm() && number < VECTORS_AT {
        (1 << (VECTORS_AT + number), true)
    } else if (register.is_ymm() || register.is_zmm()) && number < VECTORS_AT {
        (1 << (VECTORS_AT + number) | REST, false)
    } else if register.is_vector_register() || register.is_st() || register.is_mm() || register.is_k() {
        (REST, false)
    } else {
        (0, false)
    }
}

#[cfg(test)]
mod tests {
    use std::arch::global_asm;

    use iced_x86::{Decoder, DecoderOptions};

    use super::*;

    global_asm!(
        ".pushsection .text",
        // Two ends: `rsi` is read in one of them, `rdx` is an answer in the other.
        "selvedge_live_branches:",
        "mov rax, [rdi]",
        "mov ecx, eax",
        "cmp ecx, 1",
        "je 2f",
        "xor edx, edx",
        "ret",
        "2: mov rax, rsi",
        "ret",
        // Nothing is read; half of a register leaves the rest, a sum with carry reads a flag.
        "selvedge_live_nothing:",
        "xorps xmm0, xmm0",
        "movaps xmm1, xmm0",
        "xor eax, eax",
        "xor edx, edx",
        "ret",
        "selvedge_live_half:",
        "mov cl, 1",
        "adc rcx, 0",
        "xorps xmm0, xmm0",
        "xorps xmm1, xmm1",
        "xor eax, eax",
        "cdq",
        "ret",
        // A function that leaves `r9` alone, and one that cannot be followed.
        "selvedge_live_calls:",
        "call 4f",
        "lea rax, [r9 + r8]",
        "xor edx, edx",
        "xorps xmm0, xmm0",
        "xorps xmm1, xmm1",
        "ret",
        "4: mov r8, rcx",
        "ret",
        "selvedge_live_unknown:",
        "mov ecx, 1",
        "jmp [rax]",
        // A loop that comes back to its first instruction, and whole vectors.
        "selvedge_live_loop:",
        "mov eax, [rdi + 4 * r10]",
        "inc r11",
        "test eax, eax",
        "jne selvedge_live_loop",
        "vzeroupper",
        "xor edx, edx",
        "ret",
        ".popsection",
    );

    unsafe extern "C" {
        fn selvedge_live_branches();
        fn selvedge_live_nothing();
        fn selvedge_live_half();
        fn selvedge_live_calls();
        fn selvedge_live_unknown();
        fn selvedge_live_loop();
    }

    /// The instructions of this program, wherever they lie.
    struct Anywhere;

    impl Code for Anywhere {
        fn at(&self, pc: u64) -> Option<Instruction> {
            // SAFETY: one of the pieces above, or what lies behind it in the same segment.
            let bytes = unsafe { std::slice::from_raw_parts(pc as *const u8, 15) };
            Some(Decoder::with_ip(64, bytes, pc, DecoderOptions::NONE).decode())
        }

        fn target(&self, instruction: &Instruction) -> Target {
            let here = instruction.flow_control() == FlowControl::Call;
            if here { Target::Here(instruction.near_branch_target()) } else { Target::Unknown }
        }
    }

    fn check(code: unsafe extern "C" fn(), general_live: &[u8], vectors: bool, flags: bool) {
        let first = Anywhere.at(code as usize as u64).expect("an instruction of this program");
        let live = read(&first, &Anywhere);
        let expected = Live { general: general(general_live) as u16 | !(CLOBBERED as u16), vectors, flags };
        assert_eq!(live, expected, "{:#06x} {:#06x}", live.general, expected.general);
    }

    #[test]
    fn what_is_written_before_it_is_read_is_dead() {
        check(selvedge_live_branches, &[2, 6, 7], true, false);
        check(selvedge_live_nothing, &[], false, false);
        check(selvedge_live_half, &[1], false, true);
        check(selvedge_live_calls, &[1, 9], false, false);
        check(selvedge_live_unknown, &[0, 2, 6, 7, 8, 9, 10, 11], true, true);
        check(selvedge_live_loop, &[7, 10, 11], true, false);
    }
}
