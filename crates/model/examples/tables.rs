//! Tables 1 and 4 of Quasi-PAT, ours beside the paper's, as Markdown: `tables [SECONDS A ROW]`. `docs/model-tables.md` is its output.

use std::time::Duration;

use selvedge_model::models::{PrioritySegments, SegmentedBug, SegmentedQueue, TreiberStack};
use selvedge_model::objects::{Collection, Order, Room, TAKE};
use selvedge_model::{
    Answer, Criterion, Guard, Implementation, Measure, Relaxation, Settings, Trouble, Value, linearizes,
};

const INTRODUCTION: &str = "\
# Tables 1 and 4 of Quasi-PAT

Written by `cargo run --release -p selvedge-model --example tables`. The paper's times are from another machine; compare them with care.

What the paper leaves open, and what is taken here:

- *Threads*: two, as table 4 says; table 1 does not say.
- *Operations*: each thread calls enq and deq for ever. Values have no bound: every enq brings one that nobody holds (data independence).
- *Size*: the number of slots, segments times (QF+1): 3, 6, 9 are multiples of 3 for QF 2; 4, 8 of 4 for QF 3. Table 1 counts segments.
- *Full*: an enq that finds no free slot in the last segment answers *full*. The paper says that enq on a full queue has no effect, and slots of
  removed elements are not used again, so the specification allows *full* at any time.
- *States*: pairs of a model state and a set of specification states, after renaming of values and threads, of runs whose operations are as short as they can be
  (docs/quasi-refinement.md, *Reductions*); in the paper pairs of single states without reductions. The numbers say how much was looked at, not whether the same was.
- *Specification of table 1*: the queue relaxed by hand of section 4, clusters of QF+1 places. Table 4: the plain FIFO queue, relaxed by the checker
  (`{deq that returns something: QF}`, distance, causal). Elements of one cluster leave in any order, so it is not noted in which they came.
- *Queue buggy1*: a deq that found nothing moves head and tail to the next segment without looking again. *Queue buggy2*: a deq takes from the
  segment after the head's.
- *Lin. Queue*: the segmented queue with one slot a segment, six segments. *Lin. Stack*: Treiber's, four elements.
- *Quasi priority queues*: the paper does not say what its segments do with priorities. Here (`PrioritySegments`) a removal takes any of the first QF+1; once one was
  passed over, the rest of these leaves first, and until then insertions are refused. Priorities are 1 to 4; they have an order, so they are not renamed. *Buggy*: a removal
  that found nothing moves on to the next segment without looking again.
";

/// Priorities of the priority queues: 1 to this.
const PRIORITIES: u8 = 4;

struct Row {
    name: String,
    factor: usize,
    paper: &'static str,
}

fn relaxed(factor: usize) -> Criterion {
    let relaxation = Relaxation::new(vec![factor as u8], |op| (op.method == TAKE && op.result != 0).then_some(0));
    Criterion { relaxation, measure: Measure::Distance, guard: Guard::Causal }
}

/// Seconds that this thread has computed, where the system tells.
fn computed() -> Option<f64> {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(told.split_whitespace().next()?.parse::<f64>().ok()? / 1e9)
}

fn print(row: &Row, check: impl FnOnce() -> Result<Answer, Trouble>) {
    let before = computed();
    let Ok(answer) = check() else {
        println!("| {} | {} | {} | not asked | | | | |", row.name, row.factor, row.paper);
        return;
    };
    let seen = answer.statistics;
    let seconds = before.zip(computed()).map_or(seen.elapsed.as_secs_f64(), |(before, after)| after - before);
    println!(
        "| {} | {} | {} | {} | {} | {} | {:.2} | {} |",
        row.name,
        row.factor,
        row.paper,
        answer.verdict.name(),
        seen.states,
        seen.transitions,
        seconds,
        seen.bytes >> 20,
    );
}

fn heading(first: &str) {
    println!(
        "| {first} | QF | paper: time, states, transitions | verdict | states | transitions | CPU seconds | MiB |"
    );
    println!("|---|---|---|---|---|---|---|---|");
}

fn table_1(settings: &Settings) {
    println!("\n## Table 1: refinement of the specification relaxed by hand\n");
    heading("segments");
    let rows = [
        (1, 1, "0.1 s, 423, 778"),
        (1, 2, "0.1 s, 2310, 4458"),
        (1, 3, "0.1 s, 8002, 15213"),
        (1, 4, "0.4 s, 22327, 41660"),
        (1, 5, "0.9 s, 55173, 101443"),
        (1, 6, "2.0 s, 126547, 230259"),
        (2, 1, "0.6 s, 26605, 58281"),
        (2, 2, "12.6 s, 456397, 970960"),
        (2, 3, "130.7 s, 4484213, 8742485"),
        (2, 4, "out of memory"),
        (3, 1, "8.8 s, 284484, 638684"),
        (3, 2, "out of memory"),
        (4, 1, "124.4 s, 3432702, 7906856"),
        (4, 2, "out of memory"),
        (1, 10, "55.9 s, 2488052, 4421583"),
        (1, 15, "out of memory"),
    ];
    for (factor, segments, paper) in rows {
        let Some(queue) = SegmentedQueue::new(segments, factor, 2, SegmentedBug::None) else { continue };
        let object = Collection::new(Order::Cluster(factor as u8 + 1), Room::AtLeast(0));
        let row = Row { name: segments.to_string(), factor, paper };
        print(&row, || linearizes(&queue, &object, &Criterion::linearizable(), settings));
    }
}

fn check(row: Row, system: &impl Implementation, order: Order, settings: &Settings) {
    let object = Collection::new(order, Room::AtLeast(0));
    print(&row, || linearizes(system, &object, &relaxed(row.factor), settings));
}

fn table_4(settings: &Settings) {
    println!("\n## Table 4: quasi refinement of the plain specification\n");
    heading("class");
    let rows = [
        ("Quasi Queue (3)", 1, 2, SegmentedBug::None, "7.2 s, 126810, 248122"),
        ("Quasi Queue (6)", 2, 2, SegmentedBug::None, "21.2 s, 237760, 468461"),
        ("Quasi Queue (9)", 3, 2, SegmentedBug::None, "114.5 s, 1741921, 3424280"),
        ("Quasi Queue (4)", 1, 3, SegmentedBug::None, "131.6 s, 442558, 869129"),
        ("Quasi Queue (8)", 2, 3, SegmentedBug::None, "1517.1 s, 1986924, 3754489"),
        ("Queue buggy1", 2, 2, SegmentedBug::EmptyMovesHead, "0.4 s, 1204, 809"),
        ("Queue buggy2", 2, 2, SegmentedBug::WrongSegment, "0.1 s, 345, 345"),
    ];
    for (name, segments, factor, bug, paper) in rows {
        let Some(queue) = SegmentedQueue::new(segments, factor, 2, bug) else { continue };
        check(Row { name: name.to_string(), factor, paper }, &queue, Order::Fifo, settings);
    }
    if let Some(queue) = SegmentedQueue::new(6, 0, 2, SegmentedBug::None) {
        let row = Row { name: "Lin. Queue".to_string(), factor: 2, paper: "5.5 s, 240583, 121548" };
        check(row, &queue, Order::Fifo, settings);
    }
    let rows = [
        ("Q. Priority Queue (6)", 6, 2, false, "34.3 s, 472981, 918530"),
        ("Q. Priority Queue (9)", 9, 2, false, "198.4 s, 1478045, 2905016"),
        ("Q. Priority Queue (4)", 4, 3, false, "343.1 s, 1408763, 2566427"),
        ("Priority Queue buggy", 6, 2, true, "5.4 s, 894, 894"),
    ];
    for (name, size, factor, empty_moves_on, paper) in rows {
        let queue = PrioritySegments { threads: 2, size, factor, priorities: PRIORITIES, empty_moves_on };
        let row = Row { name: name.to_string(), factor, paper };
        let mut object = Collection::new(Order::Priority, Room::AtLeast(0));
        object.domain = Some((1..=Value::from(PRIORITIES)).collect());
        print(&row, || linearizes(&queue, &object, &relaxed(factor), settings));
    }
    let row = Row { name: "Lin. Stack".to_string(), factor: 2, paper: "0.2 s, 2690, 6896" };
    check(row, &TreiberStack { threads: 2, capacity: 4 }, Order::Lifo, settings);
    println!("\nBeyond the paper:\n");
    heading("class");
    let rows = [("table 1's instances: ", 4, 1), ("", 6, 1), ("", 4, 2), ("", 1, 4), ("", 2, 4)];
    for (name, segments, factor) in rows {
        let Some(queue) = SegmentedQueue::new(segments, factor, 2, SegmentedBug::None) else { continue };
        let plural = if segments == 1 { "" } else { "s" };
        let name = format!("{name}{segments} segment{plural}");
        check(Row { name, factor, paper: "" }, &queue, Order::Fifo, settings);
    }
}

fn main() {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(120);
    let settings =
        Settings { time_max: Some(Duration::from_secs(seconds)), memory_max: Some(8 << 30), ..Settings::default() };
    println!("{INTRODUCTION}");
    println!(
        "A row may take {seconds} s of wall time on a loaded machine and 8 GiB; *unknown* means that it would take more."
    );
    println!("Ours are seconds of computing on one core, and bytes in the tables of the search.");
    table_1(&settings);
    table_4(&settings);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if let Some(peak) = status.lines().find(|line| line.starts_with("VmHWM")) {
        println!("\nThe process as a whole took at most {} of memory.", peak.trim_start_matches("VmHWM:").trim());
    }
}
