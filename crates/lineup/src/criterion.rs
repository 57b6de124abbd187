//! What a history of phase 2 is held against. The loop that runs the code knows only this trait.

use crate::calls::Calls;
use crate::matrix::Matrix;
use crate::observation::Observation;
use crate::recorded::Recorded;
use crate::results::Results;
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

/// A history of phase 2, with everything that is known of its matrix.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// The matrix.
    pub matrix: &'a Matrix,
    /// What its calls are called.
    pub calls: &'a Calls,
    /// What results are called.
    pub results: &'a Results,
    /// All serial behaviours of the matrix.
    pub observation: &'a Observation,
    /// The history.
    pub history: &'a Recorded,
}

/// A correctness condition.
pub trait Criterion {
    /// Its name in reports.
    fn name(&self) -> &'static str;

    /// Whether a history is allowed. Each distinct history of a matrix is shown once.
    fn judge(&mut self, case: &Case<'_>) -> Judgement;
}

/// Deterministic linearizability, with stuck histories (Line-Up definitions 1 to 4).
#[derive(Clone, Copy, Debug, Default)]
pub struct Linearizable;

impl Criterion for Linearizable {
    fn name(&self) -> &'static str {
        "deterministic-linearizability"
    }

    fn judge(&mut self, case: &Case<'_>) -> Judgement {
        match judge(case.observation, case.history) {
            Ok(()) => Judgement::Allowed,
            Err(unexplained) => Judgement::Refused(unexplained),
        }
    }
}
