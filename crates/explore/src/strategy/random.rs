//! Uniform choice at every point.

use std::ops::ControlFlow;

use crate::access::Thread;
use crate::part::Part;
use crate::point::{ChoicePoint, Coverage, Decision, Run, Strategy};
use crate::strategy::dfs::available;
use crate::strategy::sampled::Sampled;
use crate::threads::Threads;

/// In one of so many runs threads that are held back may go on, as if nobody had given up a turn.
const PRESSED_IN: u64 = 4;

/// Schedules drawn at random.
#[derive(Clone, Debug)]
pub struct Random {
    runs: Sampled,
    presses: bool,
}

impl Random {
    /// Runs `first` to `first + count` of that seed.
    pub fn new(seed: u64, first: u64, count: u64) -> Self {
        Random { runs: Sampled::new(seed, first, count), presses: false }
    }

    /// One of several threads, whatever their numbers.
    fn draw_of_all(&mut self, set: &Threads) -> Option<Thread> {
        let count = set.len() as u64;
        if count <= 1 { None } else { set.nth(self.runs.rng.below(count) as usize) }
    }

    /// One of several threads; `None` when there is no choice.
    #[inline(always)]
    fn draw(&mut self, mut set: u64) -> Option<Thread> {
        let others = set & set.wrapping_sub(1);
        if others == 0 {
            return None;
        }
        // Without branches on what was drawn, which no processor can guess.
        if others & (others - 1) == 0 {
            let second = self.runs.rng.below(2).wrapping_neg();
            return Some(Thread((others & second | (set ^ others) & !second).trailing_zeros() as u16));
        }
        let count = u64::from(set.count_ones());
        let rank = self.runs.rng.below(count);
        for dropped in 1..count {
            let lowest = set & set.wrapping_neg();
            set ^= if dropped <= rank { lowest } else { 0 };
        }
        Some(Thread(set.trailing_zeros() as u16))
    }
}

impl Strategy for Random {
    fn start(&mut self) -> ControlFlow<Coverage> {
        let run = self.runs.start()?;
        self.presses = run % PRESSED_IN == PRESSED_IN - 1;
        ControlFlow::Continue(())
    }

    fn choose(&mut self, at: &ChoicePoint<'_>) -> Decision {
        let (ready, first) = available(at);
        if let (Some(ready), Some(held)) = (ready.few(), at.held.few()) {
            return Decision::Run(self.draw(if self.presses { ready | held } else { ready }).unwrap_or(first));
        }
        let set = if self.presses { ready.or(at.held) } else { ready.clone() };
        Decision::Run(self.draw_of_all(&set).unwrap_or(first))
    }

    fn looks_ahead(&self) -> bool {
        false
    }

    fn choose_among(&mut self, ready: u64, _: Option<Thread>) -> Option<Thread> {
        self.draw(ready).or(Some(Thread(ready.trailing_zeros() as u16)))
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
