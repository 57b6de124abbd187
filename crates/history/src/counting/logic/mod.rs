//! Operation counting logic: formulas about how many operations of a label lie in which interval (figure 3).
//!
//! ```text
//! exists x, y: insert(x) and remove(y) and same(x, y) and before(y, x)
//! ```
//!
//! A variable stands for a label that occurs in the history. `#(x, i, j)` counts its operations with interval [i, j], `total(x, i, j)` those
//! inside [i, j], and `before(x, y)` says that all operations of x end before all of y begin. Figure 4 prints `before` so that y may overlap x;
//! meant, and done here, is that x's last slot is less than y's first. Slots are numbers, `k`, and variables of `some` and `every`.
//!
//! Invariant: evaluating is polynomial in the history for a formula with a fixed number of variables (lemma 6.4).

mod bounded;
mod evaluate;
mod families;
mod parse;
#[cfg(test)]
mod tests;

pub use bounded::{Collection, bounded};
pub use evaluate::{Facts, Role, Structure};
pub use families::{Family, families};

use super::label::Label;
use super::text::SyntaxError;

/// A formula.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    pub(super) body: Node,
    /// The names of its variables for labels, by number.
    pub(super) labels: Vec<String>,
    /// The number of its variables for slots.
    pub(super) slots: usize,
}

impl Formula {
    /// Reads a formula.
    ///
    /// ```
    /// use selvedge_history::counting::logic::Formula;
    ///
    /// let text = "exists x: total(x, 0, k) > 1 and befor(x, x)";
    /// let error = Formula::parse(text).unwrap_err();
    /// assert_eq!(error.to_string(), "1:34: `befor` is not defined");
    /// assert_eq!(error.excerpt(text), format!("{text}\n{}^", " ".repeat(33)));
    /// ```
    pub fn parse(source: &str) -> Result<Formula, SyntaxError> {
        parse::parse(source)
    }
}

/// A label: a variable or one spelled out.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Subject {
    Variable(usize),
    Constant(Label),
}

/// A slot: what is named, and a number more or less.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Slot {
    pub base: Base,
    pub offset: i64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Base {
    Zero,
    K,
    Variable(usize),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Term {
    Number(u64),
    /// `#(x, i, j)`
    Count(Subject, Slot, Slot),
    /// `total(x, i, j)`
    Total(Subject, Slot, Slot),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Comparison {
    Less,
    AtMost,
    Equal,
    Different,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Predicate {
    Insert,
    Remove,
    Removing,
    Empty,
    Observe,
    Open,
    Initial,
    Same,
    Higher,
    /// The only label of an insertion of its value.
    Sole,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Compare(Vec<Term>, Comparison, Vec<Term>),
    Is(Predicate, Vec<Subject>),
    Before(Subject, Subject),
    Identical(Subject, Subject),
    Not(Box<Node>),
    All(Vec<Node>),
    Any(Vec<Node>),
    Exists(Vec<usize>, Box<Node>),
    /// Some slot from the first to the last makes it true.
    Some(usize, Slot, Slot, Box<Node>),
}
