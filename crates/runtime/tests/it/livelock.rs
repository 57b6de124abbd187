//! A livelock is one in which nobody can ever leave; waiting for a thread that was preempted is none.

use selvedge_driver::{CoverageRecord, FindingKind, Search};

use crate::build::{build, root, scratch, session, settings};

/// The runs of a test are few enough for every strategy.
const FEW: u64 = 300;

const STRATEGIES: [Search; 5] = [Search::Bounded, Search::Dpor, Search::Random, Search::Pct, Search::Portfolio];

#[test]
fn a_loop_that_nobody_ends_is_named() {
    for name in ["nobody_sets_it", "busy"] {
        let directory = scratch(&format!("livelock-{name}"));
        let path = root().join(format!("corpus/programs/livelock/{name}.c"));
        let program = build(&path, &[], &directory);
        let text = std::fs::read_to_string(&path).expect("the program");
        let head = text.lines().position(|line| line.trim_start().starts_with("while")).expect("a loop") as u32 + 1;
        for search in STRATEGIES {
            let session = session(&program, &settings(search), &directory);
            let [finding] = session.report.tests[0].findings.as_slice() else { panic!("{name} under {search:?}") };
            assert_eq!(finding.kind, FindingKind::Livelock, "{name} under {search:?}: {}", finding.message);
            let place = finding.place.as_ref().expect("a place");
            let line = crate::source::line_of(place);
            assert!(
                (head..=head + 2).contains(&line),
                "{name} under {search:?}: line {line}, the loop begins at {head}"
            );
        }
    }
}

/// Two threads spin on what a third holds, which may be preempted at any point.
#[test]
fn spinning_on_a_preempted_thread_is_none() {
    let directory = scratch("livelock-spinners");
    let program = build(&root().join("corpus/programs/pass/spinners.c"), &[], &directory);
    for search in STRATEGIES {
        let settings = selvedge_driver::Settings { runs_max: 2_000, ..settings(search) };
        let test = &session(&program, &settings, &directory).report.tests[0];
        assert_eq!((test.findings.as_slice(), test.truncated), ([].as_slice(), 0), "{search:?}");
        assert_ne!(test.coverage, CoverageRecord::Partial, "{search:?}");
    }
}

/// Loops whose rounds all differ, so that none is recognised: a schedule that never lets the others go is no livelock. The reduction cannot go through
/// all rounds, and says so.
#[test]
fn unfair_schedules_are_none() {
    let directory = scratch("livelock-loops");
    let program = build(&root().join("crates/runtime/tests/programs/loops.c"), &[], &directory);
    for search in STRATEGIES {
        for name in ["counting", "looking_at_the_clock", "polling", "taking_turns"] {
            let few = matches!(search, Search::Random | Search::Pct) || name == "taking_turns";
            let runs_max = if few { FEW } else { u64::MAX };
            let settings =
                selvedge_driver::Settings { test: Some(name.into()), runs_max, time_max: None, ..settings(search) };
            let test = &session(&program, &settings, &directory).report.tests[0];
            assert_eq!((test.findings.as_slice(), test.truncated), ([].as_slice(), 0), "{name} under {search:?}");
            if few {
                continue;
            }
            match (search, test.unfair) {
                (Search::Dpor, cut) => assert!(cut > 0 && test.coverage == CoverageRecord::Partial, "{name}"),
                (Search::Portfolio, 1..) => assert_eq!(test.coverage, CoverageRecord::Preemptions(2), "{name}"),
                (_, cut) => assert!(cut == 0 && test.coverage != CoverageRecord::Partial, "{name} under {search:?}"),
            }
        }
    }
}

/// Both may give way to each other for ever, each of them having its turns: that is a livelock.
#[test]
fn a_fair_schedule_without_an_end_is_one() {
    let directory = scratch("livelock-polite");
    let program = build(&root().join("crates/runtime/tests/programs/loops.c"), &[], &directory);
    let settings =
        selvedge_driver::Settings { test: Some("polite".into()), steps_max: 2_000, ..settings(Search::Dpor) };
    let test = &session(&program, &settings, &directory).report.tests[0];
    let kinds: Vec<FindingKind> = test.findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [FindingKind::Livelock]);
}

/// Locks that are taken together, in any order: that two threads can keep each other from it for ever is no livelock of the program, and not gone
/// through. The reduction comes to an end, says that it did not see everything, and finds what is wrong.
#[test]
fn several_locks_at_once_are_none() {
    let directory = scratch("livelock-several-locks");
    let program = build(&root().join("crates/runtime/tests/programs/several_locks.cc"), &[], &directory);
    for search in STRATEGIES {
        let runs_max = if matches!(search, Search::Random | Search::Pct) { FEW } else { u64::MAX };
        let settings = selvedge_driver::Settings { runs_max, ..settings(search) };
        for test in &session(&program, &settings, &directory).report.tests {
            let name = format!("{} under {search:?}", test.test);
            let kinds: Vec<FindingKind> = test.findings.iter().map(|finding| finding.kind).collect();
            if test.test == "wrong" {
                assert_eq!(kinds, [FindingKind::Assertion], "{name}");
                continue;
            }
            assert_eq!((kinds.as_slice(), test.truncated, test.redundant), ([].as_slice(), 0, 0), "{name}");
            let expected = match (search, test.test.as_str()) {
                (Search::Dpor | Search::Portfolio, "same_order") => CoverageRecord::Exhaustive,
                (Search::Dpor, _) => CoverageRecord::Partial,
                (Search::Bounded | Search::Portfolio, _) => CoverageRecord::Preemptions(2),
                (_, _) => CoverageRecord::Sampled(FEW),
            };
            assert_eq!(test.coverage, expected, "{name}");
            if search == Search::Dpor {
                println!("{}: {} runs, {} given up", test.test, test.runs, test.unfair);
                assert_eq!(test.unfair > 0, test.test != "same_order", "{name}");
                assert!(test.runs < 1_000, "{name}: {} runs", test.runs);
            }
        }
    }
}
