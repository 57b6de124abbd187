//! A_k of a queue in the operations themselves (Counting, section 6.2, algorithm 1, with the shift).
//!
//! A *past* begins with the first call after a return. One shared word counts pasts, and returns since the last call: a call moves it on when there were some, a
//! return adds one. So an operation has the number of the past that it began in and of that in which it ended, and the shift is a subtraction: pasts up
//! to the length less k are one. A value carries the past that its insertion began in.
//!
//! The last removals of each thread stand in a ring of its own. A removal looks there for one of a value that was put in after its own value was inside, or for an empty answer that
//! began then, which ended before it began itself. Most need not look: all of that must fit in the last k pasts, and beside the shared word stands when what each thread took out began.
//!
//! Invariant: an alarm is a violation, and one that `selvedge_history::monitor::counters` reports for the same calls and returns.

use std::sync::atomic::{AtomicU64, Ordering};

use selvedge_history::monitor::Rule;

use super::clock::Greatest;
use super::insertions::{Insertions, Returned};
use super::marks::{Mark, Marks};
use super::report::Findings;
use super::threads::Threads;
use super::track::{stamp, unstamp};

/// Of the word of pasts: returns since the last call, of which there are no more than threads.
const RETURNS_BITS: u32 = 16;

/// So many removals more than there can be in the last pasts are remembered, for threads that get no processor while they look.
const SPARE: usize = 64;

/// How many removals of a thread are remembered at most.
const REMOVALS_MAX: usize = 1 << 16;

/// How long a call waits at most that others keep from the word of pasts.
const WAIT_BITS: u32 = 6;

/// How often one looks whether a removal that is about to return has.
const LOOKS: usize = 1 << 10;

/// The number of pasts, and what changes along with it: in this order, so that the first cells stand beside it.
#[repr(C, align(128))]
#[derive(Debug)]
struct Pasts {
    /// The first has number 1.
    now: AtomicU64,
    /// The last past in which began what a thread took out, or an empty answer that it got.
    began: Greatest,
}

impl Pasts {
    /// Something is called next: the past that it begins in.
    #[inline]
    fn call(&self) -> u64 {
        let mut now = self.now.load(Ordering::SeqCst);
        let mut failed = 0;
        loop {
            let past = now >> RETURNS_BITS;
            if now == past << RETURNS_BITS {
                return past;
            }
            match self.now.compare_exchange_weak(now, (past + 1) << RETURNS_BITS, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(_) => return past + 1,
                Err(other) => now = self.wait(&mut failed, other),
            }
        }
    }

    /// Lets the others go on for a while: who asks for the word all the time keeps them from it.
    #[cold]
    fn wait(&self, failed: &mut u32, now: u64) -> u64 {
        if now.trailing_zeros() >= RETURNS_BITS {
            return now;
        }
        (0..1 << (*failed).min(WAIT_BITS)).for_each(|_| std::hint::spin_loop());
        *failed += 1;
        self.now.load(Ordering::SeqCst)
    }

    /// Something has returned: the past that it ended in.
    #[inline]
    fn ret(&self) -> u64 {
        self.now.fetch_add(1, Ordering::SeqCst) >> RETURNS_BITS
    }
}

/// A removal that is over.
#[derive(Debug, Default)]
struct Removal {
    /// The past in which the insertion of its value began, or itself if it found nothing; and which of the two, in the last bit.
    began: AtomicU64,
    /// The past in which it ended; 0 while it is about to.
    ended: AtomicU64,
}

/// What a thread leaves behind.
#[repr(align(128))]
#[derive(Debug)]
struct Trace {
    insertions: Insertions,
    marks: Marks,
    removed: AtomicU64,
    removals: Box<[Removal]>,
}

/// What one looks for: something that began after this past and ended before that one.
#[derive(Clone, Copy)]
struct Between {
    after: u64,
    before: u64,
    /// What ended in this past or before is no matter.
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
            insertions: Insertions::new(),
            marks: Marks::new(),
            removed: AtomicU64::new(0),
            removals: (0..entries).map(|_| Removal::default()).collect(),
        }
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
    traces: Threads<Trace>,
    k: u64,
    pub findings: Findings,
}

/// An insertion or removal that has been called, by a thread that has a number.
#[derive(Clone, Copy, Debug)]
pub struct Begun {
    pub thread: usize,
    pub past: u64,
}

impl Watch {
    pub fn new(k: usize) -> Self {
        let pasts = Pasts { now: AtomicU64::new(1 << RETURNS_BITS), began: Greatest::new() };
        Watch { pasts, traces: Threads::new(), k: k as u64, findings: Findings::default() }
    }

    #[inline]
    fn trace(&self, thread: usize) -> &Trace {
        self.traces.of(thread, || Trace::new(self.k))
    }

    /// The thread is about to call an insertion; what the value carries through the queue.
    #[inline]
    pub fn enter(&self, thread: usize) -> u64 {
        let past = self.pasts.call();
        self.trace(thread).marks.put(past);
        stamp(thread, past).get()
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
        Begun { thread, past: self.pasts.call() }
    }

    /// The removal has found nothing.
    #[cold]
    pub fn found_empty(&self, begun: Begun) {
        self.removed(begun.thread, begun.past, true);
    }

    /// The thread's removal returns, of something that began then; the past in which it does.
    #[inline]
    fn removed(&self, thread: usize, began: u64, is_empty: bool) -> u64 {
        if began > self.pasts.began.of(thread) {
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
        let Some(inserted) = self.traces.get(thread).filter(|_| put != 0) else { return self.unseen() };
        let mark = inserted.marks.take(put);
        if mark != Mark::First {
            return self.left_again(stamp, mark);
        }
        let ended = self.removed(begun.thread, put, false);
        // What overtook it began after that and ended before its own removal began, so two pasts at least lie between.
        let after = put.max(self.oldest(ended));
        if begun.past > after + 1 && self.pasts.began.all(self.traces.used()) > after {
            self.look(begun, stamp, inserted, ended);
        }
    }

    /// An operation is over that nothing is known of.
    #[cold]
    pub fn unseen(&self) {
        self.findings.unchecked(1);
        self.pasts.ret();
    }

    #[cold]
    fn left_again(&self, stamp: u64, mark: Mark) {
        self.pasts.ret();
        if mark == Mark::Forgotten {
            return self.findings.unchecked(1);
        }
        let (thread, put) = unstamp(stamp);
        let text = format!("{}: put in by thread {thread} in past {put}", Rule::NotInside.sentence());
        self.findings.found(Rule::NotInside.name(), text);
    }

    /// Of the pasts, the last that is not told from those before it.
    #[inline]
    fn oldest(&self, length: u64) -> u64 {
        length.saturating_sub(self.k).max(1)
    }

    /// Looks for what overtook the value.
    #[inline(never)]
    fn look(&self, begun: Begun, stamp: u64, inserted: &Trace, ended: u64) {
        let put = unstamp(stamp).1;
        let oldest = self.oldest(ended);
        let inside = match inserted.insertions.returned(put) {
            Returned::NotYet => return,
            Returned::At(past) => past,
            // All of that is in the oldest past.
            Returned::Before(past) if past <= oldest => oldest,
            Returned::Before(_) | Returned::Unknown => return self.findings.unchecked(1),
        };
        let between = Between { after: inside.max(oldest), before: begun.past, oldest };
        if between.before <= between.after + 1 {
            return;
        }
        let mut seen = Seen::default();
        self.traces.iter().for_each(|(thread, trace)| trace.look(thread, between, &mut seen));
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
            "{}: put in by thread {thread} in past {put}, taken out by thread {} in past {} after a removal of thread {by}",
            rule.sentence(),
            begun.thread,
            begun.past
        );
        self.findings.found(rule.name(), text);
    }
}

#[cfg(test)]
#[path = "pasts/tests.rs"]
mod tests;
