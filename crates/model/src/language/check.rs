//! What a model claims of its processes, ready to be checked.

use super::ast::Refinement;
use super::diagnostic::Span;
use super::labels::NameId;
use super::program::ExId;

/// A condition or a value, over the variables of a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Condition(pub(crate) ExId);

/// What a formula speaks of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Proposition {
    /// The condition holds in the state.
    Holds(Condition),
    /// The step is this event.
    #[doc(hidden)]
    Seen(NameIdHidden, Vec<i32>),
    /// The step is printed like this.
    Printed(String),
}

pub(crate) type NameIdHidden = NameId;

/// A formula of linear temporal logic over propositions by number.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the operators of the logic, under their names")]
pub enum Temporal {
    True,
    False,
    Proposition(usize),
    Not(Box<Temporal>),
    And(Box<Temporal>, Box<Temporal>),
    Or(Box<Temporal>, Box<Temporal>),
    Next(Box<Temporal>),
    Until(Box<Temporal>, Box<Temporal>),
    Release(Box<Temporal>, Box<Temporal>),
}

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
    Satisfies(Temporal, Vec<Proposition>),
}

/// An assertion as it comes out of the text.
#[derive(Clone, Debug)]
pub(crate) struct Unchecked {
    pub span: Span,
    pub def: u32,
    pub args: Vec<i32>,
    pub goal: Goal,
}
