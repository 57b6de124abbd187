//! `peers TOOL STRATEGY RUNS`: runs the test under another tool, and prints how many runs were made and the CPU seconds that they took.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

mod shuttle_queue {
    compare_queue::michael_scott!(shuttle::sync, shuttle::thread);
}

mod loom_queue {
    compare_queue::michael_scott!(loom::sync, loom::thread);
}

static RUNS: AtomicU64 = AtomicU64::new(0);

fn counted(test: fn()) -> impl Fn() + Send + Sync + 'static {
    move || {
        RUNS.fetch_add(1, Relaxed);
        test();
    }
}

fn loom(bound: usize) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(bound);
    model.check(counted(loom_queue::test));
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [tool, strategy, runs] = arguments.as_slice() else { panic!("usage: peers TOOL STRATEGY RUNS") };
    let runs: usize = runs.parse().expect("a number of runs");
    let before = compare::cpu_seconds();
    match (tool.as_str(), strategy.as_str()) {
        ("shuttle", "random") => shuttle::check_random(counted(shuttle_queue::test), runs),
        ("shuttle", "dfs") => shuttle::check_dfs(counted(shuttle_queue::test), Some(runs)),
        ("shuttle", "pct") => shuttle::check_pct(counted(shuttle_queue::test), runs, 3),
        ("loom", "bound2") => loom(2),
        ("loom", "bound3") => loom(3),
        _ => panic!("unknown: {tool} {strategy}"),
    }
    println!("{} {}", RUNS.load(Relaxed), compare::cpu_seconds() - before);
}
