//! Histories of concurrent objects: what they are, what they should do, and whether they did.
//!
//! A [`History`] is a sequence of calls and returns. A [`Spec`] says what one call at a time may do. [`check`] answers a
//! [`Verdict`] with [`evidence`], and [`verify`] checks that evidence again with code of its own.
//!
//! This crate knows no threads, files or sockets: importers take bytes, checkers take values, and a [`Budget`] is
//! the only thing that may stop a search. It holds no `unsafe` code.

mod budget;
pub mod certificate;
pub mod check;
pub mod counting;
pub mod evidence;
pub mod format;
pub mod generate;
mod history;
mod log;
pub mod monitor;
pub mod object;
pub mod quasi;
mod spec;
mod value;
mod verdict;
pub mod verify;

pub use budget::{Budget, SoFar};
pub use history::{
    End, Event, History, IllFormed, Interval, Mark, OpId, Operation, Recorder, Return, ThreadId, Touching,
};
pub use log::{Call, Log, LogError, LogRecorder, Outcome, Symbol};
pub use spec::{Elements, Normal, Spec, Traffic};
pub use value::Value;
pub use verdict::{Coverage, Limit, Verdict};
