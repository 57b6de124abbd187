//! Proofs about models of concurrent algorithms: refinement, quasi refinement, deadlock, reachability and temporal
//! formulas, for transition systems that come from a text in CSP# or from Rust code.

pub mod language;
pub mod system;

pub use system::{Action, Fault, Label, TransitionSystem};
