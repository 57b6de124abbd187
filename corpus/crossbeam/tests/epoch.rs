//! Reclamation by epochs: Treiber's stack with crossbeam-epoch, and the same without the epochs being used.

use crossbeam_epoch::{self as epoch, Atomic, Collector, Guard, LocalHandle, Owned, Shared};
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::thread;

struct Node {
    value: usize,
    next: Atomic<Node>,
}

#[derive(Default)]
struct Stack {
    top: Atomic<Node>,
}

impl Stack {
    fn push(&self, value: usize, guard: &Guard) {
        let mut node = Owned::new(Node { value, next: Atomic::null() });
        loop {
            let top = self.top.load(Relaxed, guard);
            node.next.store(top, Relaxed);
            match self.top.compare_exchange(top, node, Release, Relaxed, guard) {
                Ok(_) => return,
                Err(error) => node = error.new,
            }
        }
    }

    /// `give_back` gets the node that nobody will find any more.
    fn pop(&self, guard: &Guard, give_back: unsafe fn(Shared<'_, Node>, &Guard)) -> Option<usize> {
        loop {
            let top = self.top.load(Acquire, guard);
            let node = unsafe { top.as_ref() }?;
            let next = node.next.load(Relaxed, guard);
            if self.top.compare_exchange(top, next, AcqRel, Relaxed, guard).is_ok() {
                let value = node.value;
                unsafe { give_back(top, guard) };
                return Some(value);
            }
        }
    }
}

/// When no thread can hold it any longer.
unsafe fn later(node: Shared<'_, Node>, guard: &Guard) {
    unsafe { guard.defer_destroy(node) }
}

/// At once, although another thread may hold it.
unsafe fn at_once(node: Shared<'_, Node>, _: &Guard) {
    drop(unsafe { node.into_owned() });
}

fn two_pops(give_back: unsafe fn(Shared<'_, Node>, &Guard)) {
    let collector = Collector::new();
    let stack = Arc::new(Stack::default());
    let handle = collector.register();
    stack.push(1, &handle.pin());
    stack.push(2, &handle.pin());
    let (other, other_handle) = (stack.clone(), collector.clone());
    let pop = move |stack: &Stack, handle: LocalHandle| stack.pop(&handle.pin(), give_back);
    let thread = thread::spawn(move || pop(&other, other_handle.register()));
    let mine = pop(&stack, handle);
    let theirs = thread.join().unwrap();
    assert_eq!(mine.unwrap() + theirs.unwrap(), 3);
}

#[test]
fn pass_epoch() {
    selvedge::explore(|| two_pops(later));
}

#[test]
fn use_after_free_epoch() {
    selvedge::explore(|| two_pops(at_once));
}

/// The collector of the whole program, with its thread-local handles.
#[test]
fn pass_epoch_default() {
    selvedge::explore(|| {
        let stack = Arc::new(Stack::default());
        let other = stack.clone();
        stack.push(1, &epoch::pin());
        let thread = thread::spawn(move || other.pop(&epoch::pin(), later));
        let mine = stack.pop(&epoch::pin(), later);
        assert_eq!(mine.or(thread.join().unwrap()), Some(1));
    });
}
