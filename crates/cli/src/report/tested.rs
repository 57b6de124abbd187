//! What came of tests of code, as data: verdict, coverage, limits. The texts are in [`text`](super::text), the documents in [`json`](super::json).
//!
//! Invariant: what was only sampled, or was cut short, never counts as complete.

use std::collections::HashMap;

use selvedge_protocol::{CoverageRecord, ObjectReport, Search, Settings, Shortfall, TestReport};

use super::names::Names;
use super::verdict::{Coverage, Reached};
use crate::exit::Exit;
use crate::findings::Saved;

/// One test that ran, or that could not be run to any end.
pub struct Tested {
    /// What the runtime saw.
    pub report: TestReport,
    /// The same for an object, with what is said of matrices.
    pub object: Option<ObjectReport>,
    /// What it was asked to do.
    pub settings: Settings,
    /// Whether Ctrl-C or the end of the process cut it short.
    pub interrupted: bool,
    /// Where each finding was written.
    pub paths: Vec<Saved>,
    /// The program that it is in.
    pub program: String,
    /// The test function that the search is in, where the program runs its tests itself.
    pub function: Option<String>,
    /// Whether it panics as the test says that it should.
    pub expected: bool,
    /// Why there is no report of it.
    pub lost: Option<String>,
}

/// Something that there is no report of, although there should be one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Whether it could not be tested at all; else nothing is known of it.
    pub untestable: bool,
    /// What it is, in a few words.
    pub what: String,
    /// Why.
    pub why: String,
}

impl Missing {
    /// Of something that nothing is known of.
    pub fn unknown(what: impl Into<String>, why: impl Into<String>) -> Self {
        Missing { untestable: false, what: what.into(), why: why.into() }
    }

    /// Of something that could not be tested.
    pub fn untestable(what: impl Into<String>, why: impl Into<String>) -> Self {
        Missing { untestable: true, what: what.into(), why: why.into() }
    }

    /// What it means for the exit code.
    pub fn exit(&self) -> Exit {
        if self.untestable { Exit::Input } else { Exit::Unknown }
    }

    /// All of it without the verdict.
    pub fn says(&self) -> String {
        format!("{}: {}", self.what, self.why)
    }

    /// In one line.
    pub fn line(&self) -> String {
        format!("{}  {}", if self.untestable { "ERROR" } else { "UNKNOWN" }, self.says())
    }
}

/// All tests of a program.
pub struct Session<'a> {
    /// The source files.
    pub file: &'a str,
    /// The compiler.
    pub compiler: &'a str,
    /// The tests.
    pub tests: &'a [Tested],
    /// What the time limit was, for each test.
    pub time_max: Option<std::time::Duration>,
    /// How long it took, compiling included.
    pub seconds: f64,
    /// The verdict, where somebody else decides it.
    pub exit: Option<Exit>,
    /// What could not be tested, or is not known although it was.
    pub missing: &'a [Missing],
    /// How many searches are judged by their tests, which took the reports.
    pub taken: usize,
}

impl Tested {
    /// The verdict. A bound that was asked for and reached is a pass, and so is one that the portfolio reached before its
    /// time was over; both say that it was a bound.
    pub fn exit(&self) -> Exit {
        let (report, settings) = (&self.report, &self.settings);
        if self.expected {
            return Exit::Pass;
        }
        if !report.findings.is_empty() {
            return Exit::Violation;
        }
        if let Some(object) = &self.object {
            return if object.complete { Exit::Pass } else { Exit::Unknown };
        }
        if report.coverage.reaches(settings) { Exit::Pass } else { Exit::Unknown }
    }

    /// What ended the search before everything was covered.
    pub(super) fn limit(&self) -> Option<Reached> {
        let (report, settings) = (&self.report, &self.settings);
        // A portfolio that stops at its bound was cut short: it goes on to the end when it can.
        let at_bound = matches!(report.coverage, CoverageRecord::Preemptions(_)) && settings.search != Search::Bounded;
        let complete = report.coverage.reaches(settings) && !at_bound;
        if !report.findings.is_empty() {
            return None;
        }
        // What was covered of the matrices that were tested says nothing of those that were not.
        let object = self.object.as_ref();
        if object.map_or(complete, |object| object.complete && complete) {
            None
        } else if let (false, Some(unknown)) = (self.interrupted, report.unknowns.first().filter(|_| object.is_some()))
        {
            Some(Reached::Run(unknown.kind))
        } else if object.is_some_and(|object| !object.complete && !self.interrupted) {
            let limit = object.and_then(|object| object.limit.as_ref());
            Some(if limit.is_some_and(Shortfall::is_of_time) { Reached::TIME } else { Reached::Incomplete })
        } else if self.interrupted {
            Some(Reached::INTERRUPTED)
        } else if self.lost.is_some() {
            Some(Reached::NoReport)
        } else if report.worker_lost {
            Some(Reached::Worker)
        } else if report.forgotten > 0 {
            Some(Reached::RaceMemory)
        } else if let Some(unknown) = report.unknowns.first() {
            Some(Reached::Run(unknown.kind))
        } else if report.tested_nothing() {
            Some(Reached::Assumptions)
        } else if report.runs >= settings.runs_max {
            Some(Reached::Runs)
        } else if report.unfair > 0 {
            Some(Reached::Fairness)
        } else {
            Some(Reached::TIME)
        }
    }

    /// How much was covered, in a word.
    pub(super) fn coverage_name(&self) -> Coverage {
        // All schedules of some matrices are not all that can happen to an object.
        if let Some(object) = self.object.as_ref().filter(|object| object.coverage == CoverageRecord::Exhaustive) {
            return match object.random_tested {
                0 => Coverage::Bounded,
                _ => Coverage::Sampled,
            };
        }
        match self.report.coverage {
            CoverageRecord::Exhaustive => Coverage::Exhaustive,
            CoverageRecord::Preemptions(_) => Coverage::Bounded,
            CoverageRecord::Sampled(_) => Coverage::Sampled,
            CoverageRecord::Replayed => Coverage::Replayed,
            CoverageRecord::Partial => Coverage::Partial,
        }
    }
}

impl Session<'_> {
    pub(super) fn exit(&self) -> Exit {
        self.exit.unwrap_or_else(|| self.tests.iter().map(Tested::exit).fold(Exit::Pass, Exit::worst))
    }

    /// Does something with each test and the names of its program.
    pub(super) fn each<T>(&self, mut of: impl FnMut(&Tested, &mut Names) -> T) -> Vec<T> {
        let mut names: HashMap<&str, Names> = HashMap::new();
        let of = |test| {
            let Tested { program, .. }: &Tested = test;
            of(test, names.entry(program).or_insert_with(|| Names::new(program)))
        };
        self.tests.iter().map(of).collect()
    }
}
