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

/// An object that calls itself once more now and then, as one does that calls back.
struct Calling<T> {
    inside: Mutex<VecDeque<T>>,
    is_stack: bool,
}

thread_local! {
    static CALL: std::cell::RefCell<Option<Box<dyn Fn()>>> = const { std::cell::RefCell::new(None) };
}

fn call_back() {
    let call = CALL.with_borrow_mut(Option::take);
    call.into_iter().for_each(|call| call());
}

impl<T> PushPop<T> for Calling<T> {
    fn push(&self, value: T) {
        call_back();
        self.inside.lock().unwrap().push_back(value);
    }

    fn pop(&self) -> Option<T> {
        let inside = &self.inside;
        let popped = if self.is_stack { inside.lock().unwrap().pop_back() } else { inside.lock().unwrap().pop_front() };
        call_back();
        popped
    }
}

/// Operations inside others are no alarm; a stack is checked all the same, and others say that they did not.
#[test]
fn operations_inside_others_are_no_alarm() {
    fn calling<T>(is_stack: bool) -> Calling<T> {
        Calling { inside: Mutex::new(VecDeque::new()), is_stack }
    }
    macro_rules! nest {
        ($object:expr) => {{
            let object = Arc::new($object);
            for i in 0..2_000_u64 {
                let inner = Arc::clone(&object);
                CALL.set(Some(Box::new(move || match i % 3 {
                    0 => inner.push(1_000_000 + i),
                    1 => _ = inner.pop(),
                    _ => {
                        inner.push(1_000_000 + i);
                        inner.pop();
                        inner.pop();
                    }
                })));
                if i % 2 == 0 {
                    object.push(i);
                } else {
                    object.pop();
                }
            }
            while object.pop().is_some() {}
            object.report()
        }};
    }
    let stack = nest!(Stack::wrap(calling(true)));
    assert_eq!((stack.violations(), stack.verdict()), (&[][..], Verdict::NothingWrong));
    for report in [nest!(Queue::wrap(calling(false))), nest!(selvedge_monitor::CountedQueue::wrap(calling(false), 3))] {
        assert_eq!((report.violations(), report.verdict()), (&[][..], Verdict::Unknown));
        assert!(report.unchecked() > 0);
    }
}

/// What is open, and what waits for it, was not checked: no clean answer.
#[test]
fn what_waits_for_an_open_operation_is_not_checked() {
    let stack = Arc::new(Stack::wrap(Calling { inside: Mutex::new(VecDeque::new()), is_stack: true }));
    let inner = Arc::clone(&stack);
    CALL.set(Some(Box::new(move || {
        std::thread::scope(|scope| {
            scope.spawn(|| (0..100).for_each(|i| inner.push(i)));
        });
        let report = inner.report();
        assert_eq!((report.unchecked(), report.verdict()), (101, Verdict::Unknown));
    })));
    stack.push(7);
    assert_eq!((stack.report().unchecked(), stack.report().verdict()), (0, Verdict::NothingWrong));
}

/// A lock that lets everybody in, or nobody who only tries.
struct Open;

impl Exclusive for Open {
    fn lock(&self) {}

    fn try_lock(&self) -> bool {
        false
    }

    fn unlock(&self) {}
}

#[test]
fn two_that_hold_a_lock_are_one_violation_and_a_refusal_is_not_checked() {
    let lock = Lock::wrap(Open);
    let both = (lock.lock(), lock.lock());
    assert_eq!(lock.report().total(), 1);
    drop(both);
    drop(lock.lock());
    assert_eq!(lock.report().total(), 1, "both gave it back");
    let lock = Lock::wrap(Open);
    assert!(lock.try_lock().is_none());
    assert_eq!((lock.report().unchecked(), lock.report().verdict()), (1, Verdict::Unknown));
}
