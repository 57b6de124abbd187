//! Numbers of equivalence classes that are known from elsewhere.

use selvedge_protocol::{CoverageRecord, Search, Settings, TestReport};

use crate::build::{build, root, scratch, session, settings};

fn see(source: &str, flags: &[&str], retries: bool) -> TestReport {
    let name = source.replace(['/', '.'], "-");
    let directory = scratch(&format!("known-{name}-{}-{retries}", flags.join("-")));
    let program = build(&root().join(source), flags, &directory);
    let settings = Settings { spins: false, retries, ..settings(Search::Dpor) };
    let session = session(&program, &settings, &directory);
    let [test] = session.report.tests.as_slice() else { panic!("one test") };
    assert_eq!(test.findings, []);
    assert_eq!((test.coverage, test.redundant), (CoverageRecord::Exhaustive, 0));
    test.clone()
}

/// How many runs there are, and how many of them end waiting, without and with loops recognised that only try again.
fn check(source: &str, flags: &[&str], all: u64, fewer: (u64, u64)) {
    let seen = see(source, flags, false);
    assert_eq!((seen.runs, seen.blocked), (all, 0), "{source}");
    let seen = see(source, flags, true);
    assert_eq!((seen.runs, seen.blocked), fewer, "{source}");
}

#[test]
fn treiber() {
    check("crates/runtime/tests/programs/treiber.c", &[], 46, (30, 8));
    check("crates/runtime/tests/programs/treiber.c", &["-DTHREADS=3"], 68_892, (8_268, 3_456));
}

/// The same queue, written down in two ways that compilers make different code of.
#[test]
fn michael_scott() {
    check("corpus/programs/pass/michael_scott.c", &[], 222, (64, 48));
    check("crates/runtime/tests/programs/queue.c", &[], 222, (64, 48));
}
