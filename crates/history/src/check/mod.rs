//! The front door of the checkers: splits a log into independent objects and picks the right algorithm for each.
//!
//! Collections, sets and registers whose values are distinct are decided in O(n log n) or better by an algorithm of their
//! own; everything else, and what those leave open (repeated values, pending removals, observations), by the
//! [`search`]. Every algorithm answers exactly; the answer names the ones that ran.
//!
//! Invariant: an answer `Pass` carries one linearization for each part, an answer `Fail` a violation that by itself
//! shows that there is none; neither depends on which algorithm found it.

mod bag;
mod collection;
mod cover_tree;
mod decide;
mod numbers;
mod part;
mod priority_queue;
mod queue;
mod register;
mod repeated;
pub mod search;
mod set;
mod spans;
mod stack;

use std::fmt;

use crate::evidence::{Failure, Linearization};
use crate::object::{Kind, Misuse, Object};
use crate::{Budget, Log, OpId, Value, Verdict};

/// An algorithm that decided some part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Algorithm {
    /// Distinct values in a queue: two pointers.
    Queue,
    /// Distinct values in a stack: peeling.
    Stack,
    /// Distinct values in a priority queue: from the highest down.
    PriorityQueue,
    /// Distinct values in a bag.
    Bag,
    /// Each value added and removed once in a set.
    Set,
    /// Distinct values in a register: zones.
    Register,
    /// The memoised search, for everything.
    Search,
}

impl Algorithm {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Queue => "queue-distinct",
            Algorithm::Stack => "stack-distinct",
            Algorithm::PriorityQueue => "priority-queue-distinct",
            Algorithm::Bag => "bag-distinct",
            Algorithm::Set => "set-distinct",
            Algorithm::Register => "register-distinct",
            Algorithm::Search => "search",
        }
    }
}

/// The answer for a whole log.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The object that it was checked as.
    pub kind: Kind,
    /// One linearization for each part; or the part that has none.
    pub verdict: Verdict<Vec<Linearization>, Failure>,
    /// The algorithms that ran, each once.
    pub algorithms: Vec<Algorithm>,
    /// How many independent objects there are.
    pub parts: usize,
    /// How many of them were found linearizable.
    pub parts_passed: usize,
    /// How many configurations the search visited in all.
    pub states: u64,
    /// In a part that was left undecided: the most operations that were placed at once.
    pub longest: usize,
}

/// An operation that does not fit the object it is checked as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit {
    /// The operation, `None` when it is the initial value that does not fit.
    pub op: Option<OpId>,
    /// Whether it is the result that does not fit, and not the call.
    pub at_return: bool,
    /// The method called.
    pub method: String,
    /// What is wrong.
    pub misuse: Misuse,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.op.is_some() {
            write!(f, "`{}`: ", self.method)?;
        }
        self.misuse.fmt(f)
    }
}

impl std::error::Error for Unfit {}

/// Decides whether the log, read as an object of that kind, is linearizable. `initial` stands before what the log itself
/// states.
pub fn check(log: &Log, kind: Kind, initial: Option<&Value>, budget: &Budget) -> Result<Answer, Unfit> {
    let initial = initial.or(log.initial.as_ref());
    decide::decide(log, kind, initial, budget)
}

/// Reads a call of the log, and checks that its result fits.
fn read<O: Object>(object: &O, kind: Kind, log: &Log, op: OpId) -> Result<O::Input, Unfit> {
    let operation = log.history.operation(op);
    let method = log.name(operation.input.method);
    let unfit = |at_return| move |misuse| Unfit { op: Some(op), at_return, method: method.to_owned(), misuse };
    let input = object.input(method, &kind.argument(&operation.input)).map_err(unfit(false))?;
    if let Some(output) = operation.output() {
        object.admits(&input, output).map_err(unfit(true))?;
    }
    Ok(input)
}
#[cfg(test)]
mod tests;
