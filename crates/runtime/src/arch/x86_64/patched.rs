//! Instructions that synchronise in code that no call was put into: objects and libraries that others compiled, in tests of C and C++. Those whose kind says what they are
//! (with `lock`, `xchg` with memory, full fences, the time stamp, random numbers) are looked for in the machine code once. Each goes on in a piece of code of its own, which calls the runtime as compiled tests
//! do ([`super::assembly`]) and has the instruction behind the call: by a jump where there is room for one, else by a trap.
//!
//! A plain load or store there cannot be told from any other and is not seen. So whoever comes by such an instruction is noted ([`crate::control`]), and what a run claims after that is less.
//!
//! Invariant: code is changed only where a function decodes as a whole and nobody jumps into the middle of what is changed.

use std::ffi::CStr;
use std::sync::OnceLock;

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};

use super::kernel::Interrupted;
use super::left_over::{self, decode};
use super::unseen::{LONGEST, UNDO};
use crate::memory::reset::{self, Modules};

/// The bytes of one piece: over the red zone, the call, back, the instruction, a jump, and the addresses of the last two.
const PIECE: usize = 64;
const CALL: [u8; 11] = [0x48, 0x8d, 0x64, 0x24, 0x80, 0xff, 0x15, 0, 0, 0, 0];
const BACK: [u8; UNDO as usize] = [0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0];
const JUMP_TO: [u8; 6] = [0xff, 0x25, 0, 0, 0, 0];
const HOOK_AT: usize = 48;
const NEXT_AT: usize = 56;
const JUMP: usize = 5;
/// As long is a stub through which the program calls a library.
const PLT_ENTRY: u64 = 16;
const PAGE: u64 = 4096;

/// An instruction that goes on elsewhere.
struct Patched {
    /// Where it lies, and its bytes as they were.
    pc: u64,
    bytes: [u8; LONGEST],
    /// Its piece.
    piece: u64,
}

impl Patched {
    fn instruction(&self) -> Instruction {
        Decoder::with_ip(64, &self.bytes, self.pc, DecoderOptions::NONE).decode()
    }
}

/// By address; pieces are in the same order in each segment.
static PATCHED: OnceLock<Vec<Patched>> = OnceLock::new();

/// The instruction whose copy lies there, behind the call of its piece.
pub fn original(copy: u64) -> Option<Instruction> {
    let from = copy - (CALL.len() + BACK.len()) as u64;
    PATCHED.get()?.iter().find(|one| one.piece == from).map(Patched::instruction)
}

/// A trap: whether it is one of these. The thread goes on in the piece.
pub fn stopped(thread: &mut Interrupted) -> bool {
    let Some(all) = PATCHED.get() else { return false };
    let Ok(at) = all.binary_search_by_key(&thread.pc(), |one| one.pc) else { return false };
    thread.set(libc::REG_RIP, all[at].piece);
    true
}

/// Whether the kind of an instruction says that it synchronises, if that is asked for, or that it answers differently each time.
fn is_wanted(instruction: &Instruction, synchronises: bool) -> bool {
    let with_memory = instruction.op0_kind() == OpKind::Memory || instruction.op1_kind() == OpKind::Memory;
    match instruction.mnemonic() {
        Mnemonic::Xchg => synchronises && with_memory,
        Mnemonic::Mfence => synchronises,
        Mnemonic::Rdtsc | Mnemonic::Rdtscp | Mnemonic::Rdrand | Mnemonic::Rdseed => true,
        _ => synchronises && instruction.has_lock_prefix(),
    }
}

/// Whether bytes may be the beginning of such an instruction; prefixes aside but for `lock`.
fn may_be_wanted(bytes: &[u8]) -> bool {
    let is_memory = |byte: u8| byte < 0xc0;
    match *bytes {
        [0xf0, ..] => true,
        [0x86 | 0x87, operand, ..] => is_memory(operand),
        [0x0f, 0x31, ..] | [0x0f, 0x01, 0xf9, ..] | [0x0f, 0xae, 0xf0, ..] => true,
        [0x0f, 0xc7, operand, ..] => operand >= 0xf0,
        _ => false,
    }
}

/// Whether a call of the runtime stands before it: the step back over the red zone, as long as it can be, which compilers never write.
fn is_called_before(function: &[Instruction], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| &function[before]);
    before.is_some_and(|one| {
        one.mnemonic() == Mnemonic::Lea && one.op0_register() == Register::RSP && one.len() == BACK.len()
    })
}

/// The instructions of one segment, by function.
fn find(segment: (u64, u64), starts: &[u64], synchronises: bool) -> Vec<(Instruction, bool)> {
    let (mut found, mut decoded_to) = (Vec::new(), segment.0);
    // SAFETY: instructions of a loaded module.
    let bytes = unsafe { std::slice::from_raw_parts(segment.0 as *const u8, (segment.1 - segment.0) as usize) };
    for (offset, _) in bytes.iter().enumerate().filter(|&(_, byte)| matches!(byte, 0xf0 | 0x86 | 0x87 | 0x0f)) {
        let candidate = segment.0 + offset as u64;
        if candidate < decoded_to || !may_be_wanted(&bytes[offset..]) {
            continue;
        }
        let next = starts.partition_point(|&start| start <= candidate);
        let start = next.checked_sub(1).map_or(segment.0, |at| starts[at]).max(segment.0);
        let end = starts.get(next).copied().unwrap_or(segment.1).min(segment.1);
        decoded_to = end;
        find_in(&decode(start, end), synchronises, &mut found);
    }
    found
}

/// Those of one function, and whether each has room for a jump.
fn find_in(function: &[Instruction], synchronises: bool, found: &mut Vec<(Instruction, bool)>) {
    if function.iter().any(Instruction::is_invalid) {
        return;
    }
    let targets: Vec<u64> =
        function.iter().map(Instruction::near_branch_target).filter(|&target| target != 0).collect();
    // Beside its call for a load of 16 bytes clang leaves an exchange of nothing, whose result nobody uses.
    let doubled = synchronises && calls(function, c"__tsan_atomic128_load");
    for (at, one) in function.iter().enumerate() {
        let is_double = doubled && one.mnemonic() == Mnemonic::Cmpxchg16b;
        let is_seen = is_double || is_called_before(function, at) || left_over::is_marked(one.ip());
        if is_wanted(one, synchronises) && !is_seen {
            let is_target = targets.iter().any(|&target| one.ip() < target && target < one.next_ip());
            if !is_target {
                found.push((*one, one.len() >= JUMP));
            }
        }
    }
}

/// Whether a function calls that function of the runtime, through the table of the linker.
fn calls(function: &[Instruction], name: &CStr) -> bool {
    let is_wide = |one: &&Instruction| one.mnemonic() == Mnemonic::Cmpxchg16b;
    if function.iter().find(is_wide).is_none() {
        return false;
    }
    // SAFETY: asks the linker for a name.
    let wanted = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) } as u64;
    function.iter().filter(|one| one.mnemonic() == Mnemonic::Call && one.near_branch_target() != 0).any(|call| {
        let stub = decode(call.near_branch_target(), call.near_branch_target() + PLT_ENTRY);
        let jump = stub.iter().find(|one| one.mnemonic() == Mnemonic::Jmp && one.is_ip_rel_memory_operand());
        // SAFETY: the entry that a stub of the program jumps through.
        jump.is_some_and(|jump| unsafe { *(jump.ip_rel_memory_address() as *const u64) } == wanted)
    })
}

/// Memory for so many pieces, from where a jump gets to the segment.
fn near(segment: (u64, u64), pieces: usize) -> Option<u64> {
    const STEP: u64 = 1 << 20;
    const TRIES: u64 = 512;
    let size = (pieces * PIECE).next_multiple_of(PAGE as usize);
    let end = segment.1.next_multiple_of(PAGE);
    let places = (1..TRIES).flat_map(|step| [Some(end + step * STEP), segment.0.checked_sub(step * STEP)]);
    places.flatten().map(|place| place & !(PAGE - 1)).find(|&place| {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
        let writable = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping, where there is none.
        unsafe { libc::mmap(place as *mut _, size, writable, flags, -1, 0) as u64 == place }
    })
}

/// The bytes of a piece at that place. What lies as far away as the instruction says is as far from its copy.
fn piece_of(instruction: &Instruction, bytes: &[u8; LONGEST], piece: u64) -> Option<[u8; PIECE]> {
    let mut made = [0; PIECE];
    let copy = CALL.len() + BACK.len();
    let end = copy + instruction.len();
    made[..CALL.len()].copy_from_slice(&CALL);
    made[7..CALL.len()].copy_from_slice(&((HOOK_AT - CALL.len()) as u32).to_le_bytes());
    made[CALL.len()..copy].copy_from_slice(&BACK);
    made[copy..end].copy_from_slice(&bytes[..instruction.len()]);
    if instruction.is_ip_rel_memory_operand() {
        let mut decoder = Decoder::with_ip(64, bytes, instruction.ip(), DecoderOptions::NONE);
        let offsets = {
            let again = decoder.decode();
            decoder.get_constant_offsets(&again)
        };
        let distance = instruction.ip_rel_memory_address().wrapping_sub(piece + end as u64) as i64;
        let at = copy + offsets.displacement_offset();
        made[at..at + 4].copy_from_slice(&i32::try_from(distance).ok()?.to_le_bytes());
    }
    made[end..end + JUMP_TO.len()].copy_from_slice(&JUMP_TO);
    made[end + 2..end + JUMP_TO.len()].copy_from_slice(&((NEXT_AT - end - JUMP_TO.len()) as u32).to_le_bytes());
    let hook = super::assembly::selvedge_before_assembly as *const () as u64;
    made[HOOK_AT..NEXT_AT].copy_from_slice(&hook.to_le_bytes());
    made[NEXT_AT..].copy_from_slice(&instruction.next_ip().to_le_bytes());
    Some(made)
}

/// Puts a jump or a trap where the instruction is.
fn put(instruction: &Instruction, piece: u64, room: bool, trap: u8) {
    let (first, last) = (instruction.ip() & !(PAGE - 1), (instruction.next_ip() - 1) & !(PAGE - 1));
    let size = (last - first + PAGE) as usize;
    let distance = piece.wrapping_sub(instruction.ip() + JUMP as u64) as i32;
    // SAFETY: the pages of an instruction, of which so many bytes are changed as it has; nobody runs it now.
    unsafe {
        let writable = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
        if libc::mprotect(first as *mut _, size, writable) == 0 {
            let at = instruction.ip() as *mut u8;
            if room {
                *at = 0xe9;
                at.add(1).cast::<i32>().write_unaligned(distance);
            } else {
                *at = trap;
            }
            libc::mprotect(first as *mut _, size, libc::PROT_READ | libc::PROT_EXEC);
        }
    }
}

/// Looks for them and changes them, once for all.
pub fn prepare(trap: u8, synchronises: bool) {
    PATCHED.get_or_init(|| {
        let Modules { code, tables, .. } = reset::modules();
        // SAFETY: tables of loaded modules.
        let mut starts: Vec<u64> = tables.iter().flat_map(|&table| unsafe { left_over::functions(table) }).collect();
        starts.sort_unstable();
        let mut all = Vec::new();
        for segment in code {
            let found = find(segment, &starts, synchronises);
            let Some(pieces) = (!found.is_empty()).then(|| near(segment, found.len())).flatten() else { continue };
            for (at, (instruction, room)) in found.iter().enumerate() {
                let (piece, mut bytes) = (pieces + (at * PIECE) as u64, [0; LONGEST]);
                // SAFETY: an instruction of a loaded module.
                let here = unsafe { std::slice::from_raw_parts(instruction.ip() as *const u8, instruction.len()) };
                bytes[..here.len()].copy_from_slice(here);
                let Some(made) = piece_of(instruction, &bytes, piece) else { continue };
                // SAFETY: inside of the mapping, which nobody else knows.
                unsafe { (piece as *mut [u8; PIECE]).write(made) };
                all.push((Patched { pc: instruction.ip(), bytes, piece }, *instruction, *room));
            }
            let size = (found.len() * PIECE).next_multiple_of(PAGE as usize);
            // SAFETY: the mapping, which is whole.
            unsafe { libc::mprotect(pieces as *mut _, size, libc::PROT_READ | libc::PROT_EXEC) };
        }
        all.iter().for_each(|(patched, instruction, room)| put(instruction, patched.piece, *room, trap));
        let mut all: Vec<Patched> = all.into_iter().map(|(patched, ..)| patched).collect();
        all.sort_by_key(|one| one.pc);
        all
    });
}
