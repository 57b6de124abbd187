//! Whose turn it is: who can go, who is held back, and the question to the strategy.
//!
//! Invariant: what [`Control::decide_quickly`] leaves out would have changed nothing; a strategy is asked in either way once before every step.

use selvedge_explore::{Decision, Readiness, Stop};

use crate::control::{self, Control, Left, Next};
use crate::{endless, retry};

impl Control {
    /// Who goes next, where little has to be looked at: nobody gave way, and nobody waits for more than the end of a thread.
    #[inline(always)]
    pub fn decide_quickly(&mut self) -> Next {
        if self.run.alive & !self.run.waiting == 0 || self.run.attempts.is_watching() {
            return self.decide();
        }
        let current = self.run.current;
        match self.choose_quickly() {
            Some(thread) if thread == current => Next::Stay,
            Some(thread) => Next::Switch(thread),
            None => self.decide(),
        }
    }

    /// The same where somebody can go, and loops that try again are not looked at; `None` where more has to be looked at.
    #[inline(always)]
    pub fn choose_quickly(&mut self) -> Option<usize> {
        let ready = self.run.alive & !self.run.waiting;
        if !self.is_calm() || endless::is_watched(self) {
            return None;
        }
        if ready != self.run.ready {
            self.show(ready, 0);
        }
        let thread = self.search.strategy.choose_among(ready, self.run.last)?.index();
        control::count_step();
        self.run.under_way = true;
        self.run.current = thread;
        Some(thread)
    }

    /// Whether nobody has to be held back, and nobody waits for more than the end of a thread.
    #[inline(always)]
    fn is_calm(&self) -> bool {
        let others = self.run.alive & self.run.waiting & !self.run.joining | self.run.held | self.run.fairness.held();
        others == 0 && !self.run.gave_way
    }

    /// This thread makes its step.
    #[inline(always)]
    fn run(&mut self, thread: usize) -> Next {
        control::count_step();
        self.run.under_way = true;
        if thread == self.run.current {
            return Next::Stay;
        }
        self.run.current = thread;
        Next::Switch(thread)
    }

    /// Who goes next.
    #[inline(never)]
    pub fn decide(&mut self) -> Next {
        if self.run.pending.is_empty() {
            return self.leave(self.ended());
        }
        if self.run.attempts.is_watching() && !retry::review(self) {
            return self.leave(Left::Restart);
        }
        let mut enabled = self.refresh_quickly();
        if enabled == 0 && self.rouse() {
            enabled = self.refresh();
        }
        if enabled == 0 && self.run.attempts.attached == 0 && self.stop_polling() {
            enabled = self.refresh();
        }
        if enabled == 0 {
            let left = retry::end(self);
            return self.leave(left);
        }
        if self.run.fruitless {
            return self.leave(Left::Stopped(Stop::Unfair));
        }
        if endless::is_watched(self) {
            if let Some(left) = endless::watch(self, enabled) {
                return self.leave(left);
            }
            if self.is_continued() {
                let thread = self.continues_with(enabled);
                return self.run(thread);
            }
        }
        let at = selvedge_explore::ChoicePoint {
            trace: &self.run.trace,
            pending: &self.run.pending,
            ready: self.run.ready,
            held: self.run.held,
        };
        match self.search.strategy.choose(&at) {
            Decision::Stop(stop) => self.leave(Left::Stopped(stop)),
            Decision::Run(thread) => self.run(thread.index()),
        }
    }

    fn leave(&mut self, left: Left) -> Next {
        self.run.left = left;
        Next::Leave
    }

    /// Wakes threads whose loops would see a change that no step made: one by code that is not instrumented.
    fn rouse(&mut self) -> bool {
        let mut any = false;
        for thread in (0..self.run.created).filter(|&thread| self.run.spinning & 1 << thread != 0) {
            let fiber = &mut self.process.fibers[thread];
            fiber.woken = fiber.spin.sees_change();
            any |= fiber.woken;
        }
        any
    }

    /// As `refresh`, which has little to do when nobody gave way and nobody waits for more than the end of a thread.
    #[inline(always)]
    fn refresh_quickly(&mut self) -> u64 {
        if !self.is_calm() {
            return self.refresh();
        }
        let ready = self.run.alive & !self.run.waiting;
        if ready != self.run.ready {
            self.show(ready, 0);
        }
        ready
    }

    /// Brings the readiness of every thread up to date; the threads that can go, one bit each.
    #[inline(never)]
    fn refresh(&mut self) -> u64 {
        let mut enabled = self.run.alive & !self.run.waiting;
        let mut rest = self.run.alive & self.run.waiting & !self.run.joining;
        while rest != 0 {
            let thread = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let can = self.process.fibers[thread].wants.met(thread, self) && !self.polls_in_vain(thread);
            enabled |= u64::from(can) << thread;
        }
        let mut held = 0;
        if let Some(last) = self.run.last
            && (self.run.gave_way || self.run.fairness.any())
        {
            self.run.fairness.stepped(last, self.run.gave_way, enabled);
            held = self.run.fairness.held_back(enabled);
        }
        let ready = enabled & !held;
        if (ready, held) != (self.run.ready, self.run.held) {
            self.show(ready, held);
        }
        enabled
    }

    /// Notes who is ready and who is held, where that has changed.
    #[inline(never)]
    fn show(&mut self, ready: u64, held: u64) {
        let mut rest = (ready ^ self.run.ready | held ^ self.run.held) & self.run.alive;
        (self.run.ready, self.run.held) = (ready, held);
        while rest != 0 {
            let thread = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            self.run.pending[usize::from(self.run.slots[thread])].readiness =
                match (ready >> thread & 1, held >> thread & 1) {
                    (1, _) => Readiness::Ready,
                    (_, 1) => Readiness::Held,
                    _ => Readiness::Blocked,
                };
        }
    }
}
