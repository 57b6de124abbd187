//! What was not tested, not seen or not saved never reads like an answer: tests in C.

use crate::*;

const OBJECTS: &str = "crates/cli/tests/data/verdicts.c";

/// Tests an object of the file; findings go to a directory of the test's own.
fn test(name: &str, args: &[&str]) -> Run {
    let directory = scratch(&format!("verdicts-{name}"));
    let _ = std::fs::remove_dir_all(&directory);
    selvedge(&[&["test", OBJECTS, "--findings", directory.to_str().expect("a plain name")], args].concat())
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn matrices_fit_what_only_one_thread_may_call() {
    let random = test("random", &["--test", "ring", "--threads", "3", "--ops", "3"]).expect(0);
    assert!(random.stdout.contains("100 random 2x3 (seed 1)"), "{}", random.stdout);
    let json = test("random", &["--test", "ring", "--threads", "3", "--ops", "3", "--json"]).expect(0).json();
    // All that there are with two threads: one pushes in eight ways, the other pops. One thread alone may do anything.
    assert!(json["tests"][0]["matrices"].as_u64() >= Some(8), "{json}");
    let auto = test("auto", &["--test", "ring", "--auto", "3", "--json"]).expect(0).json();
    assert_eq!((&auto["tests"][0]["plan"], &auto["tests"][0]["matrices"]), (&"all 15 up to 2x3".into(), &15.into()));
    let default = test("default", &["--test", "ring"]).expect(0);
    assert!(!default.stdout.contains("none of the"), "{}", default.stdout);
}

#[test]
fn a_ring_that_two_may_push_to_is_found_out() {
    // Without `exclusive` the same code is wrong: the constraint is what makes it pass.
    test("shared", &["--test", "shared_ring", "--auto", "2"]).expect(1);
}

#[test]
fn flags_of_objects_are_refused_for_other_tests() {
    let file = "corpus/programs/pass/treiber.c";
    for flag in [
        &["--specification", "stack"][..],
        &["--quasi", "pop=1"],
        &["--approximate", "k=2"],
        &["--matrix", "push(1) | pop()"],
        &["--shape", "2*2+0"],
        &["--auto", "2"],
        &["--threads", "2"],
        &["--ops", "2"],
        &["--samples", "2"],
        &["--reading", "closed"],
        &["--causality", "free"],
        &["--order", "strict"],
        &["--observations", "none.json"],
        &["--write-observations", "none.json"],
        &["--no-shrink"],
        &["--every-matrix"],
    ] {
        let run = selvedge(&[&["test", file], flag].concat()).expect(2);
        let said = format!("{} is about objects, and `treiber` is a test without one", flag[0]);
        assert!(words(&run.stderr).contains(&said), "{said}\n{}", run.stderr);
    }
    // A file with both: the object is to be named.
    let both = test("both", &["--auto", "2"]).expect(2);
    assert!(words(&both.stderr).contains("`alone` is a test without one"), "{}", both.stderr);
    assert!(both.stderr.contains("--test NAME names the object that is meant"), "{}", both.stderr);
    test("both-named", &["--auto", "2", "--test", "ring"]).expect(0);
    test("both-alone", &["--test", "alone"]).expect(0);
}

#[test]
fn what_to_do_about_threads_that_are_left_over_is_said() {
    let leaks = |file: &str, args: &[&str]| selvedge(&[&["test", file, "--json"], args].concat());
    let file = "corpus/programs/leaked-thread/outlives.c";
    let reported = leaks(file, &[]).expect(1).json();
    let stopped = leaks(file, &["--leaks", "stop"]).expect(1).json();
    let runs = |document: &serde_json::Value| document["tests"][0]["runs"].as_u64().expect("a number");
    assert_eq!(runs(&stopped), 1, "{stopped}");
    assert!(runs(&reported) > 1, "{reported}");
    leaks(file, &["--leaks", "report"]).expect(1);
    assert_eq!(leaks(file, &["--leaks", "allow"]).expect(0).json()["tests"][0]["verdict"], "pass");
    // What is worse is told in place of it.
    let worse = "corpus/boundary/assertion/after_the_return.c";
    let kinds = |args: &[&str]| {
        let document = leaks(worse, args).expect(1).json();
        let findings = document["tests"][0]["findings"].as_array().expect("findings").clone();
        findings.iter().map(|finding| finding["kind"].as_str().expect("a kind").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(kinds(&[]), ["assertion"]);
    assert_eq!(kinds(&["--leaks", "allow"]), ["assertion"]);
    assert_eq!(kinds(&["--leaks", "stop"]), ["leaked-thread"]);
    let refused = test("leaks", &["--test", "ring", "--leaks", "allow"]).expect(2);
    assert!(words(&refused.stderr).contains("--leaks is about tests, and ring is an object"), "{}", refused.stderr);
}

#[test]
fn a_violation_that_cannot_be_saved_is_one() {
    let file = scratch("verdicts-not-a-directory");
    std::fs::write(&file, "").expect("the scratch directory is writable");
    let (file, pages) = (file.to_str().expect("a plain name").to_owned(), scratch("verdicts-page.html"));
    let page = pages.to_str().expect("a plain name");
    let args = ["test", "corpus/programs/assertion/lost_update.c", "--findings", &file];
    let run = selvedge(&[&args[..], &["--html", page]].concat()).expect(1);
    assert!(run.stdout.starts_with("FAIL  lost_update: assertion"), "{}", run.stdout);
    assert!(words(&run.stdout).contains("not saved, so that it cannot be replayed:"), "{}", run.stdout);
    assert!(!run.stdout.contains("selvedge replay"), "{}", run.stdout);
    let text = std::fs::read_to_string(&pages).expect("the page");
    assert!(text.contains("not saved, so that it cannot be replayed:") && !text.contains("selvedge replay "));
    let junit = scratch("verdicts-junit.xml");
    let run = selvedge(&[&args[..], &["--json", "--junit", junit.to_str().expect("a plain name")]].concat()).expect(1);
    let found = &run.json()["findings"][0];
    assert!(found["path"].is_null() && found["unsaved"].is_string(), "{found}");
    let junit = std::fs::read_to_string(junit).expect("the file");
    assert!(junit.contains("not saved") && junit.contains("failures=\"1\""), "{junit}");
}

#[test]
fn an_operation_that_a_race_ends_is_cut_off() {
    let run = test("cut", &["--test", "raced", "--matrix", "inc() | inc()", "--json"]).expect(1);
    let results = run.json()["tests"][0]["violations"][0]["results"].to_string();
    assert!(results.contains("inc() (cut off)") && !results.contains("waits for ever"), "{results}");
    assert!(run.stderr.contains("inc() (cut off)") && !run.stderr.contains("waits for ever"), "{}", run.stderr);
}

#[test]
fn operations_that_race_where_that_is_allowed_are_searched_access_by_access() {
    let run = test("racy", &["--test", "racy", "--auto", "2"]).expect(1);
    let text = words(&run.stdout);
    assert!(text.starts_with("FAIL racy: not-linearizable"), "{text}");
    assert!(text.contains("are steps") && text.contains("verdicts.c:21, verdicts.c:22 (known after"), "{text}");
    let json = test("racy", &["--test", "racy", "--auto", "2", "--json"]).expect(1).json();
    let test = &json["tests"][0];
    assert_eq!(test["plain_steps"]["lines"].as_array().map(Vec::len), Some(2), "{test}");
    let path = json["findings"][0]["path"].as_str().expect("a file").to_owned();
    selvedge(&["replay", &path]).expect(1);
    // An object that is locked has no race to allow.
    let locked = self::test("locked", &["--test", "locked", "--auto", "2", "--json"]).expect(0).json();
    assert!(locked["tests"][0]["plain_steps"].is_null(), "{locked}");
}

#[test]
fn objects_that_need_two_at_once_are_told_what_they_would_declare() {
    let run = test("meet", &["--test", "rendezvous", "--matrix", "send(1) | recv()"]).expect(1);
    let text = words(&run.stdout);
    assert!(text.contains("relative to serial behaviour"), "{text}");
    assert!(text.contains("Every serial run of send(1) and of recv() waits for ever."), "{text}");
    assert!(text.contains("take effect *together*; no such declaration exists yet"), "{text}");
    let run = test("line", &["--test", "preferring", "--matrix", "share() | share() | lock()"]).expect(1);
    let text = words(&run.stdout);
    assert!(text.contains("wait *in line*; no such declaration exists yet"), "{text}");
    assert!(!text.contains("*together*"), "{text}");
    // An ordinary violation is relative to the same, and needs no declaration.
    let run = test("plain", &["--test", "shared_ring", "--auto", "2"]).expect(1);
    assert!(!words(&run.stdout).contains("declar"), "{}", run.stdout);
}

#[test]
fn a_test_that_dies_takes_nothing_away_from_the_others() {
    let directory = scratch("verdicts-dies");
    let _ = std::fs::remove_dir_all(&directory);
    let file = "crates/cli/tests/data/dies.c";
    let args = ["test", file, "--findings", directory.to_str().expect("a plain name")];
    let run = selvedge(&args).expect(1);
    for says in ["FAIL  dies: crash", "FAIL  loses: assertion", "PASS  passes: "] {
        assert!(run.stdout.contains(says), "{says}\n{}", run.stdout);
    }
    assert!(words(&run.stdout).contains("the process ends with code 0 after the thread's last step"), "{}", run.stdout);
    let json = selvedge(&[&args[..], &["--test", "dies", "--json"]].concat()).expect(1).json();
    let finding = &json["tests"][0]["findings"][0];
    assert_eq!((&finding["kind"], &json["tests"][0]["verdict"]), (&"crash".into(), &"fail".into()), "{json}");
    // An object that cannot be tested is wrong input, and the violation beside it is told all the same.
    let file = "crates/cli/tests/data/unmade.c";
    let args = ["test", file, "--findings", directory.to_str().expect("a plain name")];
    let run = selvedge(&args).expect(2);
    assert!(run.stderr.contains("FAIL  loses: assertion"), "{}", run.stderr);
    assert!(
        words(&run.stderr).contains("ERROR unmade: the object `unmade` cannot be tested: the constructor"),
        "{}",
        run.stdout
    );
}

#[test]
fn flags_that_a_strategy_has_no_use_for_are_refused() {
    let file = "corpus/programs/pass/treiber.c";
    for (strategy, flag, refused) in [
        ("dpor", &["--preemptions", "1"][..], true),
        ("random", &["--preemptions", "1"], true),
        ("portfolio", &["--depth", "2"], true),
        ("dfs", &["--no-retries"], true),
        ("pct", &["--depth", "2"], false),
        ("bounded", &["--preemptions", "1"], false),
    ] {
        let run = selvedge(&[&["test", file, "--strategy", strategy, "--runs", "9"], flag].concat());
        let said = format!("{} is for the strategies ", flag[0]);
        assert_eq!(
            (run.code == 2, run.stderr.contains(&said)),
            (refused, refused),
            "{strategy} {flag:?}: {}",
            run.stderr
        );
    }
}

#[test]
fn what_a_replay_writes_lies_where_it_was_asked_for() {
    let directory = scratch("verdicts-replay");
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).expect("the scratch directory is writable");
    let findings = directory.join("findings");
    let file = "corpus/programs/assertion/lost_update.c";
    selvedge(&["test", file, "--findings", findings.to_str().expect("a plain name")]).expect(1);
    let finding = std::fs::read_dir(&findings).expect("findings").flatten().next().expect("one").path();
    // The program is built again where it was built: another directory than the one that this runs in.
    let mut command =
        command(&["replay", finding.to_str().expect("a plain name"), "--junit", "j.xml", "--sarif", "s.json"]);
    let output = command.current_dir(&directory).output().expect("the binary runs");
    Run::new(output).expect(1);
    assert!(directory.join("j.xml").is_file() && directory.join("s.json").is_file());
}
