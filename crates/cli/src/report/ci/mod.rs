//! What continuous integration reads: JUnit's XML ([`junit`]), SARIF ([`sarif`]) and GitHub's annotations ([`annotations`]).
//!
//! All three are views of the JSON documents (`docs/json.md`), so every command has them and they say nothing that the documents do not.
//! Invariant: *unknown* is never shown as passed, and wrong input never as tested.

pub mod annotations;
pub mod junit;
pub mod sarif;

use std::path::PathBuf;

use clap::Args;
use serde_json::Value;

use super::print::complain;
use crate::trouble::Trouble;

/// The flags as typed.
#[derive(Args, Clone, Debug, Default)]
pub struct OutputFlags {
    /// Say nothing of what passed, and show no progress
    #[arg(short, long)]
    pub quiet: bool,

    /// Also write the results as JUnit's XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,

    /// Also write the violations as SARIF, at their source lines
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,

    /// Also print the violations to standard error as annotations, the way
    /// GitHub reads them
    #[arg(long)]
    pub annotations: bool,
}

impl OutputFlags {
    /// Writes what was asked for, of all documents together; what went wrong.
    pub fn write(&self, documents: &[String]) -> Vec<Trouble> {
        if self.junit.is_none() && self.sarif.is_none() && !self.annotations {
            return vec![];
        }
        let documents = documents.iter().filter_map(|document| serde_json::from_str::<Value>(document).ok());
        let cases: Vec<Case> = documents.flat_map(|document| cases(&document)).collect();
        if self.annotations {
            complain(&annotations::render(&cases));
        }
        let files = [(&self.junit, junit::render as fn(&[Case]) -> String), (&self.sarif, sarif::render)];
        let mut troubles = Vec::new();
        for (path, render) in files {
            let Some(path) = path else { continue };
            if let Err(error) = std::fs::write(path, render(&cases)) {
                troubles.push(Trouble::io(&path.display().to_string(), &error));
            }
        }
        troubles
    }
}

/// How one test, history or assertion ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It passed.
    Pass,
    /// It has this violation.
    Fail,
    /// Nothing is known of it.
    Unknown,
    /// The input is wrong.
    Error,
}

/// One test, history or assertion, or one of several violations of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The file it belongs to.
    pub suite: String,
    /// What it is called.
    pub name: String,
    /// How it ended.
    pub outcome: Outcome,
    /// The kind of violation, the limit, or what else there is in a word.
    pub kind: String,
    /// Sentences.
    pub message: String,
    /// Where in the source: a file and a line from 1, if it is known.
    pub place: Option<(String, Option<u64>)>,
    /// How long it took, in seconds.
    pub seconds: f64,
}

/// The cases of a document of any command.
pub fn cases(document: &Value) -> Vec<Case> {
    let suite = text(document, "file");
    if let Some(error) = document.get("error").filter(|error| error.is_object()) {
        return vec![wrong(document, error)];
    }
    let seconds = document["seconds"].as_f64().unwrap_or(0.0);
    if let Some(tests) = document["tests"].as_array() {
        let lost = document["lost"].as_array().into_iter().flatten().filter_map(Value::as_str);
        return tests
            .iter()
            .flat_map(|test| of_test(&suite, test))
            .chain(lost.map(|line| of_lost(&suite, line)))
            .collect();
    }
    if let Some(assertions) = document["assertions"].as_array() {
        return assertions.iter().map(|assertion| of_assertion(&suite, assertion)).collect();
    }
    // A finding that was replayed.
    let again = outcome(document) == Outcome::Fail;
    if let Some(findings) = document["findings"].as_array().filter(|findings| again && !findings.is_empty()) {
        return findings.iter().map(|finding| of_finding(&suite, &text(finding, "test"), finding, seconds)).collect();
    }
    vec![of_history(&suite, document, seconds)]
}

/// Wrong input, or a model that fails while it runs.
fn wrong(document: &Value, error: &Value) -> Case {
    let suite = text(document, "file");
    let file = Some(text(error, "file")).filter(|file| !file.is_empty()).unwrap_or_else(|| suite.clone());
    Case {
        name: suite.clone(),
        outcome: Outcome::Error,
        kind: "wrong-input".into(),
        message: text(error, "reason"),
        place: Some((file, error["line"].as_u64())),
        seconds: document["seconds"].as_f64().unwrap_or(0.0),
        suite,
    }
}

/// A history: `check` and `verify`.
fn of_history(suite: &str, document: &Value, seconds: f64) -> Case {
    let outcome = outcome(document);
    let violation = &document["violation"];
    let said = [&violation["reason"], &document["refusal"], &document["reason"]];
    let message = said.into_iter().find_map(Value::as_str).unwrap_or_default();
    let line = violation["operations"][0]["call_line"].as_u64();
    let kind = match outcome {
        Outcome::Fail => violation["kind"].as_str().unwrap_or("violation"),
        Outcome::Unknown => document["limit"].as_str().unwrap_or("unknown"),
        Outcome::Pass | Outcome::Error => "",
    };
    Case {
        suite: suite.to_owned(),
        name: text(document, "criterion"),
        outcome,
        kind: kind.to_owned(),
        message: message.to_owned(),
        place: Some((suite.to_owned(), line)),
        seconds,
    }
}

/// A test of code: one case, or one for each violation.
fn of_test(suite: &str, test: &Value) -> Vec<Case> {
    let name = test["function"].as_str().map_or_else(|| text(test, "test"), str::to_owned);
    let seconds = test["cpu_seconds"].as_f64().unwrap_or(0.0);
    // A panic that the test asks for is no violation.
    let expected = test["expected"].as_bool() == Some(true);
    let findings = test["findings"].as_array().filter(|findings| !findings.is_empty() && !expected);
    if let Some(findings) = findings {
        return findings.iter().map(|finding| of_finding(suite, &name, finding, seconds)).collect();
    }
    let (covered, reason) = (text(test, "covered"), text(test, "reason"));
    let case = Case {
        suite: suite.to_owned(),
        name,
        outcome: outcome(test),
        kind: test["limit"].as_str().unwrap_or("unknown").to_owned(),
        message: if reason.is_empty() { covered } else { reason },
        place: None,
        seconds,
    };
    // What was not controlled, and where, says more than how little was covered.
    match test["unknowns"].get(0) {
        Some(unknown) => vec![Case { message: text(unknown, "message"), place: place_of(unknown), ..case }],
        None => vec![case],
    }
}

/// The source line of a finding.
fn place_of(finding: &Value) -> Option<(String, Option<u64>)> {
    finding["file"].as_str().map(|file| (file.to_owned(), finding["line"].as_u64()))
}

/// What there is no report of.
fn of_lost(suite: &str, line: &str) -> Case {
    let (label, message) = line.split_once("  ").unwrap_or(("UNKNOWN", line));
    Case {
        suite: suite.to_owned(),
        name: message.split(": ").next().unwrap_or_default().to_owned(),
        outcome: if label == "ERROR" { Outcome::Error } else { Outcome::Unknown },
        kind: "no-report".to_owned(),
        message: message.to_owned(),
        place: None,
        seconds: 0.0,
    }
}

fn of_finding(suite: &str, name: &str, finding: &Value, seconds: f64) -> Case {
    let place = place_of(finding);
    let path = text(finding, "path");
    let unsaved = text(finding, "unsaved");
    let replay = match (path.is_empty(), unsaved.is_empty()) {
        (false, _) => format!(" (selvedge replay {path})"),
        (true, false) => format!(" ({unsaved})"),
        (true, true) => String::new(),
    };
    Case {
        suite: suite.to_owned(),
        name: name.to_owned(),
        outcome: Outcome::Fail,
        kind: text(finding, "kind"),
        message: format!("{}{replay}", text(finding, "message")),
        place,
        seconds,
    }
}

fn of_assertion(suite: &str, assertion: &Value) -> Case {
    let outcome = if assertion.get("error").is_some() { Outcome::Error } else { outcome(assertion) };
    let said = [&assertion["reason"], &assertion["error"]["reason"]];
    let kind = match outcome {
        Outcome::Fail => text(assertion, "criterion"),
        Outcome::Unknown => text(assertion, "limit"),
        _ => String::new(),
    };
    Case {
        suite: suite.to_owned(),
        name: text(assertion, "text"),
        outcome,
        kind,
        message: said.into_iter().find_map(Value::as_str).unwrap_or_default().to_owned(),
        place: Some((suite.to_owned(), assertion["line"].as_u64().or_else(|| assertion["error"]["line"].as_u64()))),
        seconds: assertion["seconds"].as_f64().unwrap_or(0.0),
    }
}

/// Anything but a clear answer is unknown.
fn outcome(answer: &Value) -> Outcome {
    match answer["verdict"].as_str() {
        Some("pass") => Outcome::Pass,
        Some("fail") => Outcome::Fail,
        _ => Outcome::Unknown,
    }
}

fn text(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
