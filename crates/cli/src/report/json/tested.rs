//! The document of tests of code.

use std::path::Path;

use selvedge_protocol::{Finding, TestReport, words};
use serde::Serialize;

use super::objects::ObjectDocument;
use super::{VERSION, round, write};
use crate::findings::Saved;
use crate::report::interleaving;
use crate::report::names::Names;
use crate::report::tested::{Missing, Session, Tested};
use crate::report::text::clean;
use crate::report::text::tested::unsaved;
use crate::report::verdict::{Coverage, Criterion, Reached, VerdictName};

#[derive(Serialize)]
struct SessionDocument<'a> {
    file: &'a str,
    verdict: VerdictName,
    criterion: Criterion,
    coverage: Coverage,
    seconds: f64,
    version: &'static str,
    compiler: &'a str,
    strategy: &'static str,
    runs: u64,
    redundant: u64,
    blocked: u64,
    points: u64,
    histories: u64,
    cpu_seconds: f64,
    findings: Vec<Found>,
    time_max: Option<f64>,
    tests: Vec<TestDocument>,
    /// What there is no report of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lost: Vec<String>,
}

#[derive(Serialize)]
pub struct TestDocument {
    pub test: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    pub verdict: VerdictName,
    pub coverage: Coverage,
    pub covered: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Reached>,
    /// Why not everything was tested that had to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether the panic that was found is one that the test asks for.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub expected: bool,
    pub strategy: &'static str,
    pub preemptions: u32,
    pub depth: u32,
    pub seed: u64,
    pub steps_max: u64,
    pub retries: bool,
    /// Whether waits ended without a reason, which is said only where they did not.
    #[serde(skip_serializing_if = "Clone::clone")]
    pub spurious: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs_max: Option<u64>,
    pub runs: u64,
    pub redundant: u64,
    pub blocked: u64,
    /// How many of these because an assumption of the test did not hold.
    #[serde(skip_serializing_if = "is_zero")]
    pub excluded: u64,
    pub points: u64,
    pub histories: u64,
    pub cpu_seconds: f64,
    /// Plain accesses that are steps, and how many runs were made before these were known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plain_steps: Option<PlainStepsDocument>,
    pub findings: Vec<Found>,
    /// What was not controlled, and where: nothing is claimed then.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknowns: Vec<Found>,
    #[serde(flatten)]
    pub object: Option<ObjectDocument>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Plain accesses that are steps.
#[derive(Serialize)]
pub struct PlainStepsDocument {
    /// In which lines.
    lines: Vec<String>,
    runs_before: u64,
}

/// The document.
pub fn tested(session: &Session<'_>) -> String {
    let tests: Vec<TestDocument> = session.each(TestDocument::new);
    let sum = |of: fn(&TestReport) -> u64| session.tests.iter().map(|test| of(&test.report)).sum();
    write(&SessionDocument {
        file: session.file,
        verdict: VerdictName::of(session.exit()),
        criterion: Criterion::Assertions,
        // The weakest of all counts for the whole.
        coverage: session.tests.iter().map(Tested::coverage_name).min().unwrap_or(Coverage::Partial),
        seconds: round(session.seconds),
        version: VERSION,
        compiler: session.compiler,
        strategy: session.tests.first().map_or("none", |test| test.settings.search.name()),
        runs: sum(|report| report.runs),
        redundant: sum(|report| report.redundant),
        blocked: sum(|report| report.blocked),
        points: sum(|report| report.points),
        histories: sum(|report| report.histories),
        cpu_seconds: round(session.tests.iter().map(|test| test.report.cpu_seconds).sum()),
        findings: tests.iter().flat_map(|test| test.findings.clone()).collect(),
        time_max: session.time_max.map(|time| time.as_secs_f64()),
        tests,
        lost: session.missing.iter().map(Missing::line).collect(),
    })
}

/// A finding in JSON; the rest of it is in its file.
#[derive(Clone, Serialize)]
pub struct Found {
    pub test: String,
    pub kind: &'static str,
    pub message: String,
    /// Its file, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Why there is no file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsaved: Option<String>,
    /// The source line to look at, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

impl Found {
    /// One that is no violation, and is not kept.
    fn without_file(finding: &Finding, names: &mut Names) -> Self {
        Found { path: None, ..Found::new(finding, &Saved::at(""), names) }
    }

    /// The finding in the file of that name.
    pub fn new(finding: &Finding, saved: &Saved, names: &mut Names) -> Self {
        let message = interleaving::explained(finding, names);
        let own = names.own_line(finding).map(|line| (from_here(&line.file), line.line));
        // A panic has been caught by the time it is reported; its message has the line.
        let (file, line) = own.or_else(|| interleaving::told(finding)?.1).unzip();
        let (path, unsaved) = match &saved.error {
            None => (Some(saved.path.clone()), None),
            Some(_) => (None, Some(unsaved(saved))),
        };
        Found { test: finding.test.clone(), kind: finding.kind.name(), message, path, unsaved, file, line }
    }
}

/// A path as seen from the current directory, if it leads below it.
fn from_here(file: &str) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    Path::new(file).strip_prefix(here).map_or_else(|_| file.to_owned(), |path| path.display().to_string())
}

impl TestDocument {
    pub fn new(test: &Tested, names: &mut Names) -> Self {
        let (report, settings) = (&test.report, &test.settings);
        let found = report.findings.iter().zip(&test.paths);
        let limit = test.object.as_ref().and_then(|object| object.limit.as_ref());
        let limit = limit.map(|limit| words::shortfall(limit, names));
        TestDocument {
            test: report.test.clone(),
            function: test.function.clone(),
            verdict: VerdictName::of(test.exit()),
            coverage: test.coverage_name(),
            covered: test.coverage(),
            bound: report.bound,
            limit: test.limit(),
            reason: limit.or(test.lost.clone()).as_deref().map(clean),
            expected: test.expected,
            strategy: settings.search.name(),
            preemptions: settings.preemptions,
            depth: settings.depth,
            seed: settings.seed,
            steps_max: settings.steps_max,
            retries: settings.retries,
            spurious: settings.spurious,
            runs_max: Some(settings.runs_max).filter(|&runs| runs != u64::MAX),
            runs: report.runs,
            redundant: report.redundant,
            blocked: report.blocked,
            excluded: report.excluded,
            points: report.points,
            histories: report.histories,
            cpu_seconds: round(report.cpu_seconds),
            plain_steps: Some(&report.plain_steps)
                .filter(|steps| !steps.is_empty())
                .map(|steps| PlainStepsDocument { lines: names.places(&steps.places), runs_before: steps.runs_before }),
            findings: found.map(|(finding, path)| Found::new(finding, path, names)).collect(),
            unknowns: report.unknowns.iter().map(|unknown| Found::without_file(unknown, names)).collect(),
            object: test.object.as_ref().map(ObjectDocument::new),
        }
    }
}
