//! Quasi linearizability of running code (Round-Up, Zhang, Chattopadhyay and Wang): each distinct history of phase 2 is first held against
//! the specification as it is, and then, if that does not explain it, with operations out of order as far as the factors allow.
//!
//! The specification is what serial runs of a reference or of the object itself do (`model`), or a built-in object. Neither linearizations
//! nor permutations are enumerated: [`selvedge_history::quasi`] decides. Invariant: [`Judgement::Refused`] only when the history fails with
//! every answer known; a search that was cut short is [`Judgement::Undecided`].

mod decide;
mod model;
mod roles;
mod rules;
mod shape;

pub(crate) use decide::{Happened, events};
pub use roles::{NotWellFormed, Roles};
pub use rules::{Relaxed, RelaxedError};
pub use shape::{ShapeError, matrix as shape_matrix};

use selvedge_history::object::Kind;
use selvedge_protocol::{Refusal, RefusalWhy};

use crate::calls::{CallId, Calls};
use crate::criterion::{Case, Criterion, Judgement, Tally};
use crate::recorded::{Ending, Recorded};
use crate::results::ResultId;
use crate::witness::{Unexplained, allowed};
use decide::{Decision, Task};
use model::Model;

/// How many serial runs one history may ask for before it is given up.
const ASKED_MAX: usize = 20_000;

/// The criterion.
pub struct Quasi {
    relaxed: Relaxed,
    kind: Option<Kind>,
    model: Model,
    /// The matrix whose serial histories the model knows.
    learnt: Option<crate::Matrix>,
    tally: Tally,
    refusal: Option<Refusal>,
}

impl Quasi {
    /// The criterion for these calls.
    pub fn new(relaxed: Relaxed, calls: &Calls) -> Self {
        let kind = relaxed.kind;
        Quasi { relaxed, kind, model: Model::new(calls), learnt: None, tally: Tally::default(), refusal: None }
    }

    /// Takes over what phase 1 saw of the matrix. The message says why that is no specification.
    fn learn(&mut self, case: &Case<'_>) -> Result<(), String> {
        self.model.meet(case.results);
        if self.learnt.as_ref() == Some(case.matrix) {
            return Ok(());
        }
        for history in case.observation.histories() {
            let mut places = vec![0; case.matrix.columns.len() + 1];
            let mut run = Vec::with_capacity(history.len());
            for operation in history {
                if !operation.choices.is_empty() {
                    return Err(
                        "a specification that chooses among several results is not supported with --quasi: the order of \
                         operations is relaxed, their results are not"
                            .into(),
                    );
                }
                let column = usize::from(operation.column);
                let call = case.matrix.column(column).nth(places[column]);
                places[column] += 1;
                run.extend(call.map(|call| (call, operation.result)));
            }
            self.add(case.calls, run)?;
        }
        self.learnt = Some(case.matrix.clone());
        Ok(())
    }

    fn add(&mut self, calls: &Calls, run: Vec<(CallId, Option<ResultId>)>) -> Result<(), String> {
        self.model.learn(run).map_err(|two| {
            let names: Vec<&str> = two.calls.iter().map(|&call| calls.name(call)).collect();
            format!(
                "the specification is nondeterministic, which is not supported with --quasi: after the same calls the last of \
                 {} does not do the same again",
                names.join(", ")
            )
        })
    }

    /// The two questions, in their order.
    fn decide(&mut self, case: &Case<'_>) -> Judgement {
        let task = Task { case, relaxed: &self.relaxed, kind: self.kind, model: &self.model };
        let exact = task.decide(true);
        let asked = self.model.asked();
        self.tally.states += exact.states;
        match exact.decision {
            Ok(Decision::Pass) if asked.is_empty() || case.history.ending == Ending::Full => {
                self.tally.linearizable += 1;
                return Judgement::Allowed;
            }
            Ok(_) if !asked.is_empty() => return ask(asked),
            Ok(Decision::Unknown) => return Judgement::Undecided,
            Ok(Decision::Pass | Decision::Fail(_)) => {}
            Err(wrong) => return Judgement::Wrong(wrong),
        }
        let loose = task.decide(false);
        let asked = self.model.asked();
        self.tally.states += loose.states;
        match loose.decision {
            Ok(Decision::Pass) if asked.is_empty() || case.history.ending == Ending::Full => Judgement::Allowed,
            Ok(_) if !asked.is_empty() => ask(asked),
            Ok(Decision::Pass) => Judgement::Allowed,
            Ok(Decision::Unknown) => Judgement::Undecided,
            Err(wrong) => Judgement::Wrong(wrong),
            Ok(Decision::Fail(why)) => {
                self.tally.buggy += 1;
                let unexplained = match &why {
                    RefusalWhy::NeedNotBlock { operation } => Unexplained::Stuck { column: operation.0 },
                    _ => Unexplained::Full,
                };
                let classes = self.relaxed.relaxation.to_string();
                let exact = self.relaxed.rules.factors.iter().all(|&factor| factor == 0);
                self.refusal = Some(Refusal { classes, readings: self.relaxed.readings(), exact, why });
                Judgement::Refused(unexplained)
            }
        }
    }
}

fn ask(asked: Vec<Vec<CallId>>) -> Judgement {
    if asked.len() > ASKED_MAX { Judgement::Undecided } else { Judgement::Ask(asked) }
}

impl Criterion for Quasi {
    fn name(&self) -> &'static str {
        "quasi-linearizability"
    }

    fn needs_serial(&self) -> bool {
        self.kind.is_none()
    }

    fn judge(&mut self, case: &Case<'_>) -> Judgement {
        if let Err(wrong) = self.learn(case) {
            return Judgement::Wrong(wrong);
        }
        self.decide(case)
    }

    fn count(&mut self, case: &Case<'_>) {
        self.tally.linearizations = self.tally.linearizations.saturating_add(linearizations(case.history));
    }

    fn tell(&mut self, case: &Case<'_>, run: Vec<(CallId, Option<ResultId>)>) -> Result<(), String> {
        self.model.meet(case.results);
        self.add(case.calls, run)
    }

    fn take_tally(&mut self) -> Tally {
        std::mem::take(&mut self.tally)
    }

    fn take_refusal(&mut self) -> Option<Refusal> {
        self.refusal.take()
    }
}

/// In how many orders the operations that returned may have taken effect: what Round-Up enumerates. One step for each set of operations
/// that is closed under "before".
pub fn linearizations(history: &Recorded) -> u64 {
    let all = history.returned();
    let total: usize = all.iter().map(|&count| usize::from(count)).sum();
    let mut layer = std::collections::HashMap::from([(vec![0u8; all.len()], 1u64)]);
    for _ in 0..total {
        let mut next = std::collections::HashMap::with_capacity(layer.len());
        for (done, ways) in &layer {
            for column in 0..all.len() {
                if allowed(history, done, column).is_some() {
                    let mut done = done.clone();
                    done[column] += 1;
                    let sum: &mut u64 = next.entry(done).or_default();
                    *sum = sum.saturating_add(*ways);
                }
            }
        }
        layer = next;
    }
    layer.values().fold(0, |sum: u64, &ways| sum.saturating_add(ways))
}

#[cfg(test)]
mod tests;
