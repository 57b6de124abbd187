//! Treiber's stack, which gives nodes back at once: another thread may still look at them.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering::SeqCst};

struct Node {
    next: AtomicPtr<Node>,
    value: u32,
}

#[derive(Default)]
pub struct Stack {
    top: AtomicPtr<Node>,
}

impl Stack {
    pub fn push(&self, value: u32) {
        let node = Box::into_raw(Box::new(Node { next: AtomicPtr::new(null_mut()), value }));
        loop {
            let top = self.top.load(SeqCst);
            // SAFETY: nobody else has the node yet.
            unsafe { (*node).next.store(top, SeqCst) };
            if self.top.compare_exchange(top, node, SeqCst, SeqCst).is_ok() {
                return;
            }
        }
    }

    pub fn pop(&self) -> Option<u32> {
        loop {
            let top = self.top.load(SeqCst);
            if top.is_null() {
                return None;
            }
            // SAFETY: none. Another thread may have freed the node since it was read, which is what the test finds.
            let next = unsafe { (*top).next.load(SeqCst) };
            if self.top.compare_exchange(top, next, SeqCst, SeqCst).is_ok() {
                // SAFETY: it was taken off by this thread alone.
                return Some(unsafe { Box::from_raw(top) }.value);
            }
        }
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        while self.pop().is_some() {}
    }
}
