//! What a preemption-bounded search may leave out when only operations matter: their results, and which of them returned before
//! which was called.
//!
//! 1. A thread is not preempted between the call of an operation and the first step after it, nor right before a return. Calls
//!    and returns touch nothing but the history. Made as late and as early as they can be, they put more operations in order, not
//!    fewer; whatever explains such a history explains every other one with the same results.
//! 2. A thread that was preempted before a step goes on only after somebody made a step that its own cannot be swapped with. Had
//!    it made the step first, and been preempted then, the same would have happened, with no more preemptions. (This is a sleep set
//!    that holds for preempted threads only; for threads that had no turn yet, swapping can cost a preemption.)
//!
//! After somebody gave up its turn nothing is left out of a run any more: who has to wait for whom then depends on who made a step, be it a
//! call. Rule 1 makes calls later and returns earlier, rule 2 makes other steps earlier and is not used before calls, so neither relies on
//! what the other leaves out.
//!
//! Invariant: for every schedule within the bound there is one that is looked at, within the bound, in which every thread does the same,
//! and every operation that came before another still does.

use crate::access::{Access, HISTORY, Kind, Thread, dependent};
use crate::point::{ChoicePoint, Readiness};
use crate::threads::Threads;

/// The threads of the run under way that were preempted, and have no reason yet to go on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Operations {
    asleep: Vec<(Thread, Access)>,
    /// Whether somebody gave up its turn.
    yielded: bool,
    /// How many steps of the run were looked at.
    looked: usize,
}

impl Operations {
    /// A new run begins.
    pub(crate) fn start(&mut self) {
        self.asleep.clear();
        (self.yielded, self.looked) = (false, 0);
    }

    /// Those of `set` that may go on; `current` could go on without a preemption.
    pub(crate) fn filter(&mut self, at: &ChoicePoint<'_>, set: &Threads, current: Option<Thread>) -> Threads {
        self.wake(at);
        if self.yielded {
            return set.clone();
        }
        if let Some(current) = current
            && in_one_piece(at, current)
        {
            return Threads::only(current);
        }
        let asleep: Threads = self.asleep.iter().map(|(thread, _)| *thread).collect();
        set.without(&asleep)
    }

    /// The thread, which could have gone on, was preempted.
    pub(crate) fn preempted(&mut self, at: &ChoicePoint<'_>, thread: Thread) {
        let Some(pending) = at.pending_of(thread) else { return };
        // Of other steps not all accesses are known before.
        let known = matches!(pending.access.kind, Kind::Read | Kind::Write | Kind::Update) && pending.access.size > 0;
        if known && !self.yielded && pending.readiness == Readiness::Ready {
            self.asleep.push((thread, pending.access));
        }
    }

    fn wake(&mut self, at: &ChoicePoint<'_>) {
        for step in self.looked..at.trace.len() {
            if at.trace.step(step).yielded {
                self.yielded = true;
                self.asleep.clear();
            }
            let accesses = at.trace.accesses(step);
            self.asleep.retain(|(_, own)| !accesses.iter().any(|access| dependent(own, access)));
        }
        self.looked = at.trace.len();
    }
}

/// Whether the thread has just called an operation, or is about to return from one.
fn in_one_piece(at: &ChoicePoint<'_>, thread: Thread) -> bool {
    let is = |access: &Access, kind: Kind| access.object == HISTORY && access.kind == kind;
    let called = at.trace.accesses(at.trace.len() - 1).iter().any(|access| is(access, Kind::Call));
    called || at.pending_of(thread).is_some_and(|pending| is(&pending.access, Kind::Return))
}
