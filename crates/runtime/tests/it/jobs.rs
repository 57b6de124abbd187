//! A search that several processes share sees what one alone sees, however it is cut into parts.

use std::path::{Path, PathBuf};

use selvedge_protocol::{Search, Settings, TestReport};

use crate::build::{build, programs, root, scratch, session, settings};

/// What does not depend on the clock.
fn timeless(mut tests: Vec<TestReport>) -> Vec<TestReport> {
    tests.iter_mut().for_each(|test| (test.cpu_seconds, test.spared) = (0.0, 0));
    tests
}

/// Runs a program with each number of workers, in the finest parts; what all of them saw.
fn check(path: &Path, searches: &[Settings]) -> Vec<TestReport> {
    let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
    let verdict = path.parent().and_then(Path::file_name).expect("a directory").to_string_lossy().into_owned();
    let directory = scratch(&format!("jobs-{verdict}-{name}"));
    let program = build(path, &[], &directory);
    let mut all = Vec::new();
    for search in searches {
        let run = |jobs: u32| {
            let settings = Settings { jobs, slice: 0.0, histories: true, ..search.clone() };
            timeless(session(&program, &settings, &directory).report.tests)
        };
        let alone = run(1);
        for jobs in [2, 4] {
            assert_eq!(run(jobs), alone, "{} with {jobs} workers, {:?}", path.display(), search.search);
        }
        all.extend(alone);
    }
    all
}

/// Those that repeat themselves, and do not wait for the clock.
fn repeating() -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = programs().into_iter().map(|(path, _)| path).collect();
    paths.retain(|path| {
        let path = path.to_string_lossy();
        !["/nondeterminism/", "/uncontrolled/", "/step-limit/"].iter().any(|kind| path.contains(kind))
    });
    paths
}

#[test]
fn the_number_of_workers_does_not_matter() {
    let search = |search| Settings { runs_max: 1_000, ..settings(search) };
    let searches = [
        search(Search::Portfolio),
        search(Search::Bounded),
        Settings { runs_max: 300, ..settings(Search::Dfs) },
        Settings { runs_max: 100, seed: 7, ..settings(Search::Random) },
    ];
    let mut findings = 0;
    for path in repeating() {
        findings += check(&path, &searches).iter().map(|test| test.findings.len()).sum::<usize>();
    }
    assert!(findings > 50, "{findings}");
}

#[test]
fn limits_and_histories_are_those_of_one_worker() {
    let path = root().join("crates/runtime/tests/programs/operations.c");
    let mut seen = Vec::new();
    for runs_max in [1, 15, 16, 17, 100, 345, u64::MAX] {
        for search in [Search::Dfs, Search::Bounded, Search::Portfolio, Search::Pct] {
            let runs_max = if search == Search::Pct { runs_max.min(1000) } else { runs_max };
            seen.extend(check(&path, &[Settings { runs_max, ..settings(search) }]));
        }
    }
    assert!(seen.iter().any(|test| test.histories > 3), "histories are counted");
}
