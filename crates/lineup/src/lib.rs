//! Line-Up: is an object linearizable, when nobody says what it should do?
//!
//! After Burckhardt, Dern, Musuvathi and Tan, *Line-Up: a complete and automatic linearizability checker*, PLDI 2010. The
//! user names an object and some calls. A [`Matrix`] says which thread makes which calls. Phase 1 runs it serially and keeps
//! every behaviour in an [`Observation`]; phase 2 runs it under every schedule, and each history must be explained by a
//! serial one ([`judge`]). What cannot be explained refutes *every* deterministic specification.
//!
//! Invariant: this crate is pure. Who runs the code, and how, is the runtime's business; what the runs did comes in as
//! [`Recorded`] histories of small numbers.

mod built_in;
mod calls;
mod closest;
mod criterion;
mod explain;
mod matrix;
mod observation;
mod options;
mod plan;
mod quasi;
mod recorded;
mod results;
mod shrink;
mod values;
mod witness;

pub use built_in::{BuiltIn, BuiltInError, K, Specified};
pub use calls::{CallId, Calls, CallsError, Declared, PANICKED};
pub use closest::{Parting, closest};
pub use criterion::{Case, Criterion, Judgement, Linearizable, Tally};
pub use explain::Subject;
pub use matrix::{Matrix, MatrixError};
pub use observation::{
    FileError, Nondeterminism, Observation, ObservationSet, SerialOp, read_json, read_xml, write_json, write_xml,
};
pub use options::{Options, OptionsError};
pub use plan::{Plan, Stage};
pub use quasi::{NotWellFormed, Quasi, Relaxed, RelaxedError, Roles, ShapeError, linearizations};
pub use recorded::{Ending, Operation, Recorded};
pub use results::{ResultId, Results};
pub use shrink::smaller;
pub use witness::{Unexplained, judge};
