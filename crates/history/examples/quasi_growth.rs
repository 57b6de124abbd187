//! How long it takes to decide quasi linearizability, by length, threads and factor: runs a real relaxed queue on real
//! threads, decides what was recorded, prints a table and draws a plot.
//!
//! ```text
//! cargo run --release -p selvedge-history --example quasi_growth -- docs/quasi-growth.svg
//! ```
//!
//! With `--log FILE` it writes one recorded history of 2,000 operations, 4 threads, K = 4 instead, for `selvedge check`.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Barrier, mpsc};
use std::time::{Duration, Instant};

use selvedge_history::generate::Random;
use selvedge_history::object::Kind;
use selvedge_history::quasi::{Relaxation, Rules, check};
use selvedge_history::{Budget, Call, Limit, Log, LogRecorder, Value, Verdict};

/// Nobody has put anything in yet.
const FREE: i64 = 0;
/// What was in has been taken out.
const TAKEN: i64 = -1;

/// A queue without locks whose slots come in segments (a k-FIFO queue; Kirsch, Lippautz and Payer, 2013). A value goes into
/// any free slot of the last segment and is taken from any slot of the first that has one, so none is more than the size of
/// a segment less one from its place. Slots are not used again, which leaves nothing to reclaim.
struct Segmented {
    slots: Vec<AtomicI64>,
    /// The first segment that may have values.
    head: AtomicUsize,
    /// The segment that values go into.
    tail: AtomicUsize,
    size: usize,
}

impl Segmented {
    /// Room for so many insertions.
    fn new(size: usize, insertions: usize) -> Self {
        let segments = insertions / size + 2;
        let slots = (0..segments * size).map(|_| AtomicI64::new(FREE)).collect();
        Segmented { slots, head: AtomicUsize::new(0), tail: AtomicUsize::new(0), size }
    }

    fn segment(&self, number: usize, from: usize) -> impl Iterator<Item = &AtomicI64> {
        let base = number * self.size;
        (0..self.size).map(move |i| &self.slots[base + (from + i) % self.size])
    }

    fn look(&self, number: usize) -> Vec<i64> {
        self.segment(number, 0).map(|slot| slot.load(Ordering::SeqCst)).collect()
    }

    fn enq(&self, value: i64, draw: usize) {
        loop {
            let tail = self.tail.load(Ordering::SeqCst);
            for slot in self.segment(tail, draw % self.size) {
                if slot.compare_exchange(FREE, value, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
                    return;
                }
            }
            let _ = self.tail.compare_exchange(tail, tail + 1, Ordering::SeqCst, Ordering::SeqCst);
        }
    }

    fn deq(&self, draw: usize) -> Option<i64> {
        loop {
            let head = self.head.load(Ordering::SeqCst);
            for slot in self.segment(head, draw % self.size) {
                let value = slot.load(Ordering::SeqCst);
                if value > FREE && slot.compare_exchange(value, TAKEN, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
                    return Some(value);
                }
            }
            // A slot never goes back, so what is seen twice was so in between.
            let seen = self.look(head);
            let is_last = self.tail.load(Ordering::SeqCst) == head;
            if seen.iter().any(|&value| value > FREE) || seen != self.look(head) {
                continue;
            }
            if is_last {
                return None;
            }
            // The next segment is in use, so this one was full, and all of it has been taken out.
            let _ = self.head.compare_exchange(head, head + 1, Ordering::SeqCst, Ordering::SeqCst);
        }
    }
}

/// One operation: the argument of an insertion, when it was called, when it returned and with what.
type Recorded = (Option<i64>, i64, i64, Option<i64>);

/// Runs the queue; two of three operations of the first half are insertions, one of three of the second.
fn record(operations: usize, threads: usize, factor: usize, seed: u64) -> Vec<Recorded> {
    let queue = Segmented::new(factor + 1, operations);
    let clock = AtomicI64::new(0);
    let start = Barrier::new(threads);
    let tick = || clock.fetch_add(1, Ordering::SeqCst);
    let run = |thread: usize| {
        let mut random = Random::new(seed ^ (thread as u64) << 32);
        let mut draw = move || random.next() as usize;
        let each = operations / threads;
        start.wait();
        let one = |i: usize| -> Recorded {
            let inserts = if i < each / 2 { draw() % 3 > 0 } else { draw() % 3 == 0 };
            let value = inserts.then_some((thread * operations + i + 1) as i64);
            let call = tick();
            std::thread::yield_now();
            let result = match value {
                Some(value) => {
                    queue.enq(value, draw());
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
        let run = &run;
        let running: Vec<_> = (0..threads).map(|thread| scope.spawn(move || run(thread))).collect();
        running.into_iter().map(|thread| thread.join().expect("the queue does not panic")).collect()
    });
    let mut recorded: Vec<Recorded> = recorded.into_iter().flatten().collect();
    recorded.sort_by_key(|one| one.1);
    recorded
}

/// Two removals near the end exchange what they found, and are then too far from their places.
fn spoil(recorded: &mut [Recorded], threads: usize, factor: usize) {
    let removals: Vec<usize> = (recorded.len() * 8 / 10..recorded.len()).filter(|&i| recorded[i].3.is_some()).collect();
    let (one, other) = (removals[0], removals[3 * (factor + 1) + 2 * threads]);
    let found = recorded[one].3;
    recorded[one].3 = recorded[other].3;
    recorded[other].3 = found;
}

fn log(recorded: &[Recorded]) -> Log {
    let mut recorder = LogRecorder::new();
    let (enq, deq, object) = (recorder.symbol("enq"), recorder.symbol("deq"), recorder.symbol(""));
    for &(value, call, ret, result) in recorded {
        let method = if value.is_some() { enq } else { deq };
        let argument = value.map_or(Value::Nil, Value::Int);
        let result = result.map_or(Value::Nil, Value::Int);
        recorder.interval(0, Call { object, key: Value::Nil, method, argument }, call, Some((ret, result)));
    }
    recorder.finish(None).expect("what was recorded is a history")
}

/// How long this thread has run, in milliseconds; where the system does not tell, how long ago it began.
fn clock(begun: Instant) -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let told = told.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    told.map_or_else(|| begun.elapsed().as_secs_f64() * 1e3, |nanoseconds| nanoseconds / 1e6)
}

/// Milliseconds and configurations.
type Taken = (f64, u64);

/// How long a history may take.
const TIME_MAX: Duration = Duration::from_secs(60);

/// Decides a history, which is known to pass or not. Without an answer within the time it took for ever.
fn decide(log: &Log, factor: usize, passes: bool) -> Taken {
    let relaxation = Relaxation::parse(&format!("deq={factor}")).expect("a relaxation");
    let budget = Budget::new();
    let (done, is_done) = mpsc::channel::<()>();
    let timer = {
        let budget = budget.clone();
        std::thread::spawn(move || {
            if is_done.recv_timeout(TIME_MAX).is_err() {
                budget.spend(Limit::Time);
            }
        })
    };
    let begun = Instant::now();
    let before = clock(begun);
    let answer = check(log, Kind::Queue, None, &relaxation, &Rules::default(), &budget).expect("calls of a queue");
    let taken = clock(begun) - before;
    let _ = done.send(());
    timer.join().expect("a timer does not panic");
    match answer.verdict {
        Verdict::Unknown(_) => (f64::INFINITY, answer.states),
        verdict => {
            assert_eq!(passes, matches!(verdict, Verdict::Pass(_)));
            (taken, answer.states)
        }
    }
}

/// What it takes to decide runs of the queue, as they were and spoilt: the median of three runs.
fn measure(operations: usize, threads: usize, factor: usize) -> [Taken; 2] {
    let mut all = [Vec::new(), Vec::new()];
    for seed in 1..=3 {
        let mut recorded = record(operations, threads, factor, seed);
        all[0].push(decide(&log(&recorded), factor, true));
        spoil(&mut recorded, threads, factor);
        all[1].push(decide(&log(&recorded), factor, false));
    }
    all.map(|mut all| {
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all[1]
    })
}

/// One panel of the plot: what varies, and what it took to pass and to fail.
struct Panel {
    title: String,
    axis: &'static str,
    points: Vec<(usize, [Taken; 2])>,
}

const COLOURS: [(&str, &str); 2] = [("passes", "#1565c0"), ("fails", "#c62828")];

/// Both axes are logarithmic.
fn draw(panels: &[Panel]) -> String {
    let (width, height) = (260.0, 200.0);
    let total = width * panels.len() as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {total} {height}\" font-family=\"sans-serif\" \
         font-size=\"10\">\n<rect width=\"{total}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    let times = panels.iter().flat_map(|panel| &panel.points).flat_map(|(_, taken)| taken.map(|taken| taken.0));
    let most = times.filter(|time| time.is_finite()).fold(1.0, f64::max).log10().ceil();
    for (i, panel) in panels.iter().enumerate() {
        panel.draw(&mut svg, width * i as f64, (width, height), most);
    }
    svg.push_str("</svg>\n");
    svg
}

impl Panel {
    fn draw(&self, svg: &mut String, from: f64, (width, height): (f64, f64), most: f64) {
        let margin = 50.0;
        let left = from + margin;
        let (bottom, inner, tall) = (height - 34.0, width - margin - 14.0, height - 34.0 - 24.0);
        let first = (self.points[0].0 as f64).log2();
        let span = ((self.points[self.points.len() - 1].0 as f64).log2() - first).max(1.0);
        let x = |value: usize| left + inner * ((value as f64).log2() - first) / span;
        let y = |value: f64| bottom - tall * ((value.max(0.1).log10() + 1.0) / (most + 1.0));
        let _ = writeln!(svg, "<text x=\"{left}\" y=\"14\">{}</text>", self.title);
        for decade in -1..=most as i32 {
            let (at, label) = (y(10f64.powi(decade)), 10f64.powi(decade));
            let (end, before, below) = (left + inner, left - 4.0, at + 3.0);
            let _ = writeln!(svg, "<path d=\"M{left:.1} {at:.1}H{end:.1}\" stroke=\"#ddd\"/>");
            let _ = writeln!(svg, "<text x=\"{before:.1}\" y=\"{below:.1}\" text-anchor=\"end\">{label} ms</text>");
        }
        for (which, (name, colour)) in COLOURS.into_iter().enumerate() {
            let known = self.points.iter().filter(|(_, taken)| taken[which].0.is_finite());
            let points = known.map(|(size, taken)| (x(*size), y(taken[which].0)));
            let line: Vec<String> = points.clone().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            let _ = writeln!(svg, "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\"/>", line.join(" "));
            for (x, y) in points {
                let _ = writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\" fill=\"{colour}\"/>");
            }
            let (at, below) = (left + 6.0, 36.0 + 12.0 * which as f64);
            let _ = writeln!(svg, "<text x=\"{at:.1}\" y=\"{below:.1}\" fill=\"{colour}\">{name}</text>");
        }
        for (size, _) in &self.points {
            let (x, below) = (x(*size), bottom + 13.0);
            let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{below:.1}\" text-anchor=\"middle\">{size}</text>");
        }
        let (middle, below) = (left + inner / 2.0, bottom + 27.0);
        let _ = writeln!(svg, "<text x=\"{middle:.1}\" y=\"{below:.1}\" text-anchor=\"middle\">{}</text>", self.axis);
    }
}

/// One recorded history, as `selvedge check` reads it.
fn write_log(path: &str) {
    let mut events: Vec<(i64, String)> = Vec::new();
    let mut busy: Vec<i64> = Vec::new();
    for (value, call, ret, result) in record(2000, 4, 4, 1) {
        let thread = busy.iter().position(|&until| until < call).unwrap_or(busy.len());
        busy.resize(busy.len().max(thread + 1), 0);
        busy[thread] = ret;
        let called = match value {
            Some(value) => format!("{{\"call\":\"enq\",\"value\":{value},\"thread\":{thread}}}"),
            None => format!("{{\"call\":\"deq\",\"thread\":{thread}}}"),
        };
        let result = result.map_or("null".to_owned(), |value| value.to_string());
        events.push((call, called));
        events.push((ret, format!("{{\"return\":{result},\"thread\":{thread}}}")));
    }
    events.sort();
    let lines: String = events.into_iter().map(|(_, line)| line + "\n").collect();
    std::fs::write(path, lines).expect("the history can be written");
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = match (arguments.next().as_deref(), arguments.next()) {
        (Some("--log"), Some(path)) => return write_log(&path),
        (Some(path), _) => path.to_owned(),
        (None, _) => "quasi-growth.svg".to_owned(),
    };
    let panel = |title: &str, axis, sizes: &[usize], shape: &dyn Fn(usize) -> (usize, usize, usize)| {
        println!("| {axis} | passes: ms | configurations | fails: ms | configurations |\n|---|---|---|---|---|");
        let point = |&size: &usize| {
            let (operations, threads, factor) = shape(size);
            let taken = measure(operations, threads, factor);
            let told = taken.map(|(taken, states)| match taken.is_finite() {
                true => format!("{taken:.1} | {states}"),
                false => format!("over {} s | ", TIME_MAX.as_secs()),
            });
            println!("| {size} | {} |", told.join(" | "));
            (size, taken)
        };
        let points = sizes.iter().map(point).collect();
        println!();
        Panel { title: title.to_owned(), axis, points }
    };
    let panels = [
        panel("4 threads, K = 4", "operations", &[500, 1000, 2000, 4000, 8000], &|n| (n, 4, 4)),
        panel("2000 operations, K = 4", "threads", &[1, 2, 4, 8], &|threads| (2000, threads, 4)),
        panel("2000 operations, 4 threads", "K", &[1, 2, 4, 8], &|factor| (2000, 4, factor)),
    ];
    std::fs::write(&path, draw(&panels)).expect("the plot can be written");
    println!("the plot is in {path}");
}
