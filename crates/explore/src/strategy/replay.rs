//! One schedule again. A thread that cannot go where the schedule wants it means that the program is not the one that the
//! schedule was made by, or does not repeat itself; the run then stops instead of doing something else.

use std::ops::ControlFlow;

use crate::access::Thread;
use crate::point::{ChoicePoint, Coverage, Decision, End, Run, Stop, Strategy};
use crate::trace::Choice;

/// The run of one schedule.
#[derive(Clone, Debug)]
pub struct Replay {
    schedule: Vec<Choice>,
    at: usize,
    started: bool,
    diverged: bool,
}

impl Replay {
    /// Repeats that schedule once.
    pub fn new(schedule: Vec<Choice>) -> Self {
        Replay { schedule, at: 0, started: false, diverged: false }
    }

    /// Whether the run did something that the schedule does not say.
    pub fn diverged(&self) -> bool {
        self.diverged
    }
}

impl Strategy for Replay {
    fn start(&mut self) -> ControlFlow<Coverage> {
        if self.started {
            return ControlFlow::Break(if self.diverged { Coverage::Partial } else { Coverage::Replayed });
        }
        self.started = true;
        ControlFlow::Continue(())
    }

    fn choose(&mut self, at: &ChoicePoint<'_>) -> Decision {
        let next = self.schedule.get(self.at).copied();
        self.at += 1;
        match next {
            Some(Choice::Run(thread)) if at.pending_of(thread).is_some_and(|pending| pending.is_enabled()) => {
                Decision::Run(thread)
            }
            _ => {
                self.diverged = true;
                Decision::Stop(Stop::Diverged(at.trace.len()))
            }
        }
    }

    fn pick(&mut self, options: u32) -> u32 {
        let next = self.schedule.get(self.at).copied();
        self.at += 1;
        match next {
            Some(Choice::Pick(chosen)) if chosen < options => chosen,
            _ => {
                self.diverged = true;
                0
            }
        }
    }

    fn replays(&self) -> bool {
        true
    }

    fn insists(&self, thread: Thread) -> bool {
        self.schedule.get(self.at) == Some(&Choice::Run(thread))
    }

    fn finish(&mut self, run: &Run<'_>) {
        if self.at < self.schedule.len() || matches!(run.end, End::Stopped(_)) {
            self.diverged = true;
        }
    }
}
