//! Checks of one system: all its states, deadlock, reachability.
//!
//! Invariant: the partial-order reduction is used for deadlock only, where it is known to keep the answer; a condition on
//! states may look at anything, so every state is visited for it.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::answer::{Answer, Reason, Statistics, Trace, Trouble, Verdict};
use crate::limits::{Reductions, Settings, Watch};
use crate::minimise::fewest_switches;
use crate::reduce::Ample;
use crate::search::{End, Outcome, Path, Space, Steps, search};
use crate::system::{Action, Fault, Label, TransitionSystem};

/// What is looked for at each state.
trait Look<S: TransitionSystem>: Sync {
    /// Whether this state ends the search.
    fn at(&self, system: &S, state: &S::State, steps: usize) -> Result<bool, Fault>;
}

struct Nothing;

impl<S: TransitionSystem> Look<S> for Nothing {
    fn at(&self, _: &S, _: &S::State, _: usize) -> Result<bool, Fault> {
        Ok(false)
    }
}

struct Deadlock;

impl<S: TransitionSystem> Look<S> for Deadlock {
    fn at(&self, system: &S, state: &S::State, steps: usize) -> Result<bool, Fault> {
        Ok(steps == 0 && !system.terminated(state))
    }
}

struct Condition<C>(C);

impl<S, C> Look<S> for Condition<C>
where
    S: TransitionSystem,
    C: Fn(&S::State) -> Result<bool, Fault> + Sync,
{
    fn at(&self, _: &S, state: &S::State, _: usize) -> Result<bool, Fault> {
        (self.0)(state)
    }
}

/// The states of one system.
struct States<'a, S, L> {
    system: &'a S,
    look: L,
    partial_order: bool,
    /// Whether somebody ever went alone.
    went_alone: AtomicBool,
}

struct Scratch<T> {
    next: Vec<(Action, T)>,
    initial: Vec<T>,
    ample: Ample,
}

impl<S: TransitionSystem, L: Look<S>> Space for States<'_, S, L> {
    type Scratch = Scratch<S::State>;
    type Reason = ();
    const TAGGED: bool = false;

    fn scratch(&self) -> Self::Scratch {
        Scratch { next: Vec::new(), initial: Vec::new(), ample: Ample::default() }
    }

    fn roots(&self, scratch: &mut Self::Scratch, out: &mut Steps<()>) -> Result<(), Fault> {
        scratch.initial.clear();
        self.system.initial(&mut scratch.initial)?;
        for state in &scratch.initial {
            out.push(Action { label: Label::TAU, actor: 0 }, 0, 0, |bytes| self.system.pack(state, bytes));
        }
        Ok(())
    }

    fn expand(&self, scratch: &mut Self::Scratch, state: &[u8], _: u32, out: &mut Steps<()>) -> Result<(), Fault> {
        let unpacked = self.system.unpack(state);
        scratch.next.clear();
        self.system.successors(&unpacked, &mut scratch.next)?;
        if self.look.at(self.system, &unpacked, scratch.next.len())? {
            out.wrong_node(());
        }
        let only =
            if self.partial_order { scratch.ample.of(self.system, &unpacked, state, &scratch.next) } else { None };
        if only.is_some() {
            self.went_alone.store(true, Ordering::Relaxed);
        }
        for (action, next) in &scratch.next {
            if only.is_none_or(|actor| actor == action.actor) {
                out.push(*action, action.actor, 0, |bytes| self.system.pack(next, bytes));
            }
        }
        Ok(())
    }
}

/// Visits every state.
pub fn explore<S: TransitionSystem>(system: &S, settings: &Settings) -> Result<Answer, Trouble> {
    look(system, Nothing, settings, false)
}

/// Whether no state that can be reached is without steps, other than those that have terminated.
pub fn deadlock_free<S: TransitionSystem>(system: &S, settings: &Settings) -> Result<Answer, Trouble> {
    let mut answer = look(system, Deadlock, settings, settings.reductions.partial_order)?;
    if answer.trace.is_some() {
        answer.verdict = Verdict::Fail;
        answer.reason = Some(Reason::Deadlock);
    }
    Ok(answer)
}

/// Whether some state that can be reached fulfils the condition. The trace of a pass is the witness.
pub fn reaches<S, C>(system: &S, condition: C, settings: &Settings) -> Result<Answer, Trouble>
where
    S: TransitionSystem,
    C: Fn(&S::State) -> Result<bool, Fault> + Sync,
{
    let mut answer = look(system, Condition(condition), settings, false)?;
    if answer.verdict == Verdict::Pass && answer.trace.is_none() {
        answer.verdict = Verdict::Fail;
        answer.reason = Some(Reason::NotReached);
    }
    Ok(answer)
}

/// Searches; whatever is found is a trace beside the verdict *pass*, which the caller turns into its own.
fn look<S: TransitionSystem, L: Look<S>>(
    system: &S,
    look: L,
    settings: &Settings,
    partial_order: bool,
) -> Result<Answer, Trouble> {
    let watch = settings.watch();
    let mut space = States { system, look, partial_order, went_alone: AtomicBool::new(false) };
    let outcome = search(&space, settings, watch, None);
    let mut statistics = statistics(&outcome, watch, settings.hash_only);
    statistics.reduced.partial_order = space.went_alone.load(Ordering::Relaxed);
    let path = match outcome.end {
        End::Exhausted => return Ok(Answer { verdict: Verdict::Pass, reason: None, trace: None, statistics }),
        End::Limit(limit) => {
            return Ok(Answer { verdict: Verdict::Unknown(limit), reason: None, trace: None, statistics });
        }
        End::Fault(path, fault) => return Err(Trouble::Fault { fault, trace: trace_of(system, path) }),
        End::Found(path, ()) => path,
    };
    drop(outcome.shards);
    // The reduction may have gone a longer way round: look again at everything no further away.
    let (mut path, mut shortest) = (path, !partial_order);
    if partial_order {
        space.partial_order = false;
        let again = search(&space, settings, watch, Some(path.steps.len() as u32 + 1));
        if let End::Found(found, ()) = again.end {
            (path, shortest) = (found, true);
        }
    }
    let mut fewest = false;
    if settings.minimise
        && shortest
        && let Some((better, ())) = fewest_switches(&space, path.steps.len(), outcome.states, watch)
    {
        (path, fewest) = (better, true);
    }
    let mut trace = trace_of(system, path);
    (trace.shortest, trace.fewest_switches) = (shortest, fewest);
    Ok(Answer { verdict: Verdict::Pass, reason: None, trace: Some(trace), statistics })
}

/// What a search did, in numbers.
pub(crate) fn statistics<R>(outcome: &Outcome<R>, watch: Watch<'_>, hash_only: bool) -> Statistics {
    Statistics {
        states: outcome.states,
        transitions: outcome.transitions,
        system_states: outcome.shards.iter().map(|shard| u64::from(shard.states())).sum(),
        specification_sets: 0,
        bytes: outcome.bytes,
        depth: outcome.depth.saturating_sub(1),
        elapsed: watch.elapsed(),
        exact: !hash_only,
        reduced: Reductions::NONE,
    }
}

/// The path of a search over the system's own states, with names.
pub(crate) fn trace_of<S: TransitionSystem>(system: &S, path: Path) -> Trace {
    let steps = path.steps.into_iter().map(|step| (step.action, step.state)).collect();
    Trace::of(system, &path.root.0, steps)
}
