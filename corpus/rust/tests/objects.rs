//! Objects; the first word of a test's name is what must be found.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Condvar, Mutex};

/// A queue that waits when it is empty.
#[derive(Default)]
struct Queue {
    items: Mutex<VecDeque<u32>>,
    filled: Condvar,
}

impl Queue {
    fn new() -> Self {
        Self::default()
    }

    fn add(&self, value: u32) {
        self.items.lock().unwrap().push_back(value);
        self.filled.notify_one();
    }

    fn try_take(&self) -> Option<u32> {
        self.items.lock().unwrap().pop_front()
    }

    /// Gives up when another has the lock.
    fn hasty(&self) -> Option<u32> {
        self.items.try_lock().ok()?.pop_front()
    }

    fn take(&self) -> u32 {
        let items = self.items.lock().unwrap();
        self.filled.wait_while(items, |items| items.is_empty()).unwrap().pop_front().unwrap()
    }
}

#[test]
fn pass_queue_from_signatures() {
    selvedge::object!(Queue { new(); add(u32); try_take(); }).auto(2).check();
}

#[test]
fn pass_queue_that_waits() {
    selvedge::object(Queue::new)
        .call("add(1)", |queue| queue.add(1))
        .call("take()", |queue| queue.take())
        .auto(2)
        .check();
}

#[test]
#[should_panic(expected = "hasty() -> None")]
fn not_linearizable_queue_that_gives_up() {
    selvedge::object(Queue::new)
        .call("add(1)", |queue| queue.add(1))
        .call("hasty()", |queue| queue.hasty())
        .check();
}

#[test]
fn pass_queue_that_may_give_up() {
    selvedge::object(Queue::new)
        .call("add(1)", |queue| queue.add(1))
        .call("hasty()", |queue| queue.hasty())
        .nondeterministic("hasty() -> None")
        .auto(2)
        .check();
}

#[test]
#[should_panic(expected = "get() -> 1")]
fn not_linearizable_counter() {
    selvedge::object(|| AtomicU32::new(0))
        .call("inc()", |count| count.store(count.load(SeqCst) + 1, SeqCst))
        .call("get()", |count| count.load(SeqCst))
        .check();
}

#[test]
#[should_panic(expected = "attempt to divide by zero")]
fn panic_in_an_operation() {
    selvedge::object(|| AtomicU32::new(1))
        .call("touch()", |number| {
            number.store(0, SeqCst);
            number.store(1, SeqCst);
        })
        .call("get()", |number| 1 / number.load(SeqCst))
        .check();
}

#[test]
fn pass_panic_that_is_serial_too() {
    selvedge::object(|| Mutex::new(2u32))
        .call("halve()", |number| {
            let mut number = number.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            *number -= 1;
            2 / *number
        })
        .auto(2)
        .check();
}

/// A flag, and a wake-up that comes before anybody sleeps.
struct Event {
    set: AtomicBool,
    lock: Mutex<()>,
    changed: Condvar,
}

#[test]
#[should_panic(expected = "wait() waits for ever")]
fn stuck_lost_wakeup() {
    let new = || Event { set: AtomicBool::new(false), lock: Mutex::new(()), changed: Condvar::new() };
    selvedge::object(new)
        .call("set()", |event| {
            event.set.store(true, SeqCst);
            event.changed.notify_all();
        })
        .call("wait()", |event| {
            if !event.set.load(SeqCst) {
                drop(event.changed.wait(event.lock.lock().unwrap()));
            }
        })
        .test([vec!["wait()"], vec!["set()"]])
        .check();
}

/// The specification of a bag: it gives any of its elements.
fn any<T: Debug>(bag: &mut Vec<T>) -> Option<T> {
    (!bag.is_empty()).then(|| bag.remove(selvedge::choose(bag.len())))
}

#[test]
fn pass_queue_as_a_bag() {
    selvedge::object(Queue::new)
        .call("add(1)", |queue| queue.add(1))
        .call("add(2)", |queue| queue.add(2))
        .call("try_take()", |queue| queue.try_take())
        .reference(
            selvedge::specification(Vec::new)
                .call("add(1)", |bag| bag.push(1))
                .call("add(2)", |bag| bag.push(2))
                .call("try_take()", any),
        )
        .auto(2)
        .check();
}

#[test]
#[should_panic(expected = "take() waits for ever")]
fn stuck_against_a_specification() {
    selvedge::object(Queue::new)
        .call("add(1)", |queue| queue.add(1))
        .call("take()", |queue| queue.take())
        .reference(selvedge::specification(Vec::new).call("add(1)", |bag| bag.push(1)).call("take()", |bag| {
            bag.pop().unwrap_or(0u32)
        }))
        .test([["take()"]])
        .check();
}

/// Removals take turns in taking the second value and the first: each is one place from where it belongs.
#[derive(Default)]
struct Swapped(Mutex<(VecDeque<u32>, bool)>);

impl Swapped {
    fn enq(&self, value: u32) {
        self.0.lock().unwrap().0.push_back(value);
    }

    fn deq(&self) -> Option<u32> {
        let (items, second) = &mut *self.0.lock().unwrap();
        *second = !*second && items.len() > 1;
        if *second { items.remove(1) } else { items.pop_front() }
    }
}

#[test]
fn pass_swapped_queue_with_factor_1() {
    selvedge::object(Swapped::default)
        .call("enq(1)", |queue| queue.enq(1))
        .call("enq(2)", |queue| queue.enq(2))
        .call("enq(3)", |queue| queue.enq(3))
        .call("deq()", |queue| queue.deq())
        .matrix("enq(1), enq(2); enq(3), deq() | deq(); deq()")
        .quasi("deq", 1)
        .closed()
        .against("queue")
        .check();
}

#[test]
#[should_panic(expected = "neither linearizable nor quasi linearizable with deq=1")]
fn not_quasi_linearizable_stack_for_a_queue() {
    selvedge::object(|| Mutex::new(Vec::new()))
        .call("enq(1)", |stack| stack.lock().unwrap().push(1))
        .call("enq(2)", |stack| stack.lock().unwrap().push(2))
        .call("enq(3)", |stack| stack.lock().unwrap().push(3))
        .call("deq()", |stack| stack.lock().unwrap().pop())
        .reference(
            selvedge::specification(VecDeque::new)
                .call("enq(1)", |queue| queue.push_back(1))
                .call("enq(2)", |queue| queue.push_back(2))
                .call("enq(3)", |queue| queue.push_back(3))
                .call("deq()", |queue| queue.pop_front()),
        )
        .shape("1*1+4")
        .quasi("deq", 1)
        .check();
}
