//! What the page of a finding is given: values after each step, operations, who waits for whom.

use std::cell::RefCell;

use selvedge_protocol::{
    self as protocol, Cause, Closest, Explanation, Language, ObjectKind, OperationEnd, Settings, ThreadRecord, Waits,
    Why,
};

use super::*;

fn step(thread: u16, verb: Verb, object: u64, old: u64, new: Option<u64>) -> Step {
    let on = if matches!(verb, Verb::Lock | Verb::Unlock) { Class::Lock } else { Class::Memory };
    of_kind(thread, StepKind::Access(Access { verb, on, object, size: 4, old, new }))
}

fn of_kind(thread: u16, kind: StepKind) -> Step {
    Step { thread, kind, spurious: false, place: None, callers: vec![] }
}

fn call(thread: u16, operation: &str) -> Step {
    of_kind(thread, StepKind::Call { operation: Some(operation.into()) })
}

fn returns(thread: u16, result: &str) -> Step {
    of_kind(thread, StepKind::Return { result: Some(result.into()) })
}

fn finding(kind: FindingKind, steps: Vec<Step>) -> Finding {
    Finding {
        format: Finding::FORMAT.into(),
        version: Finding::VERSION,
        tool: String::new(),
        test: "t</script>".into(),
        program: String::new(),
        kind,
        cause: Cause::Abort,
        thread: 1,
        place: None,
        run: 7,
        schedule: String::new(),
        settings: Settings::default(),
        steps,
        threads: vec![],
        callers: vec![],
        other: None,
        frames: vec![],
    }
}

fn data(finding: &Finding) -> FindingData {
    finding_data(finding, None, &Saved::at("f.json"), &mut Names::new("no/such/program"), &mut Sources::default())
}

/// The value of each variable before the rows and after each of them.
fn values(data: &FindingData) -> Vec<Vec<String>> {
    let mut now: Vec<String> = data.variables.iter().map(|(_, value)| value.clone()).collect();
    let mut all = vec![now.clone()];
    for row in &data.rows {
        for (at, value) in &row.sets {
            now[*at].clone_from(value);
        }
        all.push(now.clone());
    }
    all
}

#[test]
fn values_are_those_after_each_step() {
    let steps = vec![
        step(1, Verb::Read, 8, 5, Some(5)),
        step(2, Verb::Update, 8, 5, Some(6)),
        step(1, Verb::Lock, 16, 0, None),
        step(1, Verb::Write, 8, 6, Some(7)),
        step(1, Verb::Unlock, 16, u64::MAX, None),
        step(2, Verb::Lock, 16, 0, None),
    ];
    let data = data(&finding(FindingKind::Assertion, steps));
    let names: Vec<&str> = data.variables.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["0x8", "lock 0x10"]);
    let expected = [
        ["5", "free"],
        ["5", "free"],
        ["6", "free"],
        ["6", "held by T1"],
        ["7", "held by T1"],
        ["7", "free"],
        ["7", "held by T2"],
        ["7", "held by T2"],
    ];
    assert_eq!(values(&data), expected);
    assert!(data.rows.last().is_some_and(|row| row.ends && row.uses.is_none()));
    assert_eq!(data.sentence, "Run 7, thread T1: abort was called.");
}

#[test]
fn what_is_left_out_is_part_of_the_first_values() {
    let turn = |n: u64| {
        [step(1, Verb::Update, 8, 2 * n, Some(2 * n + 1)), step(2, Verb::Update, 8, 2 * n + 1, Some(2 * n + 2))]
    };
    let data = data(&finding(FindingKind::Livelock, (0..500).flat_map(turn).collect()));
    assert_eq!((data.rows.len(), data.left_out), (ROWS_MAX_LIVELOCK, 1_000 - ROWS_MAX_LIVELOCK as u64));
    assert_eq!(data.variables[0].1, (1_000 - ROWS_MAX_LIVELOCK).to_string());
    assert_eq!(values(&data).last().unwrap(), &["1000"]);
}

#[test]
fn operations_run_from_call_to_return() {
    let steps = vec![call(1, "push(1)"), call(2, "pop()"), returns(1, "void"), call(1, "pop()"), returns(2, "1")];
    let operations = data(&finding(FindingKind::NotLinearizable, steps)).operations;
    let operation = |thread, label: &str, from, to| Operation { thread, label: label.into(), from, to };
    let expected =
        [operation(1, "push(1)", 0, Some(2)), operation(2, "pop() → 1", 1, Some(4)), operation(1, "pop()", 3, None)];
    assert_eq!(operations, expected);
}

#[test]
fn who_waits_for_whom() {
    let waiting = |thread, what, object, held_by| ThreadRecord {
        thread,
        ended: false,
        waits: Some(Waits { what, object, held_by }),
        place: None,
        callers: vec![],
    };
    let mut finding = finding(FindingKind::Deadlock, vec![]);
    finding.threads = vec![
        waiting(0, WaitsFor::Join, 1, None),
        waiting(1, WaitsFor::Mutex, 8, Some(2)),
        waiting(2, WaitsFor::WakeUp(Class::Condition), 9, None),
    ];
    let waits = data(&finding).waits;
    let told: Vec<_> = waits.iter().map(|wait| (wait.thread, wait.on, wait.what.as_str())).collect();
    assert_eq!(told, [(0, Some(1), "its end"), (1, Some(2), "0x8"), (2, None, "0x9")]);
    assert_eq!(waits[1].says, "T1 waits for mutex 0x8, held by T2");
}

fn returned(name: &str, result: &str) -> protocol::Operation {
    protocol::Operation { name: name.into(), end: OperationEnd::Returned(result.into()) }
}

#[test]
fn the_explanation_of_an_object_is_a_table_and_sentences() {
    let found = ObjectFinding {
        kind: ObjectKind::NotLinearizable,
        matrix: "inc() | get()".into(),
        first_matrix: String::new(),
        dimension: String::new(),
        preemptions: None,
        explanation: Explanation {
            threads: vec![1, 2],
            before: 0,
            columns: vec![vec![], vec![returned("inc()", "void")], vec![returned("get()", "1")]],
            why: Some(Why::NotSerial {
                blocked: None,
                full: 2,
                stuck: 0,
                never_return: vec![],
                several_wait: false,
                closest: vec![Closest {
                    order: vec![],
                    operation: (2, 0),
                    serial: OperationEnd::Returned("0".into()),
                    found: OperationEnd::Returned("1".into()),
                }],
            }),
        },
        language: Language::C,
        finding: finding(FindingKind::NotLinearizable, vec![]),
    };
    let object = object_data(&found, "counter");
    assert_eq!(object.results, [vec![], vec!["inc()".to_owned()], vec!["get() -> 1".to_owned()]]);
    assert_eq!(object.why.len(), 4, "{:?}", object.why);
    assert_eq!(object.closest, ["at once T2 get() returns 0; here it returned 1"]);
    assert!(object.regression.contains("SELVEDGE_OPTION(counter, \"test inc() | get()\");"), "{}", object.regression);
}

#[test]
fn a_page_of_a_replay_says_what_came_out() {
    let finding =
        finding(FindingKind::Assertion, vec![step(1, Verb::Read, 8, 5, Some(5)), step(2, Verb::Read, 8, 5, Some(5))]);
    let names = RefCell::new(Names::new("no/such/program"));
    let (file, again, object) = ("<f>", Some(&finding), None);
    let replayed = Replayed { file, finding: &finding, again, object, same: true, seconds: 0.0, names: &names };
    let page = replayed.html("text");
    assert!(
        page.contains("assertion, the same violation again") && page.contains("<title>FAIL: &lt;f&gt;</title>"),
        "{page}"
    );
    assert!(page.contains("t\\u003c/script") && !page.contains("t</script"), "{page}");
}
