//! Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi and Nagarakatte, ASPLOS 2010): random priorities,
//! and d-1 moments at which the running thread falls below all others. With n threads and k steps a bug of depth d shows
//! with probability at least 1/(n·k^(d-1)) a run.
//!
//! k is a guess that the caller gives, so that run number i does not depend on the runs before it. One departure: a thread that yields falls
//! below all others too, or one that spins at the highest priority would never stop.

use std::ops::ControlFlow;

use crate::access::Thread;
use crate::part::Part;
use crate::point::{ChoicePoint, Coverage, Decision, Run, Strategy};
use crate::strategy::sampled::Sampled;

/// Schedules by random priorities.
#[derive(Clone, Debug)]
pub struct Pct {
    runs: Sampled,
    depth: u32,
    steps_max: u64,
    /// By thread, the higher the sooner; 0 when the thread has not been seen in this run.
    priority: Vec<u64>,
    /// What the next thread that falls gets: less than everything before.
    floor: u64,
    changes: Vec<u64>,
}

/// Priorities drawn at creation lie above this, those of threads that fell below it.
const MIDDLE: u64 = 1 << 62;

impl Pct {
    /// Runs `first` to `first + count` of that seed, for bugs of that depth. `steps` is a guess at the length of a run.
    pub fn new(seed: u64, first: u64, count: u64, depth: u32, steps: u64) -> Self {
        Pct {
            runs: Sampled::new(seed, first, count),
            depth,
            steps_max: steps.max(1),
            priority: Vec::new(),
            floor: MIDDLE,
            changes: Vec::new(),
        }
    }

    fn fall(&mut self, thread: Thread) {
        self.floor -= 1;
        self.priority[thread.index()] = self.floor;
    }

    fn highest(&mut self, at: &ChoicePoint<'_>) -> Thread {
        let last = at.pending.iter().map(|pending| pending.thread.index()).max().unwrap_or(0);
        self.priority.resize(self.priority.len().max(last + 1), 0);
        for pending in at.pending {
            let priority = &mut self.priority[pending.thread.index()];
            if *priority == 0 {
                *priority = MIDDLE + 1 + self.runs.rng.below(MIDDLE);
            }
        }
        let highest = at.available().iter().max_by_key(|&thread| self.priority[thread]);
        Thread(highest.expect("a choice point has an enabled thread") as u16)
    }
}

impl Strategy for Pct {
    fn start(&mut self) -> ControlFlow<Coverage> {
        self.runs.start()?;
        self.priority.clear();
        self.floor = MIDDLE;
        let (rng, steps) = (&mut self.runs.rng, self.steps_max);
        self.changes.clear();
        self.changes.extend((1..self.depth).map(|_| rng.below(steps)));
        ControlFlow::Continue(())
    }

    fn choose(&mut self, at: &ChoicePoint<'_>) -> Decision {
        if let Some(step) = at.trace.steps().last()
            && step.yielded
        {
            self.fall(step.thread);
        }
        let mut thread = self.highest(at);
        if self.changes.contains(&(at.trace.len() as u64)) {
            self.fall(thread);
            thread = self.highest(at);
        }
        Decision::Run(thread)
    }

    fn pick(&mut self, options: u32) -> u32 {
        self.runs.pick(options)
    }

    fn spurious(&mut self) -> bool {
        self.runs.spurious()
    }

    fn so_far(&self) -> Option<Coverage> {
        Some(self.runs.so_far())
    }

    fn finish(&mut self, _: &Run<'_>) {
        self.runs.finish();
    }

    fn rest(&self) -> Option<Vec<Part>> {
        Some(self.runs.rest())
    }
}
