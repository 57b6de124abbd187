//! A queue that is watched by counters of its last k pasts.
//!
//! Invariant: no lock and no allocation on the way; each removal is checked when it returns.

use super::pasts::Watch;
use super::raw::PushPop;
use super::report::{Report, Violation};

/// A queue that is watched with A_k. Values go in and come out through it only; they carry a number through the queue.
pub struct CountedQueue<T, Q> {
    queue: Q,
    watch: Watch,
    value: std::marker::PhantomData<fn(T) -> T>,
}

/// The queue panicked: nobody knows whether it did something.
struct Unwound<'a>(&'a Watch, Option<usize>);

impl Drop for Unwound<'_> {
    #[cold]
    fn drop(&mut self) {
        // The next operation of this thread must not begin at the same moment.
        self.0.unseen();
        self.1.into_iter().for_each(|thread| self.0.over(thread));
    }
}

/// The queue panicked when it was to put this value in: nobody knows whether it is inside, and since when.
struct UnwoundPush<'a>(&'a Watch, Option<usize>, u64);

impl Drop for UnwoundPush<'_> {
    #[cold]
    fn drop(&mut self) {
        self.0.lost(self.2);
        self.1.into_iter().for_each(|thread| self.0.over(thread));
    }
}

impl<T, Q: PushPop<(u64, T)>> CountedQueue<T, Q> {
    /// Wraps a queue that is empty; the last `k` pasts are told apart.
    pub fn wrap(queue: Q, k: usize) -> Self {
        CountedQueue { queue, watch: Watch::new(k), value: std::marker::PhantomData }
    }

    /// Puts a value in.
    #[inline]
    pub fn push(&self, value: T) {
        let thread = self.watch.own();
        let stamp = thread.map_or(0, |thread| self.watch.enter(thread));
        let unwound = UnwoundPush(&self.watch, thread, stamp);
        self.queue.push((stamp, value));
        std::mem::forget(unwound);
        match thread {
            Some(thread) => self.watch.entered(thread, stamp),
            None => self.watch.unseen(),
        }
        thread.into_iter().for_each(|thread| self.watch.over(thread));
    }

    /// Takes a value out, if there is one.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        let thread = self.watch.own();
        let begun = thread.map(|thread| self.watch.leave(thread));
        let unwound = Unwound(&self.watch, thread);
        let popped = self.queue.pop();
        std::mem::forget(unwound);
        match (begun, &popped) {
            (Some(begun), Some((stamp, _))) => self.watch.left(begun, *stamp),
            (Some(begun), None) => self.watch.found_empty(begun),
            (None, _) => self.watch.unseen(),
        }
        thread.into_iter().for_each(|thread| self.watch.over(thread));
        popped.map(|(_, value)| value)
    }

    /// Calls the function at every violation, in the thread that finds it.
    pub fn on_violation(&self, listener: impl Fn(&Violation) + Send + Sync + 'static) {
        self.watch.findings.listen(listener);
    }

    /// What was found so far. That nothing was found says nothing.
    pub fn report(&self) -> Report {
        self.watch.findings.report(false)
    }
}
