//! The documents of a monitor: a line for each violation as it is found, and the summary.

use std::collections::BTreeMap;

use selvedge_history::Value;
use selvedge_history::monitor::Violation;
use serde::Serialize;

use super::{VERSION, write};
use crate::report::outcome::{Monitored, WatchDoubt};
use crate::report::verdict::{Coverage, Criterion, VerdictName};

#[derive(Serialize)]
struct ViolationDocument<'a> {
    event: u64,
    key: &'a Value,
    object: &'a str,
    operations: Vec<OperationDocument<'a>>,
    violation: &'static str,
    what: &'static str,
}

#[derive(Serialize)]
struct OperationDocument<'a> {
    argument: &'a Value,
    call: u64,
    method: &'a str,
    result: Option<&'a Value>,
    #[serde(rename = "return")]
    ret: Option<u64>,
    thread: Option<&'a Value>,
}

/// A violation, as it is found.
pub fn violation(violation: &Violation) -> String {
    let operations = violation.operations.iter().map(|operation| OperationDocument {
        argument: &operation.argument,
        call: operation.call,
        method: &operation.method,
        result: operation.result.as_ref(),
        ret: operation.ret,
        thread: operation.thread.as_ref(),
    });
    write(&ViolationDocument {
        event: violation.event,
        key: &violation.key,
        object: &violation.object,
        operations: operations.collect(),
        violation: violation.rule.name(),
        what: violation.rule.sentence(),
    })
}

#[derive(Serialize)]
struct MonitorDocument {
    by_rule: BTreeMap<&'static str, u64>,
    coverage: Coverage,
    criterion: Criterion,
    cut: u64,
    doubts: Vec<String>,
    events: u64,
    late: u64,
    late_returns: u64,
    object: &'static str,
    open: u64,
    operations: u64,
    refused: u64,
    repeated: u64,
    restarts: u64,
    seconds: f64,
    uncertain: u64,
    unchecked: u64,
    unreadable: u64,
    untimed: u64,
    untold: u64,
    verdict: VerdictName,
    version: &'static str,
    violations: u64,
    writers: u64,
    writers_connected: u64,
    writers_unread: u64,
}

/// The summary.
pub fn monitored(monitored: &Monitored<'_>) -> String {
    let (counts, lines) = (&monitored.counts, &monitored.lines);
    write(&MonitorDocument {
        by_rule: monitored.by_rule.iter().map(|(rule, count)| (rule.name(), *count)).collect(),
        coverage: Coverage::Monitored,
        criterion: Criterion::Linearizability,
        cut: lines.cut,
        doubts: monitored.doubts.iter().map(WatchDoubt::says).collect(),
        events: counts.events,
        late: lines.late,
        late_returns: lines.late_returns,
        object: monitored.kind.name(),
        open: counts.open,
        operations: counts.operations,
        refused: counts.refused,
        repeated: counts.repeated,
        restarts: counts.restarts,
        seconds: monitored.seconds,
        uncertain: lines.uncertain,
        unchecked: counts.unchecked,
        unreadable: lines.unreadable,
        untimed: lines.untimed,
        untold: counts.untold,
        verdict: monitored.verdict(),
        version: VERSION,
        violations: counts.violations,
        writers: lines.writers,
        writers_connected: lines.writers_connected,
        writers_unread: lines.writers_unread,
    })
}
