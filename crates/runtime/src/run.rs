//! One run of a test: everything is put back to where it was, the test runs to its end, and that end has a name.
//!
//! Invariant: nothing of an earlier run is left in memory that is under control, nor in [`Run`], which is made anew.

use std::collections::BTreeMap;

use selvedge_explore::{Classes, End, Fairness, Look, Pending, Replay, Stop, Thread, Threads, Trace};

use crate::control::{Detail, Left, Search, with};
use crate::endless::Endless;
use crate::finding::Failure;
use crate::history::Operations;
use crate::lineup::Recorder;
use crate::memory::arena;
use crate::memory::reset::Snapshot;
use crate::poll::Touch;
use crate::posix::objects::Objects;
use crate::race::Races;
use crate::retry::Attempts;
use crate::session::Test;
use crate::{fiber, journal, plain_steps, shadow};

/// Where a thread is that has no pending step.
pub const NOWHERE: u16 = u16::MAX;

/// What the clock says at the beginning of a run, in nanoseconds.
const BEGINNING: u64 = 1_000_000_000;

/// A plain access: how many steps had been made, and who called it.
pub struct Plain {
    pub made: usize,
    pub callers: Vec<u64>,
}

/// What belongs to one run.
pub struct Run {
    /// The fiber that runs.
    pub current: usize,
    /// How many threads this run has created.
    pub created: usize,
    /// The fiber that waits for the one it created to reach its first step.
    pub starting: Option<usize>,
    /// What every thread would do next. Where the strategy does not look ahead, what it says of atomic accesses is not up to date.
    pub pending: Vec<Pending>,
    /// Whether the strategy looks ahead.
    pub looks_ahead: bool,
    /// The threads in `pending`.
    pub alive: Threads,
    /// Where each of them is; [`NOWHERE`] for others, or there is no entry.
    pub slots: Vec<u16>,
    /// The threads in `pending` that are ready.
    pub ready: Threads,
    /// The same for those that are held.
    pub held: Threads,
    /// Who made the last step.
    pub last: Option<Thread>,
    /// Whether it gave up its turn with it.
    pub gave_way: bool,
    /// Whether the run only goes round loops of attempts that fail, in a search that goes through everything.
    pub fruitless: bool,
    /// How many steps the same thread has made one after the other.
    pub in_a_row: u32,
    /// The threads that go round loops without effect.
    pub spinning: Threads,
    /// The threads that want something before their next step.
    pub waiting: Threads,
    /// Those of them that want the end of a thread that has not ended. Only an end changes that, so nobody looks before.
    pub joining: Threads,
    /// Whether the current fiber was chosen and has not yet recorded its step.
    pub under_way: bool,
    /// What the run did.
    pub trace: Trace,
    /// Where the strategy lies whose run that is.
    strategy: usize,
    /// The same, for reports.
    pub details: Vec<Detail>,
    /// Who is held back.
    pub fairness: Fairness,
    /// What went wrong.
    pub failure: Option<Failure>,
    /// How the run came to its end.
    pub left: Left,
    /// A thread that was still running when the test returned.
    pub leaked: Option<usize>,
    /// Whether the first thread has ended by itself, and with it neither the test nor the process.
    pub goes_on: bool,
    /// Whether an assumption of the test did not hold.
    pub excluded: bool,
    /// Whether the step under way is a wait that ends without a reason.
    pub spurious: bool,
    /// Locks and what waits for them.
    pub objects: Objects,
    /// Who knows of whose accesses.
    pub races: Races,
    /// Whether the step that was made last may belong to a loop, so that nothing may be left on its thread's stack.
    pub tidy: bool,
    /// Who called each step, when the search traces back.
    pub callers: Vec<Vec<u64>>,
    /// And the last plain access that each thread made at a place.
    pub plain: BTreeMap<(u16, u64), Plain>,
    /// The other access of the race that ended the run, where it is known.
    pub other: Option<Plain>,
    /// Nanoseconds of virtual time.
    pub time: u64,
    /// Operations that the test marks.
    pub operations: Operations,
    /// What the operations of the object under test did.
    pub recorder: Recorder,
    /// Threads in loops that only try again.
    pub attempts: Attempts,
    /// The threads that wait to make another turn of a loop that takes a lock in order to look.
    pub polling: Threads,
    /// Those of them that the step under way may end the wait of.
    pub waking: Threads,
    /// What was done to locks.
    pub touches: Vec<Touch>,
    /// What is watched of a run that goes on for long.
    pub endless: Endless,
}

/// All parts of a run that own memory. Runs hand them on to each other with nothing in them, but for the steps with which the next run begins.
#[derive(Default)]
struct Memory {
    alive: Threads,
    ready: Threads,
    held: Threads,
    spinning: Threads,
    waiting: Threads,
    joining: Threads,
    polling: Threads,
    waking: Threads,
    pending: Vec<Pending>,
    slots: Vec<u16>,
    trace: Trace,
    details: Vec<Detail>,
    fairness: Fairness,
    failure: Option<Failure>,
    objects: Objects,
    races: Races,
    callers: Vec<Vec<u64>>,
    plain: BTreeMap<(u16, u64), Plain>,
    other: Option<Plain>,
    operations: Operations,
    recorder: Recorder,
    attempts: Attempts,
    touches: Vec<Touch>,
    endless: Endless,
}

/// What a run is told of its search.
#[derive(Clone, Copy)]
struct Told {
    /// Where the strategy lies.
    strategy: usize,
    looks_ahead: bool,
    /// What the clock says.
    time: u64,
}

impl Told {
    fn by(search: &Search) -> Self {
        Told {
            strategy: (&raw const *search.strategy).addr(),
            looks_ahead: search.strategy.looks_ahead(),
            time: BEGINNING + search.lineup.shift,
        }
    }
}

impl Run {
    /// A run that has not begun.
    #[inline(always)]
    fn new(memory: Memory, told: Told) -> Self {
        let Told { strategy, looks_ahead, time } = told;
        let Memory { pending, slots, trace, details, fairness, failure, objects, races, callers, .. } = memory;
        let Memory { alive, ready, held, spinning, waiting, joining, polling, waking, .. } = memory;
        let Memory { plain, other, operations, recorder, attempts, touches, endless, .. } = memory;
        Run {
            current: 0,
            created: 0,
            starting: None,
            pending,
            looks_ahead,
            alive,
            slots,
            ready,
            held,
            last: None,
            gave_way: false,
            fruitless: false,
            in_a_row: 0,
            spinning,
            waiting,
            joining,
            under_way: false,
            trace,
            strategy,
            details,
            fairness,
            failure,
            left: Left::Complete,
            leaked: None,
            goes_on: false,
            excluded: false,
            spurious: false,
            objects,
            races,
            tidy: false,
            callers,
            plain,
            other,
            time,
            operations,
            recorder,
            attempts,
            polling,
            waking,
            touches,
            endless,
        }
    }

    /// The one before the first search.
    pub fn first(search: &Search) -> Self {
        Run::new(Memory::default(), Told::by(search))
    }

    /// The one after this, which has left nothing in its memory. All else is made anew.
    #[inline(always)]
    fn next(self, told: Told) -> Self {
        let Run { pending, slots, trace, details, fairness, failure, objects, races, callers, .. } = self;
        let Run { alive, ready, held, spinning, waiting, joining, polling, waking, .. } = self;
        let Run { plain, other, operations, recorder, attempts, touches, endless, .. } = self;
        let memory = Memory {
            alive,
            ready,
            held,
            spinning,
            waiting,
            joining,
            polling,
            waking,
            pending,
            slots,
            trace,
            details,
            fairness,
            failure,
            objects,
            races,
            callers,
            plain,
            other,
            operations,
            recorder,
            attempts,
            touches,
            endless,
        };
        Run::new(memory, told)
    }

    /// The next run takes the place of this one.
    fn begin(&mut self, search: &Search) {
        let told = Told::by(search);
        self.leave_memory(search, told);
        // Nothing that is called in between can fail, and so the compiler leaves memory where it is; to move it takes a tenth of the time of a short run.
        // SAFETY: the value that is taken out is replaced before anybody looks at its place.
        unsafe {
            let place = &raw mut *self;
            place.write(place.read().next(told));
        }
    }

    /// Leaves nothing in the memory that the next run takes over. Every field is named, so that none is forgotten: the first ones own no memory.
    fn leave_memory(&mut self, search: &Search, told: Told) {
        let Run {
            current: _,
            created: _,
            starting: _,
            looks_ahead: _,
            last: _,
            gave_way: _,
            fruitless: _,
            in_a_row: _,
            under_way: _,
            left: _,
            leaked: _,
            goes_on: _,
            excluded: _,
            spurious: _,
            tidy: _,
            time: _,
            alive,
            ready,
            held,
            spinning,
            waiting,
            joining,
            polling,
            waking,
            strategy,
            pending,
            slots,
            trace,
            details,
            fairness,
            failure,
            objects,
            races,
            callers,
            plain,
            other,
            operations,
            recorder,
            attempts,
            touches,
            endless,
        } = self;
        // What is in the trace is of a run of the same strategy, or nothing is known of it.
        let kept = if *strategy == told.strategy { search.strategy.repeats() } else { 0 };
        trace.renew(kept);
        details.truncate(kept);
        pending.clear();
        slots.clear();
        for set in [alive, ready, held, spinning, waiting, joining, polling, waking] {
            set.clear();
        }
        fairness.reset();
        *failure = None;
        objects.clear();
        races.renew(search.looks_for_races());
        callers.clear();
        if !plain.is_empty() {
            plain.clear();
        }
        *other = None;
        operations.clear();
        recorder.renew(&search.lineup);
        attempts.clear();
        touches.clear();
        endless.clear();
    }
}

/// Everything as it was before the first run.
pub fn renew(globals: &Snapshot) {
    arena::reset();
    plain_steps::renew();
    globals.restore();
    with(|control| {
        for fiber in &control.process.fibers[..control.run.created] {
            fiber.storage.restore();
        }
        control.search.retries.prune();
        let (settings, strategy) = (&control.search.settings, &control.search.strategy);
        let turns_races = (!strategy.replays()).then(|| strategy.turns_races());
        control.search.looks.enable(settings.spins, settings.stop_at_failure, turns_races);
        control.search.looks.prune();
        if control.search.looks_for_races() {
            control.process.shadow.renew();
        }
        control.run.begin(&control.search);
    });
}

fn end_of(left: Left) -> End {
    match left {
        Left::Complete => End::Complete,
        Left::Stuck | Left::Blocked => End::Stuck,
        Left::Restart => End::Stopped(Stop::Redundant),
        Left::Endless => End::Endless,
        Left::Truncated => End::Truncated,
        Left::Failed => End::Failed,
        Left::Stopped(stop) => End::Stopped(stop),
    }
}

/// One run; how it ended.
pub fn run_once(test: &Test, globals: &Snapshot) -> End {
    renew(globals);
    journal::begin_run();
    let created = with(|control| control.create(test.body, test.argument).is_ok());
    debug_assert!(created, "the first fiber exists");
    fiber::enter();
    with(|control| end_of(control.run.left))
}

/// The run once more, now that more of it is looked at; how it ended. The same run, but for a data race that was missed.
fn run_again(test: &Test, globals: &Snapshot, end: End) -> End {
    let (strategy, left, steps) = with(|control| {
        let schedule = control.run.trace.schedule();
        let strategy = std::mem::replace(&mut control.search.strategy, Box::new(Replay::new(schedule)));
        (strategy, control.run.left, control.run.trace.len())
    });
    let _ = with(|control| control.search.strategy.start());
    let again = run_once(test, globals);
    with(|control| {
        control.search.strategy = strategy;
        // Where the search gave up the run, nobody knows how it goes on.
        if matches!(end, End::Stopped(_)) && again == End::Stopped(Stop::Diverged(steps)) {
            control.run.left = left;
            return end;
        }
        again
    })
}

/// A run that is looked at for data races, if that is asked for. Accesses to stacks are looked at from the first run on in which one thread
/// was seen on the stack of another; that one is repeated.
fn look(test: &Test, globals: &Snapshot, run: impl FnOnce() -> End) -> End {
    let unshared = with(|control| !control.search.stacks_shared);
    let end = run();
    if unshared && with(|control| control.search.stacks_shared) { run_again(test, globals, end) } else { end }
}

/// The next run, which is looked at.
pub fn run_and_look(test: &Test, globals: &Snapshot) -> End {
    look(test, globals, || run_once(test, globals))
}

/// The next run, which is looked at unless one of its class was; these are counted.
pub fn run_of_class(test: &Test, globals: &Snapshot, classes: &mut Classes, spared: &mut u64) -> End {
    let end = if classes.expects() {
        with(|control| control.search.spares_races = true);
        let end = run_once(test, globals);
        let verdict = with(|control| {
            control.search.spares_races = false;
            classes.judge(&control.run.trace, end)
        });
        *spared += u64::from(verdict == Look::Enough);
        if verdict == Look::Enough || matches!(end, End::Stopped(Stop::Diverged(_))) {
            return end;
        }
        look(test, globals, || run_again(test, globals, end))
    } else {
        run_and_look(test, globals)
    };
    let doubtful = shadow::was_doubtful();
    with(|control| classes.learn(&control.run.trace, end, control.run.failure.is_none() && !doubtful));
    end
}
