//! Whose turn it is: who can go, who is held back, and the question to the strategy.
//!
//! Invariant: what [`Control::decide_quickly`] leaves out would have changed nothing; a strategy is asked in either way once before every step.

use selvedge_explore::{Decision, Readiness, Stop, Threads};

use crate::control::{Control, Left, Next};
use crate::{endless, journal, retry};

impl Control {
    /// Who goes next, where little has to be looked at: nobody gave way, and nobody waits for more than the end of a thread.
    #[inline(always)]
    pub fn decide_quickly(&mut self) -> Next {
        if self.run.alive.word() & !self.run.waiting.word() == 0 || self.run.attempts.is_watching() {
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
        if !self.is_calm() || endless::is_watched(self) {
            return None;
        }
        let ready = self.ready_word();
        let thread = self.search.strategy.choose_among(ready, self.run.last)?.index();
        journal::chosen(thread);
        self.run.under_way = true;
        self.run.current = thread;
        Some(thread)
    }

    /// Whether nobody has to be held back, and nobody waits for more than the end of a thread. Where there are more threads than the first word of a set has,
    /// that is not known as quickly.
    #[inline(always)]
    fn is_calm(&self) -> bool {
        let run = &self.run;
        let waits = run.alive.word() & run.waiting.word() & !run.joining.word();
        let others = waits | run.held.word() | run.fairness.held().word();
        others == 0 && !run.gave_way && run.created <= Threads::WORD
    }

    /// Who is ready where all is calm, which is noted.
    #[inline(always)]
    fn ready_word(&mut self) -> u64 {
        let ready = self.run.alive.word() & !self.run.waiting.word();
        if ready != self.run.ready.word() {
            self.show_word(ready);
        }
        ready
    }

    /// This thread makes its step.
    #[inline(always)]
    fn run(&mut self, thread: usize) -> Next {
        journal::chosen(thread);
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
        if !self.run.attempts.looking.is_empty()
            && let Some(thread) = retry::look::review(self)
        {
            return self.run(thread);
        }
        if self.run.attempts.is_watching() && !retry::review(self) {
            return self.leave(Left::Restart);
        }
        let mut enabled = self.refresh_quickly();
        if enabled.is_empty() && self.rouse() {
            enabled = self.refresh();
        }
        if enabled.is_empty() && self.run.attempts.attached.is_empty() && self.stop_polling() {
            enabled = self.refresh();
        }
        if enabled.is_empty() {
            let left = retry::end(self);
            return self.leave(self.unless_excluded(left));
        }
        if self.run.fruitless {
            return self.leave(Left::Stopped(Stop::Unfair));
        }
        if endless::is_watched(self) {
            if let Some(left) = endless::watch(self, &enabled) {
                return self.leave(self.unless_excluded(left));
            }
            if self.is_continued() {
                let thread = self.continues_with(&enabled);
                return self.run(thread);
            }
        }
        let at = selvedge_explore::ChoicePoint {
            trace: &self.run.trace,
            pending: &self.run.pending,
            ready: &self.run.ready,
            held: &self.run.held,
        };
        match self.search.strategy.choose(&at) {
            Decision::Stop(stop) => self.leave(Left::Stopped(stop)),
            Decision::Run(thread) => self.run(thread.index()),
        }
    }

    /// That nobody can go, or that the run goes on for ever, shows nothing where a thread waits only because an assumption did not hold.
    fn unless_excluded(&self, left: Left) -> Left {
        if self.run.excluded && matches!(left, Left::Stuck | Left::Endless) { Left::Blocked } else { left }
    }

    fn leave(&mut self, left: Left) -> Next {
        self.run.left = left;
        Next::Leave
    }

    /// Wakes threads whose loops would see a change that no step made: one by code that is not instrumented.
    fn rouse(&mut self) -> bool {
        let mut any = false;
        for thread in self.run.spinning.iter() {
            let fiber = &mut self.process.fibers[thread];
            fiber.woken = fiber.spin.sees_change();
            any |= fiber.woken;
        }
        any
    }

    /// As `refresh`, which has little to do when nobody gave way and nobody waits for more than the end of a thread.
    #[inline(always)]
    fn refresh_quickly(&mut self) -> Threads {
        if self.is_calm() { Threads::of_word(self.ready_word()) } else { self.refresh() }
    }

    /// Brings the readiness of every thread up to date; the threads that can go.
    #[inline(never)]
    fn refresh(&mut self) -> Threads {
        if self.run.created <= Threads::WORD && !self.run.gave_way && !self.run.fairness.any() {
            return Threads::of_word(self.refresh_word());
        }
        let mut enabled = self.run.alive.without(&self.run.waiting);
        let mut rest = self.run.alive.and(&self.run.waiting).without(&self.run.joining);
        while let Some(thread) = rest.pop() {
            if self.process.fibers[thread].wants.met(thread, self) && !self.polls_in_vain(thread) {
                enabled.insert(thread);
            }
        }
        let mut held = Threads::new();
        if let Some(last) = self.run.last
            && (self.run.gave_way || self.run.fairness.any())
        {
            self.run.fairness.stepped(last, self.run.gave_way, &enabled);
            held = self.run.fairness.held_back(&enabled);
        }
        let ready = enabled.without(&held);
        if ready != self.run.ready || held != self.run.held {
            self.show(ready, held);
        }
        enabled
    }

    /// The same where there are few threads, and nobody has to be held back.
    #[inline(always)]
    fn refresh_word(&mut self) -> u64 {
        let run = &self.run;
        let mut enabled = run.alive.word() & !run.waiting.word();
        let mut rest = run.alive.word() & run.waiting.word() & !run.joining.word();
        while rest != 0 {
            let thread = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let can = self.process.fibers[thread].wants.met(thread, self) && !self.polls_in_vain(thread);
            enabled |= u64::from(can) << thread;
        }
        if (enabled, 0) != (self.run.ready.word(), self.run.held.word()) {
            self.show_word(enabled);
        }
        enabled
    }

    /// Notes who is ready, where that has changed, there are few threads, and nobody is held.
    #[inline(never)]
    fn show_word(&mut self, ready: u64) {
        let run = &mut self.run;
        let mut rest = (ready ^ run.ready.word() | run.held.word()) & run.alive.word();
        run.ready.put_word(ready);
        run.held.put_word(0);
        while rest != 0 {
            let thread = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            run.pending[usize::from(run.slots[thread])].readiness =
                if ready >> thread & 1 == 1 { Readiness::Ready } else { Readiness::Blocked };
        }
    }

    /// Notes who is ready and who is held, where that has changed.
    #[inline(never)]
    fn show(&mut self, ready: Threads, held: Threads) {
        let changed = ready.xor(&self.run.ready).or(&held.xor(&self.run.held));
        let mut rest = changed.and(&self.run.alive);
        (self.run.ready, self.run.held) = (ready, held);
        while let Some(thread) = rest.pop() {
            let (ready, held) = (self.run.ready.contains(thread), self.run.held.contains(thread));
            self.run.pending[usize::from(self.run.slots[thread])].readiness = match (ready, held) {
                (true, _) => Readiness::Ready,
                (_, true) => Readiness::Held,
                _ => Readiness::Blocked,
            };
        }
    }
}
