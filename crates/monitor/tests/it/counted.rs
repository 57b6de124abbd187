//! Queues that are watched with A_k: what is wrong is found at the removal that shows it, and nothing else is.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Barrier, Mutex};

use crossbeam_queue::SegQueue;
use selvedge_monitor::{CountedQueue, PushPop, Queue, Verdict};

type Carried = (u64, u64);

fn rules<Q: PushPop<Carried>>(queue: &CountedQueue<u64, Q>) -> Vec<&'static str> {
    queue.report().violations().iter().map(|violation| violation.rule).collect()
}

/// A queue that gives its first value to the first two removals, which overlap.
struct Both {
    queue: SegQueue<Carried>,
    first: Mutex<Option<Carried>>,
    meet: Barrier,
    removals: AtomicU64,
}

impl PushPop<Carried> for Both {
    fn push(&self, value: Carried) {
        self.queue.push(value);
    }

    fn pop(&self) -> Option<Carried> {
        if self.removals.fetch_add(1, SeqCst) >= 2 {
            return self.queue.pop();
        }
        let mut first = self.first.lock().unwrap();
        let value = *first.get_or_insert_with(|| self.queue.pop().expect("one was put in"));
        drop(first);
        self.meet.wait();
        Some(value)
    }
}

#[test]
fn a_value_that_two_removals_take_at_the_same_time_is_reported_once() {
    for _ in 0..50 {
        let (first, meet, removals) = (Mutex::new(None), Barrier::new(2), AtomicU64::new(0));
        let queue = CountedQueue::wrap(Both { queue: SegQueue::new(), first, meet, removals }, 2);
        (0..3).for_each(|i| queue.push(i));
        std::thread::scope(|scope| {
            scope.spawn(|| queue.pop());
            scope.spawn(|| queue.pop());
        });
        assert_eq!([queue.pop(), queue.pop()], [Some(1), Some(2)]);
        assert_eq!(rules(&queue), ["not-inside"]);
        assert_eq!(queue.report().verdict(), Verdict::Fail);
    }
}

/// A queue that says that it is empty at its first removal.
struct Shy(Mutex<(VecDeque<Carried>, bool)>);

impl PushPop<Carried> for Shy {
    fn push(&self, value: Carried) {
        self.0.lock().unwrap().0.push_back(value);
    }

    fn pop(&self) -> Option<Carried> {
        let mut inner = self.0.lock().unwrap();
        if std::mem::replace(&mut inner.1, true) { inner.0.pop_front() } else { None }
    }
}

#[test]
fn a_false_empty_answer_is_seen_from_two_pasts_on() {
    for (k, seen) in [(0, 0), (1, 0), (2, 1), (4, 1)] {
        let queue = CountedQueue::wrap(Shy(Mutex::new((VecDeque::new(), false))), k);
        queue.push(7);
        assert_eq!([queue.pop(), queue.pop()], [None, Some(7)]);
        assert_eq!(rules(&queue), vec!["not-empty"; seen], "k = {k}");
    }
}

/// An operation that panics may have happened or not; what it had in hand never comes out.
struct Panics(SegQueue<Carried>, AtomicU64);

impl PushPop<Carried> for Panics {
    fn push(&self, value: Carried) {
        self.0.push(value);
        assert!(self.1.fetch_add(1, SeqCst) % 5 != 4, "it is inside");
    }

    fn pop(&self) -> Option<Carried> {
        let popped = self.0.pop();
        assert!(self.1.fetch_add(1, SeqCst) % 5 != 4, "it took a value, and nobody has it");
        popped
    }
}

#[test]
fn an_operation_that_panics_is_no_alarm() {
    let queue = CountedQueue::wrap(Panics(SegQueue::new(), AtomicU64::new(0)), 4);
    let caught = |operation: &dyn Fn()| std::panic::catch_unwind(std::panic::AssertUnwindSafe(operation)).is_err();
    let panicked = (0..200).filter(|i| caught(&|| queue.push(*i))).count()
        + (0..300)
            .filter(|_| {
                caught(&|| {
                    let _ = queue.pop();
                })
            })
            .count();
    let report = queue.report();
    assert_eq!((report.violations(), report.verdict()), (&[][..], Verdict::Unknown));
    assert_eq!((panicked, report.unchecked()), (100, 100));
}

/// Numbers of threads are used again; what one of them left behind is not what the next one did.
#[test]
fn threads_come_and_go() {
    let (exact, counted) = (Queue::wrap(SegQueue::new()), CountedQueue::wrap(SegQueue::new(), 3));
    let taken = AtomicU64::new(0);
    for round in 0..60 {
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (exact, counted, taken) = (&exact, &counted, &taken);
                scope.spawn(move || {
                    for i in 0..20 {
                        exact.push(round << 20 | thread << 10 | i);
                        counted.push(round << 20 | thread << 10 | i);
                        // Some stay inside for those that come after.
                        if i % 4 != 0 || round == 59 {
                            taken.fetch_add(u64::from(exact.pop().is_some()), SeqCst);
                            counted.pop();
                        }
                    }
                });
            }
        });
    }
    while exact.pop().is_some() {
        taken.fetch_add(1, SeqCst);
    }
    while counted.pop().is_some() {}
    assert_eq!(taken.load(SeqCst), 60 * 4 * 20);
    assert_eq!((exact.report().violations(), counted.report().violations()), (&[][..], &[][..]));
    assert_ne!(exact.report().verdict(), Verdict::Fail);
}
