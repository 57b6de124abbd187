//! `corpus/relaxed`: every program gets the verdict that its directory names, and quasi linearizability of code is asked and answered as
//! `docs/quasi.md` says.

use std::path::{Path, PathBuf};

use selvedge_driver::{CoverageRecord, ObjectKind, ObjectReport, Program, Search, Settings, run};

use crate::build::{build, root, scratch, settings};

/// The smallest shape found that shows what is wrong with a program, or that it is out of order; under plain dpor all are quick.
fn shape(name: &str) -> &'static str {
    match name {
        "iqueue" | "herlihy_wing_queue" => "2*2+0",
        "sl_queue" => "enq*enq+2",
        "k_stack" | "k_stack_repaired" => "push*pop+4",
        _ => "2*2+4",
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
    settings.object.options = options.iter().map(|option| option.to_string()).collect();
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

fn verdict(program: &(Program, PathBuf), shape: &str, quasi: &str) -> Result<ObjectReport, ObjectKind> {
    let report =
        check(program, &[&format!("shape {shape}"), &format!("only-quasi {quasi}"), "reading closed", "no-shrink"]);
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
                let found = verdict(&built, shape(&name), &quasi);
                assert_eq!(found.is_ok(), expected, "{name} with {quasi}: {found:?}");
                if let Err(kind) = found {
                    assert_eq!(kind, ObjectKind::NotQuasiLinearizable, "{name} with {quasi}");
                }
            }
            seen += 1;
        }
    }
    assert_eq!(seen, 19);
}
