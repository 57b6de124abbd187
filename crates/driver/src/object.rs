//! What the runtime is asked about objects, and what it answers.

use serde::{Deserialize, Serialize};

use crate::finding::Finding;
use crate::report::{CoverageRecord, TestReport};

/// What to do with the objects of a program, beside the settings of the search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ObjectSettings {
    /// Options as lines of text, in place of the object's own or added to them.
    pub options: Vec<String>,
}

impl ObjectSettings {
    /// The first flag that was given, as it is typed: of use for objects only.
    pub fn flag(&self) -> Option<String> {
        let option = self.options.first()?;
        Some(match option.split(' ').next().unwrap_or_default() {
            "only-quasi" => "--quasi".to_owned(),
            "keep-going" => "--every-matrix".to_owned(),
            word => format!("--{word}"),
        })
    }
}

/// What is wrong with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ObjectKind {
    /// Results that no serial order of the operations explains.
    NotLinearizable,
    /// Results further out of order than allowed.
    NotQuasiLinearizable,
    /// An operation that waits, although after no serial order it would.
    Stuck,
    /// Serial runs of the same calls that differ.
    Nondeterministic,
    /// A panic or exception that no serial run has.
    Panic,
    /// A data race.
    Race,
    /// Memory used after it was freed, freed twice, or never allocated.
    Memory,
    /// Anything else that ends a run badly: a signal, an assertion, a lock used wrongly.
    Crash,
}

impl ObjectKind {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            ObjectKind::NotLinearizable => "not-linearizable",
            ObjectKind::NotQuasiLinearizable => "not-quasi-linearizable",
            ObjectKind::Stuck => "stuck",
            ObjectKind::Nondeterministic => "nondeterministic",
            ObjectKind::Panic => "panic",
            ObjectKind::Race => "race",
            ObjectKind::Memory => "memory",
            ObjectKind::Crash => "crash",
        }
    }
}

/// A violation by an object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObjectFinding {
    /// What is wrong.
    pub kind: ObjectKind,
    /// The smallest matrix found that shows it.
    pub matrix: String,
    /// The matrix that it was first seen in.
    pub first_matrix: String,
    /// Threads by calls.
    pub dimension: String,
    /// Each operation with its result: the calls before and after first, then each thread.
    pub results: Vec<Vec<String>>,
    /// How many preemptions the schedule has, where that is known; no schedule with fewer shows it.
    pub preemptions: Option<u32>,
    /// Calls and returns in their order.
    pub timeline: String,
    /// The table, and why there is no witness.
    pub explanation: String,
    /// The serial histories that come closest, or the two that differ.
    pub serial: Vec<String>,
    /// A test that shows it again, in the language of the object.
    pub regression: String,
    /// The run.
    pub finding: Finding,
}

/// What came of one matrix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MatrixRecord {
    /// The matrix.
    pub matrix: String,
    /// `pass`, `fail` or `unknown`.
    pub verdict: String,
    /// What is wrong, when something is.
    pub kind: Option<ObjectKind>,
    /// The smallest matrix that fails in the same way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smallest: Option<String>,
    /// Serial histories in which everything returned.
    pub serial_full: u64,
    /// Serial histories that end in an operation that blocks.
    pub serial_stuck: u64,
    /// Distinct histories of phase 2.
    pub histories: u64,
    /// What was counted of them under quasi linearizability.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quasi: Option<QuasiCounts>,
    /// Runs of phase 1.
    pub serial_runs: u64,
    /// Runs of phase 2.
    pub runs: u64,
    /// Processor time of phase 1.
    pub serial_seconds: f64,
    /// Processor time of phase 2.
    pub seconds: f64,
    /// What was covered of the schedules.
    pub coverage: CoverageRecord,
}

/// What was allowed under quasi linearizability.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuasiRecord {
    /// Classes and factors, as written.
    pub classes: String,
    /// `prefix` or `closed`.
    pub reading: String,
    /// `causal` or `free`.
    pub causality: String,
    /// `distance` or `strict`.
    pub order: String,
    /// What it was held against: a built-in object, `reference`, or `itself`.
    pub specification: String,
    /// What was counted, over all matrices.
    pub counts: QuasiCounts,
    /// Why a matrix is not one that the closed reading asks for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What a built-in object was held against, where that was asked for without relaxation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuiltInRecord {
    /// The built-in object.
    pub specification: String,
    /// Whether operation counting was to take the place of search.
    pub approximate: bool,
    /// The k of counting.
    pub k: usize,
    /// How many histories only counting looked at, without seeing a violation.
    pub counted: u64,
}

impl BuiltInRecord {
    /// What that leaves open, of so many histories.
    pub fn doubt(&self, histories: u64) -> Option<String> {
        let BuiltInRecord { approximate, k, counted, .. } = self;
        let none = "and counting cannot show that there is none";
        match (counted, approximate) {
            (0, _) => None,
            (_, true) => Some(format!("no violation is visible at k={k}, {none}")),
            (1, false) => Some(format!(
                "1 of {histories} histories was too large for the search and was counted instead: no violation is visible at k={k}, {none}"
            )),
            (_, false) => Some(format!(
                "{counted} of {histories} histories were too large for the search and were counted instead: no violation is visible at \
                 k={k}, {none}"
            )),
        }
    }
}

/// What was counted of the histories of phase 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuasiCounts {
    /// Histories that are linearizable.
    pub histories_linearizable: u64,
    /// Histories that are not even quasi linearizable.
    pub histories_buggy: u64,
    /// The orders in which the operations of all histories might have taken effect.
    pub linearizations: u64,
    /// What the searches visited.
    pub states: u64,
}

/// What came of one object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObjectReport {
    /// Its name.
    pub object: String,
    /// The criterion that histories were held against.
    pub criterion: String,
    /// How many matrices were tested to their end.
    pub matrices: u64,
    /// How many of them failed.
    pub matrices_failed: u64,
    /// How many of them under every schedule.
    pub matrices_exhaustive: u64,
    /// How many had to be tested.
    pub matrices_wanted: u64,
    /// How many random matrices were tested.
    #[serde(default)]
    pub random_tested: u64,
    /// How many random matrices only fill up the time that is left; they need not be tested.
    #[serde(default)]
    pub random_optional: u64,
    /// What the matrices were, in words.
    pub plan: String,
    /// Serial histories, over all matrices.
    pub serial_histories: u64,
    /// Distinct histories of phase 2, over all matrices.
    pub histories: u64,
    /// How many of them were stuck, with good reason.
    pub stuck: u64,
    /// What was allowed and counted, when quasi linearizability was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quasi: Option<QuasiRecord>,
    /// What it was held against, when that is a built-in object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub built_in: Option<BuiltInRecord>,
    /// Runs of both phases.
    pub runs: u64,
    /// Steps of both phases.
    pub points: u64,
    /// Processor time.
    pub cpu_seconds: f64,
    /// What was covered of the schedules of each matrix: the least.
    pub coverage: CoverageRecord,
    /// Whether everything that had to be tested was, as the settings ask for it.
    pub complete: bool,
    /// Why it was not.
    pub limit: Option<String>,
    /// One for each matrix, when the search goes on after findings.
    pub records: Vec<MatrixRecord>,
    /// What was found.
    pub findings: Vec<ObjectFinding>,
    /// Runs that ended at something that is not controlled, each place once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknowns: Vec<Finding>,
    /// Why it cannot be tested at all.
    pub error: Option<String>,
}

impl ObjectReport {
    /// What operation counting leaves open, if it was all that looked at some histories.
    pub fn doubt(&self) -> Option<String> {
        self.built_in.as_ref().and_then(|built_in| built_in.doubt(self.histories))
    }

    /// The same as the report of a test: what runs and findings are to whoever does not ask for matrices.
    pub fn to_test(&self) -> TestReport {
        TestReport {
            runs: self.runs,
            blocked: self.stuck,
            points: self.points,
            cpu_seconds: self.cpu_seconds,
            coverage: self.coverage,
            bound: match self.coverage {
                CoverageRecord::Preemptions(bound) => Some(bound),
                _ => None,
            },
            histories: self.histories,
            findings: self.findings.iter().map(|found| found.finding.clone()).collect(),
            unknowns: self.unknowns.clone(),
            ..TestReport::new(&self.object)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counting_leaves_open_is_said() {
        let record = |approximate, counted| BuiltInRecord { specification: "queue".into(), approximate, k: 2, counted };
        assert_eq!(record(false, 0).doubt(9), None);
        let asked = record(true, 9).doubt(9).unwrap();
        assert_eq!(asked, "no violation is visible at k=2, and counting cannot show that there is none");
        let one = record(false, 1).doubt(9).unwrap();
        assert!(one.starts_with("1 of 9 histories was too large for the search and was counted instead: no "), "{one}");
        let two = record(false, 2).doubt(9).unwrap();
        assert!(
            two.starts_with("2 of 9 histories were too large for the search and were counted instead: no "),
            "{two}"
        );
    }
}
