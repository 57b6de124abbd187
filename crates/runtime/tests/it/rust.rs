//! Rust tests, built by stable cargo with the flags of the driver.

use std::path::Path;
use std::process::Command;

use selvedge_driver::rust::{TARGET, cargo_environment, prepare_sysroot};
use selvedge_driver::{CoverageRecord, Report, SETTINGS_VARIABLE, Settings};

use crate::build::{root, runtime, scratch};

/// The verdict that a test's name starts with.
const VERDICTS: [&str; 6] = ["pass", "panic", "lost-wakeup", "deadlock", "use-after-free", "leaked-thread"];

/// The name and the line of every test of the file.
fn tests(path: &Path) -> Vec<(String, usize)> {
    let text = std::fs::read_to_string(path).expect("the tests");
    let mut name = String::new();
    let mut tests = Vec::new();
    for (line, code) in text.lines().enumerate() {
        if let Some(rest) = code.strip_prefix("fn ") {
            name = rest.split('(').next().unwrap_or_default().replace('_', "-");
        }
        if code.contains("selvedge::explore(") {
            tests.push((name.clone(), line + 1));
        }
    }
    tests
}

#[test]
fn the_verdict_is_in_the_name() {
    let directory = scratch("rust");
    let reports = directory.join("reports");
    let _ = std::fs::remove_dir_all(&reports);
    std::fs::create_dir_all(&reports).expect("a directory for reports");
    let sysroot = prepare_sysroot(&scratch("sysroot")).unwrap_or_else(|error| panic!("{error}"));
    // With the standard library instrumented some tests have too many schedules for a test of this tool.
    let settings = Settings { time_max: Some(3.0), ..Settings::default() };
    let project = root().join("corpus/rust");
    let output = Command::new(env!("CARGO"))
        .args(["test", "--no-fail-fast", "--offline", "--target", TARGET, "--test", "std", "--manifest-path"])
        .arg(project.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(directory.join("target"))
        .envs(cargo_environment(&runtime(), Some(&sysroot), &reports))
        .env("RUST_BACKTRACE", "0")
        .env(SETTINGS_VARIABLE, serde_json::to_string(&settings).expect("settings"))
        .output()
        .expect("cargo runs");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let tests = tests(&project.join("tests/std.rs"));
    assert!(tests.len() >= 10);
    for (name, line) in tests {
        let path = reports.join(format!("tests-std-rs-{line}.json"));
        let text =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name} at {line}: {error}\n{printed}"));
        let report: Report = serde_json::from_str(&text).expect("a report");
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
