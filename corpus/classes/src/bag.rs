//! A bag with a list for each thread: one puts into one's own, takes from one's own, and steals where that is empty.
//!
//! What the bag gives out, and in which order it lists its elements, depends on whose list came first: intended, and not to
//! be explained by a deterministic specification (J).

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard};

use crate::Flaw;

/// More than any test has.
const LISTS: usize = 8;
const ITEMS: usize = 16;

thread_local! {
    /// The list of this thread. There is one bag.
    static OWN: Cell<Option<usize>> = const { Cell::new(None) };
}

#[derive(Default)]
struct List {
    gate: Mutex<()>,
    items: [AtomicU32; ITEMS],
    length: AtomicUsize,
}

impl List {
    /// Adds; under the list's lock.
    fn push(&self, value: u32) {
        let length = self.length.load(SeqCst);
        self.items[length].store(value, SeqCst);
        self.length.store(length + 1, SeqCst);
    }

    /// Takes the last; under the list's lock.
    fn pop(&self) -> Option<u32> {
        let last = self.length.load(SeqCst).checked_sub(1)?;
        let value = self.items[last].load(SeqCst);
        self.length.store(last, SeqCst);
        Some(value)
    }

    fn last(&self) -> Option<u32> {
        let last = self.length.load(SeqCst).checked_sub(1)?;
        Some(self.items[last].load(SeqCst))
    }
}

/// The bag.
pub struct Bag {
    lists: [List; LISTS],
    /// How many threads have a list.
    used: AtomicUsize,
    flaw: Flaw,
}

impl Bag {
    /// An empty one.
    pub fn new(flaw: Flaw) -> Self {
        Bag { lists: Default::default(), used: AtomicUsize::new(0), flaw }
    }

    /// Holds everything still.
    fn freeze(&self) -> Vec<MutexGuard<'_, ()>> {
        self.lists[..self.used.load(SeqCst)].iter().map(|list| list.gate.lock().unwrap()).collect()
    }

    /// Puts in.
    pub fn add(&self, value: u32) {
        let own = OWN.get().unwrap_or_else(|| {
            let own = self.used.fetch_add(1, SeqCst);
            OWN.set(Some(own));
            own
        });
        let list = &self.lists[own];
        let _gate = list.gate.lock().unwrap();
        list.push(value);
    }

    /// Looks for an element in one's own list, then in others, then in all of them at once.
    fn find(&self, pick: fn(&List) -> Option<u32>) -> Option<u32> {
        let own = OWN.get();
        let others = (0..self.used.load(SeqCst)).filter(|&number| Some(number) != own);
        for number in own.into_iter().chain(others) {
            let list = &self.lists[number];
            let steals = Some(number) != own;
            let _gate = (!steals || self.flaw != Flaw::E).then(|| list.gate.lock().unwrap());
            let found = pick(list);
            if found.is_some() {
                return found;
            }
        }
        let frozen = self.freeze();
        self.lists[..frozen.len()].iter().find_map(pick)
    }

    /// Takes an element.
    pub fn try_take(&self) -> Option<u32> {
        self.find(List::pop)
    }

    /// Looks at an element.
    pub fn try_peek(&self) -> Option<u32> {
        self.find(List::last)
    }

    /// How many are inside.
    pub fn count(&self) -> usize {
        let frozen = self.freeze();
        self.lists[..frozen.len()].iter().map(|list| list.length.load(SeqCst)).sum()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// All of them, list by list.
    pub fn to_array(&self) -> Vec<u32> {
        let frozen = self.freeze();
        let items =
            |list: &List| (0..list.length.load(SeqCst)).map(|at| list.items[at].load(SeqCst)).collect::<Vec<_>>();
        self.lists[..frozen.len()].iter().flat_map(items).collect()
    }
}
