//! Why a history is not quasi linearizable, in words.
//!
//! Invariant: what is said of factors follows from a search that found orders with that factor; nothing is guessed.

use selvedge_history::object::Kind;

use crate::explain::{Explained, Subject};
use crate::recorded::Recorded;

/// A history that was refused, with what was allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Classes and factors, as written.
    pub classes: String,
    /// The readings where they are not the usual ones.
    pub readings: String,
    /// Whether nothing was allowed out of order, so that this is plain linearizability.
    pub exact: bool,
    /// Why.
    pub why: Why,
}

impl Refusal {
    /// What does not hold.
    pub fn words(&self) -> String {
        format!("neither linearizable nor quasi linearizable with {}{}", self.classes, self.readings)
    }
}

/// Why a history was refused. Operations are named by column and place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// What happened up to the return of an operation has no orders, whatever follows; what happened before it has.
    Unplaced {
        /// The operation.
        operation: (usize, usize),
        /// What stands too far off, where a somewhat larger factor would do.
        too_far: Option<TooFar>,
    },
    /// It lacks calls at its end.
    Unfinished {
        /// Which.
        later: Vec<String>,
    },
    /// An operation waits for ever without need.
    NeedNotBlock {
        /// The operation.
        operation: (usize, usize),
    },
    /// These operations are not those of a built-in object.
    Violates {
        /// The object.
        kind: Kind,
        /// Those that show it.
        operations: Vec<(usize, usize)>,
    },
    /// Operation counting shows that they are not.
    Counted {
        /// The object.
        kind: Kind,
        /// How many of the last bounds between operations were kept apart.
        k: usize,
        /// What the formula says.
        what: String,
        /// The operations that show it.
        operations: Vec<(usize, usize)>,
    },
}

/// An operation that stands too far from its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooFar {
    /// The factor that would do.
    pub factor: u32,
    /// The class whose factor it is.
    pub class: String,
    /// The operation, unless it is one that would follow.
    pub operation: Option<(usize, usize)>,
    /// Its place among those of its class, from 1.
    pub place: u32,
    /// Where a legal run has it.
    pub legal_place: u32,
}

impl Subject<'_> {
    /// The table of a history, and why it is neither linearizable nor quasi linearizable.
    pub fn explain_refusal(&self, history: &Recorded, refusal: &Refusal) -> Explained {
        let results = self.cells(history);
        let mut text = self.table(&results);
        let Refusal { classes, readings, exact, why } = refusal;
        text += "\n  Not linearizable: no order of these operations that keeps the order of those that do not overlap is legal.\n";
        text += &match exact {
            true => format!("  Where it goes wrong: {}\n", self.why(history, why)),
            false => format!("  Not quasi linearizable with {classes}{readings}: {}\n", self.why(history, why)),
        };
        Explained { results, text, serial: Vec::new() }
    }

    fn why(&self, history: &Recorded, why: &Why) -> String {
        match why {
            Why::Unplaced { operation, too_far } => format!(
                "{} fits nowhere. What happened before it returned can be explained; with it, nothing that could follow makes it \
                 right. {}",
                self.operation(history, *operation),
                self.too_far(history, too_far.as_ref())
            ),
            Why::Unfinished { later } if later.is_empty() => "it is not right by itself.".to_owned(),
            Why::Unfinished { later } => format!(
                "it is not right by itself. It would be with {} after it; --reading prefix allows that.",
                later.join(", ")
            ),
            Why::NeedNotBlock { operation } => format!(
                "{} need not wait: whatever the order of what returned, it could go on after it.",
                self.operation(history, *operation)
            ),
            Why::Violates { kind, operations } => {
                format!("a {kind} does not do this: {}.", self.operations(history, operations))
            }
            Why::Counted { kind, k, what, operations } => format!(
                "counted as a {kind} (k={k}): {what}. The operations that show it: {}.",
                self.operations(history, operations)
            ),
        }
    }

    /// Operations, one after the other.
    fn operations(&self, history: &Recorded, operations: &[(usize, usize)]) -> String {
        operations.iter().map(|&at| self.operation(history, at)).collect::<Vec<_>>().join("; ")
    }

    fn operation(&self, history: &Recorded, (column, place): (usize, usize)) -> String {
        let result = history.columns.get(column).and_then(|all| all.get(place)).and_then(|operation| operation.result);
        format!("{} {}", self.thread(column), self.shown(column, place, result))
    }

    fn too_far(&self, history: &Recorded, too_far: Option<&TooFar>) -> String {
        let Some(TooFar { factor, class, operation, place, legal_place }) = too_far else {
            return "No larger factor that would do was found.".to_owned();
        };
        let which = operation.map_or("a call that would follow".to_owned(), |at| self.operation(history, at));
        let off = place.abs_diff(*legal_place);
        let places = if off == 1 { "place" } else { "places" };
        let side = if place > legal_place { "late" } else { "early" };
        format!(
            "Up to there, factor {factor} for {class} would do: then {which} is number {place} of {class} where a legal run has it \
             at number {legal_place}, {off} {places} too {side}."
        )
    }
}
