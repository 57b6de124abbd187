//! A manual-reset event: one word with a flag and the number of waiters, and tickets for those who wait.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Condvar, Mutex};

use crate::Flaw;

const SET: u32 = 1;
const WAITER: u32 = 2;

/// Tickets are numbered in the order in which waiters were counted.
#[derive(Default)]
struct Tickets {
    given: u32,
    /// Whoever has a lower number may go.
    called: u32,
}

/// The event.
pub struct ManualResetEvent {
    state: AtomicU32,
    tickets: Mutex<Tickets>,
    called: Condvar,
    flaw: Flaw,
}

impl ManualResetEvent {
    /// An event that is not set.
    pub fn new(flaw: Flaw) -> Self {
        ManualResetEvent { state: AtomicU32::new(0), tickets: Mutex::default(), called: Condvar::new(), flaw }
    }

    /// Sets it, and lets as many go as waited then.
    pub fn set(&self) {
        loop {
            let state = self.state.load(SeqCst);
            if state & SET != 0 {
                return;
            }
            if self.state.compare_exchange(state, SET, SeqCst, SeqCst).is_ok() {
                let waiters = state / WAITER;
                if waiters > 0 {
                    self.tickets.lock().unwrap().called += waiters;
                    self.called.notify_all();
                }
                return;
            }
        }
    }

    /// Takes it back.
    pub fn reset(&self) {
        self.state.fetch_and(!SET, SeqCst);
    }

    /// Whether it is set.
    pub fn is_set(&self) -> bool {
        self.state.load(SeqCst) & SET != 0
    }

    /// Waits until it is set.
    pub fn wait(&self) {
        if self.is_set() {
            return;
        }
        let mut tickets = self.tickets.lock().unwrap();
        loop {
            let state = self.state.load(SeqCst);
            if state & SET != 0 {
                return;
            }
            let base = if self.flaw == Flaw::A { self.state.load(SeqCst) } else { state };
            if self.state.compare_exchange(state, base + WAITER, SeqCst, SeqCst).is_ok() {
                break;
            }
        }
        // Whoever sets it from now on has counted this waiter.
        let own = tickets.given;
        tickets.given += 1;
        while tickets.called <= own {
            tickets = self.called.wait(tickets).unwrap();
        }
    }

    /// Waits no time at all.
    pub fn wait_one(&self) -> bool {
        self.is_set()
    }
}
