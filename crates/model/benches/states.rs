//! States a second and bytes a state, on the segmented queue of `SlotQueue`: the engine beside the plainest loop there is, in one
//! run. `cargo bench -p selvedge-model`.

use std::collections::VecDeque;
use std::time::Instant;

use hashbrown::HashSet;
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

fn main() {
    for round in 1..=3 {
        let begin = Instant::now();
        let (states, bytes) = plain();
        let plain_rate = states as f64 / begin.elapsed().as_secs_f64();
        println!(
            "round {round}: plain loop  {:.2} M states/s, {:.1} bytes a state",
            plain_rate / 1e6,
            bytes as f64 / states as f64
        );
        for jobs in [1, 2] {
            let begin = Instant::now();
            let Ok(answer) = explore(&SlotQueue, &Settings { jobs, ..Settings::default() }) else { return };
            let rate = answer.statistics.states as f64 / begin.elapsed().as_secs_f64();
            let size = answer.statistics.bytes as f64 / answer.statistics.states as f64;
            println!(
                "round {round}: engine, {jobs} job {:.2} M states/s, {size:.1} bytes a state, {} states, {:.2} of the plain loop",
                rate / 1e6,
                answer.statistics.states,
                rate / plain_rate
            );
        }
    }
}
