//! The documents of every command, and what each format makes of them.

use serde_json::{Value, json};

use super::*;

fn documents() -> Vec<Value> {
    vec![
        json!({"file": "queue.jsonl", "verdict": "fail", "criterion": "linearizability", "seconds": 0.25,
            "violation": {"kind": "overtaken", "reason": "milk overtook tea: <b> & \"c\"", "operations": [{"call_line": 7}]}}),
        json!({"file": "right.jsonl", "verdict": "pass", "criterion": "linearizability", "seconds": 0.5}),
        json!({"file": "hard.jsonl", "verdict": "unknown", "criterion": "linearizability", "seconds": 60.0,
            "limit": "time", "reason": "the time limit of 60 s was reached"}),
        json!({"file": "bad.jsonl", "seconds": 0.0, "criterion": "linearizability",
            "error": {"file": "bad.jsonl", "line": 3, "column": 1, "reason": "expected an object", "advice": null}}),
        json!({"file": "a b.c", "verdict": "fail", "seconds": 1.0, "findings": [], "tests": [
            {"test": "right", "verdict": "pass", "covered": "exhaustive: every schedule", "cpu_seconds": 0.5, "findings": []},
            {"test": "long", "verdict": "unknown", "limit": "time", "covered": "partial", "cpu_seconds": 9.0, "findings": []},
            {"test": "wrong", "verdict": "fail", "covered": "partial", "cpu_seconds": 0.1, "findings": [
                {"test": "wrong", "kind": "data-race", "message": "x, y: 100%\nsecond line", "path": "f/w.json",
                 "file": "src/a b.c", "line": 12}]}]}),
        json!({"file": "m.csp", "verdict": "fail", "criterion": "model", "seconds": 0.1, "assertions": [
            {"number": 1, "text": "P() deadlockfree", "verdict": "pass", "criterion": "deadlockfree", "seconds": 0.0},
            {"number": 2, "text": "P() refines Q()", "verdict": "fail", "criterion": "refinement", "seconds": 0.1,
             "reason": "Q cannot do pop"},
            {"number": 3, "text": "R() deadlockfree", "criterion": "deadlockfree", "seconds": 0.0,
             "error": {"reason": "index 3 is out of range", "line": 4, "column": 2}}]}),
    ]
}

fn all() -> Vec<Case> {
    documents().iter().flat_map(cases).collect()
}

#[test]
fn every_document_has_its_cases() {
    use Outcome::{Error, Fail, Pass, Unknown};
    let outcomes: Vec<Outcome> = all().iter().map(|case| case.outcome).collect();
    assert_eq!(outcomes, [Fail, Pass, Unknown, Error, Pass, Unknown, Fail, Pass, Fail, Error]);
    let race = all().into_iter().find(|case| case.kind == "data-race").unwrap();
    assert_eq!(race.place, Some(("src/a b.c".to_owned(), Some(12))));
    assert!(race.message.ends_with("(selvedge replay f/w.json)"), "{}", race.message);
}

#[test]
fn junit_is_xml_that_counts_right() {
    let text = junit::render(&all());
    assert!(text.contains("<testsuites name=\"selvedge\" tests=\"10\" failures=\"3\" errors=\"4\""), "{text}");
    assert!(text.contains("message=\"milk overtook tea: &lt;b&gt; &amp; &quot;c&quot;\""), "{text}");
    assert!(text.contains("x, y: 100%&#10;second line"), "{text}");
    assert!(text.contains("type=\"unknown: time\""), "{text}");
    // Every element that is opened is closed.
    for tag in ["testsuites", "testsuite", "failure", "error"] {
        let opened = text.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, text.matches(&format!("</{tag}>")).count(), "{tag}");
    }
    let hostile = Case { name: "\u{1}<script>]]>'\u{ffff}".into(), ..all()[1].clone() };
    assert!(junit::render(&[hostile]).contains("name=\"?&lt;script&gt;]]&gt;&apos;?\""));
}

#[test]
fn sarif_has_results_for_violations_alone() {
    let document: Value = serde_json::from_str(&sarif::render(&all())).unwrap();
    let run = &document["runs"][0];
    let kinds: Vec<&str> = run["results"].as_array().unwrap().iter().filter_map(|r| r["ruleId"].as_str()).collect();
    assert_eq!(kinds, ["overtaken", "data-race", "refinement"]);
    let rules: Vec<&str> =
        run["tool"]["driver"]["rules"].as_array().unwrap().iter().filter_map(|rule| rule["id"].as_str()).collect();
    assert_eq!(rules, ["data-race", "overtaken", "refinement"]);
    let place = &run["results"][1]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "src/a%20b.c");
    assert_eq!(place["region"]["startLine"], 12);
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
    assert_eq!(run["invocations"][0]["toolExecutionNotifications"].as_array().unwrap().len(), 4);
    let quiet: Value = serde_json::from_str(&sarif::render(&cases(&documents()[1]))).unwrap();
    assert_eq!(quiet["runs"][0]["results"], json!([]));
    assert_eq!(quiet["runs"][0]["invocations"][0]["executionSuccessful"], true);
}

#[test]
fn annotations_stay_on_their_lines() {
    let text = annotations::render(&all());
    assert_eq!(text.lines().count(), 7, "{text}");
    assert!(text.contains(
        "::error file=src/a b.c,line=12,title=wrong%3A data-race::x, y: 100%25%0Asecond line (selvedge replay f/w.json)\n"
    ));
    assert!(text.contains("::warning file=hard.jsonl,title=linearizability%3A unknown::"), "{text}");
    assert_eq!(annotations::render(&cases(&documents()[1])), "");
}

#[test]
fn what_is_not_known_or_expected_is_no_failure() {
    let outcomes = |document: Value| -> Vec<Outcome> { cases(&document).iter().map(|case| case.outcome).collect() };
    let finding = json!({"test": "t", "kind": "panic", "message": "m", "path": "f.json"});
    let replay = |verdict: &str| json!({"file": "f.json", "verdict": verdict, "seconds": 0.1, "findings": [finding]});
    assert_eq!(outcomes(replay("fail")), [Outcome::Fail]);
    assert_eq!(outcomes(replay("unknown")), [Outcome::Unknown], "the same schedule did something else");
    let session = |test: Value, lost: Value| json!({"file": "Cargo.toml", "verdict": "?", "seconds": 1.0, "tests": [test], "lost": lost});
    let expected = json!({"test": "t", "verdict": "pass", "expected": true, "findings": [finding]});
    assert_eq!(outcomes(session(expected.clone(), json!([]))), [Outcome::Pass]);
    let lost = json!(["UNKNOWN  t: no report", "ERROR  a search could not start: why"]);
    assert_eq!(outcomes(session(expected, lost)), [Outcome::Pass, Outcome::Unknown, Outcome::Error]);
    let unsaved = json!({"test": "t", "kind": "panic", "message": "m", "unsaved": "not saved: x"});
    let failed = json!({"test": "t", "verdict": "fail", "findings": [unsaved]});
    assert_eq!(cases(&session(failed, json!([])))[0].message, "m (not saved: x)");
}
