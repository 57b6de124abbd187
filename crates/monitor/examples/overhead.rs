//! What watching costs: crossbeam's `SegQueue` bare, with the exact FIFO rule, and with A_2 counters, in one run.
//!
//! ```text
//! cargo run --release -p selvedge-monitor --example overhead -- [operations a thread] [rounds]
//! ```
//!
//! Two threads push and pop in a loop: numbers of 8 bytes, then messages of 32 and 64 bytes, beside which the stamp of a value is less. Rounds alternate, so that what else the machine does hits all alike; the ratio is that of the medians.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Instant;

use crossbeam_queue::SegQueue;
use selvedge_monitor::{CountedQueue, Queue};

/// Nanoseconds an operation of one thread. One copy of it for each queue, so that the compiler treats all queues alike.
#[inline(never)]
fn one(operations: u64, thread: u64, push_pop: &impl Fn(u64) -> u64) -> f64 {
    let begun = Instant::now();
    let mut sum = 0u64;
    for i in 0..operations / 2 {
        sum = sum.wrapping_add(push_pop(thread << 40 | i));
    }
    std::hint::black_box(sum);
    begun.elapsed().as_nanos() as f64 / operations as f64
}

/// Nanoseconds an operation, of the slower of two threads, and of one alone.
fn run(operations: u64, push_pop: impl Fn(u64) -> u64 + Sync) -> [f64; 2] {
    let barrier = Barrier::new(2);
    let both = |thread: u64| {
        barrier.wait();
        one(operations, thread, &push_pop)
    };
    let slower = std::thread::scope(|scope| {
        let other = scope.spawn(|| both(1));
        both(0).max(other.join().expect("it does not panic"))
    });
    [slower, one(operations, 0, &push_pop)]
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// What goes through a queue.
trait Message: Copy + Send + 'static {
    fn new(value: u64) -> Self;

    fn number(self) -> u64;
}

impl Message for u64 {
    fn new(value: u64) -> Self {
        value
    }

    fn number(self) -> u64 {
        self
    }
}

impl<const WORDS: usize> Message for [u64; WORDS] {
    fn new(value: u64) -> Self {
        std::array::from_fn(|at| value.wrapping_add(at as u64))
    }

    fn number(self) -> u64 {
        self.iter().fold(0, |sum, word| sum.wrapping_add(*word))
    }
}

/// A value with a number beside it, and a number that all threads add to: what any watcher of this kind needs at least.
struct Floor<M> {
    queue: SegQueue<(M, u64)>,
    clock: Line,
}

#[derive(Default)]
#[repr(align(128))]
struct Line(AtomicU64);

impl<M: Message> Floor<M> {
    fn push_pop(&self, value: u64) -> u64 {
        self.queue.push((M::new(value), self.clock.0.load(SeqCst)));
        let returned = self.clock.0.fetch_add(1, SeqCst);
        let called = self.clock.0.load(SeqCst);
        self.queue
            .pop()
            .map_or(0, |(message, stamp)| message.number().wrapping_add(u64::from(stamp > called || returned > called)))
    }
}

/// What was found, which should be nothing.
#[derive(Default)]
struct Found {
    violations: u64,
    unchecked: u64,
}

fn measure<M: Message>(operations: u64, rounds: u64, found: &mut Found) {
    let mut times = [const { Vec::new() }; 5];
    for _ in 0..rounds {
        let bare = SegQueue::new();
        times[0].push(run(operations, |value| {
            bare.push(M::new(value));
            bare.pop().map_or(0, M::number)
        }));
        let beside = SegQueue::new();
        times[1].push(run(operations, |value| {
            beside.push((M::new(value), value));
            beside.pop().map_or(0, |(message, beside)| message.number() ^ beside)
        }));
        let floor = Floor { queue: SegQueue::<(M, u64)>::new(), clock: Line::default() };
        times[2].push(run(operations, |value| floor.push_pop(value)));
        let exact = Queue::wrap(SegQueue::new());
        times[3].push(run(operations, |value| {
            exact.push(M::new(value));
            exact.pop().map_or(0, M::number)
        }));
        let counted = CountedQueue::wrap(SegQueue::new(), 2);
        times[4].push(run(operations, |value| {
            counted.push(M::new(value));
            counted.pop().map_or(0, M::number)
        }));
        for report in [exact.report(), counted.report()] {
            found.violations += report.total();
            found.unchecked += report.unchecked();
        }
    }
    let times = times.map(|times| [0, 1].map(|of| median(times.iter().map(|time| time[of]).collect())));
    println!("{:2} bytes, ns an operation         two threads     one alone", size_of::<M>());
    let names = ["bare SegQueue", "a number beside", "and a shared clock", "exact FIFO rule", "A_2 counters"];
    for (name, [both, alone]) in names.iter().zip(times) {
        let [bare, bare_alone] = times[0];
        println!("{name:20} {both:12.1}  {:5.2} {alone:12.1}  {:5.2}", both / bare, alone / bare_alone);
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>().expect("a number"));
    let operations = arguments.next().unwrap_or(400_000);
    let rounds = arguments.next().unwrap_or(21);
    let mut found = Found::default();
    measure::<u64>(operations, rounds, &mut found);
    measure::<[u64; 4]>(operations, rounds, &mut found);
    measure::<[u64; 8]>(operations, rounds, &mut found);
    println!("{} violations, {} operations unchecked", found.violations, found.unchecked);
}
