//! What a history of phase 2 is held against. The loop that runs the code knows only this trait.

use crate::observation::Observation;
use crate::recorded::Recorded;
use crate::witness::{Unexplained, judge};

/// The answer for one history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It is allowed.
    Allowed,
    /// It is not.
    Refused(Unexplained),
    /// A limit was reached before that was clear.
    Undecided,
}

/// A correctness condition.
pub trait Criterion {
    /// Its name in reports.
    fn name(&self) -> &'static str;

    /// Whether a history is allowed, given all serial behaviours of its matrix.
    fn judge(&mut self, observation: &Observation, history: &Recorded) -> Judgement;
}

/// Deterministic linearizability, with stuck histories (Line-Up definitions 1 to 4).
#[derive(Clone, Copy, Debug, Default)]
pub struct Linearizable;

impl Criterion for Linearizable {
    fn name(&self) -> &'static str {
        "deterministic-linearizability"
    }

    fn judge(&mut self, observation: &Observation, history: &Recorded) -> Judgement {
        match judge(observation, history) {
            Ok(()) => Judgement::Allowed,
            Err(unexplained) => Judgement::Refused(unexplained),
        }
    }
}
