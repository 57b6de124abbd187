//! A queue that checks itself: FIFO order and duplicates in the operations, the rest by the [examiner](super::examiner).
//!
//! The rule: a value carries the stamp of its insertion's call; the stamp of its return is kept in a slot. One number has the greatest insertion call over the
//! removals that have returned. A removal reads it when it is called. If the value that it gets was inside before that insertion was called, it
//! was overtaken. That is exact for FIFO order: every pair of values that come out in the wrong order is seen, at the return of the later one.
//!
//! Invariant: the fast path takes no lock and allocates nothing.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::clock::Clock;
use super::examiner::Examiner;
use super::raw::PushPop;
use super::report::{Findings, Report, Violation};
use super::ring::{INSIDE, LOST, Ring};
use super::threads::{self, THREADS_MAX};

/// How many removals of one thread go by between two looks for losses.
const SWEEP: u64 = 1 << 10;

/// A value with the stamp that it carries through the queue.
#[derive(Clone, Debug)]
pub struct Stamped<T> {
    value: T,
    /// The thread that put it in, above its number there; 0 for none.
    ticket: u64,
    /// When its insertion was called.
    called: u64,
}

const THREAD_SHIFT: u32 = 48;

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
    pub rings: Box<[OnceLock<Ring>]>,
    pub findings: Findings,
    pub examiner: Examiner,
    /// One more than the greatest number of a thread that used it.
    used: AtomicUsize,
    /// Some removal was made by a thread without a number: what it has in hand is not known.
    blind: AtomicBool,
}

impl<T, Q: PushPop<Stamped<T>>> Queue<T, Q> {
    /// Wraps a queue that is empty.
    pub fn wrap(queue: Q) -> Self {
        Queue { queue, watch: Watch::new(), value: std::marker::PhantomData }
    }

    /// Puts a value in.
    #[inline]
    pub fn push(&self, value: T) {
        let entry = self.watch.enter();
        let called = self.watch.clock.call();
        self.queue.push(Stamped { value, ticket: entry, called });
        self.watch.entered(entry);
    }

    /// Takes a value out, if there is one.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        let exit = self.watch.leave();
        match self.queue.pop() {
            Some(Stamped { value, ticket, called }) => {
                self.watch.left(exit, ticket, called);
                Some(value)
            }
            None => {
                self.watch.found_empty(exit);
                None
            }
        }
    }

    /// Calls the function at every violation, in the thread that finds it.
    pub fn on_violation(&self, listener: impl Fn(&Violation) + Send + Sync + 'static) {
        self.watch.findings.listen(listener);
    }

    /// Looks for what is not looked for at each operation: losses, and empty answers that were false.
    pub fn examine(&self) {
        self.watch.examiner.examine(&self.watch);
    }

    /// What was found so far.
    pub fn report(&self) -> Report {
        self.watch.findings.report(true)
    }

    /// The queue itself. What goes past the wrapper is not seen, and what comes out that went in past it is reported.
    pub fn inner(&self) -> &Q {
        &self.queue
    }
}

/// A removal that has been called.
#[derive(Clone, Copy)]
pub(crate) struct Exit {
    thread: Option<usize>,
    pub called: u64,
    pub latest: u64,
}

impl Exit {
    /// One that the calling thread began, by its stamps.
    pub fn again(called: u64, latest: u64) -> Self {
        Exit { thread: threads::number(), called, latest }
    }
}

impl Watch {
    pub fn new() -> Self {
        Watch {
            clock: Clock::new(),
            rings: (0..THREADS_MAX).map(|_| OnceLock::new()).collect(),
            findings: Findings::default(),
            examiner: Examiner::default(),
            used: AtomicUsize::new(0),
            blind: AtomicBool::new(false),
        }
    }

    #[inline]
    fn ring(&self, thread: usize) -> &Ring {
        self.rings[thread].get_or_init(|| {
            self.used.fetch_max(thread + 1, Ordering::SeqCst);
            Ring::new()
        })
    }

    /// One more than the greatest number of a thread that used it.
    #[inline]
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Acquire)
    }

    /// Whether some removal cannot be seen.
    pub fn blind(&self) -> bool {
        self.blind.load(Ordering::Relaxed)
    }

    /// An insertion is about to be called: its ticket.
    #[inline]
    pub fn enter(&self) -> u64 {
        if let Some(thread) = threads::number()
            && let Some(number) = self.ring(thread).next()
        {
            return (thread as u64) << THREAD_SHIFT | number;
        }
        self.findings.unchecked(1);
        0
    }

    /// An insertion has returned.
    #[inline]
    pub fn entered(&self, ticket: u64) {
        let returned = self.clock.ret();
        if ticket != 0
            && let Some(ring) = self.rings[(ticket >> THREAD_SHIFT) as usize].get()
        {
            let number = ticket & ((1 << THREAD_SHIFT) - 1);
            ring.slot(number).returned.store(returned, Ordering::Release);
        }
    }

    /// A removal is about to be called.
    #[inline]
    pub fn leave(&self) -> Exit {
        let thread = threads::number();
        if let Some(thread) = thread {
            let removing = &self.ring(thread).removing;
            removing.store(removing.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        } else {
            self.blind.store(true, Ordering::Relaxed);
            self.findings.unchecked(1);
        }
        Exit { thread, called: self.clock.call(), latest: self.clock.latest() }
    }

    /// A removal has returned this value.
    #[inline]
    pub fn left(&self, exit: Exit, ticket: u64, called: u64) {
        if ticket != 0 {
            self.check(exit, ticket);
        } else {
            self.findings.unchecked(1);
        }
        self.clock.removed(called);
        self.done(exit);
    }

    #[inline]
    fn check(&self, exit: Exit, ticket: u64) {
        let (thread, number) = ((ticket >> THREAD_SHIFT) as usize, ticket & ((1 << THREAD_SHIFT) - 1));
        let Some(ring) = self.rings.get(thread).and_then(OnceLock::get) else { return };
        let slot = ring.slot(number);
        let returned = slot.returned.load(Ordering::Acquire);
        if slot.number.load(Ordering::Relaxed) != number {
            return self.came_twice(thread, number, exit);
        }
        match slot.removed.swap(exit.called, Ordering::AcqRel) {
            INSIDE if returned < exit.latest => self.overtaken(thread, number, returned, exit),
            // A value that was reported as lost is late, which was said.
            INSIDE | LOST => {}
            first => {
                slot.removed.store(first, Ordering::Release);
                self.came_twice(thread, number, exit);
            }
        }
    }

    #[cold]
    fn overtaken(&self, thread: usize, number: u64, returned: u64, exit: Exit) {
        let text = format!(
            "value {number} of thread {thread} was inside at {returned} and came out by a removal called at {}, after a value had come out \
             whose insertion was called at {}",
            exit.called, exit.latest
        );
        self.findings.found("overtaken", text);
    }

    #[cold]
    fn came_twice(&self, thread: usize, number: u64, exit: Exit) {
        let text = format!(
            "value {number} of thread {thread} came out by a removal called at {}, but it had come out before",
            exit.called
        );
        self.findings.found("not-inside", text);
    }

    #[inline]
    fn done(&self, exit: Exit) {
        let Some(thread) = exit.thread else { return };
        let removing = &self.ring(thread).removing;
        let done = removing.load(Ordering::Relaxed) + 1;
        removing.store(done, Ordering::Release);
        if done.is_multiple_of(2 * SWEEP) {
            self.examiner.try_examine(self);
        }
    }

    /// A removal has returned nothing.
    #[inline]
    pub fn found_empty(&self, exit: Exit) {
        let returned = self.clock.ret();
        self.examiner.found_empty(self, exit.called, returned);
        self.done(exit);
    }
}
