//! What watching costs: crossbeam's `SegQueue` bare, with the exact FIFO rule, and with A_2 counters, in one run.
//!
//! ```text
//! cargo run --release -p selvedge-monitor --example overhead -- [operations a thread] [rounds]
//! ```
//!
//! Two threads push and pop in a loop. Rounds alternate, so that what else the machine does hits all alike; the ratio is that of the medians.

use std::sync::Barrier;
use std::time::Instant;

use crossbeam_queue::SegQueue;
use selvedge_monitor::{CountedQueue, Queue};

/// Nanoseconds an operation, of the slower of two threads.
fn run(operations: u64, push_pop: impl Fn(u64) -> u64 + Sync) -> f64 {
    let barrier = Barrier::new(2);
    let one = |thread: u64| {
        barrier.wait();
        let begun = Instant::now();
        let mut sum = 0u64;
        for i in 0..operations / 2 {
            sum = sum.wrapping_add(push_pop(thread << 40 | i));
        }
        std::hint::black_box(sum);
        begun.elapsed().as_nanos() as f64 / operations as f64
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(|| one(1));
        let mine = one(0);
        mine.max(other.join().expect("it does not panic"))
    })
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>().expect("a number"));
    let operations = arguments.next().unwrap_or(400_000);
    let rounds = arguments.next().unwrap_or(21);
    let mut times = [const { Vec::new() }; 3];
    let (mut violations, mut unchecked) = (0, 0);
    for _ in 0..rounds {
        let bare = SegQueue::new();
        times[0].push(run(operations, |value| {
            bare.push(value);
            bare.pop().unwrap_or(0)
        }));
        let exact = Queue::wrap(SegQueue::new());
        times[1].push(run(operations, |value| {
            exact.push(value);
            exact.pop().unwrap_or(0)
        }));
        let counted = CountedQueue::wrap(SegQueue::new(), 2);
        times[2].push(run(operations, |value| {
            counted.push(value);
            counted.pop().unwrap_or(0)
        }));
        for report in [exact.report(), counted.report()] {
            violations += report.total();
            unchecked += report.unchecked();
        }
    }
    let [bare, exact, counted] = times.map(median);
    println!("bare SegQueue        {bare:7.1} ns an operation");
    println!("exact FIFO rule      {exact:7.1} ns an operation, {:.2} times", exact / bare);
    println!("A_2 counters         {counted:7.1} ns an operation, {:.2} times", counted / bare);
    println!("{violations} violations, {unchecked} operations unchecked");
}
