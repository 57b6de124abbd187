//! Operation counting on a history of 200,000 operations at k = 2: the formula of a kernel, and the formulas of the built-in objects.
//!
//! `cargo bench -p selvedge-history --bench counting`. Theorem 6 makes the size of a kernel's formula independent of the length of the history: what
//! is measured is mostly putting the operations into intervals. The goal is 50 ms. Processor time is measured where the system tells it (Linux), so that others on the
//! machine do not count.

use std::time::Instant;

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use selvedge_history::counting::kernel::{Formula, Grammar, builtin, check};
use selvedge_history::counting::{Approximator, Label, Prefixes};
use selvedge_history::object::Kind;
use selvedge_history::{Budget, Call, Log, LogRecorder, Outcome};

/// Processor time of this thread, or else time.
struct ProcessorTime;

/// Nanoseconds that this thread has run, as Linux tells it.
fn running() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

impl Measurement for ProcessorTime {
    type Intermediate = (Instant, Option<u64>);
    type Value = u64;

    fn start(&self) -> Self::Intermediate {
        (Instant::now(), running())
    }

    fn end(&self, (begun, before): Self::Intermediate) -> u64 {
        match (before, running()) {
            (Some(before), Some(now)) => now.saturating_sub(before),
            _ => begun.elapsed().as_nanos() as u64,
        }
    }

    fn add(&self, one: &u64, other: &u64) -> u64 {
        one + other
    }

    fn zero(&self) -> u64 {
        0
    }

    fn to_f64(&self, nanoseconds: &u64) -> f64 {
        *nanoseconds as f64
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        // It counts in nanoseconds too.
        const WALL: WallTime = WallTime;
        WALL.formatter()
    }
}

const OPERATIONS: usize = 200_000;
const K: usize = 2;

/// Labels by turns, each operation overlapping the next; more of the last at the end. If the values are `distinct`, each pair has another one.
fn log(labels: [&str; 2], more: usize, distinct: bool) -> Log {
    let labels = labels.map(|label| Label::parse(label).expect("a label"));
    let mut recorder = LogRecorder::new();
    let mut line = 0;
    let mut open = None;
    for i in 0..OPERATIONS + more {
        let mut label = labels[if i < OPERATIONS { i % 2 } else { 1 }].clone();
        if distinct {
            let value = selvedge_history::Value::Int(i as i64 / 2);
            if i % 2 == 0 {
                label.argument = value;
            } else {
                label.result = Some(value);
            }
        }
        let thread = selvedge_history::Value::Int((i % 2) as i64);
        let (object, method) = (recorder.symbol(""), recorder.symbol(&label.method));
        let call = Call { object, method, key: selvedge_history::Value::Nil, argument: label.argument.clone() };
        recorder.call(line, &thread, call).expect("the thread is idle");
        if let Some((thread, result)) = open.replace((thread, label.result.clone().unwrap_or_default())) {
            recorder.outcome(line, &thread, None, Outcome::Return(result)).expect("the thread is busy");
        }
        line += 1;
    }
    if let Some((thread, result)) = open {
        recorder.outcome(line, &thread, None, Outcome::Return(result)).expect("the thread is busy");
    }
    recorder.finish(None).expect("a history")
}

fn kernels(c: &mut Criterion<ProcessorTime>) {
    let mut group = c.benchmark_group("kernel, 200,000 operations, k=2");
    group.sample_size(20);
    let semaphore = builtin::bounded_semaphore(2);
    for (name, grammar, labels) in [
        ("mutex", builtin::MUTEX, ["acquire", "release"]),
        ("semaphore(2)", &semaphore, ["acquire", "release"]),
        ("rwlock", builtin::RWLOCK, ["read_acquire", "read_release"]),
        ("counter", builtin::COUNTER, ["inc", "dec"]),
    ] {
        for (verdict, more) in [("right", 0), ("wrong", 3)] {
            let log = log(labels, more, false);
            // A formula remembers what it decided: each round has one of its own.
            let formula = || Formula::new(Grammar::parse(grammar).expect("a grammar"), K).expect("it is small");
            let look = |formula: Formula| {
                let answer = check(&log, &formula, Prefixes::Whole, &Budget::new()).expect("the kernel has the labels");
                assert_eq!(answer.violation.is_some(), more > 0);
            };
            group
                .bench_function(format!("{name}, {verdict}"), |b| b.iter_batched(formula, look, BatchSize::SmallInput));
        }
    }
}

fn objects(c: &mut Criterion<ProcessorTime>) {
    let mut group = c.benchmark_group("object, 200,000 operations, k=2");
    group.sample_size(20);
    for (kind, labels, distinct) in [
        (Kind::Queue, ["enq(1)", "deq -> 1"], false),
        (Kind::Stack, ["push(1)", "pop -> 1"], false),
        (Kind::Set, ["add(1) -> true", "remove(1) -> true"], false),
        (Kind::Register, ["write(1)", "read -> 1"], false),
        (Kind::Mutex, ["acquire", "release"], false),
        (Kind::Queue, ["enq(1)", "deq -> 1"], true),
        (Kind::Stack, ["push(1)", "pop -> 1"], true),
        (Kind::PriorityQueue, ["insert(1)", "poll -> 1"], true),
        (Kind::Bag, ["add(1)", "remove -> 1"], true),
        (Kind::Register, ["write(1)", "read -> 1"], true),
    ] {
        let log = log(labels, 0, distinct);
        let name = if distinct { format!("{}, distinct values", kind.name()) } else { kind.name().to_owned() };
        let counting = || Approximator::new(kind, K).expect("k is small");
        let look = |mut counting: Approximator| {
            let answer = counting.look(&log, None, Prefixes::Whole, &Budget::new()).expect("the log fits");
            assert_eq!(answer.violation, None);
        };
        group.bench_function(name, |b| b.iter_batched(counting, look, BatchSize::SmallInput));
    }
}

criterion_group!(name = benches; config = Criterion::default().with_measurement(ProcessorTime); targets = kernels, objects);
criterion_main!(benches);
