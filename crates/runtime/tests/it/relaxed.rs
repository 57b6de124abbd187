//! `corpus/relaxed`: every program gets the verdict that its directory names, and quasi linearizability of code is asked and answered as
//! `docs/quasi.md` says.

use std::path::{Path, PathBuf};

use selvedge_driver::{Program, run};
use selvedge_protocol::{Against, CoverageRecord, ObjectKind, ObjectReport, Search, Settings};

use crate::build::{build, root, scratch, settings};

/// A small test that shows what is wrong with a program, or that it is out of order.
fn test_of(name: &str) -> &'static str {
    match name {
        "iqueue" | "herlihy_wing_queue" => "test-shape 2*2+0",
        "sl_queue" => "test-shape enq*enq+2",
        "k_stack" | "k_stack_repaired" => "test push(1), push(2), push(3), pop(); push(4) | pop(); pop(), pop()",
        _ => "test-shape 2*2+4",
    }
}

fn method(name: &str) -> &'static str {
    match name {
        name if name.contains("priority") => "poll",
        name if name.contains("stack") => "pop",
        _ => "deq",
    }
}

fn program(source: &Path, test: &str) -> (Program, PathBuf) {
    let name = source.file_stem().expect("a name").to_string_lossy().into_owned();
    let directory = scratch(&format!("relaxed-{test}-{name}"));
    (build(source, &[], &directory), directory)
}

fn check(program: &(Program, PathBuf), options: &[&str]) -> ObjectReport {
    let mut settings: Settings = settings(Search::Dpor);
    settings.object = crate::build::options(options);
    let session = run(&program.0, &settings, &program.1).expect("it runs");
    assert_eq!(session.report.error, None);
    session.report.objects.into_iter().next().expect("the object")
}

fn sources(directory: &str) -> Vec<PathBuf> {
    let read = std::fs::read_dir(root().join("corpus/relaxed").join(directory)).expect("the directory");
    let mut sources: Vec<PathBuf> = read.map(|entry| entry.expect("an entry").path()).collect();
    sources.sort();
    sources
}

fn verdict(program: &(Program, PathBuf), test: &str, quasi: &str) -> Result<ObjectReport, ObjectKind> {
    let report = check(program, &[test, &format!("quasi {quasi}"), "reading closed", "no-shrink"]);
    assert_eq!(report.error, None, "{quasi}");
    match report.findings.first() {
        Some(found) => Err(found.kind),
        None => {
            assert!(report.complete && report.coverage == CoverageRecord::Exhaustive, "{}: {report:?}", report.object);
            Ok(report)
        }
    }
}

#[test]
fn programs_get_the_verdict_of_their_directory() {
    let mut seen = 0;
    for (directory, exact, loose) in [("linearizable", true, true), ("quasi", false, true), ("neither", false, false)] {
        for source in sources(directory) {
            let name = source.file_stem().expect("a name").to_string_lossy().into_owned();
            let built = program(&source, "verdict");
            for (factor, expected) in [(0, exact), (2, loose)] {
                let quasi = format!("{}={factor}", method(&name));
                let found = verdict(&built, test_of(&name), &quasi);
                assert_eq!(found.is_ok(), expected, "{name} with {quasi}: {found:?}");
                if let Err(kind) = found {
                    let expected = [ObjectKind::NotLinearizable, ObjectKind::NotQuasiLinearizable];
                    assert_eq!(kind, expected[usize::from(factor > 0)], "{name} with {quasi}");
                }
            }
            seen += 1;
        }
    }
    assert_eq!(seen, 19);
}

fn queue(test: &str) -> (Program, PathBuf) {
    program(&root().join("corpus/relaxed/quasi/quasi_queue.c"), test)
}

/// The reference, the built-in queue and the object itself; the last is out of order by itself, and so has nothing to explain.
#[test]
fn what_it_is_held_against() {
    let queue = queue("against");
    let options = |more: &[&str]| {
        let all = [&["test-shape 2*2+4", "quasi deq=2", "reading closed"], more].concat();
        check(&queue, &all)
    };
    let (reference, built_in) = (options(&[]), options(&["specification queue"]));
    for report in [&reference, &built_in] {
        assert!(report.complete && report.findings.is_empty(), "{report:?}");
        let quasi = report.quasi.as_ref().expect("counts");
        assert_eq!((quasi.counts.histories_linearizable, quasi.counts.histories_buggy), (0, 0));
        assert!(quasi.counts.linearizations > report.histories && quasi.counts.states > report.histories, "{quasi:?}");
        assert_eq!(quasi.notes, []);
    }
    assert_eq!(reference.quasi.as_ref().expect("counts").specification, Against::Reference);
    assert_eq!(built_in.quasi.as_ref().expect("counts").specification, Against::BuiltIn("queue".into()));
    assert_eq!((reference.serial_histories, built_in.serial_histories), (6, 0));
    assert_eq!(reference.histories, built_in.histories);
}

/// Under the prefix reading what is left inside may still come out: the legal run goes on after the test, and so do serial runs of the reference.
#[test]
fn a_test_that_does_not_drain() {
    let queue = queue("drain");
    let test = "test enq(1), enq(2); enq(3) | deq();";
    let loose = check(&queue, &[test, "quasi deq=2"]);
    assert!(loose.complete && loose.findings.is_empty(), "{loose:?}");
    assert_eq!(loose.quasi.expect("counts").notes, []);
    let built_in = check(&queue, &[test, "quasi deq=2", "specification queue"]);
    assert!(built_in.complete && built_in.findings.is_empty(), "{built_in:?}");
    let closed = check(&queue, &[test, "quasi deq=2", "reading closed", "no-shrink"]);
    assert_eq!(closed.findings[0].kind, ObjectKind::NotQuasiLinearizable);
    let notes = closed.quasi.expect("counts").notes;
    assert!(notes.len() == 1 && notes[0].lacks.contains("puts 3 in and takes 1 out"), "{notes:?}");
    // Matrices that are made up drain it.
    let made_up = check(&queue, &["threads 2", "ops 2", "samples 5", "quasi deq=2", "reading closed"]);
    assert!(made_up.complete && made_up.findings.is_empty(), "{:?}", made_up.findings);
    assert_eq!(made_up.quasi.expect("counts").notes, []);
}

/// After the first violation the search goes on when it is to count them; a finding replays.
#[test]
fn histories_are_counted_and_findings_replay() {
    let stack = program(&root().join("corpus/relaxed/neither/k_stack.c"), "count");
    let test = test_of("k_stack");
    let options = ["quasi pop=2", "reading closed", "no-shrink"];
    let all = check(&stack, &[&[test, "keep-going"][..], &options].concat());
    let counts = all.records[0].quasi.expect("counts");
    assert!(counts.histories_buggy >= 1 && counts.histories_buggy < all.records[0].histories, "{:?}", all.records);
    assert_eq!(all.records[0].coverage, CoverageRecord::Exhaustive);
    let found = &all.findings[0];
    let mut settings = found.finding.settings.clone();
    settings.replay = Some(found.finding.schedule.clone());
    let session = run(&stack.0, &settings, &stack.1).expect("it runs");
    let again = &session.report.objects[0];
    assert_eq!(again.findings[0].kind, ObjectKind::NotQuasiLinearizable, "{again:?}");
    assert_eq!(again.findings[0].finding.steps, found.finding.steps);
}
