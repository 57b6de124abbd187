//! What a run did: steps, their accesses, their picks.
//!
//! Invariant: the accesses and picks of a step lie next to each other in two flat arrays, so that recording a step
//! allocates nothing once the arrays have grown to the length of a run.

use crate::access::{Access, Thread};

/// A decision that was not about threads: which of several results a step has (who is woken, what `malloc` reuses).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pick {
    /// What was picked.
    pub chosen: u32,
    /// Out of how many.
    pub options: u32,
}

/// One decision of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Choice {
    /// This thread makes its next step.
    Run(Thread),
    /// The step picks this result.
    Pick(u32),
}

/// One step of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Who made it.
    pub thread: Thread,
    /// The thread that it created.
    pub created: Option<Thread>,
    /// Whether the thread gave up its turn with it (a yield, a sleep, one more round of a spin loop).
    pub yielded: bool,
    /// Where its accesses and its picks end; they begin where those of the step before end.
    pub(crate) accesses: u32,
    pub(crate) picks: u32,
}

/// The steps of a run, in their order.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    steps: Vec<Step>,
    accesses: Vec<Access>,
    picks: Vec<Pick>,
}

impl Trace {
    /// A trace without steps.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets every step, and keeps the memory.
    pub fn clear(&mut self) {
        self.steps.clear();
        self.accesses.clear();
        self.picks.clear();
    }

    /// How many steps.
    #[inline]
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether there is no step.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The steps.
    #[inline]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The step at that place.
    #[inline]
    pub fn step(&self, at: usize) -> &Step {
        &self.steps[at]
    }

    /// All steps, and all that they touched.
    #[inline]
    pub(crate) fn with_accesses(&self) -> (&[Step], &[Access]) {
        (&self.steps, &self.accesses)
    }

    /// What the step at that place touched.
    pub fn accesses(&self, at: usize) -> &[Access] {
        let from = at.checked_sub(1).map_or(0, |before| self.steps[before].accesses);
        &self.accesses[from as usize..self.steps[at].accesses as usize]
    }

    /// What the step at that place picked.
    pub fn picks(&self, at: usize) -> &[Pick] {
        let from = at.checked_sub(1).map_or(0, |before| self.steps[before].picks);
        &self.picks[from as usize..self.steps[at].picks as usize]
    }

    /// Records a pick of the step that is under way.
    pub fn pick(&mut self, pick: Pick) {
        self.picks.push(pick);
    }

    /// Records an access of the step that is under way.
    #[inline]
    pub fn access(&mut self, access: Access) {
        self.accesses.push(access);
    }

    /// The access that was recorded last; there must be one.
    pub fn last_access(&mut self) -> &mut Access {
        self.accesses.last_mut().expect("an access was recorded")
    }

    /// Adds an access to the last step that was recorded: something that followed from it without a decision, such as the end of
    /// its thread. Nothing when there is no step, or one is under way.
    #[inline]
    pub fn amend(&mut self, access: Access) {
        if let Some(step) = self.steps.last_mut()
            && step.accesses as usize == self.accesses.len()
        {
            step.accesses += 1;
            self.accesses.push(access);
        }
    }

    /// Records that the step under way is done: it takes every access and pick since the last step.
    #[inline]
    pub fn step_done(&mut self, thread: Thread, created: Option<Thread>, yielded: bool) {
        let (accesses, picks) = (self.accesses.len() as u32, self.picks.len() as u32);
        self.steps.push(Step { thread, created, yielded, accesses, picks });
    }

    /// Every decision, in the order in which a replay needs them. A step that was begun and not recorded is not in it.
    pub fn schedule(&self) -> Vec<Choice> {
        let mut schedule = Vec::with_capacity(self.steps.len() + self.picks.len());
        for at in 0..self.steps.len() {
            schedule.push(Choice::Run(self.steps[at].thread));
            schedule.extend(self.picks(at).iter().map(|pick| Choice::Pick(pick.chosen)));
        }
        schedule
    }
}
