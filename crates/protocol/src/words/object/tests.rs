//! The sentences about objects.

use super::*;
use crate::cause::Cause;
use crate::explanation::Language;
use crate::finding::{Finding, FindingKind};
use crate::object::{BuiltInRecord, ObjectKind};
use crate::settings::Settings;

fn operation(name: &str, end: OperationEnd) -> Operation {
    Operation { name: name.into(), end }
}

fn returned(name: &str, result: &str) -> Operation {
    operation(name, OperationEnd::Returned(result.into()))
}

fn finding(language: Language, matrix: &str, explanation: Explanation) -> ObjectFinding {
    ObjectFinding {
        kind: ObjectKind::Stuck,
        matrix: matrix.into(),
        first_matrix: String::new(),
        dimension: String::new(),
        preemptions: None,
        explanation,
        language,
        finding: Finding {
            format: Finding::FORMAT.into(),
            version: Finding::VERSION,
            tool: String::new(),
            test: String::new(),
            program: String::new(),
            kind: FindingKind::Stuck,
            cause: Cause::UnexplainedWait,
            thread: 0,
            place: None,
            run: 1,
            schedule: String::new(),
            settings: Settings::default(),
            steps: vec![],
            threads: vec![],
            callers: vec![],
            other: None,
            frames: vec![],
        },
    }
}

/// "Waits for ever" is said of what is blocked in a run that is stuck; what a race or a crash cut off may still have returned.
#[test]
fn what_was_cut_off_does_not_wait_for_ever() {
    let words = |end| operation("pop()", end).words();
    assert_eq!(words(OperationEnd::Blocked), "pop() waits for ever");
    assert_eq!(words(OperationEnd::CutOff), "pop() (cut off)");
    assert_eq!(words(OperationEnd::NotCalled), "pop() (not called)");
    assert_eq!(words(OperationEnd::Returned("()".into())), "pop()");
    assert_eq!(words(OperationEnd::Returned("1".into())), "pop() -> 1");
}

#[test]
fn tables_have_a_column_for_each_thread() {
    let explanation = Explanation {
        threads: vec![1, 3],
        before: 1,
        columns: vec![
            vec![returned("push(1)", "()"), returned("len()", "0")],
            vec![returned("pop()", "1")],
            vec![operation("pop()", OperationEnd::Blocked)],
        ],
        why: Some(Why::NotSerial {
            blocked: Some((2, 0)),
            full: 2,
            stuck: 1,
            never_return: vec![],
            several_wait: false,
            closest: vec![Closest {
                order: vec![(0, 0)],
                operation: (2, 0),
                serial: OperationEnd::Returned("1".into()),
                found: OperationEnd::Blocked,
            }],
        }),
    };
    let told = told(&explanation).lines().join("\n");
    let expected = "  before: push(1)
  | T1         | T3                   |
  | ---------- | -------------------- |
  | pop() -> 1 | pop() waits for ever |
  after:  len() -> 0

  T3 pop() never returns. In no serial order of the operations that returned, with the same results, would it have to wait.
  Serial histories: 2 in which everything returns, 1 that end in a call that waits.
  This is relative to serial behaviour: to what the same calls do one after the other.
  The closest serial histories, and where they part from it:
    T0 push(1), then T3 pop() returns 1; here it never returned";
    assert_eq!(told, expected);
}

#[test]
fn names_cannot_leave_their_quotation_marks() {
    let text = regression(&finding(Language::C, "say(\"a\\\") | x", Explanation::default()), "q");
    assert!(text.ends_with("SELVEDGE_OPTION(q, \"test say(\\\"a\\\\\\\") | x\");\n"), "{text}");
    let text = regression(&finding(Language::Rust, "pop()", Explanation::default()), "a.rs:1");
    assert!(text.contains(".matrix(\"pop()\")"), "{text}");
}

#[test]
fn what_counting_leaves_open_is_said() {
    let record = |approximate, counted| {
        let built_in = BuiltInRecord { specification: "queue".into(), approximate, k: 2, counted };
        ObjectReport { built_in: Some(built_in), histories: 9, ..ObjectReport::new("q") }
    };
    assert_eq!(doubt(&record(false, 0)), None);
    let asked = doubt(&record(true, 9)).unwrap();
    assert_eq!(asked, "no violation is visible at k=2, and counting cannot show that there is none");
    let one = doubt(&record(false, 1)).unwrap();
    assert!(one.starts_with("1 of 9 histories was too large for the search and was counted instead: no "), "{one}");
    let two = doubt(&record(false, 2)).unwrap();
    assert!(two.starts_with("2 of 9 histories were too large for the search and were counted instead: no "), "{two}");
}

#[test]
fn plans_are_told_in_their_order() {
    let enumerated = Enumerated { count: 12, threads: 2, ops: 2, first_calls: Some(4) };
    let random = RandomPlan { count: 100, wanted: false, threads: 3, ops: 3, seed: 1 };
    let record = PlanRecord { given: 1, enumerated: Some(enumerated), random: Some(random) };
    let expected = "1 given, then all 12 up to 2x2 over the first 4 calls, then up to 100 random 3x3 (seed 1)";
    assert_eq!(plan(&record), expected);
}
