//! How long it takes to decide quasi linearizability, by length, threads and factor: runs a real relaxed queue on real
//! threads, decides what was recorded, prints a table and draws a plot.
//!
//! ```text
//! cargo run --release -p selvedge-history --example quasi_growth -- docs/quasi-growth.svg
//! ```

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Barrier, Mutex};
use std::time::Instant;

use selvedge_history::object::Kind;
use selvedge_history::quasi::{Relaxation, Rules, check};
use selvedge_history::{Budget, Call, Log, LogRecorder, Value, Verdict};

/// A queue of segments: a removal takes any value of the first segment, so no value is more than the size of a segment less
/// one from its place.
struct Segmented {
    segments: Mutex<VecDeque<Vec<i64>>>,
    last: Mutex<usize>,
    size: usize,
}

impl Segmented {
    fn new(size: usize) -> Self {
        Segmented { segments: Mutex::new(VecDeque::new()), last: Mutex::new(0), size }
    }

    fn enq(&self, value: i64) {
        let (mut segments, mut last) = (self.segments.lock().unwrap(), self.last.lock().unwrap());
        if segments.is_empty() || *last == self.size {
            segments.push_back(Vec::new());
            *last = 0;
        }
        *last += 1;
        segments.back_mut().expect("one was added").push(value);
    }

    fn deq(&self, draw: usize) -> Option<i64> {
        let mut segments = self.segments.lock().unwrap();
        while segments.front()?.is_empty() {
            segments.pop_front();
        }
        let first = segments.front_mut()?;
        Some(first.swap_remove(draw % first.len()))
    }
}

/// One operation: the argument of an insertion, when it was called, when it returned and with what.
type Recorded = (Option<i64>, i64, i64, Option<i64>);

/// Runs the queue; two of three operations of the first half are insertions, one of three of the second.
fn record(operations: usize, threads: usize, factor: usize, seed: u64) -> Log {
    let queue = Segmented::new(factor + 1);
    let clock = AtomicI64::new(0);
    let start = Barrier::new(threads);
    let tick = || clock.fetch_add(1, Ordering::SeqCst);
    let run = |thread: usize| {
        let mut seed = seed ^ (thread as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut draw = move || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed as usize
        };
        let each = operations / threads;
        start.wait();
        let one = |i: usize| -> Recorded {
            let inserts = if i < each / 2 { draw() % 3 > 0 } else { draw() % 3 == 0 };
            let value = inserts.then_some((thread * operations + i) as i64);
            let call = tick();
            std::thread::yield_now();
            let result = match value {
                Some(value) => {
                    queue.enq(value);
                    None
                }
                None => queue.deq(draw()),
            };
            std::thread::yield_now();
            (value, call, tick(), result)
        };
        (0..each).map(one).collect::<Vec<_>>()
    };
    let recorded: Vec<Vec<Recorded>> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|thread| scope.spawn(move || run(thread))).collect();
        running.into_iter().map(|thread| thread.join().expect("the queue does not panic")).collect()
    });
    let mut recorder = LogRecorder::new();
    let (enq, deq, object) = (recorder.symbol("enq"), recorder.symbol("deq"), recorder.symbol(""));
    for (value, call, ret, result) in recorded.into_iter().flatten() {
        let method = if value.is_some() { enq } else { deq };
        let argument = value.map_or(Value::Nil, Value::Int);
        let result = result.map_or(Value::Nil, Value::Int);
        recorder.interval(0, Call { object, key: Value::Nil, method, argument }, call, Some((ret, result)));
    }
    recorder.finish(None).expect("what was recorded is a history")
}

/// Milliseconds and configurations to decide it, the median of three runs.
fn measure(operations: usize, threads: usize, factor: usize) -> (f64, u64) {
    let mut all: Vec<(f64, u64)> = (1..=3)
        .map(|seed| {
            let log = record(operations, threads, factor, seed);
            let relaxation = Relaxation::parse(&format!("deq={factor},deq:empty=0")).expect("a relaxation");
            let begun = Instant::now();
            let answer = check(&log, Kind::Queue, None, &relaxation, &Rules::default(), &Budget::new());
            let answer = answer.expect("calls of a queue");
            let taken = begun.elapsed().as_secs_f64() * 1e3;
            assert!(matches!(answer.verdict, Verdict::Pass(_)), "a segmented queue is quasi linearizable");
            (taken, answer.states)
        })
        .collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all[1]
}

/// One panel of the plot: what varies, and the points.
struct Panel {
    title: String,
    axis: &'static str,
    points: Vec<(usize, f64, u64)>,
}

/// Both axes are logarithmic.
fn draw(panels: &[Panel]) -> String {
    let (width, height, margin) = (260.0, 200.0, 46.0);
    let total = width * panels.len() as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {total} {height}\" font-family=\"sans-serif\" \
         font-size=\"10\">\n<rect width=\"{total}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    let most = panels.iter().flat_map(|panel| &panel.points).map(|point| point.1).fold(1.0, f64::max).log10().ceil();
    for (i, panel) in panels.iter().enumerate() {
        let left = width * i as f64 + margin;
        let (bottom, inner, tall) = (height - 34.0, width - margin - 14.0, height - 34.0 - 24.0);
        let first = (panel.points[0].0 as f64).log2();
        let span = ((panel.points[panel.points.len() - 1].0 as f64).log2() - first).max(1.0);
        let x = |value: usize| left + inner * ((value as f64).log2() - first) / span;
        let y = |value: f64| bottom - tall * ((value.max(0.1).log10() + 1.0) / (most + 1.0));
        let _ = writeln!(svg, "<text x=\"{left}\" y=\"14\">{}</text>", panel.title);
        for decade in -1..=most as i32 {
            let (at, label) = (y(10f64.powi(decade)), 10f64.powi(decade));
            let end = left + inner;
            let _ = writeln!(svg, "<path d=\"M{left:.1} {at:.1}H{end:.1}\" stroke=\"#ddd\"/>");
            let _ = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label} ms</text>",
                left - 4.0,
                at + 3.0
            );
        }
        let line: Vec<String> = panel.points.iter().map(|p| format!("{:.1},{:.1}", x(p.0), y(p.1))).collect();
        let _ = writeln!(svg, "<polyline points=\"{}\" fill=\"none\" stroke=\"#1565c0\"/>", line.join(" "));
        for point in &panel.points {
            let (x, y) = (x(point.0), y(point.1));
            let _ = writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\" fill=\"#1565c0\"/>");
            let _ = writeln!(
                svg,
                "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                bottom + 13.0,
                point.0
            );
        }
        let middle = left + inner / 2.0;
        let _ = writeln!(
            svg,
            "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            bottom + 27.0,
            panel.axis
        );
    }
    svg.push_str("</svg>\n");
    svg
}

fn main() {
    let path = std::env::args().nth(1).unwrap_or_else(|| "quasi-growth.svg".to_owned());
    let panel = |title: &str, axis, sizes: &[usize], shape: &dyn Fn(usize) -> (usize, usize, usize)| {
        println!("| {axis} | ms | configurations |\n|---|---|---|");
        let point = |&size: &usize| {
            let (operations, threads, factor) = shape(size);
            let (taken, states) = measure(operations, threads, factor);
            println!("| {size} | {taken:.1} | {states} |");
            (size, taken, states)
        };
        let points = sizes.iter().map(point).collect();
        println!();
        Panel { title: title.to_owned(), axis, points }
    };
    let panels = [
        panel("4 threads, K = 4", "operations", &[250, 500, 1000, 2000, 4000, 8000], &|n| (n, 4, 4)),
        panel("2000 operations, K = 4", "threads", &[1, 2, 4, 8], &|threads| (2000, threads, 4)),
        panel("2000 operations, 4 threads", "K", &[1, 2, 4, 8], &|factor| (2000, 4, factor)),
    ];
    std::fs::write(&path, draw(&panels)).expect("the plot can be written");
    println!("the plot is in {path}");
}
