//! The cases of an outcome: one for each history, certificate, assertion or test, or one for each of its violations.

use selvedge_history::Verdict;

use super::{Case, CaseEnd};
use crate::report::json::{Found, TestDocument};
use crate::report::outcome::{
    Assertion, Counted, Cut, Decided, Ending, Modelled, Monitored, Nothing, QuasiDecided, Recorded, Replayed, Verified,
    WatchDoubt, Wrong, WrongModel,
};
use crate::report::tested::{Missing, Session};
use crate::report::text::limit_text;
use crate::report::text::model::{one_line, plain};
use crate::report::verdict::{Criterion, Reached, VerdictName};
use crate::report::{Outcome, json, sentence};

/// What is said in a word of an unknown that no limit explains.
const UNKNOWN: &str = "unknown";

/// The cases of an outcome.
pub fn cases(outcome: &Outcome<'_>) -> Vec<Case> {
    match outcome {
        Outcome::Decided(decided) => vec![of_decided(decided)],
        Outcome::Counted(counted) => vec![of_counted(counted)],
        Outcome::Quasi(decided) => vec![of_quasi(decided)],
        Outcome::Nothing(nothing) => vec![of_nothing(nothing)],
        Outcome::Verified(verified) => vec![of_verified(verified)],
        Outcome::Modelled(modelled) => of_model(modelled),
        Outcome::WrongModel(wrong) => vec![of_wrong_model(wrong)],
        Outcome::Monitored(monitored) => vec![of_monitored(monitored)],
        Outcome::Tested(session) => of_session(session),
        Outcome::Replayed(replayed) => vec![of_replayed(replayed)],
        Outcome::Wrong(wrong) | Outcome::Bug(wrong) => vec![of_wrong(wrong)],
        Outcome::Cut(cut) => vec![of_cut(cut)],
    }
}

/// What was asked of a file, with nothing said yet.
fn blank(file: &str, criterion: Criterion, verdict: VerdictName, seconds: f64) -> Case {
    Case {
        suite: file.to_owned(),
        name: criterion.name().to_owned(),
        end: verdict.into(),
        kind: String::new(),
        message: String::new(),
        place: Some((file.to_owned(), None)),
        seconds: json::round(seconds),
    }
}

impl Case {
    fn kind(self, kind: &str) -> Case {
        Case { kind: kind.to_owned(), ..self }
    }

    fn message(self, message: impl Into<String>) -> Case {
        Case { message: message.into(), ..self }
    }

    /// At a line of its file.
    fn at(self, line: Option<u32>) -> Case {
        let place = self.place.map(|(file, _)| (file, line.map(u64::from)));
        Case { place, ..self }
    }
}

fn of_history(of: &Recorded<'_>, criterion: Criterion, verdict: VerdictName) -> Case {
    blank(of.file, criterion, verdict, of.seconds)
}

fn of_decided(decided: &Decided<'_>) -> Case {
    let (of, verdict) = (&decided.of, &decided.answer.verdict);
    let case = of_history(of, Criterion::Linearizability, verdict.into());
    match verdict {
        Verdict::Pass(_) => case,
        Verdict::Fail(failure) => {
            let first = failure.violation.operations().first().map(|&op| of.log.call_line(op));
            let reason = sentence::reason(decided.reading(), failure);
            case.kind(failure.violation.kind()).message(reason).at(first)
        }
        Verdict::Unknown(limit) => case.kind(Reached::Limit(*limit).name()).message(limit_text(*limit, of.limits)),
    }
}

fn of_counted(counted: &Counted<'_>) -> Case {
    let of = &counted.of;
    let case = of_history(of, Criterion::Linearizability, counted.verdict());
    match &counted.violation {
        Some(violation) => {
            let first = violation.operations.first().map(|&op| of.log.call_line(op));
            case.kind(json::COUNTING_KIND).message(&violation.what).at(first)
        }
        None => case.kind(UNKNOWN).message(counted.reason().unwrap_or_default()),
    }
}

fn of_quasi(decided: &QuasiDecided<'_>) -> Case {
    let (of, verdict) = (&decided.of, &decided.answer.verdict);
    let case = of_history(of, Criterion::QuasiLinearizability, verdict.into());
    match verdict {
        Verdict::Pass(_) => case,
        Verdict::Fail((_, violation)) => {
            let first = decided.blamed(violation).first().map(|&op| of.log.call_line(op));
            case.kind(violation.kind()).message(decided.why(violation)).at(first)
        }
        Verdict::Unknown(limit) => case.kind(Reached::Limit(*limit).name()).message(limit_text(*limit, of.limits)),
    }
}

fn of_nothing(nothing: &Nothing<'_>) -> Case {
    let case = of_history(&nothing.of, nothing.criterion, VerdictName::Unknown);
    case.kind(Reached::NoOperations.name()).message(nothing.reason())
}

fn of_verified(verified: &Verified<'_>) -> Case {
    let case = of_history(&verified.of, verified.certificate.criterion(), verified.verdict());
    match &verified.refusal {
        None => case,
        Some(refusal) => case.kind("violation").message(refusal.to_string()),
    }
}

fn of_cut(cut: &Cut<'_>) -> Case {
    let case = blank(cut.file, Criterion::Linearizability, VerdictName::Unknown, cut.seconds());
    case.kind(Reached::Limit(cut.limit).name()).message(cut.reason())
}

fn of_monitored(monitored: &Monitored<'_>) -> Case {
    let case = blank(monitored.from, Criterion::Linearizability, monitored.verdict(), monitored.seconds);
    match (monitored.verdict(), monitored.violations.first()) {
        (VerdictName::Pass, _) => case,
        (VerdictName::Fail, Some(first)) => case.kind(first.rule.name()).message(first.rule.sentence()),
        (VerdictName::Fail, None) => case.kind("violation").message(monitored.line()),
        (VerdictName::Unknown, _) => {
            case.kind(UNKNOWN).message(monitored.doubts.iter().map(WatchDoubt::says).collect::<Vec<_>>().join("; "))
        }
    }
}

/// Wrong input.
fn of_wrong(wrong: &Wrong) -> Case {
    let trouble = &wrong.trouble;
    error(&trouble.file, &trouble.reason, trouble.line, json::round(wrong.seconds))
}

fn of_wrong_model(wrong: &WrongModel<'_>) -> Case {
    let first = wrong.errors.first();
    let line = first.map(|error| error.place(wrong.text).0);
    error(wrong.file, first.map_or("", |error| &error.message), line, wrong.seconds)
}

fn error(file: &str, reason: &str, line: Option<u32>, seconds: f64) -> Case {
    Case {
        suite: file.to_owned(),
        name: file.to_owned(),
        end: CaseEnd::Error,
        kind: "wrong-input".to_owned(),
        message: reason.to_owned(),
        place: Some((file.to_owned(), line.map(u64::from))),
        seconds,
    }
}

fn of_model(modelled: &Modelled<'_>) -> Vec<Case> {
    modelled.assertions.iter().map(|assertion| of_assertion(modelled.file, assertion)).collect()
}

fn of_assertion(suite: &str, assertion: &Assertion) -> Case {
    let (end, kind, message, line) = match &assertion.ending {
        Ending::Trouble(trouble) => {
            let line = match trouble {
                selvedge_model::Trouble::Fault { fault, .. } => fault.place.map(|(line, _)| line),
                _ => None,
            };
            (CaseEnd::Error, "", trouble.to_string(), line)
        }
        Ending::Unfinished(limit) => (CaseEnd::Unknown, Reached::Limit(*limit).name(), String::new(), None),
        Ending::Answer(answer, limit) => {
            let reason = answer.reason.as_ref().map(plain).unwrap_or_default();
            let (end, kind) = match answer.verdict {
                selvedge_model::Verdict::Pass => (CaseEnd::Pass, ""),
                selvedge_model::Verdict::Fail => (CaseEnd::Fail, assertion.claim.name()),
                selvedge_model::Verdict::Unknown(reached) => {
                    let reached = limit.map_or_else(|| Reached::from(reached), Reached::Limit);
                    (CaseEnd::Unknown, reached.name())
                }
            };
            (end, kind, reason, None)
        }
    };
    Case {
        suite: suite.to_owned(),
        name: one_line(&assertion.text),
        end,
        kind: kind.to_owned(),
        message,
        place: Some((suite.to_owned(), line.map(u64::from))),
        seconds: assertion.seconds,
    }
}

fn of_replayed(replayed: &Replayed<'_>) -> Case {
    match replayed.found().filter(|_| replayed.same) {
        Some(found) => of_finding(replayed.file, &found.test, &found, json::round(replayed.seconds)),
        None => blank(replayed.file, Criterion::Assertions, replayed.verdict(), replayed.seconds).kind(UNKNOWN),
    }
}

fn of_session(session: &Session<'_>) -> Vec<Case> {
    let tests = session.each(TestDocument::new);
    let tests = tests.iter().flat_map(|test| of_test(session.file, test));
    tests.chain(session.missing.iter().map(|missing| of_missing(session.file, missing))).collect()
}

/// A test of code: one case, or one for each violation.
fn of_test(suite: &str, test: &TestDocument) -> Vec<Case> {
    let (name, seconds) = (test.function.as_ref().unwrap_or(&test.test), test.cpu_seconds);
    // A panic that the test asks for is no violation.
    if !test.findings.is_empty() && !test.expected {
        return test.findings.iter().map(|finding| of_finding(suite, name, finding, seconds)).collect();
    }
    // What was not controlled, and where, says more than how little was covered.
    let (message, place) = match (test.unknowns.first(), &test.reason) {
        (Some(unknown), _) => (unknown.message.clone(), place_of(unknown)),
        (None, Some(reason)) if !reason.is_empty() => (reason.clone(), None),
        (None, _) => (test.covered.clone(), None),
    };
    vec![Case {
        suite: suite.to_owned(),
        name: name.clone(),
        end: test.verdict.into(),
        kind: test.limit.map_or(UNKNOWN, Reached::name).to_owned(),
        message,
        place,
        seconds,
    }]
}

/// The source line of a finding.
fn place_of(finding: &Found) -> Option<(String, Option<u64>)> {
    finding.file.clone().map(|file| (file, finding.line.map(u64::from)))
}

/// What there is no report of.
fn of_missing(suite: &str, missing: &Missing) -> Case {
    Case {
        suite: suite.to_owned(),
        name: missing.what.clone(),
        end: if missing.untestable { CaseEnd::Error } else { CaseEnd::Unknown },
        kind: "no-report".to_owned(),
        message: missing.says(),
        place: None,
        seconds: 0.0,
    }
}

fn of_finding(suite: &str, name: &str, finding: &Found, seconds: f64) -> Case {
    let replay = match (&finding.path, &finding.unsaved) {
        (Some(path), _) => format!(" (selvedge replay {path})"),
        (None, Some(unsaved)) => format!(" ({unsaved})"),
        (None, None) => String::new(),
    };
    Case {
        suite: suite.to_owned(),
        name: name.to_owned(),
        end: CaseEnd::Fail,
        kind: finding.kind.to_owned(),
        message: format!("{}{replay}", finding.message),
        place: place_of(finding),
        seconds,
    }
}
