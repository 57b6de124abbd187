//! A collection whose `take` waits for elements, until it is said that there will be no more, or until it is cancelled.
//!
//! Three ways to build it: [`Exact`] has one lock for everything; [`Early`] looks at its flags outside of the lock; [`Late`]
//! has a queue, a semaphore that counts its elements, and a count of those who are adding.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

const CANCELLED: &str = "cancelled";
const COMPLETED: &str = "completed";

/// What all of them do.
pub trait BlockingCollection {
    /// An empty one.
    fn new() -> Self;
    /// How many are inside.
    fn count(&self) -> usize;
    /// All that are inside.
    fn to_array(&self) -> Vec<u32>;
    /// Puts in.
    fn add(&self, value: u32) -> Result<(), &'static str>;
    /// Whether there will be no more, and there are none.
    fn is_completed(&self) -> bool;
    /// Whether there will be no more.
    fn is_adding_completed(&self) -> bool;
    /// Says that there will be no more.
    fn complete_adding(&self);
    /// Takes one, and waits for it.
    fn take(&self) -> Result<u32, &'static str>;
    /// Takes one if there is one.
    fn try_take(&self) -> Option<u32>;
    /// Takes one, and waits a moment for it.
    fn try_take_timed(&self) -> Option<u32>;
    /// Nobody shall wait any more.
    fn cancel(&self);
}

fn queue() -> Mutex<VecDeque<u32>> {
    Mutex::new(VecDeque::with_capacity(16))
}

/// One lock for everything.
pub struct Exact {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    items: VecDeque<u32>,
    completed: bool,
    cancelled: bool,
}

impl Exact {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

impl BlockingCollection for Exact {
    fn new() -> Self {
        let state = State { items: VecDeque::with_capacity(16), completed: false, cancelled: false };
        Exact { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn count(&self) -> usize {
        self.state().items.len()
    }

    fn to_array(&self) -> Vec<u32> {
        self.state().items.iter().copied().collect()
    }

    fn add(&self, value: u32) -> Result<(), &'static str> {
        let mut state = self.state();
        if state.completed {
            return Err(COMPLETED);
        }
        state.items.push_back(value);
        self.changed.notify_one();
        Ok(())
    }

    fn is_completed(&self) -> bool {
        let state = self.state();
        state.completed && state.items.is_empty()
    }

    fn is_adding_completed(&self) -> bool {
        self.state().completed
    }

    fn complete_adding(&self) {
        self.state().completed = true;
        self.changed.notify_all();
    }

    fn take(&self) -> Result<u32, &'static str> {
        let mut state = self.state();
        loop {
            if state.cancelled {
                // Somebody else may be waiting for what this one was woken for.
                self.changed.notify_one();
                return Err(CANCELLED);
            }
            if let Some(item) = state.items.pop_front() {
                return Ok(item);
            }
            if state.completed {
                return Err(COMPLETED);
            }
            state = self.changed.wait(state).unwrap();
        }
    }

    fn try_take(&self) -> Option<u32> {
        self.state().items.pop_front()
    }

    fn try_take_timed(&self) -> Option<u32> {
        let state = self.state();
        if !state.items.is_empty() || state.completed || state.cancelled {
            drop(state);
            return self.try_take();
        }
        let (mut state, _) = self.changed.wait_timeout(state, Duration::from_millis(1)).unwrap();
        state.items.pop_front()
    }

    fn cancel(&self) {
        self.state().cancelled = true;
        self.changed.notify_all();
    }
}

/// Looks at its flags outside of the lock: what is added at the wrong moment comes in after the end (D), and who waits is
/// served after the cancellation (K).
pub struct Early {
    items: Mutex<VecDeque<u32>>,
    changed: Condvar,
    completed: AtomicBool,
    cancelled: AtomicBool,
}

impl BlockingCollection for Early {
    fn new() -> Self {
        let (completed, cancelled) = (AtomicBool::new(false), AtomicBool::new(false));
        Early { items: queue(), changed: Condvar::new(), completed, cancelled }
    }

    fn count(&self) -> usize {
        self.items.lock().unwrap().len()
    }

    fn to_array(&self) -> Vec<u32> {
        self.items.lock().unwrap().iter().copied().collect()
    }

    fn add(&self, value: u32) -> Result<(), &'static str> {
        if self.completed.load(SeqCst) {
            return Err(COMPLETED);
        }
        self.items.lock().unwrap().push_back(value);
        self.changed.notify_one();
        Ok(())
    }

    fn is_completed(&self) -> bool {
        self.completed.load(SeqCst) && self.count() == 0
    }

    fn is_adding_completed(&self) -> bool {
        self.completed.load(SeqCst)
    }

    fn complete_adding(&self) {
        self.completed.store(true, SeqCst);
        drop(self.items.lock());
        self.changed.notify_all();
    }

    fn take(&self) -> Result<u32, &'static str> {
        if self.cancelled.load(SeqCst) {
            return Err(CANCELLED);
        }
        let mut items = self.items.lock().unwrap();
        loop {
            if let Some(item) = items.pop_front() {
                return Ok(item);
            }
            if self.completed.load(SeqCst) {
                return Err(COMPLETED);
            }
            if self.cancelled.load(SeqCst) {
                return Err(CANCELLED);
            }
            items = self.changed.wait(items).unwrap();
        }
    }

    fn try_take(&self) -> Option<u32> {
        self.items.lock().unwrap().pop_front()
    }

    fn try_take_timed(&self) -> Option<u32> {
        let items = self.items.lock().unwrap();
        let wait = |items: &mut VecDeque<u32>| items.is_empty() && !self.completed.load(SeqCst);
        let (mut items, _) = self.changed.wait_timeout_while(items, Duration::from_millis(1), wait).unwrap();
        items.pop_front()
    }

    fn cancel(&self) {
        self.cancelled.store(true, SeqCst);
        drop(self.items.lock());
        self.changed.notify_all();
    }
}

const COMPLETE: u32 = 1;
const ADDER: u32 = 2;

/// Adds to its queue first and counts then: between the two the element can be seen, but is not counted (H) and cannot be
/// taken (I). Cancelling as in [`Early`] (K).
pub struct Late {
    items: Mutex<VecDeque<u32>>,
    /// How many may be taken.
    occupied: Mutex<usize>,
    changed: Condvar,
    /// Whether adding is completed, and how many are adding.
    adding: AtomicU32,
    cancelled: AtomicBool,
}

impl Late {
    /// Takes what was already subtracted from `occupied`.
    fn pop(&self) -> u32 {
        self.items.lock().unwrap().pop_front().expect("it was counted")
    }
}

impl BlockingCollection for Late {
    fn new() -> Self {
        let (adding, cancelled) = (AtomicU32::new(0), AtomicBool::new(false));
        Late { items: queue(), occupied: Mutex::new(0), changed: Condvar::new(), adding, cancelled }
    }

    fn count(&self) -> usize {
        *self.occupied.lock().unwrap()
    }

    fn to_array(&self) -> Vec<u32> {
        self.items.lock().unwrap().iter().copied().collect()
    }

    fn add(&self, value: u32) -> Result<(), &'static str> {
        loop {
            let adding = self.adding.load(SeqCst);
            if adding & COMPLETE != 0 {
                return Err(COMPLETED);
            }
            if self.adding.compare_exchange(adding, adding + ADDER, SeqCst, SeqCst).is_ok() {
                break;
            }
        }
        self.items.lock().unwrap().push_back(value);
        *self.occupied.lock().unwrap() += 1;
        self.changed.notify_one();
        self.adding.fetch_sub(ADDER, SeqCst);
        Ok(())
    }

    fn is_completed(&self) -> bool {
        self.is_adding_completed() && self.count() == 0
    }

    fn is_adding_completed(&self) -> bool {
        self.adding.load(SeqCst) == COMPLETE
    }

    fn complete_adding(&self) {
        self.adding.fetch_or(COMPLETE, SeqCst);
        while self.adding.load(SeqCst) != COMPLETE {
            std::thread::yield_now();
        }
        drop(self.occupied.lock());
        self.changed.notify_all();
    }

    fn take(&self) -> Result<u32, &'static str> {
        if self.cancelled.load(SeqCst) {
            return Err(CANCELLED);
        }
        let mut occupied = self.occupied.lock().unwrap();
        while *occupied == 0 {
            if self.is_adding_completed() {
                return Err(COMPLETED);
            }
            if self.cancelled.load(SeqCst) {
                return Err(CANCELLED);
            }
            occupied = self.changed.wait(occupied).unwrap();
        }
        *occupied -= 1;
        drop(occupied);
        Ok(self.pop())
    }

    fn try_take(&self) -> Option<u32> {
        let mut occupied = self.occupied.lock().unwrap();
        *occupied = occupied.checked_sub(1)?;
        drop(occupied);
        Some(self.pop())
    }

    fn try_take_timed(&self) -> Option<u32> {
        let occupied = self.occupied.lock().unwrap();
        let wait = |occupied: &mut usize| *occupied == 0 && !self.is_adding_completed();
        let (mut occupied, _) = self.changed.wait_timeout_while(occupied, Duration::from_millis(1), wait).unwrap();
        *occupied = occupied.checked_sub(1)?;
        drop(occupied);
        Some(self.pop())
    }

    fn cancel(&self) {
        self.cancelled.store(true, SeqCst);
        drop(self.occupied.lock());
        self.changed.notify_all();
    }
}
