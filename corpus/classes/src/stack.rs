//! A stack as a list of nodes that never change, with the top in one word. Nodes are not freed while others may look at
//! them, which here means never.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering::SeqCst};

struct Node {
    value: u32,
    below: *mut Node,
    /// How many there are from here to the bottom.
    count: usize,
}

/// The stack.
pub struct Stack {
    top: AtomicPtr<Node>,
}

impl Default for Stack {
    fn default() -> Self {
        Stack { top: AtomicPtr::new(null_mut()) }
    }
}

/// The values from a node on.
fn values(mut node: *mut Node) -> Vec<u32> {
    let mut values = Vec::new();
    // SAFETY: nodes are never freed, and never change after they were linked in.
    while let Some(this) = unsafe { node.as_ref() } {
        values.push(this.value);
        node = this.below;
    }
    values
}

impl Stack {
    /// Puts on top, the last one highest.
    pub fn push_range(&self, values: &[u32]) {
        loop {
            let top = self.top.load(SeqCst);
            // SAFETY: as above.
            let mut count = unsafe { top.as_ref() }.map_or(0, |node| node.count);
            let mut new = top;
            for &value in values {
                count += 1;
                new = Box::into_raw(Box::new(Node { value, below: new, count }));
            }
            if self.top.compare_exchange(top, new, SeqCst, SeqCst).is_ok() {
                return;
            }
        }
    }

    /// Puts on top.
    pub fn push(&self, value: u32) {
        self.push_range(&[value]);
    }

    /// Takes so many from the top, or as many as there are.
    pub fn try_pop_range(&self, most: usize) -> Vec<u32> {
        loop {
            let top = self.top.load(SeqCst);
            let (mut below, mut taken) = (top, Vec::new());
            // SAFETY: as above.
            while let Some(node) = unsafe { below.as_ref() } {
                if taken.len() == most {
                    break;
                }
                taken.push(node.value);
                below = node.below;
            }
            if taken.is_empty() || self.top.compare_exchange(top, below, SeqCst, SeqCst).is_ok() {
                return taken;
            }
        }
    }

    /// Takes from the top.
    pub fn try_pop(&self) -> Option<u32> {
        self.try_pop_range(1).first().copied()
    }

    /// What is on top.
    pub fn try_peek(&self) -> Option<u32> {
        // SAFETY: as above.
        unsafe { self.top.load(SeqCst).as_ref() }.map(|node| node.value)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        // SAFETY: as above.
        unsafe { self.top.load(SeqCst).as_ref() }.map_or(0, |node| node.count)
    }

    /// Takes everything away.
    pub fn clear(&self) {
        self.top.store(null_mut(), SeqCst);
    }

    /// All of them, from the top.
    pub fn to_array(&self) -> Vec<u32> {
        values(self.top.load(SeqCst))
    }
}
