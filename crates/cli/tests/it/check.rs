//! `selvedge check`: verdicts, exit codes, several files.

use selvedge_history::generate::Random;

use crate::*;

#[test]
fn the_examples_get_their_verdicts() {
    for example in examples("pass") {
        let run = selvedge(&["check", &example]).expect(0);
        assert!(run.stdout.starts_with(&format!("PASS  {example}: linearizable as a ")), "{}", run.stdout);
        assert_eq!(run.stderr, "");
    }
    for example in examples("fail") {
        let run = selvedge(&["check", &example]).expect(1);
        assert!(run.stdout.starts_with(&format!("FAIL  {example}: not linearizable as a ")), "{}", run.stdout);
        assert_eq!(run.stderr, "");
    }
}

#[test]
fn several_files_get_a_line_each_and_the_worst_exit_code() {
    let missing = "examples/histories/none.jsonl";
    for (files, code, lines) in [
        (vec![PASS, PASS], 0, 2),
        (vec![PASS, FAIL], 1, 2),
        (vec![FAIL, PASS], 1, 2),
        (vec![PASS, missing], 2, 1),
        (vec![missing, FAIL, PASS], 2, 2),
    ] {
        let args: Vec<&str> = ["check"].into_iter().chain(files.iter().copied()).collect();
        let run = selvedge(&args).expect(code);
        assert_eq!(run.stdout.lines().count(), lines, "{files:?}: {}", run.stdout);
        assert_eq!(run.stderr.contains(&format!("error: {missing}: no such file")), files.contains(&missing));
        assert!(run.stderr.contains(&format!("{} files: ", files.len())), "{}", run.stderr);
    }
}

#[test]
fn standard_input_is_read() {
    let history = std::fs::read(root().join(FAIL)).unwrap();
    let run = with_input(&["check", "-"], &history).expect(1);
    assert!(run.stdout.starts_with("FAIL  standard input: not linearizable as a queue"), "{}", run.stdout);
    with_input(&["check", "-", PASS], &history).expect(1);
}

#[test]
fn the_object_and_the_format_can_be_named() {
    // A bag hands out its values in any order.
    let run = selvedge(&["check", FAIL, "--object", "bag"]).expect(0);
    assert!(run.stdout.contains("linearizable as a bag"), "{}", run.stdout);
    selvedge(&["check", FAIL, "--format", "jsonl"]).expect(1);
    let run = selvedge(&["check", FAIL, "--format", "limo"]).expect(2);
    assert!(run.stderr.contains(&format!("error: {FAIL}:1")), "{}", run.stderr);
}

#[test]
fn the_initial_value_can_be_given_and_is_hinted_at() {
    let history = b"{\"call\":\"read\",\"thread\":0}\n{\"return\":0,\"thread\":0}\n\
                    {\"call\":\"write\",\"thread\":0,\"value\":5}\n{\"return\":null,\"thread\":0}\n";
    let path = file("initial.jsonl", history);
    let run = selvedge(&["check", &path, "--object", "register"]).expect(1);
    assert!(run.stdout.contains("--initial 0"), "{}", run.stdout);
    selvedge(&["check", &path, "--object", "register", "--initial", "0"]).expect(0);
    let run = selvedge(&["check", &path, "--object", "register", "--initial", "7"]).expect(1);
    assert!(!run.stdout.contains("--initial"), "{}", run.stdout);
    let run = selvedge(&["check", PASS, "--initial", "7"]).expect(2);
    assert!(run.stderr.contains("initial value"), "{}", run.stderr);
}

#[test]
fn colours_are_for_terminals() {
    let run = selvedge(&["check", FAIL]).expect(1);
    assert!(!run.stdout.contains('\x1b'));
    let forced = Run::new(command(&["check", FAIL]).env("CLICOLOR_FORCE", "1").output().unwrap()).expect(1);
    assert!(forced.stdout.contains('\x1b'));
}

#[test]
fn no_line_of_a_report_is_wider_than_a_terminal() {
    for example in examples("fail") {
        let directory = Path::new(&example);
        let short = directory.file_name().unwrap().to_str().unwrap();
        let mut command = command(&["check", short]);
        command.current_dir(root().join(directory.parent().unwrap()));
        let run = Run::new(command.output().unwrap()).expect(1);
        for line in run.stdout.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}

/// Histories in which no operation returned, in every format that can have them, and what the answer says.
const NOTHING: &[(&str, &str, &str)] = &[
    (
        "failed.jsonl",
        "{\"call\":\"enq\",\"thread\":0,\"value\":6}\n{\"fail\":\"closed\",\"thread\":0}\n",
        "no operation is left to check",
    ),
    (
        "failed.edn",
        "{:process 0, :type :invoke, :f :read, :value nil}\n{:process 0, :type :fail, :f :read, :value nil}\n",
        "no operation is left to check",
    ),
    ("failed.log", "0\t:invoke\t:read\tnil\n0\t:fail\t:read\tnil\n", "no operation is left to check"),
    (
        "header.jsonl",
        "{\"selvedge\":\"history\",\"version\":1,\"object\":\"queue\"}\n{\"end\":\"complete\"}\n",
        "no operation is left to check",
    ),
    ("pending.jsonl", "{\"call\":\"enq\",\"thread\":0,\"value\":6}\n", "no operation returned"),
    ("pending.limo", "[1] call enq(1)\n[2] call deq\n", "no operation returned"),
    ("pending.log", "0\t:invoke\t:deq\tnil\n0\t:info\t:deq\ttimed-out\n", "no operation returned"),
];

#[test]
fn where_no_operation_returned_nothing_was_tested() {
    for (name, text, reason) in NOTHING {
        let path = file(name, text.as_bytes());
        for question in
            ["", "--quasi deq=1 --object queue", "--quasi-min --object queue", "--approximate k=2 --object queue"]
        {
            let args: Vec<&str> = ["check", &path].into_iter().chain(question.split_whitespace()).collect();
            // A `read` is no method of a queue; where it failed, nothing is left of it.
            let run = selvedge(&args).expect(3);
            assert!(run.stdout.starts_with(&format!("UNKNOWN  {path}: {reason}\n")), "{question}: {}", run.stdout);
            let run = selvedge(&[&args[..], &["--json"]].concat()).expect(3);
            let document: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
            assert_eq!(document["verdict"], "unknown");
            assert_eq!(document["limit"], "no-operations");
            assert_eq!(document["reason"], *reason);
            assert_ne!(document["coverage"], "exhaustive");
        }
        let run = selvedge(&["check", &path, PASS]).expect(3);
        assert!(run.stdout.starts_with(&format!("UNKNOWN  {path}: {reason}\n")), "{}", run.stdout);
    }
    let path = file("failed-kernel.jsonl", NOTHING[0].1.as_bytes());
    let run = selvedge(&["check", &path, "--kernel", "mutex"]).expect(3);
    assert!(run.stdout.contains("no operation is left to check"), "{}", run.stdout);
    // What is wrong with the question is said all the same.
    let path = file("header-wrong.jsonl", NOTHING[3].1.as_bytes());
    selvedge(&["check", &path, "--quasi", "foo=1"]).expect(2);
    selvedge(&["check", &path, "--initial", "7"]).expect(2);
    selvedge(&["check", &path, "--quasi", "deq=1", "--initial", "7"]).expect(2);
    selvedge(&["check", &path, "--approximate", "k=2", "--initial", "7"]).expect(2);
    selvedge(&["check", &path, "--kernel", "no-such-kernel"]).expect(2);
}

#[test]
fn where_nothing_was_tested_every_document_says_so() {
    let path = file("nothing.jsonl", NOTHING[0].1.as_bytes());
    let [page, junit, sarif, certificate] = ["nothing.html", "nothing.xml", "nothing.sarif", "nothing.cert"]
        .map(|name| scratch(name).display().to_string());
    let _ = std::fs::remove_file(&certificate);
    selvedge(&["check", &path, "--html", &page, "--junit", &junit, "--sarif", &sarif, "--certificate", &certificate])
        .expect(3);
    for file in [page, junit, sarif] {
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains("no operation is left to check"), "{file}: {text}");
        assert!(text.to_lowercase().contains("unknown") && !text.contains("PASS"), "{file}: {text}");
    }
    assert!(!Path::new(&certificate).exists(), "there is no verdict to certify");
    let empty = "{\"selvedge\":\"certificate\",\"version\":1,\"criterion\":\"linearizability\",\"object\":\"register\",\"operations\":0,\"verdict\":\"pass\",\"linearizations\":[]}";
    let empty = file("empty.cert", empty.as_bytes());
    let run = selvedge(&["verify", &path, &empty]).expect(3);
    assert!(run.stdout.contains("no operation is left to check"), "{}", run.stdout);
}

/// Whether waiting calls had a reason to wait can be right or wrong.
#[test]
fn a_stuck_history_is_tested_even_if_no_operation_returned() {
    let stuck = |method: &str| format!("{{\"call\":\"{method}\",\"thread\":0}}\n{{\"end\":\"stuck\"}}\n");
    let lock = file("stuck-lock.jsonl", stuck("lock").as_bytes());
    selvedge(&["check", &lock, "--object", "mutex"]).expect(1);
    let read = file("stuck-wait.jsonl", stuck("wait").as_bytes());
    selvedge(&["check", &read, "--object", "semaphore", "--initial", "0"]).expect(0);
    selvedge(&["check", &read, "--object", "semaphore", "--initial", "1"]).expect(1);
}

/// The values that registers start with are told wherever a pass is.
#[test]
fn what_a_register_is_taken_to_start_with_is_said() {
    let transaction = |steps: &str, result: &str| {
        format!("{{\"call\":\"txn\",\"thread\":0,\"value\":{steps}}}\n{{\"return\":{result},\"thread\":0}}\n")
    };
    let first = transaction(r#"[["w","y",1],["r","x",null]]"#, r#"[["w","y",1],["r","x",5]]"#);
    let again = transaction(r#"[["r","y",null],["r","x",null]]"#, r#"[["r","y",1],["r","x",5]]"#);
    let path = file("multi-register.jsonl", format!("{first}{again}").as_bytes());
    let (certificate, page) = (scratch("multi-register.cert"), scratch("multi-register.html"));
    let (certificate, page) = (certificate.to_str().unwrap(), page.to_str().unwrap());
    let words = "a register starts with what it was first seen with, x with 5.";
    let spoken = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").contains(words);
    let run = selvedge(&["check", &path, "--certificate", certificate, "--html", page]).expect(0);
    assert!(spoken(&run.stdout), "{}", run.stdout);
    assert!(spoken(&std::fs::read_to_string(page).unwrap()));
    let run = selvedge(&["check", &path, &path]).expect(0);
    assert!(run.stdout.lines().all(spoken), "{}", run.stdout);
    let run = selvedge(&["verify", &path, certificate]).expect(0);
    assert!(spoken(&run.stdout), "{}", run.stdout);
    for args in [vec!["check", &path, "--json"], vec!["verify", &path, certificate, "--json"]] {
        let document: serde_json::Value = serde_json::from_str(&selvedge(&args).expect(0).stdout).unwrap();
        assert_eq!(document["assumed"], serde_json::json!([{"register": "x", "value": 5}]));
    }
    // Where it is stated nothing is assumed, and what nothing wrote is a violation.
    let run = selvedge(&["check", &path, "--initial", "5"]).expect(0);
    assert!(!run.stdout.contains("Assumed"), "{}", run.stdout);
    selvedge(&["check", &path, "--initial", "0"]).expect(1);
    // A violation holds whatever the registers start with.
    let other = transaction(r#"[["r","x",null]]"#, r#"[["r","x",6]]"#);
    let path = file("multi-register-wrong.jsonl", format!("{first}{other}").as_bytes());
    let run = selvedge(&["check", &path]).expect(1);
    assert!(!run.stdout.contains("Assumed"), "{}", run.stdout);
}

/// Other objects start with nothing unless it is said: what nothing wrote is a violation.
#[test]
fn a_first_read_out_of_thin_air_is_a_violation_of_every_other_register() {
    let read = "{\"call\":\"METHOD\",\"thread\":0,\"key\":\"x\"}\n{\"return\":5,\"thread\":0}\n";
    for (object, method) in [("register", "read"), ("cas-register", "read"), ("map", "get"), ("counter", "get")] {
        let path = file(&format!("thin-air-{object}.jsonl"), read.replace("METHOD", method).as_bytes());
        selvedge(&["check", &path, "--object", object]).expect(1);
        selvedge(&["check", &path, "--object", object, "--initial", "5"]).expect(0);
    }
}

/// The order that the text tells, the page's first one and the one in the evidence are the same.
#[test]
fn one_answer_names_one_order() {
    let mut random = Random::new(7);
    let mut below = |bound: u64| random.below(bound);
    let (mut unplaced, mut pages) = (0, 0);
    while unplaced < 12 {
        pages += 1;
        assert!(pages < 200, "only {unplaced} of {pages} histories have such an order");
        let mut open: [Option<bool>; 3] = [None; 3];
        let mut text = String::new();
        for _ in 0..14 {
            let thread = below(3) as usize;
            text += &match open[thread].take() {
                Some(true) => format!("{{\"return\":null,\"thread\":{thread}}}\n"),
                Some(false) => format!("{{\"return\":{},\"thread\":{thread}}}\n", below(2)),
                None => {
                    let insert = below(2) == 0;
                    open[thread] = Some(insert);
                    let call = if insert { format!("\"enq\",\"value\":{}", below(2)) } else { "\"deq\"".to_owned() };
                    format!("{{\"call\":{call},\"thread\":{thread}}}\n")
                }
            };
        }
        let path = file("one-order.jsonl", text.as_bytes());
        let (page, certificate) = (scratch("one-order.html"), scratch("one-order.cert"));
        let flags = ["--html", page.to_str().unwrap(), "--certificate", certificate.to_str().unwrap(), "--json"];
        let run = selvedge(&[&["check", &path, "--object", "queue"], &flags[..]].concat());
        let document: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let evidence = &document["violation"]["evidence"];
        if evidence["kind"] != "unplaced" {
            continue;
        }
        unplaced += 1;
        let order = evidence["partial"].as_array().unwrap();
        let certificate: serde_json::Value = serde_json::from_slice(&std::fs::read(certificate).unwrap()).unwrap();
        assert!(certificate.to_string().contains(&evidence["partial"].to_string()), "{certificate}");
        let page = std::fs::read_to_string(page).unwrap();
        let data = page.split("id=\"data\">").nth(1).unwrap().split("</script>").next().unwrap();
        let data: serde_json::Value = serde_json::from_str(data).unwrap();
        assert_eq!(data["orders"][0]["ops"], evidence["partial"], "{text}");
        let told = run.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        let many = if order.len() == 1 { "operation" } else { "operations" };
        assert!(told.contains(&format!("One such order has {} {many}", order.len())), "{told}");
        // Nobody else claims to be the longest one.
        let names: Vec<&str> = data["orders"].as_array().unwrap().iter().filter_map(|o| o["name"].as_str()).collect();
        assert_eq!(names[0], "An order of all that returned before");
        assert!(!names.iter().any(|name| name.contains("longest")), "{names:?}");
    }
}

/// What nobody said and a violation rests on is said.
#[test]
fn a_violation_says_what_the_object_is_taken_to_start_with() {
    let call = |thread: u32, method: &str, result: &str| {
        format!("{{\"call\":\"{method}\",\"thread\":{thread}}}\n{{\"return\":{result},\"thread\":{thread}}}\n")
    };
    let taken = file("taken-twice.jsonl", (call(0, "wait", "null") + &call(1, "wait", "null")).as_bytes());
    let run = selvedge(&["check", &taken]).expect(1);
    assert!(run.stdout.contains("It is taken to have one permit at first."), "{}", run.stdout);
    selvedge(&["check", &taken, "--initial", "2"]).expect(0);
    let counted = file("counted.jsonl", call(0, "get_and_increment", "5").as_bytes());
    let run = selvedge(&["check", &counted]).expect(1);
    assert!(run.stdout.contains("It is taken to start with 0."), "{}", run.stdout);
    selvedge(&["check", &counted, "--initial", "5"]).expect(0);
}

/// Which end of a heap comes first is not guessed.
#[test]
fn a_heap_is_taken_for_no_kind_of_priority_queue() {
    let heap = "{\"call\":\"insert\",\"thread\":0,\"value\":1}\n{\"return\":null,\"thread\":0}\n\
                {\"call\":\"insert\",\"thread\":0,\"value\":2}\n{\"return\":null,\"thread\":0}\n\
                {\"call\":\"poll\",\"thread\":0}\n{\"return\":1,\"thread\":0}\n";
    let path = file("heap.jsonl", heap.as_bytes());
    let run = selvedge(&["check", &path]).expect(2);
    assert!(run.stderr.contains("--object (priority-queue, priority-queue-min"), "{}", run.stderr);
    selvedge(&["check", &path, "--object", "priority-queue"]).expect(1);
    selvedge(&["check", &path, "--object", "priority-queue-min"]).expect(0);
}
