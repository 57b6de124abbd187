//! `selvedge test --specification` and `--approximate`: reports, documents and wrong input.

use insta::assert_snapshot;

use crate::*;

/// Tests a program; findings go to a directory of the test's own.
fn test(name: &str, program: &str, args: &[&str]) -> Run {
    let directory = scratch(&format!("specified-{name}"));
    let _ = std::fs::remove_dir_all(&directory);
    let common = ["test", program, "--strategy", "dpor", "--findings", directory.to_str().expect("a plain name")];
    selvedge(&[&common, args].concat())
}

fn shown(name: &str, run: &Run) {
    insta::with_settings!({filters => vec![
        (r"\d+\.\d+ cpu s", "N cpu s"),
        (r"replay: selvedge replay .*", "replay: selvedge replay FINDING"),
    ]}, {
        assert_snapshot!(name, run.stdout);
    });
}

const WRONG: &str = "corpus/relaxed/quasi/quasi_queue.c";
const RIGHT: &str = "corpus/relaxed/linearizable/ms_queue.c";

#[test]
fn a_violation_that_is_counted() {
    let args = ["--shape", "2*2+4", "--specification", "queue", "--approximate", "k=2", "--no-shrink"];
    let run = test("counted", WRONG, &args).expect(1);
    shown("counted", &run);
    let replay = run.stdout.split("replay: selvedge replay ").nth(1).and_then(|rest| rest.lines().next());
    let again = selvedge(&["replay", replay.expect("a path")]).expect(1);
    assert!(again.stdout.contains("no serial order of the operations has these results"), "{}", again.stdout);
}

#[test]
fn nothing_visible_is_unknown() {
    let args = ["--matrix", "enq(1), deq() | deq()", "--specification", "queue"];
    let run = test("unknown", RIGHT, &[&args[..], &["--approximate", "k=2"]].concat()).expect(3);
    shown("nothing_visible", &run);
    let run = test("unknown-json", RIGHT, &[&args[..], &["--approximate", "k=2", "--json"]].concat()).expect(3);
    let object = &run.json()["tests"][0];
    assert_eq!((&object["verdict"], &object["criterion"]), (&"unknown".into(), &"operation-counting".into()));
    assert_eq!((&object["specification"], &object["k"]), (&"queue".into(), &2.into()));
    assert_eq!(object["histories_counted"], object["histories"]);
    let run = test("pass-json", RIGHT, &[&args[..], &["--json"]].concat()).expect(0);
    let object = &run.json()["tests"][0];
    assert_eq!((&object["verdict"], &object["criterion"]), (&"pass".into(), &"linearizability".into()));
    assert_eq!((object["histories_counted"].as_u64(), object.get("k")), (Some(0), None));
}

#[test]
fn wrong_input_is_an_error() {
    for (args, says) in [
        (&["--approximate", "k=2"][..], "say which one, such as --specification queue"),
        (&["--approximate", "k=9", "--specification", "queue"], "expected k=N with N from 0 to 8"),
        (&["--approximate", "k=2", "--specification", "queue", "--quasi", "deq=1"], "leave --quasi out"),
        (&["--approximate", "k=2", "--specification", "map"], "there is no counting formula for a map"),
        (&["--specification", "stack"], "`enq(1)`: the object has no such method"),
    ] {
        let run = test("wrong", RIGHT, args).expect(2);
        assert!(run.stderr.contains(says), "{args:?}: {}", run.stderr);
    }
}

/// A matrix with too many serial orders says what to do.
#[test]
fn a_matrix_that_is_too_large_for_phase_1() {
    let thread = "enq(1), enq(2), deq(), deq(), enq(3), deq()";
    let matrix = [thread; 4].join(" | ");
    let run = test("large", RIGHT, &["--matrix", &matrix, "--time-max", "1s"]).expect(3);
    let text: String = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("serial orders of its calls: with --specification queue"), "{text}");
    let args = ["--matrix", &matrix, "--strategy", "random", "--runs", "20", "--specification", "queue"];
    let directory = scratch("specified-large-random");
    let run =
        selvedge(&[&["test", RIGHT, "--findings", directory.to_str().expect("a plain name")], &args[..]].concat());
    assert!(run.expect(0).stdout.contains("held against the built-in queue"));
}
