//! Numbers of equivalence classes that are known from elsewhere.

use selvedge_driver::{CoverageRecord, Search, Settings, TestReport};

use crate::build::{build, root, scratch, session, settings};

fn see(name: &str, flags: &[&str], retries: bool) -> TestReport {
    let directory = scratch(&format!("known-{name}-{}-{retries}", flags.join("-")));
    let program = build(&root().join(format!("crates/runtime/tests/programs/{name}.c")), flags, &directory);
    let settings = Settings { spins: false, retries, ..settings(Search::Dpor) };
    let session = session(&program, &settings, &directory);
    let [test] = session.report.tests.as_slice() else { panic!("one test") };
    assert_eq!(test.findings, []);
    assert_eq!((test.coverage, test.redundant), (CoverageRecord::Exhaustive, 0));
    test.clone()
}

fn check(name: &str, flags: &[&str], runs: u64, (runs_max, blocked): (u64, u64)) {
    let all = see(name, flags, false);
    assert_eq!((all.runs, all.blocked), (runs, 0));
    let some = see(name, flags, true);
    println!("{name} {flags:?}: {} of {} runs, {} blocked, {} of {} s", some.runs, all.runs, some.blocked, some.cpu_seconds, all.cpu_seconds);
    assert_eq!((some.runs, some.blocked), (runs_max, blocked));
}

#[test]
fn treiber() {
    check("treiber", &[], 46, (30, 8));
    check("treiber", &["-DTHREADS=3"], 68_892, (8_268, 3_456));
}

#[test]
fn michael_scott() {
    check("michael_scott", &[], 222, (64, 48));
}
