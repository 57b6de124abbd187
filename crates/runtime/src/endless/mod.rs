//! Runs that do not end: when that is a livelock.
//!
//! A livelock is a run without an end in which every thread that can go again and again does go again and again (strong fairness; a thread
//! that waits for a mutex can go whenever the mutex is free). It is shown by a *fair cycle*: the run comes back to a state in which it was, and every
//! thread that could go somewhere in between has gone. From equal states the same schedule does the same, so this repeats for ever.
//!
//! What a thread was about to do in such a state is seen only when it does it. So the schedule of the cycle is followed once more: if every step does the same again, and leads to
//! the same state, then the two states were equal in that too.
//!
//! A thread that only waits in a loop, and tries a lock made of atomics whenever another has it, is not taken for one that goes: what it looks at must not change in the cycle.
//!
//! A word of memory may differ in which threads only count: every step of the cycle that touches it writes it whatever it finds there, and nobody looks at what was there ([`crate::arch::unused`]). What
//! it holds then changes nothing.
//!
//! The last quarter of the steps that a run may make is watched: the state is kept at some moments (at distances that double, as in Brent's
//! search for cycles) and every later state is compared with it, byte by byte ([`state`]). A run that reaches the limit is continued by a fair
//! scheduler, which lets the thread go that has waited longest. If that ends, the schedule up to here was not fair and says nothing; if it comes to a fair cycle, that is a
//! livelock; if neither, nobody knows whether the run has an end.
//!
//! Invariant: what is not compared (the clock, random numbers, memory that the program has from the system) makes the runtime forget the state that it kept, so no cycle goes through it. So
//! livelocks may be missed here, and are then unknown; none is invented.

pub mod state;

use selvedge_explore::{Access, Condition, End, Kind, Run, Stop, Thread, Threads};
use selvedge_protocol::Class;

use crate::arch::unused;
use crate::control::{Control, Left};
use crate::journal;
use crate::posix::objects;
use crate::retry::look;
use state::State;

/// A fair scheduler continues at least for so long.
const FAIR_MIN: u64 = 4096;

/// A turn of a loop that looks under locks has at most so many steps.
const TURN_MAX: u32 = 64;

/// What is watched of a run that goes on for long.
#[derive(Default)]
pub struct Endless {
    kept: Option<Box<State>>,
    /// At how many steps it was kept.
    at: usize,
    /// At how many steps the next state is kept, and how many after it.
    next: usize,
    distance: usize,
    /// The threads that have gone since.
    moved: Threads,
    /// The threads that could go since.
    enabled: Threads,
    /// A cycle that is followed once more: at how many steps it began and ended.
    cycle: Option<(usize, usize)>,
    /// The words of memory that are not the same after it.
    drift: Vec<u64>,
    /// Before the limit: the threads that could go, and those that went.
    could: Threads,
    went: Threads,
    /// At how many steps a fair scheduler took over, before the limit.
    took_over: Option<usize>,
    /// At how many steps each thread went last, once a fair scheduler decides.
    turns: Vec<usize>,
}

impl Endless {
    /// Nothing is watched any more.
    #[inline]
    pub fn clear(&mut self) {
        if self.distance > 0 || self.took_over.is_some() {
            *self = Endless::default();
        }
    }

    /// A fair scheduler goes on from here.
    pub fn take_over(&mut self, at: usize) {
        self.took_over = self.took_over.or(Some(at));
    }

    /// Whether one has, before the limit.
    #[inline(always)]
    pub fn has_taken_over(&self) -> bool {
        self.took_over.is_some()
    }

    /// Something happened that is not part of what is compared.
    #[inline]
    pub fn disturb(&mut self) {
        if self.distance > 0 {
            self.kept = None;
            self.drift.clear();
            self.cycle = None;
        }
    }

    /// Whether plain accesses have to be looked at.
    #[inline]
    pub fn is_drifting(&self) -> bool {
        !self.drift.is_empty()
    }

    /// A plain access: what it touches is no word that threads only count in.
    #[cold]
    pub fn touches(&mut self, address: u64, size: u64) {
        if self.drift.iter().any(|&word| address < word + 8 && word < address.saturating_add(size)) {
            self.disturb();
        }
    }

    /// Whether states are compared.
    #[inline]
    pub fn is_watching(&self) -> bool {
        self.kept.is_some()
    }
}

fn touches(access: &Access, word: u64) -> bool {
    access.overlaps(&Access::new(word, 8, Kind::Read))
}

/// Whether the steps since then write these words whatever they find there, and nobody looks at it.
fn only_counts(control: &Control, words: &[u64], from: usize) -> bool {
    let trace = &control.run.trace;
    (from..trace.len()).all(|at| {
        let mut counting = trace.accesses(at).iter().filter(|access| words.iter().any(|&word| touches(access, word)));
        let blind = |access: &Access| {
            matches!(access.kind, Kind::Update | Kind::Write) && access.condition == Condition::Always && !access.waits
        };
        counting.all(|access| blind(access) && unused::is_unused(control.run.details[at].pc))
    })
}

/// Whether no thread only waits, since then, for something that others change meanwhile. A thread that tries a lock made of atomics, and finds it taken each time, goes
/// on as little as one that waits for a mutex: it could go on when the lock is free, and a fair scheduler would let it. What it writes says nothing if it is only to words that others
/// write as well: locks made of atomics note that somebody waits.
fn none_waits(control: &Control, words: &[u64], from: usize) -> bool {
    let trace = &control.run.trace;
    let accesses = |wanted: bool, thread: Thread| {
        let of = move |at: &usize| (trace.step(*at).thread == thread) == wanted;
        let all = (from..trace.len()).filter(of).flat_map(|at| trace.accesses(at));
        all.filter(|access| !words.iter().any(|&word| touches(access, word)))
    };
    let changes = |access: &&Access| access.changed && !access.is_read();
    control.run.endless.moved.iter().map(|thread| Thread(thread as u16)).all(|thread| {
        let sees = |other: &Access| accesses(true, thread).any(|access| access.overlaps(other));
        let fought_over = |access: &Access| {
            let of_atomics = matches!(objects::class(access.object), Class::Memory | Class::Futex | Class::WakeUp);
            of_atomics && accesses(false, thread).filter(changes).any(|other| other.overlaps(access))
        };
        let waits = accesses(true, thread).filter(changes).all(fought_over);
        !waits || !accesses(false, thread).filter(changes).any(sees)
    })
}

/// Whether the steps from `to` on are those between `from` and `to`.
fn repeats(control: &Control, from: usize, to: usize) -> bool {
    let (trace, details) = (&control.run.trace, &control.run.details);
    let counts = |access: &Access| control.run.endless.drift.iter().any(|&word| touches(access, word));
    let known = |access: &Access| if counts(access) { Access { old: 0, ..*access } } else { *access };
    let new = |at: usize| if trace.accesses(at).iter().any(counts) { None } else { details[at].new };
    (from..to).all(|at| {
        let then = at + to - from;
        let same =
            (trace.step(at).thread, trace.step(at).created) == (trace.step(then).thread, trace.step(then).created);
        same && trace.accesses(at).iter().map(known).eq(trace.accesses(then).iter().map(known))
            && trace.picks(at) == trace.picks(then)
            && (details[at].pc, new(at)) == (details[then].pc, new(then))
    })
}

/// Whether the run has gone on for so long that it is watched.
#[inline(always)]
pub fn is_watched(control: &Control) -> bool {
    let limit = control.search.settings.steps_max;
    control.run.trace.len() as u64 >= limit - limit / 4 || control.run.endless.has_taken_over()
}

/// Looks at a run that goes on for long, before its next step; how it ends, if it does now.
#[cold]
pub fn watch(control: &mut Control, enabled: &Threads) -> Option<Left> {
    let at = control.run.trace.len();
    // A thread that waits for a value in order to try again could go, and fail.
    let enabled = enabled.or(&control.run.attempts.attached);
    let within = at as u64 <= control.search.settings.steps_max;
    let endless = &mut control.run.endless;
    if within {
        endless.could = endless.could.or(&enabled);
    }
    endless.enabled = endless.enabled.or(&enabled);
    if let Some(last) = control.run.last {
        endless.moved.insert(last.index());
        if within {
            endless.went.insert(last.index());
        }
    }
    let fair = endless.enabled.is_within(&endless.moved);
    let due = endless.cycle.map_or(fair, |(from, to)| at - to == to - from);
    let kept = if due { control.run.endless.kept.as_ref() } else { None };
    let differs = kept.and_then(|kept| kept.differs(control));
    match (control.run.endless.cycle, differs) {
        (None, Some(drift))
            if only_counts(control, &drift, control.run.endless.at)
                && none_waits(control, &drift, control.run.endless.at) =>
        {
            control.run.endless.cycle = Some((control.run.endless.at, at));
            control.run.endless.take_over(at);
            control.run.endless.drift = drift;
        }
        (Some((from, to)), Some(drift)) if drift == control.run.endless.drift && repeats(control, from, to) => {
            return Some(Left::Endless);
        }
        (Some(_), _) if due => control.run.endless.disturb(),
        _ => {}
    }
    if control.run.endless.cycle.is_none() && at >= control.run.endless.next {
        let kept = State::of(control).map(Box::new);
        let endless = &mut control.run.endless;
        (endless.kept, endless.at) = (kept, at);
        endless.distance = (2 * endless.distance).max(8);
        endless.next = at + endless.distance;
        (endless.moved, endless.enabled) = (Threads::new(), enabled);
    }
    let (at, limit) = (at as u64, control.search.settings.steps_max);
    (at >= limit + limit.max(FAIR_MIN)).then_some(Left::Truncated)
}

impl Control {
    /// Whether the strategy is not asked any more.
    #[inline]
    pub fn is_continued(&self) -> bool {
        let over = self.run.endless.has_taken_over() || self.run.trace.len() as u64 >= self.search.settings.steps_max;
        over && !self.search.strategy.replays()
    }

    /// The thread that goes next where the strategy is not asked: the one that went at that place of a cycle, else the one that has waited longest.
    #[cold]
    pub fn continues_with(&mut self, enabled: &Threads) -> usize {
        if let Some((from, to)) = self.run.endless.cycle {
            let thread = self.run.trace.step(from + self.run.trace.len() - to).thread.index();
            if enabled.contains(thread) {
                return thread;
            }
            self.run.endless.disturb();
        }
        // One that is in the middle of a turn ends it: alone it comes back to where it was, where two turns at once may be in each other's way.
        let last = self.run.last.map(|thread| thread.index()).filter(|&last| enabled.contains(last));
        if let Some(last) = last
            && self.run.endless.has_taken_over()
            && self.run.in_a_row < TURN_MAX
            && self.process.fibers[last].spin.poll.holds()
        {
            return last;
        }
        self.longest_waiting(enabled)
    }

    /// The thread that has waited longest, of those that can go.
    fn longest_waiting(&mut self, enabled: &Threads) -> usize {
        let steps = self.run.trace.steps();
        let turns = &mut self.run.endless.turns;
        if turns.is_empty() {
            turns.resize(Thread::MAX, 0);
            steps.iter().enumerate().for_each(|(at, step)| turns[step.thread.index()] = at + 1);
        } else if let Some(last) = steps.last() {
            turns[last.thread.index()] = steps.len();
        }
        enabled.iter().min_by_key(|&thread| turns[thread]).unwrap_or(0)
    }

    /// Tells the strategy how the run ended. What it did not decide on, of a run that shows nothing, it does not see.
    pub fn tell_strategy(&mut self, end: End) {
        if !self.run.attempts.looking.is_empty() && self.search.strategy.turns_races() {
            look::settle(self);
        }
        let limit = self.run.endless.took_over.unwrap_or(usize::MAX).min(self.search.settings.steps_max as usize);
        let shows_nothing = matches!(end, End::Truncated | End::Stopped(_));
        let mut pending = self.run.pending.as_slice();
        if shows_nothing && self.run.trace.len() > limit {
            self.run.trace.cut(limit);
            pending = &[];
        }
        self.search.strategy.finish(&Run { trace: &self.run.trace, pending, end });
    }

    /// Every thread has ended: how the run came to its end. After the limit that is no end of its own; if a thread could go before and was not let go, the schedule was not
    /// fair.
    pub fn ended(&self) -> Left {
        let over = self.run.trace.len() as u64 > self.search.settings.steps_max;
        match (over, self.run.endless.has_taken_over()) {
            (false, false) => Left::Complete,
            (true, false) if self.run.endless.could.is_within(&self.run.endless.went) => Left::Truncated,
            _ => Left::Stopped(Stop::Unfair),
        }
    }

    /// Which of so many results the step under way has.
    pub fn pick(&mut self, options: u32) -> u32 {
        let chosen = if self.is_continued() {
            self.picked_before().min(options - 1)
        } else {
            self.search.strategy.pick(options)
        };
        journal::picked(chosen);
        chosen
    }

    /// Whether the wait that the step under way begins ends without a reason.
    pub fn pick_spurious(&mut self) -> bool {
        let spurious = if self.is_continued() { self.picked_before() == 1 } else { self.search.strategy.spurious() };
        journal::picked(spurious.into());
        spurious
    }

    /// What the step picked a round before.
    fn picked_before(&self) -> u32 {
        let again = self.run.endless.cycle.map(|(from, to)| from + self.run.trace.len() - to);
        again.and_then(|at| self.run.trace.picks(at).first()).map_or(0, |pick| pick.chosen)
    }
}
