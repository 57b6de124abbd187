//! The reduction loses no history: what it sees is what plain depth-first search sees.
//!
//! `SELVEDGE_CAMPAIGN=1` gives plain search more runs, so that more programs are small enough for it.

use selvedge_driver::{CoverageRecord, Program, Search, Settings, TestReport};

use crate::build::{build, campaign, programs, root, scratch, session, settings};

/// A program that plain search cannot exhaust in so many runs is too large.
const RUNS_MAX: u64 = 30_000;

/// Programs that fail are searched to the end, too; there are many, so only the small ones of them.
const RUNS_OF_FAILING: u64 = 3_000;
const RUNS_OF_CAMPAIGN: u64 = 300_000;

fn see(program: &Program, search: Search, runs_max: u64, directory: &std::path::Path) -> Vec<TestReport> {
    let settings = Settings { histories: true, runs_max, keep_going: true, ..settings(search) };
    session(program, &settings, directory).report.tests
}

#[test]
fn reduced_and_plain_search_see_the_same_histories() {
    let directory = scratch("histories");
    let program = build(&root().join("crates/runtime/tests/programs/operations.c"), &[], &directory);
    let see = |search| see(&program, search, RUNS_MAX, &directory);
    let (all, reduced) = (see(Search::Dfs), see(Search::Dpor));
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
        // Some wait for real, one does not repeat itself, some have no end, some end the process.
        let skipped = ["uncontrolled", "nondeterminism", "livelock", "crash"];
        if skipped.contains(&verdict.as_str()) || path.extension() != Some("c".as_ref()) {
            continue;
        }
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let directory = scratch(&format!("histories-{verdict}-{name}"));
        let program = build(&path, &["-include", &marks.display().to_string()], &directory);
        let runs_max = match verdict.as_str() {
            _ if campaign() => RUNS_OF_CAMPAIGN,
            "pass" => RUNS_MAX,
            _ => RUNS_OF_FAILING,
        };
        let see = |search| see(&program, search, runs_max, &directory);
        for (all, reduced) in see(Search::Dfs).iter().zip(&see(Search::Dpor)) {
            let name = format!("{verdict}/{name} {}", all.test);
            if all.coverage != CoverageRecord::Exhaustive || all.findings.is_empty() && all.histories < 2 {
                println!("{name}: not compared, {} runs, {} histories, {:?}", all.runs, all.histories, all.coverage);
                continue;
            }
            assert_eq!(all.findings.is_empty(), reduced.findings.is_empty(), "{name}");
            assert_eq!(reduced.coverage, CoverageRecord::Exhaustive, "{name}");
            assert_eq!(all.history_texts, reduced.history_texts, "{name}");
            println!("{name}: {} histories, {} runs reduced, {} plain", all.histories, reduced.runs, all.runs);
            compared += 1;
        }
    }
    println!("{compared} tests compared");
    assert!(compared >= 20, "{compared} tests were small enough");
}
