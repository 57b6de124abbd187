//! Rust tests, built by stable cargo with the flags of the driver.

use std::path::{Path, PathBuf};
use std::process::Command;

use selvedge_driver::rust::{TARGET, cargo_environment, prepare_sysroot};
use selvedge_driver::{CoverageRecord, Report, SETTINGS_VARIABLE, Settings};

use crate::build::{root, runtime, scratch};

/// The verdict that a test's name starts with.
const VERDICTS: [&str; 6] = ["pass", "panic", "lost-wakeup", "deadlock", "use-after-free", "leaked-thread"];

/// The name and the line of every test of the file that calls this.
fn tests(path: &Path, calls: &str) -> Vec<(String, usize)> {
    let text = std::fs::read_to_string(path).expect("the tests");
    let mut name = String::new();
    let mut tests = Vec::new();
    for (line, code) in text.lines().enumerate() {
        if let Some(rest) = code.strip_prefix("fn ") {
            name = rest.split('(').next().unwrap_or_default().replace('_', "-");
        }
        if code.trim_start().starts_with(calls) {
            tests.push((name.clone(), line + 1));
        }
    }
    tests
}

/// Runs a file of tests; where the reports are, and what was printed.
fn run(file: &str, settings: &Settings) -> (PathBuf, String) {
    let directory = scratch("rust");
    let reports = directory.join(format!("reports-{file}"));
    let _ = std::fs::remove_dir_all(&reports);
    std::fs::create_dir_all(&reports).expect("a directory for reports");
    let sysroot = prepare_sysroot(&scratch("sysroot")).unwrap_or_else(|error| panic!("{error}"));
    let output = Command::new(env!("CARGO"))
        .args(["test", "--no-fail-fast", "--offline", "--target", TARGET, "--test", file, "--manifest-path"])
        .arg(root().join("corpus/rust/Cargo.toml"))
        .arg("--target-dir")
        .arg(directory.join("target"))
        .envs(cargo_environment(&runtime(), Some(&sysroot), &reports))
        .env("RUST_BACKTRACE", "0")
        .env(SETTINGS_VARIABLE, serde_json::to_string(settings).expect("settings"))
        .output()
        .expect("cargo runs");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (reports, printed)
}

fn read(reports: &Path, file: &str, line: usize, printed: &str) -> Report {
    let path = reports.join(format!("tests-{file}-rs-{line}.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("line {line}: {error}\n{printed}"));
    serde_json::from_str(&text).expect("a report")
}

#[test]
fn the_verdict_is_in_the_name() {
    // With the standard library instrumented some tests have too many schedules for a test of this tool.
    let (reports, printed) = run("std", &Settings { time_max: Some(3.0), ..Settings::default() });
    let tests = tests(&root().join("corpus/rust/tests/std.rs"), "selvedge::explore(");
    assert!(tests.len() >= 10);
    for (name, line) in tests {
        let report = read(&reports, "std", line, &printed);
        let test = &report.tests[0];
        let verdict = VERDICTS.iter().find(|verdict| name.starts_with(*verdict)).expect("a verdict");
        let found = test.findings.first();
        println!("{name}: {} runs, {:?}, {:?}", test.runs, test.coverage, found.map(|finding| &finding.message));
        assert_eq!(found.map_or("pass", |finding| finding.kind.name()), *verdict, "{name}");
        if *verdict == "pass" {
            assert_ne!(test.coverage, CoverageRecord::Partial, "{name}");
        }
    }
}

#[test]
fn objects_get_the_verdict_of_their_name() {
    let (reports, printed) = run("objects", &Settings { time_max: Some(10.0), ..Settings::default() });
    let tests = tests(&root().join("corpus/rust/tests/objects.rs"), "selvedge::object");
    assert!(tests.len() >= 10);
    assert!(printed.contains(&format!("{} passed; 0 failed", tests.len())), "{printed}");
    for (name, line) in tests {
        let report = read(&reports, "objects", line, &printed);
        let object = &report.objects[0];
        let found = object.findings.first().map_or("pass", |finding| finding.kind.name());
        println!("{name}: {found}, {} matrices, {} runs, {:.3} s", object.matrices, object.runs, object.cpu_seconds);
        assert!(name.starts_with(found), "{name}: {found}\n{printed}");
        assert!(found != "pass" || object.complete, "{name}: {:?}", object.limit);
    }
}
