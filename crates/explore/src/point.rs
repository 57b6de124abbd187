//! What a strategy is shown, and what it answers.

use std::ops::ControlFlow;

use crate::access::{Access, Thread};
use crate::part::Part;
use crate::threads::Threads;
use crate::trace::Trace;

/// Whether a thread can make its next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Readiness {
    /// It can.
    Ready,
    /// It can, but it gave up its turn, and others who can go have not had theirs ([`crate::Fairness`]).
    Held,
    /// It waits for another thread.
    Blocked,
}

/// What a thread would do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pending {
    /// The thread.
    pub thread: Thread,
    /// The first access of its next step, as far as it is known before.
    pub access: Access,
    /// Whether it can go.
    pub readiness: Readiness,
}

impl Pending {
    /// Those that are as ready as that.
    pub fn of_readiness(pending: &[Pending], readiness: Readiness) -> Threads {
        pending.iter().filter(|pending| pending.readiness == readiness).map(|pending| pending.thread).collect()
    }

    /// Whether the step is possible now.
    #[inline]
    pub fn is_enabled(&self) -> bool {
        self.readiness != Readiness::Blocked
    }
}

/// A moment at which somebody has to decide who goes next. At least one thread is enabled.
#[derive(Clone, Copy, Debug)]
pub struct ChoicePoint<'a> {
    /// What the run did so far.
    pub trace: &'a Trace,
    /// Every thread that was created and has not ended, in the order of creation.
    pub pending: &'a [Pending],
    /// The threads that are [`Readiness::Ready`].
    pub ready: &'a Threads,
    /// The threads that are [`Readiness::Held`].
    pub held: &'a Threads,
}

impl<'a> ChoicePoint<'a> {
    /// Who made the last step.
    #[inline]
    pub fn current(&self) -> Option<Thread> {
        self.trace.steps().last().map(|step| step.thread)
    }

    /// What that thread would do, if it has not ended.
    #[inline]
    pub fn pending_of(&self, thread: Thread) -> Option<&Pending> {
        self.pending.iter().find(|pending| pending.thread == thread)
    }

    /// The threads to choose from: those that are ready, or, when nobody is, those that are held.
    #[inline]
    pub fn available(&self) -> &Threads {
        if self.ready.is_empty() { self.held } else { self.ready }
    }

    /// Whether running another thread now would take the processor from one that could go on.
    #[inline]
    pub fn preempts(&self) -> bool {
        self.current().is_some_and(|thread| self.ready.contains(thread.index()))
    }
}

/// Why a strategy ends a run early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stop {
    /// Every way to go on was, or will be, explored by other runs.
    Redundant,
    /// The program did something else than in the run that this one repeats, at this step.
    Diverged(usize),
    /// An operation waits, and no other may begin before it returns.
    Blocked,
    /// A thread that has to let others go first would go once more, after so many times that the schedule is not fair any longer.
    Unfair,
}

/// The answer to a choice point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decision {
    /// This thread makes its next step. It must be enabled.
    Run(Thread),
    /// The run ends here.
    Stop(Stop),
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// Every thread ended.
    Complete,
    /// Threads are left, and none can go.
    Stuck,
    /// A state came again, and in between every thread went that could: this can go on for ever under a fair scheduler.
    Endless,
    /// The machine gave up at a limit. Whether the run has an end is not known.
    Truncated,
    /// The program failed.
    Failed,
    /// The strategy ended it.
    Stopped(Stop),
}

/// A run that has ended.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// What it did.
    pub trace: &'a Trace,
    /// What the threads that had not ended would have done next.
    pub pending: &'a [Pending],
    /// How it ended.
    pub end: End,
}

/// How much of what could have happened was seen, relative to what the machine controls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Coverage {
    /// Every schedule, or one of every class of equivalent ones.
    Exhaustive,
    /// Every schedule with at most so many preemptions.
    Preemptions(u32),
    /// So many schedules drawn at random.
    Sampled(u64),
    /// The one schedule that was asked for.
    Replayed,
    /// Less than the strategy set out to see: a program that does not repeat itself, or runs that were not fair.
    Partial,
}

/// A way to search the schedules.
pub trait Strategy {
    /// Prepares the next run, or says what was covered when there is none.
    fn start(&mut self) -> ControlFlow<Coverage>;

    /// Who goes next. Called once before every step, also when only one thread can go.
    fn choose(&mut self, at: &ChoicePoint<'_>) -> Decision;

    /// The same where no more counts than who is ready, at least one, and who made the last step; nobody is held, and none has a number beyond the first word of
    /// [`Threads`], which is what this is. `None` when the strategy has to see more, and then nothing was decided.
    fn choose_among(&mut self, ready: u64, last: Option<Thread>) -> Option<Thread> {
        let _ = (ready, last);
        None
    }

    /// Whether it looks at what threads would do next. Where it does not, nobody has to say so.
    fn looks_ahead(&self) -> bool {
        true
    }

    /// Whether most runs begin as the last one did.
    fn follows(&self) -> bool {
        false
    }

    /// How many of the first steps of the run that was prepared are those of the last one that it prepared: the same decisions lead to them.
    fn repeats(&self) -> usize {
        0
    }

    /// Which of `options` results (at least one) the step under way has.
    fn pick(&mut self, options: u32) -> u32;

    /// Whether the step under way comes to nothing although there is no reason: a wait that ends before anybody has woken the thread. Machines ask once for each such step of a
    /// thread and place, until one was. It counts like a preemption.
    fn spurious(&mut self) -> bool {
        self.pick(2) == 1
    }

    /// Learns from the run that has ended.
    fn finish(&mut self, run: &Run<'_>);

    /// What is covered if the search ends now; `None` when nothing can be said.
    fn so_far(&self) -> Option<Coverage> {
        None
    }

    /// What is left to search, as parts that do not overlap, in the order in which this strategy would come to them. `None` when it
    /// cannot be taken apart.
    fn rest(&self) -> Option<Vec<Part>> {
        None
    }

    /// Whether a bound kept anything out, of the bound that is being searched.
    fn cut(&self) -> bool {
        false
    }

    /// Whether it learns from what threads that wait would have done, so that a run in which they wait for ever leads on to those
    /// in which they do not.
    fn turns_races(&self) -> bool {
        false
    }

    /// Whether it goes through everything there is, so that it would not come to an end of loops that have none.
    fn is_exhaustive(&self) -> bool {
        false
    }

    /// Whether it repeats a schedule that was written down, and wants to be asked about every step of it.
    fn replays(&self) -> bool {
        false
    }

    /// Whether that thread goes next in it.
    fn insists(&self, thread: Thread) -> bool {
        let _ = thread;
        false
    }

    /// Whether the last run was not what the runs before it say: the program did not repeat itself. Such a run may have come to its end, with fewer decisions.
    fn diverged(&self) -> bool {
        false
    }

    /// How many runs were ended because they could only have repeated others.
    fn redundant(&self) -> u64 {
        0
    }

    /// How many runs were ended because they were not fair.
    fn unfair(&self) -> u64 {
        0
    }
}
