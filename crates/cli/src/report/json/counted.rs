//! The document of a history in which operations were counted.

use selvedge_history::OpId;
use selvedge_history::counting::Halt;
use selvedge_history::evidence::Part;
use selvedge_history::object::Kind;
use serde::Serialize;

use super::{VERSION, round, write};
use crate::report::outcome::Counted;
use crate::report::text::limit_text;
use crate::report::verdict::{Coverage, Criterion, VerdictName};

#[derive(Serialize)]
struct CountedDocument<'a> {
    file: &'a str,
    verdict: VerdictName,
    criterion: Criterion,
    coverage: Coverage,
    seconds: f64,
    version: &'static str,
    format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<&'static str>,
    operations: u64,
    pending: u64,
    k: usize,
    length: usize,
    looked_at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    violation: Option<Shown<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

#[derive(Serialize)]
struct Shown<'a> {
    kind: &'static str,
    #[serde(flatten)]
    part: &'a Part,
    formula: &'static str,
    reason: &'a str,
    numbers: &'a [String],
    operations: Vec<Labelled>,
}

/// An operation by its label: a kernel has no methods with arguments and results.
#[derive(Serialize)]
struct Labelled {
    id: OpId,
    label: String,
    call_line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    return_line: Option<u32>,
}

/// The kind of every violation that counters show.
pub const KIND: &str = "counting";

impl Counted<'_> {
    /// Why there is no answer, when there is none.
    pub fn reason(&self) -> Option<String> {
        match self.halt {
            _ if self.violation.is_some() => None,
            Some(Halt::Limit(limit)) => Some(limit_text(limit, self.of.limits)),
            Some(_) => Some("the formula could not be decided".to_owned()),
            None => Some(self.why_not()),
        }
    }
}

/// The document.
pub fn counted(counted: &Counted<'_>) -> String {
    let (of, reading) = (counted.of, counted.reading());
    let labelled = |&op: &OpId| Labelled {
        id: op,
        label: reading.label(op),
        call_line: of.log.call_line(op),
        return_line: Some(of.log.return_line(op)).filter(|&line| line != 0),
    };
    let violation = counted.violation.as_ref().map(|violation| Shown {
        kind: KIND,
        part: &violation.part,
        formula: violation.formula,
        reason: &violation.what,
        numbers: &violation.demands,
        operations: violation.operations.iter().map(labelled).collect(),
    });
    write(&CountedDocument {
        file: of.file,
        verdict: counted.verdict(),
        criterion: Criterion::Linearizability,
        coverage: Coverage::Approximate,
        seconds: round(of.seconds),
        version: VERSION,
        format: of.format,
        object: counted.object.map(Kind::name),
        operations: of.log.history.len() as u64,
        pending: of.log.history.pending() as u64,
        k: counted.k,
        length: counted.length,
        looked_at: counted.looked_at,
        violation,
        reason: counted.reason(),
    })
}
