//! The test that is compared, as a macro over the types that the other tools want swapped.

/// Defines `test()`: two threads that put one value into a Michael-Scott queue and take one each.
#[macro_export]
macro_rules! michael_scott {
    ($($sync:ident)::+, $($thread:ident)::+) => {
        use $($sync)::+::Arc;
        use $($sync)::+::atomic::AtomicPtr;
        use $($sync)::+::atomic::Ordering::SeqCst;
        use $($thread)::+ as thread;

        struct Node {
            next: AtomicPtr<Node>,
            value: usize,
        }

        struct Queue {
            head: AtomicPtr<Node>,
            tail: AtomicPtr<Node>,
        }

        fn node(value: usize) -> *mut Node {
            Box::into_raw(Box::new(Node { next: AtomicPtr::new(std::ptr::null_mut()), value }))
        }

        impl Queue {
            fn new() -> Self {
                let first = node(0);
                Queue { head: AtomicPtr::new(first), tail: AtomicPtr::new(first) }
            }

            // Nodes are never freed, so every pointer stays valid.
            fn enqueue(&self, value: usize) {
                let node = node(value);
                loop {
                    let last = self.tail.load(SeqCst);
                    let next = unsafe { &(*last).next };
                    let after = next.load(SeqCst);
                    if last != self.tail.load(SeqCst) {
                        continue;
                    }
                    if !after.is_null() {
                        let _ = self.tail.compare_exchange(last, after, SeqCst, SeqCst);
                    } else if next.compare_exchange(after, node, SeqCst, SeqCst).is_ok() {
                        let _ = self.tail.compare_exchange(last, node, SeqCst, SeqCst);
                        return;
                    }
                }
            }

            fn dequeue(&self) -> Option<usize> {
                loop {
                    let first = self.head.load(SeqCst);
                    let last = self.tail.load(SeqCst);
                    let next = unsafe { (*first).next.load(SeqCst) };
                    if first != self.head.load(SeqCst) {
                        continue;
                    }
                    if first != last {
                        let value = unsafe { (*next).value };
                        if self.head.compare_exchange(first, next, SeqCst, SeqCst).is_ok() {
                            return Some(value);
                        }
                    } else if next.is_null() {
                        return None;
                    } else {
                        let _ = self.tail.compare_exchange(last, next, SeqCst, SeqCst);
                    }
                }
            }
        }

        /// Every thread takes one of the two values, and not the same.
        pub fn test() {
            let queue = Arc::new(Queue::new());
            let threads = [1, 2].map(|value| {
                let queue = queue.clone();
                thread::spawn(move || {
                    queue.enqueue(value);
                    queue.dequeue().unwrap()
                })
            });
            let [first, second] = threads.map(|thread| thread.join().unwrap());
            assert_ne!(first, second);
        }
    };
}
