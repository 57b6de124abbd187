//! The document of a history that was decided with operations out of order.

use selvedge_history::certificate::quasi::{QuasiOrders, QuasiViolation};
use selvedge_history::evidence::Part;
use selvedge_history::{Value, Verdict};
use serde::Serialize;

use super::history::{Described, described};
use super::{VERSION, round, write};
use crate::limits::Stated;
use crate::report::outcome::QuasiDecided;
use crate::report::text::limit_text;
use crate::report::verdict::{Coverage, Criterion, Reached, VerdictName};

#[derive(Serialize)]
struct QuasiDocument<'a> {
    file: &'a str,
    verdict: VerdictName,
    criterion: Criterion,
    coverage: Coverage,
    seconds: f64,
    version: &'static str,
    format: &'static str,
    object: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    initial: Option<&'a Value>,
    operations: u64,
    pending: u64,
    quasi: &'a str,
    reading: &'static str,
    causality: &'static str,
    order: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    factor: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    factor_max: Option<u32>,
    algorithm: &'static str,
    parts: u64,
    histories: u64,
    histories_buggy: u64,
    states: u64,
    limits: Stated,
    #[serde(skip_serializing_if = "Option::is_none")]
    witness: Option<&'a [QuasiOrders]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    violation: Option<Explained<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<Reached>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

#[derive(Serialize)]
struct Explained<'a> {
    kind: &'static str,
    #[serde(flatten)]
    part: &'a Part,
    reason: String,
    operations: Vec<Described<'a>>,
    evidence: &'a QuasiViolation,
}

/// The document.
pub fn quasi(decided: &QuasiDecided<'_>) -> String {
    let (of, answer, relaxed) = (decided.of, &decided.answer, &decided.relaxed);
    let [reading, causality, order] = relaxed.words();
    let mut document = QuasiDocument {
        file: of.file,
        verdict: VerdictName::from(&answer.verdict),
        criterion: Criterion::QuasiLinearizability,
        coverage: Coverage::Exhaustive,
        seconds: round(of.seconds),
        version: VERSION,
        format: of.format,
        object: answer.kind.name(),
        initial: of.initial,
        operations: of.log.history.len() as u64,
        pending: of.log.history.pending() as u64,
        quasi: &relaxed.classes,
        reading,
        causality,
        order,
        factor: relaxed.least.and_then(|(factor, _)| factor),
        factor_max: relaxed.least.map(|(_, most)| most),
        algorithm: "quasi-search",
        parts: answer.parts as u64,
        histories: 1,
        histories_buggy: u64::from(matches!(answer.verdict, Verdict::Fail(_))),
        states: answer.states,
        limits: of.limits.stated(),
        witness: None,
        violation: None,
        limit: None,
        reason: None,
    };
    match &answer.verdict {
        Verdict::Pass(orders) => document.witness = Some(orders),
        Verdict::Fail((part, violation)) => {
            let described = |op| described(decided.reading(), op);
            let operations = decided.blamed(violation).into_iter().map(described).collect();
            let reason = decided.why(violation);
            let evidence = violation;
            document.violation = Some(Explained { kind: violation.kind(), part, reason, operations, evidence });
        }
        Verdict::Unknown(limit) => {
            document.coverage = Coverage::Partial;
            document.limit = Some(Reached::Limit(*limit));
            document.reason = Some(limit_text(*limit, of.limits));
        }
    }
    write(&document)
}
