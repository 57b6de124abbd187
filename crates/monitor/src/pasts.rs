//! A_k of a queue in the operations themselves (Counting, section 6.2, algorithm 1, with the shift).
//!
//! A *past* begins with the first call after a return. The clock counts returns: a call reads it, a return adds one. So pasts begin at the readings that calls have got, and a value
//! carries that of its insertion; each thread remembers its own. The shift of algorithm 1 is to look for the last of all these readings but k: what began there or before is not told apart.
//! One that is not seen yet makes the window longer, never an order that was not.
//!
//! The last removals of each thread stand in a ring of its own. A removal looks there for one of a value that was put in after its own value was inside, or for an empty answer that
//! began then, which ended before it began itself. Most need not look: beside the clock stands when the latest began that each thread took out.
//!
//! Invariant: an alarm is a violation, and one that `selvedge_history::monitor::counters` reports for the same calls and returns.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, compiler_fence};

use selvedge_history::monitor::Rule;

use super::clock::Greatest;
use super::insertions::{Insertions, Returned};
use super::marks::{Mark, Marks};
use super::report::Findings;
use super::threads::{self, Threads};
use super::track::{stamp, unstamp};

/// So many removals more than there can be in the last pasts are remembered, for threads that get no processor while they look.
const SPARE: usize = 64;

/// How many removals of a thread are remembered at most.
const REMOVALS_MAX: usize = 1 << 16;

/// How often one looks whether a removal that is about to return has.
const LOOKS: usize = 1 << 10;

/// The clock, and what changes along with it: in this order, so that the first cells stand beside it.
#[repr(C, align(128))]
#[derive(Debug)]
struct Pasts {
    /// How many operations have returned, from 1.
    now: AtomicU64,
    /// When began the latest that a thread took out, or an empty answer that it got.
    began: Greatest,
}

impl Pasts {
    /// Something is called next.
    #[inline]
    fn call(&self) -> u64 {
        self.now.load(Ordering::SeqCst)
    }

    /// Something has returned.
    #[inline]
    fn ret(&self) -> u64 {
        self.now.fetch_add(1, Ordering::SeqCst)
    }
}

/// A removal that is over.
#[derive(Debug, Default)]
struct Removal {
    /// When the insertion of its value began, or itself if it found nothing; and which of the two, in the last bit.
    began: AtomicU64,
    /// When it ended; 0 while it is about to.
    ended: AtomicU64,
}

/// What a thread leaves behind.
#[repr(align(128))]
#[derive(Debug)]
struct Trace {
    /// Whether an operation is open. Only the thread itself looks at it.
    busy: AtomicBool,
    insertions: Insertions,
    marks: Marks,
    /// How many calls the thread made, and when the last of them were.
    made: AtomicU64,
    calls: Box<[AtomicU64]>,
    removed: AtomicU64,
    removals: Box<[Removal]>,
}

/// What one looks for: something that began after this and ended before that.
#[derive(Clone, Copy)]
struct Between {
    after: u64,
    before: u64,
    /// What ended by then is no matter.
    oldest: u64,
}

/// Who overtook a value, and whether an empty answer was false while it was inside.
#[derive(Default)]
struct Seen {
    overtaken: Option<usize>,
    not_empty: Option<usize>,
    /// Something could not be looked at.
    incomplete: bool,
}

impl Trace {
    fn new(k: u64) -> Self {
        let entries = (k as usize).saturating_add(SPARE).min(REMOVALS_MAX).next_power_of_two();
        Trace {
            busy: AtomicBool::new(false),
            insertions: Insertions::default(),
            marks: Marks::new(),
            made: AtomicU64::new(0),
            calls: (0..entries).map(|_| AtomicU64::new(0)).collect(),
            removed: AtomicU64::new(0),
            removals: (0..entries).map(|_| Removal::default()).collect(),
        }
    }

    /// The thread calls something now.
    #[inline]
    fn call(&self, called: u64) {
        let number = self.made.load(Ordering::Relaxed);
        self.calls[number as usize & (self.calls.len() - 1)].store(called, Ordering::Release);
        self.made.store(number + 1, Ordering::Release);
    }

    /// When the thread last called something before this, as far as it remembers.
    fn called_before(&self, bound: u64) -> Option<u64> {
        let made = self.made.load(Ordering::Acquire);
        let numbers = (made.saturating_sub(self.calls.len() as u64)..made).rev();
        let calls = numbers.map(|number| self.calls[number as usize & (self.calls.len() - 1)].load(Ordering::Acquire));
        calls.into_iter().find(|called| *called < bound)
    }

    /// The thread's removal is about to return; then where to write when it has.
    #[inline]
    fn removing(&self, began: u64, is_empty: bool) -> &AtomicU64 {
        let number = self.removed.load(Ordering::Relaxed);
        let removal = &self.removals[number as usize & (self.removals.len() - 1)];
        removal.ended.store(0, Ordering::Release);
        removal.began.store(began << 1 | u64::from(is_empty), Ordering::Release);
        self.removed.store(number + 1, Ordering::Release);
        &removal.ended
    }

    /// Looks through the removals of this thread, from the last one back.
    fn look(&self, thread: usize, between: Between, seen: &mut Seen) {
        let removed = self.removed.load(Ordering::Acquire);
        let kept = self.removals.len() as u64;
        for number in (removed.saturating_sub(kept)..removed).rev() {
            let removal = &self.removals[number as usize & (self.removals.len() - 1)];
            let ended = (0..LOOKS).find_map(|_| {
                let ended = removal.ended.load(Ordering::Acquire);
                (ended != 0).then_some(ended).or_else(|| {
                    std::hint::spin_loop();
                    None
                })
            });
            let began = removal.began.load(Ordering::Acquire);
            // It may have been overwritten meanwhile, as the oldest always may.
            if ended.is_none() || self.removed.load(Ordering::Acquire) >= number + kept {
                seen.incomplete = true;
                return;
            }
            let ended = ended.unwrap_or_default();
            if ended <= between.oldest {
                return;
            }
            if ended < between.before && began >> 1 > between.after {
                let of = if began & 1 == 0 { &mut seen.overtaken } else { &mut seen.not_empty };
                *of = Some(thread);
            }
        }
    }
}

/// A queue that is watched with A_k, whatever its values.
#[derive(Debug)]
pub struct Watch {
    pasts: Pasts,
    traces: Threads<OnceLock<Trace>>,
    k: u64,
    pub findings: Findings,
}

/// An insertion or removal that has been called, by a thread that has a number.
#[derive(Clone, Copy, Debug)]
pub struct Begun {
    pub thread: usize,
    pub called: u64,
}

impl Watch {
    pub fn new(k: usize) -> Self {
        let pasts = Pasts { now: AtomicU64::new(1), began: Greatest::new() };
        Watch { pasts, traces: Threads::new(), k: k as u64, findings: Findings::default() }
    }

    #[inline]
    fn trace(&self, thread: usize) -> &Trace {
        self.traces.of(thread).get_or_init(|| Trace::new(self.k))
    }

    /// What the threads that used the queue left behind.
    fn all(&self) -> impl Iterator<Item = (usize, &Trace)> {
        self.traces.iter().filter_map(|(thread, trace)| Some((thread, trace.get()?)))
    }

    /// The calling thread, if it has a number and nothing open here: what it calls inside another operation has no place in its trace.
    #[inline]
    pub fn own(&self) -> Option<usize> {
        let thread = threads::number()?;
        let busy = &self.trace(thread).busy;
        let is_first = !busy.load(Ordering::Relaxed);
        busy.store(true, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        is_first.then_some(thread)
    }

    /// The thread's operation is over.
    #[inline]
    pub fn over(&self, thread: usize) {
        compiler_fence(Ordering::SeqCst);
        self.trace(thread).busy.store(false, Ordering::Relaxed);
    }

    /// The thread is about to call an insertion; what the value carries through the queue.
    #[inline]
    pub fn enter(&self, thread: usize) -> u64 {
        let trace = self.trace(thread);
        let called = self.pasts.call();
        trace.call(called);
        trace.marks.put(called);
        stamp(thread, called).get()
    }

    /// The thread's insertion of this value has returned.
    #[inline]
    pub fn entered(&self, thread: usize, stamp: u64) {
        let ended = self.pasts.ret();
        self.trace(thread).insertions.over(unstamp(stamp).1, ended);
    }

    /// The thread is about to call a removal.
    #[inline]
    pub fn leave(&self, thread: usize) -> Begun {
        let trace = self.trace(thread);
        let called = self.pasts.call();
        trace.call(called);
        Begun { thread, called }
    }

    /// The removal has found nothing.
    #[cold]
    pub fn found_empty(&self, begun: Begun) {
        self.removed(begun.thread, begun.called, true);
    }

    /// The thread's removal returns, of something that began then; when it does.
    #[inline]
    fn removed(&self, thread: usize, began: u64, is_empty: bool) -> u64 {
        if began > self.pasts.began.all() {
            self.pasts.began.write(thread, began);
        }
        let over = self.trace(thread).removing(began, is_empty);
        let ended = self.pasts.ret();
        over.store(ended, Ordering::Release);
        ended
    }

    /// The removal has returned the value with this stamp.
    #[inline]
    pub fn left(&self, begun: Begun, stamp: u64) {
        let (thread, put) = unstamp(stamp);
        let Some(inserted) = self.traces.of(thread).get().filter(|_| put != 0) else { return self.unseen() };
        let mark = inserted.marks.take(put);
        if mark != Mark::First {
            return self.left_again(begun, stamp, mark);
        }
        let ended = self.removed(begun.thread, put, false);
        // What overtook it began after that.
        let latest = self.pasts.began.all();
        if latest > put {
            self.overtaken(begun, stamp, ended, latest);
        }
    }

    /// An operation is over that nothing is known of.
    #[cold]
    pub fn unseen(&self) {
        self.findings.unchecked(1);
        self.pasts.ret();
    }

    /// The calling thread's insertion of this value is over, and nobody knows what it did.
    #[cold]
    pub fn lost(&self, stamp: u64) {
        self.findings.unchecked(1);
        let (over, (thread, called)) = (self.pasts.ret(), unstamp(stamp));
        // Of a thread without a number nothing is remembered.
        if called != 0 {
            self.trace(thread).insertions.lost(called, over);
        }
    }

    #[cold]
    fn left_again(&self, begun: Begun, stamp: u64, mark: Mark) {
        self.pasts.ret();
        if mark == Mark::Forgotten {
            return self.findings.unchecked(1);
        }
        let (thread, put) = unstamp(stamp);
        let text = format!("{}: put in by thread {thread} from moment {put} on", Rule::NotInside.sentence());
        // Who is told may use the queue.
        self.over(begun.thread);
        self.findings.found(Rule::NotInside.name(), text);
    }

    /// When the last past began that is not told from those before it, when something returned then: of the moments at which something was called the last but k, or
    /// the first of all. One thread knows its own.
    fn oldest(&self, ended: u64, called_before: impl Fn(u64) -> Option<u64>) -> u64 {
        let mut oldest = ended + 1;
        for _ in 0..=self.k {
            let Some(called) = called_before(oldest) else { return 1 };
            oldest = called;
        }
        oldest
    }

    /// Something came out that was put in later, the latest of all then. Most of that is not in the last pasts.
    #[inline(never)]
    fn overtaken(&self, begun: Begun, stamp: u64, ended: u64, latest: u64) {
        let own = self.trace(begun.thread);
        let is_recent = |oldest: u64| begun.called.min(latest) > oldest;
        // What the thread itself called since then tells most of it, without a look at others.
        if !is_recent(self.oldest(ended, |bound| own.called_before(bound))) {
            return;
        }
        let all = |bound| self.all().filter_map(|(_, trace)| trace.called_before(bound)).max();
        let oldest = self.oldest(ended, all);
        if is_recent(oldest) {
            self.look(begun, stamp, oldest);
        }
    }

    /// Looks for what overtook the value.
    fn look(&self, begun: Begun, stamp: u64, oldest: u64) {
        let (thread, put) = unstamp(stamp);
        let Some(inserted) = self.traces.of(thread).get() else { return };
        let inside = match inserted.insertions.returned(put) {
            Returned::NotYet => return,
            Returned::At(returned) => returned,
            // All of that is in the oldest past.
            Returned::Before(after) if after <= oldest => oldest,
            Returned::Before(_) | Returned::Unknown => return self.findings.unchecked(1),
        };
        let between = Between { after: inside.max(oldest), before: begun.called, oldest };
        let mut seen = Seen::default();
        self.all().for_each(|(thread, trace)| trace.look(thread, between, &mut seen));
        for (rule, by) in [(Rule::Overtaken, seen.overtaken), (Rule::NotEmpty, seen.not_empty)] {
            if let Some(by) = by {
                self.found(rule, begun, stamp, by);
            }
        }
        if seen.incomplete && seen.overtaken.is_none() {
            self.findings.unchecked(1);
        }
    }

    #[cold]
    fn found(&self, rule: Rule, begun: Begun, stamp: u64, by: usize) {
        let (thread, put) = unstamp(stamp);
        let text = format!(
            "{}: put in by thread {thread} from moment {put} on, taken out by thread {} from moment {} on, after a removal of thread {by}",
            rule.sentence(),
            begun.thread,
            begun.called
        );
        // Who is told may use the queue.
        self.over(begun.thread);
        self.findings.found(rule.name(), text);
    }
}

#[cfg(test)]
#[path = "pasts/tests.rs"]
mod tests;
