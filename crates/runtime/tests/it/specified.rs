//! Objects held against built-in ones, by search and by counting.

use std::path::PathBuf;

use selvedge_driver::{Program, run};
use selvedge_protocol::{CoverageRecord, MatrixVerdict, ObjectKind, ObjectReport, Search, Settings, words};

use crate::build::{build, root, scratch, settings};

fn program(path: &str, test: &str) -> (Program, PathBuf) {
    let directory = scratch(&format!("specified-{test}"));
    (build(&root().join(path), &[], &directory), directory)
}

fn reports(program: &(Program, PathBuf), options: &[&str]) -> Vec<ObjectReport> {
    let mut settings: Settings = settings(Search::Dpor);
    settings.object = crate::build::options(options);
    let session = run(&program.0, &settings, &program.1).expect("it runs");
    assert_eq!(session.report.error, None);
    session.report.objects
}

fn check(program: &(Program, PathBuf), options: &[&str]) -> ObjectReport {
    reports(program, options).into_iter().next().expect("the object")
}

/// Nothing is wrong: the search says so, counting cannot.
#[test]
fn counting_never_passes() {
    let queue = program("corpus/relaxed/linearizable/ms_queue.c", "right");
    let matrix = "test enq(1), deq() | enq(2), deq()";
    let searched = check(&queue, &[matrix, "specification queue"]);
    assert!(searched.complete && searched.findings.is_empty(), "{searched:?}");
    assert_eq!((searched.criterion.as_str(), searched.serial_histories), ("linearizability", 0));
    let counted = check(&queue, &[matrix, "specification queue", "approximate k=2", "keep-going"]);
    assert!(!counted.complete && counted.findings.is_empty() && counted.limit.is_none(), "{counted:?}");
    assert_eq!((counted.coverage, counted.criterion.as_str()), (CoverageRecord::Exhaustive, "operation-counting"));
    assert_eq!((counted.matrices, counted.histories), (1, searched.histories));
    assert_eq!(counted.built_in.as_ref().expect("a record").counted, counted.histories);
    assert!(words::doubt(&counted).expect("a doubt").starts_with("no violation is visible at k=2"));
    assert_eq!(counted.records[0].verdict, MatrixVerdict::Unknown);
}

/// What counting shows the search shows too, and it replays.
#[test]
fn what_is_counted_is_a_violation() {
    let queue = program("corpus/relaxed/quasi/quasi_queue.c", "wrong");
    let options = ["test-shape 2*2+4", "specification queue", "no-shrink"];
    let searched = check(&queue, &options);
    assert_eq!(searched.findings[0].kind, ObjectKind::NotLinearizable, "{searched:?}");
    assert!(crate::build::told(&searched.findings[0]).contains("a queue does not do this: "), "{searched:?}");
    let mut seen = Vec::new();
    for k in 0..=4 {
        let counted = check(&queue, &[&options[..], &[&format!("approximate k={k}")]].concat());
        assert_eq!(counted.error, None);
        seen.push(!counted.findings.is_empty());
        let Some(found) = counted.findings.first() else { continue };
        assert_eq!(found.kind, ObjectKind::NotLinearizable);
        let says = format!("counted as a queue (k={k}): a value came out before one that was put in earlier");
        assert!(
            crate::build::told(found).contains(&says) && crate::build::told(found).contains("show it: T"),
            "{}",
            crate::build::told(found)
        );
        let mut settings = found.finding.settings.clone();
        settings.replay = Some(found.finding.schedule.clone());
        let session = run(&queue.0, &settings, &queue.1).expect("it runs");
        assert_eq!(session.report.objects[0].findings[0].finding.steps, found.finding.steps);
    }
    assert!(!seen[0] && seen[4] && seen.is_sorted(), "{seen:?}");
}

/// Waiting, and what an object begins with.
#[test]
fn locks_and_registers() {
    let objects = program("crates/runtime/tests/objects/specified.c", "objects");
    for options in [&[][..], &["approximate k=2"]] {
        let reports = reports(&objects, options);
        let named = |name: &str| reports.iter().find(|report| report.object == name).expect("it was tested");
        // That nothing returns is seen whatever is counted.
        assert_eq!(named("hanging").findings[0].kind, ObjectKind::Stuck, "{:?}", named("hanging"));
        for name in ["lock", "cell"] {
            let report = named(name);
            assert_eq!(report.error, None);
            assert!(report.findings.is_empty() && report.complete == options.is_empty(), "{report:?}");
        }
        assert!(named("lock").stuck > 0 && named("cell").histories > 5);
        let built_in = named("cell").built_in.as_ref().expect("a record");
        assert_eq!((built_in.specification.as_str(), built_in.approximate), ("register=0", !options.is_empty()));
    }
    let wrong = reports(&objects, &["specification register=7", "test read()"]);
    let cell = wrong.iter().find(|report| report.object == "cell").expect("it was tested");
    assert_eq!(cell.findings[0].kind, ObjectKind::NotLinearizable);
}

#[test]
fn what_cannot_be_asked_is_said() {
    let queue = program("corpus/relaxed/linearizable/ms_queue.c", "asked");
    for (options, expect) in [
        (&["approximate k=2"][..], "say which one, such as --specification queue"),
        (&["approximate k=2", "specification queue", "quasi deq=1"], "leave --quasi out"),
        (&["approximate k=2", "specification deque"], "there is no counting formula for a deque"),
        (&["specification stack"], "`enq(1)`: the object has no such method"),
        (&["specification kettle"], "there is no built-in object `kettle`"),
        (&["specification queue", "write-observations x.json"], "leave those of a file out"),
        (&["specification queue", "reading closed"], "readings go with --quasi"),
    ] {
        let error = check(&queue, options).error.map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains(expect), "{options:?}: {error}");
    }
}
