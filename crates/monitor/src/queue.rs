//! A queue that checks itself, in the operations.
//!
//! The rule: a value carries the stamp of its insertion's call; the stamp of its return is kept by the thread. A removal reads, when it is called, the greatest
//! stamp that came out by a removal that has returned. If the value that it gets was inside before that insertion was called, it
//! was overtaken. That is exact for FIFO order: every pair of values that come out in the wrong order is seen, at the return of the later one.
//!
//! The rest is counted. Call stamps are how many insertions had returned: with a value that comes out that many others must be out or on their way, or some are lost; and an empty answer must
//! find that many.
//!
//! Where stamps are in order, which they nearly always are, nothing needs to be looked up. An operation then writes to a ring and counts of its own thread, reads one shared cache
//! line and writes one word there.
//!
//! Invariant: that path takes no lock and allocates nothing, but for a ring at the first removal of a thread.

use std::fmt;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::clock::{BEGIN, Clock};
use super::insertions::Returned;
use super::raw::PushPop;
use super::report::{Findings, Report, Violation};
use super::threads::{self, Threads};
use super::track::{Done, Track, UNSEEN, settle, stamp, unstamp};

/// How many removals of each thread are looked through for one that came before its turn, as many do.
const RECENT: u64 = 1 << 8;

/// How often an empty answer is looked at again while removals are open.
const LOOKS: usize = 64;

/// How often what came out is compared with what went in for one empty answer.
const COMPARED_MAX: usize = 4;

/// A value with the stamp that it carries through the queue. The value is first: where it is written and copied in parts of 16 bytes, these are the same parts then, and the processor need not
/// wait for what it has just written.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Stamped<T> {
    value: T,
    /// When its insertion was called, and by which thread. It is never 0, so that a value and its stamp fit in two registers where there may be none.
    stamp: NonZeroU64,
}

/// A queue that is watched. Values go in and come out through it only.
pub struct Queue<T, Q> {
    queue: Q,
    watch: Watch,
    value: std::marker::PhantomData<fn(T) -> T>,
}

impl<T, Q> fmt::Debug for Queue<T, Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("findings", &self.watch.findings).finish_non_exhaustive()
    }
}

/// What is kept of a queue, whatever its values.
pub(crate) struct Watch {
    pub clock: Clock,
    tracks: Threads<Track>,
    pub findings: Findings,
    /// Values that were reported as lost and have not come out since.
    excused: AtomicU64,
    /// Some operation cannot be seen: what it has in hand is not known.
    blind: AtomicBool,
    /// By how many values the last empty answer was wrong.
    told: AtomicU64,
}

impl<T, Q: PushPop<Stamped<T>>> Queue<T, Q> {
    /// Wraps a queue that is empty.
    pub fn wrap(queue: Q) -> Self {
        Queue { queue, watch: Watch::new(), value: std::marker::PhantomData }
    }

    /// Puts a value in.
    #[inline]
    pub fn push(&self, value: T) {
        // Large values should not be copied more often than without a watch: this one is put together once, and taken apart at the very end.
        let mut stamped = Stamped { value, stamp: UNSEEN };
        let Some(own) = self.watch.idle() else { return self.push_unseen(stamped) };
        stamped.stamp = self.watch.enter(own);
        let (stamp, unwound) = (stamped.stamp, UnwoundPush(&self.watch, own, stamped.stamp));
        self.queue.push(stamped);
        std::mem::forget(unwound);
        self.watch.entered(own, stamp);
    }

    /// Puts a value in, of a thread without a number or inside another operation.
    #[cold]
    fn push_unseen(&self, stamped: Stamped<T>) {
        let unwound = Unwound(&self.watch);
        self.queue.push(stamped);
        std::mem::forget(unwound);
        self.watch.entered_unseen();
    }

    /// Takes a value out, if there is one.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        let begun = self.watch.leaving();
        let unwound = UnwoundPop(&self.watch, begun.map(|(own, _)| own));
        let popped = self.queue.pop();
        std::mem::forget(unwound);
        if let Some((own, exit)) = begun {
            match &popped {
                Some(stamped) => self.watch.left(own, exit, stamped.stamp.get()),
                None => self.watch.found_empty(own, exit),
            }
        }
        popped.map(|stamped| stamped.value)
    }

    /// Calls the function at every violation, in the thread that finds it.
    pub fn on_violation(&self, listener: impl Fn(&Violation) + Send + Sync + 'static) {
        self.watch.findings.listen(listener);
    }

    /// Looks for lost values among those that went in before the last value that came out. This is not done at each operation, because it counts.
    pub fn examine(&self) {
        self.watch.examine();
    }

    /// What was found so far. That nothing is wrong is only said when nobody uses the queue and everything that went in is out: what is
    /// still inside may not be what should be.
    pub fn report(&self) -> Report {
        self.watch.report()
    }

    /// The queue itself. What goes past the wrapper is not seen, and what comes out that went in past it is reported.
    pub fn inner(&self) -> &Q {
        &self.queue
    }
}

/// The queue panicked: nobody knows whether a value is inside.
struct Unwound<'a>(&'a Watch);

impl Drop for Unwound<'_> {
    // So that nothing need be written down for it as long as nobody panics.
    #[inline]
    fn drop(&mut self) {
        self.0.unwound();
    }
}

/// The queue panicked when a value was to be taken out.
struct UnwoundPop<'a>(&'a Watch, Option<Own<'a>>);

impl Drop for UnwoundPop<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.unwound();
        // What it may still do is not known; what the thread calls next is not inside it.
        self.1.into_iter().for_each(|own| own.track.left_nothing());
    }
}

/// The queue panicked when this value was put in: nobody knows whether it is inside, and since when.
struct UnwoundPush<'a>(&'a Watch, Own<'a>, NonZeroU64);

impl Drop for UnwoundPush<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.unwound_push(self.1, self.2);
    }
}

/// A thread that has a number, and what it leaves behind.
#[derive(Clone, Copy)]
pub(crate) struct Own<'a> {
    pub thread: usize,
    track: &'a Track,
}

impl Own<'_> {
    /// Whether its insertion is open.
    pub fn is_entering(&self) -> bool {
        self.track.is_inserting()
    }

    /// Whether its removal is open.
    pub fn is_leaving(&self) -> bool {
        self.track.removals().is_open()
    }
}

/// What is wrong with a value that is not the latest.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OutOfOrder {
    /// Nothing that is new.
    Not,
    /// It had come out before.
    Again,
    Overtaken,
}

/// What all threads have done: how many values went in and came out, and which.
struct Totals {
    put: u64,
    put_sum: u64,
    taken: u64,
    removed_sum: u64,
}

/// A removal that has been called: when, and the latest value that had come out by then.
#[derive(Clone, Copy)]
pub(crate) struct Exit {
    pub called: u64,
    pub latest: u64,
}

impl Watch {
    pub fn new() -> Self {
        Watch {
            clock: Clock::new(),
            tracks: Threads::new(),
            findings: Findings::default(),
            excused: AtomicU64::new(0),
            blind: AtomicBool::new(false),
            told: AtomicU64::new(0),
        }
    }

    /// An operation has panicked.
    #[cold]
    fn unwound(&self) {
        self.blind.store(true, Ordering::SeqCst);
        self.findings.unchecked(1);
        // No two values have the same stamp.
        self.clock.ret();
    }

    /// An insertion of the value with this stamp has panicked.
    #[cold]
    fn unwound_push(&self, own: Own<'_>, stamp: NonZeroU64) {
        self.blind.store(true, Ordering::SeqCst);
        self.findings.unchecked(1);
        own.track.lost(stamp.get(), self.clock.ret());
        own.track.entered();
    }

    /// The calling thread, unless there are too many.
    #[inline]
    pub fn own(&self) -> Option<Own<'_>> {
        let thread = threads::number()?;
        Some(self.of(thread))
    }

    /// The calling thread, unless there are too many or it has something open here.
    #[inline]
    pub fn idle(&self) -> Option<Own<'_>> {
        self.own().filter(|own| own.track.is_idle())
    }

    #[inline]
    fn of(&self, thread: usize) -> Own<'_> {
        Own { thread, track: self.tracks.of(thread) }
    }

    /// Whether some operation cannot be seen.
    pub fn is_blind(&self) -> bool {
        self.blind.load(Ordering::SeqCst)
    }

    /// An insertion is about to be called; what its value carries.
    #[inline]
    pub fn enter(&self, own: Own<'_>) -> NonZeroU64 {
        own.track.enter();
        stamp(own.thread, self.clock.call())
    }

    /// An insertion of the value with this stamp has returned.
    #[inline]
    pub fn entered(&self, own: Own<'_>, stamp: NonZeroU64) {
        let returned = self.clock.ret();
        if !own.track.goes_on(returned) {
            own.track.entered_apart(stamp.get(), returned);
        }
        own.track.entered();
    }

    /// An insertion that was about to be called was not, or did nothing.
    pub fn not_entered(&self, own: Own<'_>) {
        own.track.entered();
    }

    /// A removal that was about to be called was not, or did nothing.
    pub fn not_left(&self, own: Own<'_>) {
        own.track.left_nothing();
    }

    /// An insertion that cannot be seen has returned.
    #[cold]
    pub fn entered_unseen(&self) {
        self.clock.ret();
        self.findings.unchecked(1);
    }

    /// A removal is about to be called.
    #[inline]
    pub fn leave(&self, own: Own<'_>) -> Exit {
        own.track.leave();
        Exit { called: self.clock.call(), latest: self.clock.latest.all() }
    }

    /// The same, by the calling thread. Nothing if it cannot be seen.
    #[inline]
    pub fn leaving(&self) -> Option<(Own<'_>, Exit)> {
        let Some(own) = self.idle() else { return self.leave_unseen() };
        Some((own, self.leave(own)))
    }

    #[cold]
    fn leave_unseen(&self) -> Option<(Own<'_>, Exit)> {
        self.overlooked();
        None
    }

    /// A removal cannot be seen, or not to its end: what it took is not known.
    #[cold]
    pub fn overlooked(&self) {
        self.blind.store(true, Ordering::SeqCst);
        self.findings.unchecked(1);
    }

    /// A removal has returned the value with this stamp.
    #[inline]
    pub fn left(&self, own: Own<'_>, exit: Exit, stamp: u64) {
        if stamp <= exit.latest {
            return self.left_early(own, exit.latest, stamp);
        }
        let is_round = own.track.left(stamp);
        self.clock.latest.write(own.thread, stamp);
        if is_round {
            self.came_round(own, stamp);
        }
    }

    /// One that is not the latest.
    #[cold]
    fn left_early(&self, own: Own<'_>, latest: u64, stamp: u64) {
        let order = self.out_of_order(latest, stamp);
        // Only when it is counted may anyone be told, who may use the queue.
        if order == OutOfOrder::Again {
            own.track.left_nothing();
            return self.came_twice(stamp);
        }
        let is_round = own.track.left(stamp);
        if order == OutOfOrder::Overtaken {
            self.overtaken(latest, stamp);
        }
        if is_round {
            self.came_round(own, stamp);
        }
    }

    /// The ring of the thread has come round, or is new.
    #[cold]
    fn came_round(&self, own: Own<'_>, stamp: u64) {
        if own.track.removals().taken() > 1 {
            self.count(stamp);
        }
    }

    /// A value came out after one with a later stamp.
    fn out_of_order(&self, latest: u64, stamp: u64) -> OutOfOrder {
        if unstamp(stamp).1 < BEGIN {
            self.findings.unchecked(1);
            return OutOfOrder::Not;
        }
        let was_inside = self.was_inside(latest, stamp);
        if stamp == latest || self.was_removed(stamp, if was_inside { u64::MAX } else { RECENT }) {
            return OutOfOrder::Again;
        }
        // One that was reported as lost and turns up was reported.
        let one_less = |excused: u64| excused.checked_sub(1);
        if was_inside && self.excused.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_err() {
            return OutOfOrder::Overtaken;
        }
        OutOfOrder::Not
    }

    fn was_removed(&self, stamp: u64, last: u64) -> bool {
        self.tracks.iter().any(|(_, track)| track.removed(stamp, last))
    }

    /// Whether the insertion returned before the one with the other stamp was called.
    fn was_inside(&self, latest: u64, stamp: u64) -> bool {
        let ((thread, called), (_, latest)) = (unstamp(stamp), unstamp(latest));
        if latest <= called {
            return false;
        }
        match self.tracks.of(thread).returned(called) {
            Returned::NotYet => false,
            Returned::At(returned) => returned < latest,
            Returned::Before(after) if after <= latest => true,
            Returned::Before(_) | Returned::Unknown => {
                self.findings.unchecked(1);
                false
            }
        }
    }

    #[cold]
    fn overtaken(&self, latest: u64, stamp: u64) {
        let ((thread, called), (by, later)) = (unstamp(stamp), unstamp(latest));
        let text = format!(
            "a value that thread {thread} put in from moment {called} on came out after one that thread {by} put in from moment {later} on, when \
             the first was inside already"
        );
        self.findings.found("overtaken", text);
    }

    /// A value came out a second time.
    #[cold]
    pub fn came_twice(&self, stamp: u64) {
        let (thread, called) = unstamp(stamp);
        let text =
            format!("a value that thread {thread} put in from moment {called} on came out, but it had come out before");
        self.findings.found("not-inside", text);
    }

    /// What was found, and whether everything that went in came out, once each.
    pub fn report(&self) -> Report {
        let Some(totals) = self.at_rest().filter(|_| !self.is_blind()) else { return self.findings.report(false) };
        let is_out = totals.put == totals.taken;
        let is_same = totals.put_sum == totals.removed_sum;
        if is_out && !is_same && self.findings.is_clean() {
            let text = "as many values came out as went in, but not the same ones: some came twice and others are lost";
            self.findings.found("not-inside", text.to_owned());
        }
        self.findings.report(is_out && is_same)
    }

    /// What was done in all, if no removal is open, no insertion has returned in part, and nothing comes in between.
    fn at_rest(&self) -> Option<Totals> {
        let read = || -> Vec<Done> { self.tracks.iter().map(|(thread, track)| track.done(thread)).collect() };
        let (before, returned) = (read(), self.clock.call());
        let all = read();
        let is_still = before == all && returned == self.clock.call();
        if !is_still || !all.iter().all(Done::is_whole) {
            return None;
        }
        let sum = |of: fn(&Done) -> u64| all.iter().map(of).fold(0u64, u64::wrapping_add);
        let (put, put_sum) = (sum(|one| one.put), sum(|one| one.put_sum));
        let (taken, removed_sum) = (sum(|one| one.removals.taken()), sum(|one| one.removed_sum));
        // An insertion moves the clock on before it is written down.
        (put == returned - BEGIN).then_some(Totals { put, put_sum, taken, removed_sum })
    }

    /// Counts up to the last value that came out.
    pub fn examine(&self) {
        let latest = self.clock.latest.all();
        if latest != 0 {
            self.count(latest);
        }
        let _ = self.report();
    }

    /// A value has come out. So many had been put in before it was: they are out, or on their way, or lost.
    #[cold]
    fn count(&self, stamp: u64) {
        let (thread, called) = unstamp(stamp);
        if called < BEGIN || self.is_blind() {
            return;
        }
        settle();
        let excused = self.excused.load(Ordering::SeqCst);
        let (taken, open) = self.removals(None);
        let missing = (called - BEGIN + 1).saturating_sub(taken + open + excused);
        // Who is first to count them reports them.
        let all = excused + missing;
        if missing == 0 || self.excused.compare_exchange(excused, all, Ordering::SeqCst, Ordering::SeqCst).is_err() {
            return;
        }
        let text = format!(
            "{missing} of the {} values that were inside when thread {thread} began to put one in at moment {called} did not come out before that one did: lost, or out of order",
            called - BEGIN
        );
        self.findings.found("overtaken", text);
    }

    /// How many removals returned a value, and how many are open in other threads.
    fn removals(&self, own: Option<usize>) -> (u64, u64) {
        let (mut taken, mut open) = (0, 0);
        for (thread, track) in self.tracks.iter() {
            let removals = track.removals();
            taken += removals.taken();
            open += u64::from(Some(thread) != own && removals.is_open());
        }
        (taken, open)
    }

    /// Whether at some moment during this call the values of all insertions that had returned were out. That as many were out says too little: some may be
    /// values of insertions that are open.
    fn all_are_out(&self) -> bool {
        let Some(counts) = self.counts() else { return false };
        let (mut put, mut taken, mut differ) = (0u64, 0u64, 0u64);
        for (thread, track) in self.tracks.iter() {
            let done = track.done(thread);
            (put, taken) = (put + done.put, taken + done.removals.taken());
            differ = differ.wrapping_add(done.put_sum).wrapping_sub(done.removed_sum);
        }
        if (put, differ) != (taken, 0) {
            let is_open = |stamp: u64| {
                let (thread, called) = unstamp(stamp);
                called >= BEGIN && self.tracks.of(thread).is_entering(called)
            };
            for (_, track) in self.tracks.iter() {
                let (open, sum) = track.removed_that(is_open);
                (put, differ) = (put + open, differ.wrapping_add(sum));
            }
        }
        (put, differ) == (taken, 0) && self.counts() == Some(counts)
    }

    /// A number that grows with everything that threads do; none while something is only half written down.
    fn counts(&self) -> Option<u64> {
        self.tracks.iter().try_fold(0u64, |all, (_, track)| Some(all.wrapping_add(track.counts()?)))
    }

    /// A removal has returned nothing.
    #[cold]
    pub fn found_empty(&self, own: Own<'_>, exit: Exit) {
        settle();
        // So that nobody need do it at each empty answer.
        own.track.add_up();
        let wrong = self.judge_empty(exit.called - BEGIN, own.thread);
        own.track.left_nothing();
        // Only now may anyone be told, who may use the queue.
        wrong.into_iter().for_each(|text| self.findings.found("not-empty", text));
    }

    /// So many insertions had returned when a removal was called that returned nothing. It was false if fewer removals had been called by its end, and true
    /// if at some moment the values of all insertions that had returned were out. What is wrong with it, if that is new.
    fn judge_empty(&self, inside: u64, thread: usize) -> Option<String> {
        let mut found = None;
        if self.is_blind() {
            self.findings.unchecked(1);
            return found;
        }
        let excused = self.excused.load(Ordering::SeqCst);
        let (mut taken, open) = self.removals(Some(thread));
        let wrong = inside.saturating_sub(taken + open + excused);
        if wrong > 0 || self.told.load(Ordering::Relaxed) > 0 {
            // Who finds the same again says nothing new.
            if wrong > self.told.swap(wrong, Ordering::Relaxed) {
                found = Some(format!(
                    "a removal answered that the queue is empty, but {inside} values had been put in when it was called, and {} removals at most had taken one \
                     when it returned",
                    taken + open
                ));
            }
            if wrong > 0 {
                return found;
            }
        }
        let mut compared = 0;
        for _ in 0..LOOKS {
            if self.clock.call() - BEGIN <= taken + excused {
                // With a violation behind it nobody relies on it.
                if excused > 0 || self.all_are_out() {
                    return found;
                }
                compared += 1;
                if compared == COMPARED_MAX {
                    break;
                }
            }
            std::hint::spin_loop();
            (taken, _) = self.removals(Some(thread));
        }
        self.findings.unchecked(1);
        found
    }
}

#[cfg(test)]
#[path = "queue/tests.rs"]
mod tests;
