//! What a history of phase 2 is held against. The loop that runs the code knows only this trait.

use selvedge_protocol::Refusal;
use serde::{Deserialize, Serialize};

use crate::calls::{CallId, Calls};
use crate::matrix::Matrix;
use crate::observation::Observation;
use crate::recorded::Recorded;
use crate::results::{ResultId, Results};
use crate::witness::{Unexplained, judge};

/// The answer for one history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It is allowed.
    Allowed,
    /// It is not.
    Refused(Unexplained),
    /// A limit was reached before that was clear.
    Undecided,
    /// It depends on what these sequences of calls do serially: to be told, and then asked again.
    Ask(Vec<Vec<CallId>>),
    /// The history does not fit what it is held against.
    Wrong(String),
}

/// What a criterion counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Histories that are explained as they are.
    pub linearizable: u64,
    /// Histories that are refused.
    pub buggy: u64,
    /// The orders that the operations of all histories might have taken effect in.
    pub linearizations: u64,
    /// What the searches visited.
    pub states: u64,
    /// Histories that only operation counting looked at, and in which it showed nothing.
    pub counted: u64,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.linearizable += other.linearizable;
        self.buggy += other.buggy;
        self.linearizations = self.linearizations.saturating_add(other.linearizations);
        self.states += other.states;
        self.counted += other.counted;
    }
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

    /// Whether phase 1 has to run.
    fn needs_serial(&self) -> bool {
        true
    }

    /// Whether the ends of threads may be operations of a history.
    fn has_exits(&self) -> bool {
        false
    }

    /// A distinct history comes up for judgement, once.
    fn count(&mut self, _case: &Case<'_>) {}

    /// What a sequence of calls did, each with its result; the last without one when it blocked. The error says why that
    /// cannot be.
    fn tell(&mut self, _case: &Case<'_>, _run: Vec<(CallId, Option<ResultId>)>) -> Result<(), String> {
        Ok(())
    }

    /// What was counted since the last time.
    fn take_tally(&mut self) -> Tally {
        Tally::default()
    }

    /// Why the last history was refused, where that takes more than [`Unexplained`] says.
    fn take_refusal(&mut self) -> Option<Refusal> {
        None
    }
}

/// Deterministic linearizability, with stuck histories (Line-Up definitions 1 to 4).
#[derive(Clone, Copy, Debug, Default)]
pub struct Linearizable;

impl Criterion for Linearizable {
    fn name(&self) -> &'static str {
        "deterministic-linearizability"
    }

    fn has_exits(&self) -> bool {
        true
    }

    fn judge(&mut self, case: &Case<'_>) -> Judgement {
        match judge(case.observation, case.history) {
            Ok(()) => Judgement::Allowed,
            Err(unexplained) => Judgement::Refused(unexplained),
        }
    }
}
