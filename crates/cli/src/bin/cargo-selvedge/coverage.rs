//! What the searches covered: cargo says only that a test passed.
//!
//! Invariant: a search that was cut short never reads as a pass.

use std::fs;
use std::path::Path;

use selvedge_cli::exit::Exit;
use selvedge_cli::quantity::counted;
use selvedge_driver::{CoverageRecord, Report, Settings, TestReport};

/// Reads the reports of a directory; a line for each search, and the worst that they tell. A finding is no violation here:
/// cargo knows whether the test was meant to panic.
pub fn summarise(reports: &Path, settings: &Settings) -> (Vec<String>, Exit) {
    let files = fs::read_dir(reports).into_iter().flatten().flatten().map(|entry| entry.path());
    let (mut tests, mut objects, mut lines) = (Vec::new(), Vec::new(), Vec::new());
    for file in files {
        let read = fs::read_to_string(&file).map_err(|error| error.to_string());
        match read.and_then(|text| serde_json::from_str::<Report>(&text).map_err(|error| error.to_string())) {
            Ok(report) => {
                tests.extend(report.tests);
                objects.extend(report.objects);
                lines.extend(report.error.map(|error| format!("UNKNOWN  a search could not start: {error}")));
            }
            Err(error) => {
                lines.push(format!("UNKNOWN  the report `{}` could not be read: {error}", file.display()));
            }
        }
    }
    let cut = |test: &TestReport| test.findings.is_empty() && !test.coverage.reaches(settings);
    let unknown = !lines.is_empty() || tests.iter().any(cut);
    tests.sort_by_cached_key(|test| place(&test.test));
    objects.sort_by_cached_key(|object| place(&object.object));
    let objects = objects.iter().map(crate::object::line).map(|(line, exit)| (printable(&line), exit));
    let (of_objects, exits): (Vec<String>, Vec<Exit>) = objects.unzip();
    let lines = tests.iter().map(|test| line(test, settings)).chain(of_objects).chain(lines).collect();
    let exit = if unknown { Exit::Unknown } else { Exit::Pass };
    (lines, exits.into_iter().fold(exit, Exit::worst))
}

/// The file and the line of a search, which is named by them.
fn place(name: &str) -> (String, u64) {
    let (file, line) = name.rsplit_once(':').unwrap_or((name, ""));
    (file.to_owned(), line.parse().unwrap_or(0))
}

fn line(test: &TestReport, settings: &Settings) -> String {
    let runs = counted(test.runs, "run");
    let place = printable(&test.test);
    if let Some(finding) = test.findings.first() {
        let message = printable(&finding.message);
        return format!("FAIL     {place}: {} in run {}: {message}", finding.kind.name(), test.runs);
    }
    let covered = match test.coverage {
        CoverageRecord::Exhaustive => "exhaustive".to_owned(),
        CoverageRecord::Preemptions(bound) => {
            format!("every schedule with at most {}", counted(bound.into(), "preemption"))
        }
        CoverageRecord::Sampled(_) => "sampled: nothing is covered completely".to_owned(),
        CoverageRecord::Replayed => "one schedule, replayed".to_owned(),
        CoverageRecord::Partial => "cut short: nothing is covered completely".to_owned(),
    };
    let verdict = if test.coverage.reaches(settings) { "PASS   " } else { "UNKNOWN" };
    format!("{verdict}  {place}: {runs}, {covered}")
}

/// The text without what would move the cursor of a terminal.
fn printable(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(coverage: CoverageRecord) -> TestReport {
        TestReport {
            test: "tests/\u{1b}x.rs:7".into(),
            runs: 12,
            redundant: 0,
            blocked: 0,
            truncated: 0,
            points: 0,
            cpu_seconds: 0.0,
            coverage,
            bound: None,
            histories: 0,
            history_texts: vec![],
            findings: vec![],
        }
    }

    fn check(coverage: CoverageRecord, expected: &str, code: i32) {
        let test = report(coverage);
        let settings = Settings { runs_max: 12, ..Settings::default() };
        assert_eq!(line(&test, &settings), expected);
        let directory = std::env::temp_dir().join(format!("selvedge-coverage-{}-{code}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let text = serde_json::to_string(&Report { tests: vec![test], ..Report::default() }).unwrap();
        fs::write(directory.join("a.json"), text).unwrap();
        let (lines, exit) = summarise(&directory, &settings);
        fs::remove_dir_all(&directory).unwrap();
        assert_eq!((lines, exit.code()), (vec![expected.to_owned()], code));
    }

    #[test]
    fn what_was_cut_short_is_not_a_pass() {
        check(CoverageRecord::Exhaustive, "PASS     tests/ x.rs:7: 12 runs, exhaustive", 0);
        let bounded = "every schedule with at most";
        let expected = format!("PASS     tests/ x.rs:7: 12 runs, {bounded} 2 preemptions");
        check(CoverageRecord::Preemptions(2), &expected, 0);
        let expected = format!("UNKNOWN  tests/ x.rs:7: 12 runs, {bounded} 1 preemption");
        check(CoverageRecord::Preemptions(1), &expected, 3);
        let sampled = "tests/ x.rs:7: 12 runs, sampled: nothing is covered completely";
        check(CoverageRecord::Sampled(12), &format!("PASS     {sampled}"), 0);
        check(CoverageRecord::Sampled(11), &format!("UNKNOWN  {sampled}"), 3);
        let partial = "UNKNOWN  tests/ x.rs:7: 12 runs, cut short: nothing is covered completely";
        check(CoverageRecord::Partial, partial, 3);
    }

    #[test]
    fn searches_are_in_the_order_of_their_lines() {
        let mut names = ["b.rs:1", "a.rs:10", "a.rs:9", "a.rs"];
        names.sort_by_cached_key(|name| place(name));
        assert_eq!(names, ["a.rs", "a.rs:9", "a.rs:10", "b.rs:1"]);
    }

    #[test]
    fn a_report_that_is_none_is_told() {
        let directory = std::env::temp_dir().join(format!("selvedge-no-report-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("a.json"), "{").unwrap();
        let (lines, exit) = summarise(&directory, &Settings::default());
        fs::remove_dir_all(&directory).unwrap();
        assert_eq!(exit.code(), 3);
        assert!(lines[0].starts_with("UNKNOWN"), "{lines:?}");
    }
}
