//! The reduction loses no history: what it sees is what plain depth-first search sees.

use selvedge_driver::{CoverageRecord, Program, Search, Settings, TestReport};

use crate::build::{build, programs, root, scratch, session, settings};

/// A program that plain search cannot exhaust in so many runs is too large.
const RUNS_MAX: u64 = 30_000;

fn see(program: &Program, search: Search, directory: &std::path::Path) -> Vec<TestReport> {
    let settings = Settings { histories: true, runs_max: RUNS_MAX, ..settings(search) };
    session(program, &settings, directory).report.tests
}

#[test]
fn reduced_and_plain_search_see_the_same_histories() {
    let directory = scratch("histories");
    let program = build(&root().join("crates/runtime/tests/programs/operations.c"), &[], &directory);
    let (all, reduced) = (see(&program, Search::Dfs, &directory), see(&program, Search::Dpor, &directory));
    assert_eq!(all.len(), 2);
    for (all, reduced) in all.iter().zip(&reduced) {
        assert_eq!((all.coverage, reduced.coverage), (CoverageRecord::Exhaustive, CoverageRecord::Exhaustive));
        assert!(all.histories > 3, "{}", all.histories);
        assert_eq!(all.history_texts, reduced.history_texts, "{}", all.test);
        assert!(reduced.runs < all.runs && reduced.redundant == 0, "{} of {} runs", reduced.runs, all.runs);
        println!("{}: {} histories, {} runs reduced, {} plain", all.test, all.histories, reduced.runs, all.runs);
    }
}

/// Every program of the corpus that plain search can exhaust, each of its threads marked as one operation.
#[test]
fn on_the_corpus_too() {
    let marks = root().join("crates/runtime/tests/programs/marks.h");
    let mut compared = 0;
    for (path, verdict) in programs() {
        // One waits for real, one does not repeat itself.
        if ["uncontrolled", "nondeterminism"].contains(&verdict.as_str()) || path.extension() != Some("c".as_ref()) {
            continue;
        }
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let directory = scratch(&format!("histories-{verdict}-{name}"));
        let program = build(&path, &["-include", &marks.display().to_string()], &directory);
        let (all, reduced) = (see(&program, Search::Dfs, &directory), see(&program, Search::Dpor, &directory));
        for (all, reduced) in all.iter().zip(&reduced) {
            assert_eq!(all.findings.is_empty(), reduced.findings.is_empty() || all.runs == RUNS_MAX, "{name}");
            if all.coverage != CoverageRecord::Exhaustive || all.histories < 2 {
                continue;
            }
            assert_eq!(reduced.coverage, CoverageRecord::Exhaustive, "{name}");
            assert_eq!(all.history_texts, reduced.history_texts, "{name}");
            println!("{name}: {} histories, {} runs reduced, {} plain", all.histories, reduced.runs, all.runs);
            compared += 1;
        }
    }
    assert!(compared >= 10, "{compared} programs were small enough");
}
