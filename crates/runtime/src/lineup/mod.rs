//! Line-Up on real code: objects, their operations, phase 1 and phase 2, matrix after matrix, in one process.
//!
//! What may be called, what is held against what, and what a matrix is, are in [`selvedge_lineup`]; here the code runs.
//!
//! | module | is for |
//! |---|---|
//! | `object` | objects as C and Rust describe them |
//! | `body` | the threads of one matrix: construct, call, wait, call, destroy |
//! | `recorder` | what the operations of the run under way did |
//! | `matrix` | one matrix: serial runs, then every schedule |
//! | `phase2` | those, one after the other |
//! | `files` | serial histories of earlier, and for later |
//! | `examine` | both phases of a matrix, and the smallest that fails like it |
//! | `crew` | which process looks at which matrix |
//! | `relaxed` | what quasi linearizability was asked for |
//! | `specified` | which built-in object it is held against |
//! | `check` | matrix after matrix, and the report |
//!
//! Invariant: results leave a run as small numbers, because everything that the code under test allocated is gone after it.

mod abi;
mod body;
mod check;
mod crew;
mod examine;
mod files;
mod matrix;
mod object;
mod phase2;
mod recorder;
mod relaxed;
mod specified;

pub use abi::{check_registered, registered};
pub use check::check;
pub use object::{Object, RustObject};
pub use recorder::{Lineup, Recorder};
