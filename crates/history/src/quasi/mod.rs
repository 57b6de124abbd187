//! Quasi linearizability of recorded histories (Round-Up III-V, in the readings of docs/semantics.md).
//!
//! A history is quasi linearizable when some linearization of it and some legal run of the specification have the same
//! word of classes, and in each class no operation stands further from its place in the other than the class's factor
//! allows. Neither linearizations nor permutations are enumerated: one search builds both orders side by side.
//!
//! Invariant: an answer `Pass` carries both orders, an answer `Fail` the shortest prefix that has none; a search that was
//! cut short is `Unknown`.

mod check;
mod decide;
mod label;
mod machine;
mod numbered;
mod plan;
mod relaxation;
mod search;
mod window;
mod witness;

pub use check::{Answer, CheckError, Furthest, check, least_factor};
pub use decide::{Decided, Excess, Question, Reason};
pub use relaxation::{FACTOR_MAX, Named, Relaxation, RelaxationError, Resolved, SUPPORTED};
pub use witness::{Orders, Placed};

use numbered::{Input, Object, Output};

/// Whether operations may be added after the end of a history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Reading {
    /// It suffices that some continuation of the history makes both orders match.
    #[default]
    Prefix,
    /// The history is all there is.
    Closed,
}

/// Whether a value may leave before it came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Causality {
    /// An operation that takes out or shows a value never takes effect before the insertion of that value was called.
    #[default]
    Causal,
    /// Without this guard.
    Free,
}

/// How far apart is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// No operation stands more than K places, counted in its class, from its place in the other order.
    #[default]
    Distance,
    /// Each operation is one of the first K+1 that remain, and the first that remains is passed over at most K times.
    Strict,
}

/// What is allowed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// The factor of each class.
    pub factors: Vec<u32>,
    /// Whether the history may go on.
    pub reading: Reading,
    /// Whether values may leave before they came.
    pub causality: Causality,
    /// How far apart is measured.
    pub order: Order,
}

impl Rules {
    /// For how many steps of its class an operation that one order has may be missing from the other, at most.
    fn reach(&self, class: u16) -> u32 {
        let factor = self.factors[class as usize];
        match self.order {
            Order::Distance => factor,
            Order::Strict => (factor + 1).saturating_mul(factor + 1),
        }
    }
}

/// Which operation is in which class. A pair gives the class of an operation, and the class where it finds nothing.
pub struct Classing<I> {
    /// By operation of the history.
    pub of: Vec<(u16, u16)>,
    /// Calls that may come after the end of the history.
    pub probes: Vec<(I, (u16, u16))>,
    /// The class of [`Elements::insertion`](crate::Elements::insertion).
    pub insertion: (u16, u16),
}

/// The one of the two classes that the operation is in.
fn pick(spec: &Object<'_>, input: Input, output: Option<Output>, (class, empty): (u16, u16)) -> u16 {
    if output.is_some_and(|output| spec.finds_nothing(&input, &output)) { empty } else { class }
}
