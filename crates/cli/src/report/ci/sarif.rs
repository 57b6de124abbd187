//! SARIF 2.1.0: a result for each violation, at its source line. What is unknown or wrong is a notification of the run, because no result
//! would be read as "nothing found".

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Case, Outcome};
use crate::report::json::VERSION;

/// The whole file.
pub fn render(cases: &[Case]) -> String {
    let failed = || cases.iter().filter(|case| case.outcome == Outcome::Fail);
    let kinds: BTreeSet<&str> = failed().map(|case| case.kind.as_str()).collect();
    let rules: Vec<Value> = kinds.iter().map(|kind| rule(kind)).collect();
    let results: Vec<Value> = failed().map(result).collect();
    let notes: Vec<Value> = cases.iter().filter_map(notification).collect();
    let clear = !cases.iter().any(|case| case.outcome == Outcome::Error);
    let document = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "selvedge", "version": VERSION, "rules": rules}},
            "columnKind": "unicodeCodePoints",
            "invocations": [{"executionSuccessful": clear, "toolExecutionNotifications": notes}],
            "results": results,
        }],
    });
    format!("{document:#}\n")
}

fn rule(kind: &str) -> Value {
    json!({"id": kind, "shortDescription": {"text": kind.replace('-', " ")}, "defaultConfiguration": {"level": "error"}})
}

fn result(case: &Case) -> Value {
    json!({
        "ruleId": case.kind,
        "level": "error",
        "message": {"text": format!("{}: {}", case.name, case.message)},
        "locations": locations(case),
        // So that a service knows the same violation again after lines were moved.
        "partialFingerprints": {"selvedge/v1": format!("{}/{}/{}", case.suite, case.name, case.kind)},
    })
}

fn notification(case: &Case) -> Option<Value> {
    let (level, says) = match case.outcome {
        Outcome::Pass | Outcome::Fail => return None,
        Outcome::Unknown => ("warning", format!("{}: unknown ({}). {}", case.name, case.kind, case.message)),
        Outcome::Error => ("error", format!("{}: {}", case.name, case.message)),
    };
    Some(json!({"level": level, "message": {"text": says}, "locations": locations(case)}))
}

fn locations(case: &Case) -> Vec<Value> {
    let Some((file, line)) = &case.place else { return vec![] };
    let artifact = json!({"artifactLocation": {"uri": uri(file)}});
    let mut place = artifact;
    if let Some(line) = line.filter(|&line| line > 0) {
        place["region"] = json!({"startLine": line});
    }
    vec![json!({"physicalLocation": place})]
}

/// A path as a reference: relative ones stay relative, and what a reference may not hold is encoded.
fn uri(path: &str) -> String {
    let mut out = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' | b'+' | b',' | b'@' => {
                out.push(char::from(byte));
            }
            byte => out += &format!("%{byte:02X}"),
        }
    }
    out
}
