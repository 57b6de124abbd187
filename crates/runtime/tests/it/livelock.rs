//! A livelock is one in which nobody can ever leave; waiting for a thread that was preempted is none.

use selvedge_needs::{Need, has, has_cpp};
use selvedge_protocol::{CoverageRecord, FindingKind, Search};

use crate::build::{build, build_with, compilers_with_clang, root, scratch, session, settings};

/// The runs of a test are few enough for every strategy.
const FEW: u64 = 300;

const STRATEGIES: [Search; 5] = [Search::Bounded, Search::Dpor, Search::Random, Search::Pct, Search::Portfolio];

#[test]
fn a_loop_that_nobody_ends_is_named() {
    for (name, place) in [("nobody_sets_it", "corpus/programs/livelock"), ("busy", "crates/runtime/tests/programs")] {
        let directory = scratch(&format!("livelock-{name}"));
        let path = root().join(place).join(format!("{name}.c"));
        let program = build(&path, &[], &directory);
        let text = std::fs::read_to_string(&path).expect("the program");
        let head = text.lines().position(|line| line.trim_start().starts_with("while")).expect("a loop") as u32 + 1;
        for search in STRATEGIES {
            let session = session(&program, &settings(search), &directory);
            let [finding] = session.report.tests[0].findings.as_slice() else { panic!("{name} under {search:?}") };
            assert_eq!(finding.kind, FindingKind::Livelock, "{name} under {search:?}: {}", finding.cause);
            let place = finding.place.as_ref().expect("a place");
            let line = crate::source::line_of(place);
            assert!(
                (head..=head + 2).contains(&line),
                "{name} under {search:?}: line {line}, the loop begins at {head}"
            );
        }
    }
}

/// The tests of a program that look at something under a lock: by name, whether their turns are recognised.
fn polls(name: &str) -> bool {
    !name.starts_with("atomic") && !name.starts_with("trying") && name != "giving_first"
}

/// Whoever looks under a lock until another has set something under it lets the other in, sooner or later. That is said for certain where turns are recognised; where nobody sets it,
/// it is a livelock, whichever lock it is.
#[test]
fn looking_under_a_lock_is_none() {
    let clang = compilers_with_clang().into_iter().find(|name| name.contains("clang"));
    let cpp = has(has_cpp(), Need::Cpp, "polling.cc").then_some(("polling.cc", "gcc"));
    let with_clang = clang.as_deref().map(|cc| ("polling.c", cc));
    for (file, cc) in [("polling.c", "gcc")].into_iter().chain(cpp).chain(with_clang) {
        let directory = scratch(&format!("livelock-{file}-{cc}"));
        let program = build_with(cc, &root().join("crates/runtime/tests/programs").join(file), &[], &directory);
        for search in [Search::Portfolio, Search::Dpor, Search::Dfs, Search::Bounded] {
            // Those that are not recognised have no end of rounds.
            let settings = selvedge_protocol::Settings { runs_max: 60_000, time_max: Some(0.5), ..settings(search) };
            let report = session(&program, &settings, &directory).report;
            assert!(report.tests.len() >= if file == "polling.c" { 40 } else { 3 }, "{file}");
            for test in report.tests {
                // On a busy machine the time may be up for those that have an end, too.
                let again = selvedge_protocol::Settings {
                    test: Some(test.test.clone()),
                    time_max: Some(60.0),
                    ..settings.clone()
                };
                let in_time = !polls(&test.test) || test.coverage != CoverageRecord::Partial;
                let test = if in_time { test } else { session(&program, &again, &directory).report.tests.remove(0) };
                let name = format!("{} of {file} under {search:?} with {cc}", test.test);
                let kinds: Vec<FindingKind> = test.findings.iter().map(|finding| finding.kind).collect();
                if test.test.starts_with("atomic") && test.test.ends_with("two_and_nobody") {
                    // Two who fight over a lock made of atomics are not told from one who waits for it.
                    assert!(kinds.is_empty() || kinds == [FindingKind::Livelock], "{name}");
                    continue;
                }
                if test.test.ends_with("nobody") {
                    assert_eq!(kinds, [FindingKind::Livelock], "{name}");
                    continue;
                }
                assert_eq!(kinds, [], "{name}");
                if polls(&test.test) {
                    assert_eq!((test.unfair, test.truncated), (0, 0), "{name}");
                    assert_ne!(test.coverage, CoverageRecord::Partial, "{name}");
                }
                if polls(&test.test) && search == Search::Dpor {
                    assert_eq!(test.coverage, CoverageRecord::Exhaustive, "{name}");
                }
            }
        }
    }
}

/// A count that is looked at, or that lies on the stack as clang has it without optimisation, is part of the state: nobody knows whether it ends the loop.
#[test]
fn a_count_that_may_be_looked_at_is_no_proof() {
    let directory = scratch("livelock-counts");
    let programs = [("gcc", "corpus/programs/step-limit/busy.c"), ("clang", "crates/runtime/tests/programs/busy.c")];
    let compilers = compilers_with_clang();
    for (cc, path) in programs.into_iter().filter(|(cc, _)| compilers.iter().any(|name| name == cc)) {
        let program = build_with(cc, &root().join(path), &[], &directory);
        for search in [Search::Bounded, Search::Dpor, Search::Random] {
            let settings = selvedge_protocol::Settings { runs_max: 3, ..settings(search) };
            let test = &session(&program, &settings, &directory).report.tests[0];
            assert_eq!((test.findings.len(), test.truncated > 0), (0, true), "{path} with {cc} under {search:?}");
        }
    }
}

/// Two threads spin on what a third holds, which may be preempted at any point.
#[test]
fn spinning_on_a_preempted_thread_is_none() {
    let directory = scratch("livelock-spinners");
    let program = build(&root().join("corpus/programs/pass/spinners.c"), &[], &directory);
    for search in STRATEGIES {
        let settings = selvedge_protocol::Settings { runs_max: 2_000, ..settings(search) };
        let test = &session(&program, &settings, &directory).report.tests[0];
        assert_eq!((test.findings.as_slice(), test.truncated), ([].as_slice(), 0), "{search:?}");
        assert_ne!(test.coverage, CoverageRecord::Partial, "{search:?}");
    }
}

/// Loops whose rounds all differ, so that none is recognised: a schedule that never lets the others go is no livelock. The reduction cannot go through
/// all rounds, and says so. One that looks under a lock is recognised.
#[test]
fn unfair_schedules_are_none() {
    let directory = scratch("livelock-loops");
    let program = build(&root().join("crates/runtime/tests/programs/loops.c"), &[], &directory);
    for search in STRATEGIES {
        for name in ["counting", "looking_at_the_clock", "polling", "taking_turns"] {
            let few = matches!(search, Search::Random | Search::Pct) || name == "taking_turns";
            let runs_max = if few { FEW } else { u64::MAX };
            let settings =
                selvedge_protocol::Settings { test: Some(name.into()), runs_max, time_max: None, ..settings(search) };
            let test = &session(&program, &settings, &directory).report.tests[0];
            assert_eq!((test.findings.as_slice(), test.truncated), ([].as_slice(), 0), "{name} under {search:?}");
            if few {
                continue;
            }
            match (search, test.unfair) {
                _ if name == "polling" => {
                    assert!(test.unfair == 0 && test.coverage != CoverageRecord::Partial, "{name}")
                }
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
        selvedge_protocol::Settings { test: Some("polite".into()), steps_max: 2_000, ..settings(Search::Dpor) };
    let test = &session(&program, &settings, &directory).report.tests[0];
    let kinds: Vec<FindingKind> = test.findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [FindingKind::Livelock]);
}

/// Locks that are taken together, in any order: that two threads can keep each other from it for ever is no livelock of the program, and not gone
/// through. The reduction comes to an end, says that it did not see everything, and finds what is wrong.
#[test]
fn several_locks_at_once_are_none() {
    if !has(has_cpp(), Need::Cpp, "std::lock and std::scoped_lock") {
        return;
    }
    let directory = scratch("livelock-several-locks");
    let program = build(&root().join("crates/runtime/tests/programs/several_locks.cc"), &[], &directory);
    for search in STRATEGIES {
        let runs_max = if matches!(search, Search::Random | Search::Pct) { FEW } else { u64::MAX };
        let settings = selvedge_protocol::Settings { runs_max, ..settings(search) };
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
