//! What a model claims of its processes, with names resolved.

use super::ast::Refinement;
use super::diagnostic::Span;
use super::labels::NameId;
use super::program::ExId;
use crate::ltl::Formula;

/// A condition or a value, over the variables of a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Condition(pub ExId);

/// What a formula speaks of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Proposition {
    /// The condition holds in the state.
    Holds(Condition),
    /// The step is this event.
    Seen(NameId, Vec<i32>),
    /// The step is printed like this.
    Printed(String),
}

pub(crate) type Temporal = Formula<Proposition>;

/// What is claimed, with processes by number.
#[derive(Clone, Debug)]
pub(crate) enum Goal {
    DeadlockFree,
    DivergenceFree,
    Deterministic,
    Nonterminating,
    /// Whether the greatest value is wanted, and which value.
    Reaches(Condition, Option<(bool, Condition)>),
    Refines(Refinement, u32, Vec<i32>),
    Linearizable {
        object: usize,
        classes: Vec<(Vec<usize>, u32)>,
        strict: bool,
        free: bool,
    },
    Satisfies(Temporal),
}

/// An assertion as it comes out of the text.
#[derive(Clone, Debug)]
pub(crate) struct Unchecked {
    pub span: Span,
    pub def: u32,
    pub args: Vec<i32>,
    pub goal: Goal,
}
