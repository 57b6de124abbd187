//! What people read, kind by kind. Histories are written as events, one a line: `thread method [value]` calls,
//! `thread ok [value]` returns, `thread crash` ends without an answer.

use std::time::{Duration, Instant};

use insta::assert_snapshot;
use selvedge_history::check::{Algorithm, Answer};
use selvedge_history::evidence::{Failure, Forced, Part, Stay, Violation};
use selvedge_history::object::Kind;
use selvedge_history::{Budget, Call, Log, LogRecorder, OpId, Outcome as Ended, Symbol, Value, Verdict};
use unicode_width::UnicodeWidthStr;

use super::ci::CaseEnd;
use super::outcome::Recorded;
use super::verdict::Criterion;
use super::*;

fn value(text: Option<&str>) -> Value {
    text.map_or(Value::Nil, |text| serde_json::from_str(text).unwrap_or_else(|_| Value::text(text)))
}

fn log(events: &str) -> Log {
    let mut recorder = LogRecorder::new();
    for (line, event) in (1..).zip(events.trim().lines()) {
        let mut words = event.trim().splitn(3, ' ');
        let thread = value(words.next());
        let (word, rest) = (words.next().unwrap(), words.next());
        let result = match word {
            "ok" => recorder.outcome(line, &thread, None, Ended::Return(value(rest))),
            "crash" => recorder.outcome(line, &thread, None, Ended::Unknown),
            method => {
                let method = recorder.symbol(method);
                recorder.call(
                    line,
                    &thread,
                    Call { object: Symbol::NONE, method, key: Value::Nil, argument: value(rest) },
                )
            }
        };
        result.unwrap();
    }
    recorder.finish(None).unwrap()
}

fn limits() -> Limits {
    Limits {
        started: Instant::now(),
        time_max: Some(Duration::from_secs(60)),
        memory_max: 4 << 30,
        grace: crate::watch::GRACE,
    }
}

/// How an answer is said.
fn said(kind: Kind, log: &Log, verdict: Verdict<Vec<selvedge_history::evidence::Linearization>, Failure>) -> Rendered {
    let answer = Answer {
        kind,
        verdict,
        algorithms: vec![Algorithm::Search],
        parts: 1,
        parts_passed: 0,
        states: 12_345,
        longest: 3,
    };
    let limits = limits();
    let (file, format) = ("history.jsonl", "jsonl");
    let of = Recorded { file, format, log, initial: None, seconds: 0.0123, limits: &limits };
    Outcome::Decided(Decided { of, answer, evidence_kept: false }).render(Wanted::default())
}

/// The report of a violation, without colours, and no wider than a terminal.
fn report(kind: Kind, events: &str, violation: Violation) -> String {
    let log = log(events);
    let said = said(kind, &log, Verdict::Fail(Failure { part: Part::default(), violation }));
    assert_eq!(said.exit, Exit::Violation);
    let text = anstream::adapter::strip_str(&said.text).to_string();
    for line in text.lines() {
        assert!(line.width() <= text::WIDTH, "{} columns: {line}", line.width());
    }
    text
}

fn stay(insert: u32, remove: u32) -> Stay {
    Stay { insert: OpId(insert), remove: Some(OpId(remove)) }
}

fn kept(insert: u32) -> Stay {
    Stay { insert: OpId(insert), remove: None }
}

#[test]
fn thin_air() {
    let events = "a enq 1\na ok\nb deq\nb ok 7";
    assert_snapshot!(report(Kind::Queue, events, Violation::ThinAir { operation: OpId(1) }));
}

#[test]
fn thin_air_that_may_be_the_initial_value() {
    let events = "a read\na ok 0\nb write 1\nb ok";
    assert_snapshot!(report(Kind::Register, events, Violation::ThinAir { operation: OpId(0) }));
}

#[test]
fn no_hint_where_the_value_was_written_or_is_no_common_initial_one() {
    for events in ["a read\na ok 0\nb write 0\nb ok", "a read\na ok 17\nb write 1\nb ok"] {
        let text = report(Kind::Register, events, Violation::ThinAir { operation: OpId(0) });
        assert!(!text.contains("--initial"), "{text}");
    }
    let text = report(Kind::Queue, "a deq\na ok 0", Violation::ThinAir { operation: OpId(0) });
    assert!(!text.contains("--initial"), "{text}");
}

#[test]
fn removed_twice() {
    let events = "a enq 1\na ok\nb deq\nc deq\nb ok 1\nc ok 1";
    let violation = Violation::RemovedTwice { insert: OpId(0), first: OpId(1), second: OpId(2) };
    assert_snapshot!(report(Kind::Queue, events, violation));
}

#[test]
fn removed_too_often() {
    let events = "a enq 1\na ok\na enq 1\na ok\nb deq\nc deq\nb ok 1\nc ok 1\nb deq\nb ok 1";
    let (inserts, removes) = (vec![OpId(0), OpId(1)], vec![OpId(2), OpId(3), OpId(4)]);
    assert_snapshot!(report(Kind::Queue, events, Violation::RemovedTooOften { inserts, removes }));
}

#[test]
fn too_early_in_its_turn() {
    let events = "a enq 1\na ok\nb deq\nb ok 1\nb deq\nb ok 1\na enq 1\na ok";
    assert_snapshot!(report(Kind::Queue, events, Violation::TooEarly { operation: OpId(2), insert: OpId(3) }));
}

#[test]
fn too_early() {
    let events = "b deq\nb ok 1\na enq 1\na ok";
    assert_snapshot!(report(Kind::Queue, events, Violation::TooEarly { operation: OpId(0), insert: OpId(1) }));
}

#[test]
fn too_late() {
    let events = "0 add 3\n0 ok true\n0 remove 3\n0 ok true\n1 contains 3\n1 ok true";
    assert_snapshot!(report(Kind::Set, events, Violation::TooLate { operation: OpId(2), remove: OpId(1) }));
}

#[test]
fn overtaken() {
    let events = "0 enq 1\n0 ok\n1 deq\n0 enq 2\n0 ok\n1 ok 2\n1 deq\n1 ok 1";
    let violation = Violation::Overtaken { first: stay(0, 3), second: stay(2, 1) };
    assert_snapshot!(report(Kind::Queue, events, violation));
}

#[test]
fn overtaken_and_never_removed() {
    let events = "0 enq 1\n0 ok\n0 enq 2\n0 ok\n1 deq\n1 ok 2";
    let violation = Violation::Overtaken { first: kept(0), second: stay(1, 2) };
    assert_snapshot!(report(Kind::Queue, events, violation));
}

#[test]
fn not_empty() {
    let events = "0 enq 1\n0 ok\n1 deq\n0 enq 2\n0 ok\n2 deq\n1 ok\n2 ok 1";
    let violation = Violation::NotEmpty { operation: OpId(1), inside: vec![stay(0, 3), kept(2)] };
    assert_snapshot!(report(Kind::Queue, events, violation));
}

#[test]
fn not_empty_for_many_values() {
    let mut events = String::new();
    for i in 0..20 {
        events.push_str(&format!("0 push {i}\n0 ok\n"));
    }
    events.push_str("1 pop\n1 ok");
    let violation = Violation::NotEmpty { operation: OpId(20), inside: (0..20).map(kept).collect() };
    assert_snapshot!(report(Kind::Stack, &events, violation));
}

#[test]
fn not_empty_though_removals_are_pending() {
    let events = "0 add 1\n0 ok\n0 add 2\n0 ok\n0 add 3\n0 ok\n8 remove\n1 remove\n1 ok 3\n2 remove\n2 ok";
    let violation = Violation::NotEmpty { operation: OpId(5), inside: vec![kept(0), kept(1)] };
    assert_snapshot!(report(Kind::Bag, events, violation));
    let events = "0 add 1\n0 ok\n0 add 2\n0 ok\n0 add 3\n0 ok\n2 remove\n8 remove\n9 remove\n1 remove\n1 ok 3\n2 ok";
    let violation = Violation::NotEmpty { operation: OpId(3), inside: vec![kept(0), kept(1), stay(2, 6)] };
    assert_snapshot!(report(Kind::Bag, events, violation));
}

#[test]
fn too_few_removals() {
    let values = |values: &[(u32, u32)]| Violation::TooFewRemovals {
        values: values
            .iter()
            .map(|&(insert, because)| Forced { insert: OpId(insert), because: OpId(because) })
            .collect(),
    };
    let events = "0 enq 1\n0 ok\n0 enq 2\n0 ok\n0 enq 3\n0 ok\n8 deq\n1 deq\n1 ok 3";
    assert_snapshot!(report(Kind::Queue, events, values(&[(0, 4), (1, 4)])));
    let mut events = String::new();
    for i in 0..7 {
        events.push_str(&format!("0 enq {i}\n0 ok\n"));
    }
    events.push_str("7 deq\n8 deq\n9 deq\n1 deq\n1 ok 6");
    assert_snapshot!(report(Kind::Queue, &events, values(&[(0, 10), (1, 10), (2, 10), (3, 10)])));
    let events = "0 insert 5\n0 ok\n0 insert 6\n0 ok\n0 insert 3\n0 ok\n8 poll\n1 poll\n1 ok 3\n1 poll\n1 ok";
    assert_snapshot!(report(Kind::PriorityQueue, events, values(&[(0, 4), (1, 5)])));
}

#[test]
fn conflict() {
    let events = "0 push 3\n0 ok\n0 push 1\n0 ok\n0 push 2\n0 ok\n8 pop\n1 pop\n1 ok 3\n9 pop";
    let operations = [4, 0, 1, 2, 3, 5].map(OpId).to_vec();
    assert_snapshot!(report(Kind::Stack, events, Violation::Conflict { operations }));
}

#[test]
fn outranked() {
    let events = "0 insert 5\n0 ok\n0 insert 3\n0 ok\n1 poll\n1 ok 3";
    let violation = Violation::Outranked { operation: OpId(2), insert: OpId(1), inside: vec![kept(0)] };
    assert_snapshot!(report(Kind::PriorityQueue, events, violation));
}

#[test]
fn entangled_two() {
    let events = "a push 1\na ok\na push 2\na ok\nb pop\nb ok 1\nb pop\nb ok 2";
    let stays = vec![Stay { insert: OpId(0), remove: Some(OpId(2)) }, Stay { insert: OpId(1), remove: Some(OpId(3)) }];
    assert_snapshot!(report(Kind::Stack, events, Violation::Entangled { stays }));
}

#[test]
fn entangled() {
    let events = "0 push 1\n1 push 2\n1 ok\n1 push 3\n0 ok\n0 pop\n0 ok 2\n1 ok\n0 pop\n0 ok 1\n0 pop\n0 ok 3";
    let stays = vec![
        Stay { insert: OpId(0), remove: Some(OpId(4)) },
        Stay { insert: OpId(1), remove: Some(OpId(3)) },
        Stay { insert: OpId(2), remove: Some(OpId(5)) },
    ];
    assert_snapshot!(report(Kind::Stack, events, Violation::Entangled { stays }));
}

#[test]
fn missed() {
    let events = "0 add 3\n0 ok true\n1 contains 3\n1 ok false\n0 remove 3\n0 ok true";
    let violation = Violation::Missed { operation: OpId(1), insert: OpId(0), before: OpId(0), after: Some(OpId(2)) };
    assert_snapshot!(report(Kind::Set, events, violation));
}

#[test]
fn missed_and_never_removed() {
    let events = "0 add 3\n0 ok true\n1 contains 3\n1 ok false";
    let violation = Violation::Missed { operation: OpId(1), insert: OpId(0), before: OpId(0), after: None };
    assert_snapshot!(report(Kind::Set, events, violation));
}

#[test]
fn crossed() {
    let events = "0 write 1\n0 ok\n0 write 2\n0 ok\n1 read\n1 ok 1\n1 read\n1 ok 2";
    let violation =
        Violation::Crossed { first: Some(OpId(0)), last: OpId(2), other_first: Some(OpId(1)), other_last: OpId(3) };
    assert_snapshot!(report(Kind::Register, events, violation));
}

#[test]
fn crossed_by_one_operation_in_between() {
    let events = "0 write 1\n0 ok\n0 write 2\n0 ok\n1 read\n1 ok 1";
    let violation =
        Violation::Crossed { first: Some(OpId(0)), last: OpId(2), other_first: Some(OpId(1)), other_last: OpId(1) };
    assert_snapshot!(report(Kind::Register, events, violation));
}

#[test]
fn crossed_with_the_initial_value() {
    let events = "0 write 1\n0 ok\n1 read\n1 ok\n1 read\n1 ok 1";
    let violation = Violation::Crossed { first: None, last: OpId(1), other_first: Some(OpId(0)), other_last: OpId(2) };
    assert_snapshot!(report(Kind::Register, events, violation));
}

#[test]
fn unplaced() {
    let events = "0 enq 1\n0 ok\n1 enq 1\n0 enq 2\n0 ok\n2 deq\n2 ok 3\n1 ok";
    let violation = Violation::Unplaced { operation: OpId(3), events: 7, partial: vec![OpId(0), OpId(1), OpId(2)] };
    assert_snapshot!(report(Kind::Queue, events, violation));
}

#[test]
fn unordered() {
    let events = "0 lock\n0 ok\n1 lock\n1 ok\n2 lock\n2 crash";
    let violation = Violation::Unordered { operation: OpId(1) };
    assert_snapshot!(report(Kind::Mutex, events, violation));
}

#[test]
fn need_not_block() {
    let events = "0 lock\n0 ok\n1 lock\n0 unlock\n0 ok";
    assert_snapshot!(report(Kind::Mutex, events, Violation::NeedNotBlock { operation: OpId(1) }));
}

#[test]
fn a_part_is_named() {
    let log = log("0 write [1,7]\n0 ok");
    let part = Part { object: "accounts".to_owned(), key: Value::text("bob") };
    let failure = Failure { part, violation: Violation::ThinAir { operation: OpId(0) } };
    let said = said(Kind::Register, &log, Verdict::Fail(failure));
    assert!(said.text.contains("In object accounts, key bob: write(1 7)"), "{}", said.text);
}

#[test]
fn hostile_values_are_written_as_escapes() {
    let text = report(
        Kind::Queue,
        "\"\\u001b[2J\" deq\n\"\\u001b[2J\" ok \"\\u0007\\nFAIL\"",
        Violation::ThinAir { operation: OpId(0) },
    );
    assert!(!text.contains(['\u{1b}', '\u{7}']), "{text}");
    assert!(text.contains("\\u{7}\\nFAIL"), "{text}");
}

#[test]
fn pass() {
    let said = said(Kind::Queue, &log("0 enq 1\n0 ok\n1 enq 2"), Verdict::Pass(Vec::new()));
    assert_eq!(said.exit, Exit::Pass);
    assert_snapshot!(anstream::adapter::strip_str(&said.text).to_string());
}

#[test]
fn unknown() {
    let said = said(Kind::Queue, &log("0 enq 1\n0 ok\n1 enq 2"), Verdict::Unknown(Limit::Time));
    assert_eq!(said.exit, Exit::Unknown);
    assert!(!said.text.contains("linearizable"), "{}", said.text);
    assert_snapshot!(anstream::adapter::strip_str(&said.text).to_string());
}

#[test]
fn cut_while_checking() {
    let progress = Progress::default();
    progress.begin(1, "history.jsonl");
    progress.reading(Some(1000));
    progress.consumed(b"one\ntwo\n");
    progress.read("jsonl", 1_234_567, 3);
    progress.checking("queue", &Budget::new());
    let said = Outcome::cut("history.jsonl", Limit::Memory, &limits(), &progress).render(Wanted::default());
    assert_eq!(said.exit, Exit::Unknown);
    assert_snapshot!(anstream::adapter::strip_str(&said.text).to_string());
}

#[test]
fn cut_while_reading() {
    let progress = Progress::default();
    progress.begin(1, "history.jsonl");
    progress.reading(None);
    progress.consumed(b"one\ntwo\n");
    let said = Outcome::cut("history.jsonl", Limit::Interrupted, &limits(), &progress).render(Wanted::default());
    assert_snapshot!(anstream::adapter::strip_str(&said.text).to_string());
}

#[test]
fn trouble() {
    let trouble = Trouble::new("history.jsonl", "expected a call, found \u{1b}").at(3, Some(7)).advise("do better");
    let said = Outcome::wrong(trouble, 0.5).render(Wanted::default());
    assert_eq!(said.exit, Exit::Input);
    assert_eq!(said.text, "error: history.jsonl:3:7: expected a call, found \\u{1b}\n  do better\n");
    let json: serde_json::Value = serde_json::from_str(&said.json).unwrap();
    assert_eq!(json["error"]["line"], 3);
    assert_eq!(json["error"]["column"], 7);
    assert!(json.get("verdict").is_none());
}

#[test]
fn the_documents() {
    let log = log("0 enq 1\n0 ok\n1 deq\n1 ok 7\n0 enq 2");
    let failure = Failure { part: Part::default(), violation: Violation::ThinAir { operation: OpId(1) } };
    let order = selvedge_history::evidence::Linearization { order: vec![OpId(0), OpId(1)], ..Default::default() };
    let documents: Vec<String> = [Verdict::Pass(vec![order]), Verdict::Fail(failure), Verdict::Unknown(Limit::Time)]
        .into_iter()
        .map(|verdict| {
            let json: serde_json::Value = serde_json::from_str(&said(Kind::Queue, &log, verdict).json).unwrap();
            serde_json::to_string_pretty(&json).unwrap()
        })
        .collect();
    assert_snapshot!(documents.join("\n"));
}

/// Text, document, page and cases of an outcome, and the exit code that all of them must say.
#[track_caller]
fn agrees(outcome: Outcome<'_>, exit: Exit) {
    let said = outcome.render(Wanted { page: true, certificate: true, cases: true });
    assert_eq!(said.exit, exit);
    let document: serde_json::Value = serde_json::from_str(&said.json).unwrap();
    let (label, verdict, end) = match exit {
        Exit::Pass => ("PASS  ", Some("pass"), CaseEnd::Pass),
        Exit::Violation => ("FAIL  ", Some("fail"), CaseEnd::Fail),
        Exit::Unknown => ("UNKNOWN  ", Some("unknown"), CaseEnd::Unknown),
        Exit::Input | Exit::Bug => ("error: ", None, CaseEnd::Error),
    };
    for text in [&said.text, &said.line] {
        assert!(text::strip(text).starts_with(label), "{text}");
    }
    assert_eq!(document["verdict"].as_str(), verdict);
    assert_eq!(document.get("error").is_some(), verdict.is_none());
    assert_eq!(said.cases.iter().map(|case| case.end).collect::<Vec<_>>(), [end]);
    let title = verdict.map(|verdict| format!("<title>{}: ", verdict.to_uppercase()));
    assert_eq!(said.page.is_some(), title.is_some());
    assert!(said.page.is_none_or(|page| page.contains(&title.unwrap_or_default())));
    assert_eq!(said.certificate.is_some(), matches!(exit, Exit::Pass | Exit::Violation));
}

#[test]
fn all_renderings_say_the_same() {
    let (log, limits) = (log("0 enq 1\n0 ok\n1 deq\n1 ok 7\n0 enq 2"), limits());
    let (kind, format, file) = (Kind::Queue, "jsonl", "history.jsonl");
    let of = Recorded { file, format, log: &log, initial: None, seconds: 0.5, limits: &limits };
    let failure = Failure { part: Part::default(), violation: Violation::ThinAir { operation: OpId(1) } };
    let verdicts = [
        (Verdict::Pass(Vec::new()), Exit::Pass),
        (Verdict::Fail(failure), Exit::Violation),
        (Verdict::Unknown(Limit::Memory), Exit::Unknown),
    ];
    for (verdict, exit) in verdicts {
        let (algorithms, parts, parts_passed, states, longest) = (vec![], 1, 0, 0, 0);
        let answer = Answer { kind, verdict, algorithms, parts, parts_passed, states, longest };
        agrees(Outcome::Decided(Decided { of, answer, evidence_kept: false }), exit);
    }
    agrees(Outcome::Nothing(Nothing { of, object: Some(kind), criterion: Criterion::default() }), Exit::Unknown);
    agrees(Outcome::cut("history.jsonl", Limit::Time, &limits, &Progress::default()), Exit::Unknown);
    agrees(Outcome::wrong(Trouble::new("history.jsonl", "it is wrong"), 0.5), Exit::Input);
    agrees(Outcome::bug("history.jsonl"), Exit::Bug);
}
