//! Stacks, registers and locks, right and wrong.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex};

use selvedge_monitor::{Exclusive, Lock, PushPop, Queue, ReadWrite, Register, Stack, Stamped, Verdict};

fn use_stack<S: PushPop<(u64, u64)> + Sync>(stack: &Stack<u64, S>) {
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for i in 0..3_000 {
                    stack.push(i);
                    if i % 3 != 0 {
                        stack.pop();
                        stack.pop();
                    }
                }
            });
        }
    });
}

#[test]
fn a_right_stack_is_right_and_a_queue_is_none() {
    let stack = Stack::wrap(Mutex::new(Vec::new()));
    use_stack(&stack);
    assert_eq!(stack.report().violations(), []);
    assert_eq!(stack.report().unchecked(), 0);
    assert_eq!(stack.report().verdict(), Verdict::NothingWrong);
    let stack = Stack::wrap(Mutex::new(VecDeque::new()));
    use_stack(&stack);
    assert!(stack.report().violations().iter().all(|violation| violation.rule == "from-below"));
    assert!(stack.report().total() > 100, "{}", stack.report().total());
}

/// A register whose reads are sometimes of what was there before.
struct Stale {
    now: AtomicU64,
    before: AtomicU64,
    reads: AtomicU64,
    every: u64,
}

impl ReadWrite for Stale {
    fn read(&self) -> u64 {
        let wrong = self.reads.fetch_add(1, SeqCst) % self.every == self.every - 1;
        if wrong { self.before.load(SeqCst) } else { self.now.load(SeqCst) }
    }

    fn write(&self, value: u64) {
        self.before.store(self.now.swap(value, SeqCst), SeqCst);
    }
}

#[test]
fn registers_right_and_stale() {
    for (every, wrong) in [(u64::MAX, false), (500, true)] {
        let (now, before, reads) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        let register = Register::wrap(Stale { now, before, reads, every });
        std::thread::scope(|scope| {
            for thread in 0..3u64 {
                let register = &register;
                scope.spawn(move || {
                    for i in 1..4_000 {
                        if i % 4 == 0 {
                            register.write(thread << 32 | i);
                        }
                        register.read();
                    }
                });
            }
        });
        // Alone, so that some wrong read overlaps nothing.
        for i in 0..600 {
            register.write(1 << 50 | i);
            register.read();
        }
        assert_eq!(register.report().total() > 0, wrong, "{:?}", register.report().violations());
        assert_eq!(register.report().unchecked(), 0);
        assert!(register.report().violations().iter().all(|violation| violation.rule == "stale"));
    }
}

#[derive(Default)]
struct Plain {
    held: Mutex<bool>,
    free: Condvar,
}

impl Exclusive for Plain {
    fn lock(&self) {
        let held = self.free.wait_while(self.held.lock().unwrap(), |held| *held).unwrap();
        let mut held = held;
        *held = true;
    }

    fn try_lock(&self) -> bool {
        !std::mem::replace(&mut *self.held.lock().unwrap(), true)
    }

    fn unlock(&self) {
        *self.held.lock().unwrap() = false;
        self.free.notify_one();
    }
}

/// A lock that looks and then takes.
#[derive(Default)]
struct Careless(AtomicBool);

impl Exclusive for Careless {
    fn lock(&self) {
        while !self.try_lock() {
            std::thread::yield_now();
        }
    }

    fn try_lock(&self) -> bool {
        let free = !self.0.load(SeqCst);
        std::thread::yield_now();
        if free {
            self.0.store(true, SeqCst);
        }
        free
    }

    fn unlock(&self) {
        self.0.store(false, SeqCst);
    }
}

fn use_lock<L: Exclusive + Sync>(lock: &Lock<L>, rounds: u32) {
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for i in 0..rounds {
                    if i % 2 == 0 {
                        let held = lock.lock();
                        std::thread::yield_now();
                        drop(held);
                    } else {
                        drop(lock.try_lock());
                    }
                }
            });
        }
    });
}

#[test]
fn a_right_lock_is_right_and_a_careless_one_is_not() {
    let lock = Lock::wrap(Plain::default());
    use_lock(&lock, 2_000);
    assert_eq!(lock.report().violations(), []);
    let lock = Lock::wrap(Careless::default());
    use_lock(&lock, 2_000);
    assert!(lock.report().total() > 0);
    assert!(lock.report().violations().iter().all(|violation| violation.rule == "permits"));
}

/// Who is told of a violation may use the object: no lock is held meanwhile.
#[test]
fn a_listener_may_use_the_object() {
    let stack = Arc::new(Stack::wrap(Mutex::new(VecDeque::new())));
    let (told, other) = (Arc::new(AtomicU64::new(0)), Arc::downgrade(&stack));
    let count = Arc::clone(&told);
    stack.on_violation(move |_| {
        if count.fetch_add(1, SeqCst) == 0
            && let Some(stack) = other.upgrade()
        {
            (0..2_000).for_each(|i| stack.push(i));
            assert!(stack.report().total() > 0, "what is told is in the report");
        }
    });
    // A queue is no stack.
    (0..2).for_each(|i| stack.push(i));
    assert_eq!([stack.pop(), stack.pop()], [Some(0), Some(1)]);
    assert_eq!(stack.report().verdict(), Verdict::Fail);
    assert!(told.load(SeqCst) > 0);
    let queue: Arc<Queue<u64, Mutex<Vec<Stamped<u64>>>>> = Arc::new(Queue::wrap(Mutex::new(Vec::new())));
    let other = Arc::downgrade(&queue);
    queue.on_violation(move |_| {
        if let Some(queue) = other.upgrade() {
            queue.pop();
            queue.examine();
        }
    });
    (0..5).for_each(|i| queue.push(i));
    (0..5).for_each(|_| {
        queue.pop();
    });
    assert_eq!(queue.report().verdict(), Verdict::Fail);
}
