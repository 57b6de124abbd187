//! Figure 7: what counting costs, and what enumerating linearizations does.

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use selvedge_history::counting::{Counting, Representation};
use selvedge_history::monitor::{Span, counters::Counters};
use selvedge_protocol::{Search, Settings};

use crate::events::{Event, events};
use crate::{Line, Places, plot};

/// So many random executions of each size, with up to so many preemptions.
const EXECUTIONS: u64 = 20_000;
const PREEMPTIONS: u32 = 3;
const OPERATIONS_MAX: usize = 20;
/// So many linearizations are enumerated a round of one size at most.
const LINEARIZATIONS_MAX: u64 = 400_000_000;
const ROUNDS: usize = 5;
/// Of so many histories the time is taken.
const HISTORIES_MAX: usize = 4_000;
const K: usize = 2;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Label {
    Enq,
    Deq,
    Empty,
    Enqueuing,
    Dequeuing,
}

/// Algorithm 1 with the remove and empty formulas after each return, all values taken as one.
fn count(events: &[Event]) -> u64 {
    let mut counting: Counting<Label> = Counting::new(K);
    let mut enqueues = [false; 32];
    let mut shown = 0;
    for event in events {
        match *event {
            Event::Call { operation, thread, enqueued } => {
                enqueues[operation] = enqueued.is_some();
                let pending = if enqueued.is_some() { Label::Enqueuing } else { Label::Dequeuing };
                counting.call(thread as u64, pending).expect("it fits");
            }
            Event::Return { operation, thread, dequeued } => {
                let label = match dequeued {
                    _ if enqueues[operation] => Label::Enq,
                    Some(_) => Label::Deq,
                    None => Label::Empty,
                };
                counting.ret(thread as u64, label).expect("it fits");
                shown += u64::from(more_came_out(counting.representation()));
            }
        }
    }
    shown
}

/// How many of a label began, and how many ended, in each slot or before it.
fn up_to(counts: &Representation<Label>, label: Label) -> [[u64; K + 1]; 2] {
    let [mut begun, mut ended] = [[0; K + 1]; 2];
    let Some(triangle) = counts.get(&label) else { return [begun, ended] };
    for (first, last, count) in triangle.intervals() {
        begun[first] += count;
        ended[last] += count;
    }
    for slot in 1..=K {
        begun[slot] += begun[slot - 1];
        ended[slot] += ended[slot - 1];
    }
    [begun, ended]
}

/// Whether by the end of some slot more values have come out than can have gone in, or an empty answer came when fewer had.
fn more_came_out(counts: &Representation<Label>) -> bool {
    let [[enq, enq_ended], [deq, deq_ended]] = [Label::Enq, Label::Deq].map(|label| up_to(counts, label));
    let [[enqueuing, _], [dequeuing, _]] = [Label::Enqueuing, Label::Dequeuing].map(|label| up_to(counts, label));
    let out_of_nothing = (0..=K).any(|slot| deq_ended[slot] > enq[slot] + enqueuing[slot]);
    let empty = counts.get(&Label::Empty).is_some_and(|triangle| {
        let refuted = |first: usize, last: usize| first > 0 && enq_ended[first - 1] > deq[last] + dequeuing[last];
        triangle.intervals().any(|(first, last, _)| refuted(first, last))
    });
    out_of_nothing || empty
}

/// A_k as the monitor has it, values told apart.
fn watch(events: &[Event]) -> u64 {
    let mut counters: Counters<i64> = Counters::new(K);
    let mut begun = [(0u64, 0u64, None); 32];
    let mut alarms = Vec::new();
    for (at, event) in (1..).zip(events) {
        match *event {
            Event::Call { operation, thread, enqueued } => {
                let first = counters.call();
                begun[operation] = (first, at, enqueued);
                if let Some(value) = enqueued {
                    counters.call_insert(first, at, thread as u32, &value);
                }
            }
            Event::Return { operation, thread, dequeued } => {
                let (first, call, enqueued) = begun[operation];
                match enqueued {
                    Some(value) => counters.ret_insert(at, call, &value),
                    None => {
                        let remove = Span { thread: thread as u32, call, ret: at };
                        counters.ret_remove(first, remove, dequeued.as_ref(), &mut alarms);
                    }
                }
            }
        }
    }
    alarms.len() as u64
}

/// All linearizations of the complete operations after each return, as one who looks whether one is legal has to go through them when none is.
fn enumerate(events: &[Event]) -> u64 {
    let mut linearizations = 0;
    let mut operations = [(0usize, None); 32];
    let mut count = 0;
    for (at, event) in events.iter().enumerate() {
        match *event {
            Event::Call { operation, .. } => {
                operations[operation] = (at, None);
                count = count.max(operation + 1);
            }
            Event::Return { operation, .. } => {
                operations[operation].1 = Some(at);
                let complete = operations[..count].iter().filter(|(_, end)| end.is_some()).count();
                linearizations += place(&operations[..count], 0, complete);
            }
        }
    }
    linearizations
}

fn place(operations: &[(usize, Option<usize>)], done: u32, left: usize) -> u64 {
    if left == 0 {
        return 1;
    }
    let mut found = 0;
    for (i, &(call, end)) in operations.iter().enumerate() {
        let is_done = |j: usize| done >> j & 1 != 0;
        let waits = |j: usize| !is_done(j) && operations[j].1.is_some_and(|end| end < call);
        if !is_done(i) && end.is_some() && !(0..operations.len()).any(waits) {
            found += place(operations, done | 1 << i, left - 1);
        }
    }
    found
}

/// Nanoseconds for one history, the best of some rounds over all of them. A round is short, so that some are not disturbed.
fn time(histories: &[Vec<Event>], rounds: usize, check: impl Fn(&[Event]) -> u64) -> f64 {
    let round = || {
        let begun = Instant::now();
        for events in histories {
            black_box(check(events));
        }
        begun.elapsed().as_nanos() as f64 / histories.len() as f64
    };
    (0..rounds).map(|_| round()).fold(f64::MAX, f64::min)
}

/// As many histories as can be enumerated in a while.
fn few(histories: &[Vec<Event>]) -> &[Vec<Event>] {
    let mut sum = 0;
    let fits = |events: &&Vec<Event>| {
        sum += enumerate(events);
        sum < LINEARIZATIONS_MAX
    };
    let count = histories.iter().take_while(fits).count();
    &histories[..count.max(1)]
}

/// Nanoseconds for an execution, and beside it for counting, for the monitor's counters, and for enumeration.
fn costs(places: &Places, threads: &[String]) -> Result<[f64; 4], Box<dyn Error>> {
    let search = Settings {
        search: Search::Pct,
        depth: PREEMPTIONS + 1,
        runs_max: EXECUTIONS,
        races: false,
        ..Settings::default()
    };
    let mut bare = f64::MAX;
    for _ in 0..ROUNDS {
        let test = places.test("michael_scott", threads, false, &search)?;
        bare = bare.min(test.cpu_seconds * 1e9 / test.runs as f64);
    }
    let test = places.test("michael_scott", threads, true, &Settings { histories: true, ..search })?;
    let histories = test.history_texts.iter().map(|text| events(text)).collect::<Option<Vec<_>>>();
    // They come sorted; a beginning should be like the whole.
    let mut histories: Vec<(usize, Vec<Event>)> = histories.ok_or("no history")?.into_iter().enumerate().collect();
    histories.sort_by_key(|(number, _)| number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let histories: Vec<Vec<Event>> = histories.into_iter().map(|(_, events)| events).take(HISTORIES_MAX).collect();
    let [counting, watching] = [count as fn(&[Event]) -> u64, watch].map(|check| time(&histories, 10 * ROUNDS, check));
    Ok([bare, counting, watching, time(few(&histories), ROUNDS, enumerate)])
}

/// The table on standard output, and the picture.
pub fn figure(places: &Places) -> Result<String, Box<dyn Error>> {
    println!(
        "\n| operations | threads | execution, ns | counting, ns | times | counters of the monitor, ns | times | enumeration, ns | times |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let mut lines = Vec::new();
    for (apart, suffix) in [(true, "a thread each"), (false, "two threads")] {
        let mut points = [Vec::new(), Vec::new(), Vec::new()];
        for operations in (2..=OPERATIONS_MAX).step_by(2) {
            let letters = "ed".chars().cycle();
            let threads: Vec<String> = if apart {
                letters.take(operations).map(String::from).collect()
            } else {
                [0, 1].map(|from| letters.clone().skip(from).take(operations / 2).collect()).into()
            };
            let [bare, checks @ ..] = costs(places, &threads)?;
            let times = checks.map(|check| (bare + check) / bare);
            let cells: Vec<String> =
                checks.iter().zip(times).map(|(check, times)| format!("{check:.0} | {times:.2}")).collect();
            println!("| {operations} | {} | {bare:.0} | {} |", threads.len(), cells.join(" | "));
            for (points, times) in points.iter_mut().zip(times) {
                points.push((operations as f64, times.log10()));
            }
        }
        let names = ["counting", "monitor's counters", "enumeration"].map(|name| format!("{name}, {suffix}"));
        lines.extend(names.into_iter().zip(points));
    }
    let lines: Vec<Line> = lines.iter().map(|(name, points)| Line { name, points: points.clone() }).collect();
    let title = "Time, as a multiple of the execution without checks";
    Ok(plot(title, "operations", "powers of ten", 2.0, &lines))
}
