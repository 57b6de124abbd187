//! States a second and bytes a state, on the segmented queue of `SlotQueue`: the engine beside the plainest loop there is, in one
//! run. `cargo bench -p selvedge-model`.

use std::collections::VecDeque;
use std::time::Instant;

use hashbrown::HashSet;
use selvedge_model::language::Model;
use selvedge_model::models::SlotQueue;
use selvedge_model::{Settings, TransitionSystem, explore};

/// A queue and a hash set of whole states, without parents, limits or packing.
fn plain() -> (usize, usize) {
    let mut seen: HashSet<[u8; 16], foldhash::fast::FixedState> = HashSet::default();
    let mut queue = VecDeque::new();
    let mut next = Vec::new();
    let mut initial = Vec::new();
    let _ = SlotQueue.initial(&mut initial);
    for state in initial {
        seen.insert(state);
        queue.push_back(state);
    }
    while let Some(state) = queue.pop_front() {
        next.clear();
        let _ = SlotQueue.successors(&state, &mut next);
        for (_, to) in next.drain(..) {
            if seen.insert(to) {
                queue.push_back(to);
            }
        }
    }
    (seen.len(), seen.allocation_size())
}

/// Seconds that this thread has computed, where the system tells; otherwise seconds that have passed.
fn seconds(begin: Instant) -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let told = told.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    told.map_or_else(|| begin.elapsed().as_secs_f64(), |nanoseconds| nanoseconds / 1e9)
}

fn main() {
    let begin = Instant::now();
    for round in 1..=3 {
        let before = seconds(begin);
        let (states, bytes) = plain();
        let plain_rate = states as f64 / (seconds(begin) - before);
        println!(
            "round {round}: plain loop  {:.2} M states/s, {:.1} bytes a state",
            plain_rate / 1e6,
            bytes as f64 / states as f64
        );
        let before = seconds(begin);
        let Ok(answer) = explore(&SlotQueue, &Settings::default()) else { return };
        let rate = answer.statistics.states as f64 / (seconds(begin) - before);
        let size = answer.statistics.bytes as f64 / answer.statistics.states as f64;
        println!(
            "round {round}: engine      {:.2} M states/s, {size:.1} bytes a state, {:.2} of the plain loop, {} states",
            rate / 1e6,
            rate / plain_rate,
            answer.statistics.states,
        );
        // With several workers only the time that passes says anything.
        let alone = answer.statistics.elapsed;
        let Ok(answer) = explore(&SlotQueue, &Settings { jobs: 2, ..Settings::default() }) else { return };
        let faster = alone.as_secs_f64() / answer.statistics.elapsed.as_secs_f64();
        println!("round {round}: 2 workers   {faster:.2} times as fast as one");
        text(round, plain_rate);
    }
}

/// The same model in CSP#.
fn text(round: usize, plain_rate: f64) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/models/bench/segmented_slots.csp");
    let Ok(text) = std::fs::read_to_string(path) else { return };
    let Some(system) = Model::new(&text).ok().and_then(|model| model.process("Sys", &[])) else { return };
    let begin = Instant::now();
    let before = seconds(begin);
    let Ok(answer) = explore(&system, &Settings::default()) else { return };
    let rate = answer.statistics.states as f64 / (seconds(begin) - before);
    let size = answer.statistics.bytes as f64 / answer.statistics.states as f64;
    println!(
        "round {round}: text model  {:.2} M states/s, {size:.1} bytes a state, {} states, {:.2} of the plain loop",
        rate / 1e6,
        answer.statistics.states,
        rate / plain_rate
    );
}
