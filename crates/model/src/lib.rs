//! Proofs about models of concurrent algorithms: refinement, quasi refinement, deadlock, reachability and temporal
//! formulas, for transition systems that come from a text in CSP# or from Rust code.

pub mod answer;
pub mod explore;
pub mod limits;
mod minimise;
mod reduce;
mod search;
mod store;
pub mod system;

pub use answer::{Answer, Reason, Statistics, Trace, TraceStep, Trouble, Verdict};
pub use explore::{deadlock_free, explore, reaches};
pub use limits::{Limit, Reductions, Settings};
pub use system::{Action, Fault, Label, TransitionSystem};
