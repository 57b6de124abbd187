//! A list with two ends, under one lock; how long it is can be read without.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use crate::Flaw;

/// The list.
pub struct LinkedList {
    items: Mutex<VecDeque<u32>>,
    count: AtomicUsize,
    flaw: Flaw,
}

impl LinkedList {
    /// An empty one.
    pub fn new(flaw: Flaw) -> Self {
        LinkedList { items: Mutex::new(VecDeque::with_capacity(16)), count: AtomicUsize::new(0), flaw }
    }

    /// How many are inside.
    pub fn count(&self) -> usize {
        self.count.load(SeqCst)
    }

    fn change<R>(&self, change: impl FnOnce(&mut VecDeque<u32>) -> R) -> R {
        let mut items = self.items.lock().unwrap();
        let result = change(&mut items);
        self.count.store(items.len(), SeqCst);
        result
    }

    fn remove(&self, remove: impl FnOnce(&mut VecDeque<u32>) -> Option<u32>) -> Option<u32> {
        if self.flaw == Flaw::C {
            if self.count() == 0 {
                return None;
            }
            return Some(self.change(|items| remove(items).expect("it is not empty")));
        }
        self.change(remove)
    }

    /// Adds at the front.
    pub fn add_first(&self, value: u32) {
        self.change(|items| items.push_front(value));
    }

    /// Adds at the back.
    pub fn add_last(&self, value: u32) {
        self.change(|items| items.push_back(value));
    }

    /// Takes from the front.
    pub fn remove_first(&self) -> Option<u32> {
        self.remove(VecDeque::pop_front)
    }

    /// Takes from the back.
    pub fn remove_last(&self) -> Option<u32> {
        self.remove(VecDeque::pop_back)
    }

    /// Takes everything.
    pub fn remove_list(&self) -> Vec<u32> {
        self.change(|items| items.drain(..).collect())
    }
}
