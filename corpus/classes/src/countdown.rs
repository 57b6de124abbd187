//! A countdown: signals take it to zero, where it stays, and lets everybody go who waits for that.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Condvar, Mutex};

/// The countdown.
pub struct Countdown {
    count: AtomicU32,
    gate: Mutex<()>,
    reached: Condvar,
}

impl Countdown {
    /// From so many.
    pub fn new(count: u32) -> Self {
        Countdown { count: AtomicU32::new(count), gate: Mutex::new(()), reached: Condvar::new() }
    }

    /// Whether it is at zero.
    pub fn is_set(&self) -> bool {
        self.count.load(SeqCst) == 0
    }

    /// Where it is.
    pub fn current_count(&self) -> u32 {
        self.count.load(SeqCst)
    }

    /// Counts down; whether that was the end of it.
    pub fn signal(&self, by: u32) -> Result<bool, &'static str> {
        loop {
            let count = self.count.load(SeqCst);
            if count < by {
                return Err("below zero");
            }
            if self.count.compare_exchange(count, count - by, SeqCst, SeqCst).is_ok() {
                if count == by {
                    let _gate = self.gate.lock().unwrap();
                    self.reached.notify_all();
                }
                return Ok(count == by);
            }
        }
    }

    /// Counts up, unless it is at zero.
    pub fn try_add_count(&self, by: u32) -> bool {
        loop {
            let count = self.count.load(SeqCst);
            if count == 0 {
                return false;
            }
            if self.count.compare_exchange(count, count + by, SeqCst, SeqCst).is_ok() {
                return true;
            }
        }
    }

    /// Counts up; an error when it is at zero.
    pub fn add_count(&self, by: u32) -> Result<(), &'static str> {
        if self.try_add_count(by) { Ok(()) } else { Err("already set") }
    }

    /// Waits for zero.
    pub fn wait(&self) {
        if self.is_set() {
            return;
        }
        let mut gate = self.gate.lock().unwrap();
        while !self.is_set() {
            gate = self.reached.wait(gate).unwrap();
        }
    }
}
