//! What the searches saw: cargo says only whether a test passed.
//!
//! Invariant: a search that was cut short, or whose report is missing, never reads as a pass.

use std::fs;
use std::path::{Path, PathBuf};

use selvedge_driver::identity;
use selvedge_protocol::channel::{self, Lost, Told};
use selvedge_protocol::{FindingKind, Host, ObjectKind, ObjectReport, Report, TestReport, wire};
use serde::{Deserialize, Serialize};

use crate::exit::Exit;
use crate::findings::{Build, CargoBuild, write};
use crate::report::names::Names;
use crate::report::tested::{Missing, Tested};
use crate::search::Asked;

/// Where the tests come from.
pub struct Origin<'a> {
    /// How they were built.
    pub build: &'a CargoBuild,
    /// The runtime that they ran with.
    pub runtime: &'a Path,
    /// Whether Ctrl-C ended them.
    pub interrupted: bool,
    /// Whether cargo says that no test failed.
    pub passed: bool,
}

/// How the name of a file ends with which the runner says that a test program ended without saying how its test went.
pub const LOST: &str = "lost";
/// How the name of a file ends with which the runner says that what a test's searches found is what the test expects.
pub const EXPECTED: &str = "expected";

/// A test that found what it expects, or that was lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marked {
    /// The test program.
    pub executable: PathBuf,
    /// The test.
    pub function: String,
}

/// What all searches saw.
pub struct Seen {
    /// One for each search, in the order of their places.
    pub tests: Vec<Tested>,
    /// What there is no report of.
    pub missing: Vec<Missing>,
    /// How many reports tests took for themselves: what these say is their business.
    pub taken: usize,
    /// The worst that they tell. A panic that the test expects is no violation; anything else that was found is one, whatever cargo says.
    pub covered: Exit,
}

/// Reads the reports of a directory, and writes what was found.
pub fn read(reports: &Path, asked: &Asked, origin: &Origin) -> Seen {
    let mut seen = Seen { tests: Vec::new(), missing: Vec::new(), taken: 0, covered: Exit::Pass };
    let files: Vec<PathBuf> = fs::read_dir(reports).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    let expected = marked(&files, EXPECTED);
    for test in marked(&files, LOST) {
        seen.missing.push(Missing::unknown(test.function, "its program ended before it said how the test went"));
    }
    for told in channel::read(reports) {
        match told {
            Told::Report(report) => seen.report(*report, &expected, asked, origin),
            Told::Taken => seen.taken += 1,
            Told::Lost(lost) => seen.missing.push(match lost {
                Lost::Directory => {
                    Missing::unknown("the directory that searches report to is gone", "a test removed it")
                }
                Lost::Unreported(name) => Missing::unknown(name, "a search was begun, and there is no report of it"),
                Lost::Unreadable(name, why) => Missing::unknown(name, format!("its report could not be read: {why}")),
            }),
        }
    }
    seen.covered = seen.missing.iter().map(Missing::exit).fold(seen.covered, Exit::worst);
    let exits = seen.tests.iter().map(Tested::exit);
    // Where a test failed, cargo's code says so.
    let worst = exits.filter(|exit| origin.passed || *exit != Exit::Violation).fold(seen.covered, Exit::worst);
    seen.covered = worst;
    seen.tests.sort_by_cached_key(|test| place(&test.report.test));
    seen
}

fn marked(files: &[PathBuf], end: &str) -> Vec<Marked> {
    let named = files.iter().filter(|file| file.extension().is_some_and(|extension| extension == end));
    named.filter_map(|file| wire::decode(&fs::read_to_string(file).ok()?).ok()).collect()
}

/// Whether all that was found are panics, of the test or of an operation.
pub fn only_panics(report: &TestReport, object: Option<&ObjectReport>) -> bool {
    match object {
        Some(object) => object.findings.iter().all(|found| found.kind == ObjectKind::Panic),
        None => report.findings.iter().all(|finding| finding.kind == FindingKind::Panic),
    }
}

impl Seen {
    /// Whether no test searched anything.
    pub fn nothing(&self) -> bool {
        self.tests.is_empty() && self.taken == 0 && self.missing.is_empty()
    }

    /// Takes one report.
    fn report(&mut self, report: Report, expected: &[Marked], asked: &Asked, origin: &Origin) {
        for test in report.tests {
            self.tests.push(tested(test, None, report.host.as_ref(), expected, asked, origin));
        }
        for object in report.objects {
            if let Some(error) = &object.error {
                let why = format!("the object cannot be tested: {error}");
                self.missing.push(Missing::untestable(object.object, why));
                continue;
            }
            self.tests.push(tested(object.to_test(), Some(object), report.host.as_ref(), expected, asked, origin));
        }
        if let Some(error) = report.error {
            self.missing.push(Missing::untestable("a search could not start", error.to_string()));
        }
    }
}

fn tested(
    mut report: TestReport,
    object: Option<ObjectReport>,
    host: Option<&Host>,
    expected: &[Marked],
    asked: &Asked,
    origin: &Origin,
) -> Tested {
    let mut build = origin.build.clone();
    if let Some(host) = host {
        build.executable.clone_from(&host.executable);
        build.ran_in.clone_from(&host.directory);
        build.function.clone_from(&host.function);
    }
    let program = build.executable.to_string_lossy().into_owned();
    let mut paths = Vec::new();
    for finding in &mut report.findings {
        // A program that is gone, as those of documentation are, is one that no replay will recognise.
        finding.program = identity(&build.executable, origin.runtime).unwrap_or_default();
        paths.push(write(finding, &Build::Cargo(build.clone()), &asked.findings, &mut Names::new(&program)));
    }
    let is_this =
        |test: &Marked| test.executable == build.executable && Some(&test.function) == build.function.as_ref();
    // A test in documentation that panics, or one that catches the panic, says nothing but that it passed.
    let passed = origin.passed && only_panics(&report, object.as_ref());
    let expected = !report.findings.is_empty() && (passed || expected.iter().any(is_this));
    let (settings, interrupted, function) = (asked.search.clone(), origin.interrupted, build.function);
    Tested { report, object, settings, interrupted, paths, program, function, expected, lost: None }
}

/// The file and the line of a search, which is named by them.
fn place(name: &str) -> (String, u64) {
    let (file, line) = name.rsplit_once(':').unwrap_or((name, ""));
    (file.to_owned(), line.parse().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use clap::Parser;
    use selvedge_protocol::CoverageRecord;

    use super::*;
    use crate::search::SearchFlags;

    #[derive(Parser)]
    struct Typed {
        #[command(flatten)]
        search: SearchFlags,
    }

    fn read_texts(texts: &[String]) -> Seen {
        let scratch = tempfile::tempdir().unwrap();
        let directory = scratch.path();
        channel::open(directory).unwrap();
        for (number, text) in texts.iter().enumerate() {
            fs::write(directory.join(format!("{number}.report")), text).unwrap();
        }
        let asked = Typed::parse_from(["test", "--runs", "12"]).search.resolve();
        let nowhere = PathBuf::new;
        let build = CargoBuild {
            directory: nowhere(),
            manifest_path: None,
            cargo: vec![],
            executable: nowhere(),
            ran_in: nowhere(),
            harness: vec![],
            function: None,
        };
        let origin = Origin { build: &build, runtime: Path::new(""), interrupted: false, passed: true };
        read(directory, &asked, &origin)
    }

    fn text(test: &str, coverage: CoverageRecord) -> String {
        let test = TestReport { runs: 12, coverage, ..TestReport::new(test) };
        wire::encode(&Report { tests: vec![test], ..Report::default() })
    }

    #[test]
    fn what_was_cut_short_is_not_a_pass() {
        use CoverageRecord::{Exhaustive, Partial, Preemptions, Sampled};
        for (coverage, exit) in [
            (Exhaustive, Exit::Pass),
            (Preemptions(2), Exit::Pass),
            (Preemptions(1), Exit::Unknown),
            (Sampled(12), Exit::Pass),
            (Sampled(11), Exit::Unknown),
            (Partial, Exit::Unknown),
        ] {
            assert_eq!(read_texts(&[text("a.rs:1", coverage)]).covered, exit, "{coverage:?}");
            let two = [text("a.rs:1", Exhaustive), text("a.rs:2", coverage)];
            assert_eq!(read_texts(&two).covered, exit, "{coverage:?}");
        }
    }

    #[test]
    fn searches_are_in_the_order_of_their_lines() {
        let all: Vec<String> =
            ["b.rs:1", "a.rs:10", "a.rs:9", "a.rs"].iter().map(|name| text(name, CoverageRecord::Exhaustive)).collect();
        let seen = read_texts(&all);
        let names: Vec<&str> = seen.tests.iter().map(|test| test.report.test.as_str()).collect();
        assert_eq!(names, ["a.rs", "a.rs:9", "a.rs:10", "b.rs:1"]);
    }

    #[test]
    fn a_report_that_is_none_is_told() {
        let seen = read_texts(&["{".to_owned()]);
        assert_eq!(seen.covered, Exit::Unknown);
        assert!(seen.missing[0].line().starts_with("UNKNOWN  0: its report could not be read"), "{:?}", seen.missing);
        assert_eq!(read_texts(&[]).covered, Exit::Pass);
    }
}
