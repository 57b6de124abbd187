//! `selvedge test` on objects: the report, the document, replays and wrong input.

use crate::*;

const PAPER: &str = "crates/runtime/tests/objects/paper.c";

/// Tests objects; findings go to a directory of the test's own.
fn test(name: &str, args: &[&str]) -> Run {
    let directory = scratch(&format!("objects-{name}"));
    let _ = std::fs::remove_dir_all(&directory);
    selvedge(&[&["test", PAPER, "--findings", directory.to_str().expect("a plain name")], args].concat())
}

#[test]
fn the_report_says_why_there_is_no_witness() {
    let matrix = "inc(), get() | inc()";
    let run = test("report", &["--test", "counter1", "--matrix", matrix]).expect(1);
    let text = &run.stdout;
    for line in [
        "FAIL  counter1: not-linearizable",
        "  | T1         | T2    |",
        "  | inc()      | inc() |",
        "  | get() -> 1 |       |",
        "    T1 inc(), T2 inc(), then T1 get() returns 2; here it returned 1",
        "  matrix: --matrix \"inc(), get() | inc()\"",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    // Then the interleaving, with source lines and the operations.
    let table = text.split("matrix: ").nth(1).expect("the rest");
    for words in ["call inc()", "return 1", "paper.c:", "replay: selvedge replay "] {
        assert!(table.contains(words), "{words}\n{text}");
    }
    let replay = table.split("replay: selvedge replay ").nth(1).and_then(|rest| rest.lines().next()).expect("a path");
    let again = selvedge(&["replay", replay]).expect(1);
    assert!(again.stdout.contains("no serial order of the operations has these results"), "{}", again.stdout);
}

#[test]
fn the_document_has_matrices_and_results() {
    let run = test("json", &["--test", "counter2", "--auto", "2", "--json"]).expect(1);
    let document = run.json();
    let object = &document["tests"][0];
    assert_eq!(object["verdict"], "fail");
    assert!(object["matrices"].as_u64() > Some(1) && object["serial_histories"].as_u64() > Some(1), "{object}");
    assert!(object["histories"].as_u64() > Some(1) && object["runs"].as_u64() > Some(1), "{object}");
    let violation = &object["violations"][0];
    assert_eq!(violation["kind"], "stuck");
    assert_eq!(violation["dimension"], "2x1");
    assert!(
        violation["regression"].as_str().is_some_and(|text| text.contains("SELVEDGE_OPTION(counter2")),
        "{violation}"
    );
    let run = test("json-pass", &["--test", "figure1_fixed", "--auto", "2", "--json"]).expect(0);
    let object = &run.json()["tests"][0];
    assert_eq!((object["matrices"].as_u64(), object["violations"].as_array().map(Vec::len)), (Some(48), Some(0)));
    assert_eq!(object["plan"], "all 48 up to 2x2");
}

#[test]
fn a_limit_is_unknown() {
    let run = test("limit", &["--test", "figure1_fixed", "--threads", "3", "--ops", "3", "--time-max", "1s"]).expect(3);
    assert!(run.stdout.contains("UNKNOWN  figure1_fixed"), "{}", run.stdout);
    assert!(run.stdout.contains("the time was up"), "{}", run.stdout);
}

#[test]
fn wrong_input_is_an_error() {
    for (args, says) in [
        (["--matrix", "dec()"], "there is no call `dec()`: expected one of inc(), get()"),
        (["--threads", "0"], "expected a number from 1 to 16 for threads, found `0`"),
        (["--samples", "0"], "expected a number from 1 for samples"),
        (["--observations", "no/such/file.xml"], "no/such/file.xml"),
        (["--observations", "Cargo.toml"], "expected an element"),
    ] {
        let run = test("wrong", &[&["--test", "counter1"][..], &args].concat()).expect(2);
        assert!(run.stderr.contains(says), "{args:?}: {}", run.stderr);
    }
}
