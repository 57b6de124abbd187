//! `selvedge check --quasi`: verdicts, readings, evidence, wrong input.

use crate::*;

/// A history of one thread: insertions, then what came out.
fn history(name: &str, put: &[i64], out: &[&str]) -> String {
    let mut text = String::new();
    for value in put {
        text.push_str(&format!(
            "{{\"call\":\"enq\",\"value\":{value},\"thread\":0}}\n{{\"return\":null,\"thread\":0}}\n"
        ));
    }
    for value in out {
        text.push_str(&format!("{{\"call\":\"deq\",\"thread\":0}}\n{{\"return\":{value},\"thread\":0}}\n"));
    }
    file(name, text.as_bytes())
}

/// Without the ends of lines.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn factors_decide() {
    let path = history("overtaken.jsonl", &[1, 2, 3, 4], &["3", "1", "2", "4"]);
    selvedge(&["check", &path, "--object", "queue"]).expect(1);
    let run = selvedge(&["check", &path, "--object", "queue", "--quasi", "deq=1"]).expect(1);
    assert!(run.stdout.contains("not quasi linearizable as a queue with deq=1"), "{}", run.stdout);
    assert!(flat(&run.stdout).contains("A factor of 2 for deq would do"), "{}", run.stdout);
    let run = selvedge(&["check", &path, "--object", "queue", "--quasi", "deq=2,enq=0"]).expect(0);
    assert!(run.stdout.contains("quasi linearizable as a queue with deq=2,enq=0"), "{}", run.stdout);
    assert!(flat(&run.stdout).contains(": 2 places, counted in the operations of deq."), "{}", run.stdout);
    selvedge(&["check", &path, "--object", "queue", "--quasi", "dequeue=2"]).expect(0);
    selvedge(&["check", &path, "--object", "queue", "--quasi", "*=2"]).expect(0);
    selvedge(&["check", &path, "--object", "queue", "--quasi", "*=0"]).expect(1);
}

#[test]
fn readings_decide() {
    let open = history("open.jsonl", &[1, 2], &["2"]);
    let check = |extra: &[&str], code| {
        let args: Vec<&str> = ["check", &open, "--object", "queue", "--quasi", "deq=1"]
            .into_iter()
            .chain(extra.iter().copied())
            .collect();
        selvedge(&args).expect(code)
    };
    check(&[], 0);
    let run = check(&["--reading", "closed"], 1);
    assert!(flat(&run.stdout).contains("with 1 more operation after it: deq→1"), "{}", run.stdout);
    let parted = history("parted.jsonl", &[1, 2, 3, 4, 5, 6], &["1", "4", "2", "5", "6", "3"]);
    let strict = ["check", &parted, "--object", "queue", "--quasi", "deq=2", "--order"];
    selvedge(&[&strict[..], &["strict"]].concat()).expect(0);
    selvedge(&[&strict[..], &["distance"]].concat()).expect(1);
    let early = file(
        "early.jsonl",
        b"{\"call\":\"deq\",\"thread\":0}\n{\"return\":1,\"thread\":0}\n{\"call\":\"enq\",\"value\":1,\"thread\":0}\n{\"return\":null,\"thread\":0}\n",
    );
    let early = ["check", &early, "--object", "queue", "--quasi", "*=1", "--causality"];
    selvedge(&[&early[..], &["free"]].concat()).expect(0);
    selvedge(&[&early[..], &["causal"]].concat()).expect(1);
}

#[test]
fn the_smallest_factor_is_found() {
    let path = history("least.jsonl", &[1, 2, 3, 4], &["4", "1", "2", "3"]);
    let run = selvedge(&["check", &path, "--object", "queue", "--quasi", "deq", "--quasi-min", "--json"]).expect(0);
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((&json["factor"], &json["quasi"]), (&3.into(), &"deq=3".into()), "{}", run.stdout);
    assert_eq!((&json["criterion"], &json["verdict"]), (&"quasi-linearizability".into(), &"pass".into()));
    let run = selvedge(&["check", &path, "--object", "queue", "--quasi-min"]).expect(0);
    assert!(run.stdout.contains("The smallest factor is "), "{}", run.stdout);
    let right = history("right.jsonl", &[1, 2], &["1", "2"]);
    let run = selvedge(&["check", &right, "--object", "queue", "--quasi-min"]).expect(0);
    assert!(run.stdout.contains("The smallest factor is 0: it is linearizable."), "{}", run.stdout);
    let thin = history("thin.jsonl", &[1], &["7"]);
    let run = selvedge(&["check", &thin, "--object", "queue", "--quasi-min"]).expect(1);
    assert!(run.stdout.contains("No factor up to 16 is enough."), "{}", run.stdout);
}

#[test]
fn certificates_are_verified() {
    for (name, out, code) in [("pass", ["2", "1", "null"], 0), ("fail", ["null", "3", "1"], 1)] {
        let path = history(&format!("certified-{name}.jsonl"), &[1, 2, 3][..if code == 0 { 2 } else { 3 }], &out);
        let certificate = format!("{path}.certificate");
        let args = ["check", &path, "--object", "queue", "--quasi", "deq=1", "--certificate", &certificate, "--json"];
        let run = selvedge(&args).expect(code);
        let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(json["histories_buggy"], code, "{}", run.stdout);
        let run = selvedge(&["verify", &path, &certificate]).expect(0);
        assert!(
            run.stdout.contains("quasi linearizable as a queue\n  with deq=1 (prefix, causal, distance)"),
            "{}",
            run.stdout
        );
        let text = std::fs::read_to_string(&certificate).unwrap();
        std::fs::write(&certificate, text.replace("deq=1", if code == 0 { "deq=0" } else { "deq=5" })).unwrap();
        selvedge(&["verify", &path, &certificate]).expect(1);
        std::fs::write(&certificate, text.replace("\"version\":2", "\"version\":3")).unwrap();
        selvedge(&["verify", &path, &certificate]).expect(2);
    }
}

#[test]
fn wrong_factors_are_wrong_input() {
    let path = history("wrong.jsonl", &[1], &["1"]);
    for (quasi, says) in [
        ("pull=2", "a queue has no method \"pull\"; it has enq, deq, peek"),
        ("deq=-1", "a factor cannot be negative"),
        ("deq=4000000000", "from 0 to 1000"),
        ("deq=99999999999999999999999", "from 0 to 1000"),
        ("deq=1,dequeue=2", "classes overlap: deq is in more than one"),
        ("*=1,deq=2", "classes overlap"),
        ("deq", "deq needs a factor"),
        ("deq=x", "expected METHOD=FACTOR"),
        ("", "expected METHOD=FACTOR"),
    ] {
        let run = selvedge(&["check", &path, "--object", "queue", "--quasi", quasi]).expect(2);
        assert!(run.stderr.contains(says), "{quasi}: {}", run.stderr);
    }
    let run = selvedge(&["check", &path, "--object", "bag", "--quasi", "deq=2"]).expect(2);
    assert!(run.stderr.contains("nondeterministic"), "{}", run.stderr);
    let run = selvedge(&["check", &path, "--reading", "closed"]).expect(2);
    assert!(run.stderr.contains("--reading goes with --quasi"), "{}", run.stderr);
}

#[test]
fn a_certificate_with_a_wrong_relaxation_is_wrong_input() {
    let path = history("certified-wrong.jsonl", &[1, 2], &["2", "1"]);
    let certificate = format!("{path}.certificate");
    selvedge(&["check", &path, "--object", "queue", "--quasi", "deq=1", "--certificate", &certificate]).expect(0);
    let text = std::fs::read_to_string(&certificate).unwrap();
    for (quasi, says) in [
        ("pull=1", "\"pull=1\": the object has no such method"),
        ("deq=-1", "a factor should be a number from 0 to 1000"),
        ("deq=100000", "a factor should be a number from 0 to 1000"),
        ("deq=1,dequeue=1", "the method is in another class too"),
        ("deq", "a class needs a factor"),
    ] {
        std::fs::write(&certificate, text.replace("\"deq=1\"", &format!("\"{quasi}\""))).unwrap();
        let run = selvedge(&["verify", &path, &certificate]).expect(2);
        assert!(run.stderr.contains(says), "{quasi}: {}", run.stderr);
    }
    std::fs::write(&certificate, text.replace("\"queue\"", "\"stack\"")).unwrap();
    let run = selvedge(&["verify", &path, &certificate]).expect(1);
    assert!(run.stdout.contains("calls `enq`: the object has no such method"), "{}", run.stdout);
}

#[test]
fn pending_operations_are_decided() {
    let lines = |takes: usize| {
        let take = "{\"call\":\"deq\",\"thread\":1}\n{\"return\":1,\"thread\":1}\n";
        format!("{{\"call\":\"enq\",\"value\":1,\"thread\":0}}\n{}", take.repeat(takes))
    };
    for (takes, code) in [(1, 0), (2, 1)] {
        let path = file(&format!("pending-{takes}.jsonl"), lines(takes).as_bytes());
        let certificate = format!("{path}.certificate");
        let args = ["check", &path, "--object", "queue", "--quasi", "*=2", "--certificate", &certificate];
        selvedge(&args).expect(code);
        selvedge(&["verify", &path, &certificate]).expect(0);
    }
}
