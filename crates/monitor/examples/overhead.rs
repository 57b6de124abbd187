//! What watching costs: crossbeam's `SegQueue` bare, with the exact FIFO rule, and with A_2 counters, in one run.
//!
//! ```text
//! cargo run --release -p selvedge-monitor --example overhead -- [operations a thread] [rounds]
//! ```
//!
//! Two threads push and pop in a loop: numbers of 8 bytes, then messages of 32 and 64 bytes. Rounds are short and alternate, so that what else the machine does hits all alike; the ratio is that of the medians.

use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Instant;

use crossbeam_queue::SegQueue;
use selvedge_monitor::{CountedQueue, PushPop, Queue};

/// crossbeam's queue, called as one calls what is too large to be inlined. Without this the compiler puts it in the loop where it is used once, and calls it where it is
/// used twice, and the rows differ by that. There are several copies of the code, which differ in where in memory they happen to be: that alone makes a tenth.
#[repr(C)]
struct Called<T, const COPY: usize> {
    /// So that the copies are not taken for the same.
    before: [Line; COPY],
    queue: SegQueue<T>,
}

impl<T, const COPY: usize> Called<T, COPY> {
    fn new() -> Self {
        Called { before: [const { Line(AtomicU64::new(0)) }; COPY], queue: SegQueue::new() }
    }
}

impl<T, const COPY: usize> PushPop<T> for Called<T, COPY> {
    #[inline(never)]
    fn push(&self, value: T) {
        self.queue.push(value);
    }

    #[inline(never)]
    fn pop(&self) -> Option<T> {
        self.queue.pop()
    }
}

/// Nanoseconds an operation of one thread. One copy of it for each queue, so that the compiler treats all queues alike.
#[inline(never)]
fn one(operations: u64, thread: u64, push_pop: &impl Fn(u64) -> u64) -> f64 {
    let begun = Instant::now();
    let mut sum = 0u64;
    for i in 0..operations / 2 {
        sum = sum.wrapping_add(push_pop(thread << 40 | i));
    }
    black_box(sum);
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
struct Floor<M, const COPY: usize> {
    queue: Called<(M, u64), COPY>,
    clock: Line,
}

#[derive(Default)]
#[repr(align(128))]
struct Line(AtomicU64);

impl<M: Message, const COPY: usize> Floor<M, COPY> {
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

/// Times of two threads and of one alone, of each row.
type Times = [Vec<[f64; 2]>; 5];

/// One round of all rows.
fn round<M: Message, const COPY: usize>(operations: u64, times: &mut Times, found: &mut Found) {
    let bare = Called::<_, COPY>::new();
    times[0].push(run(operations, |value| {
        bare.push(M::new(value));
        bare.pop().map_or(0, M::number)
    }));
    let beside = Called::<_, COPY>::new();
    times[1].push(run(operations, |value| {
        beside.push((M::new(value), value));
        beside.pop().map_or(0, |(message, beside)| message.number() ^ beside)
    }));
    let floor = Floor { queue: Called::<(M, u64), COPY>::new(), clock: Line::default() };
    times[2].push(run(operations, |value| floor.push_pop(value)));
    let exact = Queue::wrap(Called::<_, COPY>::new());
    times[3].push(run(operations, |value| {
        exact.push(M::new(value));
        exact.pop().map_or(0, M::number)
    }));
    let counted = CountedQueue::wrap(Called::<_, COPY>::new(), 2);
    times[4].push(run(operations, |value| {
        counted.push(M::new(value));
        counted.pop().map_or(0, M::number)
    }));
    for report in [exact.report(), counted.report()] {
        found.violations += report.total();
        found.unchecked += report.unchecked();
    }
}

fn measure<M: Message>(operations: u64, rounds: u64, found: &mut Found) {
    let mut times = Times::default();
    for number in 0..rounds {
        let round = [round::<M, 0>, round::<M, 1>, round::<M, 2>, round::<M, 3>, round::<M, 4>][number as usize % 5];
        round(operations, &mut times, found);
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
    let operations = arguments.next().unwrap_or(50_000);
    let rounds = arguments.next().unwrap_or(200);
    let mut found = Found::default();
    measure::<u64>(operations, rounds, &mut found);
    measure::<[u64; 4]>(operations, rounds, &mut found);
    measure::<[u64; 8]>(operations, rounds, &mut found);
    println!("{} violations, {} operations unchecked", found.violations, found.unchecked);
}
