//! `selvedge model`.

use crate::*;

const PROVED: &str = "corpus/models/proved/fifo_queue.csp";
const REFUTED: &str = "corpus/models/refuted/concurrent_stack_no_swap.csp";

#[test]
fn what_is_proved_says_how_much_was_seen() {
    let run = selvedge(&["model", PROVED]).expect(0);
    assert_eq!(run.stdout.matches("proved for all executions").count(), 3, "{}", run.stdout);
    assert!(run.stdout.contains("1,115 states, 2,770 transitions"), "{}", run.stdout);
    assert_eq!(run.stderr, "");
    let one = selvedge(&["model", PROVED, "--assert", "1", "--stats"]).expect(0);
    assert!(one.stdout.contains("bytes a state") && !one.stdout.contains("2. "), "{}", one.stdout);
}

#[test]
fn a_counterexample_has_a_column_for_each_process() {
    let run = selvedge(&["model", REFUTED]).expect(1);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert!(lines[1].contains("refuted after 8 steps, 2 context switches"), "{}", run.stdout);
    assert_eq!(lines[3].trim(), "reductions: antichain, threads, intervals");
    assert!(lines[4].contains("Thread(0)") && lines[4].contains("Thread(1)"), "{}", run.stdout);
    let column = lines[4].find("Thread(1)").unwrap();
    assert_eq!(lines.iter().find(|line| line.contains("push_inv.1")).unwrap().find("push_inv.1"), Some(column));
    assert!(run.stdout.contains("it would allow: returns 2"), "{}", run.stdout);
}

#[test]
fn the_document_has_what_every_document_has() {
    let run = selvedge(&["model", REFUTED, "--json"]).expect(1);
    let document = run.json();
    for field in ["verdict", "criterion", "coverage", "seconds", "version", "limits"] {
        assert!(!document[field].is_null(), "{field}: {document}");
    }
    let assertion = &document["assertions"][0];
    assert_eq!((&document["verdict"], &assertion["verdict"]), (&"fail".into(), &"fail".into()));
    assert_eq!(assertion["run"]["steps"].as_array().unwrap().len(), 8);
    assert_eq!(assertion["run"]["context_switches"], 2);
    assert_eq!(assertion["search"]["exact"], true);
    assert_eq!(assertion["search"]["reductions"], serde_json::json!(["antichain", "threads", "intervals"]));
    assert!(run.stderr.contains("refuted"), "the report goes to standard error: {}", run.stderr);
}

#[test]
fn limits_make_it_unknown() {
    let run = selvedge(&["model", PROVED, "--states-max", "100", "--json"]).expect(3);
    let document = run.json();
    assert_eq!(document["assertions"][0]["limit"], "states");
    assert_eq!((&document["verdict"], &document["coverage"]), (&"unknown".into(), &"partial".into()));
    let endless = b"var x; P = a{x++} -> P; #assert P() deadlockfree;";
    let run = with_input(&["model", "-", "--time-max", "300ms"], endless).expect(3);
    assert!(run.stdout.contains("the time limit was reached"), "{}", run.stdout);
}

#[test]
fn what_is_wrong_with_a_model_is_shown_with_its_place() {
    let run = with_input(&["model", "-"], b"Sys = a -> Sis;\n#assert Sys() deadlockfree;").expect(2);
    assert!(run.stderr.contains("error[M004]") && run.stderr.contains("1:12"), "{}", run.stderr);
    assert!(run.stderr.contains("did you mean `Sys`?"), "{}", run.stderr);
    let run = with_input(&["model", "-", "--json"], b"Sys = a -> Sis;").expect(2);
    let document = run.json();
    assert_eq!((&document["error"]["line"], &document["error"]["column"]), (&1.into(), &12.into()));
    assert!(document["verdict"].is_null());
}

#[test]
fn a_fault_shows_how_it_is_reached() {
    let text = b"var a[2]; var i;\nP = next{i++} -> put{a[i] = 1;} -> P;\n#assert P() deadlockfree;";
    let run = with_input(&["model", "-"], text).expect(2);
    assert!(run.stderr.contains("index 2 is outside of a"), "{}", run.stderr);
    assert!(run.stderr.contains(":2:") && run.stderr.contains("next"), "{}", run.stderr);
}

#[test]
fn graphs_are_written() {
    let graph = scratch("run.dot");
    selvedge(&["model", REFUTED, "--dot", graph.to_str().unwrap()]).expect(1);
    assert!(std::fs::read_to_string(&graph).unwrap().starts_with("digraph"));
    let picture = scratch("run.svg");
    selvedge(&["model", REFUTED, "--dot", picture.to_str().unwrap()]).expect(1);
    assert!(std::fs::read_to_string(&picture).unwrap().contains("<svg"));
}

#[test]
fn an_assertion_that_is_not_there_is_wrong_usage() {
    let run = selvedge(&["model", PROVED, "--assert", "9"]).expect(2);
    assert!(run.stderr.contains("there is no assertion 9"), "{}", run.stderr);
}

/// An endless search, a state that takes longer than a command waits, and claims before and after them.
fn limited(endless: &str) -> String {
    format!(
        "var i; var x;\nP = a{{x++}} -> P;\n\
         S = s{{ while (i < 400000) {{ i = i+1; i = i-1; i = i+1; }} i = 0; x++; }} -> S;\nSlow = |||{{200}}@S;\n\
         R = b -> R;\nQ = c -> Stop;\n#assert R() deadlockfree;\n#assert Q() deadlockfree;\n\
         #assert {endless}() deadlockfree;\n{}",
        "#assert R() deadlockfree;\n".repeat(20)
    )
}

#[test]
fn what_was_finished_before_a_limit_stands() {
    for endless in ["P", "Slow"] {
        let (junit, page) = (scratch(&format!("{endless}.xml")), scratch(&format!("{endless}.html")));
        let flags =
            ["--time-max", "700ms", "--json", "--junit", junit.to_str().unwrap(), "--html", page.to_str().unwrap()];
        let arguments = [&["model", "-"][..], &flags[..]].concat();
        let run = with_input(&arguments, limited(endless).as_bytes()).expect(1);
        let document = run.json();
        let assertions = document["assertions"].as_array().unwrap();
        assert_eq!(assertions.len(), 23, "{document}");
        let verdicts: Vec<&str> = assertions.iter().map(|assertion| assertion["verdict"].as_str().unwrap()).collect();
        assert_eq!(verdicts[..3], ["pass", "fail", "unknown"], "{document}");
        assert!(verdicts[3..].iter().all(|verdict| *verdict == "unknown"), "{document}");
        for assertion in &assertions[2..] {
            assert_eq!(
                (&assertion["limit"], &assertion["coverage"]),
                (&"time".into(), &"partial".into()),
                "{document}"
            );
        }
        assert_eq!((&document["verdict"], &document["coverage"]), (&"fail".into(), &"partial".into()), "{document}");
        assert_eq!(assertions[0]["coverage"], "exhaustive");
        assert_eq!(run.stderr.matches("unknown: the time limit was reached").count(), 21, "{}", run.stderr);
        assert!(run.stderr.contains("proved for all executions") && run.stderr.contains("refuted"), "{}", run.stderr);
        let junit = std::fs::read_to_string(junit).unwrap();
        assert_eq!(junit.matches("<testcase").count(), 23, "{junit}");
        assert_eq!(junit.matches("<failure").count(), 1, "{junit}");
        let page = std::fs::read_to_string(page).unwrap();
        assert!(page.contains("23 assertions: 1 refuted, 21 without an answer, 1 fulfilled"), "{page}");
    }
}

#[test]
fn an_error_in_one_assertion_leaves_the_others_their_verdicts() {
    let text = "var a[2]; var i;\nP = next{i++} -> put{a[i] = 1;} -> P;\nQ = q -> Stop;\nR = r -> R;\n\
                #assert R() deadlockfree;\n#assert P() deadlockfree;\n";
    let document = with_input(&["model", "-", "--json"], text.as_bytes()).expect(2).json();
    assert_eq!((&document["verdict"], &document["coverage"]), (&"unknown".into(), &"partial".into()), "{document}");
    let refuted = format!("{text}#assert Q() deadlockfree;\n");
    let document = with_input(&["model", "-", "--json"], refuted.as_bytes()).expect(2).json();
    assert_eq!((&document["verdict"], &document["coverage"]), (&"fail".into(), &"partial".into()), "{document}");
    let assertions = document["assertions"].as_array().unwrap();
    let each = |field: &str| assertions.iter().map(|one| one[field].as_str().unwrap_or("none")).collect::<Vec<_>>();
    assert_eq!(each("verdict"), ["pass", "none", "fail"], "{document}");
    assert_eq!(each("coverage"), ["exhaustive", "partial", "exhaustive"], "{document}");
    assert_eq!(assertions[1]["error"]["line"], 2, "{document}");
}

#[test]
fn a_model_that_claims_nothing_is_no_pass() {
    for text in ["", "// nothing\n", "P = a -> P;\n"] {
        let run = with_input(&["model", "-"], text.as_bytes()).expect(2);
        assert!(run.stderr.contains("claims nothing") && run.stderr.contains("#assert"), "{}", run.stderr);
        let document = with_input(&["model", "-", "--json"], text.as_bytes()).expect(2).json();
        assert!(document["verdict"].is_null() && document["error"]["reason"].is_string(), "{document}");
    }
}

#[test]
fn a_formula_about_an_event_that_cannot_happen_is_wrong() {
    let run = with_input(&["model", "-"], b"P = eat -> P;\n#assert P() |= [] !eta;").expect(2);
    assert!(run.stderr.contains("error[M004]") && run.stderr.contains("2:20"), "{}", run.stderr);
}

#[test]
fn a_run_that_terminates_is_not_called_stuck() {
    let run = with_input(&["model", "-"], b"P = a -> Skip;\n#assert P() nonterminating;").expect(1);
    assert!(run.stdout.contains("the run ends here") && !run.stdout.contains("has not terminated"), "{}", run.stdout);
}

#[test]
fn what_is_claimed_is_not_guessed_from_names() {
    let text = b"P = reaches -> deadlockfree -> P;\n#assert P() |= [](!reaches || X deadlockfree);";
    let run = with_input(&["model", "-", "--json"], text).expect(0);
    assert_eq!(run.json()["assertions"][0]["criterion"], "ltl");
    assert!(run.stderr.contains("proved for all executions"), "{}", run.stderr);
}

#[test]
fn parts_of_one_process_that_go_together_have_its_name() {
    let text = b"P = c -> Stop || (b -> Stop || b -> Stop);\n#assert P() deadlockfree;";
    let run = with_input(&["model", "-"], text).expect(1);
    assert!(run.stdout.contains("part 2"), "{}", run.stdout);
    let text = b"P = a -> Stop || (b -> Stop || b -> Stop);\nQ = Stop || P;\n#assert Q() |= [] !b;";
    with_input(&["model", "-"], text).expect(1);
}
