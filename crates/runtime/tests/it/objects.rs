//! Objects in C: the examples of the Line-Up paper, with the verdicts that it gives.

use std::path::PathBuf;

use selvedge_driver::{Program, run};
use selvedge_protocol::{ObjectFinding, ObjectKind, ObjectReport, Search, Settings, Why};

use crate::build::{build, scratch, settings};
use crate::confirm::{confirm, serial_histories};

/// The program of that name, in a directory of the test's own.
fn program(name: &str, test: &str) -> (Program, PathBuf) {
    let directory = scratch(&format!("objects-{test}-{name}"));
    let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/objects").join(name);
    (build(&source, &[], &directory), directory)
}

fn check_with(program: &(Program, PathBuf), object: &str, settings: Settings, options: &[&str]) -> ObjectReport {
    let mut settings = Settings { test: Some(object.into()), ..settings };
    settings.object = crate::build::options(options);
    let report = run_once(program, object, &settings);
    report.findings.iter().for_each(|found| confirmed(program, object, found));
    report
}

fn run_once(program: &(Program, PathBuf), object: &str, settings: &Settings) -> ObjectReport {
    let session = run(&program.0, settings, &program.1).unwrap_or_else(|error| panic!("{object}: {error}"));
    assert_eq!(session.report.error, None, "{object}");
    session.report.objects.into_iter().next().expect("the object")
}

/// What is found of an object is looked at again, by other means.
fn confirmed(program: &(Program, PathBuf), object: &str, found: &ObjectFinding) {
    confirm(found, || {
        let file = program.1.join("confirmed.json");
        let mut settings = Settings { test: Some(object.into()), ..found.finding.settings.clone() };
        settings.object.write_observations = Some(file.display().to_string());
        run_once(program, object, &settings);
        serial_histories(&std::fs::read_to_string(&file).expect("the observation file"), &found.matrix)
    });
}

fn check(program: &(Program, PathBuf), object: &str, options: &[&str]) -> ObjectReport {
    let report = check_with(program, object, settings(Search::Portfolio), options);
    assert_eq!(report.error, None, "{object}");
    report
}

#[track_caller]
fn found(report: &ObjectReport, kind: ObjectKind, matrix: &str) -> ObjectFinding {
    let found = report.findings.first().unwrap_or_else(|| panic!("{}: nothing found: {report:?}", report.object));
    assert_eq!((found.kind, found.matrix.as_str()), (kind, matrix), "{}", crate::build::told(found));
    found.clone()
}

#[track_caller]
fn passes(report: &ObjectReport) {
    let texts: Vec<String> = report.findings.iter().map(crate::build::told).collect();
    assert!(report.findings.is_empty(), "{}: {texts:?}", report.object);
    assert!(report.complete, "{}: {:?}", report.object, report.limit);
}

#[test]
fn the_examples_of_the_paper() {
    let paper = program("paper.c", "the_examples");
    let quick = ["auto 2"];
    // Figure 1: an element is inside, and TryTake fails because somebody else has the lock.
    let figure1 = check(&paper, "figure1", &["test Add(200), TryTake() | Add(400), TryTake()"]);
    let violation = found(&figure1, ObjectKind::NotLinearizable, "Add(200) | Add(400), TryTake()");
    assert!(
        violation.explanation.cells()[2] == ["Add(400)", "TryTake() -> fail"],
        "{:?}",
        violation.explanation.cells()
    );
    passes(&check(&paper, "figure1_fixed", &quick));
    // Section 2.2.1.
    let counter = check(&paper, "counter1", &["test inc(), get() | inc()"]);
    let violation = found(&counter, ObjectKind::NotLinearizable, "inc(), get() | inc()");
    assert_eq!(violation.explanation.cells()[1], ["inc()", "get() -> 1"]);
    // Figure 4: every history is linearizable as definition 1 has it; only the operation that waits gives it away.
    let counter = check(&paper, "counter2", &quick);
    let violation = found(&counter, ObjectKind::Stuck, "inc() | get()");
    assert_eq!(violation.explanation.cells()[1..], [["inc() waits for ever"], ["get() -> 0"]]);
    passes(&check(&paper, "counter2_alone", &quick));
    // Figure 9.
    let event = check(&paper, "figure9", &["test Wait() | Set(), Reset(), Set()"]);
    let violation = found(&event, ObjectKind::Stuck, "Wait() | Set(), Reset(), Set()");
    assert_eq!(violation.explanation.cells()[1], ["Wait() waits for ever"]);
    assert_eq!(violation.explanation.cells()[2], ["Set()", "Reset()", "Set()"]);
    passes(&check(&paper, "figure9_fixed", &["test Wait() | Set(), Reset(), Set()"]));
    passes(&check(&paper, "figure9_fixed", &quick));
}

/// The 2x2 of figure 7: its observation sets, exactly, through the file that phase 1 writes.
#[test]
fn figure_7_has_the_observation_sets_of_the_paper() {
    let paper = program("paper.c", "figure_7_has");
    let matrix = "test Add(200), Add(400) | Take(), TryTake()";
    for (name, stuck) in [("figure7.xml", "<history>1[ #</history>"), ("figure7.json", "null")] {
        let file = paper.1.join(name);
        let write = format!("write-observations {}", file.display());
        let report = check(&paper, "figure7", &[matrix, &write]);
        passes(&report);
        assert_eq!(report.serial_histories, 4);
        let text = std::fs::read_to_string(&file).expect("the observation file");
        assert!(text.contains(stuck), "{text}");
        if name.ends_with("xml") {
            let groups: Vec<&str> = text.split("<observation>").skip(1).collect();
            let histories = |group: &str| group.matches("<history>").count();
            assert_eq!(groups.iter().map(|group| histories(group)).collect::<Vec<_>>(), [2, 1, 1], "{text}");
            assert!(groups[0].contains("<op id=\"4\" name=\"TryTake\">result=\"400\"</op>"), "{text}");
            assert!(groups[0].contains("<history>1[ ]1 2[ ]2 3[ ]3 4[ ]4</history>"), "{text}");
            assert!(groups[0].contains("<history>1[ ]1 3[ ]3 2[ ]2 4[ ]4</history>"), "{text}");
            assert!(groups[1].contains("<op id=\"4\" name=\"TryTake\">result=\"fail\"</op>"), "{text}");
            assert!(groups[1].contains("<history>1[ ]1 3[ ]3 4[ ]4 2[ ]2</history>"), "{text}");
            assert!(groups[2].contains("<thread id=\"A\"></thread>\n    <thread id=\"B\">1B</thread>"), "{text}");
        }
        // Used in place of phase 1: no serial runs, the same verdict.
        let read = format!("observations {}", file.display());
        let again = check(&paper, "figure7", &[matrix, &read, "keep-going"]);
        passes(&again);
        assert_eq!((again.serial_histories, again.records[0].serial_runs), (4, 0));
        let other = check_with(&paper, "figure7", settings(Search::Portfolio), &["test Add(200)", &read]);
        assert!(
            other.error.is_some_and(|error| error.to_string().contains("no serial histories of the matrix Add(200)"))
        );
    }
}

/// The violation of figure 7, bottom: the results of one serial history, in an order that it does not allow.
#[test]
fn histories_are_held_against_the_file() {
    let paper = program("paper.c", "histories_ar");
    let matrix = "test Add(200), TryTake() | Add(400), TryTake()";
    let file = paper.1.join("expected.xml");
    let write = format!("write-observations {}", file.display());
    passes(&check(&paper, "figure1_fixed", &[matrix, &write]));
    let report = check(&paper, "figure1", &[matrix, &format!("observations {}", file.display())]);
    assert_eq!(report.findings[0].kind, ObjectKind::NotLinearizable);
}

#[test]
fn random_matrices_repeat_with_their_seed() {
    let paper = program("paper.c", "random_matri");
    let options = ["threads 2", "ops 3", "samples 12", "seed 5", "keep-going"];
    let one = check(&paper, "counter1", &options);
    let other = check(&paper, "counter1", &options);
    let matrices =
        |report: &ObjectReport| report.records.iter().map(|record| record.matrix.clone()).collect::<Vec<_>>();
    assert_eq!(matrices(&one), matrices(&other));
    assert_eq!(one.matrices, 12);
    assert!(one.matrices_failed > 3 && one.matrices_failed < 12, "{}", one.matrices_failed);
    let smallest: Vec<&str> = one.findings.iter().map(|found| found.matrix.as_str()).collect();
    assert!(smallest.contains(&"inc(), get() | inc()") || smallest.contains(&"inc() | inc(), get()"), "{smallest:?}");
}

#[test]
fn what_cannot_be_tested() {
    let paper = program("paper.c", "what_cannot");
    let wrong = program("wrong.c", "what_cannot");
    let error = |program: &(Program, PathBuf), object: &str, options: &[&str]| {
        let report = check_with(program, object, settings(Search::Portfolio), options);
        let error = report.error.unwrap_or_else(|| panic!("{object} {options:?}: {:?}", report.findings));
        error.to_string()
    };
    let unknown = error(&paper, "counter1", &["test inc(), dec() | get()"]);
    assert_eq!(unknown, "there is no call `dec()`: expected one of inc(), get()");
    let mut zero = Settings { test: Some("counter1".into()), ..settings(Search::Portfolio) };
    zero.object.threads = Some(0);
    let zero = run_once(&paper, "counter1", &zero).error.expect("it cannot be");
    assert_eq!(zero.to_string(), "expected a number from 1 to 16 for threads, found `0`");
    assert!(error(&wrong, "twice", &[]).contains("found `get()` twice"));
    assert!(error(&wrong, "of_time", &[]).contains("`now()` does not do the same again"));
    assert!(error(&wrong, "of_chance", &[]).contains("`draw()` does not do the same again"));
    assert!(error(&wrong, "of_cycles", &[]).contains("`cycles()` does not do the same again"));
    assert!(error(&wrong, "unmade", &[]).contains("the constructor does not work"));
    assert!(error(&wrong, "waiting", &[]).contains("the constructor does not work: no thread can go on"));
    assert!(
        error(&wrong, "other_calls", &[])
            .contains("expected the reference to have the same calls: get(), found put(1)")
    );
}

#[test]
fn a_finding_replays() {
    let paper = program("paper.c", "a_finding_re");
    let report = check(&paper, "figure9", &["test Wait() | Set(), Reset(), Set()"]);
    let finding = &report.findings[0].finding;
    let settings = Settings {
        replay: Some(finding.schedule.clone()),
        test: Some("figure9".into()),
        time_max: None,
        ..finding.settings.clone()
    };
    let session = run(&paper.0, &settings, &paper.1).expect("a report");
    let again = &session.report.objects[0].findings[0];
    assert_eq!(
        (again.kind, again.explanation.cells()),
        (report.findings[0].kind, report.findings[0].explanation.cells())
    );
    assert_eq!(again.finding.schedule, finding.schedule);
}

/// Section 5.2.2: what is allowed to differ can be said.
#[test]
fn declared_nondeterminism() {
    let bag = program("declared.c", "declared_non");
    let auto = ["auto 2"];
    let refused = check(&bag, "try_take", &auto);
    assert_eq!(refused.findings[0].kind, ObjectKind::NotLinearizable, "fails while another has the lock");
    passes(&check(&bag, "try_take", &["auto 2", "nondeterministic try_take() -> empty"]));
    let length = check(&bag, "length", &auto);
    assert_eq!(length.findings[0].kind, ObjectKind::NotLinearizable, "counts while another moves");
    passes(&check(&bag, "length", &["auto 2", "ignore length()"]));
    passes(&check(&bag, "length", &["auto 2", "exclusive length(), move()"]));
    // A bag may give any of its elements; the specification says so, the queue under test gives the first.
    passes(&check(&bag, "bag", &auto));
    let wrong = check(&bag, "leaky_bag", &auto);
    assert_eq!(wrong.findings[0].kind, ObjectKind::NotLinearizable);
    // Serial runs that differ, by the wake-up that a thread of the object gets first.
    let report = check(&bag, "helped", &["test ask() | ask()"]);
    assert_eq!(report.findings[0].kind, ObjectKind::Nondeterministic, "{:?}", report.error);
    assert!(matches!(report.findings[0].explanation.why, Some(Why::SerialRunsDiffer { .. })));
    passes(&check(&bag, "server", &["test request() | request()"]));
}

/// What threads of an object do is part of its serial behaviour: all of it is gone through, or nothing is called a violation.
#[test]
fn objects_with_threads_of_their_own() {
    let threads = program("threads.c", "objects_with");
    let adder = check(&threads, "adder", &["test add(1), sum() | add(1)", "keep-going"]);
    passes(&adder);
    assert!(adder.records[0].serial_runs > adder.serial_histories, "the thread of the object goes at any time");
    let lossy = check(&threads, "lossy", &["test add(1), sum() | add(1)"]);
    assert_eq!(lossy.findings[0].kind, ObjectKind::NotLinearizable, "{:?}", lossy.limit);
    for (object, matrix) in [("hasty", "test add(1), peek() | peek()"), ("words", "test differ() | differ()")] {
        let report = check(&threads, object, &[matrix]);
        assert_eq!(report.findings[0].kind, ObjectKind::Nondeterministic, "{object}");
    }
    let busy = check(&threads, "busy", &["test count() | count()"]);
    assert!(busy.findings.is_empty() && !busy.complete);
    assert!(busy.limit.as_ref().is_some_and(|why| why.to_string().contains("threads of its own")), "{:?}", busy.limit);
}

/// A loop that tries again after it has waited is not one that waits for ever, however the schedules are searched.
#[test]
fn loops_around_loops() {
    let retry = program("retry.c", "loops");
    for search in [Search::Dfs, Search::Bounded, Search::Dpor, Search::Portfolio] {
        let matrix = "test fail() | fail(), fail()";
        passes(&check_with(&retry, "once", Settings { preemptions: 3, ..settings(search) }, &[matrix]));
    }
}

/// Operations that spin or give up their turn: what the bounded search leaves out changes no verdict, and no more than plain search sees is seen.
#[test]
fn operations_that_spin_and_yield() {
    let doors = program("spinning.c", "spin");
    let few = |search| Settings { preemptions: 6, runs_max: 200_000, ..settings(search) };
    for object in ["spinning", "yielding"] {
        for matrix in ["test open() | wait()", "test open(), shut() | wait()", "test wait() | shut(), open()"] {
            let see = |search| {
                let report = check_with(&doors, object, few(search), &[matrix]);
                passes(&report);
                (report.histories, report.stuck)
            };
            let (all, dpor, bounded) = (see(Search::Dfs), see(Search::Dpor), see(Search::Bounded));
            assert_eq!(dpor, all, "{object} {matrix}");
            assert!(bounded.0 > 0 && bounded.0 <= all.0, "{object} {matrix}: {bounded:?} {all:?}");
            assert_eq!(bounded.1 > 0, all.1 > 0, "{object} {matrix}: {bounded:?} {all:?}");
        }
    }
    for search in [Search::Bounded, Search::Portfolio, Search::Dpor] {
        passes(&check_with(&doors, "counter", few(search), &["test next(), next() | next()"]));
        let report = check_with(&doors, "unlocked", few(search), &["test next() | next()"]);
        found(&report, ObjectKind::NotLinearizable, "next() | next()");
    }
}

/// An operation without an end: a violation where all serial runs have one; nothing is claimed where a serial run or an unfair schedule has
/// none and nobody can tell that it waits.
#[test]
fn operations_without_an_end() {
    let doors = program("spinning.c", "endless");
    for search in [Search::Bounded, Search::Portfolio, Search::Dpor] {
        let see = |object: &str, matrix: &str| {
            check_with(&doors, object, Settings { steps_max: 2_000, runs_max: 20_000, ..settings(search) }, &[matrix])
        };
        found(&see("pit", "test dig() | pass()"), ObjectKind::Stuck, "dig() | pass()");
        let trap = see("trap", "test open() | leave()");
        assert_eq!(trap.findings, [], "{search:?}");
        assert!(!trap.complete && trap.limit.is_some(), "{search:?}: {trap:?}");
        // In every fair run it ends.
        assert_eq!(see("restless", "test next() | next()").findings, [], "{search:?}");
        assert_eq!(see("restless", "test next() | next() | next()").findings, [], "{search:?}");
    }
    for search in [Search::Bounded, Search::Portfolio] {
        passes(&check_with(&doors, "patient", settings(search), &["test next() | next()"]));
    }
}

/// Who looks at which matrix changes nothing.
#[test]
fn the_report_does_not_depend_on_jobs() {
    let paper = program("paper.c", "jobs");
    let plans: [(&str, &[&str]); 4] = [
        ("figure1_fixed", &["auto 2", "keep-going"]),
        ("counter1", &["threads 3", "ops 2", "samples 40", "seed 3", "keep-going"]),
        ("figure1", &["threads 3", "ops 3", "samples 30"]),
        ("figure9_fixed", &["auto 2"]),
    ];
    for (object, options) in plans {
        let with = |jobs: u32| {
            // Help is called for at once.
            let settings = Settings { jobs, slice: 0.01, preemptions: 1, ..settings(Search::Bounded) };
            let mut report = check_with(&paper, object, settings, options);
            report.cpu_seconds = 0.0;
            report.records.iter_mut().for_each(|record| (record.seconds, record.serial_seconds) = (0.0, 0.0));
            report
        };
        let alone = with(1);
        assert!(alone.matrices > 10 || !alone.findings.is_empty(), "{object}");
        for jobs in [2, 5] {
            assert_eq!(with(jobs), alone, "{object} with {jobs} jobs");
        }
    }
}

/// Correct objects built on locks: whatever matrices are drawn, nothing is found. `SELVEDGE_OBJECTS=1200` draws
/// so many of each, and 10,000 together.
#[test]
fn no_false_alarm_on_objects_with_locks() {
    let locks = program("locks.c", "no_false");
    let samples = std::env::var("SELVEDGE_OBJECTS").ok().and_then(|text| text.parse().ok()).unwrap_or(6u64);
    let mut matrices = 0;
    let mut stuck = 0;
    for object in [
        "queue",
        "stack",
        "set",
        "map",
        "counter",
        "cell",
        "semaphore",
        "event",
        "buffer",
        "once",
        "countdown",
        "readers",
    ] {
        for (number, (threads, ops)) in [(2, 2), (2, 3), (3, 2), (2, 4)].into_iter().enumerate() {
            let share = samples.div_ceil(4);
            let options = [
                format!("threads {threads}"),
                format!("ops {ops}"),
                format!("samples {share}"),
                format!("seed {}", 100 + number),
            ];
            let settings = Settings { search: Search::Bounded, time_max: None, ..Settings::default() };
            let options: Vec<&str> = options.iter().map(String::as_str).collect();
            let report = check_with(&locks, object, settings, &options);
            assert_eq!(report.error, None, "{object}");
            passes(&report);
            matrices += report.matrices;
            stuck += report.stuck;
        }
    }
    println!("{matrices} matrices, {stuck} stuck histories with reason");
    assert!(stuck > 0, "some objects wait");
}

/// What phase 2 leaves out changes no history: the reduction sees as many as plain search; bounds see no others.
#[test]
fn strategies_see_the_same_histories() {
    let paper = program("paper.c", "strategies");
    for (object, matrix) in [
        ("figure7", "test Add(200) | Take()"),
        ("figure7", "test Add(200), TryTake() | Take()"),
        ("figure1_fixed", "test Add(200), TryTake() | Add(400)"),
        ("counter1", "test inc() | get()"),
        ("figure9_fixed", "test Wait() | Set()"),
        ("figure9_fixed", "test Wait() | Set(), Reset()"),
    ] {
        let see = |search: Search| {
            let settings = Settings { preemptions: 9, ..settings(search) };
            let report = check_with(&paper, object, settings, &[matrix]);
            passes(&report);
            (report.histories, report.stuck)
        };
        let all = see(Search::Dfs);
        assert_eq!(see(Search::Dpor), all, "{object} {matrix}");
        // Bounds leave out what is explained by whatever explains the rest.
        let bounded = see(Search::Bounded);
        assert!(bounded.0 > 0 && bounded.0 <= all.0 && bounded.1 <= all.1, "{object} {matrix}: {bounded:?} {all:?}");
    }
}

/// A 3x3 matrix has 1,680 serial histories: phase 1 takes less than 100 ms of processor time.
#[test]
fn phase_1_of_three_by_three_is_quick() {
    let paper = program("paper.c", "phase_1");
    let matrix = "test Add(200), TryTake(), Add(400) | TryTake(), Add(200), TryTake() | Add(400), TryTake(), Add(200)";
    let settings = Settings { runs_max: 1, ..settings(Search::Bounded) };
    let record = check_with(&paper, "figure1_fixed", settings, &[matrix, "keep-going"]).records[0].clone();
    assert_eq!((record.serial_full, record.serial_runs), (1680, 1680));
    println!("1,680 serial runs in {:.1} ms", record.serial_seconds * 1e3);
    assert!(record.serial_seconds < 0.1, "{}", record.serial_seconds);
}
