//! The state of the search and of the run that is under way, in one place.
//!
//! Invariant: while a run is under way exactly one kernel thread executes, whichever fiber it is on; the sleeping threads
//! whose stacks the fibers use never wake. So the state needs no lock. It is borrowed only inside [`with`], and no switch
//! happens inside one, so no two borrows overlap.

use std::cell::UnsafeCell;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};

use selvedge_driver::{FindingKind, Settings};
use selvedge_explore::{Access, Fairness, Kind, Pending, Readiness, Strategy, Thread, Trace};

use crate::endless::Endless;
use crate::fiber::{Fiber, Wants};
use crate::history::Histories;
use crate::lineup::Lineup;
use crate::memory::arena;
use crate::poll::Touch;
use crate::posix::objects::{self, Objects};
use crate::race::Races;
use crate::retry::Retries;
use crate::switch::{Context, fs_base};

/// Why a run was left before its threads ended.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What went wrong.
    pub kind: FindingKind,
    /// In a sentence.
    pub message: String,
    /// Where.
    pub pc: u64,
}

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
}

/// So many steps of one thread are enough while others could go.
const IN_A_ROW_MAX: u32 = 500;
/// Every so many steps it is seen to that nobody who could go was left out all the time. A power of two.
const ROUND: usize = 512;

/// Neither the heap nor the program lies as high as the stacks of threads.
pub const STACKS: u64 = 0x7000_0000_0000;

/// Where a thread is that has no pending step.
pub const NOWHERE: u8 = u8::MAX;

/// Everything.
pub struct Control {
    /// The fiber that runs.
    pub current: usize,
    /// All fibers; the first `created` take part in this run.
    pub fibers: Vec<Fiber>,
    /// How many threads this run has created.
    pub created: usize,
    /// The fiber that waits for the one it created to reach its first step.
    pub starting: Option<usize>,
    /// What every thread would do next. Where the strategy does not look ahead, what it says of atomic accesses is not up to date.
    pub pending: Vec<Pending>,
    /// Whether the strategy looks ahead.
    pub looks_ahead: bool,
    /// The threads in `pending`, one bit each.
    pub alive: u64,
    /// Where each of them is; [`NOWHERE`] for the others.
    pub slots: [u8; Thread::MAX],
    /// The threads in `pending` that are ready, one bit each.
    pub ready: u64,
    /// The same for those that are held.
    pub held: u64,
    /// Who made the last step.
    pub last: Option<Thread>,
    /// Whether it gave up its turn with it.
    pub gave_way: bool,
    /// Whether the run only goes round loops of attempts that fail, in a search that goes through everything.
    pub fruitless: bool,
    /// How many steps the same thread has made one after the other.
    pub in_a_row: u32,
    /// The threads that go round loops without effect, one bit each.
    pub spinning: u64,
    /// The threads that want something before their next step, one bit each.
    pub waiting: u64,
    /// Those of them that want the end of a thread that has not ended. Only an end changes that, so nobody looks before.
    pub joining: u64,
    /// Whether the current fiber was chosen and has not yet recorded its step.
    pub under_way: bool,
    /// What the run did.
    pub trace: Trace,
    /// The same, for reports.
    pub details: Vec<Detail>,
    /// Who decides.
    pub strategy: Box<dyn Strategy>,
    /// Who is held back.
    pub fairness: Fairness,
    /// What went wrong.
    pub failure: Option<Failure>,
    /// How the run came to its end.
    pub left: Left,
    /// Where the search goes on.
    pub search: Context,
    /// What to do.
    pub settings: Settings,
    /// Locks and what waits for them.
    pub objects: Objects,
    /// Who knows of whose accesses.
    pub races: Races,
    /// Whether the step that was made last may belong to a loop, so that nothing may be left on its thread's stack.
    pub tidy: bool,
    /// Where the strategy lies whose run is in the trace.
    pub traced: usize,
    /// Whether runs are not looked at for data races, though the settings ask for it: most were looked at ([`selvedge_explore::Classes`]).
    pub spares_races: bool,
    /// Whether some thread has been seen on the stack of another, in this run or an earlier one.
    pub stacks_shared: bool,
    /// Operations and histories.
    pub histories: Histories,
    /// The object under test, and what its operations did.
    pub lineup: Lineup,
    /// Whether the program runs its tests itself.
    pub hosted: bool,
    /// Who called each step, when that is asked for.
    pub callers: Option<Vec<Vec<u64>>>,
    /// And the last plain access that each thread made at a place.
    pub plain: BTreeMap<(u8, u64), Plain>,
    /// The other access of the race that ended the run, where it is known.
    pub other: Option<Plain>,
    /// Nanoseconds of virtual time.
    pub time: u64,
    /// Loops that only try again.
    pub retries: Retries,
    /// The threads that wait to make another turn of a loop that takes a lock in order to look, one bit each.
    pub polling: u64,
    /// Those of them that the step under way may end the wait of.
    pub waking: u64,
    /// What was done to locks in this run.
    pub touches: Vec<Touch>,
    /// Runs that go on for long.
    pub endless: Endless,
}

/// The function that a thread starts with.
pub type Body = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

struct Cell(UnsafeCell<Option<Control>>);

// SAFETY: see the module's invariant.
unsafe impl Sync for Cell {}

static CONTROL: Cell = Cell(UnsafeCell::new(None));
/// The FS base of the fiber that runs under control; 0 when none does. The program may have other threads, which are not
/// under control, so that a run is under way is not enough.
static CONTROLLED: AtomicU64 = AtomicU64::new(0);
static STEPS: AtomicU64 = AtomicU64::new(0);

/// Whether the caller is code under test, under control.
#[inline(always)]
pub fn active() -> bool {
    CONTROLLED.load(Ordering::Relaxed) == fs_base()
}

/// Whether code under test runs, under control, on whichever thread.
pub fn any_active() -> bool {
    CONTROLLED.load(Ordering::Relaxed) != 0
}

/// Says whether the caller is code under test.
pub fn set_active(active: bool) {
    CONTROLLED.store(if active { fs_base() } else { 0 }, Ordering::Relaxed);
}

/// The stack of the fiber that runs: its lowest address and its size, which is 0 once stacks are looked at.
pub static STACK: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

/// Whether the address is one that only the fiber that runs has been seen at: in its own stack.
#[inline(always)]
pub fn private(address: u64) -> bool {
    address.wrapping_sub(STACK[0].load(Ordering::Relaxed)) < STACK[1].load(Ordering::Relaxed)
}

/// A plain access: how many steps had been made, and who called it.
pub struct Plain {
    pub made: usize,
    pub callers: Vec<u64>,
}

/// One more step is made.
#[inline(always)]
pub fn count_step() {
    STEPS.store(STEPS.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

/// All steps of all runs so far: the watchdog's sign of life.
pub fn steps() -> u64 {
    STEPS.load(Ordering::Relaxed)
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
    // SAFETY: one kernel thread, and `f` neither switches nor calls `with`: see the module's invariant.
    f(unsafe { state() })
}

/// The state, for the few places where what a closure captures would be copied millions of times a second.
///
/// # Safety
/// There is a state. The borrow ends before the next switch and before the state is borrowed again: see the module's invariant.
#[inline(always)]
pub unsafe fn state() -> &'static mut Control {
    // SAFETY: as the caller promises.
    unsafe { (*CONTROL.0.get()).as_mut().unwrap_unchecked() }
}

/// Whether there is a state.
#[inline(always)]
pub fn is_installed() -> bool {
    // SAFETY: as in `with`.
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
    /// Says that this fiber is about to run, and answers where it goes on.
    #[inline(always)]
    pub fn give_control(&self, fiber: usize) -> Context {
        let fiber = &self.fibers[fiber];
        let looked_at = self.stacks_shared && self.races.on;
        STACK[0].store(fiber.bottom, Ordering::Relaxed);
        STACK[1].store(if looked_at { 0 } else { fiber.top - fiber.bottom }, Ordering::Relaxed);
        CONTROLLED.store(fiber.context.fs, Ordering::Relaxed);
        fiber.context
    }

    /// An access to this address: from now on stacks are looked at if it is in that of another thread.
    #[inline(always)]
    pub fn reaches(&mut self, address: u64) {
        if address >= STACKS && !self.stacks_shared && !self.fiber().holds(address) && self.in_stack(address) {
            self.stacks_shared = true;
            STACK[1].store(0, Ordering::Relaxed);
        }
    }

    /// The fiber that runs.
    #[inline(always)]
    pub fn fiber(&mut self) -> &mut Fiber {
        debug_assert!(self.current < self.fibers.len(), "the fiber that runs exists");
        // SAFETY: fibers are never given up, and only one that exists runs.
        unsafe { self.fibers.get_unchecked_mut(self.current) }
    }

    /// Whether the address lies in the stack of any thread.
    #[inline(never)]
    fn in_stack(&self, address: u64) -> bool {
        self.fibers[..self.created].iter().any(|fiber| fiber.holds(address))
    }

    /// Where the thread's pending step is.
    #[inline(always)]
    pub fn slot(&self, thread: usize) -> Option<usize> {
        (self.alive >> thread & 1 != 0).then(|| usize::from(self.slots[thread]))
    }

    /// Nobody has a pending step.
    pub fn forget_pending(&mut self) {
        self.pending.clear();
        self.slots = [NOWHERE; Thread::MAX];
        (self.alive, self.ready, self.held) = (0, 0, 0);
    }

    /// The current thread is at its first step; where it will be.
    #[inline(never)]
    fn enlist(&mut self) -> usize {
        let current = self.current;
        let access = crate::point::nothing();
        let pending = Pending { thread: Thread(current as u8), access, readiness: Readiness::Ready };
        let at = self.pending.partition_point(|other| other.thread.index() < current);
        self.pending.insert(at, pending);
        self.alive |= 1 << current;
        self.ready |= 1 << current;
        self.number();
        at
    }

    /// The thread has no pending step.
    fn delist(&mut self, thread: usize) {
        if let Some(slot) = self.slot(thread) {
            self.pending.remove(slot);
            let others = !(1 << thread);
            self.alive &= others;
            self.ready &= others;
            self.held &= others;
            self.slots[thread] = NOWHERE;
            self.number();
        }
    }

    fn number(&mut self) {
        for (slot, pending) in self.pending.iter().enumerate() {
            self.slots[pending.thread.index()] = slot as u8;
        }
    }

    /// The current thread is at a step, which it may make when `wants` is met.
    #[inline(never)]
    pub fn arrive(&mut self, access: Access, wants: Wants) -> Next {
        let current = self.current;
        self.fiber().wants = wants;
        if wants == Wants::Nothing {
            self.waiting &= !(1 << current)
        } else {
            self.wait(wants)
        }
        let slot = self.slot(current).unwrap_or_else(|| self.enlist());
        self.pending[slot].access = access;
        if let Some(creator) = self.starting {
            self.starting = None;
            self.current = creator;
            return Next::Switch(creator);
        }
        self.decide_quickly()
    }

    /// Whether the current thread may be asked to do no more than make its step: it has made one, has stopped as low on its stack before, and does not seem to go
    /// round a loop.
    #[inline(always)]
    pub fn is_free(&mut self, here: u64) -> bool {
        let listed = self.alive >> (self.current % Thread::MAX) & 1 != 0;
        let looked_at = self.retries.on;
        let fiber = self.fiber();
        listed && !looked_at && here >= fiber.low && !fiber.spin.is_patient()
    }

    /// What the current thread, which has made a step before, would do next.
    #[inline(always)]
    pub fn foresee(&mut self, access: Access) {
        let slot = usize::from(self.slots[self.current % Thread::MAX]);
        if let Some(pending) = self.pending.get_mut(slot) {
            pending.access = access;
        }
    }

    /// The current thread wants something.
    #[inline(never)]
    fn wait(&mut self, wants: Wants) {
        let bit = 1 << self.current;
        let ended = |other: usize| self.fibers[other].ended;
        let (waits, joins) = match wants {
            Wants::End(other) if ended(other) => (false, false),
            Wants::End(_) => (true, true),
            _ => (true, false),
        };
        self.waiting = if waits { self.waiting | bit } else { self.waiting & !bit };
        self.joining = if joins { self.joining | bit } else { self.joining & !bit };
    }

    /// The current thread has ended: those who want that may go.
    fn let_join(&mut self) {
        let mut rest = self.joining;
        while rest != 0 {
            let thread = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            if self.fibers[thread].wants == Wants::End(self.current) {
                self.joining &= !(1 << thread);
                self.waiting &= !(1 << thread);
            }
        }
    }

    /// The current thread went round a loop without effect: it goes on when something that it read has changed.
    #[cold]
    pub fn expect_change(&mut self) {
        self.spinning |= 1 << self.current;
        let fiber = self.fiber();
        fiber.woken = fiber.spin.sees_change();
    }

    /// The current thread goes on: what it waited for, but for `made` itself, belongs to its step.
    #[cold]
    pub fn saw_change(&mut self, made: Option<&Access>) {
        self.spinning &= !(1 << self.current);
        let awaited = std::mem::take(&mut self.fiber().spin.awaited);
        for access in awaited.iter().filter(|access| made.is_none_or(|made| !made.overlaps(access))) {
            self.trace.access(Access { kind: Kind::Read, ..*access });
        }
        self.fiber().spin.awaited = awaited;
    }

    /// Wakes the threads whose loops wait for a change of these bytes.
    #[cold]
    pub fn tell_loops(&mut self, access: &Access) {
        let mut rest = self.spinning;
        while rest != 0 {
            let thread = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let fiber = &mut self.fibers[thread];
            fiber.woken |= fiber.spin.awaited.iter().any(|awaited| awaited.overlaps(access));
        }
    }

    /// Whether what somebody tried to take in vain could be taken now.
    pub fn would_succeed(&self, attempt: &Access) -> bool {
        let inside = objects::inner(attempt.object) as usize;
        match attempt.kind {
            // The address is that of a mutex or of a lock for readers and writers; of what it is not, nobody holds it.
            Kind::Acquire => self.objects.mutex_free(inside) && self.objects.writable(inside),
            Kind::AcquireShared => self.objects.readable(inside),
            // SAFETY: the address of a semaphore that the thread is in a loop on.
            Kind::Take => unsafe { *(inside as *const u32) > 0 || arena::is_freed(inside) },
            Kind::Await => self.fibers.get(inside).is_some_and(|fiber| fiber.ended),
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
        let thread = Thread(self.current as u8);
        self.in_a_row = if self.last == Some(thread) { self.in_a_row + 1 } else { 0 };
        let mut yielded = yielded;
        if self.in_a_row >= IN_A_ROW_MAX || self.trace.len() % ROUND == ROUND - 1 {
            yielded |= self.tires();
        }
        (self.last, self.gave_way) = (Some(thread), yielded);
        if self.trace.is_known() {
            self.trace.pass();
        } else {
            self.trace.record(thread, created, yielded);
            self.details.push(detail);
        }
        if self.callers.is_some() {
            self.note_callers();
        }
        self.under_way = false;
    }

    /// Whether the thread that went last has to give way.
    #[cold]
    fn tires(&mut self) -> bool {
        let tired = self.in_a_row >= IN_A_ROW_MAX || self.trace.len() % ROUND == ROUND - 1 && self.leaves_out();
        if tired {
            self.in_a_row = 0;
        }
        tired
    }

    /// Whether some thread could go and has not gone for a round, because others took turns.
    #[cold]
    fn leaves_out(&self) -> bool {
        let recent = &self.trace.steps()[self.trace.len() + 1 - ROUND..];
        let went = recent.iter().fold(1u64 << self.current, |set, step| set | 1 << step.thread.index());
        self.pending.iter().any(|pending| pending.is_enabled() && went >> pending.thread.index() & 1 == 0)
    }

    #[cold]
    fn note_callers(&mut self) {
        let callers = self.fibers[self.current].callers();
        self.callers.get_or_insert_default().push(callers);
    }

    /// Notes who called a plain access of the current thread, where that is asked for.
    #[inline(always)]
    pub fn note_plain(&mut self, pc: u64) {
        if self.callers.is_some() {
            self.note_plain_callers(pc);
        }
    }

    #[cold]
    fn note_plain_callers(&mut self, pc: u64) {
        let fiber = &mut self.fibers[self.current];
        // The note of a call that does not tell its frame is that of another.
        let frame = std::mem::replace(&mut fiber.frame, crate::site::frame());
        let callers = if crate::site::pc() == pc { fiber.callers() } else { Vec::new() };
        fiber.frame = frame;
        let made = self.trace.len();
        self.plain.insert((self.current as u8, pc), Plain { made, callers });
    }

    /// The run ends with a race; this is the other access.
    pub fn races_with(&mut self, thread: u8, pc: u64) {
        self.other = self.plain.remove(&(thread, pc));
    }

    /// The current thread has ended.
    pub fn end_thread(&mut self) -> Next {
        let current = self.current;
        self.fibers[current].ended = true;
        self.let_join();
        self.delist(current);
        self.trace.amend(Access::new(objects::ended(current), 1, Kind::Write));
        if let Some(creator) = self.starting.take() {
            self.current = creator;
            return Next::Switch(creator);
        }
        self.decide()
    }

    /// Whether a thread is left over when the test returns depends on which comes first: the last step of the test, or that of the thread. They
    /// do not commute, unless somebody joined it.
    pub fn looks_for_leftovers(&mut self) {
        if self.current != 0 || self.hosted {
            return;
        }
        for other in (1..self.created).filter(|&other| !self.fibers[other].joined) {
            self.trace.amend(Access::new(objects::ended(other), 1, Kind::Read));
        }
    }

    /// The current thread initialised or destroyed something that others may use. That is no step of its own: it belongs to the step that the
    /// thread made before, which then does not commute with what others do with the object.
    pub fn renewed(&mut self, object: u64, old: u64) {
        // Where all others were waited for, or do not exist yet, nothing of theirs can come at another moment.
        let mut others = (0..self.created).filter(|&other| other != self.current);
        if others.all(|other| self.fibers[other].ended && self.fibers[other].joined) {
            return;
        }
        self.trace.amend(Access::new(object, 1, Kind::Update).after(old));
    }

    /// The run failed. The first failure counts.
    pub fn fail(&mut self, failure: Failure) {
        if self.under_way {
            let access = self.slot(self.current).map(|slot| self.pending[slot].access);
            self.trace.access(access.unwrap_or(Access::new(0, 0, selvedge_explore::Kind::Read)));
            self.step_done(None, false, Detail { pc: failure.pc, new: None });
        }
        if crate::site::pc() == failure.pc && self.fiber().holds(crate::site::frame()) {
            self.fiber().frame = crate::site::frame();
        }
        if self.failure.is_none() {
            self.failure = Some(failure);
            self.left = Left::Failed;
        }
    }
}
