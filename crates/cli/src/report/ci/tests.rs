//! Outcomes of every command, and what each format makes of them.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use selvedge_history::object::Kind;
use selvedge_history::{Budget, Limit, check, format};
use selvedge_model::language::Model;
use selvedge_protocol::{Cause, CoverageRecord, Finding, FindingKind, Settings, TestReport};

use super::*;
use crate::exit::Exit;
use crate::findings::Saved;
use crate::limits::Limits;
use crate::progress::Progress;
use crate::report::Outcome;
use crate::report::names::Names;
use crate::report::outcome::{Assertion, Decided, Ending, Modelled, Recorded, Replayed};
use crate::report::tested::{Missing, Session, Tested};

const RIGHT: &str = "{\"call\":\"enq\",\"thread\":0,\"value\":1}\n{\"return\":null,\"thread\":0}\n";
/// `<b> & c` overtakes what came before it.
const OVERTAKEN: &str = "{\"call\":\"enq\",\"thread\":0,\"value\":\"a\"}\n{\"return\":null,\"thread\":0}\n\
    {\"call\":\"enq\",\"thread\":0,\"value\":\"<b>&c\"}\n{\"return\":null,\"thread\":0}\n\
    {\"call\":\"deq\",\"thread\":0}\n{\"return\":\"<b>&c\",\"thread\":0}\n\
    {\"call\":\"deq\",\"thread\":0}\n{\"return\":\"a\",\"thread\":0}\n";

fn limits() -> Limits {
    Limits {
        started: Instant::now(),
        time_max: Some(Duration::from_secs(60)),
        memory_max: 1 << 30,
        grace: Duration::ZERO,
    }
}

/// The cases of a history of a queue.
fn of_history(file: &str, text: &str) -> Vec<Case> {
    let (_, log) = format::read(&mut text.as_bytes(), None, &Budget::new()).unwrap();
    let answer = check::check(&log, Kind::Queue, None, &Budget::new()).unwrap();
    let limits = limits();
    let of = Recorded { file, format: "jsonl", log: &log, initial: None, seconds: 0.25, limits: &limits };
    cases(&Outcome::Decided(Decided { of, answer, evidence_kept: false }))
}

/// What a panic says, with its place before it, if it has one.
fn panic_of(message: &str) -> Cause {
    let placed = message.strip_prefix("panic at ").and_then(|rest| rest.split_once(": "));
    let (place, message) = placed.unwrap_or(("", message));
    Cause::Panic { place: place.to_owned(), message: message.to_owned() }
}

fn finding(message: &str) -> Finding {
    Finding {
        format: Finding::FORMAT.into(),
        version: Finding::VERSION,
        tool: String::new(),
        test: "t".into(),
        program: String::new(),
        kind: FindingKind::Panic,
        cause: panic_of(message),
        thread: 1,
        place: None,
        run: 7,
        schedule: String::new(),
        settings: Settings::default(),
        steps: vec![],
        threads: vec![],
        callers: vec![],
        other: None,
        frames: vec![],
    }
}

fn tested(test: &str, coverage: CoverageRecord, findings: Vec<(Finding, Saved)>) -> Tested {
    let (findings, paths) = findings.into_iter().unzip();
    Tested {
        report: TestReport { coverage, findings, ..TestReport::new(test) },
        object: None,
        settings: Settings::default(),
        interrupted: false,
        paths,
        program: "no/such/program".into(),
        function: None,
        expected: false,
        lost: None,
    }
}

fn of_session(file: &str, tests: &[Tested], missing: &[Missing]) -> Vec<Case> {
    let (compiler, time_max, seconds, exit) = ("gcc", None, 1.0, None);
    cases(&Outcome::Tested(Session { file, compiler, tests, time_max, seconds, exit, missing, taken: 0 }))
}

/// A model with an assertion of each ending.
fn of_model() -> Vec<Case> {
    let text = "var x = 0;\nvar a[2];\nUp() = up{x = (x + 1) % 3} -> Up();\nP() = up{a[x + 2] = 1} -> Skip;\n\
                #define five x == 5;\n#assert Up() deadlockfree;\n#assert Up() reaches five;\n#assert P() deadlockfree;\n";
    let model = Model::new(text).unwrap();
    let settings = selvedge_model::Settings::default();
    let assertion = |at: usize| {
        let ending = model.check(at, &settings).map_or_else(Ending::Trouble, |answer| Ending::Answer(answer, None));
        let (text, claim) = (model.assertions()[at].clone(), model.claim(at));
        Arc::new(Assertion { number: at + 1, text, claim, ending, seconds: 0.1 })
    };
    let (assertions, limits) = ((0..3).map(assertion).collect(), limits());
    let (stats, states_max, jobs, spaces, graph) = (false, None, 1, vec![], None);
    let file = "m.csp";
    cases(&Outcome::Modelled(Modelled {
        file,
        text,
        stats,
        states_max,
        jobs,
        limits: &limits,
        assertions,
        spaces,
        seconds: 0.1,
        graph,
    }))
}

fn all() -> Vec<Case> {
    let wrong = Trouble::new("bad.jsonl", "expected an object").at(3, Some(1));
    let panic = (finding("panic at src/a b.c:12: x, y: 100%"), Saved::at("f/w.json"));
    let tests = [
        tested("right", CoverageRecord::Exhaustive, vec![]),
        tested("long", CoverageRecord::Partial, vec![]),
        tested("wrong", CoverageRecord::Partial, vec![panic]),
    ];
    [
        of_history("queue.jsonl", OVERTAKEN),
        of_history("right.jsonl", RIGHT),
        cases(&Outcome::cut("hard.jsonl", Limit::Time, &limits(), &Progress::default())),
        cases(&Outcome::wrong(wrong, 0.0)),
        of_session("a b.c", &tests, &[]),
        of_model(),
    ]
    .concat()
}

#[test]
fn every_outcome_has_its_cases() {
    use CaseEnd::{Error, Fail, Pass, Unknown};
    let ends: Vec<CaseEnd> = all().iter().map(|case| case.end).collect();
    assert_eq!(ends, [Fail, Pass, Unknown, Error, Pass, Unknown, Fail, Pass, Fail, Error]);
    let kinds: Vec<String> = all().into_iter().map(|case| case.kind).collect();
    assert_eq!(kinds[..4], ["overtaken", "", "time", "wrong-input"]);
    assert_eq!(kinds[5..], ["time", "panic", "", "reaches", ""]);
    let places: Vec<_> = all().into_iter().map(|case| case.place).collect();
    let place = |file: &str, line| Some((file.to_owned(), line));
    assert_eq!(places[0], place("queue.jsonl", Some(3)));
    assert_eq!(places[3], place("bad.jsonl", Some(3)));
    assert_eq!(places[6], place("src/a b.c", Some(12)));
    assert_eq!(places[9], place("m.csp", Some(4)));
    assert_eq!(all()[6].message, "panic at src/a b.c:12: x, y: 100% (selvedge replay f/w.json)");
}

#[test]
fn junit_is_xml_that_counts_right() {
    let text = junit::render(&all());
    assert!(text.contains("<testsuites name=\"selvedge\" tests=\"10\" failures=\"3\" errors=\"4\""), "{text}");
    assert!(text.contains("message=\"&lt;b&gt;&amp;c overtook a"), "{text}");
    assert!(text.contains("type=\"unknown: time\""), "{text}");
    // Every element that is opened is closed.
    for tag in ["testsuites", "testsuite", "failure", "error"] {
        let opened = text.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, text.matches(&format!("</{tag}>")).count(), "{tag}");
    }
    let (name, message) = ("\u{1}<script>]]>'\u{ffff}".into(), "one \"line\"\nand another".into());
    let hostile = junit::render(&[Case { name, message, ..all()[0].clone() }]);
    assert!(hostile.contains("name=\"?&lt;script&gt;]]&gt;&apos;?\""), "{hostile}");
    assert!(hostile.contains("message=\"one &quot;line&quot;&#10;and another\""), "{hostile}");
}

#[test]
fn sarif_has_results_for_violations_alone() {
    let read = |cases: &[Case]| serde_json::from_str::<serde_json::Value>(&sarif::render(cases)).unwrap();
    let document = read(&all());
    let run = &document["runs"][0];
    let kinds: Vec<&str> = run["results"].as_array().unwrap().iter().filter_map(|r| r["ruleId"].as_str()).collect();
    assert_eq!(kinds, ["overtaken", "panic", "reaches"]);
    let rules: Vec<&str> =
        run["tool"]["driver"]["rules"].as_array().unwrap().iter().filter_map(|rule| rule["id"].as_str()).collect();
    assert_eq!(rules, ["overtaken", "panic", "reaches"]);
    let place = &run["results"][1]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "src/a%20b.c");
    assert_eq!(place["region"]["startLine"], 12);
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
    assert_eq!(run["invocations"][0]["toolExecutionNotifications"].as_array().unwrap().len(), 4);
    let quiet = read(&of_history("right.jsonl", RIGHT));
    assert_eq!(quiet["runs"][0]["results"], serde_json::json!([]));
    assert_eq!(quiet["runs"][0]["invocations"][0]["executionSuccessful"], true);
}

#[test]
fn annotations_stay_on_their_lines() {
    let text = annotations::render(&all());
    assert_eq!(text.lines().count(), 7, "{text}");
    assert!(text.contains(
        "::error file=src/a b.c,line=12,title=wrong%3A panic::panic at src/a b.c:12: x, y: 100%25 (selvedge replay f/w.json)\n"
    ));
    assert!(text.contains("::warning file=hard.jsonl,title=linearizability%3A unknown::"), "{text}");
    assert_eq!(annotations::render(&of_history("right.jsonl", RIGHT)), "");
    let broken = Case { message: "one\nand another".into(), ..all()[0].clone() };
    assert!(annotations::render(&[broken]).ends_with("::one%0Aand another\n"));
}

#[test]
fn what_is_not_known_or_expected_is_no_failure() {
    let ends = |cases: Vec<Case>| -> Vec<CaseEnd> { cases.iter().map(|case| case.end).collect() };
    let panic = finding("m");
    let replayed = |same: bool| {
        let names = &RefCell::new(Names::new("no/such/program"));
        let (file, object, seconds) = ("f.json", None, 0.1);
        cases(&Outcome::Replayed(Replayed { file, finding: &panic, again: Some(&panic), object, same, seconds, names }))
    };
    assert_eq!(ends(replayed(true)), [CaseEnd::Fail]);
    assert_eq!(ends(replayed(false)), [CaseEnd::Unknown], "the same schedule did something else");
    let saved = (panic.clone(), Saved::at("f.json"));
    let expected = [Tested { expected: true, ..tested("t", CoverageRecord::Partial, vec![saved]) }];
    assert_eq!(expected[0].exit(), Exit::Pass);
    assert_eq!(ends(of_session("Cargo.toml", &expected, &[])), [CaseEnd::Pass]);
    let lost = [Missing::unknown("t", "no report"), Missing::untestable("a search could not start", "why")];
    let all = ends(of_session("Cargo.toml", &expected, &lost));
    assert_eq!(all, [CaseEnd::Pass, CaseEnd::Unknown, CaseEnd::Error]);
    let unsaved = Saved { path: "f.json".into(), error: Some("x".into()) };
    let failed = [tested("t", CoverageRecord::Partial, vec![(panic.clone(), unsaved)])];
    let message = &of_session("Cargo.toml", &failed, &[])[0].message;
    assert_eq!(message, "m (not saved, so that it cannot be replayed: f.json: x)");
}
