//! A source of completion: a result, a failure or a cancellation, once; others wait for it.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Condvar, Mutex};

use crate::Flaw;

const PENDING: u32 = 0;
/// Somebody completes it.
const TAKEN: u32 = 1;

/// How it was completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// With a result.
    Result = 2,
    /// Without one.
    Cancelled = 3,
    /// With a failure.
    Failed = 4,
}

/// The source.
pub struct Completion {
    state: AtomicU32,
    value: AtomicU32,
    gate: Mutex<()>,
    completed: Condvar,
    flaw: Flaw,
}

impl Completion {
    /// One that is not completed.
    pub fn new(flaw: Flaw) -> Self {
        let (state, value) = (AtomicU32::new(PENDING), AtomicU32::new(0));
        Completion { state, value, gate: Mutex::new(()), completed: Condvar::new(), flaw }
    }

    fn claim(&self) -> bool {
        if self.flaw == Flaw::F {
            return self.state.load(SeqCst) == PENDING;
        }
        if self.state.compare_exchange(PENDING, TAKEN, SeqCst, SeqCst).is_ok() {
            return true;
        }
        // Who comes second must not be told before the first is done.
        while self.flaw != Flaw::G && self.state.load(SeqCst) == TAKEN {
            std::thread::yield_now();
        }
        false
    }

    /// Completes it; whether this was the call that did.
    pub fn try_set(&self, outcome: Outcome, value: u32) -> bool {
        if !self.claim() {
            return false;
        }
        self.value.store(value, SeqCst);
        self.state.store(outcome as u32, SeqCst);
        let _gate = self.gate.lock().unwrap();
        self.completed.notify_all();
        true
    }

    /// Completes it; an error when it was completed already.
    pub fn set(&self, outcome: Outcome, value: u32) -> Result<(), &'static str> {
        if self.try_set(outcome, value) { Ok(()) } else { Err("already completed") }
    }

    /// What it was completed with, if it was so completed.
    pub fn get(&self, outcome: Outcome) -> Option<u32> {
        (self.state.load(SeqCst) == outcome as u32).then(|| self.value.load(SeqCst))
    }

    /// Waits until it is completed.
    pub fn wait(&self) -> Outcome {
        let mut gate = self.gate.lock().unwrap();
        loop {
            match self.state.load(SeqCst) {
                PENDING | TAKEN => gate = self.completed.wait(gate).unwrap(),
                2 => return Outcome::Result,
                3 => return Outcome::Cancelled,
                _ => return Outcome::Failed,
            }
        }
    }
}
