//! SARIF 2.1.0: a result for each violation, at its source line. What is unknown or wrong is a notification of the run, because no result
//! would be read as "nothing found".

use std::collections::BTreeSet;

use serde::Serialize;

use super::{Case, CaseEnd};
use crate::report::json::{self, VERSION};

#[derive(Serialize)]
struct Sarif {
    #[serde(rename = "$schema")]
    schema: &'static str,
    runs: [Run; 1],
    version: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    column_kind: &'static str,
    invocations: [Invocation; 1],
    results: Vec<RunResult>,
    tool: Tool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    execution_successful: bool,
    tool_execution_notifications: Vec<Notification>,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
struct Driver {
    name: &'static str,
    rules: Vec<Rule>,
    version: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    default_configuration: Configuration,
    id: String,
    short_description: Message,
}

#[derive(Serialize)]
struct Configuration {
    level: &'static str,
}

#[derive(Serialize)]
struct Message {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RunResult {
    level: &'static str,
    locations: Vec<Location>,
    message: Message,
    partial_fingerprints: Fingerprints,
    rule_id: String,
}

/// So that a service knows the same violation again after lines were moved.
#[derive(Serialize)]
struct Fingerprints {
    #[serde(rename = "selvedge/v1")]
    first: String,
}

#[derive(Serialize)]
struct Notification {
    level: &'static str,
    locations: Vec<Location>,
    message: Message,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: PhysicalLocation,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Serialize)]
struct ArtifactLocation {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u64,
}

/// The whole file.
pub fn render(cases: &[Case]) -> String {
    let failed = || cases.iter().filter(|case| case.end == CaseEnd::Fail);
    let kinds: BTreeSet<&str> = failed().map(|case| case.kind.as_str()).collect();
    let rules = kinds.into_iter().map(rule).collect();
    let run = Run {
        column_kind: "unicodeCodePoints",
        invocations: [Invocation {
            execution_successful: !cases.iter().any(|case| case.end == CaseEnd::Error),
            tool_execution_notifications: cases.iter().filter_map(notification).collect(),
        }],
        results: failed().map(result).collect(),
        tool: Tool { driver: Driver { name: "selvedge", rules, version: VERSION } },
    };
    json::pretty(&Sarif { schema: "https://json.schemastore.org/sarif-2.1.0.json", runs: [run], version: "2.1.0" })
}

fn rule(kind: &str) -> Rule {
    Rule {
        default_configuration: Configuration { level: "error" },
        id: kind.to_owned(),
        short_description: Message { text: kind.replace('-', " ") },
    }
}

fn result(case: &Case) -> RunResult {
    RunResult {
        level: "error",
        locations: locations(case),
        message: Message { text: format!("{}: {}", case.name, case.message) },
        partial_fingerprints: Fingerprints { first: format!("{}/{}/{}", case.suite, case.name, case.kind) },
        rule_id: case.kind.clone(),
    }
}

fn notification(case: &Case) -> Option<Notification> {
    let (level, text) = match case.end {
        CaseEnd::Pass | CaseEnd::Fail => return None,
        CaseEnd::Unknown => ("warning", format!("{}: unknown ({}). {}", case.name, case.kind, case.message)),
        CaseEnd::Error => ("error", format!("{}: {}", case.name, case.message)),
    };
    Some(Notification { level, locations: locations(case), message: Message { text } })
}

fn locations(case: &Case) -> Vec<Location> {
    let Some((file, line)) = &case.place else { return vec![] };
    let region = line.filter(|&line| line > 0).map(|start_line| Region { start_line });
    let artifact_location = ArtifactLocation { uri: uri(file) };
    vec![Location { physical_location: PhysicalLocation { artifact_location, region } }]
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
