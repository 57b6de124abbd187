//! Checks the assertions of a model.

use std::sync::{Mutex, OnceLock, PoisonError};

use super::Model;
use super::ast::Refinement;
use super::check::{Condition, Goal, Proposition, Temporal};
use super::object::{Calls, Method, Object, Running};
use super::system::{State, System};
use crate::object::{Criterion, Guard, Measure, Operation, Relaxation};
use crate::{Answer, Fault, Moment, Reason, Settings, Trace, TransitionSystem, Trouble};
use crate::{deadlock_free, deterministic, divergence_free, linearizes, reaches, refines, satisfies};

impl Model {
    /// Checks one assertion.
    pub fn check(&self, assertion: usize, settings: &Settings) -> Result<Answer, Trouble> {
        let system = self.subject(assertion);
        match &self.assertions[assertion].goal {
            Goal::DeadlockFree => deadlock_free(&system, settings),
            Goal::Reaches(condition, best) => reach(&system, *condition, *best, settings),
            Goal::Refines(mode, def, args) => {
                let mode = match mode {
                    Refinement::Traces => crate::refine::Model::Traces,
                    Refinement::Failures => crate::refine::Model::Failures,
                    Refinement::FailuresDivergences => crate::refine::Model::FailuresDivergences,
                };
                refines(&system, &self.system(*def, args), mode, settings)
            }
            Goal::Linearizable { object, classes, strict, free } => {
                let criterion = criterion(&self.objects[*object], classes, *strict, *free);
                let running =
                    Running { object: &self.objects[*object], quasi: !classes.is_empty(), fault: OnceLock::new() };
                against(system, running, &criterion, settings)
            }
            Goal::DivergenceFree => divergence_free(&system, settings),
            Goal::Deterministic => deterministic(&system, settings),
            Goal::Nonterminating => {
                let mut answer = deadlock_free(&system.without_end(), settings)?;
                answer.reason = answer.reason.map(|_| Reason::Ends);
                Ok(answer)
            }
            Goal::Satisfies(formula) => fulfils(&system, formula, settings),
        }
    }
}

/// Whether a condition is reached; with the least or the greatest value, when that is asked.
fn reach(
    system: &System,
    condition: Condition,
    best: Option<(bool, Condition)>,
    settings: &Settings,
) -> Result<Answer, Trouble> {
    let holds = |state: &State| Ok(system.value(condition.0, state)? != 0);
    let Some((greatest, value)) = best else { return reaches(system, holds, settings) };
    let found = Mutex::new(None::<i32>);
    let look = |state: &State| {
        if holds(state)? {
            let value = system.value(value.0, state)?;
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            let better = found.is_none_or(|old| if greatest { value > old } else { value < old });
            if better {
                *found = Some(value);
            }
        }
        Ok(false)
    };
    let answer = reaches(system, look, settings)?;
    match found.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(best) if answer.verdict != crate::Verdict::Pass => {
            if let crate::Verdict::Unknown(_) = answer.verdict {
                return Ok(answer);
            }
            reaches(system, |state: &State| Ok(holds(state)? && system.value(value.0, state)? == best), settings)
        }
        _ => Ok(answer),
    }
}

/// Whether every run fulfils a formula.
fn fulfils(system: &System, formula: &Temporal, settings: &Settings) -> Result<Answer, Trouble> {
    let holds = |proposition: &Proposition, moment: &Moment<'_, State>| {
        let (action, state) = match moment {
            Moment::Begin(state) | Moment::Ended(state) => (None, *state),
            Moment::Step(action, state) => (Some(action), *state),
        };
        Ok(match proposition {
            Proposition::Holds(condition) => system.value(condition.0, state)? != 0,
            Proposition::Seen(name, values) => {
                action.is_some_and(|action| action.label == system.program.label(*name, values))
            }
            Proposition::Printed(text) => action.is_some_and(|action| system.label_name(action.label) == *text),
        })
    };
    satisfies(system, formula, holds, settings)
}

/// The criterion that an assertion asks for. Operations that find nothing keep their places.
fn criterion(object: &Object, classes: &[(Vec<usize>, u32)], strict: bool, free: bool) -> Criterion {
    if classes.is_empty() {
        return Criterion::linearizable();
    }
    let mut of: Vec<Option<usize>> = vec![None; object.methods.len()];
    for (class, (methods, _)) in classes.iter().enumerate() {
        if methods.is_empty() {
            of.iter_mut().for_each(|slot| *slot = slot.or(Some(class)));
        }
        methods.iter().for_each(|&method| of[method] = Some(class));
    }
    let nothing: Vec<bool> = object.methods.iter().map(Method::may_find_nothing).collect();
    let factors = classes.iter().map(|&(_, factor)| factor as u8).collect();
    let class_of = move |operation: &Operation| {
        let method = operation.method as usize;
        if operation.result == 0 && nothing[method] { None } else { of[method] }
    };
    Criterion {
        relaxation: Relaxation::new(factors, class_of),
        measure: if strict { Measure::Strict } else { Measure::Distance },
        guard: if free { Guard::Free } else { Guard::Causal },
    }
}

fn against(
    system: System,
    running: Running<'_>,
    criterion: &Criterion,
    settings: &Settings,
) -> Result<Answer, Trouble> {
    let object = running.object;
    let calls = Calls::new(system, object);
    let answer = linearizes(&calls, &running, criterion, settings);
    match running.fault.into_inner() {
        None => answer,
        Some(Fault { message, place }) => {
            let fault = Fault { message: format!("in object {}: {message}", object.name), place };
            Err(Trouble::Fault { fault, trace: Trace::default() })
        }
    }
}
