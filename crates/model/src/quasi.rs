//! Linearizability and quasi linearizability of models: quasi refinement (Quasi-PAT section 5, by the exact construction).
//!
//! What is explored are pairs of an implementation state and the set of states that the relaxed specification may be in. The
//! paper's windows of 2QF+1 events miss permutations and its algorithm 2 follows single states; both are replaced here, see
//! `state` and `sets`. Data values and threads are renamed jointly in both halves of a pair; a counterexample is translated
//! back into one run of the implementation.

mod concrete;
mod sets;
mod space;
mod state;

use crate::answer::{Answer, Reason, Statistics, Trace, Trouble, Verdict};
use crate::explore::statistics;
use crate::limits::Settings;
use crate::minimise::fewest_switches;
use crate::object::{Criterion, Guard, Implementation, ModelObject, ObjectEvent};
use crate::search::{End, search};
use sets::{EMPTY, Sets};
use space::{Pairs, Wrong};
use state::Rules;

/// Whether every history of `implementation` is (quasi) linearizable with respect to `object`.
pub fn linearizes<I: Implementation, T: ModelObject>(
    implementation: &I,
    object: &T,
    criterion: &Criterion,
    settings: &Settings,
) -> Result<Answer, Trouble> {
    check_question(implementation, criterion)?;
    let watch = settings.watch();
    let sets = Sets::new(Rules::new(object, criterion), settings.reductions.patience);
    let mut space = Pairs::new(implementation, sets, settings.reductions);
    let outcome = search(&space, settings, watch, None);
    let (specification_sets, reduced) = (space.sets.count(), space.reduced());
    let statistics = Statistics { specification_sets, reduced, ..statistics(&outcome, watch, false) };
    let answer = |verdict| Ok(Answer { verdict, reason: None, trace: None, statistics });
    space.sets.trouble()?;
    let (mut path, mut wrong) = match outcome.end {
        End::Exhausted => return answer(Verdict::Pass),
        End::Limit(limit) => return answer(Verdict::Unknown(limit)),
        End::Fault(path, fault) => return Err(Trouble::Fault { fault, trace: space.concrete(&path) }),
        End::Found(path, wrong) => (path, wrong),
    };
    drop(outcome.shards);
    let mut shortest = !(space.reductions.partial_order || space.reductions.intervals);
    if !shortest {
        // These two may have gone a longer way round: look again at everything no further away.
        let reduced = space.reductions;
        (space.reductions.partial_order, space.reductions.intervals) = (false, false);
        let again = search(&space, settings, watch, Some(path.steps.len() as u32));
        if let End::Found(found, reason) = again.end {
            (path, wrong, shortest) = (found, reason, true);
        } else {
            space.reductions = reduced;
        }
    }
    let mut fewest = false;
    if settings.minimise
        && shortest
        && let Some((better, reason)) = fewest_switches(&space, path.steps.len(), outcome.states, watch)
    {
        (path, wrong, fewest) = (better, reason, true);
    }
    let mut trace = space.concrete(&path);
    (trace.shortest, trace.fewest_switches) = (shortest, fewest);
    let reason = reason(&space, &trace, wrong);
    Ok(Answer { verdict: Verdict::Fail, reason: Some(reason), trace: Some(trace), statistics })
}

/// What could have been returned in place of the last step. Asked along the concrete run, whose values it then names.
fn reason<I: Implementation, T: ModelObject>(space: &Pairs<'_, I, T>, trace: &Trace, _: Wrong) -> Reason {
    let mut set = space.sets.initial(space.implementation.threads());
    for step in &trace.steps {
        let Some(event) = space.implementation.event(step.action.label) else { continue };
        let after = space.sets.after(set, event);
        if let (EMPTY, ObjectEvent::Return { thread, .. }) = (after, event) {
            let results = space.sets.results(set, thread);
            return Reason::NotAllowed { allowed: results.iter().map(|result| format!("returns {result}")).collect() };
        }
        if after == EMPTY {
            break;
        }
        set = after;
    }
    Reason::NotAllowed { allowed: Vec::new() }
}

/// Data without limit cannot be guessed ahead of the call that brings it.
fn check_question<I: Implementation>(implementation: &I, criterion: &Criterion) -> Result<(), Trouble> {
    if criterion.relaxation.classes() == 0 || !implementation.takes_offers() {
        return Ok(());
    }
    if criterion.guard == Guard::Free {
        return Err(Trouble::Unsupported { why: "the free reading needs a finite domain of values" });
    }
    Ok(())
}

/// The number of the first event at which a history is no longer (quasi) linearizable; `None` when it is to the end. Pending calls at
/// the end are allowed.
pub fn first_violation<T: ModelObject>(
    object: &T,
    criterion: &Criterion,
    threads: u32,
    events: &[ObjectEvent],
) -> Result<Option<usize>, Trouble> {
    let sets = Sets::new(Rules::new(object, criterion), true);
    let mut set = sets.initial(threads);
    for (at, &event) in events.iter().enumerate() {
        set = sets.after(set, event);
        sets.trouble()?;
        if set == EMPTY {
            return Ok(Some(at));
        }
    }
    Ok(None)
}
