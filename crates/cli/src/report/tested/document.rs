//! What JSON says of tests of code.

use std::path::Path;

use selvedge_protocol::{Finding, words};
use serde::Serialize;

use super::super::json::round;
use super::super::names::Names;
use super::super::text::clean;
use super::super::verdict::{Coverage, Criterion, Reached, VerdictName};
use super::super::{interleaving, objects};
use super::{Tested, unsaved};
use crate::findings::Saved;

#[derive(Serialize)]
pub struct SessionDocument<'a> {
    pub file: &'a str,
    pub verdict: VerdictName,
    pub criterion: Criterion,
    pub coverage: Coverage,
    pub seconds: f64,
    pub version: &'static str,
    pub compiler: &'a str,
    pub strategy: &'static str,
    pub runs: u64,
    pub redundant: u64,
    pub blocked: u64,
    pub points: u64,
    pub histories: u64,
    pub cpu_seconds: f64,
    pub findings: Vec<Found>,
    pub time_max: Option<f64>,
    pub tests: Vec<TestDocument>,
    /// What there is no report of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<String>,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs_max: Option<u64>,
    pub runs: u64,
    pub redundant: u64,
    pub blocked: u64,
    pub points: u64,
    pub histories: u64,
    pub cpu_seconds: f64,
    pub findings: Vec<Found>,
    /// What was not controlled, and where: nothing is claimed then.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknowns: Vec<Found>,
    #[serde(flatten)]
    pub object: Option<objects::ObjectDocument>,
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
            runs_max: Some(settings.runs_max).filter(|&runs| runs != u64::MAX),
            runs: report.runs,
            redundant: report.redundant,
            blocked: report.blocked,
            points: report.points,
            histories: report.histories,
            cpu_seconds: round(report.cpu_seconds),
            findings: found.map(|(finding, path)| Found::new(finding, path, names)).collect(),
            unknowns: report.unknowns.iter().map(|unknown| Found::without_file(unknown, names)).collect(),
            object: test.object.as_ref().map(objects::ObjectDocument::new),
        }
    }
}
