//! Threads that are still running when the test has returned.
//!
//! In C the end of `main` ends the process, and all threads that are left over. Nothing keeps a test from returning late: whatever such a thread does afterwards it
//! could as well have done before. So it runs to its end, unless the settings want otherwise, and what it does wrong is found like everything else. That it was left over is told where nothing worse
//! is found ([`selvedge_protocol::Finding::is_last_resort`]).
//!
//! Invariant: a thread that cannot end, or that waits for what only the first thread could do, is left over, and stuck with nobody. Only threads that wait for one another in a circle are: they
//! would do so as well if the test had not returned yet.

use selvedge_explore::{Access, Kind};
use selvedge_protocol::{Cause, Leaks};

use crate::control::Control;
use crate::finding::Failure;
use crate::posix::objects;

impl Control {
    /// Whether it matters that threads are left over when the current one ends. In Rust a scope ends while its threads are still on their way out, and a test waits for
    /// them: only those that never end are left over. The first thread of a program in C may end before the others by `pthread_exit`, and the process ends with the last.
    fn leaves_threads(&self) -> bool {
        self.run.current == 0 && !self.process.hosted && !self.run.goes_on && self.search.leaks != Leaks::Allow
    }

    /// Whether a thread is left over when the test returns depends on which comes first: the last step of the test, or that of the thread. They
    /// do not commute, unless somebody joined it.
    pub fn looks_for_leftovers(&mut self) {
        if !self.leaves_threads() {
            return;
        }
        for other in (1..self.run.created).filter(|&other| !self.process.fibers[other].joined) {
            self.run.trace.amend(Access::new(objects::ended(other), 1, Kind::Read));
        }
    }

    /// The current thread is about to end: whether the run ends with it, because threads are left over.
    pub fn leaks(&mut self) -> bool {
        if !self.leaves_threads() {
            return false;
        }
        let left_over = (1..self.run.created).find(|&other| self.process.fibers[other].may_be_left_over());
        match self.search.leaks {
            Leaks::Stop if left_over.is_some() => {
                self.fail(Failure::new(Cause::LeftRunning(left_over.unwrap_or(0) as u16), 0));
                true
            }
            _ => {
                self.run.leaked = left_over.or(self.run.leaked);
                false
            }
        }
    }

    /// Whether the test has returned, and only threads that it left over go on.
    pub fn has_returned(&self) -> bool {
        self.process.fibers[0].ended && !self.run.goes_on
    }
}

/// What is told of a run in which every thread has ended.
pub fn of_run(control: &Control) -> Option<Failure> {
    Some(Failure::new(Cause::LeftRunning(control.run.leaked? as u16), 0))
}
