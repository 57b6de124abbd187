//! Plain depth-first search: every schedule there is, the unfair ones up to a limit, beyond which it does not claim to be
//! complete. The oracle for the reduction on small programs, and the one loop under the preemption bound.
//!
//! Invariant: between two runs the frames spell the schedule of the next run up to its last decision that is new;
//! what follows is decided by taking the first option. Memory grows with the length of a run, not with the number of runs.
//! It visits up to (Σnᵢ)! / Πnᵢ! schedules for threads of nᵢ steps.

use std::ops::ControlFlow;

use crate::access::Thread;
use crate::fair::Patience;
use crate::part::Part;
use crate::point::{ChoicePoint, Coverage, Decision, End, Run, Stop, Strategy};
use crate::threads::Threads;

/// The options at one decision, and which of them is taken.
#[derive(Clone, Debug)]
struct Frame {
    options: Options,
    taken: u32,
    /// How many threads were decided on before.
    steps: u32,
    /// The thread that this is, if it is one.
    thread: Option<Thread>,
}

impl Frame {
    /// How many threads were decided on, up to here.
    fn steps_after(&self) -> u32 {
        self.steps + u32::from(self.thread.is_some())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Options {
    /// Threads, and which goes first.
    Threads { set: Threads, first: Thread },
    /// Results of a step.
    Results(u32),
}

impl Options {
    fn len(&self) -> u32 {
        match self {
            Options::Threads { set, .. } => set.len() as u32,
            Options::Results(options) => *options,
        }
    }

    /// The thread with that rank: the one that goes first, then the others in their order.
    fn thread(&self, rank: u32) -> Option<Thread> {
        let Options::Threads { set, first } = self else { return None };
        if rank == 0 {
            return Some(*first);
        }
        let rank = rank as usize;
        // Those with lower numbers have moved up by one.
        let before = set.nth(rank - 1)?;
        if before < *first { Some(before) } else { set.nth(rank) }
    }
}

/// Depth-first search over the decisions that a filter lets through, of all schedules or of a part of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Search {
    frames: Vec<Frame>,
    depth: usize,
    started: bool,
    diverged: bool,
    /// Whether a run was prepared and has not ended.
    under_way: bool,
    /// How many steps of the run that was prepared are those of the one before.
    repeats: usize,
    /// The decisions that the first run begins with, and how many of them stay.
    ranks: Vec<u32>,
    fixed: usize,
}

impl Search {
    /// A search of that part only.
    pub(crate) fn of_part(ranks: Vec<u32>, fixed: usize) -> Self {
        Search { ranks, fixed, ..Search::default() }
    }

    /// Prepares the next run; false when there is none.
    pub(crate) fn advance(&mut self) -> bool {
        self.depth = 0;
        self.under_way = self.find_next();
        self.under_way
    }

    /// How many steps of the run that was prepared are those of the one before.
    pub(crate) fn repeats(&self) -> usize {
        self.repeats
    }

    fn find_next(&mut self) -> bool {
        self.repeats = 0;
        if !self.started {
            self.started = true;
            return true;
        }
        if self.diverged {
            return false;
        }
        while self.frames.len() > self.fixed
            && let Some(frame) = self.frames.last_mut()
        {
            if frame.taken + 1 < frame.options.len() {
                frame.taken += 1;
                frame.thread = frame.options.thread(frame.taken);
                // A result that differs belongs to a step that was decided on before.
                self.repeats = (frame.steps as usize).saturating_sub(usize::from(frame.thread.is_none()));
                return true;
            }
            self.frames.pop();
        }
        false
    }

    /// What is left to search, as parts that do not overlap, in the order in which this search would come to them.
    pub(crate) fn rest(&self) -> Vec<Part> {
        let mut at = self.clone();
        if at.diverged || !at.under_way && !at.advance() {
            return vec![];
        }
        if at.frames.is_empty() {
            return vec![Part::Tree { ranks: at.ranks, fixed: at.fixed as u32 }];
        }
        let ranks: Vec<u32> = at.frames.iter().map(|frame| frame.taken).collect();
        let last = ranks.len() - 1;
        let mut parts = vec![Part::Tree { ranks: ranks.clone(), fixed: last.max(at.fixed) as u32 }];
        for depth in (at.fixed..last).rev() {
            let Frame { options, taken, .. } = &at.frames[depth];
            if taken + 1 < options.len() {
                let mut ranks = ranks[..=depth].to_vec();
                ranks[depth] += 1;
                parts.push(Part::Tree { ranks, fixed: depth as u32 });
            }
        }
        parts
    }

    /// Starts over, with everything.
    pub(crate) fn restart(&mut self) {
        *self = Search { frames: std::mem::take(&mut self.frames), ..Search::default() };
        self.frames.clear();
    }

    /// Whether the program did not repeat itself.
    pub(crate) fn diverged(&self) -> bool {
        self.diverged
    }

    /// The thread to run among `set`, `first` before the others.
    #[inline(always)]
    pub(crate) fn thread(&mut self, set: &Threads, first: Thread) -> Option<Thread> {
        if let Some(frame) = self.frames.get(self.depth)
            && let Options::Threads { set: known, first: preferred } = &frame.options
            && (known, *preferred) == (set, first)
        {
            self.depth += 1;
            return frame.thread;
        }
        self.new_thread(set, first)
    }

    /// The same where the last run does not say.
    #[inline(never)]
    fn new_thread(&mut self, set: &Threads, first: Thread) -> Option<Thread> {
        let set = set.clone();
        if self.depth == self.frames.len() && self.ranks.is_empty() {
            self.push(Options::Threads { set, first }, 0, Some(first));
            return Some(first);
        }
        self.decide(Options::Threads { set, first })?;
        self.frames[self.depth - 1].thread
    }

    /// One more decision.
    #[inline]
    fn push(&mut self, options: Options, taken: u32, thread: Option<Thread>) {
        let steps = self.frames.last().map_or(0, Frame::steps_after);
        self.frames.push(Frame { options, taken, steps, thread });
        self.depth += 1;
    }

    /// A result among so many.
    pub(crate) fn result(&mut self, options: u32) -> u32 {
        self.decide(Options::Results(options)).unwrap_or(0)
    }

    fn decide(&mut self, options: Options) -> Option<u32> {
        if self.depth == self.frames.len() {
            let taken = self.ranks.get(self.depth).copied().unwrap_or(0);
            if taken >= options.len() {
                self.diverged = true;
                return None;
            }
            let thread = options.thread(taken);
            self.push(options, taken, thread);
            return Some(taken);
        } else if self.frames[self.depth].options != options {
            self.diverged = true;
            return None;
        }
        self.depth += 1;
        Some(self.frames[self.depth - 1].taken)
    }

    /// The run ended: decisions of an earlier run beyond its end no longer count.
    pub(crate) fn ended(&mut self, end: End) {
        let short = self.depth < self.frames.len() || self.depth < self.ranks.len();
        if matches!(end, End::Stopped(Stop::Diverged(_))) || short {
            self.diverged = true;
        }
        self.frames.truncate(self.depth);
        self.ranks.clear();
        self.under_way = false;
    }
}

/// The threads available at a choice point, and the one to prefer: who ran last, else the first.
#[inline]
pub(crate) fn available<'a>(at: &'a ChoicePoint<'_>) -> (&'a Threads, Thread) {
    let set = at.available();
    (set, preferred(set, at.current()).expect("a choice point has an enabled thread"))
}

/// Every schedule, one after the other.
#[derive(Clone, Debug, Default)]
pub struct Dfs {
    search: Search,
    patience: Patience,
    unfair: u64,
    /// Whether the machine gave up a run at a limit.
    truncated: bool,
}

impl Dfs {
    /// A search that has seen nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A search of one part; `None` when the part is not one of a depth-first search.
    pub fn of_part(part: &Part) -> Option<Self> {
        let (ranks, fixed) = part.tree()?;
        Some(Dfs { search: Search::of_part(ranks, fixed), ..Dfs::default() })
    }
}

/// The one to prefer among those who are ready: who ran last, else the first.
#[inline(always)]
pub(crate) fn preferred(ready: &Threads, last: Option<Thread>) -> Option<Thread> {
    last.filter(|thread| ready.contains(thread.index())).or_else(|| ready.first())
}

impl Strategy for Dfs {
    fn start(&mut self) -> ControlFlow<Coverage> {
        if self.search.advance() {
            self.patience.start();
            return ControlFlow::Continue(());
        }
        let partial = self.search.diverged() || self.unfair > 0 || self.truncated;
        ControlFlow::Break(if partial { Coverage::Partial } else { Coverage::Exhaustive })
    }

    fn choose(&mut self, at: &ChoicePoint<'_>) -> Decision {
        // Those who have to let others go first may go too, only not for ever.
        let (set, first) = available(at);
        match self.search.thread(&set.or(at.held), first) {
            Some(thread) if self.patience.allows(thread, at) => Decision::Run(thread),
            Some(_) => Decision::Stop(Stop::Unfair),
            None => Decision::Stop(Stop::Diverged(at.trace.len())),
        }
    }

    fn looks_ahead(&self) -> bool {
        false
    }

    fn choose_among(&mut self, ready: u64, last: Option<Thread>) -> Option<Thread> {
        if !self.patience.is_fresh() {
            return None;
        }
        // One that diverged says so when it is asked again.
        let ready = Threads::of_word(ready);
        self.search.thread(&ready, preferred(&ready, last)?)
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

    fn diverged(&self) -> bool {
        self.search.diverged()
    }

    fn finish(&mut self, run: &Run<'_>) {
        self.unfair += u64::from(run.end == End::Stopped(Stop::Unfair));
        self.truncated |= run.end == End::Truncated;
        self.search.ended(run.end);
    }

    fn rest(&self) -> Option<Vec<Part>> {
        Some(self.search.rest())
    }

    fn cut(&self) -> bool {
        self.unfair > 0 || self.truncated
    }

    fn is_exhaustive(&self) -> bool {
        true
    }

    fn unfair(&self) -> u64 {
        self.unfair
    }
}
