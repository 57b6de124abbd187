//! `corpus/models`: everything that `proved` claims holds, everything that `refuted` claims does not, and its shortest
//! counterexample is as long as the file beside says.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use selvedge_model::language::Model;
use selvedge_model::{Settings, Verdict};

fn files(directory: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/models").join(directory);
    let mut files: Vec<PathBuf> = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "csp"));
    files.sort();
    assert!(!files.is_empty());
    files
}

/// What came of every assertion, a line each: the verdict and, for a counterexample, its length.
fn outcome(path: &Path, settings: &Settings) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let name = path.file_name().unwrap().to_string_lossy();
    let model = Model::new(&text).unwrap_or_else(|errors| {
        let shown: Vec<String> = errors.iter().map(|error| error.show(&name, &text)).collect();
        panic!("{}", shown.join("\n"))
    });
    let mut lines = Vec::new();
    for number in 0..model.assertions().len() {
        let answer = model.check(number, settings).unwrap_or_else(|trouble| panic!("{name}: {trouble}"));
        lines.push(match (answer.verdict, answer.trace) {
            (Verdict::Pass, _) => "pass".to_owned(),
            (Verdict::Fail, Some(trace)) => {
                format!("fail {}", trace.steps.len())
            }
            (verdict, _) => verdict.name().to_owned(),
        });
    }
    lines
}

#[test]
fn what_is_right_is_proved() {
    let mut wrong = String::new();
    for path in files("proved") {
        let lines = outcome(&path, &Settings::default());
        assert!(!lines.is_empty(), "{} claims nothing", path.display());
        if lines.iter().any(|line| line != "pass") {
            let _ = writeln!(wrong, "{}: {lines:?}", path.display());
        }
    }
    assert_eq!(wrong, "");
}

#[test]
fn what_is_wrong_is_refuted_by_the_shortest_run() {
    let mut wrong = String::new();
    for path in files("refuted") {
        let expected = std::fs::read_to_string(path.with_extension("steps")).unwrap_or_default();
        // A dash stands for a claim without a run that could show it.
        let expected: Vec<String> = expected.lines().map(|steps| format!("fail {steps}").replace(" -", "")).collect();
        for jobs in [1, 2] {
            let lines = outcome(&path, &Settings { jobs, ..Settings::default() });
            if lines != expected {
                let _ = writeln!(wrong, "{} with {jobs} workers: {lines:?}, expected {expected:?}", path.display());
            }
        }
    }
    assert_eq!(wrong, "");
}
