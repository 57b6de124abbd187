//! Every program of the corpus: the verdict is its directory, the number of runs stands beside it.
//!
//! `SELVEDGE_UPDATE=1` writes the numbers instead of comparing them.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use selvedge_driver::{CoverageRecord, Finding, Program, Search, replay};

use crate::build::{build, root, scratch, session, settings};

/// What one strategy must do with one program.
struct Case {
    program: Program,
    directory: PathBuf,
    verdict: String,
    name: String,
}

impl Case {
    fn replays(&self, finding: &Finding) {
        // A finding about time, or about a program that does not repeat itself, cannot be compared.
        if ["uncontrolled", "nondeterminism"].contains(&self.verdict.as_str()) {
            return;
        }
        let session =
            replay(&self.program, finding, &self.directory).unwrap_or_else(|error| panic!("{}: {error}", self.name));
        let [test] = session.report.tests.as_slice() else { panic!("one test is replayed: {}", self.name) };
        assert_eq!(test.runs, 1, "{}", self.name);
        let again = test.findings.first().unwrap_or_else(|| panic!("{} is not found again", self.name));
        assert_eq!((again.kind, &again.message), (finding.kind, &finding.message), "{}", self.name);
        assert_eq!((&again.schedule, &again.place), (&finding.schedule, &finding.place), "{}", self.name);
        assert_eq!(again.threads, finding.threads, "{}", self.name);
        assert_eq!(again.steps, finding.steps, "{}", self.name);
    }

    /// The lines that belong beside the program.
    fn check(&self, search: Search) -> String {
        let session = session(&self.program, &settings(search), &self.directory);
        let mut lines = String::new();
        assert!(!session.report.tests.is_empty(), "{} has no tests", self.name);
        for test in &session.report.tests {
            let (name, strategy) = (format!("{} {}", self.name, test.test), format!("{search:?}").to_lowercase());
            let kinds: Vec<&str> = test.findings.iter().map(|finding| finding.kind.name()).collect();
            if self.verdict == "pass" {
                assert!(kinds.is_empty(), "{name} under {strategy}: {:?}", test.findings[0].message);
                let expect = if search == Search::Dpor { CoverageRecord::Exhaustive } else { test.coverage };
                assert_eq!(test.coverage, expect, "{name} under {strategy}");
                assert_ne!(test.coverage, CoverageRecord::Partial, "{name} under {strategy}");
                assert_eq!(test.redundant, 0, "{name} under {strategy}");
            } else {
                assert_eq!(kinds, [self.verdict.as_str()], "{name} under {strategy}");
                self.replays(&test.findings[0]);
            }
            writeln!(lines, "{} {strategy} {}", test.test, test.runs).expect("a string");
        }
        lines
    }
}

fn check(path: &Path, verdict: &str) {
    let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
    let directory = scratch(&format!("corpus-{verdict}-{name}"));
    let program = build(path, &[], &directory);
    let case = Case { program, directory, verdict: verdict.into(), name };
    let lines = case.check(Search::Bounded) + &case.check(Search::Dpor);
    let expected = path.with_extension("runs");
    if std::env::var_os("SELVEDGE_UPDATE").is_some() {
        std::fs::write(&expected, &lines).expect("the numbers are written");
    }
    if verdict != "nondeterminism" {
        assert_eq!(lines, std::fs::read_to_string(&expected).unwrap_or_default(), "{}", expected.display());
    }
}

/// Every program, with the verdict that it must get.
pub fn programs() -> Vec<(String, PathBuf)> {
    let mut verdicts: Vec<PathBuf> = entries(&root().join("corpus/programs"));
    verdicts.retain(|path| path.is_dir());
    let mut programs = Vec::new();
    for directory in verdicts {
        let verdict = directory.file_name().expect("a name").to_string_lossy().into_owned();
        let mut paths = entries(&directory);
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "c" || extension == "cc"));
        programs.extend(paths.into_iter().map(|path| (verdict.clone(), path)));
    }
    programs
}

#[test]
fn verdicts_and_numbers_of_runs() {
    let mut count = 0;
    for (verdict, path) in programs() {
        let failed = std::panic::catch_unwind(|| check(&path, &verdict)).is_err();
        if failed {
            eprintln!("FAILED {}", path.display());
        }
        count += usize::from(!failed);
        assert!(!failed || std::env::var_os("SELVEDGE_UPDATE").is_some(), "{}", path.display());
    }
    assert!(count >= 40, "{count} programs");
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let read = std::fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut entries: Vec<PathBuf> = read.map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    entries
}
