//! A finding comes again, every time.

use selvedge_driver::{RunError, Subject};
use selvedge_protocol::{CoverageRecord, FindingKind, Search, Settings};

use crate::build::{build, root, scratch, session, settings};

#[test]
fn a_hundred_times_out_of_a_hundred() {
    let directory = scratch("replay");
    let program = build(&root().join("corpus/programs/assertion/treiber_aba_pool.c"), &[], &directory);
    let found = session(&program, &settings(Search::Random), &directory);
    let finding = &found.report.tests[0].findings[0];
    assert_eq!(finding.kind, FindingKind::Assertion);
    for _ in 0..100 {
        let again = Subject::Program(program.clone()).replay(finding, &directory).expect("a replay");
        let again = &again.tests[0].findings[0];
        assert_eq!((again.kind, &again.cause, &again.steps), (finding.kind, &finding.cause, &finding.steps));
    }
}

#[test]
fn a_schedule_of_another_program_is_refused() {
    let directory = scratch("replay-other");
    let program = build(&root().join("corpus/programs/pass/peterson.c"), &[], &directory);
    let settings = Settings { replay: Some("0*3 1*2 2*9".into()), ..settings(Search::Dfs) };
    let test = &session(&program, &settings, &directory).report.tests[0];
    assert_eq!(test.coverage, CoverageRecord::Partial);
    assert_eq!((test.findings.len(), test.unknowns[0].kind), (0, FindingKind::Nondeterminism));
}

#[test]
fn a_finding_of_another_build_is_refused() {
    let directory = scratch("replay-build");
    let source = root().join("corpus/programs/assertion/lost_update.c");
    let program = build(&source, &[], &directory);
    let found = session(&program, &settings(Search::Dpor), &directory);
    let finding = &found.report.tests[0].findings[0];
    assert_eq!(finding.program.len(), 33, "two hashes");
    let other = build(&source, &["-DOTHER", "-O2"], &scratch("replay-other-build"));
    match Subject::Program(other).replay(finding, &directory) {
        Err(RunError::OtherProgram { wanted, found }) => assert!(wanted == finding.program && found != wanted),
        other => panic!("{other:?}"),
    }
}
