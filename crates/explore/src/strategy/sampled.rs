//! Runs that are drawn at random, numbered: what [`Random`](super::random::Random) and [`Pct`](super::pct::Pct) share. Run k of
//! seed s is the same whoever makes it, so workers can share the runs out.

use std::ops::ControlFlow;

use crate::part::Part;
use crate::point::Coverage;
use crate::rng::Rng;

/// In one of so many cases a wait ends without a reason.
const SPURIOUS_IN: u64 = 4;

/// Which runs of a seed are to be made, and the random numbers of the one under way.
#[derive(Clone, Debug)]
pub(super) struct Sampled {
    seed: u64,
    next: u64,
    end: u64,
    done: u64,
    /// Whether a run was prepared and has not ended.
    under_way: bool,
    pub rng: Rng,
}

impl Sampled {
    /// Runs `first` to `first + count` of that seed.
    pub fn new(seed: u64, first: u64, count: u64) -> Self {
        let end = first.saturating_add(count);
        Sampled { seed, next: first, end, done: 0, under_way: false, rng: Rng::for_run(seed, first) }
    }

    /// Prepares the next run, and answers its number.
    pub fn start(&mut self) -> ControlFlow<Coverage, u64> {
        if self.next >= self.end {
            return ControlFlow::Break(self.so_far());
        }
        let run = self.next;
        self.rng = Rng::for_run(self.seed, run);
        self.next += 1;
        self.under_way = true;
        ControlFlow::Continue(run)
    }

    pub fn pick(&mut self, options: u32) -> u32 {
        self.rng.below(u64::from(options)) as u32
    }

    pub fn spurious(&mut self) -> bool {
        self.rng.below(SPURIOUS_IN) == 0
    }

    pub fn so_far(&self) -> Coverage {
        Coverage::Sampled(self.done)
    }

    pub fn finish(&mut self) {
        self.done += 1;
        self.under_way = false;
    }

    pub fn rest(&self) -> Vec<Part> {
        // A run that was prepared and not made is still to come.
        Part::of_runs(self.next - u64::from(self.under_way), self.end)
    }
}
