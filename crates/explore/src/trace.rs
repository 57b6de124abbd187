//! What a run did: steps, their accesses, their picks.
//!
//! Invariant: the accesses and picks of a step lie next to each other in two flat arrays, so that recording a step
//! allocates nothing once the arrays have grown to the length of a run. Where a run begins as the last one did, its first steps are those that are there, and
//! nothing is recorded while it makes them.

use crate::access::{Access, Condition, Kind, Thread};
use crate::class::places::{Places, WIDEST};

/// A decision that was not about threads: which of several results a step has (who is woken, what `malloc` reuses).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pick {
    /// What was picked.
    pub chosen: u32,
    /// Out of how many.
    pub options: u32,
}

impl Pick {
    /// Whether a wait ends without a reason. What the step touches shows it, so that runs which differ in it are of different classes anyway.
    pub fn spurious(chosen: bool) -> Self {
        Pick { chosen: chosen.into(), options: Self::SHOWN }
    }

    /// In place of the number of results, where the accesses of the step show which it has.
    const SHOWN: u32 = 0;
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
    /// How many steps were made.
    made: usize,
    /// How many of them are those of the last run.
    kept: usize,
    /// What the steps come to, if that is asked for.
    places: Option<Box<Places>>,
    /// How many of the accesses are in that.
    signed: usize,
}

impl Trace {
    /// A trace without steps.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins a run whose first so many steps are those of the last one: the same decisions lead to them. All others are forgotten, and their memory
    /// is kept.
    pub fn renew(&mut self, kept: usize) {
        self.kept = kept.min(self.made);
        self.made = 0;
        self.steps.truncate(self.kept);
        let (accesses, picks) = self.steps.last().map_or((0, 0), |step| (step.accesses, step.picks));
        self.accesses.truncate(accesses as usize);
        self.picks.truncate(picks as usize);
        self.sign_anew();
    }

    /// Forgets all steps but the first so many, of a run that has ended.
    pub fn cut(&mut self, len: usize) {
        if len < self.made {
            self.made = len;
            self.kept = self.kept.min(len);
            self.steps.truncate(len);
            let (accesses, picks) = self.steps.last().map_or((0, 0), |step| (step.accesses, step.picks));
            self.accesses.truncate(accesses as usize);
            self.picks.truncate(picks as usize);
        }
    }

    /// From the next run on, it is known what class a run is of ([`crate::Classes`]), or no longer. Whether runs are expected to begin as the last one did
    /// matters to the speed only.
    pub fn sign(&mut self, follows: Option<bool>) {
        self.places = follows.map(|follows| Box::new(Places::new(follows)));
        if follows.is_some() {
            // What is here was not signed, so nothing of it is kept.
            self.made = 0;
        }
    }

    /// Signs what is kept of the last run.
    fn sign_anew(&mut self) {
        let Some(places) = &mut self.places else { return };
        self.signed = self.accesses.len();
        if self.kept > 0 && places.back(self.accesses.len()) {
            return;
        }
        places.renew();
        let mut from = 0;
        for step in &self.steps {
            let end = step.accesses as usize;
            for at in from..end {
                let Access { object, size, kind, .. } = self.accesses[at];
                if size <= WIDEST || at == from {
                    places.add(step.thread, object, size, kind, at as u32);
                }
            }
            from = end;
        }
    }

    /// Signs the accesses that are not signed yet: they are of a step of that thread.
    #[inline(never)]
    fn sign_rest(&mut self, thread: Thread) {
        let Some(places) = &mut self.places else { return };
        let begin = self.steps.last().map_or(0, |step| step.accesses as usize);
        while let Some(&Access { object, size, kind, .. }) = self.accesses.get(self.signed) {
            // What is wider is an object if a step begins with it, and otherwise the end of a block.
            if size <= WIDEST || self.signed == begin {
                places.add(thread, object, size, kind, self.signed as u32);
            }
            self.signed += 1;
        }
    }

    /// By thread, a hash of all that it did; `None` where that is not known.
    pub(crate) fn signs(&self) -> Option<&[u64]> {
        // Of a run that ended before what was kept, more is signed than it made.
        self.places.as_ref().filter(|_| self.made >= self.kept).map(|places| places.threads())
    }

    /// Whether anything was picked that accesses do not show.
    pub(crate) fn has_picks(&self) -> bool {
        let picks = self.steps().last().map_or(0, |step| step.picks);
        self.picks[..picks as usize].iter().any(|pick| pick.options != Pick::SHOWN)
    }

    /// Whether the step under way is one of the last run too, so that it is recorded already.
    #[inline]
    pub fn is_known(&self) -> bool {
        self.made < self.kept
    }

    /// How many steps.
    #[inline]
    pub fn len(&self) -> usize {
        self.made
    }

    /// Whether there is no step.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.made == 0
    }

    /// The steps.
    #[inline]
    pub fn steps(&self) -> &[Step] {
        &self.steps[..self.made]
    }

    /// The step at that place.
    #[inline]
    pub fn step(&self, at: usize) -> &Step {
        &self.steps[at]
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
        if !self.is_known() {
            self.picks.push(pick);
        }
    }

    /// Records an access of the step that is under way.
    #[inline]
    pub fn access(&mut self, access: Access) {
        if !self.is_known() {
            self.accesses.push(access);
        }
    }

    /// The same, by one who knows whose step it is.
    #[inline(always)]
    pub fn access_of(&mut self, thread: Thread, access: Access) {
        if self.is_known() {
            return;
        }
        let (number, Access { object, size, kind, .. }) = (self.accesses.len(), access);
        self.accesses.push(access);
        if let Some(places) = &mut self.places {
            if self.signed == number && size <= WIDEST {
                self.signed += 1;
                places.add(thread, object, size, kind, number as u32);
            } else {
                self.sign_rest(thread);
            }
        }
    }

    /// The last access of the step under way waited until that was so.
    pub fn waited(&mut self, condition: Condition) {
        if !self.is_known()
            && let Some(access) = self.accesses.last_mut()
        {
            (access.waits, access.condition) = (true, condition);
        }
    }

    /// Adds an access to the last step that was recorded: something that followed from it without a decision, such as the end of
    /// its thread. Nothing when there is no step, or one is under way.
    #[inline(always)]
    pub fn amend(&mut self, access: Access) {
        // What followed from a step that is kept is kept along with it.
        if self.made > self.kept {
            let Access { object, size, kind, waits, condition, changed, old } = access;
            debug_assert!(!waits && condition == Condition::Always, "what follows does so whatever there was");
            self.add_to_last(object, size, kind, changed, old);
        }
    }

    /// Not as an access: written to memory in small parts and read again in large ones, it would make the processor wait.
    #[inline(never)]
    fn add_to_last(&mut self, object: u64, size: u32, kind: Kind, changed: bool, old: u64) {
        if let Some(step) = self.steps.last_mut()
            && step.accesses as usize == self.accesses.len()
        {
            step.accesses += 1;
            if let Some(places) = &mut self.places {
                if size <= WIDEST {
                    places.add(step.thread, object, size, kind, self.accesses.len() as u32);
                }
                self.signed = self.accesses.len() + 1;
            }
            self.accesses.push(Access { changed, ..Access::new(object, size, kind).after(old) });
        }
    }

    /// Records that the step under way is done: it takes every access and pick since the last step.
    #[inline]
    pub fn step_done(&mut self, thread: Thread, created: Option<Thread>, yielded: bool) {
        if self.is_known() { self.pass() } else { self.record(thread, created, yielded) }
    }

    /// The same for one that is known.
    #[inline]
    pub fn pass(&mut self) {
        self.made += 1;
    }

    /// The same for one that is not known.
    #[inline]
    pub fn record(&mut self, thread: Thread, created: Option<Thread>, yielded: bool) {
        let (accesses, picks) = (self.accesses.len() as u32, self.picks.len() as u32);
        if self.signed != self.accesses.len() && self.places.is_some() {
            self.sign_rest(thread);
        }
        self.steps.push(Step { thread, created, yielded, accesses, picks });
        self.made = self.steps.len();
    }

    /// Every decision, in the order in which a replay needs them. A step that was begun and not recorded is not in it.
    pub fn schedule(&self) -> Vec<Choice> {
        let mut schedule = Vec::with_capacity(self.made + self.picks.len());
        for at in 0..self.made {
            schedule.push(Choice::Run(self.steps[at].thread));
            schedule.extend(self.picks(at).iter().map(|pick| Choice::Pick(pick.chosen)));
        }
        schedule
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PICK: Pick = Pick { chosen: 1, options: 2 };

    /// A step that touches the object, after which something follows from it.
    fn step(trace: &mut Trace, object: u64, follows: u64) {
        trace.access(Access::new(object, 8, Kind::Read));
        trace.pick(PICK);
        trace.step_done(Thread(0), None, false);
        trace.amend(Access::new(follows, 8, Kind::Write));
    }

    fn objects(trace: &Trace) -> Vec<Vec<u64>> {
        let of = |at| trace.accesses(at).iter().map(|access| access.object).collect();
        (0..trace.len()).map(of).collect()
    }

    #[test]
    fn steps_of_the_last_run_are_recorded_once() {
        let mut trace = Trace::new();
        (1..4).for_each(|object| step(&mut trace, object, 10 * object));
        trace.renew(2);
        assert_eq!((trace.len(), trace.is_known(), objects(&trace)), (0, true, vec![]));
        (1..3).for_each(|object| step(&mut trace, object, 10 * object));
        assert_eq!((trace.len(), trace.is_known()), (2, false));
        step(&mut trace, 5, 50);
        assert_eq!(objects(&trace), [[1, 10], [2, 20], [5, 50]]);
        assert_eq!((0..3).map(|at| trace.picks(at)).collect::<Vec<_>>(), [[PICK]; 3]);
    }

    #[test]
    fn of_a_run_that_ends_before_them_no_more_is_seen_than_it_made() {
        let mut trace = Trace::new();
        (1..4).for_each(|object| step(&mut trace, object, 10 * object));
        trace.renew(3);
        step(&mut trace, 1, 10);
        assert_eq!((trace.steps().len(), objects(&trace)), (1, vec![vec![1, 10]]));
        assert_eq!(trace.schedule(), [Choice::Run(Thread(0)), Choice::Pick(1)]);
        // And of the next no more is kept.
        trace.renew(3);
        (7..9).for_each(|object| step(&mut trace, object, 10 * object));
        assert_eq!(objects(&trace), [[1, 10], [8, 80]]);
    }
}
