//! What the searches saw: cargo says only whether a test passed.
//!
//! Invariant: a search that was cut short, or whose report is missing, never reads as a pass.

use std::fs;
use std::path::Path;

use selvedge_driver::{Host, ObjectReport, Report, TestReport};

use crate::exit::Exit;
use crate::findings::{Build, CargoBuild, write};
use crate::program::fingerprint;
use crate::report::names::Names;
use crate::report::tested::Tested;
use crate::search::Asked;
use crate::trouble::Trouble;

/// Where the tests come from.
pub struct Origin<'a> {
    /// How they were built.
    pub build: &'a CargoBuild,
    /// The runtime that they ran with.
    pub runtime: &'a Path,
    /// Whether Ctrl-C ended them.
    pub interrupted: bool,
}

/// What all searches saw.
pub struct Seen {
    /// One for each search, in the order of their places.
    pub tests: Vec<Tested>,
    /// What could not be read, a line each.
    pub lines: Vec<String>,
    /// How many reports tests took for themselves: what these say is their business.
    pub taken: usize,
    /// The worst that they tell. A finding is no violation here: cargo knows whether the test was meant to panic.
    pub covered: Exit,
}

/// Reads the reports of a directory, and writes what was found.
pub fn read(reports: &Path, asked: &Asked, origin: &Origin) -> Result<Seen, Trouble> {
    let files = fs::read_dir(reports).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut seen = Seen { tests: Vec::new(), lines: Vec::new(), taken: 0, covered: Exit::Pass };
    for file in files {
        match file.extension().and_then(|end| end.to_str()) {
            Some("json") => {}
            Some("taken") => {
                seen.taken += 1;
                continue;
            }
            _ => continue,
        }
        let read = fs::read_to_string(&file).map_err(|error| error.to_string());
        match read.and_then(|text| serde_json::from_str::<Report>(&text).map_err(|error| error.to_string())) {
            Ok(report) => {
                for test in report.tests {
                    seen.tests.push(tested(test, None, report.host.as_ref(), asked, origin)?);
                }
                for object in report.objects {
                    if let Some(error) = &object.error {
                        seen.lines.push(format!("ERROR  {}: the object cannot be tested: {error}", object.object));
                        seen.covered = Exit::Input;
                        continue;
                    }
                    seen.tests.push(tested(object.to_test(), Some(object), report.host.as_ref(), asked, origin)?);
                }
                seen.lines.extend(report.error.map(|error| format!("UNKNOWN  a search could not start: {error}")));
            }
            Err(error) => {
                seen.lines.push(format!("UNKNOWN  the report `{}` could not be read: {error}", file.display()));
            }
        }
    }
    let cut = |test: &Tested| test.report.findings.is_empty() && test.exit() != Exit::Pass;
    if !seen.lines.is_empty() || seen.tests.iter().any(cut) {
        seen.covered = seen.covered.worst(Exit::Unknown);
    }
    seen.tests.sort_by_cached_key(|test| place(&test.report.test));
    Ok(seen)
}

fn tested(
    mut report: TestReport,
    object: Option<ObjectReport>,
    host: Option<&Host>,
    asked: &Asked,
    origin: &Origin,
) -> Result<Tested, Trouble> {
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
        finding.program = fingerprint(&build.executable, origin.runtime).unwrap_or_default();
        paths.push(write(finding, &Build::Cargo(build.clone()), &asked.findings, &mut Names::new(&program))?);
    }
    let settings = asked.search.clone();
    Ok(Tested { report, object, settings, interrupted: origin.interrupted, paths, program, function: build.function })
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
    use selvedge_driver::CoverageRecord;

    use super::*;
    use crate::search::SearchFlags;

    #[derive(Parser)]
    struct Typed {
        #[command(flatten)]
        search: SearchFlags,
    }

    fn read_texts(texts: &[String]) -> Seen {
        static NUMBER: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let directory = std::env::temp_dir().join(format!("selvedge-reports-{}-{number}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        for (number, text) in texts.iter().enumerate() {
            fs::write(directory.join(format!("{number}.json")), text).unwrap();
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
        let seen = read(&directory, &asked, &Origin { build: &build, runtime: Path::new(""), interrupted: false });
        fs::remove_dir_all(&directory).unwrap();
        seen.unwrap()
    }

    fn text(test: &str, coverage: CoverageRecord) -> String {
        let test = TestReport { runs: 12, coverage, ..TestReport::new(test) };
        serde_json::to_string(&Report { tests: vec![test], ..Report::default() }).unwrap()
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
        assert!(seen.lines[0].starts_with("UNKNOWN"), "{:?}", seen.lines);
        assert_eq!(read_texts(&[]).covered, Exit::Pass);
    }
}
