//! Operation counting: violations found in polynomial time.
//!
//! Deciding linearizability is hard because there are many orders to try. Operation counting (Bouajjani, Emmi, Enea, Hamza: Tractable
//! Refinement Checking for Concurrent Objects, POPL 2015) forgets most of the order and keeps numbers: how many operations of
//! each label lie in each of a few intervals. What is wrong with the numbers is wrong with the history, never the other way
//! round: this module answers *violation* or *none visible*, and never that a history is right.
//!
//! | module | what is in it | section |
//! |---|---|---|
//! | [`IntervalOrder`] | pasts, length, canonical representation, A_k | 6.1, 6.2 |
//! | [`Representation`], [`Counting`] | counters by label and interval; algorithm 1 | 6.1, 6.2 |
//! | [`logic`] | formulas about counters, and those of the built-in objects | 6.1, 7 |
//! | [`kernel`] | formulas derived from a grammar of serial executions, and their decision | 8 |
//! | [`approximate`] | a recorded history against the formulas of its object | |
//!
//! Invariant: a violation reported is one that linearizability has too, pending operations and repeated values included.

mod approximate;
pub mod kernel;
mod label;
pub mod logic;
mod numbered;
mod order;
mod parts;
mod representation;
mod solver;
mod text;
mod triangle;

pub use approximate::{Approximation, Approximator, CountingViolation, Unapproximated, approximate, has_formula};
pub use label::Label;
pub use order::IntervalOrder;
pub use parts::Prefixes;
pub use representation::{Counting, Misplaced, Representation};
pub use solver::{BRANCHES_MAX, Halt};
pub use text::{Place, Reason, SyntaxError};
pub use triangle::Triangle;
