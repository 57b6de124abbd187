//! Loops whose round is one access: no run differs from another in how often a thread looked in vain.
//!
//! The numbers are those of the classes, told from the program: a flag is seen up in one way, a lock is taken in as many orders as there are of its threads. What is left over
//! at a lock that is looked at and then tried is that a thread may see it free, and not get it.

use selvedge_protocol::{CoverageRecord, Search};

use crate::build::{build_with, compilers, root, scratch, session, settings};

/// The runs that `dpor` makes of each test.
const RUNS: [(&str, u64); 17] = [
    ("flag_1", 1),
    ("flag_2", 1),
    ("flag_3", 1),
    ("flag_4", 1),
    ("counting_flag", 1),
    ("flag_twice", 2),
    ("ticket_2", 2),
    ("ticket_3", 6),
    ("ticket_4", 24),
    ("ticket_yields_3", 6),
    ("tas_2", 2),
    ("tas_3", 6),
    ("cas_2", 2),
    ("cas_3", 6),
    ("ttas_2", 6),
    ("mcs_2", 6),
    ("mcs_3", 66),
];

#[test]
fn a_look_in_vain_is_no_run_of_its_own() {
    let directory = scratch("waits");
    let source = root().join("crates/runtime/tests/programs/waits.c");
    let mut wrong = Vec::new();
    for cc in compilers() {
        for level in ["-O1", "-O2"] {
            let program = build_with(&cc, &source, &[level], &directory);
            for (test, runs) in RUNS {
                let settings = selvedge_protocol::Settings {
                    test: Some(test.into()),
                    runs_max: 10 * runs,
                    ..settings(Search::Dpor)
                };
                let report = session(&program, &settings, &directory).report;
                let [report] = report.tests.as_slice() else { panic!("{test} is a test") };
                let name = format!("{test} with {cc} {level}");
                // Clang takes the first round of this loop out of it, so that the first look of a thread is at another place than those that follow.
                let runs = if test == "ticket_yields_3" && cc != "gcc" { 36 } else { runs };
                assert_eq!(report.findings, [], "{name}");
                if (report.coverage, report.redundant, report.runs) != (CoverageRecord::Exhaustive, 0, runs) {
                    wrong.push(format!("{name}: {} {:?} {}", report.runs, report.coverage, report.redundant));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
