//! The documents of histories, of what was cut short, and of wrong input.

use selvedge_history::check::assumed::Assumed;
use selvedge_history::evidence::{Failure, Linearization, Part, Violation};
use selvedge_history::object::Kind;
use selvedge_history::{OpId, Value, Verdict};
use serde::Serialize;

use super::{VERSION, round, write};
use crate::limits::Stated;
use crate::progress::Phase;
use crate::report::operation::Reading;
use crate::report::outcome::{Cut, Decided, Nothing, Wrong};
use crate::report::sentence;
use crate::report::text::limit_text;
use crate::report::verdict::{Coverage, Criterion, Reached, VerdictName};
use crate::trouble::Trouble;

/// What `check` answers. An answer has `verdict`; wrong input has `error` instead, never both.
#[derive(Serialize, Default)]
struct CheckDocument<'a> {
    file: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<VerdictName>,
    criterion: Criterion,
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<Coverage>,
    seconds: f64,
    version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    initial: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operations: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pending: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    algorithm: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limits: Option<Stated>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    assumed: Vec<AssumedValue<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    witness: Option<&'a [Linearization]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    violation: Option<Explained<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<Reached>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<Known>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a Trouble>,
}

/// A register that a pass takes to start with a value.
#[derive(Serialize)]
pub struct AssumedValue<'a> {
    #[serde(flatten)]
    part: &'a Part,
    register: &'a Value,
    value: &'a Value,
}

/// What a pass takes for granted, as documents have it.
pub fn assumed_values(assumed: &[Assumed]) -> Vec<AssumedValue<'_>> {
    assumed.iter().map(|Assumed { part, register, value }| AssumedValue { part, register, value }).collect()
}

/// A violation with what a reader needs to find it in the file.
#[derive(Serialize)]
struct Explained<'a> {
    kind: &'static str,
    #[serde(flatten)]
    part: &'a Part,
    reason: String,
    operations: Vec<Described<'a>>,
    /// The same as in a certificate.
    evidence: &'a Violation,
}

/// An operation with what a reader needs to find it in the file.
#[derive(Serialize)]
pub struct Described<'a> {
    id: OpId,
    thread: &'a Value,
    method: &'a str,
    #[serde(skip_serializing_if = "is_nil")]
    key: &'a Value,
    argument: &'a Value,
    /// Absent while pending.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a Value>,
    pending: bool,
    call_line: u32,
    /// Absent while pending.
    #[serde(skip_serializing_if = "Option::is_none")]
    return_line: Option<u32>,
}

fn is_nil(value: &&Value) -> bool {
    value.is_nil()
}

/// What is known of a check that was cut short.
#[derive(Serialize, Default)]
struct Known {
    phase: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    states: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parts_passed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    longest_order: Option<u64>,
}

/// The document of an answer.
pub fn decided(decided: &Decided<'_>) -> String {
    let (of, answer, assumed) = (decided.of, &decided.answer, &decided.assumed());
    let history = &of.log.history;
    let algorithms: Vec<&str> = answer.algorithms.iter().map(|algorithm| algorithm.name()).collect();
    let mut document = CheckDocument {
        verdict: Some(VerdictName::from(&answer.verdict)),
        coverage: Some(Coverage::Exhaustive),
        format: Some(of.format),
        object: Some(answer.kind.name()),
        initial: of.initial,
        operations: Some(history.len() as u64),
        pending: Some(history.pending() as u64),
        algorithm: Some(algorithms.join(", ")),
        parts: Some(answer.parts as u64),
        assumed: assumed_values(assumed),
        limits: Some(of.limits.stated()),
        ..blank(of.file, of.seconds)
    };
    match &answer.verdict {
        Verdict::Pass(linearizations) => document.witness = Some(linearizations),
        Verdict::Fail(failure) => document.violation = Some(explained(decided.reading(), failure)),
        Verdict::Unknown(limit) => {
            document.coverage = Some(Coverage::Partial);
            document.limit = Some(Reached::Limit(*limit));
            document.reason = Some(limit_text(*limit, of.limits));
            document.progress = Some(Known {
                phase: phase_name(Phase::Checking),
                lines: None,
                states: Some(answer.states),
                parts_passed: Some(answer.parts_passed as u64),
                longest_order: Some(answer.longest as u64),
            });
        }
    }
    write(&document)
}

fn explained<'a>(reading: Reading<'a>, failure: &'a Failure) -> Explained<'a> {
    let operations = failure.violation.operations();
    Explained {
        kind: failure.violation.kind(),
        part: &failure.part,
        reason: sentence::reason(reading, failure),
        operations: operations.into_iter().map(|op| described(reading, op)).collect(),
        evidence: &failure.violation,
    }
}

/// Describes an operation.
pub fn described(reading: Reading<'_>, op: OpId) -> Described<'_> {
    let log = reading.log;
    let operation = log.history.operation(op);
    let call = &operation.input;
    Described {
        id: op,
        thread: log.thread(operation.thread),
        method: log.name(call.method),
        key: &call.key,
        argument: &call.argument,
        result: operation.output(),
        pending: operation.ret.is_none(),
        call_line: log.call_line(op),
        return_line: Some(log.return_line(op)).filter(|&line| line != 0),
    }
}

/// The document of a check that was cut short without an answer of its own.
pub fn cut(cut: &Cut<'_>) -> String {
    let known = cut.progress.known();
    let read = known.format.is_some();
    let lines = (known.phase != Phase::Waiting).then(|| cut.progress.lines());
    let so_far = (known.phase == Phase::Checking).then(|| known.so_far());
    write(&CheckDocument {
        verdict: Some(VerdictName::Unknown),
        coverage: Some(Coverage::Partial),
        format: known.format,
        object: known.object,
        operations: read.then_some(known.operations),
        pending: read.then_some(known.pending),
        limits: Some(cut.limits.stated()),
        limit: Some(Reached::Limit(cut.limit)),
        reason: Some(cut.reason()),
        progress: Some(Known {
            phase: phase_name(known.phase),
            lines,
            states: so_far.map(|so_far| so_far.states),
            parts_passed: so_far.map(|so_far| so_far.parts_passed),
            longest_order: so_far.map(|so_far| so_far.longest),
        }),
        ..blank(cut.file, cut.seconds())
    })
}

/// The document of a history that says nothing.
pub fn nothing(nothing: &Nothing<'_>) -> String {
    let (of, history) = (nothing.of, &nothing.of.log.history);
    write(&CheckDocument {
        verdict: Some(VerdictName::Unknown),
        criterion: nothing.criterion,
        coverage: Some(Coverage::Partial),
        format: Some(of.format),
        object: nothing.object.map(Kind::name),
        operations: Some(history.len() as u64),
        pending: Some(history.pending() as u64),
        failed: Some(of.log.failed() as u64),
        limits: Some(of.limits.stated()),
        limit: Some(Reached::NoOperations),
        reason: Some(nothing.reason().to_owned()),
        ..blank(of.file, of.seconds)
    })
}

/// The document of wrong input.
pub fn wrong(wrong: &Wrong) -> String {
    write(&CheckDocument { error: Some(&wrong.trouble), ..blank(&wrong.trouble.file, wrong.seconds) })
}

fn blank(file: &str, seconds: f64) -> CheckDocument<'_> {
    CheckDocument { file, seconds: round(seconds), version: VERSION, ..CheckDocument::default() }
}

fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Waiting => "waiting",
        Phase::Reading => "reading",
        Phase::Checking | Phase::Proving => "checking",
        Phase::Verifying => "verifying",
        Phase::Compiling => "compiling",
        Phase::Testing => "testing",
        Phase::Writing => "writing",
    }
}
