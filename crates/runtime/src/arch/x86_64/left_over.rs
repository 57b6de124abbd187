//! Atomic updates that the compiler's pass has left in the code: LLVM's knows no maximum and no minimum (`fetch_max` and `fetch_min` of Rust), nor updates
//! of floating-point numbers. On x86-64 each is a load, a computation and a compare and exchange that goes back if it fails.
//!
//! The code is looked through once for such loops, and where they exchange a trap is put: the thread then arrives at a step, and once it may make it goes
//! round its loop until it succeeds, which it does at the second time at the latest. Invariant: the whole loop is one step. The order that was asked for
//! cannot be known from the instructions: all count as sequentially consistent.

use std::sync::OnceLock;

use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, Register};
use selvedge_explore::Kind;

use super::frame::{self, Frame, RED_ZONE, place};
use super::kernel::Interrupted;
use super::{site, switch};
use crate::abi::atomic::{self, Outcome, Told};
use crate::abi::outside;
use crate::control::active;
use crate::memory::reset::{self, Modules};

const LOCK: u8 = 0xf0;
const PAGE: u64 = 4096;
/// A loop is not longer than this, before its exchange and after it.
const LOOP_MAX: u64 = 96;
const SEQUENTIALLY_CONSISTENT: i32 = 5;
const ZERO_FLAG: u64 = 1 << 6;

/// An exchange that is marked.
struct Exchange {
    instruction: Instruction,
}

impl Exchange {
    fn at(&self) -> u64 {
        self.instruction.ip()
    }

    fn size(&self) -> u32 {
        self.instruction.memory_size().size() as u32
    }

    /// What it exchanges, by the values of registers.
    fn cell(&self, get: impl Fn(Register) -> u64) -> u64 {
        frame::cell(&self.instruction, get)
    }

    /// The part of a register that counts; that of `ah` and its like lies higher, but no compiler uses them here.
    fn bits(&self) -> u64 {
        u64::MAX >> (64 - 8 * self.size())
    }

    /// `rax` after the exchange found that.
    fn found(&self, rax: u64, found: u64) -> u64 {
        if self.size() == 4 { found } else { rax & !self.bits() | found }
    }
}

/// All of them, by address.
static EXCHANGES: OnceLock<Vec<Exchange>> = OnceLock::new();

fn exchange_at(pc: u64) -> Option<&'static Exchange> {
    let all = EXCHANGES.get()?;
    all.binary_search_by_key(&pc, Exchange::at).ok().map(|at| &all[at])
}

/// Whether there is one.
pub fn is_marked(pc: u64) -> bool {
    exchange_at(pc).is_some()
}

/// The functions of a module, from the table that exceptions are caught by: where each begins, in order.
pub unsafe fn functions(table: u64) -> Vec<u64> {
    // A version, and how what follows is encoded; other encodings than that of all linkers are not read.
    const HEAD: [u8; 4] = [1, 0x1b, 0x03, 0x3b];
    let head = table as *const u8;
    // SAFETY: a table of a loaded module, of as many entries as it says.
    unsafe {
        if *head.cast::<[u8; 4]>() != HEAD {
            return vec![];
        }
        let entries = head.add(12).cast::<[i32; 2]>();
        let begin = |at| table.wrapping_add_signed(i64::from(entries.add(at).read_unaligned()[0]));
        (0..head.add(8).cast::<u32>().read_unaligned() as usize).map(begin).collect()
    }
}

/// The instructions from there to one past the last.
pub fn decode(from: u64, to: u64) -> Vec<Instruction> {
    // SAFETY: instructions of a loaded module.
    let bytes = unsafe { std::slice::from_raw_parts(from as *const u8, (to - from) as usize) };
    Decoder::with_ip(64, bytes, from, DecoderOptions::NONE).into_iter().collect()
}

/// Whether the code goes on with the next instruction, and nowhere else.
fn goes_on(instruction: &Instruction) -> bool {
    instruction.flow_control() == FlowControl::Next
}

/// Whether the exchange is that of a loop which does nothing but compute what to exchange: straight to the exchange, and straight back.
fn is_loop(function: &[Instruction], at: usize) -> bool {
    let exchange = &function[at];
    let straight = function[..at].iter().rev().take_while(|one| goes_on(one));
    let first = straight.take_while(|one| exchange.ip() - one.ip() <= LOOP_MAX).last();
    let from = first.map_or(exchange.ip(), Instruction::ip);
    let near = function[at + 1..].iter().take_while(|one| one.ip() - exchange.ip() <= LOOP_MAX);
    for one in near {
        let target = one.near_branch_target();
        match one.flow_control() {
            FlowControl::Next => {}
            FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch
                if (from..=exchange.ip()).contains(&target) =>
            {
                return true;
            }
            // Out of the loop, if it succeeded.
            FlowControl::ConditionalBranch if target > one.ip() => {}
            _ => return false,
        }
    }
    false
}

fn is_exchange(instruction: &Instruction) -> bool {
    instruction.has_lock_prefix()
        && instruction.mnemonic() == Mnemonic::Cmpxchg
        && !matches!(
            instruction.code(),
            Code::Cmpxchg486_rm8_r8 | Code::Cmpxchg486_rm16_r16 | Code::Cmpxchg486_rm32_r32
        )
        && instruction.segment_prefix() == Register::None
}

/// Where two bytes are that every such instruction has, after a prefix that says that it is atomic.
fn candidates((from, to): (u64, u64)) -> Vec<u64> {
    let mut found = Vec::new();
    for second in [0xb0_u8, 0xb1] {
        let (needle, mut at) = ([0x0f, second], from);
        loop {
            // SAFETY: instructions of a loaded module.
            let next = unsafe {
                libc::memmem(at as *const _, (to - at) as usize, needle.as_ptr().cast(), needle.len()) as u64
            };
            if next == 0 {
                break;
            }
            let before = (next - 3).max(from)..next;
            // SAFETY: between the beginning of the segment and what was found in it.
            if before.clone().any(|place| unsafe { *(place as *const u8) } == LOCK) {
                found.push(next);
            }
            at = next + 1;
        }
    }
    found
}

/// The loops of the code under test.
fn find() -> Vec<Exchange> {
    let Modules { code, tables, .. } = reset::modules();
    let mut starts: Vec<u64> = Vec::new();
    let mut found: Vec<Exchange> = Vec::new();
    for segment in code {
        for candidate in candidates(segment) {
            if starts.is_empty() {
                // SAFETY: tables of loaded modules.
                starts = tables.iter().flat_map(|&table| unsafe { functions(table) }).collect();
                starts.sort_unstable();
            }
            let next = starts.partition_point(|&start| start <= candidate);
            let Some(&start) = next.checked_sub(1).and_then(|at| starts.get(at)) else { continue };
            let end = starts.get(next).copied().unwrap_or(segment.1).min(segment.1);
            if start < segment.0
                || found.iter().any(|one| one.at() < candidate && candidate < one.instruction.next_ip())
            {
                continue;
            }
            let function = decode(start, end);
            let here = |one: &Instruction| one.ip() < candidate && candidate < one.next_ip() && is_exchange(one);
            if let Some(at) = function.iter().position(here)
                && is_loop(&function, at)
            {
                found.push(Exchange { instruction: function[at] });
            }
        }
    }
    found.sort_by_key(Exchange::at);
    found
}

/// Marks them with that byte, once for all.
pub fn prepare(trap: u8) {
    EXCHANGES.get_or_init(|| {
        let all = find();
        for one in &all {
            let page = one.at() & !(PAGE - 1);
            // SAFETY: the page of an instruction, which has one byte at least; nobody runs it now.
            unsafe {
                let writable = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
                if libc::mprotect(page as *mut _, PAGE as usize, writable) == 0 {
                    *(one.at() as *mut u8) = trap;
                    libc::mprotect(page as *mut _, PAGE as usize, libc::PROT_READ | libc::PROT_EXEC);
                }
            }
        }
        all
    });
}

/// The exchange that a thread under control is at, and where it goes on after its step.
static mut AT: u64 = 0;
static mut GOES_ON: u64 = 0;
/// Whether the thread that runs is in the middle of a loop that is its step, and whether it waited for it.
static mut IN_STEP: Option<bool> = None;

/// The registers of the kernel's in the order of [`Frame`].
const ORDER: [i32; 15] = [
    libc::REG_RAX,
    libc::REG_RCX,
    libc::REG_RDX,
    libc::REG_RBX,
    libc::REG_RBP,
    libc::REG_RSI,
    libc::REG_RDI,
    libc::REG_R8,
    libc::REG_R9,
    libc::REG_R10,
    libc::REG_R11,
    libc::REG_R12,
    libc::REG_R13,
    libc::REG_R14,
    libc::REG_R15,
];

/// A trap: whether it is one of these. In the handler of the signal nothing is decided: a thread under control goes on in [`enter`].
pub fn stopped(thread: &mut Interrupted) -> bool {
    let Some(exchange) = exchange_at(thread.pc()) else { return false };
    if active() {
        // SAFETY: one thread is under control, and this is it.
        unsafe { AT = exchange.at() };
        thread.set(libc::REG_RIP, enter as *const () as u64);
        return true;
    }
    let get = |register: Register| match register.full_register() {
        Register::None | Register::RIP => 0,
        Register::RSP => thread.get(libc::REG_RSP),
        full => thread.get(ORDER[place(full)]),
    };
    let (cell, rax) = (exchange.cell(get), thread.get(libc::REG_RAX));
    let (expected, new) = (rax & exchange.bits(), get(exchange.instruction.op1_register()) & exchange.bits());
    let found = outside::access(atomic::Operation::Compare, exchange.size(), cell, expected, new);
    let flags = thread.get(libc::REG_EFL);
    if found == expected {
        thread.set(libc::REG_EFL, flags | ZERO_FLAG);
    } else {
        thread.set(libc::REG_EFL, flags & !ZERO_FLAG);
        thread.set(libc::REG_RAX, exchange.found(rax, found));
    }
    thread.set(libc::REG_RIP, exchange.instruction.next_ip());
    true
}

/// Where a thread goes on that was at an exchange: puts all registers on its stack, makes the step and takes them back.
#[unsafe(naked)]
unsafe extern "C" fn enter() {
    crate::save_registers!(
        ["lea rsp, [rsp - 128]"],
        ["lea rsp, [rsp + 128]", "jmp qword ptr [rip + {goes_on}]"],
        step = sym step,
        goes_on = sym GOES_ON
    )
}

unsafe extern "C" fn step(frame: *mut Frame) {
    // SAFETY: `enter` passes the registers; nobody else runs.
    let (frame, at, begun) = unsafe { (&mut *frame, AT, std::ptr::replace(&raw mut IN_STEP, None)) };
    let exchange = exchange_at(at).expect("it was found before");
    let (cell, size, next) =
        (exchange.cell(|one| frame.get(one, RED_ZONE)), exchange.size(), exchange.instruction.next_ip());
    let preserved = [Register::RBX, Register::RBP, Register::R12, Register::R13, Register::R14, Register::R15];
    site::note(next, frame.get(Register::RSP, RED_ZONE), preserved.map(|register| frame.get(register, RED_ZONE)));
    let waited = begun.unwrap_or_else(|| atomic::arrive(cell, size, Kind::Update, Told::Never, 0, 0));
    let rax = frame.registers[0];
    let (expected, new) =
        (rax & exchange.bits(), frame.get(exchange.instruction.op1_register(), RED_ZONE) & exchange.bits());
    // SAFETY: the cell of the code under test; nobody else runs.
    let old = unsafe { atomic::read(cell, size) };
    if old == expected {
        // SAFETY: the cell of the exchange that the thread is at; nobody else runs.
        unsafe { atomic::write(cell, size, new) };
        let outcome = Outcome { kind: Kind::Update, old, new, order: SEQUENTIALLY_CONSISTENT, waited };
        atomic::record(cell, size, Told::Never, 0, outcome);
        frame.flags |= ZERO_FLAG;
        if atomic::must_tidy() {
            // SAFETY: below the stack pointer is nothing that anybody needs, and the step that was made has seen to it that there is room.
            unsafe { switch::wipe(0) };
        }
    } else {
        frame.flags &= !ZERO_FLAG;
        frame.registers[0] = exchange.found(rax, old);
        // SAFETY: one thread is under control, and this is it.
        unsafe { IN_STEP = Some(waited) };
    }
    // SAFETY: one thread is under control, and this is it.
    unsafe { GOES_ON = next };
}
