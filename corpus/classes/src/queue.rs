//! A queue in slots: whoever puts in takes the next slot first and fills it then, whoever takes out waits for that.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};

use crate::Flaw;

/// More slots than any test fills.
const SLOTS: usize = 16;

/// The queue.
pub struct Queue {
    head: AtomicUsize,
    tail: AtomicUsize,
    /// Zero while not filled.
    slots: [AtomicU32; SLOTS],
    flaw: Flaw,
}

impl Queue {
    /// An empty one.
    pub fn new(flaw: Flaw) -> Self {
        Queue { head: AtomicUsize::new(0), tail: AtomicUsize::new(0), slots: Default::default(), flaw }
    }

    /// What is in a slot that was taken, as soon as it is.
    fn filled(&self, at: usize) -> u32 {
        loop {
            match self.slots[at].load(SeqCst) {
                0 => std::thread::yield_now(),
                value => return value,
            }
        }
    }

    /// Head and tail as they were at one moment.
    fn ends(&self) -> (usize, usize) {
        loop {
            let (head, tail) = (self.head.load(SeqCst), self.tail.load(SeqCst));
            if self.head.load(SeqCst) == head {
                return (head, tail);
            }
        }
    }

    /// Puts in. Zero is no value.
    pub fn enqueue(&self, value: u32) {
        let at = self.tail.fetch_add(1, SeqCst);
        self.slots[at].store(value, SeqCst);
    }

    /// Takes out.
    pub fn try_dequeue(&self) -> Option<u32> {
        loop {
            let (head, tail) = self.ends();
            if head == tail || self.flaw == Flaw::B && self.slots[head].load(SeqCst) == 0 {
                return None;
            }
            if self.head.compare_exchange(head, head + 1, SeqCst, SeqCst).is_ok() {
                return Some(self.filled(head));
            }
        }
    }

    /// What would be taken out.
    pub fn try_peek(&self) -> Option<u32> {
        loop {
            let (head, tail) = self.ends();
            if head == tail {
                return None;
            }
            let value = self.filled(head);
            if self.head.load(SeqCst) == head {
                return Some(value);
            }
        }
    }

    /// How many are inside.
    pub fn count(&self) -> usize {
        let (head, tail) = self.ends();
        tail - head
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// All that are inside.
    pub fn to_array(&self) -> Vec<u32> {
        let (head, tail) = self.ends();
        (head..tail).map(|at| self.filled(at)).collect()
    }
}
