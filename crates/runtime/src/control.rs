//! The state of the search and of the run that is under way, in one place.
//!
//! Invariant: while a run is under way exactly one kernel thread executes, whichever fiber it is on; the sleeping threads
//! whose stacks the fibers use never wake. So the state needs no lock. It is borrowed only inside [`with`] and as [`Borrowed`], and no switch
//! happens meanwhile, so no two borrows overlap. Debug builds check both.

use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::ops::{Deref, DerefMut};
#[cfg(debug_assertions)]
use std::sync::atomic::AtomicBool;
use std::sync::atomic::{AtomicU64, Ordering};

use selvedge_explore::{Access, Dfs, Kind, Pending, Readiness, Strategy, Thread, Threads};
use selvedge_protocol::{Leaks, Settings};

use crate::arch::site::Call;
use crate::arch::switch::{Context, thread_pointer};
use crate::fiber::{Fiber, Wants};
use crate::finding::Failure;
use crate::history::Histories;
use crate::lineup::Lineup;
use crate::memory::arena;
use crate::plain_steps::{self, PlainSteps};
use crate::posix::objects;
use crate::retry::Retries;
use crate::retry::look::Looks;
use crate::run::{NOWHERE, Plain, Run};
use crate::shadow::Shadow;

/// How a run came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// Every thread ended.
    Complete,
    /// Nobody can go.
    Stuck,
    /// It comes back to a state in which it was, and every thread that could go has gone in between.
    Endless,
    /// Too many steps.
    Truncated,
    /// Nobody can go, and some threads could only try again what failed.
    Blocked,
    /// Something that was taken for granted about loops is not so: the search has to start over.
    Restart,
    /// `failure` says why.
    Failed,
    /// The strategy wanted so.
    Stopped(selvedge_explore::Stop),
}

/// What else is kept of a step, for reports.
#[derive(Clone, Copy, Debug, Default)]
pub struct Detail {
    /// The return address in the code under test.
    pub pc: u64,
    /// The value after the step.
    pub new: Option<u64>,
    /// Whether it is a wait that ends without a reason.
    pub spurious: bool,
}

/// So many steps of one thread are enough while others could go.
const IN_A_ROW_MAX: u32 = 500;
/// Every so many steps it is seen to that nobody who could go was left out all the time. A power of two.
const ROUND: usize = 512;

/// Neither the heap nor the program lies as high as the stacks of threads.
pub const STACKS: u64 = 0x7000_0000_0000;

/// What belongs to the process.
pub struct Process {
    /// All fibers; the first `created` of a run take part in it.
    pub fibers: Vec<Fiber>,
    /// The accesses that are remembered, each with the number of its run.
    pub shadow: Shadow,
    /// Where the search goes on when a run is over.
    pub outside: Context,
    /// Whether the program runs its tests itself.
    pub hosted: bool,
}

/// What belongs to the search, through all of its runs.
pub struct Search {
    /// Who decides.
    pub strategy: Box<dyn Strategy>,
    /// What to do.
    pub settings: Settings,
    /// What is done about threads that are left over.
    pub leaks: Leaks,
    /// Whether runs are not looked at for data races, though the settings ask for it: most were looked at ([`selvedge_explore::Classes`]).
    pub spares_races: bool,
    /// Whether some thread has been seen on the stack of another, in any run.
    pub stacks_shared: bool,
    /// Plain accesses that are steps.
    pub plain_steps: PlainSteps,
    /// Whether runs note who called each step.
    pub traces_back: bool,
    /// The histories of all runs so far.
    pub histories: Histories,
    /// The object under test.
    pub lineup: Lineup,
    /// What is known of loops that only try again.
    pub retries: Retries,
    /// What is known of loops that are one access long.
    pub looks: Looks,
}

impl Search {
    /// Whether the next run is looked at for data races.
    pub fn looks_for_races(&self) -> bool {
        // What may race is a step in a schedule that is repeated: it was known before.
        !self.spares_races && (self.settings.races || self.settings.replay.is_none())
    }
}

/// Everything.
pub struct Control {
    /// What belongs to the process.
    pub process: Process,
    /// What belongs to the search.
    pub search: Search,
    /// What belongs to the run that is under way, or to the last one.
    pub run: Run,
}

/// The function that a thread starts with.
pub type Body = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

struct Cell(UnsafeCell<Option<Control>>);

// SAFETY: see the module's invariant.
unsafe impl Sync for Cell {}

static CONTROL: Cell = Cell(UnsafeCell::new(None));
/// The thread pointer of the fiber that runs under control; 0 when none does. The program may have other threads, which are not
/// under control, so that a run is under way is not enough.
static CONTROLLED: AtomicU64 = AtomicU64::new(0);

/// Whether the caller is code under test, under control.
#[inline(always)]
pub fn active() -> bool {
    CONTROLLED.load(Ordering::Relaxed) == thread_pointer()
}

/// Whether code under test runs, under control, on whichever thread.
pub fn any_active() -> bool {
    CONTROLLED.load(Ordering::Relaxed) != 0
}

/// Says whether the caller is code under test.
pub fn set_active(active: bool) {
    CONTROLLED.store(if active { thread_pointer() } else { 0 }, Ordering::Relaxed);
}

/// The stack of the fiber that runs: its lowest address and its size, which is 0 once stacks are looked at.
pub static STACK: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

/// Whether the address is one that only the fiber that runs has been seen at: in its own stack.
#[inline(always)]
pub fn private(address: u64) -> bool {
    address.wrapping_sub(STACK[0].load(Ordering::Relaxed)) < STACK[1].load(Ordering::Relaxed)
}

/// Puts the state in its place.
pub fn install(control: Control) {
    // SAFETY: called by the search, when no run is under way.
    unsafe { *CONTROL.0.get() = Some(control) };
}

/// Borrows the state.
#[inline(always)]
pub fn with<R>(f: impl FnOnce(&mut Control) -> R) -> R {
    assert!(is_installed(), "the search is set up before anything is controlled");
    // SAFETY: there is a state. Nobody else has it: one kernel thread runs, and `f` neither switches nor borrows the state again, which debug builds see to.
    let mut control = unsafe { state() };
    f(&mut control)
}

/// The state, borrowed until this is dropped. In a release build it is a mere reference.
pub struct Borrowed(&'static mut Control);

impl Deref for Borrowed {
    type Target = Control;

    #[inline(always)]
    fn deref(&self) -> &Control {
        self.0
    }
}

impl DerefMut for Borrowed {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Control {
        self.0
    }
}

#[cfg(debug_assertions)]
static BORROWED: AtomicBool = AtomicBool::new(false);

#[cfg(debug_assertions)]
impl Drop for Borrowed {
    fn drop(&mut self) {
        BORROWED.store(false, Ordering::Relaxed);
    }
}

/// Whoever has borrowed the state does not go on: a signal has come, and its handler leaves the run.
pub fn end_borrows() {
    #[cfg(debug_assertions)]
    BORROWED.store(false, Ordering::Relaxed);
}

/// Another fiber goes on next, so nobody may have the state.
#[inline(always)]
pub fn assert_not_borrowed() {
    #[cfg(debug_assertions)]
    assert!(!BORROWED.load(Ordering::Relaxed), "no switch while the state is borrowed");
}

/// The state, for the few places where what a closure captures would be copied millions of times a second.
///
/// # Safety
/// There is a state. It is dropped before the next switch and before the state is borrowed again: see the module's invariant.
#[inline(always)]
pub unsafe fn state() -> Borrowed {
    #[cfg(debug_assertions)]
    {
        // One kernel thread asks, so this need not be one locked instruction, which would be most of what the check costs.
        assert!(!BORROWED.load(Ordering::Relaxed), "the state is borrowed once at a time");
        BORROWED.store(true, Ordering::Relaxed);
    }
    // SAFETY: the caller says that there is a state, and that nobody else has borrowed it.
    Borrowed(unsafe { (*CONTROL.0.get()).as_mut().unwrap_unchecked() })
}

/// Whether there is a state.
#[inline(always)]
pub fn is_installed() -> bool {
    // SAFETY: looks at whether it was put there, which nobody changes once a search has begun.
    unsafe { (*CONTROL.0.get()).is_some() }
}

/// What to do after a decision.
#[derive(Clone, Copy, Debug)]
pub enum Next {
    /// Go on.
    Stay,
    /// Another fiber goes on.
    Switch(usize),
    /// The run is over.
    Leave,
}

impl Control {
    /// The state of a process with these fibers, before its first search.
    pub fn new(fibers: Vec<Fiber>, settings: Settings) -> Self {
        let process = Process { fibers, shadow: Shadow::default(), outside: Context::default(), hosted: false };
        let search = Search {
            strategy: Box::new(Dfs::new()),
            settings,
            leaks: Leaks::Stop,
            spares_races: false,
            stacks_shared: false,
            plain_steps: PlainSteps::default(),
            traces_back: false,
            histories: Histories::default(),
            lineup: Lineup::default(),
            retries: Retries::default(),
            looks: Looks::default(),
        };
        let run = Run::first(&search);
        Control { process, search, run }
    }

    /// Says that this fiber is about to run, and answers where it goes on.
    #[inline(always)]
    pub fn give_control(&self, fiber: usize) -> Context {
        let fiber = &self.process.fibers[fiber];
        let looked_at = self.search.stacks_shared && (self.run.races.on || plain_steps::any());
        STACK[0].store(fiber.bottom, Ordering::Relaxed);
        STACK[1].store(if looked_at { 0 } else { fiber.top - fiber.bottom }, Ordering::Relaxed);
        CONTROLLED.store(fiber.context.thread_pointer, Ordering::Relaxed);
        fiber.context
    }

    /// An access to this address: from now on stacks are looked at if it is in that of another thread.
    #[inline(always)]
    pub fn reaches(&mut self, address: u64) {
        if address >= STACKS && !self.search.stacks_shared && !self.fiber().holds(address) && self.in_stack(address) {
            self.search.stacks_shared = true;
            STACK[1].store(0, Ordering::Relaxed);
        }
    }

    /// The fiber that runs.
    #[inline(always)]
    pub fn fiber(&mut self) -> &mut Fiber {
        debug_assert!(self.run.current < self.process.fibers.len(), "the fiber that runs exists");
        // SAFETY: fibers are never given up, and only one that exists runs.
        unsafe { self.process.fibers.get_unchecked_mut(self.run.current) }
    }

    /// Whether the address lies in the stack of any thread.
    #[inline(never)]
    pub fn in_stack(&self, address: u64) -> bool {
        self.process.fibers[..self.run.created].iter().any(|fiber| fiber.holds(address))
    }

    /// Where the thread's pending step is.
    #[inline(always)]
    pub fn slot(&self, thread: usize) -> Option<usize> {
        self.run.alive.contains(thread).then(|| usize::from(self.run.slots[thread]))
    }

    /// The current thread is at its first step; where it will be.
    #[inline(never)]
    fn enlist(&mut self) -> usize {
        let current = self.run.current;
        let access = crate::point::nothing();
        let pending = Pending { thread: Thread(current as u16), access, readiness: Readiness::Ready };
        let at = self.run.pending.partition_point(|other| other.thread.index() < current);
        self.run.pending.insert(at, pending);
        self.run.alive.insert(current);
        self.run.ready.insert(current);
        self.number(at);
        at
    }

    /// The thread has no pending step.
    fn delist(&mut self, thread: usize) {
        if let Some(slot) = self.slot(thread) {
            self.run.pending.remove(slot);
            self.run.alive.remove(thread);
            self.run.ready.remove(thread);
            self.run.held.remove(thread);
            self.run.slots[thread] = NOWHERE;
            self.number(slot);
        }
    }

    /// The pending steps from that one on are in other places.
    fn number(&mut self, from: usize) {
        self.run.slots.resize(self.run.slots.len().max(self.run.created), NOWHERE);
        for (slot, pending) in self.run.pending.iter().enumerate().skip(from) {
            self.run.slots[pending.thread.index()] = slot as u16;
        }
    }

    /// The current thread is at a step, which it may make when `wants` is met.
    #[inline(never)]
    pub fn arrive(&mut self, access: Access, wants: Wants) -> Next {
        let current = self.run.current;
        self.fiber().wants = wants;
        if wants == Wants::Nothing {
            self.run.waiting.remove(current)
        } else {
            self.wait(wants)
        }
        let slot = self.slot(current).unwrap_or_else(|| self.enlist());
        self.run.pending[slot].access = access;
        if let Some(creator) = self.run.starting {
            self.run.starting = None;
            self.run.current = creator;
            return Next::Switch(creator);
        }
        self.decide_quickly()
    }

    /// Whether the current thread may be asked to do no more than make its step: it has made one, has stopped as low on its stack before, and does not seem to go
    /// round a loop.
    #[inline(always)]
    pub fn is_free(&mut self, here: u64) -> bool {
        let listed = self.run.alive.contains(self.run.current);
        let looked_at = self.search.retries.on;
        let fiber = self.fiber();
        listed && !looked_at && here >= fiber.low && !fiber.spin.is_patient()
    }

    /// Whether the access that the current thread calls for is known to be in no loop that is one access long.
    #[inline(always)]
    pub fn is_in_no_loop(&mut self, call: Call) -> bool {
        let depth = self.fiber().top.wrapping_sub(call.stack);
        self.search.looks.is_quiet((call.pc, depth))
    }

    /// What the current thread, which has made a step before, would do next.
    #[inline(always)]
    pub fn foresee(&mut self, access: Access) {
        let slot = self.run.slots.get(self.run.current).copied().unwrap_or(NOWHERE);
        if let Some(pending) = self.run.pending.get_mut(usize::from(slot)) {
            pending.access = access;
        }
    }

    /// The current thread wants something.
    #[inline(never)]
    fn wait(&mut self, wants: Wants) {
        let current = self.run.current;
        let ended = |other: usize| self.process.fibers[other].ended;
        let (waits, joins) = match wants {
            Wants::End(other) if ended(other) => (false, false),
            Wants::End(_) => (true, true),
            _ => (true, false),
        };
        self.run.waiting.set(current, waits);
        self.run.joining.set(current, joins);
    }

    /// The current thread has ended: those who want that may go.
    fn let_join(&mut self) {
        let mut rest = self.run.joining.clone();
        while let Some(thread) = rest.pop() {
            if self.process.fibers[thread].wants == Wants::End(self.run.current) {
                self.run.joining.remove(thread);
                self.run.waiting.remove(thread);
            }
        }
    }

    /// The current thread went round a loop without effect: it goes on when something that it read has changed.
    #[cold]
    pub fn expect_change(&mut self) {
        self.run.spinning.insert(self.run.current);
        let fiber = self.fiber();
        fiber.woken = fiber.spin.sees_change();
    }

    /// The current thread goes on: what it waited for, but for `made` itself, belongs to its step.
    #[cold]
    pub fn saw_change(&mut self, made: Option<&Access>) {
        self.run.spinning.remove(self.run.current);
        let awaited = std::mem::take(&mut self.fiber().spin.awaited);
        for access in awaited.iter().filter(|access| made.is_none_or(|made| !made.overlaps(access))) {
            self.run.trace.access(Access { kind: Kind::Read, ..*access });
        }
        self.fiber().spin.awaited = awaited;
    }

    /// Wakes the threads whose loops wait for a change of these bytes.
    #[cold]
    pub fn tell_loops(&mut self, access: &Access) {
        let mut rest = self.run.spinning.clone();
        while let Some(thread) = rest.pop() {
            let fiber = &mut self.process.fibers[thread];
            fiber.woken |= fiber.spin.awaited.iter().any(|awaited| awaited.overlaps(access));
        }
    }

    /// Whether what somebody tried to take in vain could be taken now.
    pub fn would_succeed(&self, attempt: &Access) -> bool {
        let inside = objects::inner(attempt.object) as usize;
        match attempt.kind {
            _ if objects::class(attempt.object).is_descriptor() => {
                self.run.objects.descriptors.level(attempt.object) != attempt.old
            }
            // The address is that of a mutex or of a lock for readers and writers; of what it is not, nobody holds it.
            Kind::Acquire => self.run.objects.mutex_free(inside) && self.run.objects.writable(inside),
            Kind::AcquireShared => self.run.objects.readable(inside),
            // SAFETY: the address of a semaphore that the thread is in a loop on.
            Kind::Take => unsafe { *(inside as *const u32) > 0 || arena::is_freed(inside) },
            Kind::Await => self.process.fibers.get(inside).is_some_and(|fiber| fiber.ended),
            _ => false,
        }
    }

    /// Records that the current thread made its step. Its accesses are in the trace already. One that has gone on for very
    /// long gives way to the others, as if it had yielded: whatever it waits for, they may be what it waits for.
    #[inline(always)]
    pub fn step_done(&mut self, created: Option<Thread>, yielded: bool, detail: Detail) {
        self.fiber().made += 1;
        self.step_counted(created, yielded, detail);
    }

    /// The same where the thread has counted its step.
    #[inline(always)]
    pub fn step_counted(&mut self, created: Option<Thread>, yielded: bool, detail: Detail) {
        let thread = Thread(self.run.current as u16);
        self.run.in_a_row = if self.run.last == Some(thread) { self.run.in_a_row + 1 } else { 0 };
        let mut yielded = yielded;
        if self.run.in_a_row >= IN_A_ROW_MAX || self.run.trace.len() % ROUND == ROUND - 1 {
            yielded |= self.tires();
        }
        (self.run.last, self.run.gave_way) = (Some(thread), yielded);
        if self.run.trace.is_known() {
            self.run.trace.pass();
        } else {
            self.run.trace.record(thread, created, yielded);
            self.run.details.push(detail);
        }
        if self.search.traces_back {
            self.note_callers();
        }
        self.run.under_way = false;
    }

    /// Whether the thread that went last has to give way.
    #[cold]
    fn tires(&mut self) -> bool {
        let tired = self.run.in_a_row >= IN_A_ROW_MAX || self.run.trace.len() % ROUND == ROUND - 1 && self.leaves_out();
        if tired {
            self.run.in_a_row = 0;
        }
        tired
    }

    /// Whether some thread could go and has not gone for a round, because others took turns.
    #[cold]
    fn leaves_out(&self) -> bool {
        let recent = &self.run.trace.steps()[self.run.trace.len() + 1 - ROUND..];
        let mut went: Threads = recent.iter().map(|step| step.thread).collect();
        went.insert(self.run.current);
        self.run.pending.iter().any(|pending| pending.is_enabled() && !went.contains(pending.thread.index()))
    }

    #[cold]
    fn note_callers(&mut self) {
        let callers = self.process.fibers[self.run.current].callers();
        self.run.callers.push(callers);
    }

    /// Notes who called a plain access of the current thread, where that is asked for.
    #[inline(always)]
    pub fn note_plain(&mut self, pc: u64) {
        if self.search.traces_back {
            self.note_plain_callers(pc);
        }
    }

    #[cold]
    fn note_plain_callers(&mut self, pc: u64) {
        let fiber = &mut self.process.fibers[self.run.current];
        // The note of a call that does not tell its frame is that of another.
        let frame = std::mem::replace(&mut fiber.frame, crate::arch::site::frame());
        let callers = if crate::arch::site::pc() == pc { fiber.callers() } else { Vec::new() };
        fiber.frame = frame;
        let made = self.run.trace.len();
        self.run.plain.insert((self.run.current as u16, pc), Plain { made, callers });
    }

    /// The run ends with a race; this is the other access.
    pub fn races_with(&mut self, thread: u16, pc: u64) {
        self.run.other = self.run.plain.remove(&(thread, pc));
    }

    /// The current thread has ended.
    pub fn end_thread(&mut self) -> Next {
        let current = self.run.current;
        self.process.fibers[current].ended = true;
        self.let_join();
        self.delist(current);
        self.run.trace.amend(Access::new(objects::ended(current), 1, Kind::Write));
        if let Some(creator) = self.run.starting.take() {
            self.run.current = creator;
            return Next::Switch(creator);
        }
        self.decide()
    }

    /// The current thread initialised or destroyed something that others may use. That is no step of its own: it belongs to the step that the
    /// thread made before, which then does not commute with what others do with the object.
    pub fn renewed(&mut self, object: u64, old: u64) {
        // Where all others were waited for, or do not exist yet, nothing of theirs can come at another moment.
        let mut others = (0..self.run.created).filter(|&other| other != self.run.current);
        if others.all(|other| self.process.fibers[other].ended && self.process.fibers[other].joined) {
            return;
        }
        self.run.trace.amend(Access::new(object, 1, Kind::Update).after(old));
    }

    /// The run failed. The first failure counts.
    pub fn fail(&mut self, failure: Failure) {
        if self.run.under_way {
            let access = self.slot(self.run.current).map(|slot| self.run.pending[slot].access);
            self.run.trace.access(access.unwrap_or(Access::new(0, 0, selvedge_explore::Kind::Read)));
            self.step_done(None, false, Detail { pc: failure.pc, ..Detail::default() });
        }
        if crate::arch::site::pc() == failure.pc && self.fiber().holds(crate::arch::site::frame()) {
            self.fiber().frame = crate::arch::site::frame();
        }
        if self.run.failure.is_none() {
            self.run.failure = Some(failure);
            self.run.left = Left::Failed;
        }
    }
}
