//! The words that every rendering shares: verdict, coverage, criterion, and what was reached where the verdict is unknown.
//!
//! Invariant: they are values until they are printed. Nobody compares their names.

use selvedge_history::{Limit, Verdict};
use selvedge_protocol::FindingKind;
use serde::{Serialize, Serializer};

use crate::exit::Exit;

/// A verdict without its evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerdictName {
    /// It holds.
    Pass,
    /// It does not.
    Fail,
    /// A limit was reached, or nothing was tested.
    Unknown,
}

impl VerdictName {
    /// The verdict of an answer. What is wrong with the input is no answer, and nothing is known then.
    pub fn of(exit: Exit) -> Self {
        match exit {
            Exit::Pass => VerdictName::Pass,
            Exit::Violation => VerdictName::Fail,
            Exit::Unknown | Exit::Input | Exit::Bug => VerdictName::Unknown,
        }
    }

    /// The same, where wrong input has no verdict.
    pub fn of_answer(exit: Exit) -> Option<Self> {
        (exit < Exit::Input).then(|| VerdictName::of(exit))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            VerdictName::Pass => "pass",
            VerdictName::Fail => "fail",
            VerdictName::Unknown => "unknown",
        }
    }

    /// The exit code that says it.
    pub fn exit(self) -> Exit {
        match self {
            VerdictName::Pass => Exit::Pass,
            VerdictName::Fail => Exit::Violation,
            VerdictName::Unknown => Exit::Unknown,
        }
    }
}

impl Serialize for VerdictName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<P, F> From<&Verdict<P, F>> for VerdictName {
    fn from(verdict: &Verdict<P, F>) -> Self {
        match verdict {
            Verdict::Pass(_) => VerdictName::Pass,
            Verdict::Fail(_) => VerdictName::Fail,
            Verdict::Unknown(_) => VerdictName::Unknown,
        }
    }
}

/// How much was looked at, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Coverage {
    /// A limit was reached before the end.
    Partial,
    /// One schedule.
    Replayed,
    /// Some of all, drawn at random.
    Sampled,
    /// All up to a bound.
    Bounded,
    /// All.
    Exhaustive,
    /// What operation counting shows.
    Approximate,
    /// What the rules of a monitor show.
    Monitored,
}

/// What was asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Criterion {
    /// Whether a history is linearizable.
    #[default]
    Linearizability,
    /// Whether it is, with operations out of order.
    QuasiLinearizability,
    /// The assertions of a model.
    Model,
    /// The assertions of tests of code, and what else no schedule may do.
    Assertions,
}

impl Criterion {
    /// Its name in documents and certificates.
    pub fn name(self) -> &'static str {
        match self {
            Criterion::Linearizability => "linearizability",
            Criterion::QuasiLinearizability => "quasi-linearizability",
            Criterion::Model => "model",
            Criterion::Assertions => "assertions",
        }
    }
}

impl Serialize for Criterion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// What was reached, or is missing, where a verdict is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// A limit of the command line.
    Limit(Limit),
    /// The number of states of a model.
    States,
    /// Nothing: there is no operation that says something.
    NoOperations,
    /// The number of runs.
    Runs,
    /// Runs were given up as unfair.
    Fairness,
    /// More memory than is remembered for data races.
    RaceMemory,
    /// In no run all assumptions of the test held.
    Assumptions,
    /// A worker process ended without an answer.
    Worker,
    /// There is no report.
    NoReport,
    /// Not everything that was planned for an object was tested.
    Incomplete,
    /// Runs ended there, and nobody knows how they would have gone on.
    Run(FindingKind),
}

impl Reached {
    /// The time, which every command has a limit for.
    pub const TIME: Reached = Reached::Limit(Limit::Time);
    /// Ctrl-C.
    pub const INTERRUPTED: Reached = Reached::Limit(Limit::Interrupted);

    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Reached::Limit(limit) => limit.name(),
            Reached::States => "states",
            Reached::NoOperations => "no-operations",
            Reached::Runs => "runs",
            Reached::Fairness => "fairness",
            Reached::RaceMemory => "race-memory",
            Reached::Assumptions => "assumptions",
            Reached::Worker => "worker",
            Reached::NoReport => "no-report",
            Reached::Incomplete => "incomplete",
            Reached::Run(kind) => kind.name(),
        }
    }
}

impl Serialize for Reached {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl From<selvedge_model::Limit> for Reached {
    fn from(limit: selvedge_model::Limit) -> Self {
        match limit {
            selvedge_model::Limit::States => Reached::States,
            selvedge_model::Limit::Memory => Reached::Limit(Limit::Memory),
            selvedge_model::Limit::Time => Reached::Limit(Limit::Time),
            selvedge_model::Limit::Interrupted => Reached::Limit(Limit::Interrupted),
            _ => Reached::Incomplete,
        }
    }
}
