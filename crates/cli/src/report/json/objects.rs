//! What the document of a test adds for an object.

use selvedge_protocol::{BuiltInRecord, MatrixRecord, ObjectFinding, ObjectReport, QuasiRecord, words};
use serde::Serialize;

/// What JSON adds for an object.
#[derive(Serialize)]
pub struct ObjectDocument {
    criterion: String,
    plan: String,
    matrices: u64,
    matrices_failed: u64,
    matrices_exhaustive: u64,
    matrices_wanted: u64,
    random_tested: u64,
    random_optional: u64,
    serial_histories: u64,
    #[serde(flatten)]
    quasi: Option<Relaxed>,
    #[serde(flatten)]
    built_in: Option<Specified>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    records: Vec<MatrixRecord>,
    violations: Vec<Violation>,
}

/// What JSON adds when quasi linearizability was asked for.
#[derive(Serialize)]
struct Relaxed {
    quasi: String,
    reading: &'static str,
    causality: &'static str,
    order: &'static str,
    specification: String,
    histories_linearizable: u64,
    histories_buggy: u64,
    linearizations: u64,
    states: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

impl Relaxed {
    fn new(record: &QuasiRecord) -> Self {
        let QuasiRecord { classes, reading, causality, order, specification, counts, notes } = record;
        Relaxed {
            quasi: classes.clone(),
            reading: reading.name(),
            causality: causality.name(),
            order: order.name(),
            specification: specification.name().to_owned(),
            histories_linearizable: counts.histories_linearizable,
            histories_buggy: counts.histories_buggy,
            linearizations: counts.linearizations,
            states: counts.states,
            notes: notes.iter().map(words::note).collect(),
        }
    }
}

/// What JSON adds when it was held against a built-in object.
#[derive(Serialize)]
struct Specified {
    specification: String,
    /// The k of counting, when that was all there was or took the place of a search.
    #[serde(skip_serializing_if = "Option::is_none")]
    k: Option<usize>,
    histories_counted: u64,
}

impl Specified {
    fn new(record: &BuiltInRecord) -> Self {
        let BuiltInRecord { specification, approximate, k, counted } = record.clone();
        Specified { specification, k: (approximate || counted > 0).then_some(k), histories_counted: counted }
    }
}

#[derive(Serialize)]
struct Violation {
    kind: &'static str,
    matrix: String,
    first_matrix: String,
    dimension: String,
    results: Vec<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preemptions: Option<u32>,
    serial: Vec<String>,
    regression: String,
}

impl ObjectDocument {
    /// What is said of the object.
    pub fn new(report: &ObjectReport) -> Self {
        let violation = |found: &ObjectFinding| Violation {
            kind: found.kind.name(),
            matrix: found.matrix.clone(),
            first_matrix: found.first_matrix.clone(),
            dimension: found.dimension.clone(),
            results: found.explanation.cells(),
            preemptions: found.preemptions,
            serial: words::told(&found.explanation).list,
            regression: words::regression(found, &report.object),
        };
        ObjectDocument {
            criterion: report.criterion.clone(),
            plan: words::plan(&report.plan),
            matrices: report.matrices,
            matrices_failed: report.matrices_failed,
            matrices_exhaustive: report.matrices_exhaustive,
            matrices_wanted: report.matrices_wanted,
            random_tested: report.random_tested,
            random_optional: report.random_optional,
            serial_histories: report.serial_histories,
            quasi: report.quasi.as_ref().map(Relaxed::new),
            built_in: report.built_in.as_ref().map(Specified::new),
            records: report.records.clone(),
            violations: report.findings.iter().map(violation).collect(),
        }
    }
}
