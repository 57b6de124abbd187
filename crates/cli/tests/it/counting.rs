//! `selvedge formula`, and `selvedge check` by counting.

use crate::*;

/// A history in the project's own format: `A call acquire`, `A return`, `A return true`.
fn history(name: &str, events: &str) -> String {
    let mut text = "{\"selvedge\":\"history\",\"version\":1}\n".to_owned();
    for event in events.split(';').map(str::trim) {
        let words: Vec<&str> = event.split(' ').collect();
        text += &match words[..] {
            [thread, "call", method] => format!("{{\"call\":\"{method}\",\"thread\":\"{thread}\"}}\n"),
            [thread, "call", method, value] => {
                format!("{{\"call\":\"{method}\",\"thread\":\"{thread}\",\"value\":{value}}}\n")
            }
            [thread, "return"] => format!("{{\"return\":null,\"thread\":\"{thread}\"}}\n"),
            [thread, "return", value] => format!("{{\"return\":{value},\"thread\":\"{thread}\"}}\n"),
            _ => panic!("{event}"),
        };
    }
    file(name, text.as_bytes())
}

#[test]
fn the_shipped_kernels_have_formulas() {
    for kernel in ["mutex", "rwlock", "counter", "semaphore-2"] {
        let path = format!("examples/kernels/{kernel}.grammar");
        let run = selvedge(&["formula", &path, "-k", "2"]).expect(0);
        assert!(run.stdout.contains("connected("), "{}", run.stdout);
        assert!(run.stdout.contains("total(\""), "{}", run.stdout);
    }
    let named = selvedge(&["formula", "semaphore(2)", "-k", "1"]).expect(0);
    assert!(named.stdout.contains("\"try_acquire -> false\""), "{}", named.stdout);
}

/// Object and kernel of one name agree: more may be given back than was taken.
#[test]
fn a_release_alone_is_right_for_the_semaphore_and_for_its_kernel() {
    let released = history("release.jsonl", "A call release; A return");
    selvedge(&["check", &released, "--object", "semaphore"]).expect(0);
    selvedge(&["check", &released, "--object", "semaphore", "--approximate", "k=2"]).expect(3);
    selvedge(&["check", &released, "--kernel", "semaphore(1)"]).expect(3);
    selvedge(&["check", &released, "--kernel", "bounded-semaphore(1)"]).expect(1);
    let taken = history("taken.jsonl", "A call acquire; A return; A call acquire; A return");
    selvedge(&["check", &taken, "--object", "semaphore"]).expect(1);
    selvedge(&["check", &taken, "--kernel", "semaphore(1)"]).expect(1);
    selvedge(&["check", &taken, "--kernel", "semaphore(2)"]).expect(3);
    // A counter goes below 0; the one that does not has another name.
    let below = history("below.jsonl", "A call dec; A return");
    selvedge(&["check", &below, "--object", "counter"]).expect(0);
    selvedge(&["check", &below, "--kernel", "nonnegative-counter"]).expect(1);
    let run = selvedge(&["check", &below, "--kernel", "counter"]).expect(2);
    assert!(run.stderr.contains("nonnegative-counter"), "{}", run.stderr);
    selvedge(&["check", &released, "--kernel", "semaphore(1)", "--initial", "2"]).expect(2);
}

#[test]
fn a_wrong_kernel_is_shown_with_a_caret() {
    let path = file("wrong.grammar", b"Free = nothing | \"acquire\" Held\n");
    let run = selvedge(&["formula", &path]).expect(2);
    assert!(run.stderr.contains("wrong.grammar:1:28: `Held` is not defined"), "{}", run.stderr);
    assert!(run.stderr.lines().last().unwrap().trim_end().ends_with('^'), "{}", run.stderr);
    selvedge(&["formula", "no-such.grammar"]).expect(2);
    selvedge(&["formula", "mutex", "-k", "9"]).expect(2);
}

#[test]
fn a_kernel_finds_a_lock_held_twice_and_never_passes() {
    let twice = history("twice.jsonl", "A call lock; A return; B call lock; B return");
    let run = selvedge(&["check", &twice, "--kernel", "examples/kernels/mutex.grammar", "-k", "2"]).expect(1);
    assert!(run.stdout.contains("`acquire` takes effect 2 times in all"), "{}", run.stdout);
    assert!(run.stdout.contains("lock"), "{}", run.stdout);
    // What is pending may have released it.
    let released = history("released.jsonl", "A call lock; A return; C call unlock; B call lock; B return");
    let run = selvedge(&["check", &released, "--kernel", "mutex", "--json"]).expect(3);
    assert_eq!(run.json()["verdict"], "unknown");
    assert_eq!(run.json()["reason"], "no violation visible at k=2");
    let other = history("other.jsonl", "A call push 1; A return");
    let run = selvedge(&["check", &other, "--kernel", "mutex"]).expect(2);
    assert!(
        run.stderr.contains("the kernel has no operation `push(1) -> ?`") || run.stderr.contains("`push(1)`"),
        "{}",
        run.stderr
    );
}

#[test]
fn approximations_fail_or_do_not_know() {
    for example in examples("pass") {
        let run = selvedge(&["check", &example, "--approximate", "k=2"]);
        assert!(run.code == 3 || run.stderr.contains("there is no counting formula"), "{example}: {}", run.stdout);
    }
    let run = selvedge(&["check", FAIL, "--approximate", "k=3", "--json"]).expect(1);
    let json = run.json();
    assert_eq!((&json["verdict"], &json["coverage"]), (&"fail".into(), &"approximate".into()));
    assert_eq!(json["violation"]["formula"], "fifo", "{json}");
    assert!(json["violation"]["operations"].as_array().unwrap().len() >= 3, "{json}");
    selvedge(&["check", FAIL, "--approximate", "k=99"]).expect(2);
    selvedge(&["check", FAIL, "--approximate", "k=2", "--certificate", "x"]).expect(2);
}

/// The paper's example from end to end: the C code of figure 1 gives the history of figure 2(b), which has length 4 and the counting
/// representation of example 6.3; the violation shows at k=1 (table 1, B2), not at k=0.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[test]
fn the_aba_example_of_the_paper() {
    use selvedge_history::counting::{Counting, Label};
    let findings = scratch("aba");
    let _ = std::fs::remove_dir_all(&findings);
    let directory = findings.to_str().expect("a plain name");
    let run = selvedge(&["test", "examples/c/treiber_stack.c", "--findings", directory]).expect(1);
    assert!(run.stdout.contains("treiber_stack: not-linearizable"), "{}", run.stdout);
    let mut files = std::fs::read_dir(&findings).expect("there are findings").flatten();
    let text = std::fs::read_to_string(files.next().expect("there is one").path()).expect("it can be read");
    let finding: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let mut counting = Counting::new(4);
    let mut lines = Vec::new();
    let mut called = std::collections::HashMap::new();
    for step in finding["steps"].as_array().expect("it has steps") {
        let (thread, kind) = (step["thread"].as_u64().expect("a number"), &step["kind"]);
        if let Some(call) = kind["call"]["operation"].as_str() {
            let call = call.trim_end_matches("()").to_owned();
            counting.call(thread, Label::parse(&call).expect("a label").pending()).expect("it fits");
            lines.push(match call.strip_prefix("push(").and_then(|rest| rest.strip_suffix(')')) {
                Some(value) => format!("{thread} call push {value}"),
                None => format!("{thread} call pop"),
            });
            called.insert(thread, call);
        } else if let Some(result) = kind["return"]["result"].as_str() {
            let call = &called[&thread];
            let (label, line) = match result {
                "void" => (call.clone(), format!("{thread} return")),
                "empty" => (format!("{call} -> EMPTY"), format!("{thread} return")),
                value => (format!("{call} -> {value}"), format!("{thread} return {value}")),
            };
            counting.ret(thread, Label::parse(&label).expect("a label")).expect("it fits");
            lines.push(line);
        }
    }
    assert_eq!(counting.length(), 4);
    let counts = counting.representation();
    let mut counted: Vec<String> = counts
        .iter()
        .flat_map(|(label, triangle)| triangle.intervals().map(move |(i, j, n)| format!("{n} {label} [{i},{j}]")))
        .collect();
    counted.sort();
    let paper = [
        "1 pop -> 1 [1,1]",
        "1 pop -> 3 [1,3]",
        "1 pop -> EMPTY [4,4]",
        "1 push(1) [0,0]",
        "1 push(2) [2,2]",
        "1 push(3) [3,3]",
    ];
    assert_eq!(counted, paper);
    let path = history("aba.jsonl", &lines.join("; "));
    for (k, code) in [(0, 3), (1, 1), (2, 1), (3, 1), (4, 1)] {
        let run = selvedge(&["check", &path, "--object", "stack", "--approximate", &format!("k={k}")]).expect(code);
        assert!(run.stdout.contains("length 4"), "{}", run.stdout);
    }
}
