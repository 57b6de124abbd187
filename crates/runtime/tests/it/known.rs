//! Numbers of equivalence classes that are known from elsewhere.

use selvedge_driver::{CoverageRecord, Search, Settings};

use crate::build::{build, root, scratch, session, settings};

fn check(name: &str, flags: &[&str], runs: u64) {
    let directory = scratch(&format!("known-{name}-{runs}"));
    let program = build(&root().join(format!("crates/runtime/tests/programs/{name}.c")), flags, &directory);
    let settings = Settings { spins: false, ..settings(Search::Dpor) };
    let session = session(&program, &settings, &directory);
    let [test] = session.report.tests.as_slice() else { panic!("one test") };
    assert_eq!(test.findings, []);
    assert_eq!(test.coverage, CoverageRecord::Exhaustive);
    assert_eq!((test.runs, test.redundant, test.blocked), (runs, 0, 0));
}

#[test]
fn treiber() {
    check("treiber", &[], 46);
    check("treiber", &["-DTHREADS=3"], 68_892);
}

#[test]
fn michael_scott() {
    check("michael_scott", &[], 222);
}
