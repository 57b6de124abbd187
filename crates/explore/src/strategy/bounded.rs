//! Depth-first search with a bound on preemptions, which grows from 0 (Musuvathi and Qadeer, *Iterative context
//! bounding*, PLDI 2007). Most bugs need two preemptions or fewer.
//!
//! A switch away from a thread that could go on is a preemption; one at a block, an end or a yield is free. To go on after yields at which others
//! should have gone first counts as one preemption, however often it is done in a row: a thread that looks some times, gives way in
//! between and then sleeps is so seen to sleep too early. Each bound
//! starts from the beginning and so repeats the schedules of the smaller ones: that costs a fraction of the last bound and no
//! memory, where a queue of the schedules left for the next bound would grow with the number of runs.

use std::borrow::Cow;
use std::ops::ControlFlow;

use crate::access::Thread;
use crate::part::Part;
use crate::point::{ChoicePoint, Coverage, Decision, End, Run, Stop, Strategy};
use crate::strategy::dfs::{Search, available, preferred};
use crate::strategy::operations::Operations;
use crate::threads::Threads;

/// How many steps in a row a thread may make that has to let others go first.
const STRETCH_MAX: u32 = 16;

/// Every schedule with at most a number of preemptions.
#[derive(Clone, Debug)]
pub struct Bounded {
    search: Search,
    bound: u32,
    bound_max: u32,
    preemptions: u32,
    /// Whether each decision for another thread than the preferred one counts as a preemption does.
    every: bool,
    /// How many steps in a row the thread that goes has made although it has to let others go first.
    stretch: u32,
    /// Whether the bound, or fairness, kept anything out.
    cut: bool,
    runs: Vec<u64>,
    /// What is left out when only operations matter.
    operations: Option<Operations>,
    /// How many runs were ended early.
    redundant: u64,
    /// How many runs were given up because they went on and on and were not fair.
    unfair: u64,
    /// Whether the machine gave up a run at a limit.
    truncated: bool,
}

impl Bounded {
    /// Bounds 0 to `bound_max`, one after the other.
    pub fn new(bound_max: u32) -> Self {
        Self::between(0, bound_max)
    }

    /// Bounds `first` to `bound_max`, one after the other.
    pub fn between(first: u32, bound_max: u32) -> Self {
        let search = Search::default();
        let (runs, operations, redundant, unfair) = (vec![0], None, 0, 0);
        Bounded {
            search,
            bound: first,
            bound_max,
            preemptions: 0,
            every: false,
            stretch: 0,
            cut: false,
            runs,
            operations,
            redundant,
            unfair,
            truncated: false,
        }
    }

    /// All schedules with at most so many decisions for another thread than the one that goes on, or that was created first (Emmi, Qadeer and Rakamarić, *Delay-bounded scheduling*, POPL
    /// 2011, where a delay goes on to any thread). There are few of them however many threads there are, where those without a preemption are as many as the orders in which threads may end.
    pub fn of_turns(bound: u32) -> Self {
        Bounded { every: true, ..Self::between(bound, bound) }
    }

    /// The same search, for somebody to whom only operations matter: their results, and which returned before which was called.
    /// What it leaves out shows no more than what it does not ([`Operations`]).
    pub fn of_operations(self) -> Self {
        Bounded { operations: Some(Operations::default()), ..self }
    }

    /// A part of the search with that one bound; `None` when the part is not one of a depth-first search. What it answers at its end is
    /// about the part: `Exhaustive` when nothing was kept out of it.
    pub fn of_part(bound: u32, part: &Part) -> Option<Self> {
        let (ranks, fixed) = part.tree()?;
        Some(Bounded { search: Search::of_part(ranks, fixed), ..Self::between(bound, bound) })
    }

    /// The thread that went last, if it has to let others go first and may go on nevertheless. What threads that are held back would do
    /// otherwise is left out, as what takes too many preemptions is.
    fn presses(&mut self, at: &ChoicePoint<'_>) -> Option<Thread> {
        if at.held.is_empty() || at.ready.is_empty() {
            return None;
        }
        self.cut = true;
        let allowed = if self.stretch == 0 { self.preemptions < self.bound } else { self.stretch < STRETCH_MAX };
        let last = at.current().filter(|_| allowed && self.operations.is_none());
        last.filter(|last| at.held.contains(last.index()))
    }

    /// The bound that is being searched.
    pub fn bound(&self) -> u32 {
        self.bound
    }

    /// How many runs each bound took so far.
    pub fn runs_by_bound(&self) -> &[u64] {
        &self.runs
    }
}

impl Strategy for Bounded {
    fn start(&mut self) -> ControlFlow<Coverage> {
        (self.preemptions, self.stretch) = (0, 0);
        if let Some(operations) = &mut self.operations {
            operations.start();
        }
        while !self.search.advance() {
            if self.search.diverged() || self.unfair > 0 || self.truncated {
                return ControlFlow::Break(Coverage::Partial);
            }
            if !self.cut {
                return ControlFlow::Break(Coverage::Exhaustive);
            }
            if self.bound >= self.bound_max {
                return ControlFlow::Break(Coverage::Preemptions(self.bound));
            }
            self.bound += 1;
            self.cut = false;
            self.runs.push(0);
            self.search.restart();
        }
        ControlFlow::Continue(())
    }

    fn choose(&mut self, at: &ChoicePoint<'_>) -> Decision {
        let (set, mut first) = available(at);
        let mut set = Cow::Borrowed(set);
        let pressing = self.presses(at);
        if let Some(thread) = pressing {
            set.to_mut().insert(thread.index());
        }
        let preempts = at.preempts();
        if let Some(operations) = &mut self.operations {
            set = Cow::Owned(operations.filter(at, &set, preempts.then_some(first)));
            let Some(lowest) = set.first() else {
                self.redundant += 1;
                return Decision::Stop(Stop::Redundant);
            };
            if !set.contains(first.index()) {
                first = lowest;
            }
        }
        let counts = preempts || self.every;
        if counts && self.preemptions >= self.bound && set.len() > 1 {
            set = Cow::Owned(Threads::only(first));
            self.cut = true;
        }
        let Some(thread) = self.search.thread(&set, first) else {
            return Decision::Stop(Stop::Diverged(at.trace.len()));
        };
        if Some(thread) == pressing {
            self.preemptions += u32::from(self.stretch == 0);
            self.stretch += 1;
        } else {
            self.stretch = 0;
        }
        if counts && thread != first {
            self.preemptions += 1;
            if let Some(operations) = &mut self.operations {
                operations.preempted(at, first);
            }
        }
        Decision::Run(thread)
    }

    fn looks_ahead(&self) -> bool {
        self.operations.is_some()
    }

    fn choose_among(&mut self, ready: u64, last: Option<Thread>) -> Option<Thread> {
        if self.operations.is_some() {
            return None;
        }
        let mut ready = Threads::of_word(ready);
        let first = preferred(&ready, last)?;
        let counts = last == Some(first) || self.every;
        if counts && self.preemptions >= self.bound && ready.word() != 1 << first.index() {
            ready = Threads::of_word(1 << first.index());
            self.cut = true;
        }
        // One that diverged says so when it is asked again.
        let thread = self.search.thread(&ready, first)?;
        self.preemptions += u32::from(counts && thread != first);
        // Nobody is held, so nobody presses on.
        self.stretch = 0;
        Some(thread)
    }

    fn follows(&self) -> bool {
        true
    }

    fn repeats(&self) -> usize {
        self.search.repeats()
    }

    fn pick(&mut self, options: u32) -> u32 {
        self.search.result(options)
    }

    fn spurious(&mut self) -> bool {
        if self.preemptions >= self.bound {
            self.cut = true;
            return false;
        }
        let spurious = self.search.result(2) == 1;
        self.preemptions += u32::from(spurious);
        spurious
    }

    fn so_far(&self) -> Option<Coverage> {
        self.bound.checked_sub(1).filter(|_| self.runs.len() > 1).map(Coverage::Preemptions)
    }

    fn rest(&self) -> Option<Vec<Part>> {
        Some(self.search.rest())
    }

    fn cut(&self) -> bool {
        self.cut
    }

    fn redundant(&self) -> u64 {
        self.redundant
    }

    fn unfair(&self) -> u64 {
        self.unfair
    }

    fn diverged(&self) -> bool {
        self.search.diverged()
    }

    fn finish(&mut self, run: &Run<'_>) {
        self.unfair += u64::from(run.end == End::Stopped(Stop::Unfair));
        self.truncated |= run.end == End::Truncated;
        self.search.ended(run.end);
        if let Some(runs) = self.runs.last_mut() {
            *runs += 1;
        }
    }
}
