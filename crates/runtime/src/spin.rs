//! Recognises a thread that goes round a loop without effect.
//!
//! At an atomic access everything that a thread is lies in its stack, the registers that calls preserve, and memory. When a
//! thread comes to the same instruction a second time with the same registers and the same stack, and has changed no
//! memory in between, it will go round for ever unless something that it read on the way changes. It then waits for
//! that, like a thread that waits for a lock: no unfairness, and no livelock that is none. Nothing is lost, because another
//! round would change nothing. An attempt that failed, such as a try-lock, counts as a read of what it wanted to take, and what it waits
//! for is that it would succeed.

use selvedge_explore::{Access, Kind};

use crate::abi::{sized, wide};
use crate::arch::site::{self, Preserved};
use crate::poll::Poll;
use crate::posix::objects;

/// So many steps without effect, and the runtime leaves nothing of its own on the thread's stack any more ([`crate::arch::switch::wipe`]): code that is not optimised has
/// variables in its frames that it has not set yet, and what they hold is then part of the state.
const TIDY: u32 = 6;
/// Rounds are looked for only after so many steps without effect: hashing the stack costs more than a step.
const PATIENCE: u32 = 12;
/// A round longer than this is not recognised.
const ROUND_MAX: usize = 256;
/// A stack deeper than this is not looked at.
pub const STACK_MAX: u64 = 64 << 10;

/// So often a thread may come back to where it failed to take something, having given back what it had taken, before a search that goes through
/// everything gives up the run. Another round would find what this one found.
const RETURNS_MAX: u32 = 1;

/// So often an offer to give up its turn is a hint. A thread that makes more of them goes round a loop that has effects, such as taking a lock in order to look, and others may never
/// find that lock free.
const HINTS_MAX: u32 = 64;

/// What a thread did since it last had an effect.
#[derive(Debug, Default)]
pub struct Spin {
    quiet: u32,
    /// How often it gave up its turn since it last had an effect.
    yields: u32,
    /// How often it gave up its turn in this run.
    yields_in_all: u32,
    /// How often it looked at the clock since it last had an effect.
    looks: u32,
    /// How many waits in a row have timed out.
    timeouts: u32,
    /// The states in which it was.
    states: Vec<State>,
    /// What it read.
    reads: Vec<Access>,
    /// What it waits to see changed.
    pub awaited: Vec<Access>,
    /// The states in which it failed to take something, since it last had all that it wanted.
    failures: Vec<u64>,
    /// Whether the last thing that it tried to take it did not get.
    failed: bool,
    /// Whether it has given something back since.
    gave_back: bool,
    /// How often it came back to one of them.
    returns: u32,
    /// What it does with locks.
    pub poll: Poll,
}

/// A state in which a thread was.
#[derive(Clone, Copy, Debug)]
struct State {
    hash: u64,
    /// How many reads it had made.
    reads: u32,
    /// How many steps without effect.
    quiet: u32,
}

impl Spin {
    /// Forgets everything.
    pub fn reset(&mut self) {
        self.effect();
        self.yields_in_all = 0;
        self.timeouts = 0;
        self.awaited.clear();
        (self.failed, self.gave_back) = (false, false);
        self.gives_back();
        self.poll.reset();
    }

    /// The thread changed something.
    #[inline]
    pub fn effect(&mut self) {
        self.poll.clear();
        self.breaks();
    }

    /// What it did is no part of a loop that only reads.
    #[inline]
    fn breaks(&mut self) {
        if self.quiet > 0 {
            self.quiet = 0;
            self.yields = 0;
            self.looks = 0;
            self.states.clear();
            self.reads.clear();
        }
    }

    /// Whether it has changed something since it last read or took a lock.
    #[inline(always)]
    pub fn is_fresh(&self) -> bool {
        self.quiet == 0 && self.poll.is_empty()
    }

    /// The thread took a lock.
    pub fn takes_lock(&mut self) {
        self.breaks();
        self.failed = false;
    }

    /// The thread gave a lock back.
    pub fn gives_lock(&mut self) {
        self.gives_back();
        self.breaks();
    }

    /// The thread waits until something that it read has changed.
    pub fn awaits(&mut self, reads: &[Access]) {
        self.awaited.clear();
        for access in reads.iter().rev() {
            if !self.awaited.iter().any(|other| other.object == access.object && other.size == access.size) {
                self.awaited.push(Access::new(access.object, access.size, Kind::Read).waiting().after(access.old));
            }
        }
    }

    /// Whether it has done nothing for so long that it may be in a loop.
    #[inline(always)]
    pub fn is_patient(&self) -> bool {
        self.quiet >= PATIENCE
    }

    /// Whether it may soon be looked for in a loop, so that nothing may be left on its stack.
    #[inline(always)]
    pub fn is_tidy(&self) -> bool {
        self.quiet >= TIDY
    }

    /// The thread is about to make a step at a place; answers whether it was there before in the same state. What it read since is
    /// then in `awaited`.
    #[inline(always)]
    pub fn arrives(&mut self, pc: u64, top: u64) -> bool {
        self.is_patient() && self.recognises(pc, site::registers(), top)
    }

    #[cold]
    fn recognises(&mut self, pc: u64, (sp, registers): (u64, Preserved), top: u64) -> bool {
        if sp >= top || top - sp > STACK_MAX || self.states.len() >= ROUND_MAX {
            return false;
        }
        let hash = hash(pc, sp, &registers, top);
        // Before its first tidy round a frame may hold what happened to lie there, which depends on more than this run: that it looks the same, or does not,
        // says nothing.
        let tidy = |state: &&State| self.quiet - state.quiet <= state.quiet - TIDY;
        if let Some(state) = self.states.iter().rev().find(|other| other.hash == hash).filter(tidy) {
            let since = state.reads;
            // What changed while it went round is not what it will find in the next round.
            if saw_change(&self.reads[since as usize..]) {
                self.states.clear();
                self.reads.clear();
                return false;
            }
            self.awaited.clear();
            for access in self.reads[since as usize..].iter().rev() {
                if !self.awaited.iter().any(|other| other.object == access.object && other.size == access.size) {
                    let kind = if objects::is_abstract(access.object) { access.kind } else { Kind::Read };
                    self.awaited.push(Access::new(access.object, access.size, kind).waiting().after(access.old));
                }
            }
            self.states.clear();
            self.reads.clear();
            return !self.awaited.is_empty();
        }
        self.states.push(State { hash, reads: self.reads.len() as u32, quiet: self.quiet });
        false
    }

    /// The thread offers to give up its turn; answers whether it has to. The first offer is a hint that means nothing: the thread may go on
    /// at once. One that comes again with nothing done in between is from a loop that waits.
    pub fn gives_way(&mut self) -> bool {
        self.quiet += 1;
        self.yields += 1;
        self.yields_in_all += 1;
        // One that lets the others go between its attempts does what it can: if it never succeeds, that is a livelock.
        self.failed = false;
        self.gives_back();
        self.yields > 1 || self.yields_in_all > HINTS_MAX
    }

    /// A timed wait ends, because its time has passed or because it was woken; answers whether the thread has to give up its turn. As above: the
    /// first time that nobody came may be chance.
    pub fn times_out(&mut self, passed: bool) -> bool {
        self.timeouts = if passed { self.timeouts + 1 } else { 0 };
        self.timeouts > 1
    }

    /// The thread looks at the clock; how often it has done so since it last did something else.
    pub fn looks(&mut self) -> u32 {
        // The time may end the loop, whatever else it reads.
        self.poll.clear();
        self.states.clear();
        self.reads.clear();
        self.quiet += 1;
        self.looks += 1;
        self.looks - 1
    }

    /// The thread gives back something that it held: because it did not get something else, or because it is done.
    pub fn gives_back(&mut self) {
        self.gave_back = self.failed;
        if !self.failed && !self.failures.is_empty() {
            self.forget_failures();
        }
    }

    #[cold]
    fn forget_failures(&mut self) {
        self.failures.clear();
        self.returns = 0;
    }

    /// Whether the thread goes round a loop that takes things and gives them back.
    pub fn goes_round(&self) -> bool {
        self.returns > 0
    }

    /// The thread tried to take something in vain; answers whether it only goes round a loop that takes things and gives them back until it has
    /// them all. Each of several such threads can keep the others from it for ever, and each is let go: no loop of these waits, and
    /// there is no end of runs that differ in the number of rounds.
    pub fn fails(&mut self, pc: u64, top: u64) -> bool {
        let again = self.failures.is_empty() || self.gave_back;
        (self.failed, self.gave_back) = (true, false);
        let (sp, registers) = site::registers();
        if !again || sp >= top || top - sp > STACK_MAX || self.failures.len() >= ROUND_MAX {
            return false;
        }
        let state = hash(pc, sp, &registers, top);
        if self.failures.contains(&state) {
            self.returns += 1;
        } else {
            self.failures.push(state);
        }
        self.returns > RETURNS_MAX
    }

    /// What it tried to take in vain and waits for.
    pub fn attempts(&self) -> impl Iterator<Item = &Access> {
        self.awaited.iter().filter(|access| objects::is_abstract(access.object))
    }

    /// Whether some memory that it waits for is no longer what it read.
    pub fn sees_change(&self) -> bool {
        self.awaited
            .iter()
            .filter(|access| !objects::is_abstract(access.object))
            // SAFETY: the thread has read it, and reads it again when it goes on.
            .any(|access| unsafe { value_at(access) } != access.old)
    }

    /// The thread made a step that changed nothing.
    #[inline(always)]
    pub fn read(&mut self, access: &Access) {
        self.reads();
        self.keep(access);
    }

    /// The same; what it read has to be [kept](Spin::keep) if the thread is patient now.
    #[inline(always)]
    pub fn reads(&mut self) {
        self.quiet += 1;
    }

    /// Keeps what the thread read, once it has done nothing else for long.
    #[inline(always)]
    pub fn keep(&mut self, access: &Access) {
        if self.quiet > PATIENCE {
            self.remember(access);
        }
    }

    #[cold]
    fn remember(&mut self, access: &Access) {
        self.reads.push(*access);
    }
}

/// The value that an access touches.
///
/// # Safety
/// A thread is about to make the access, or has made it, and the memory is still there.
pub unsafe fn value_at(access: &Access) -> u64 {
    let at = access.object as usize;
    // SAFETY: the caller says that the bytes can be read.
    unsafe {
        match access.size {
            1 => u64::from(*(at as *const u8)),
            2 => u64::from((at as *const u16).read_unaligned()),
            4 => u64::from((at as *const u32).read_unaligned()),
            8 => (at as *const u64).read_unaligned(),
            16 => wide::word((at as *const u128).read_unaligned()),
            size => sized::word(std::slice::from_raw_parts(at as *const u8, size as usize)),
        }
    }
}

/// Whether something was read twice, and was not the same.
pub fn saw_change(reads: &[Access]) -> bool {
    let same = |one: &Access, other: &Access| (one.object, one.size) == (other.object, other.size);
    let changed =
        |(at, one): (usize, &Access)| reads[..at].iter().any(|other| same(one, other) && one.old != other.old);
    reads.iter().enumerate().any(changed)
}

/// A number for the state of a thread that is in a call; `None` where its stack is too deep.
pub fn state(pc: u64, (sp, registers): (u64, Preserved), top: u64) -> Option<u64> {
    (sp < top && top - sp <= STACK_MAX).then(|| hash(pc, sp, &registers, top))
}

/// A number for the state of a thread.
fn hash(pc: u64, sp: u64, registers: &Preserved, top: u64) -> u64 {
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
