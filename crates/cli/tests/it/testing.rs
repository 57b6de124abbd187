//! `selvedge test` and `selvedge replay`: real programs, compiled by the system's compiler.

use insta::assert_snapshot;

use crate::*;

/// Where the findings of one test go.
fn findings(name: &str) -> String {
    let directory = scratch(&format!("findings-{name}"));
    let _ = std::fs::remove_dir_all(&directory);
    directory.to_str().expect("the scratch directory has a plain name").to_owned()
}

/// Tests a program; its findings go to a directory named like the test.
pub fn test(name: &str, args: &[&str]) -> Run {
    let directory = findings(name);
    selvedge(&[&["test", "--findings", &directory], args].concat())
}

/// The finding files of a run.
fn findings_of(name: &str) -> Vec<String> {
    let directory = scratch(&format!("findings-{name}"));
    let entries = std::fs::read_dir(directory).expect("findings were written");
    entries.map(|entry| entry.expect("readable").path().to_str().expect("a plain name").to_owned()).collect()
}

/// The one finding file of a run.
pub fn finding_of(name: &str) -> String {
    let [finding] = <[String; 1]>::try_from(findings_of(name)).expect("there is one finding");
    finding
}

const FAILING: &str = "corpus/programs/assertion/lost_update.c";
const PASSING: &str = "corpus/programs/pass/treiber.c";

#[test]
fn a_pass_states_what_was_covered() {
    let run = test("pass", &[PASSING]).expect(0);
    assert!(run.stdout.starts_with("PASS  treiber: "), "{}", run.stdout);
    let words: String = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for says in ["exhaustive: ", "at most 20,000 steps", "sequentially consistent memory", "0 redundant", "cpu s"] {
        assert!(words.contains(says), "{says}: {}", run.stdout);
    }
    assert!(!scratch("findings-pass").exists(), "nothing was found, nothing is written");
}

#[test]
fn what_is_sampled_or_bounded_does_not_read_as_complete() {
    let run = test("sampled", &[PASSING, "--strategy", "random", "--runs", "50", "--seed", "7"]).expect(0);
    assert!(run.stdout.contains("sampled: 50 runs at random (seed 7)"), "{}", run.stdout);
    assert!(!run.stdout.contains("exhaustive"), "{}", run.stdout);
    let run = test("pct", &[PASSING, "--strategy", "pct", "--json"]).expect(0);
    let document = run.json();
    assert_eq!(document["coverage"], "sampled");
    assert_eq!(document["tests"][0]["runs"], 10_000);
    assert_eq!(document["tests"][0]["runs_max"], 10_000);
    let run = test("bounded", &[PASSING, "--strategy", "bounded", "--preemptions", "1"]).expect(0);
    assert!(run.stdout.contains("bounded: every schedule with at most 1 preemption,"), "{}", run.stdout);
    assert!(!run.stdout.contains("exhaustive"), "{}", run.stdout);
}

/// What was touched first in a run is forgotten when the run touches too much: a race with it is then not found, and nobody may say that there is none.
#[test]
fn more_memory_than_is_remembered_is_unknown() {
    let source = |mib: usize| {
        let path = scratch(&format!("touches-{mib}.c"));
        let text = format!(
            "#include <pthread.h>\n#include <selvedge.h>\nchar memory[{mib} << 20];\n\
             static void *writes(void *none) {{ memory[0] = 1; return none; }}\n\
             SELVEDGE_TEST(touches) {{\n  pthread_t one;\n  pthread_create(&one, 0, writes, 0);\n  pthread_join(one, 0);\n  \
             for (unsigned long at = 0; at < sizeof memory; at += 4096) memory[at] = 2;\n}}\n"
        );
        std::fs::write(&path, text).expect("the scratch directory can be written");
        path.to_str().expect("a plain name").to_owned()
    };
    for strategy in ["dpor", "dfs", "bounded", "portfolio"] {
        let document = test("touches", &[&source(17), "--strategy", strategy, "--json"]).expect(3).json();
        let told = ["verdict", "coverage"].map(|field| document[field].clone());
        assert_eq!(told, ["unknown", "partial"], "{strategy}: {document}");
        assert_eq!(document["tests"][0]["limit"], "race-memory", "{strategy}: {document}");
    }
    let run = test("touches", &[&source(17)]).expect(3);
    assert!(run.stdout.contains("1 run touched more memory than"), "{}", run.stdout);
    test("touches", &[&source(15)]).expect(0);
}

#[test]
fn a_limit_before_the_end_is_unknown() {
    let run = test("runs", &[PASSING, "--strategy", "dpor", "--runs", "3"]).expect(3);
    assert!(run.stdout.starts_with("UNKNOWN  treiber: "), "{}", run.stdout);
    assert!(run.stdout.contains("stopped after 3 runs: --runs N allows more"), "{}", run.stdout);
    let document = test("time", &[PASSING, "--strategy", "dfs", "--time-max", "1ms", "--json"]).expect(3).json();
    assert_eq!(document["verdict"], "unknown");
    assert_eq!(document["coverage"], "partial");
    assert_eq!(document["tests"][0]["limit"], "time");
}

/// A quick test, and one with more schedules than anybody can run.
fn endless(name: &str) -> String {
    file(
        name,
        b"#include <pthread.h>\n#include <selvedge.h>\n#include <stdatomic.h>\n#include <stddef.h>\n\
          static atomic_int x;\n\
          static void *add(void *a) { for (int i = 0; i < 40; i++) atomic_fetch_add(&x, 1); return a; }\n\
          SELVEDGE_TEST(quick) { atomic_fetch_add(&x, 1); }\n\
          SELVEDGE_TEST(endless) {\n  pthread_t a, b;\n  pthread_create(&a, NULL, add, NULL);\n\
          pthread_create(&b, NULL, add, NULL);\n  pthread_join(a, NULL);\n  pthread_join(b, NULL);\n}\n",
    )
}

#[test]
fn a_portfolio_that_runs_out_of_time_passes_with_its_bound() {
    let run = test("portfolio", &[&endless("portfolio.c"), "--time-max", "5s"]).expect(0);
    let words: String = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let covered = "PASS endless: no violation in what was covered bounded: every schedule with at most 2 preemptions, and no more \
                   than that (strategy portfolio) stopped by the time limit, 5 s for each test";
    assert!(words.contains(covered), "{}", run.stdout);
}

#[test]
fn an_interrupt_ends_in_unknown_with_what_is_known() {
    use std::os::unix::process::CommandExt;
    let path = endless("interrupt.c");
    // A terminal signals the whole group, the program under test included; others signal the tool alone.
    for whole_group in [true, false] {
        let directory = findings("interrupt");
        let mut command =
            command(&["test", &path, "--strategy", "dfs", "--time-max", "none", "--findings", &directory]);
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        let id = child.id();
        // How long it takes to compile is not ours to say.
        let program = format!("selvedge-{id}-");
        let moment = std::time::Duration::from_millis(100);
        let waits = (0..600).take_while(|_| !is_running(&program)).map(|_| std::thread::sleep(moment)).count();
        assert!(waits < 600, "the program never ran");
        std::thread::sleep(20 * moment);
        if whole_group {
            let group = Pid::from_child(&child);
            rustix::process::kill_process_group(group, Signal::INT).expect("it is there");
        } else {
            signal(id, Signal::INT);
        }
        let run = Run::new(child.wait_with_output().unwrap()).expect(3);
        assert!(run.stdout.starts_with("PASS  quick: "), "{}\n{}", run.stdout, run.stderr);
        assert!(run.stdout.contains("\nUNKNOWN  endless: "), "{}", run.stdout);
        assert!(run.stdout.contains("\n  interrupted\n"), "{}", run.stdout);
        assert!(!is_running(&program), "the program has ended too");
    }
}

/// Whether a program runs whose name has that in it; the compiler that makes it has another.
fn is_running(words: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let mut lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines.any(|line| String::from_utf8_lossy(line.split(|byte| *byte == 0).next().unwrap_or_default()).contains(words))
}

#[test]
fn the_document_has_what_is_promised() {
    let run = test("document", &[FAILING, "--json", "--strategy", "dpor"]).expect(1);
    assert!(run.stderr.starts_with("FAIL"), "the report goes to standard error: {}", run.stderr);
    let document = run.json();
    for (field, value) in
        [("verdict", "fail"), ("criterion", "assertions"), ("strategy", "dpor"), ("file", FAILING), ("compiler", "gcc")]
    {
        assert_eq!(document[field], value, "{field}");
    }
    assert_eq!(document["version"], env!("CARGO_PKG_VERSION"));
    for field in ["seconds", "cpu_seconds", "runs", "redundant", "blocked", "points", "histories"] {
        assert!(document[field].as_f64().is_some_and(|number| number >= 0.0), "{field}");
    }
    assert!(document["coverage"].is_string());
    let found = &document["findings"][0];
    assert_eq!(found["kind"], "assertion");
    assert_eq!(found["path"], finding_of("document"));
    assert!(found["message"].as_str().unwrap().contains("atomic_load(&counter) == 2"));
    assert_eq!(document["tests"][0]["findings"][0], *found);
}

#[test]
fn histories_of_marked_operations_are_counted() {
    let path = "crates/runtime/tests/programs/operations.c";
    let counts = |strategy: &str| -> Vec<u64> {
        let document =
            test(&format!("histories-{strategy}"), &[path, "--json", "--strategy", strategy]).expect(0).json();
        document["tests"].as_array().unwrap().iter().map(|test| test["histories"].as_u64().unwrap()).collect()
    };
    let all = counts("dfs");
    assert!(all.len() == 2 && all.iter().all(|&count| count > 3), "{all:?}");
    assert_eq!(counts("dpor"), all);
}

#[test]
fn a_failed_assertion_has_its_interleaving() {
    let run = test("assertion", &[FAILING]).expect(1);
    let reads =
        run.stdout.lines().filter(|line| line.contains("lost_update.c:12") && line.ends_with("read counter → 0"));
    assert_eq!(reads.count(), 2, "{}", run.stdout);
    assert!(run.stdout.contains("✗ assertion fails"), "{}", run.stdout);
    assert!(run.stdout.contains(&format!("replay: selvedge replay {}", finding_of("assertion"))), "{}", run.stdout);
    // The file has the lines too, one for each step.
    let text = std::fs::read_to_string(finding_of("assertion")).unwrap();
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    let (steps, lines) = (document["steps"].as_array().unwrap(), document["lines"].as_array().unwrap());
    assert_eq!(steps.len(), lines.len());
    assert!(lines.iter().any(|line| line == "lost_update.c:13"), "{lines:?}");
}

#[test]
fn a_deadlock_says_who_waits_for_what() {
    let run = test("deadlock", &["corpus/programs/deadlock/two_locks.c"]).expect(1);
    for line in run.stdout.lines().filter(|line| !line.contains("replay:")) {
        assert!(line.chars().count() <= 80, "{line}");
    }
    insta::with_settings!({filters => vec![
        (r"replay \S*/findings-deadlock/(\S+)-[0-9a-f]{8}\.json", "replay FINDINGS/$1-HASH.json"),
        (r"[0-9.]+ cpu s", "TIME cpu s"),
    ]}, { assert_snapshot!(run.stdout) });
}

#[test]
fn a_data_race_names_both_lines() {
    let run = test("race", &["corpus/programs/data-race/counter.c"]).expect(1);
    assert!(run.stdout.contains("data race on 4 bytes at counter"), "{}", run.stdout);
    assert_eq!(run.stdout.matches("counter.c:12").count(), 3, "{}", run.stdout);
    assert!(run.stdout.contains("✗ data race"), "{}", run.stdout);
}

/// One program for each kind, in the directory of that name. What else is in there has the same report.
const KINDS: [&str; 13] = [
    "livelock/nobody_sets_it.c",
    "lost-wakeup/condition_without_lock.c",
    "crash/null.c",
    "use-after-free/treiber_aba_malloc.c",
    "leaked-thread/outlives.c",
    "assertion/michael_scott_tail.c",
    "deadlock/three_locks.c",
    "data-race/counter.c",
    "data-race/memory_functions.c",
    "double-free/both_drop.c",
    "misuse/foreign_unlock.c",
    "out-of-bounds/past_the_end.c",
    "use-after-free/reader.c",
];

#[test]
fn every_kind_of_finding_is_reported_within_the_width_and_replays() {
    for (number, path) in KINDS.into_iter().enumerate() {
        let name = format!("kinds-{number}");
        let run = test(&name, &[&format!("corpus/programs/{path}"), "--jobs", "1"]).expect(1);
        let (kind, _) = path.split_once('/').unwrap();
        assert!(run.stdout.lines().next().unwrap().ends_with(&format!(": {kind}")), "{}", run.stdout);
        let title = format!("finding_{}", path.split_once('.').unwrap().0.replace(['/', '-'], "_"));
        insta::with_settings!({filters => vec![
            (r"\d+\.\d+ cpu s", "N cpu s"),
            (r"replay: selvedge replay .*", "replay: selvedge replay FINDING"),
        ]}, {
            insta::assert_snapshot!(title, run.stdout);
        });
        let findings = findings_of(&name);
        assert_eq!(findings.len(), run.stdout.matches("FAIL  ").count(), "{findings:?}");
        for finding in findings {
            let again = selvedge(&["replay", &finding]).expect(1);
            assert!(again.stdout.contains("the same violation again"), "{}", again.stdout);
        }
    }
}

/// A kind that is new has a program in the corpus, and its report is one of those above.
#[test]
fn no_kind_of_finding_is_forgotten() {
    let seen: Vec<&str> = KINDS.iter().filter_map(|path| path.split('/').next()).collect();
    for entry in std::fs::read_dir(root().join("corpus/programs")).unwrap() {
        let kind = entry.unwrap().file_name().into_string().unwrap();
        let others = ["pass", "uncontrolled", "nondeterminism", "step-limit"];
        assert!(seen.contains(&&*kind) || others.contains(&&*kind), "{kind}");
    }
}

#[test]
fn a_finding_replays_from_anywhere() {
    test("replay", &[FAILING]).expect(1);
    let finding = finding_of("replay");
    let output = command(&["replay", "--json", &finding]).current_dir(env!("CARGO_TARGET_TMPDIR")).output().unwrap();
    let document = Run::new(output).expect(1).json();
    assert_eq!((&document["same"], &document["verdict"]), (&true.into(), &"fail".into()));
    assert_eq!(document["coverage"], "replayed");
    assert_eq!(document["findings"][0]["kind"], "assertion");
}

#[test]
fn a_finding_of_another_build_says_so() {
    let program = std::fs::read(root().join(FAILING)).unwrap();
    let source = file("changing.c", &program);
    test("changed", &[&source]).expect(1);
    let finding = finding_of("changed");
    selvedge(&["replay", &finding]).expect(1);
    std::fs::write(&source, [b"\n", &program[..]].concat()).unwrap();
    let run = selvedge(&["replay", &finding]).expect(2);
    assert!(run.stderr.contains("made by another build: the sources"), "{}", run.stderr);
    std::fs::remove_file(&source).unwrap();
    let run = selvedge(&["replay", &finding]).expect(2);
    assert!(run.stderr.contains("no such file"), "{}", run.stderr);

    test("tampered", &[FAILING]).expect(1);
    let text = std::fs::read_to_string(finding_of("tampered")).unwrap();
    let version = concat!("\"tool\":\"", env!("CARGO_PKG_VERSION"), "\"");
    for (from, to, says) in [
        (version, "\"tool\":\"0.0.1\"", "made by selvedge 0.0.1"),
        ("\"version\":2", "\"version\":1", "expected a finding of version 2, found version 1"),
        ("\"format\":\"selvedge-finding\"", "\"format\":\"x\"", "expected a file of format"),
        ("\"build\":", "\"built\":", "the finding does not say how its program was built: "),
        ("\"program\":\"", "\"program\":\"0", "made by another build"),
        ("\"schedule\":\"", "\"schedule\":\"x ", "expected a thread number"),
    ] {
        assert!(text.contains(from), "{from}");
        let path = file("tampered.json", text.replacen(from, to, 1).as_bytes());
        let run = selvedge(&["replay", &path]).expect(2);
        assert!(run.stderr.contains(says), "{says}: {}", run.stderr);
    }
}

#[test]
fn a_schedule_that_does_something_else_is_no_violation() {
    test("other-schedule", &[FAILING]).expect(1);
    let text = std::fs::read_to_string(finding_of("other-schedule")).unwrap();
    let (before, after) = text.split_once("\"schedule\":\"").unwrap();
    let (_, after) = after.split_once('"').unwrap();
    // One thread after the other: nothing is lost.
    let path = file("other-schedule.json", format!("{before}\"schedule\":\"0*2 1*2 2*2 0*3\"{after}").as_bytes());
    let run = selvedge(&["replay", &path]).expect(3);
    assert!(run.stdout.starts_with("UNKNOWN  lost_update: "), "{}", run.stdout);
    let words: String = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("Now there was no violation."), "{}", run.stdout);
}

#[test]
fn what_is_no_finding_is_wrong_input() {
    for (name, content) in [("empty.json", &b""[..]), ("not-json.json", b"schedule"), ("binary.json", b"\xff\xfe")] {
        let path = file(name, content);
        let run = selvedge(&["replay", &path]).expect(2);
        assert!(run.stderr.contains("expected a finding"), "{}", run.stderr);
    }
    selvedge(&["replay", "no/such.json"]).expect(2);
    let document = selvedge(&["replay", "--json", "no/such.json"]).expect(2).json();
    assert_eq!(document["error"]["reason"], "no such file");
}

#[test]
fn a_compile_error_is_shown_as_the_compiler_printed_it() {
    let path = file("wrong.c", b"#include <selvedge.h>\nSELVEDGE_TEST(t) {\n\tint x = y;\n}\n");
    let run = test("wrong", &[&path]).expect(2);
    assert!(run.stderr.contains("the compiler refused the test:\n"), "{}", run.stderr);
    assert!(run.stderr.lines().any(|line| line.starts_with(&format!("{path}:3:"))), "{}", run.stderr);
    assert_eq!(run.stdout, "");
    let document = test("wrong-json", &[&path, "--json"]).expect(2).json();
    assert!(document["error"]["reason"].as_str().unwrap().contains("wrong.c:3:"), "{document}");
    assert!(document.get("verdict").is_none());
}

#[test]
fn what_cannot_be_tested_is_told() {
    let without = file("without.c", b"int add(int a, int b) { return a + b; }\n");
    let rust = file("test.rs", b"fn main() {}\n");
    for (args, says) in [
        (vec![FAILING, "--cc", "no-such-compiler"], "the compiler `no-such-compiler` could not be started"),
        (
            vec!["corpus/programs/crash/exception.cc", "--cc", "no-such-gcc"],
            "the compiler `no-such-g++` could not be started",
        ),
        (vec![without.as_str()], "expected a test, found neither SELVEDGE_TEST, SELVEDGE_OBJECT nor main"),
        (vec![rust.as_str()], "says neither C nor C++"),
        (vec!["no/such.c"], "error: no/such.c: no such file"),
        (vec!["corpus"], "error: corpus: this is a directory"),
        (vec![FAILING, "--test", "other"], "there is no test `other`"),
        (vec![FAILING, "--", "-DNO_SUCH", "--no-such-flag"], "--no-such-flag"),
    ] {
        let run = test("untestable", &args).expect(2);
        assert!(run.stderr.contains(says), "{args:?}: {}", run.stderr);
        assert_eq!(run.stdout, "", "{args:?}");
    }
}

#[test]
fn a_missing_runtime_is_told_with_what_to_do() {
    let output =
        command(&["test", FAILING]).env("SELVEDGE_RUNTIME", "/no/such/libselvedge_runtime.so").output().unwrap();
    let run = Run::new(output).expect(2);
    assert!(run.stderr.contains("looked for at `/no/such/libselvedge_runtime.so`"), "{}", run.stderr);
    assert!(run.stderr.contains("cargo install --path crates/cli"), "{}", run.stderr);
}

#[test]
fn several_tests_and_files_and_flags() {
    if !has(has_cpp(), Need::Cpp, "no file in C beside one in C++") {
        return;
    }
    let one = file(
        "one.c",
        b"#include <assert.h>\n#include <selvedge.h>\nint add(int, int);\n\
          SELVEDGE_TEST(right) { assert(add(1, 2) == SUM); }\nSELVEDGE_TEST(wrong) { assert(add(1, 2) == 4); }\n",
    );
    let two = file("two.cc", b"extern \"C\" int add(int a, int b) { return a + b; }\n");
    let args = [one.as_str(), &two, "--json", "--", "-DSUM=3"];
    let document = test("several", &args).expect(1).json();
    let verdicts: Vec<(&str, &str)> = document["tests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|test| (test["test"].as_str().unwrap(), test["verdict"].as_str().unwrap()))
        .collect();
    assert_eq!(verdicts, [("right", "pass"), ("wrong", "fail")]);
    let run = test("several-one", &[&one, &two, "--test", "right", "--", "-DSUM=3"]).expect(0);
    assert!(!run.stdout.contains("wrong"), "{}", run.stdout);
}

#[test]
fn a_program_with_a_main_is_tested_through_it() {
    let path = file("main.c", b"int main(void) { return 3; }\n");
    let run = test("main", &[&path]).expect(1);
    assert!(run.stdout.contains("main returned 3"), "{}", run.stdout);
}

/// What of a document does not depend on the clock, and not on where findings are written.
pub fn timeless(document: &serde_json::Value) -> serde_json::Value {
    let mut document = document.clone();
    fn forget(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::Object(fields) => {
                fields.retain(|name, _| !["seconds", "cpu_seconds", "path"].contains(&name.as_str()));
                fields.values_mut().for_each(forget);
            }
            serde_json::Value::Array(values) => values.iter_mut().for_each(forget),
            _ => {}
        }
    }
    forget(&mut document);
    document
}

/// Of the runtime's tests this looks at the whole corpus, in the finest parts; here at searches that are long enough to be shared.
#[test]
fn the_number_of_workers_does_not_matter() {
    let michael_scott = "corpus/programs/pass/michael_scott.c";
    for (number, args) in [
        vec![michael_scott, "--strategy", "bounded", "--preemptions", "4"],
        vec![michael_scott, "--strategy", "dfs", "--runs", "20000"],
        vec![PASSING, "--strategy", "pct", "--runs", "20000"],
        vec![FAILING],
        vec!["crates/runtime/tests/programs/operations.c", "--strategy", "dpor"],
    ]
    .into_iter()
    .enumerate()
    {
        let run = |jobs: &str| {
            let args = [&args[..], &["--json", "--time-max", "none", "--jobs", jobs]].concat();
            let run = test(&format!("jobs-{number}"), &args);
            (run.code, timeless(&run.json()))
        };
        let alone = run("1");
        assert!(alone.1["runs"].as_u64().is_some_and(|runs| runs > 0), "{}", alone.1);
        for jobs in ["2", "4"] {
            assert_eq!(run(jobs), alone, "{args:?} with {jobs} workers");
        }
    }
}

#[test]
fn what_was_done_before_an_interrupt_is_counted() {
    use std::os::unix::process::CommandExt;
    let path = endless("counted.c");
    let interrupted_after = |seconds: u64, jobs: &str| {
        let mut command =
            command(&["test", &path, "--strategy", "dfs", "--time-max", "none", "--json", "--jobs", jobs]);
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_secs(seconds));
        signal(child.id(), Signal::INT);
        let document = Run::new(child.wait_with_output().unwrap()).expect(3).json();
        assert_eq!(document["verdict"], "unknown", "{document}");
        // It may have been compiling all the time.
        let Some(endless) = document["tests"].get(1) else { return false };
        assert_eq!(endless["limit"], "interrupted", "{document}");
        assert_eq!(endless["coverage"], "partial");
        endless["runs"].as_u64().is_some_and(|runs| runs > 100)
    };
    for jobs in ["1", "2"] {
        // How long it takes to compile, and to be given a processor, is not ours to say.
        assert!([2, 8, 32, 64].into_iter().any(|seconds| interrupted_after(seconds, jobs)), "{jobs}");
    }
}

#[test]
fn flags_for_the_linker_reach_it() {
    let library = file("twice.c", b"int twice(int x) { return 2 * x; }\n");
    let object = scratch("twice.o");
    let archive = scratch("libtwice.a");
    let run = |program: &str, args: &[&str]| assert!(Command::new(program).args(args).status().unwrap().success());
    let (object, archive) = (object.to_str().unwrap(), archive.to_str().unwrap());
    run("gcc", &["-c", &library, "-o", object]);
    let _ = std::fs::remove_file(archive);
    run("ar", &["rc", archive, object]);
    let source =
        b"#include <assert.h>\n#include <math.h>\n#include <selvedge.h>\nint twice(int);\nvolatile double x = 0.5;\n\
                   SELVEDGE_TEST(t) { assert(twice(4) == 8); assert(cos(x) < 1); }\n";
    let source = file("linked.c", source);
    let directory = format!("-L{}/cli", env!("CARGO_TARGET_TMPDIR"));
    test("link-object", &[&source, "--", object, "-lm"]).expect(0);
    test("link-archive", &[&source, "--", archive, "-lm"]).expect(0);
    test("link-library", &[&source, "--", &directory, "-ltwice", "-lm"]).expect(0);
    let run = test("link-nothing", &[&source, "--", "-lm"]).expect(2);
    assert!(run.stderr.contains("twice"), "what the linker says is shown: {}", run.stderr);
    let run = test("link-missing", &[&source, "--", "-lno_such_library"]).expect(2);
    assert!(run.stderr.contains("no_such_library"), "{}", run.stderr);
}

#[test]
fn retries_can_be_searched_too() {
    let runs = |args: &[&str]| -> u64 {
        let args = [&["crates/runtime/tests/programs/treiber.c", "--strategy", "dpor", "--json"], args].concat();
        test("retries", &args).expect(0).json()["runs"].as_u64().unwrap()
    };
    assert!(runs(&[]) < runs(&["--no-retries"]));
}

/// Stops where the finding fails, in gdb; without it what to do is told.
#[test]
fn a_replay_stops_in_a_debugger() {
    test("break", &[FAILING]).expect(1);
    let finding = finding_of("break");
    let none = command(&["replay", &finding, "--break"]).env("PATH", "/nowhere").output().unwrap();
    let none = Run::new(none).expect(2);
    assert!(none.stderr.contains("there is no debugger: expected gdb or lldb on the PATH"), "{}", none.stderr);
    assert!(none.stderr.contains("apt-get install gdb") && none.stderr.contains("--debugger none"), "{}", none.stderr);
    let run = selvedge(&["replay", &finding, "--break", "--debugger", "no-such-debugger"]).expect(2);
    assert!(run.stderr.contains("there is no debugger `no-such-debugger`"), "{}", run.stderr);
    selvedge(&["replay", &finding, "--debugger", "gdb"]).expect(2);
    if !has(has_program("gdb"), Need::Gdb, "nothing stops in it") {
        return;
    }
    let stack = |finding: &str| {
        let output = command(&["replay", finding, "--break"]).stdin(Stdio::null()).output().unwrap();
        let run = Run::new(output);
        assert_eq!(run.code, 0, "{}", run.stderr);
        run.stdout
    };
    let shown = stack(&finding);
    assert!(shown.contains("SIGTRAP") && shown.contains("lost_update.c:27"), "{shown}");
    test("break-deadlock", &["corpus/programs/deadlock/two_locks.c"]).expect(1);
    let shown = stack(&finding_of("break-deadlock"));
    assert!(shown.contains("SIGTRAP") && shown.contains("two_locks.c:"), "{shown}");
}

/// By hand: the program waits at the failing step and says its process.
#[test]
fn a_replay_waits_for_a_debugger() {
    test("wait", &[FAILING]).expect(1);
    let mut command = command(&["replay", &finding_of("wait"), "--break", "--debugger", "none"]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let mut stderr = std::io::BufReader::new(child.stderr.take().unwrap());
    std::io::BufRead::read_line(&mut stderr, &mut line).unwrap();
    let process = line.trim().rsplit(' ').next().unwrap_or_default();
    assert!(line.starts_with("selvedge: stopped at the failing step, process "), "{line}");
    let process = process.parse().expect("the number of a process");
    assert!(line.contains("gdb -p"), "{line}");
    assert!(child.try_wait().unwrap().is_none(), "it waits");
    signal(process, Signal::KILL);
    assert!(child.wait().unwrap().success());
}

#[test]
fn clang_gives_the_same_verdicts() {
    if !has(has_program("clang"), Need::Clang, "only gcc's verdicts are seen") {
        return;
    }
    test("clang", &[FAILING, "--cc", "clang"]).expect(1);
    selvedge(&["replay", &finding_of("clang")]).expect(1);
    test("clang-pass", &[PASSING, "--cc", "clang"]).expect(0);
}

/// The runtime's symbols take the place of libc's: the tool itself must never have them.
#[test]
fn the_runtime_is_not_linked_into_the_tool() {
    let binary = std::fs::read(env!("CARGO_BIN_EXE_selvedge")).unwrap();
    for symbol in ["__tsan_atomic32_load", "__tsan_func_entry", "selvedge_register\0"] {
        assert!(memchr::memmem::find(&binary, symbol.as_bytes()).is_none(), "{symbol}");
    }
}
