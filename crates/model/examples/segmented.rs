//! Checks one segmented queue: `segmented SEGMENTS FACTOR SPEC_FACTOR BUG [THREADS]`, bug 0, 1 or 2.

use selvedge_model::models::{SegmentedBug, SegmentedQueue};
use selvedge_model::objects::{Collection, Order, Room, TAKE};
use selvedge_model::{Criterion, Guard, Measure, Relaxation, Settings, linearizes};

fn main() {
    let numbers: Vec<usize> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let [segments, factor, allowed, bug, ref rest @ ..] = numbers[..] else {
        eprintln!("usage: segmented SEGMENTS FACTOR SPEC_FACTOR BUG [THREADS]");
        std::process::exit(2);
    };
    let bug = [SegmentedBug::None, SegmentedBug::EmptyMovesHead, SegmentedBug::WrongSegment][bug.min(2)];
    let threads = rest.first().copied().unwrap_or(2);
    let Some(queue) = SegmentedQueue::new(segments, factor, threads, bug) else {
        eprintln!("the queue is too large");
        std::process::exit(2);
    };
    let object = Collection::new(Order::Fifo, Room::AtLeast(0));
    let relaxation = Relaxation::new(vec![allowed as u8], |op| (op.method == TAKE && op.result != 0).then_some(0));
    let criterion = Criterion { relaxation, measure: Measure::Distance, guard: Guard::Causal };
    let answer = match linearizes(&queue, &object, &criterion, &Settings::default()) {
        Ok(answer) => answer,
        Err(trouble) => {
            eprintln!("{trouble}");
            std::process::exit(2);
        }
    };
    println!("{} {:?}", answer.verdict.name(), answer.statistics);
    if let Some(trace) = answer.trace {
        for step in trace.steps {
            println!("  {}: {} {}", step.actor, step.label, step.state.unwrap_or_default());
        }
        println!("{:?}", answer.reason);
    }
}
