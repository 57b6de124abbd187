//! Recognises a thread that goes round a loop without effect.
//!
//! At an atomic access everything that a thread is lies in its stack, the registers that calls preserve, and memory. When a
//! thread comes to the same instruction a second time with the same registers and the same stack, and has changed no
//! memory in between, it will go round for ever unless something that it read on the way changes. It then waits for
//! that, like a thread that waits for a lock: no unfairness, and no livelock that is none. Nothing is lost, because another
//! round would change nothing.

use selvedge_explore::{Access, Kind};

use crate::site;

/// Rounds are looked for only after so many steps without effect: hashing the stack costs more than a step.
const PATIENCE: u32 = 12;
/// A round longer than this is not recognised.
const ROUND_MAX: usize = 256;
/// A stack deeper than this is not looked at.
const STACK_MAX: u64 = 64 << 10;

/// What a thread did since it last had an effect.
#[derive(Debug, Default)]
pub struct Spin {
    quiet: u32,
    /// How often it gave up its turn since it last had an effect.
    yields: u32,
    /// The states in which it was, and how many reads it had made.
    states: Vec<(u64, u32)>,
    /// What it read.
    reads: Vec<Access>,
    /// What it waits to see changed.
    pub awaited: Vec<Access>,
}

impl Spin {
    /// Forgets everything.
    pub fn reset(&mut self) {
        self.effect();
        self.awaited.clear();
    }

    /// The thread changed something.
    #[inline]
    pub fn effect(&mut self) {
        if self.quiet > 0 {
            self.quiet = 0;
            self.yields = 0;
            self.states.clear();
            self.reads.clear();
        }
    }

    /// The thread is about to make a step at a place; answers whether it was there before in the same state. What it read since is
    /// then in `awaited`.
    #[inline(always)]
    pub fn arrives(&mut self, pc: u64, top: u64) -> bool {
        self.quiet >= PATIENCE && self.recognises(pc, site::registers(), top)
    }

    #[cold]
    fn recognises(&mut self, pc: u64, (sp, registers): (u64, [u64; 6]), top: u64) -> bool {
        if sp >= top || top - sp > STACK_MAX || self.states.len() >= ROUND_MAX {
            return false;
        }
        let state = hash(pc, sp, &registers, top);
        if let Some(&(_, since)) = self.states.iter().find(|(other, _)| *other == state) {
            // What changed while it went round is not what it will find in the next round.
            if saw_change(&self.reads[since as usize..]) {
                self.states.clear();
                self.reads.clear();
                return false;
            }
            self.awaited.clear();
            for access in self.reads[since as usize..].iter().rev() {
                if !self.awaited.iter().any(|other| other.object == access.object && other.size == access.size) {
                    self.awaited.push(Access::new(access.object, access.size, Kind::Read).waiting().after(access.old));
                }
            }
            self.states.clear();
            self.reads.clear();
            return !self.awaited.is_empty();
        }
        self.states.push((state, self.reads.len() as u32));
        false
    }

    /// The thread offers to give up its turn; answers whether it has to. The first offer is a hint that means nothing: the thread may go on
    /// at once. One that comes again with nothing done in between is from a loop that waits.
    pub fn gives_way(&mut self) -> bool {
        self.quiet += 1;
        self.yields += 1;
        self.yields > 1
    }

    /// Whether something that it waits for is no longer what it read.
    pub fn sees_change(&self) -> bool {
        self.awaited.iter().any(|access| {
            let at = access.object as usize;
            // SAFETY: the thread read these bytes a moment ago.
            let value = unsafe {
                match access.size {
                    1 => u64::from(*(at as *const u8)),
                    2 => u64::from((at as *const u16).read_unaligned()),
                    4 => u64::from((at as *const u32).read_unaligned()),
                    8 => (at as *const u64).read_unaligned(),
                    _ => return true,
                }
            };
            value != access.old
        })
    }

    /// The thread made a step that changed nothing.
    #[inline(always)]
    pub fn read(&mut self, access: &Access) {
        self.quiet += 1;
        if self.quiet > PATIENCE {
            self.reads.push(*access);
        }
    }
}

/// Whether something was read twice, and was not the same.
fn saw_change(reads: &[Access]) -> bool {
    let same = |one: &Access, other: &Access| (one.object, one.size) == (other.object, other.size);
    let changed =
        |(at, one): (usize, &Access)| reads[..at].iter().any(|other| same(one, other) && one.old != other.old);
    reads.iter().enumerate().any(changed)
}

/// A number for the state of a thread.
fn hash(pc: u64, sp: u64, registers: &[u64; 6], top: u64) -> u64 {
    let mut state = pc ^ sp.rotate_left(32);
    let mut mix = |word: u64| {
        state = (state ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        state ^= state >> 29;
    };
    registers.iter().for_each(|&register| mix(register));
    let mut at = (sp + 7) & !7;
    while at + 8 <= top {
        // SAFETY: between the stack pointer and the top of the current thread's own stack.
        mix(unsafe { *(at as *const u64) });
        at += 8;
    }
    state
}
