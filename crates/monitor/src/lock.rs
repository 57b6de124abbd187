//! A lock that checks itself: counters, in the operations.
//!
//! Of n acquisitions that have returned, n − 1 must have been released, and a release is counted before it is made. So more acquisitions than releases and one means
//! that two had it at once.

use std::sync::atomic::{AtomicU64, Ordering};

use super::raw::Exclusive;
use super::report::{Findings, Report, Violation};

/// A lock that is watched. It is taken and given back through it only.
pub struct Lock<L> {
    lock: L,
    watch: LockWatch,
}

/// What is kept of a lock.
#[derive(Default)]
pub(crate) struct LockWatch {
    acquired: AtomicU64,
    released: AtomicU64,
    pub findings: Findings,
}

impl LockWatch {
    /// The lock is about to be given back.
    pub fn release(&self) {
        let before = self.released.fetch_add(1, Ordering::SeqCst);
        if before >= self.acquired.load(Ordering::SeqCst) {
            self.findings.found("permits", "the lock is given back, but nobody holds it".to_owned());
            self.released.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// The lock was taken.
    pub fn acquired(&self) {
        let acquired = self.acquired.fetch_add(1, Ordering::SeqCst) + 1;
        // Whoever has it beside another one gives it back too, so it counts.
        if acquired > self.released.load(Ordering::SeqCst) + 1 {
            self.findings.found("permits", format!("acquisition {acquired} returned while the lock was held"));
        }
    }
}

impl<L: Exclusive> Lock<L> {
    /// Wraps a lock that nobody holds.
    pub fn wrap(lock: L) -> Self {
        Lock { lock, watch: LockWatch::default() }
    }

    /// Waits until nobody holds the lock, and holds it until the answer is dropped.
    pub fn lock(&self) -> Guarded<'_, L> {
        self.lock.lock();
        self.watch.acquired();
        Guarded(self)
    }

    /// Takes the lock if nobody holds it.
    pub fn try_lock(&self) -> Option<Guarded<'_, L>> {
        if !self.lock.try_lock() {
            self.watch.findings.unchecked(1);
            return None;
        }
        self.watch.acquired();
        Some(Guarded(self))
    }

    /// Calls the function at every violation, in the thread that finds it.
    pub fn on_violation(&self, listener: impl Fn(&Violation) + Send + Sync + 'static) {
        self.watch.findings.listen(listener);
    }

    /// What was found so far. Refusals of `try_lock` are counted as unchecked.
    pub fn report(&self) -> Report {
        self.watch.findings.report(true)
    }
}

/// The lock is held while this lives.
pub struct Guarded<'a, L: Exclusive>(&'a Lock<L>);

impl<L: Exclusive> Drop for Guarded<'_, L> {
    fn drop(&mut self) {
        self.0.watch.release();
        self.0.lock.unlock();
    }
}
