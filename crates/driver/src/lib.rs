//! Tests of real code: how they are built, run under the controlled runtime, and what is kept of what they found.
//!
//! The runtime lives in the process of the code under test, which may crash; this crate lives outside, and survives.
//! Both sides share the types here: [`Settings`] go in, [`Report`]s and [`Finding`]s come out, as JSON.

mod compile;
mod finding;
pub mod hash;
mod headers;
mod ledger;
mod object;
mod report;
mod run;
pub mod rust;
mod schedule;
mod settings;
#[cfg(feature = "source")]
mod source;
mod watch;

pub use compile::{ASSEMBLER, CompileError, Compiler, Source, assemble, compile, supported};
pub use finding::{
    Finding, FindingError, FindingKind, HELD_STILL, OtherAccess, Place, RETURNED, STUCK, StepRecord, ThreadRecord,
    Waits,
};
pub use headers::{BEFORE_LIBSTDCXX, HEADER, headers_hash, write_headers};
pub use ledger::{Answer, Ended, Errand, Ledger, Phase};
pub use object::{
    BuiltInRecord, MatrixRecord, ObjectFinding, ObjectKind, ObjectReport, ObjectSettings, QuasiCounts, QuasiRecord,
};
pub use report::{CoverageRecord, Host, Report, TestReport};
pub use run::{
    DIRECTORY_VARIABLE, EXCHANGE_VARIABLE, Program, REPORT_VARIABLE, RunError, SETTINGS_VARIABLE, Session, environment,
    fingerprint, replay, run, run_watched,
};
pub use schedule::{ScheduleError, schedule_from_text, schedule_to_text};
pub use settings::{Reuse, Search, Settings};
#[cfg(feature = "source")]
pub use source::{Line, Lines, is_mangled};
pub use watch::Watch;
