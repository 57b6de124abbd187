//! The reduction loses no history: what it sees is what plain depth-first search sees.
//!
//! `SELVEDGE_CAMPAIGN=1` gives plain search more runs, so that more programs are small enough for it.

use std::collections::BTreeSet;

use selvedge_driver::Program;
use selvedge_protocol::{CoverageRecord, Search, Settings, TestReport};

use crate::build::{build, campaign, marks, programs, root, scratch, session, settings};

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

/// What is found, whatever run it is found in.
pub fn kinds(test: &TestReport) -> BTreeSet<&'static str> {
    test.findings.iter().map(|finding| finding.kind.name()).collect()
}

/// The program with the library that marks its threads.
fn preloaded(program: Program) -> Program {
    let preload = format!("LD_PRELOAD={}", marks().display());
    Program {
        path: "/usr/bin/env".into(),
        arguments: vec![preload, program.path.display().to_string()],
        identity: String::new(),
    }
}

/// Every program of the corpus that plain search can exhaust, each of its threads marked as one operation.
#[test]
fn on_the_corpus_too() {
    let header = root().join("crates/runtime/tests/programs/marks.h").display().to_string();
    let (mut compared, mut whole) = (0, 0);
    for (path, verdict) in programs() {
        // Some end at once, some have no end, one does not repeat itself.
        let skipped = ["uncontrolled", "nondeterminism", "step-limit"];
        if skipped.contains(&verdict.as_str()) {
            continue;
        }
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let directory = scratch(&format!("histories-{verdict}-{name}"));
        let program = match path.extension() {
            Some(c) if c == "c" => build(&path, &["-include", &header], &directory),
            // Threads of C++ are made inside of its library.
            _ => preloaded(build(&path, &[], &directory)),
        };
        let runs_max = match verdict.as_str() {
            _ if campaign() => RUNS_OF_CAMPAIGN,
            "pass" => RUNS_MAX,
            _ => RUNS_OF_FAILING,
        };
        let see = |search| see(&program, search, runs_max, &directory);
        for (all, reduced) in see(Search::Dfs).iter().zip(&see(Search::Dpor)) {
            let name = format!("{verdict}/{name} {}", all.test);
            if all.coverage != CoverageRecord::Exhaustive {
                println!("{name}: not compared, {} runs, {} histories, {:?}", all.runs, all.histories, all.coverage);
                continue;
            }
            assert_eq!(kinds(all), kinds(reduced), "{name}");
            assert_eq!(reduced.coverage, CoverageRecord::Exhaustive, "{name}");
            // A failure ends its run, and what would have followed is not known to be in a race: other runs of a program that fails may be left out.
            if all.findings.is_empty() {
                assert_eq!(all.history_texts, reduced.history_texts, "{name}");
                whole += 1;
            } else {
                let known = |text| all.history_texts.contains(text);
                assert!(reduced.history_texts.iter().all(known), "{name}");
            }
            println!("{name}: {} histories, {} runs reduced, {} plain", all.histories, reduced.runs, all.runs);
            compared += 1;
        }
    }
    println!("{compared} tests compared, {whole} of them without findings");
    assert!(compared >= 45 && whole >= 25, "{compared} tests were small enough, {whole} without findings");
}

/// What depends on who is first is found by the reduction whenever plain search finds it: threads left over, objects that are destroyed while
/// somebody uses them, counts that are only looked at.
#[test]
fn reduced_and_plain_search_have_the_same_verdicts() {
    let directory = scratch("late");
    let program = build(&root().join("crates/runtime/tests/programs/late.c"), &[], &directory);
    let see = |search, retries| {
        let settings = Settings { retries, runs_max: RUNS_MAX, preemptions: 4, ..settings(search) };
        session(&program, &settings, &directory).report.tests
    };
    let all = see(Search::Dfs, true);
    assert!(all.len() >= 25, "{}", all.len());
    let failing = all.iter().filter(|test| !test.findings.is_empty()).count();
    assert!(failing >= 20 && failing < all.len(), "{failing} of {} fail", all.len());
    for (search, retries) in [(Search::Dpor, true), (Search::Dpor, false), (Search::Bounded, true)] {
        for (all, reduced) in all.iter().zip(&see(search, retries)) {
            assert_eq!(all.test, reduced.test);
            assert_eq!(kinds(all), kinds(reduced), "{} under {search:?}", all.test);
        }
    }
}
