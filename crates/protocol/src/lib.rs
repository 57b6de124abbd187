//! Everything that crosses the border between a command and a process under test.
//!
//! The runtime lives in the process of the code under test, which may crash; the command line lives outside, and survives. [`Settings`] go in;
//! [`Report`]s with [`Finding`]s come out. Both are JSON on the way ([`wire`]), and both sides know them as the types here.
//!
//! Invariant: what crosses is data. A sentence for people is made of it in one place, [`words`], whoever needs it: the command line, which knows
//! the names of addresses, and the panic of a Rust test, which does not.

pub mod address;
mod cause;
pub mod channel;
mod explanation;
mod finding;
mod object;
mod options;
mod report;
mod schedule;
mod settings;
mod step;
mod trouble;
pub mod wire;
pub mod words;

pub use cause::{
    Bystanders, Cause, Death, Deed, Deep, Fault, Framework, FreedBlock, Memory, Misuse, Noun, Out, Outside, Race,
    Signal, Touch, Waiting,
};
pub use explanation::{
    Against, Causality, Closest, Explanation, Language, Operation, OperationEnd, Order, Reading, Refusal, RefusalWhy,
    SerialHistory, TooFar, Why,
};
pub use finding::{Finding, FindingError, FindingFile, FindingKind};
pub use object::{
    BuiltInRecord, Enumerated, MatrixRecord, MatrixVerdict, Note, ObjectFinding, ObjectKind, ObjectReport, PlanRecord,
    QuasiCounts, QuasiRecord, RandomPlan,
};
pub use options::{Declared, Given, ObjectOptions, OptionError};
pub use report::{CoverageRecord, Host, PlainSteps, Report, TestReport};
pub use schedule::{ScheduleError, schedule_from_text, schedule_to_text};
pub use settings::{Leaks, Reuse, Search, Settings};
pub use step::{Access, Class, OtherAccess, Place, Step, StepKind, ThreadRecord, Verb, Waits, WaitsFor};
pub use trouble::{ObjectTrouble, Phase, SearchTrouble, Shortfall};
