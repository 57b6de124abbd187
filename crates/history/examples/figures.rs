//! Figures 6 and 7 of "Tractable Refinement Checking for Concurrent Objects" for queues of our own: how many violations A_k shows for k up to 4, and what
//! counting costs beside enumerating linearizations.
//!
//! ```text
//! cargo run --release -p selvedge-history --example figures -- docs [6|7]
//! ```
//!
//! writes `counting-figure-6.svg` and `counting-figure-7.svg` into the directory and prints the tables of docs/counting-figures.md. The queues are step machines, a shared access a step. Executions that
//! lead to the same state with the same events go on together, so all of them are covered and counted without making each.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt::Write as _;
use std::time::Instant;

use selvedge_history::check::check;
use selvedge_history::counting::{Counting, Prefixes, Representation, approximate};
use selvedge_history::object::Kind;
use selvedge_history::{Budget, Call, Log, LogRecorder, Outcome, Symbol, Value, Verdict};

const PREEMPTIONS: usize = 5;
const K_MAX: usize = 4;
/// Up to so many operations linearizations are enumerated.
const ENUMERATED_MAX: usize = 20;
/// So many different violations of each point are looked at, at equal distances.
const VIOLATIONS_MAX: usize = 300;
/// So many nodes of the search are kept.
const NODES_MAX: usize = 3_000_000;

/// A queue with a bug, as steps on an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bug {
    /// `enq` reads the tail, and writes its value and the tail in another step.
    TornTail,
    /// `deq` reads the head and the value, and writes the head in another step.
    TornHead,
    /// Slots are taken by `enq` before they are filled; `deq` takes the first full one and answers empty when it met none.
    LateSlots,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Invocation {
    Enq(i64),
    Deq,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Shared {
    slots: Vec<i64>,
    head: usize,
    tail: usize,
}

/// One thread: which operation it is in, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Thread {
    operation: usize,
    place: usize,
    seen: usize,
}

/// Does one step; the result when the operation is over.
fn step(bug: Bug, shared: &mut Shared, invocation: Invocation, thread: &mut Thread) -> Option<Value> {
    thread.place += 1;
    match (bug, invocation, thread.place) {
        (Bug::TornTail, Invocation::Enq(_), 1) => {
            thread.seen = shared.tail;
            None
        }
        (Bug::TornTail, Invocation::Enq(value), _) => {
            shared.put(thread.seen, value);
            shared.tail = thread.seen + 1;
            Some(Value::Nil)
        }
        (Bug::LateSlots, Invocation::Enq(_), 1) => {
            thread.seen = shared.tail;
            shared.tail += 1;
            None
        }
        (Bug::LateSlots, Invocation::Enq(value), _) => {
            shared.put(thread.seen, value);
            Some(Value::Nil)
        }
        (Bug::LateSlots, Invocation::Deq, 1) => {
            thread.seen = shared.tail;
            None
        }
        (Bug::LateSlots, Invocation::Deq, place) => {
            let slot = place - 2;
            if slot >= thread.seen {
                return Some(Value::Nil);
            }
            let value = shared.slots.get_mut(slot).map_or(0, std::mem::take);
            (value != 0).then_some(Value::Int(value))
        }
        (Bug::TornHead, Invocation::Deq, 1) => {
            thread.seen = shared.head;
            (shared.head == shared.tail).then_some(Value::Nil)
        }
        (Bug::TornHead, Invocation::Deq, _) => {
            shared.head = thread.seen + 1;
            Some(Value::Int(shared.slots[thread.seen]))
        }
        (_, Invocation::Enq(value), _) => {
            shared.put(shared.tail, value);
            shared.tail += 1;
            Some(Value::Nil)
        }
        (_, Invocation::Deq, _) if shared.head >= shared.tail => Some(Value::Nil),
        (_, Invocation::Deq, _) => {
            shared.head += 1;
            Some(Value::Int(shared.slots[shared.head - 1]))
        }
    }
}

impl Shared {
    fn put(&mut self, slot: usize, value: i64) {
        if self.slots.len() <= slot {
            self.slots.resize(slot + 1, 0);
        }
        self.slots[slot] = value;
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Event {
    Call(usize, Option<i64>),
    Return(usize, Value),
}

/// Where an execution is, with what has happened and how many preemptions are left.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Node {
    shared: Shared,
    threads: Vec<Thread>,
    last: Option<usize>,
    left: usize,
    events: Vec<Event>,
}

struct Search<'a> {
    bug: Bug,
    matrix: &'a [Vec<Invocation>],
    histories: HashSet<Vec<Event>>,
    /// How many executions go on from a node.
    known: HashMap<Node, u64>,
}

impl Search<'_> {
    /// How many executions there are from here; nothing when there are too many nodes.
    fn explore(&mut self, node: Node) -> Option<u64> {
        if let Some(known) = self.known.get(&node) {
            return Some(*known);
        }
        if self.known.len() >= NODES_MAX {
            return None;
        }
        let live = |thread: usize| node.threads[thread].operation < self.matrix[thread].len();
        let able: Vec<usize> = (0..node.threads.len()).filter(|&thread| live(thread)).collect();
        if able.is_empty() {
            self.histories.insert(node.events);
            return Some(1);
        }
        let held = node.last.filter(|last| live(*last));
        let mut executions = 0;
        for thread in able {
            let preempts = held.is_some_and(|last| last != thread);
            if preempts && node.left == 0 {
                continue;
            }
            let mut next = node.clone();
            let own = &mut next.threads[thread];
            let invocation = self.matrix[thread][own.operation];
            if own.place == 0 {
                let value = if let Invocation::Enq(value) = invocation { Some(value) } else { None };
                next.events.push(Event::Call(thread, value));
            }
            if let Some(result) = step(self.bug, &mut next.shared, invocation, own) {
                next.events.push(Event::Return(thread, result));
                *own = Thread { operation: own.operation + 1, ..Thread::default() };
            }
            (next.last, next.left) = (Some(thread), node.left - usize::from(preempts));
            executions += self.explore(next)?;
        }
        self.known.insert(node, executions);
        Some(executions)
    }
}

fn log(events: &[Event]) -> Log {
    let mut recorder = LogRecorder::new();
    let (enq, deq) = (recorder.symbol("enq"), recorder.symbol("deq"));
    for (line, event) in (1..).zip(events) {
        match event {
            Event::Call(thread, value) => {
                let method = if value.is_some() { enq } else { deq };
                let argument = value.map_or(Value::Nil, Value::Int);
                let call = Call { object: Symbol::NONE, method, key: Value::Nil, argument };
                recorder.call(line, &Value::Int(*thread as i64), call).map(|_| ())
            }
            Event::Return(thread, value) => {
                recorder.outcome(line, &Value::Int(*thread as i64), None, Outcome::Return(value.clone())).map(|_| ())
            }
        }
        .expect("it is well-formed");
    }
    recorder.finish(None).expect("it is well-formed")
}

/// Two threads enqueue and two dequeue, as many in all as said.
fn split(enqueues: usize, dequeues: usize) -> Vec<Vec<Invocation>> {
    let mut matrix = vec![Vec::new(); 4];
    (0..enqueues).for_each(|i| matrix[i % 2].push(Invocation::Enq(i as i64 + 1)));
    (0..dequeues).for_each(|i| matrix[2 + i % 2].push(Invocation::Deq));
    matrix.retain(|thread| !thread.is_empty());
    matrix
}

/// Threads by turns enqueue and dequeue.
fn matrix(threads: usize, operations: usize) -> Vec<Vec<Invocation>> {
    let invocation = |thread: usize, i: usize| match (thread + i) % 2 {
        0 => Invocation::Enq((thread * operations + i + 1) as i64),
        _ => Invocation::Deq,
    };
    (0..threads).map(|thread| (0..operations).map(|i| invocation(thread, i)).collect()).collect()
}

/// What the executions of one point show.
#[derive(Clone, Debug, Default)]
struct Point {
    executions: u64,
    histories: usize,
    violations: usize,
    looked_at: usize,
    /// How many of those looked at A_k shows at some moment, for each k.
    seen: [usize; K_MAX + 1],
}

/// All executions with so many operations and up to so many preemptions; fewer preemptions where that is too much.
fn covered(bug: Bug, enqueues: usize, dequeues: usize) -> (usize, Point) {
    let matrix = split(enqueues, dequeues);
    let all = (0..=PREEMPTIONS).rev().find_map(|left| {
        let mut search = Search { bug, matrix: &matrix, histories: HashSet::new(), known: HashMap::new() };
        let start = Node { threads: vec![Thread::default(); matrix.len()], left, ..Node::default() };
        search.explore(start).map(|executions| (left, executions, search.histories))
    });
    let (preemptions, executions, histories) = all.expect("serial executions are few");
    let mut point = Point { executions, histories: histories.len(), ..Point::default() };
    let mut histories: Vec<Vec<Event>> = histories.into_iter().collect();
    histories.sort_by_cached_key(|events| format!("{events:?}"));
    let wrong: Vec<Log> = histories
        .iter()
        .map(|events| log(events))
        .filter(|log| {
            let answer = check(log, Kind::Queue, None, &Budget::new()).expect("it fits");
            matches!(answer.verdict, Verdict::Fail(_))
        })
        .collect();
    point.violations = wrong.len();
    for log in wrong.iter().step_by(wrong.len().div_ceil(VIOLATIONS_MAX).max(1)) {
        point.looked_at += 1;
        for (k, seen) in point.seen.iter_mut().enumerate() {
            let answer = approximate(log, Kind::Queue, None, k, Prefixes::AtMost(usize::MAX), &Budget::new());
            *seen += usize::from(answer.expect("it fits").violation.is_some());
        }
    }
    (preemptions, point)
}

/// The points of one queue, as rows of a table, and the sum of what was looked at.
fn coverage(bug: Bug, name: &str) -> Point {
    let mut sum = Point::default();
    for (enqueues, dequeues) in (1..=4).flat_map(|i| (1..=4).map(move |j| (i, j))) {
        let (preemptions, point) = covered(bug, enqueues, dequeues);
        let seen: Vec<String> = point.seen.iter().map(usize::to_string).collect();
        println!(
            "| {name} | {enqueues} + {dequeues} | {preemptions} | {} | {} | {} | {} | {} |",
            point.executions,
            point.histories,
            point.violations,
            point.looked_at,
            seen.join(" | ")
        );
        sum.looked_at += point.looked_at;
        sum.seen.iter_mut().zip(point.seen).for_each(|(sum, seen)| *sum += seen);
    }
    sum
}

/// Nanoseconds for an execution of so many operations: by itself, with counting, with enumeration of linearizations after each return.
fn costs(operations: usize) -> [f64; 3] {
    let matrix = matrix(2, operations / 2);
    let rounds = 2_000;
    let mut times = [f64::MAX; 3];
    for _ in 0..5 {
        for (watched, time) in times.iter_mut().enumerate() {
            // Enumeration takes a thousand times as long and more.
            if watched == 2 && operations > ENUMERATED_MAX {
                continue;
            }
            let rounds = if watched == 2 { 10 } else { rounds };
            let begun = Instant::now();
            for seed in 0..rounds {
                std::hint::black_box(execute(&matrix, seed, watched));
            }
            *time = time.min(begun.elapsed().as_nanos() as f64 / f64::from(rounds));
        }
    }
    times
}

/// A random execution of a queue without bug in which each step does some work, as those of the paper do.
fn execute(matrix: &[Vec<Invocation>], seed: u32, watched: usize) -> u64 {
    let mut state = u64::from(seed) + 1;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let (mut queue, mut threads) = (VecDeque::new(), vec![Thread::default(); matrix.len()]);
    let mut counting: Counting<Label> = Counting::new(2);
    let mut operations: Vec<(usize, Option<usize>, Option<i64>, Value)> = Vec::new();
    let mut open = vec![0; matrix.len()];
    let (mut work, mut events) = (0u64, 0);
    loop {
        let able: Vec<usize> = (0..threads.len()).filter(|&i| threads[i].operation < matrix[i].len()).collect();
        let Some(&thread) = able.get(random() as usize % able.len().max(1)) else { return work };
        // What an implementation does between two shared accesses, and what controlling it costs.
        for _ in 0..200 {
            work = work.wrapping_add(random());
        }
        let own = &mut threads[thread];
        let invocation = matrix[thread][own.operation];
        let value = if let Invocation::Enq(value) = invocation { Some(value) } else { None };
        if own.place == 0 {
            own.place = 1;
            events += 1;
            match watched {
                1 => {
                    let pending = if value.is_some() { Label::Enqueuing } else { Label::Dequeuing };
                    counting.call(thread as u64, pending).expect("it fits");
                }
                2 => {
                    open[thread] = operations.len();
                    operations.push((events, None, value, Value::Nil));
                }
                _ => {}
            }
            continue;
        }
        let result = match invocation {
            Invocation::Enq(value) => {
                queue.push_back(value);
                Value::Nil
            }
            Invocation::Deq => queue.pop_front().map_or(Value::Nil, Value::Int),
        };
        let label = match (invocation, &result) {
            (Invocation::Enq(_), _) => Label::Enq,
            (_, Value::Nil) => Label::Empty,
            _ => Label::Deq,
        };
        *own = Thread { operation: own.operation + 1, ..Thread::default() };
        events += 1;
        match watched {
            1 => {
                counting.ret(thread as u64, label).expect("it fits");
                work += u64::from(more_came_out(counting.representation()));
            }
            2 => {
                operations[open[thread]].1 = Some(events);
                operations[open[thread]].3 = result;
                work += linearizations(&operations, &mut vec![false; operations.len()], 0);
            }
            _ => {}
        }
    }
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Label {
    Enq,
    Deq,
    Empty,
    Enqueuing,
    Dequeuing,
}

/// Whether by the end of some slot more values have come out than can have gone in, or an empty answer came when fewer had: the
/// remove and empty violations with all values taken as one.
fn more_came_out(counts: &Representation<Label>) -> bool {
    let k = counts.k();
    let ended = |label, last| counts.get(&label).map_or(0, |triangle| triangle.total(0, last));
    let begun = |label, last: usize| {
        counts.get(&label).map_or(0, |triangle| {
            triangle.intervals().filter(|(first, _, _)| *first <= last).map(|(_, _, count)| count).sum()
        })
    };
    let out_of_nothing = (0..=k).any(|slot| {
        let inside: u64 = begun(Label::Enq, slot) + begun(Label::Enqueuing, slot);
        ended(Label::Deq, slot) > inside
    });
    let empty = counts.get(&Label::Empty).is_some_and(|triangle| {
        triangle.intervals().any(|(first, last, _)| {
            let out: u64 = begun(Label::Deq, last) + begun(Label::Dequeuing, last);
            first > 0 && ended(Label::Enq, first - 1) > out
        })
    });
    out_of_nothing || empty
}

/// How many linearizations there are: what a checker that enumerates them has to go through.
fn linearizations(ops: &[(usize, Option<usize>, Option<i64>, Value)], done: &mut Vec<bool>, placed: usize) -> u64 {
    let complete = ops.iter().filter(|op| op.1.is_some()).count();
    if placed == complete {
        return 1;
    }
    let mut count = 0;
    for i in 0..ops.len() {
        let waits = |j: usize| !done[j] && ops[j].1.is_some_and(|ret| ret < ops[i].0);
        if !done[i] && ops[i].1.is_some() && !(0..ops.len()).any(waits) {
            done[i] = true;
            count += linearizations(ops, done, placed + 1);
            done[i] = false;
        }
    }
    count
}

/// Lines through points, with a scale of powers of ten if asked for.
fn plot(title: &str, x: &str, y: &str, top: f64, series: &[(&str, Vec<(f64, f64)>)]) -> String {
    let right = series.iter().flat_map(|(_, points)| points.iter().map(|point| point.0)).fold(1.0, f64::max);
    let place = |(px, py): (f64, f64)| (60.0 + 420.0 * px / right, 260.0 - 210.0 * (py / top).min(1.0));
    let mut svg = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 320\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"640\" height=\"320\" fill=\"white\"/>\n",
    );
    let _ = writeln!(svg, "<text x=\"60\" y=\"24\" font-size=\"14\">{title}</text>");
    let _ = writeln!(svg, "<path d=\"M60 50V260H480\" fill=\"none\" stroke=\"black\"/>");
    let _ =
        writeln!(svg, "<text x=\"270\" y=\"300\" text-anchor=\"middle\">{x}</text><text x=\"60\" y=\"42\">{y}</text>");
    for tick in 0..=4 {
        let value = top * f64::from(tick) / 4.0;
        let (_, at) = place((0.0, value));
        let _ = writeln!(svg, "<text x=\"54\" y=\"{:.0}\" text-anchor=\"end\">{value:.4}</text>", at + 4.0);
        let (at, _) = place((right * f64::from(tick) / 4.0, 0.0));
        let _ = writeln!(
            svg,
            "<text x=\"{at:.0}\" y=\"278\" text-anchor=\"middle\">{}</text>",
            right * f64::from(tick) / 4.0
        );
    }
    for (i, (name, points)) in series.iter().enumerate() {
        let colour = ["#1b6ca8", "#c0392b", "#2e7d32", "#7b1fa2"][i % 4];
        let path: Vec<String> =
            points.iter().map(|&point| place(point)).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            path.join(" ")
        );
        let _ = writeln!(svg, "<text x=\"490\" y=\"{}\" fill=\"{colour}\">{name}</text>", 70 + 20 * i);
    }
    svg + "</svg>\n"
}

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().unwrap_or_else(|| ".".to_owned());
    let only = arguments.next();
    let wanted = |figure: &str| only.as_deref().is_none_or(|only| only == figure);
    if wanted("6") {
        std::fs::write(format!("{directory}/counting-figure-6.svg"), figure_6())?;
    }
    if wanted("7") {
        std::fs::write(format!("{directory}/counting-figure-7.svg"), figure_7())?;
    }
    Ok(())
}

fn figure_6() -> String {
    println!(
        "| queue | operations | preemptions | executions | histories | violations | looked at | k=0 | 1 | 2 | 3 | 4 |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    let mut series = Vec::new();
    for (bug, name) in [(Bug::TornTail, "torn tail"), (Bug::TornHead, "torn head"), (Bug::LateSlots, "late slots")] {
        let sum = coverage(bug, name);
        let share = |count: usize| 100.0 * count as f64 / sum.looked_at.max(1) as f64;
        series.push((name, sum.seen.iter().enumerate().map(|(k, count)| (k as f64, share(*count))).collect()));
    }
    plot("Violations that A_k shows", "k", "share of the violations, %", 100.0, &series)
}

fn figure_7() -> String {
    println!("\n| operations | execution, ns | with counting | with enumeration |\n|---|---|---|---|");
    let (mut counting, mut enumerating) = (Vec::new(), Vec::new());
    for operations in (2..=20).step_by(2) {
        let [bare, counted, enumerated] = costs(operations);
        let times = |time: f64| if time < f64::MAX { format!("{:.2}", time / bare) } else { "–".to_owned() };
        println!("| {operations} | {bare:.0} | {} | {} |", times(counted), times(enumerated));
        counting.push((operations as f64, (counted / bare).log10()));
        if enumerated < f64::MAX {
            enumerating.push((operations as f64, (enumerated / bare).log10()));
        }
    }
    let series = [("counting, k=2", counting), ("enumeration", enumerating)];
    let title = "Time, as a multiple of the execution without checks";
    plot(title, "operations", "powers of ten", 4.0, &series)
}
