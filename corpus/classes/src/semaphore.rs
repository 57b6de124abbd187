//! A semaphore: the count can be read without the lock that guards it.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Condvar, Mutex};

/// The semaphore.
pub struct Semaphore {
    count: AtomicU32,
    gate: Mutex<()>,
    released: Condvar,
}

impl Semaphore {
    /// With so many permits.
    pub fn new(count: u32) -> Self {
        Semaphore { count: AtomicU32::new(count), gate: Mutex::new(()), released: Condvar::new() }
    }

    /// How many permits there are.
    pub fn current_count(&self) -> u32 {
        self.count.load(SeqCst)
    }

    /// Gives permits back; how many there were.
    pub fn release(&self, permits: u32) -> u32 {
        let _gate = self.gate.lock().unwrap();
        let before = self.count.load(SeqCst);
        self.count.store(before + permits, SeqCst);
        if permits == 1 {
            self.released.notify_one()
        } else {
            self.released.notify_all()
        }
        before
    }

    /// Takes a permit, and waits for one.
    pub fn wait(&self) {
        let mut gate = self.gate.lock().unwrap();
        while self.count.load(SeqCst) == 0 {
            gate = self.released.wait(gate).unwrap();
        }
        self.count.store(self.count.load(SeqCst) - 1, SeqCst);
    }

    /// Takes a permit if there is one.
    pub fn try_wait(&self) -> bool {
        // Not worth the lock if there is none.
        if self.count.load(SeqCst) == 0 {
            return false;
        }
        let _gate = self.gate.lock().unwrap();
        let count = self.count.load(SeqCst);
        if count > 0 {
            self.count.store(count - 1, SeqCst);
        }
        count > 0
    }
}
