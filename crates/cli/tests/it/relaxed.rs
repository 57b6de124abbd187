//! `selvedge test --quasi`: reports, documents and wrong input, on programs of `corpus/relaxed`.

use insta::assert_snapshot;

use crate::*;

/// Tests a program of the corpus; findings go to a directory of the test's own.
fn test(name: &str, program: &str, args: &[&str]) -> Run {
    let directory = scratch(&format!("relaxed-{name}"));
    let _ = std::fs::remove_dir_all(&directory);
    let program = format!("corpus/relaxed/{program}.c");
    selvedge(&[&["test", &program, "--findings", directory.to_str().expect("a plain name")], args].concat())
}

/// Section VI-D of Round-Up, with an empty segment on top: the mark is read twice, and the value pushed a second time.
const K_STACK: &str = "push(1), push(2), push(3), pop(); push(4) | pop(); pop(), pop()";

/// The six steps of Round-Up, section VI-D, one after the other, with their lines.
#[test]
fn the_report_on_the_k_stack() {
    let args = ["--quasi", "pop=2", "--reading", "closed", "--strategy", "dpor", "--matrix", K_STACK];
    let run = test("k-stack", "neither/k_stack", &args).expect(1);
    insta::with_settings!({filters => vec![
        (r"\d+\.\d+ cpu s", "N cpu s"),
        (r"replay: selvedge replay .*", "replay: selvedge replay FINDING"),
    ]}, {
        assert_snapshot!("k_stack", run.stdout);
    });
    let text = &run.stdout;
    // Nothing found, marked, put in, seen marked, unmarked, seen unmarked, put in again.
    let mut rest = text.split("What stands there").next().expect("the table");
    for step in ["→ 10", "= 1", "10 → 24", ":71   read", "= 0", ":73   read", "30 → 44"] {
        let at = rest.find(step).unwrap_or_else(|| panic!("{step} is missing, or comes too early\n{text}"));
        rest = &rest[at + step.len()..];
    }
    let replay = text.split("replay: selvedge replay ").nth(1).and_then(|rest| rest.lines().next()).expect("a path");
    let again = selvedge(&["replay", replay]).expect(1);
    assert!(again.stdout.contains("neither linearizable nor quasi linearizable with pop=2"), "{}", again.stdout);
}

#[test]
fn a_pass_says_which_of_the_two_holds() {
    let args = ["--quasi", "deq=2", "--reading", "closed", "--shape", "2*2+4", "--json"];
    let run = test("pass", "quasi/quasi_queue", &args).expect(0);
    let document = run.json();
    let object = &document["tests"][0];
    assert_eq!((&object["verdict"], &object["criterion"]), (&"pass".into(), &"quasi-linearizability".into()));
    assert_eq!((&object["quasi"], &object["specification"]), (&"deq=2".into(), &"reference".into()));
    assert_eq!(
        (&object["reading"], &object["causality"], &object["order"]),
        (&"closed".into(), &"causal".into(), &"distance".into())
    );
    assert_eq!((object["histories_linearizable"].as_u64(), object["histories_buggy"].as_u64()), (Some(0), Some(0)));
    for counter in ["serial_histories", "histories", "linearizations", "states"] {
        assert!(object[counter].as_u64() > Some(0), "{counter}: {object}");
    }
    assert!(run.stderr.contains("Not linearizable, but quasi linearizable with deq=2, closed"), "{}", run.stderr);
    let run =
        test("linearizable", "linearizable/treiber_stack", &["--quasi", "pop=2", "--shape", "push*pop+2"]).expect(0);
    assert!(run.stdout.contains("Linearizable, so no factor was needed: all"), "{}", run.stdout);
}

#[test]
fn wrong_input_is_an_error() {
    for (args, says) in [
        (&["--quasi", "pop=2"][..], "the object has no method \"pop\"; it has enq, deq"),
        (&["--quasi", "deq=-1"], "a factor cannot be negative"),
        (&["--quasi", "deq=100000"], "from 0 to 1000"),
        (&["--quasi", "deq=99999999999999999999"], "from 0 to 1000"),
        (&["--quasi", "deq"], "deq needs a factor"),
        (&["--quasi", ""], "expected METHOD=FACTOR"),
        (&["--quasi", "deq=1,*=2"], "classes overlap"),
        (&["--quasi", "deq=1,enq+deq=2"], "classes overlap"),
        (&["--quasi", "deq=2", "--specification", "bag"], "nondeterministic"),
        (&["--quasi", "deq=2", "--specification", "kettle"], "there is no built-in object `kettle`"),
        (&["--quasi", "pop=2", "--specification", "stack"], "`enq(1)` is no call of a stack"),
        (&["--reading", "closed"], "go with --quasi"),
        (&["--quasi", "deq=2", "--reading", "open"], "invalid value 'open'"),
        (&["--quasi", "deq=2", "--shape", "3*"], "expected a shape"),
        (&["--quasi", "deq=2", "--shape", "8*8"], "puts 8 different values in"),
        (&["--quasi", "deq=2", "--shape", "pop*deq"], "none called `pop`"),
    ] {
        let run = test("wrong", "quasi/quasi_queue", args).expect(2);
        assert!(run.stderr.contains(says), "{args:?}: {}", run.stderr);
    }
}
