//! Figure 6: how many of the violations A_k shows.

use std::error::Error;

use selvedge_history::check::check;
use selvedge_history::counting::{Prefixes, approximate};
use selvedge_history::object::Kind;
use selvedge_history::{Budget, Verdict};

use crate::events::{events, log};
use crate::{Line, Places, for_each, plot};

const K_MAX: usize = 4;
/// Up to so many enqueues and so many dequeues.
const MOST: usize = 4;

/// A queue, and how many threads enqueue and dequeue.
struct Queue {
    name: &'static str,
    enqueuers: usize,
    dequeuers: usize,
}

const QUEUES: [Queue; 3] = [
    Queue { name: "torn_tail", enqueuers: 2, dequeuers: 1 },
    Queue { name: "torn_head", enqueuers: 1, dequeuers: 2 },
    Queue { name: "swapped_pairs", enqueuers: 2, dequeuers: 1 },
];

impl Queue {
    /// What each thread does, so many operations in all.
    fn threads(&self, enqueues: usize, dequeues: usize) -> Vec<String> {
        let share = |letter: &str, all: usize, threads: usize| -> Vec<String> {
            (0..threads).map(|thread| letter.repeat((all + threads - 1 - thread) / threads)).collect()
        };
        let mut threads = share("e", enqueues, self.enqueuers);
        threads.extend(share("d", dequeues, self.dequeuers));
        threads.retain(|letters| !letters.is_empty());
        threads
    }
}

/// What the executions of one point show.
#[derive(Clone, Debug, Default)]
struct Point {
    executions: u64,
    histories: usize,
    violations: usize,
    /// How many of the violations A_k shows at some moment, for each k.
    seen: [usize; K_MAX + 1],
}

fn point(places: &Places, queue: &Queue, operations: [usize; 2], preemptions: u32) -> Result<Point, String> {
    let threads = queue.threads(operations[0], operations[1]);
    let test = places.all(queue.name, &threads, preemptions).map_err(|error| error.to_string())?;
    let mut point = Point { executions: test.runs, histories: test.history_texts.len(), ..Point::default() };
    for text in &test.history_texts {
        let log = log(&events(text).ok_or_else(|| format!("no history: {text}"))?);
        let answer = check(&log, Kind::Queue, None, &Budget::new()).expect("it fits");
        match answer.verdict {
            Verdict::Fail(_) => point.violations += 1,
            Verdict::Pass(_) => continue,
            _ => return Err(format!("not decided: {text}")),
        }
        for (k, seen) in point.seen.iter_mut().enumerate() {
            let answer = approximate(&log, Kind::Queue, None, k, Prefixes::AtMost(usize::MAX), &Budget::new());
            *seen += usize::from(answer.expect("it fits").violation.is_some());
        }
    }
    Ok(point)
}

/// The table on standard output, and the picture.
pub fn figure(places: &Places, preemptions: u32) -> Result<String, Box<dyn Error>> {
    println!("| queue | operations | executions | histories | violations | k=0 | 1 | 2 | 3 | 4 |");
    println!("|---|---|---|---|---|---|---|---|---|---|");
    // The largest first, so that no processor is left with one at the end.
    let mut points: Vec<(usize, [usize; 2])> = (0..QUEUES.len())
        .flat_map(|queue| (1..=MOST).flat_map(move |i| (1..=MOST).map(move |j| (queue, [i, j]))))
        .collect();
    points.sort_by_key(|(queue, [i, j])| (usize::MAX - i - j, *queue));
    let found = for_each(&points, |&(queue, operations)| {
        let point = point(places, &QUEUES[queue], operations, preemptions);
        eprintln!("{} {operations:?}: {point:?}", QUEUES[queue].name);
        point
    });
    let mut all: Vec<_> = points.into_iter().zip(found).collect();
    all.sort_by_key(|(at, _)| *at);
    let mut sums: Vec<Point> = vec![Point::default(); QUEUES.len()];
    for ((queue, [i, j]), point) in all {
        let (point, sum, name) = (point?, &mut sums[queue], QUEUES[queue].name.replace('_', " "));
        let seen: Vec<String> = point.seen.iter().map(usize::to_string).collect();
        println!(
            "| {name} | {i} + {j} | {} | {} | {} | {} |",
            point.executions,
            point.histories,
            point.violations,
            seen.join(" | ")
        );
        sum.violations += point.violations;
        sum.seen.iter_mut().zip(point.seen).for_each(|(sum, seen)| *sum += seen);
    }
    let lines: Vec<(String, Point)> = QUEUES.iter().map(|queue| queue.name.replace('_', " ")).zip(sums).collect();
    let lines: Vec<Line> = lines
        .iter()
        .map(|(name, sum)| {
            let share = |count: usize| 100.0 * count as f64 / sum.violations.max(1) as f64;
            Line { name, points: sum.seen.iter().enumerate().map(|(k, &count)| (k as f64, share(count))).collect() }
        })
        .collect();
    Ok(plot("Violations that A_k shows", "k", "share of the violations, %", 100.0, &lines))
}
