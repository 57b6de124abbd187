//! Runs code of a thread one instruction at a time, without consequences: to the next call of the runtime, and back.
//!
//! The processor's trap flag stops the code after every instruction; the handler, on a stack of its own, decodes the next one and
//! lets it run only if it writes nowhere but to the thread's own stack. Whatever leaves the code under test ends the excursion:
//! a call of the runtime is where it wanted to go, anything else (libc, a system call, the clock) is a reason to give up.
//! Invariant: when [`advance`] returns, memory is as it was, the thread's stack included.

use std::ffi::{c_int, c_void};

use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, InstructionInfoOptions, Mnemonic,
    OpAccess, Register,
};

use super::frame::RED_ZONE;
use super::kernel::{Interrupted, Registers};
use super::switch;
use crate::memory::arena;
use crate::memory::reset::Modules;
use crate::retry::call::{Call, Function, function_at};
use crate::retry::excursion::{self, Lane, Overlay, State, Stop};
use crate::sys;

/// An excursion that takes more instructions is given up.
const INSTRUCTIONS_MAX: u32 = 3000;
const TRAP_FLAG: i64 = 0x100;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Idle,
    Starting,
    Running,
}

struct Stepper {
    phase: Phase,
    lane: Lane,
    start: *const State,
    answer: u64,
    /// Of the code that asked.
    back: Registers,
    back_fs: u64,
    low: u64,
    saved: Vec<u8>,
    overlay: Vec<Overlay>,
    announced: (u64, u64),
    steps: u32,
    stop: Stop,
    places: &'static Modules,
    factory: InstructionInfoFactory,
    works: bool,
}

static mut STEPPER: Option<Stepper> = None;

fn stepper() -> Option<&'static mut Stepper> {
    // SAFETY: used by the one kernel thread that is under control, outside of the handler only while the phase is idle.
    unsafe {
        let stepper = &raw mut STEPPER;
        (*stepper).as_mut()
    }
}

/// Installs the handler, and finds out whether the processor stops after every instruction when asked to.
pub fn prepare() -> bool {
    if let Some(stepper) = stepper() {
        return stepper.works;
    }
    let stepper_new = Stepper {
        phase: Phase::Idle,
        lane: Lane { bottom: 0, top: 0, low: 0, thread_pointer: 0 },
        start: std::ptr::null(),
        answer: 0,
        back: [0; 23],
        back_fs: 0,
        low: 0,
        saved: Vec::new(),
        overlay: Vec::new(),
        announced: (0, 0),
        steps: 0,
        stop: Stop::Lost,
        places: excursion::places(),
        factory: InstructionInfoFactory::new(),
        works: false,
    };
    // SAFETY: no run is under way; a handler that returns.
    unsafe {
        STEPPER = Some(stepper_new);
    }
    sys::handle(libc::SIGTRAP, on_trap);
    let Some(stepper) = self::stepper() else { return false };
    // SAFETY: sets the trap flag; the handler notes that it came, and clears the flag.
    unsafe { std::arch::asm!("pushfq", "or qword ptr [rsp], 0x100", "popfq", "nop", "nop") };
    stepper.works
}

/// Whether an excursion is under way.
pub fn is_running() -> bool {
    stepper().is_some_and(|stepper| stepper.phase != Phase::Idle)
}

/// Lets the thread go on from a call of the runtime that answers `answer`, up to its next call. Of variables that others may change it
/// may read those that the call announced: first address, one past the last.
pub fn advance(lane: &Lane, start: &State, answer: u64, overlay: &[Overlay], announced: (u64, u64)) -> Stop {
    let Some(stepper) = stepper() else { return Stop::Lost };
    if !stepper.works || start.sp.checked_add(start.stack.len() as u64) != Some(lane.top) {
        return Stop::Lost;
    }
    stepper.lane = *lane;
    stepper.start = start;
    stepper.answer = answer;
    stepper.overlay.clear();
    // What is as wanted is left alone: it may lie where nothing can be written.
    stepper.overlay.extend(overlay.iter().filter(|(address, size, bytes)| {
        // SAFETY: bytes that the thread read in this run.
        let now = unsafe { std::slice::from_raw_parts(*address as *const u8, usize::from(*size)) };
        now != &bytes[..usize::from(*size)]
    }));
    stepper.announced = announced;
    stepper.steps = 0;
    stepper.stop = Stop::Lost;
    stepper.phase = Phase::Starting;
    // SAFETY: the handler comes back here with all registers but those that a call may change.
    unsafe { std::arch::asm!("int3", clobber_abi("C")) };
    std::mem::replace(&mut stepper.stop, Stop::Lost)
}

/// A fault of the code that is being stepped through; false when there is none.
pub fn fault(thread: &mut Interrupted) -> bool {
    let Some(stepper) = stepper().filter(|stepper| stepper.phase == Phase::Running) else { return false };
    stepper.finish(thread.registers, Stop::Lost);
    true
}

unsafe extern "C" fn on_trap(signal: c_int, info: *mut libc::siginfo_t, state: *mut c_void) {
    // SAFETY: the kernel passes the interrupted context, and why it was interrupted.
    let (Interrupted { registers }, code) = unsafe { (Interrupted::new(state), (*info).si_code) };
    let Some(stepper) = stepper() else { return };
    match stepper.phase {
        Phase::Idle if code == libc::TRAP_TRACE => {
            stepper.works = true;
            registers[libc::REG_EFL as usize] &= !TRAP_FLAG;
        }
        Phase::Idle => {
            // Not ours: it takes its course.
            // SAFETY: restores the default and repeats the signal.
            unsafe {
                libc::signal(signal, libc::SIG_DFL);
                libc::raise(signal);
            }
        }
        Phase::Starting => stepper.begin(registers),
        Phase::Running => stepper.step(registers),
    }
}

fn at(registers: &Registers, register: c_int) -> u64 {
    registers[register as usize] as u64
}

fn set(registers: &mut Registers, register: c_int, value: u64) {
    registers[register as usize] = value as i64;
}

const PRESERVED: [c_int; 6] =
    [libc::REG_RBX, libc::REG_RBP, libc::REG_R12, libc::REG_R13, libc::REG_R14, libc::REG_R15];
const LOST: [c_int; 8] = [
    libc::REG_RCX,
    libc::REG_RDX,
    libc::REG_RSI,
    libc::REG_RDI,
    libc::REG_R8,
    libc::REG_R9,
    libc::REG_R10,
    libc::REG_R11,
];

impl Stepper {
    /// Swaps what is in memory and what is to be read there instead.
    fn swap_overlay(&mut self, forward: bool) {
        let mut swap = |(address, size, bytes): &mut Overlay| {
            // SAFETY: bytes that the thread read in this run; nobody else runs.
            unsafe { std::slice::from_raw_parts_mut(*address as *mut u8, usize::from(*size)) }
                .swap_with_slice(&mut bytes[..usize::from(*size)]);
        };
        if forward {
            self.overlay.iter_mut().for_each(&mut swap);
        } else {
            self.overlay.iter_mut().rev().for_each(&mut swap);
        }
    }

    fn begin(&mut self, registers: &mut Registers) {
        self.back = *registers;
        self.back_fs = switch::thread_pointer();
        let Lane { bottom, top, low, thread_pointer } = self.lane;
        let asking = at(registers, libc::REG_RSP);
        self.low = if (bottom..top).contains(&asking) { asking } else { low } - RED_ZONE;
        // SAFETY: the part of the thread's stack that is in use; this handler is on another stack. The state was made from it.
        let start = unsafe {
            let live = std::slice::from_raw_parts(self.low as *const u8, (top - self.low) as usize);
            self.saved.clear();
            self.saved.extend_from_slice(live);
            let start = &*self.start;
            std::ptr::copy_nonoverlapping(start.stack.as_ptr(), start.sp as *mut u8, start.stack.len());
            start
        };
        self.swap_overlay(true);
        for (register, value) in PRESERVED.into_iter().zip(start.registers) {
            set(registers, register, value);
        }
        LOST.into_iter().for_each(|register| set(registers, register, 0));
        set(registers, libc::REG_RAX, self.answer);
        set(registers, libc::REG_RIP, start.pc);
        set(registers, libc::REG_RSP, start.sp + 8);
        registers[libc::REG_EFL as usize] = 0x202 | TRAP_FLAG;
        set_fs(thread_pointer);
        self.phase = Phase::Running;
        // The first instruction has not been looked at.
        self.step(registers);
    }

    fn finish(&mut self, registers: &mut Registers, stop: Stop) {
        self.swap_overlay(false);
        // SAFETY: where it was copied from.
        unsafe { std::ptr::copy_nonoverlapping(self.saved.as_ptr(), self.low as *mut u8, self.saved.len()) };
        // The kernel's own entries at the end stay as they are.
        registers[..=libc::REG_EFL as usize].copy_from_slice(&self.back[..=libc::REG_EFL as usize]);
        set_fs(self.back_fs);
        self.phase = Phase::Idle;
        self.stop = stop;
    }

    fn step(&mut self, registers: &mut Registers) {
        loop {
            self.steps += 1;
            let pc = at(registers, libc::REG_RIP);
            if self.steps > INSTRUCTIONS_MAX {
                return self.finish(registers, Stop::Lost);
            }
            if excursion::is_own(pc) {
                let sp = at(registers, libc::REG_RSP);
                if !(self.lane.bottom..self.lane.top).contains(&sp) {
                    return self.finish(registers, Stop::Lost);
                }
                // SAFETY: the return address, on the thread's own stack.
                let back = unsafe { *(sp as *const u64) };
                let function = function_at(pc);
                if function == Function::Assembly {
                    return self.finish(registers, Stop::Lost);
                }
                if matches!(function, Function::Ignored | Function::Looked) {
                    set(registers, libc::REG_RIP, back);
                    set(registers, libc::REG_RSP, sp + 8);
                    continue;
                }
                let stop = self.called(function, back, sp, registers);
                return self.finish(registers, stop);
            }
            match excursion::code_end(pc) {
                Some(end) if self.is_harmless(pc, end, registers) => return,
                _ => return self.finish(registers, Stop::Lost),
            }
        }
    }

    fn called(&self, function: Function, back: u64, sp: u64, registers: &Registers) -> Stop {
        let arguments =
            [libc::REG_RDI, libc::REG_RSI, libc::REG_RDX, libc::REG_RCX, libc::REG_R8, libc::REG_R9, libc::REG_RAX];
        let call = Call::new(function, arguments.map(|register| at(registers, register)));
        let mut state = State::default();
        let captured = state.capture(back, (sp, PRESERVED.map(|register| at(registers, register))), self.lane.top);
        if captured { Stop::At(call, state) } else { Stop::Lost }
    }

    /// Whether the instruction writes to registers and the thread's own stack only, and depends on nothing else than memory.
    fn is_harmless(&mut self, pc: u64, end: u64, registers: &Registers) -> bool {
        let length = (end - pc).min(15) as usize;
        // SAFETY: inside an executable segment.
        let bytes = unsafe { std::slice::from_raw_parts(pc as *const u8, length) };
        let mut instruction = Instruction::default();
        Decoder::with_ip(64, bytes, pc, DecoderOptions::NONE).decode_out(&mut instruction);
        if instruction.is_invalid() || instruction.is_privileged() || is_outward(&instruction) {
            return false;
        }
        let Stepper { factory, lane, announced, places: Modules { data, fixed, .. }, .. } = self;
        let info = factory.info_options(&instruction, InstructionInfoOptions::NO_REGISTER_USAGE);
        let value = |register: Register, _: usize, _: usize| value_of(register, registers, lane.thread_pointer);
        info.used_memory().iter().all(|used| {
            let size = used.memory_size().size() as u64;
            let (from, to) = match used.virtual_address(0, value) {
                Some(address) => (address, address.saturating_add(size)),
                None => return false,
            };
            let writes = match used.access() {
                OpAccess::None | OpAccess::NoMemAccess => return true,
                OpAccess::Read | OpAccess::CondRead => false,
                _ => true,
            };
            if from >= lane.bottom && to <= lane.top && size > 0 {
                return true;
            }
            // What was not announced is not known to be looked at, so it must be something that nobody changes.
            let inside = |ranges: &[(u64, u64)]| ranges.iter().any(|(first, end)| (*first..*end).contains(&from));
            let is_shared = arena::inside(from as usize) || inside(data) && !inside(fixed);
            let is_announced = from >= announced.0 && to <= announced.1;
            !writes && size > 0 && (is_announced || !is_shared)
        })
    }
}

/// Whether an instruction leaves the thread, or learns something that is not in its memory.
pub fn is_outward(instruction: &Instruction) -> bool {
    use Mnemonic::{
        Cpuid, Int, Int1, Int3, Into, Popf, Popfd, Popfq, Pushf, Pushfd, Pushfq, Rdfsbase, Rdgsbase, Rdpid, Rdpmc,
        Rdrand, Rdseed, Rdtsc, Rdtscp, Syscall, Sysenter, Wrfsbase, Wrgsbase, Xbegin, Xgetbv,
    };
    matches!(
        instruction.flow_control(),
        FlowControl::Interrupt | FlowControl::Exception | FlowControl::XbeginXabortXend
    ) || matches!(
        instruction.mnemonic(),
        Syscall
            | Sysenter
            | Int
            | Int1
            | Int3
            | Into
            | Rdtsc
            | Rdtscp
            | Rdrand
            | Rdseed
            | Rdpid
            | Rdpmc
            | Cpuid
            | Xgetbv
            | Xbegin
            | Popf
            | Popfd
            | Popfq
            | Pushf
            | Pushfd
            | Pushfq
            | Wrfsbase
            | Wrgsbase
            | Rdfsbase
            | Rdgsbase
    )
}

fn value_of(register: Register, registers: &Registers, fs: u64) -> Option<u64> {
    let place = match register.full_register() {
        Register::RAX => libc::REG_RAX,
        Register::RBX => libc::REG_RBX,
        Register::RCX => libc::REG_RCX,
        Register::RDX => libc::REG_RDX,
        Register::RSI => libc::REG_RSI,
        Register::RDI => libc::REG_RDI,
        Register::RBP => libc::REG_RBP,
        Register::RSP => libc::REG_RSP,
        Register::R8 => libc::REG_R8,
        Register::R9 => libc::REG_R9,
        Register::R10 => libc::REG_R10,
        Register::R11 => libc::REG_R11,
        Register::R12 => libc::REG_R12,
        Register::R13 => libc::REG_R13,
        Register::R14 => libc::REG_R14,
        Register::R15 => libc::REG_R15,
        Register::FS => return Some(fs),
        Register::DS | Register::ES | Register::SS | Register::CS => return Some(0),
        _ => return None,
    };
    Some(at(registers, place))
}

/// Changes the FS base, which no signal restores.
fn set_fs(fs: u64) {
    if switch::thread_pointer() != fs {
        const ARCH_SET_FS: usize = 0x1002;
        // SAFETY: the FS base of a thread of this process.
        unsafe { sys::call(libc::SYS_arch_prctl, [ARCH_SET_FS, fs as usize, 0, 0, 0, 0]) };
    }
}
