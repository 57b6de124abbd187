//! Violations injected in a live queue, each reported within the delay that `docs/monitor.md` states; and none in a right one.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use crossbeam_queue::SegQueue;
use selvedge_monitor::{CountedQueue, PushPop, Queue, Stamped, Verdict};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    Reorder,
    Duplicate,
    Lose,
    FalseEmpty,
}

/// A queue that does something wrong once, at some removal.
struct Faulty<T> {
    queue: SegQueue<T>,
    fault: Fault,
    at: u64,
    removals: AtomicU64,
    /// What comes out next, before everything else, in this order.
    held: Mutex<Vec<T>>,
    /// How many these are; none comes out before `culprit` has returned.
    holds: AtomicU64,
    /// Who did it.
    culprit: Mutex<Option<std::thread::ThreadId>>,
}

impl<T> Faulty<T> {
    fn new(fault: Fault, at: u64) -> Self {
        let (queue, held) = (SegQueue::new(), Mutex::new(Vec::new()));
        Faulty {
            queue,
            fault,
            at,
            removals: AtomicU64::new(0),
            held,
            holds: AtomicU64::new(0),
            culprit: Mutex::new(None),
        }
    }

    fn is_over(&self) -> bool {
        self.removals.load(SeqCst) > self.at
    }
}

impl<T: Clone> PushPop<T> for Faulty<T> {
    fn push(&self, value: T) {
        self.queue.push(value);
    }

    fn pop(&self) -> Option<T> {
        if self.holds.load(SeqCst) > 0 && self.culprit.lock().unwrap().is_none() {
            let mut held = self.held.lock().unwrap();
            if !held.is_empty() {
                self.holds.fetch_sub(1, SeqCst);
                return Some(held.remove(0));
            }
        }
        if self.removals.fetch_add(1, SeqCst) != self.at {
            return self.queue.pop();
        }
        match self.fault {
            Fault::None => self.queue.pop(),
            Fault::FalseEmpty => None,
            Fault::Lose => {
                drop(self.queue.pop());
                self.queue.pop()
            }
            Fault::Duplicate => {
                let value = self.queue.pop();
                *self.held.lock().unwrap() = value.clone().into_iter().collect();
                self.holds.store(1, SeqCst);
                value
            }
            Fault::Reorder => {
                // Insertions that overlapped may come out in either order. Two of any three are of one thread, one after the other.
                let held: Vec<T> = (0..2).filter_map(|_| self.queue.pop()).collect();
                let last = self.queue.pop();
                // Only when this removal has returned may the values come out that it overtook.
                *self.culprit.lock().unwrap() = Some(std::thread::current().id());
                self.holds.store(held.len() as u64, SeqCst);
                *self.held.lock().unwrap() = held;
                last
            }
        }
    }
}

/// A thread that gets no processor for long lets the queue outgrow what is remembered. Then the report says that not everything was checked,
/// and it is tried again.
fn inject(fault: Fault) {
    assert!((0..8).any(|_| injected(fault)), "{fault:?}: the machine is too busy");
}

/// Two threads push and pop; one of them looks whether the report has come, and how long that took. Whether everything was checked.
fn injected(fault: Fault) -> bool {
    let operations = super::operations();
    let queue: Queue<u64, Faulty<Stamped<u64>>> = Queue::wrap(Faulty::new(fault, operations / 2));
    (0..64).for_each(|i| queue.push(i));
    let found = std::sync::Arc::new(AtomicU64::new(0));
    let counter = std::sync::Arc::clone(&found);
    queue.on_violation(move |_| {
        counter.fetch_add(1, SeqCst);
    });
    let late = Mutex::new(None);
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let (queue, found, late) = (&queue, &found, &late);
            scope.spawn(move || {
                let mut injected: Option<(Instant, u64)> = None;
                for i in 0..operations {
                    queue.push(thread << 40 | i);
                    queue.pop();
                    if queue.inner().holds.load(SeqCst) > 0 {
                        let me = std::thread::current().id();
                        queue.inner().culprit.lock().unwrap().take_if(|culprit| *culprit == me);
                    }
                    if fault == Fault::None || !queue.inner().is_over() {
                        continue;
                    }
                    let (when, removals) = *injected.get_or_insert((Instant::now(), i));
                    if found.load(SeqCst) > 0 {
                        if thread == 0 {
                            *late.lock().unwrap() = Some((when.elapsed(), i - removals));
                        }
                        return;
                    }
                    // Both threads go on until it is reported, for a while at least.
                    assert!(
                        i - removals < operations / 3 || when.elapsed() < Duration::from_secs(10),
                        "{fault:?} is not seen"
                    );
                }
            });
        }
    });
    queue.examine();
    if fault == Fault::None {
        while queue.pop().is_some() {}
    }
    let report = queue.report();
    let mut rules: Vec<&str> = report.violations().iter().map(|violation| violation.rule).collect();
    rules.dedup();
    println!("{fault:?} at removal {}: {rules:?} after {:?}", operations / 2, late.lock().unwrap());
    let expect: &[&str] = match fault {
        Fault::None => &[],
        Fault::Reorder | Fault::Lose => &["overtaken"],
        Fault::Duplicate => &["not-inside"],
        Fault::FalseEmpty => &["not-empty"],
    };
    if report.unchecked() > 0 {
        assert!(rules.iter().all(|rule| expect.contains(rule)), "{:?}", report.violations());
        assert_eq!(report.verdict(), if rules.is_empty() { Verdict::Unknown } else { Verdict::Fail });
        return false;
    }
    assert_eq!(rules, expect, "{:?}", report.violations());
    assert_eq!(report.verdict(), if fault == Fault::None { Verdict::NothingWrong } else { Verdict::Fail });
    true
}

#[test]
fn a_right_queue_is_right() {
    inject(Fault::None);
}

#[test]
fn a_reordering_is_reported() {
    inject(Fault::Reorder);
}

#[test]
fn a_duplicate_is_reported() {
    inject(Fault::Duplicate);
}

#[test]
fn a_loss_is_reported() {
    inject(Fault::Lose);
}

#[test]
fn a_false_empty_answer_is_reported() {
    inject(Fault::FalseEmpty);
}

/// A queue that is empty most of the time, with threads that ask all the time.
#[test]
fn empty_answers_that_are_true_are_no_alarm() {
    const VALUES: u64 = 20_000;
    let queue = Queue::wrap(SegQueue::new());
    let (taken, empty) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for i in 0..VALUES {
                // Never so many that they cannot be remembered, whoever runs when.
                while i > taken.load(SeqCst) + 100 {
                    std::thread::yield_now();
                }
                // Empty now and then, whoever runs when.
                while i % 1_000 == 999 && empty.load(SeqCst) < i / 10 {
                    std::thread::yield_now();
                }
                queue.push(i);
            }
        });
        for _ in 0..2 {
            scope.spawn(|| {
                while taken.load(SeqCst) < VALUES {
                    let count = if queue.pop().is_some() { &taken } else { &empty };
                    count.fetch_add(1, SeqCst);
                }
            });
        }
    });
    queue.examine();
    assert!(empty.load(SeqCst) >= VALUES / 11, "it was empty now and then");
    let report = queue.report();
    assert_eq!(report.violations(), []);
    // What could not be checked, because a thread got no processor for long, is said.
    assert_eq!(report.verdict() == Verdict::NothingWrong, report.unchecked() == 0);
}

/// More values inside than the rings remember one by one.
#[test]
fn a_long_queue_is_no_alarm() {
    let queue = Queue::wrap(SegQueue::new());
    (0..40_000).for_each(|i| queue.push(i));
    (0..40_000).for_each(|_| {
        queue.pop();
    });
    assert_eq!(queue.pop(), None);
    let report = queue.report();
    assert_eq!((report.violations(), report.verdict()), (&[][..], Verdict::NothingWrong));
}

/// What comes out of a long queue, too early by far: the return of its insertion is forgotten, but it was before others were called.
#[test]
fn an_old_value_that_was_overtaken_is_reported() {
    let queue: Queue<u64, Mutex<Vec<Stamped<u64>>>> = Queue::wrap(Mutex::new(Vec::new()));
    (0..9_000).for_each(|i| queue.push(i));
    (0..9_000).for_each(|_| {
        queue.pop();
    });
    let report = queue.report();
    // A stack in place of a queue: each value but the first to come out was overtaken. When they are counted, those inside are reported as lost together, and turn up one by one.
    assert!(report.violations().iter().all(|violation| violation.rule == "overtaken"));
    assert!(report.total() > 1024 && report.unchecked() == 0, "{}", report.total());
    assert_eq!(report.verdict(), Verdict::Fail);
}

/// Two removals that take out the same value, one after the other, in any thread.
#[test]
fn a_value_that_comes_out_twice_is_reported() {
    struct Twice(Mutex<(std::collections::VecDeque<Stamped<u64>>, bool)>);
    impl PushPop<Stamped<u64>> for Twice {
        fn push(&self, value: Stamped<u64>) {
            self.0.lock().unwrap().0.push_back(value);
        }
        fn pop(&self) -> Option<Stamped<u64>> {
            let mut inner = self.0.lock().unwrap();
            inner.1 = !inner.1;
            if inner.1 { inner.0.front().cloned() } else { inner.0.pop_front() }
        }
    }
    let queue = Queue::wrap(Twice(Mutex::new((std::collections::VecDeque::new(), false))));
    (0..3).for_each(|i| queue.push(i));
    assert_eq!([0; 6].map(|_| queue.pop()), [0, 0, 1, 1, 2, 2].map(Some));
    assert_eq!(queue.pop(), None);
    let report = queue.report();
    let rules: Vec<&str> = report.violations().iter().map(|violation| violation.rule).collect();
    assert_eq!(rules, ["not-inside"; 3], "{:?}", report.violations());
}

/// The last value is lost: nothing comes after it, so it is seen when the queue is found empty; once.
#[test]
fn a_loss_at_the_end_is_seen_by_an_empty_answer() {
    let queue: Queue<u64, Faulty<Stamped<u64>>> = Queue::wrap(Faulty::new(Fault::Lose, 0));
    (0..2).for_each(|i| queue.push(i));
    assert_eq!([0; 3].map(|_| queue.pop()), [Some(1), None, None]);
    let report = queue.report();
    let rules: Vec<&str> = report.violations().iter().map(|violation| violation.rule).collect();
    assert_eq!(rules, ["not-empty"], "{:?}", report.violations());
}

#[test]
fn counters_see_what_is_recent() {
    let operations = super::operations() / 4;
    for (fault, seen) in [(Fault::None, 0), (Fault::Duplicate, 1)] {
        let queue: CountedQueue<u64, Faulty<(u64, u64)>> = CountedQueue::wrap(Faulty::new(fault, operations / 2), 2);
        (0..8).for_each(|i| queue.push(i));
        std::thread::scope(|scope| {
            for thread in 0..2 {
                let queue = &queue;
                scope.spawn(move || {
                    for i in 0..operations {
                        queue.push(thread << 40 | i);
                        queue.pop();
                    }
                });
            }
        });
        let report = queue.report();
        let all = report.unchecked() == 0;
        assert!(report.total() == seen || !all && report.total() < seen, "{:?}", report.violations());
    }
    // A stack in place of a queue: what came last leaves first, at once.
    let queue: CountedQueue<u64, Mutex<Vec<(u64, u64)>>> = CountedQueue::wrap(Mutex::new(Vec::new()), 4);
    queue.push(1);
    queue.push(2);
    queue.pop();
    queue.pop();
    let report = queue.report();
    assert_eq!(report.violations().iter().map(|violation| violation.rule).collect::<Vec<_>>(), ["overtaken"]);
}

/// Memory that is used, in bytes.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    4096 * text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0)
}

#[test]
fn memory_does_not_depend_on_the_number_of_operations() {
    let operations = super::operations();
    let queue = Queue::wrap(SegQueue::new());
    let counted = CountedQueue::wrap(SegQueue::new(), 2);
    let round = |operations: u64| {
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for i in 0..operations / 4 {
                        queue.push(i);
                        queue.pop();
                        counted.push(i);
                        counted.pop();
                    }
                });
            }
        });
        resident()
    };
    let early = round(operations / 10);
    let late = round(operations);
    println!("{operations} operations: {} KiB, then {} KiB", early >> 10, late >> 10);
    assert!(late < early + (8 << 20), "{early} {late}");
    assert_eq!((queue.report().total(), counted.report().total()), (0, 0));
}

/// A queue that gives one value twice, to removals that overlap, and loses another.
struct Swaps {
    queue: SegQueue<Stamped<u64>>,
    kept: Mutex<Option<Stamped<u64>>>,
    calls: AtomicU64,
}

impl PushPop<Stamped<u64>> for Swaps {
    fn push(&self, value: Stamped<u64>) {
        self.queue.push(value);
    }

    fn pop(&self) -> Option<Stamped<u64>> {
        match self.calls.fetch_add(1, SeqCst) {
            0 => {
                *self.kept.lock().unwrap() = self.queue.pop();
                // Until the other has it too.
                while self.calls.load(SeqCst) < 2 {
                    std::thread::yield_now();
                }
                self.kept.lock().unwrap().clone()
            }
            1 => loop {
                if let Some(value) = self.kept.lock().unwrap().clone() {
                    break Some(value);
                }
                std::thread::yield_now();
            },
            2 => {
                self.queue.pop();
                self.queue.pop()
            }
            _ => self.queue.pop(),
        }
    }
}

/// As many come out as go in, so counting shows nothing; that they are not the same ones does.
#[test]
fn a_duplicate_that_hides_a_loss_is_reported() {
    let queue = Swaps { queue: SegQueue::new(), kept: Mutex::new(None), calls: AtomicU64::new(0) };
    let queue: Queue<u64, Swaps> = Queue::wrap(queue);
    (0..4).for_each(|i| queue.push(i));
    std::thread::scope(|scope| {
        scope.spawn(|| queue.pop());
        scope.spawn(|| queue.pop());
    });
    assert_ne!(queue.report().verdict(), Verdict::NothingWrong, "two are inside, and nobody knows which");
    while queue.pop().is_some() {}
    assert_eq!(queue.report().verdict(), Verdict::Fail);
}

/// An operation that panics may have happened or not.
struct Panics(SegQueue<Stamped<u64>>);

impl PushPop<Stamped<u64>> for Panics {
    fn push(&self, value: Stamped<u64>) {
        self.0.push(value);
    }

    fn pop(&self) -> Option<Stamped<u64>> {
        let popped = self.0.pop();
        assert!(popped.is_none() || self.0.len() % 2 == 1, "it took a value, and nobody has it");
        popped
    }
}

#[test]
fn an_operation_that_panics_is_no_alarm() {
    let queue: Queue<u64, Panics> = Queue::wrap(Panics(SegQueue::new()));
    (0..2_000).for_each(|i| queue.push(i));
    for _ in 0..2_000 {
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| queue.pop()));
    }
    queue.examine();
    let report = queue.report();
    assert_eq!((report.violations(), report.verdict()), (&[][..], Verdict::Unknown));
}
