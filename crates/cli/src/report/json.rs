//! The JSON documents: an interface like the flags, described in `docs/json.md`.
//!
//! Invariant: an answer has `verdict`; wrong input has `error` instead, never both.

use selvedge_history::check::assumed::Assumed;
use selvedge_history::evidence::{Failure, Linearization, Part, Violation};
use selvedge_history::{Limit, OpId, Value, Verdict};
use serde::Serialize;

use super::nothing::Nothing;
use super::operation::Reading;
use super::{Decided, limit_text, sentence};
use crate::limits::{Limits, Stated};
use crate::progress::{Phase, Progress};
use crate::trouble::Trouble;

/// The version of the tool, in every document.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The one criterion decided so far.
pub const CRITERION: &str = "linearizability";

#[derive(Serialize, Default)]
struct Document<'a> {
    file: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'static str>,
    criterion: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<&'static str>,
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
    limit: Option<&'static str>,
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
    let (answer, assumed) = (decided.answer, &decided.assumed());
    let history = &decided.log.history;
    let algorithms: Vec<&str> = answer.algorithms.iter().map(|algorithm| algorithm.name()).collect();
    let mut document = Document {
        verdict: Some(answer.verdict.name()),
        coverage: Some("exhaustive"),
        format: Some(decided.format),
        object: Some(answer.kind.name()),
        initial: decided.initial,
        operations: Some(history.len() as u64),
        pending: Some(history.pending() as u64),
        algorithm: Some(algorithms.join(", ")),
        parts: Some(answer.parts as u64),
        assumed: assumed_values(assumed),
        limits: Some(decided.limits.stated()),
        ..blank(decided.file, decided.seconds)
    };
    match &answer.verdict {
        Verdict::Pass(linearizations) => document.witness = Some(linearizations),
        Verdict::Fail(failure) => document.violation = Some(explained(decided.reading(), failure)),
        Verdict::Unknown(limit) => {
            document.coverage = Some("partial");
            document.limit = Some(limit.name());
            document.reason = Some(limit_text(*limit, decided.limits));
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
pub fn cut(file: &str, limit: Limit, limits: &Limits, progress: &Progress) -> String {
    let known = progress.known();
    let read = known.format.is_some();
    let seconds = known.begun.map_or(0.0, |begun| begun.elapsed().as_secs_f64());
    let lines = (known.phase != Phase::Waiting).then(|| progress.lines());
    let so_far = (known.phase == Phase::Checking).then(|| known.so_far());
    write(&Document {
        verdict: Some("unknown"),
        coverage: Some("partial"),
        format: known.format,
        object: known.object,
        operations: read.then_some(known.operations),
        pending: read.then_some(known.pending),
        limits: Some(limits.stated()),
        limit: Some(limit.name()),
        reason: Some(limit_text(limit, limits)),
        progress: Some(Known {
            phase: phase_name(known.phase),
            lines,
            states: so_far.map(|so_far| so_far.states),
            parts_passed: so_far.map(|so_far| so_far.parts_passed),
            longest_order: so_far.map(|so_far| so_far.longest),
        }),
        ..blank(file, seconds)
    })
}

/// The document of a history that says nothing.
pub fn nothing(nothing: &Nothing<'_>) -> String {
    let history = &nothing.log.history;
    write(&Document {
        verdict: Some("unknown"),
        criterion: nothing.criterion,
        coverage: Some("partial"),
        format: Some(nothing.format),
        object: nothing.object,
        operations: Some(history.len() as u64),
        pending: Some(history.pending() as u64),
        failed: Some(nothing.log.failed() as u64),
        limits: Some(nothing.limits.stated()),
        limit: Some("no-operations"),
        reason: Some(nothing.reason().to_owned()),
        ..blank(nothing.file, nothing.seconds)
    })
}

/// The document of wrong input.
pub fn troubled(trouble: &Trouble, seconds: f64) -> String {
    write(&Document { error: Some(trouble), ..blank(&trouble.file, seconds) })
}

/// What `verify` answers.
#[derive(Serialize)]
pub struct Verified<'a> {
    /// The history.
    pub file: &'a str,
    /// The certificate.
    pub certificate: &'a str,
    /// `"pass"` when the certificate is right, whatever it claims.
    pub verdict: &'static str,
    /// The criterion that the certificate is about.
    pub criterion: &'static str,
    /// Always all of the certificate.
    pub coverage: &'static str,
    /// How long it took.
    pub seconds: f64,
    /// The version of the tool.
    pub version: &'static str,
    /// The history's format.
    pub format: &'static str,
    /// The object that the certificate names.
    pub object: &'a str,
    /// What the object starts with, where that was stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<&'a Value>,
    /// How many operations the history has.
    pub operations: u64,
    /// What the certificate claims of the history: `"pass"` or `"fail"`.
    pub claim: &'static str,
    /// What a pass takes for granted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumed: Vec<AssumedValue<'a>>,
    /// Why the certificate is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
}

fn blank(file: &str, seconds: f64) -> Document<'_> {
    Document { file, criterion: CRITERION, seconds: round(seconds), version: VERSION, ..Document::default() }
}

/// Microseconds are enough.
pub fn round(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
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

/// A document as text. Its keys are texts and its numbers finite, so that it always is one.
pub fn write(document: &impl Serialize) -> String {
    serde_json::to_string(document).expect("a document is always writable")
}
