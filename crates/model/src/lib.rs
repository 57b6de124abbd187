//! Proofs about models of concurrent algorithms: refinement, quasi refinement, deadlock, reachability and temporal
//! formulas, for transition systems that come from a text in CSP# or from Rust code.

pub mod answer;
mod bisimulation;
pub mod explore;
mod graph;
pub mod language;
pub mod limits;
pub mod ltl;
mod minimise;
pub mod models;
mod normal;
pub mod object;
pub mod objects;
pub mod picture;
pub mod progress;
pub mod quasi;
mod reduce;
pub mod refine;
mod search;
mod store;
pub mod system;

pub use answer::{Answer, Reason, Statistics, Trace, TraceStep, Trouble, Verdict};
pub use explore::{deadlock_free, explore, reaches};
pub use limits::{Limit, Reductions, Settings};
pub use ltl::{Formula, Moment, satisfies};
pub use object::{
    Call, Criterion, Guard, Implementation, Measure, ModelObject, ObjectEvent, Operation, Relaxation, Value,
};
pub use picture::{Drawn, DrawnState, DrawnStep, draw_space, space_to_dot, trace_to_dot, trace_to_svg};
pub use progress::{deterministic, divergence_free};
pub use quasi::{first_violation, linearizes};
pub use refine::{Model, refines};
pub use system::{Action, Fault, Label, TransitionSystem};
