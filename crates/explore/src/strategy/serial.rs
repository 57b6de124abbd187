//! Every order of whole operations: no thread is interrupted between the call and the return of one (phase 1 of Line-Up,
//! PLDI 2010, section 4.1).
//!
//! A machine shows operations as accesses to [`HISTORY`]. The first thread prepares the test, makes operations of its own before and
//! after the others, and goes first whenever it can. A thread that waits at a call is between operations. Any other thread was
//! created by the object itself: it goes on when an operation waits for it, and between operations each such thread may
//! go once, as far as it can.
//!
//! Invariant: an operation that cannot go on ends the run ([`Stop::Blocked`]) although others could begin; the strategy branches
//! only over who comes next, so there is one run for each order.

use std::ops::ControlFlow;

use crate::access::{HISTORY, Kind, Thread};
use crate::point::{ChoicePoint, Coverage, Decision, Pending, Readiness, Run, Stop, Strategy};
use crate::strategy::dfs::Search;
use crate::threads::Threads;

/// All orders of operations.
#[derive(Clone, Debug, Default)]
pub struct Serial {
    search: Search,
    /// The thread whose operation has been called and has not returned.
    open: Option<Thread>,
    /// How many steps of the run were looked at.
    looked: usize,
    /// The threads of the object that went since the last operation.
    went: Threads,
}

impl Serial {
    /// A search that has seen nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes note of calls and returns since the last decision.
    fn look(&mut self, at: &ChoicePoint<'_>) {
        for step in self.looked..at.trace.len() {
            let thread = at.trace.step(step).thread;
            for access in at.trace.accesses(step).iter().filter(|access| access.object == HISTORY) {
                match access.kind {
                    Kind::Call => (self.open, self.went) = (Some(thread), Threads::new()),
                    Kind::Return if self.open == Some(thread) => self.open = None,
                    _ => {}
                }
            }
        }
        self.looked = at.trace.len();
    }

    fn among(&mut self, set: &Threads, at: &ChoicePoint<'_>) -> Decision {
        match set.first().and_then(|first| self.search.thread(set, first)) {
            Some(thread) => Decision::Run(thread),
            None => Decision::Stop(Stop::Diverged(at.trace.len())),
        }
    }
}

/// Whether the thread is between two operations.
fn at_call(pending: &Pending) -> bool {
    pending.access.object == HISTORY && pending.access.kind == Kind::Call
}

fn all<'a>(threads: impl Iterator<Item = &'a Pending>) -> Threads {
    threads.map(|pending| pending.thread).collect()
}

impl Strategy for Serial {
    fn start(&mut self) -> ControlFlow<Coverage> {
        (self.open, self.looked, self.went) = (None, 0, Threads::new());
        if self.search.advance() {
            return ControlFlow::Continue(());
        }
        ControlFlow::Break(if self.search.diverged() { Coverage::Partial } else { Coverage::Exhaustive })
    }

    fn choose(&mut self, at: &ChoicePoint<'_>) -> Decision {
        self.look(at);
        let enabled = || at.pending.iter().filter(|pending| pending.is_enabled());
        let own = |pending: &&Pending| !at_call(pending) && pending.thread.index() != 0;
        if let Some(open) = self.open {
            if enabled().any(|pending| pending.thread == open) {
                return Decision::Run(open);
            }
            let set = all(enabled().filter(own));
            return if set.is_empty() { Decision::Stop(Stop::Blocked) } else { self.among(&set, at) };
        }
        let last = at.current().and_then(|thread| at.pending_of(thread));
        if let Some(last) = last.filter(|last| last.readiness == Readiness::Ready && !at_call(last)) {
            return Decision::Run(last.thread);
        }
        if enabled().any(|pending| pending.thread.index() == 0) {
            return Decision::Run(Thread(0));
        }
        let may = |pending: &&Pending| at_call(pending) || !self.went.contains(pending.thread.index());
        let mut set = all(enabled().filter(may));
        if set.is_empty() {
            set = all(enabled());
        }
        let decision = self.among(&set, at);
        if let Decision::Run(thread) = decision {
            self.went.insert(thread.index());
        }
        decision
    }

    fn pick(&mut self, options: u32) -> u32 {
        self.search.result(options)
    }

    fn diverged(&self) -> bool {
        self.search.diverged()
    }

    fn finish(&mut self, run: &Run<'_>) {
        self.search.ended(run.end);
    }
}
