//! Objects that do something when a thread ends. That end is an operation of its own, in both phases.

use std::path::PathBuf;

use selvedge_driver::{Program, run};
use selvedge_needs::{Need, has, has_cpp};
use selvedge_protocol::{ObjectKind, ObjectReport, Search, Settings};

use crate::build::{build, scratch, settings};

/// The program, in a directory of the test's own; none where it cannot be compiled.
#[track_caller]
fn program(test: &str) -> Option<(Program, PathBuf)> {
    if !has(has_cpp(), Need::Cpp, "objects in C++") {
        return None;
    }
    let directory = scratch(&format!("exits-{test}"));
    let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/objects/exits.cpp");
    Some((build(&source, &[], &directory), directory))
}

fn check(program: &(Program, PathBuf), object: &str, options: &[&str]) -> ObjectReport {
    let mut settings = Settings { test: Some(object.into()), ..settings(Search::Portfolio) };
    settings.object = crate::build::options(options);
    let session = run(&program.0, &settings, &program.1).unwrap_or_else(|error| panic!("{object}: {error}"));
    assert_eq!(session.report.error, None, "{object}");
    let report = session.report.objects.into_iter().next().expect("the object");
    assert_eq!(report.error, None, "{object}");
    // Every finding is found again by its schedule alone.
    for found in &report.findings {
        let again = Settings { test: Some(object.into()), ..found.finding.settings.clone() };
        let replay = Settings { replay: Some(found.finding.schedule.clone()), ..again };
        let replayed = run(&program.0, &replay, &program.1).expect("a replay").report.objects.remove(0);
        assert_eq!(replayed.findings.len(), 1, "{object}: {:?} {:?}", replayed.limit, replayed.error);
        assert_eq!(replayed.findings[0].finding.steps, found.finding.steps, "{object}");
    }
    report
}

#[track_caller]
fn passes(report: &ObjectReport) {
    let texts: Vec<String> = report.findings.iter().map(crate::build::told).collect();
    assert!(report.findings.is_empty(), "{}: {texts:?}", report.object);
    assert!(report.complete, "{}: {:?}", report.object, report.limit);
}

#[test]
fn the_end_of_a_thread_is_an_operation() {
    let Some(program) = program("operation") else { return };
    for object in ["guarded", "keyed"] {
        passes(&check(&program, object, &["test enter() | count()"]));
        passes(&check(&program, object, &["test enter() | count(), count()"]));
        passes(&check(&program, object, &["auto 2"]));
        passes(&check(&program, object, &["test enter() | enter()", "final count()"]));
    }
}

#[test]
fn the_end_of_a_thread_can_be_what_is_wrong() {
    let Some(program) = program("wrong") else { return };
    let report = check(&program, "careless", &["auto 2", "final count()"]);
    let found = report.findings.first().expect("a violation");
    assert_eq!((found.kind, found.matrix.as_str()), (ObjectKind::NotLinearizable, "; enter() | enter(); count()"));
    let report = check(&program, "loans", &["test take() | take()"]);
    let found = report.findings.first().expect("a violation");
    assert_eq!(
        (found.kind, found.explanation.cells()[0].last().map(String::as_str)),
        (ObjectKind::NotLinearizable, Some("left() -> 1"))
    );
}

#[test]
fn an_end_that_changes_no_result_is_no_operation() {
    let Some(program) = program("quiet") else { return };
    let report = check(&program, "quiet", &["test next() | next()"]);
    passes(&report);
    // The two orders of the calls, though their ends come at every place.
    assert_eq!((report.serial_histories, report.histories), (2, 4), "{report:?}");
}

#[test]
fn an_end_may_wait_as_it_does_serially() {
    let Some(program) = program("waits") else { return };
    passes(&check(&program, "waiting", &["test visit() | close()"]));
    let report = check(&program, "shy", &["test stay() | stay()"]);
    assert_eq!(report.findings.first().map(|found| found.kind), Some(ObjectKind::Stuck), "{report:?}");
}
