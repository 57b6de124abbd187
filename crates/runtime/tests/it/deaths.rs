//! Tests that end their process, or never give it back: what is known of them stays known.

use std::path::Path;
use std::time::Instant;

use selvedge_driver::{Program, Subject};
use selvedge_protocol::{Cause, CoverageRecord, Death, FindingKind, Out, Search, Settings, TestReport};

use crate::boundary::build_apart;
use crate::build::{build, root, scratch, session, settings};

/// A program of `corpus/boundary` with a part that others compiled.
fn of_boundary(path: &str, kind: &str) -> (Program, std::path::PathBuf) {
    let source = root().join("corpus/boundary").join(path);
    let directory = scratch(&format!("deaths-{}", path.replace('/', "-")));
    let flags = build_apart("gcc", &source, kind, &directory);
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    (build(&source, &flags, &directory), directory)
}

#[test]
fn the_schedule_is_known_and_comes_again() {
    let (program, directory) = of_boundary("crash/killed_in_object.c", "object");
    for search in [Search::Portfolio, Search::Dfs, Search::Random] {
        let test = session(&program, &settings(search), &directory).report.tests.remove(0);
        let [finding] = &test.findings[..] else { panic!("{search:?}: {test:?}") };
        assert_eq!((finding.kind, &finding.cause), (FindingKind::Crash, &Cause::Died(Death::Signal(9))));
        // The worker has seen that nothing is ready, and gives up: the last step is its own.
        assert_eq!((finding.thread, finding.run), (1, test.runs), "{search:?}");
        let last = finding.steps.last().expect("steps");
        assert_eq!((last.thread, last.place.as_ref()), (1, finding.place.as_ref()));
        for _ in 0..3 {
            let again = Subject::Program(program.clone()).replay(finding, &directory).expect("a replay");
            assert!(again.tests[0].findings[0].is_like(finding), "{search:?}");
        }
    }
}

#[test]
fn before_any_step_there_is_an_empty_schedule() {
    let (program, directory) = of_boundary("crash/without_a_step.c", "object");
    let test = session(&program, &settings(Search::Portfolio), &directory).report.tests.remove(0);
    let finding = &test.findings[0];
    assert_eq!((finding.schedule.as_str(), &finding.cause), ("", &Cause::Died(Death::Signal(15))));
    let again = Subject::Program(program).replay(finding, &directory).expect("a replay");
    assert!(again.tests[0].findings[0].is_like(finding));
}

/// A program of one file, with a part that is compiled apart.
fn program(name: &str, source: &str) -> (Program, std::path::PathBuf) {
    let directory = scratch(&format!("deaths-{name}"));
    let path = directory.join("program.c");
    std::fs::write(&path, source).expect("the program is written");
    let flags = build_apart("gcc", &path, "object", &directory);
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    (build(&path, &flags, &directory), directory)
}

/// Three threads, of which one ends the process where it comes before the others; and room for an assertion.
const LATE: &str = r#"
#ifdef APART
void leave(void) { __asm__ volatile("syscall" : : "a"(231), "D"(7) : "rcx", "r11", "memory"); }
#else
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
void leave(void);
static atomic_int came;
static void *adds(void *unused) { came++; came++; return unused; }
static void *leaves(void *unused) {
  if (came == 0) leave();
  return unused;
}
SELVEDGE_TEST(late) {
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, i < 2 ? adds : leaves, NULL);
  pthread_join(threads[2], NULL);
  ASSERTION;
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
}
#endif
"#;

/// What does not depend on the clock.
fn timeless(mut test: TestReport) -> TestReport {
    (test.cpu_seconds, test.spared, test.points, test.redundant) = (0.0, 0, 0, 0);
    test.history_texts.clear();
    test
}

#[test]
fn workers_that_end_tell_what_one_process_tells() {
    let (program, directory) = program("workers", &LATE.replace("ASSERTION", ""));
    for search in [Search::Dfs, Search::Bounded] {
        let run = |jobs| {
            let settings = Settings { jobs, slice: 0.0, ..settings(search) };
            timeless(session(&program, &settings, &directory).report.tests.remove(0))
        };
        let alone = run(1);
        assert_eq!(alone.findings.len(), 1, "{alone:?}");
        for jobs in [2, 3] {
            assert_eq!(run(jobs), alone, "{search:?} with {jobs} workers");
        }
    }
}

#[test]
fn what_was_found_before_stays_found() {
    let (program, directory) = program("before", &LATE.replace("ASSERTION", "assert(came != 4)"));
    let settings = Settings { keep_going: true, ..settings(Search::Dfs) };
    let test = session(&program, &settings, &directory).report.tests.remove(0);
    let mut kinds: Vec<&str> = test.findings.iter().map(|found| found.kind.name()).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["assertion", "crash"]);
    let crash = test.findings.iter().find(|found| found.kind == FindingKind::Crash).expect("the crash");
    assert_eq!((&crash.cause, test.coverage), (&Cause::Died(Death::Exit(7)), CoverageRecord::Partial));
}

/// Who kills the process once, and not when the same schedule is made again, may be anybody.
#[test]
fn what_does_not_come_again_is_unknown() {
    let mark = scratch("deaths-once").join("mark");
    let _ = std::fs::remove_file(&mark);
    let source = r#"
#ifdef APART
static long call(long number, long a, long b, long c) {
  long answer;
  __asm__ volatile("syscall" : "=a"(answer) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
  return answer;
}
void die_once(void) {
  if (call(2, (long)"MARK", 0301, 0600) >= 0) call(62, call(39, 0, 0, 0), 9, 0);
}
#else
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
void die_once(void);
static atomic_int x;
static void *reads(void *unused) { if (x) die_once(); return unused; }
SELVEDGE_TEST(once) {
  pthread_t thread;
  pthread_create(&thread, NULL, reads, NULL);
  x = 1;
  pthread_join(thread, NULL);
}
#endif
"#;
    let (program, directory) = program("once", &source.replace("MARK", &mark.display().to_string()));
    let test = session(&program, &settings(Search::Portfolio), &directory).report.tests.remove(0);
    assert_eq!((test.findings.len(), test.coverage), (0, CoverageRecord::Partial));
    let unknown = &test.unknowns[0];
    assert_eq!((unknown.kind, &unknown.cause), (FindingKind::Uncontrolled, &Cause::Out(Out::Ended(Death::Signal(9)))));
    assert!(!unknown.schedule.is_empty() && unknown.thread == 1);
}

#[test]
fn the_time_limit_holds_whatever_the_code_does() {
    for (path, kind, waits) in [
        ("uncontrolled/deaf_loop.c", "object", Out::Computes),
        ("uncontrolled/deaf_sleep.c", "library", Out::WaitsInCall(35)),
    ] {
        let (program, directory) = of_boundary(path, kind);
        let began = Instant::now();
        let settings = Settings { time_max: Some(0.5), ..settings(Search::Portfolio) };
        let test = session(&program, &settings, &directory).report.tests.remove(0);
        // It takes about a second; machines are busy.
        assert!(began.elapsed().as_secs() < 10, "{path}: {:?}", began.elapsed());
        assert_eq!((&test.unknowns[0].cause, test.findings.len()), (&Cause::Out(waits), 0), "{path}");
    }
}

/// A process that the program has left behind keeps its standard output open, and nobody waits for that.
#[test]
fn what_is_left_behind_is_not_waited_for() {
    let directory = scratch("deaths-behind");
    let path = directory.join("program.c");
    let source = r#"
#include <selvedge.h>
#include <unistd.h>
__attribute__((constructor)) static void leaves_one_behind(void) {
  if (fork() == 0) {
    setsid();
    sleep(30);
    _exit(0);
  }
}
SELVEDGE_TEST(passes) {}
"#;
    std::fs::write(&path, source).expect("the program is written");
    let program = build(&path, &[], &directory);
    let began = Instant::now();
    let test = session(&program, &settings(Search::Portfolio), &directory).report.tests.remove(0);
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
    assert_eq!((test.findings.len(), test.coverage), (0, CoverageRecord::Exhaustive));
}

/// None of the processes that a search makes outlives it.
#[test]
fn no_process_is_left_over() {
    let (program, directory) = of_boundary("uncontrolled/deaf_loop.c", "object");
    let settings = Settings { time_max: Some(0.3), jobs: 2, slice: 0.0, ..settings(Search::Dfs) };
    let test = session(&program, &settings, &directory).report.tests.remove(0);
    assert_eq!(test.unknowns.len(), 1);
    assert!(!is_running(&program.path), "{}", program.path.display());
}

fn is_running(program: &Path) -> bool {
    let processes = std::fs::read_dir("/proc").expect("the system's processes").flatten();
    let mut executables = processes.filter_map(|process| std::fs::read_link(process.path().join("exe")).ok());
    executables.any(|executable| executable == program)
}
