//! `cargo selvedge test`, on the example of its page.

use crate::testing::timeless;
use crate::*;

/// The blocks of that language on the page, in order.
fn blocks(language: &str) -> Vec<String> {
    let page = std::fs::read_to_string(root().join("docs/testing-rust.md")).expect("the page");
    let fence = format!("```{language}\n");
    page.split(&fence).skip(1).map(|part| part.split("```").next().expect("a block").to_owned()).collect()
}

/// The example of the page as a project of its own.
fn project(name: &str) -> PathBuf {
    let directory = scratch(name);
    for part in ["src", "tests"] {
        std::fs::create_dir_all(directory.join(part)).expect("the scratch directory is writable");
    }
    let manifest = blocks("toml").remove(0);
    let dependency = root().canonicalize().expect("the repository").join("crates/selvedge");
    let path = "../selvedge/crates/selvedge";
    assert!(manifest.contains(path), "{manifest}");
    // Without a workspace of its own it would belong to the one that it lies in.
    let manifest = manifest.replace(path, dependency.to_str().expect("a plain name")) + "\n[workspace]\n";
    let [library, tests]: [String; 2] = blocks("rust").try_into().expect("two files");
    for (file, text) in [("Cargo.toml", manifest), ("src/lib.rs", library), ("tests/counter.rs", tests)] {
        std::fs::write(directory.join(file), text).expect("the scratch directory is writable");
    }
    // The versions that are known to this workspace need no network.
    std::fs::copy(root().join("Cargo.lock"), directory.join("Cargo.lock")).expect("the lock file is copied");
    directory
}

/// `cargo selvedge test` as cargo starts it, in a project.
pub fn cargo_selvedge(project: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-selvedge"));
    command.args(["selvedge", "test"]).args(args).current_dir(project).stdin(Stdio::null());
    command.env("SELVEDGE_CACHE", cache()).env("CARGO_NET_OFFLINE", "true");
    command.env("CARGO_TARGET_DIR", scratch("cargo-target")).env("RUST_BACKTRACE", "0");
    // What the cargo of this test says is not meant for the one that is started here.
    for variable in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "SELVEDGE_RUNTIME", "RUST_TEST_THREADS"] {
        command.env_remove(variable);
    }
    command
}

pub fn run(mut command: Command) -> Run {
    Run::new(command.output().expect("the binary runs"))
}

/// Whether the toolchain lacks what it takes; the test is skipped then.
#[track_caller]
pub fn skipped(run: &Run) -> bool {
    let lacks = run.code == 2
        && (run.stderr.contains("the Rust toolchain lacks") || run.stderr.contains("tests can be controlled on"));
    if lacks {
        skip(Need::StandardLibrary, &run.stderr);
    }
    lacks
}

/// The part of the report on the search of that test: from its verdict to the empty line before the next.
#[track_caller]
fn part_of<'a>(run: &'a Run, test: &str) -> &'a str {
    let tests = blocks("rust").remove(1);
    let start = tests.find(&format!("fn {test}()")).expect("the test is on the page");
    let number = tests[..start].lines().count() + 2;
    let heading = format!("  {test} (tests/counter.rs:{number}): ");
    let at = run.stdout.find(&heading).unwrap_or_else(|| panic!("{heading}\n{}\n{}", run.stdout, run.stderr));
    let from = run.stdout[..at].rfind('\n').map_or(0, |at| at + 1);
    let rest = &run.stdout[from..];
    let next =
        ["\n\nPASS", "\n\nFAIL", "\n\nUNKNOWN", "\n\nRelative"].iter().filter_map(|label| rest.find(label)).min();
    &rest[..next.unwrap_or(rest.len())]
}

/// The finding file that a part of the report names.
#[track_caller]
fn finding_in(part: &str) -> &str {
    let (_, path) = part.split_once("replay: selvedge replay ").unwrap_or_else(|| panic!("{part}"));
    path.lines().next().expect("a path").trim_matches('\'')
}

/// Objects that cannot be tested, and one for which there is no time: by name, what is said, and the exit code.
const OBJECTS: [(&str, &str, i32); 8] = [
    ("unknown_call", "there is no call `pop()`: expected one of push()", 2),
    ("named_twice", "found `push()` twice", 2),
    ("no_threads", "expected a number from 1 to 16 for threads, found `0`", 2),
    ("unmade", "the constructor does not work: nothing to be made of", 2),
    ("of_time", "`now()` does not do the same again", 2),
    ("of_chance", "`hash()` does not do the same again", 2),
    ("unfinished", "UNKNOWN  unfinished", 3),
    ("right", "PASS  right", 0),
];

const OBJECT_TESTS: &str = r#"
use std::sync::Mutex;
use selvedge::{Object, object};

fn stack() -> Object<Mutex<Vec<u32>>> {
    object(|| Mutex::new(Vec::new())).call("push()", |stack| stack.lock().unwrap().push(1))
}

#[test]
fn unknown_call() {
    stack().test([["push()", "pop()"]]).check();
}

#[test]
fn named_twice() {
    stack().call("push()", |stack| stack.lock().unwrap().len()).check();
}

#[test]
fn no_threads() {
    stack().threads(0).check();
}

#[test]
fn unmade() {
    object(|| -> Mutex<u32> { panic!("nothing to be made of") }).call("get()", |cell| *cell.lock().unwrap()).check();
}

#[test]
fn of_time() {
    let now = |_: &u32| std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
    object(|| 0u32).call("now()", now).check();
}

#[test]
fn of_chance() {
    use std::hash::{BuildHasher, RandomState};
    object(|| 0u32).call("hash()", |_| RandomState::new().hash_one(1)).check();
}

#[test]
fn unfinished() {
    stack()
        .call("pop()", |stack| stack.lock().unwrap().pop())
        .threads(3)
        .ops(4)
        .samples(1000)
        .time(std::time::Duration::from_millis(300))
        .check();
}

#[test]
fn right() {
    stack().matrix("push() | push()").check();
}

#[test]
fn judged() {
    assert!(stack().matrix("push() | push()").report().starts_with('{'));
}
"#;

/// The project with these tests, which two tests share, so that it is compiled once.
fn objects() -> &'static Path {
    static PROJECT: std::sync::OnceLock<PathBuf> = std::sync::OnceLock::new();
    PROJECT.get_or_init(|| {
        let project = project("cargo-objects");
        std::fs::write(project.join("tests/objects.rs"), OBJECT_TESTS).expect("the scratch directory is writable");
        project
    })
}

#[test]
fn objects_that_cannot_be_tested() {
    let project = objects();
    for code in [2, 3, 0] {
        let some: Vec<_> = OBJECTS.iter().filter(|object| object.2 == code).collect();
        let names: Vec<&str> = some.iter().map(|object| object.0).collect();
        let tests = run(cargo_selvedge(project, &[&["--test", "objects", "--"], &names[..]].concat()));
        if skipped(&tests) {
            return;
        }
        let tests = tests.expect(code);
        for (name, says, _) in some {
            let is_said = tests.stderr.contains(says) || tests.stdout.contains(says);
            assert!(is_said, "{name}: {}\n{}", tests.stdout, tests.stderr);
        }
    }
}

/// A test that takes the report for itself has called selvedge, too.
#[test]
fn a_report_that_a_test_took_is_counted() {
    let project = objects();
    for (names, says, code) in [
        (&["judged"][..], "selvedge: 1 search is judged by its test", 0),
        (&["judged", "right"], "selvedge: 1 search is judged by its test", 0),
        // Nothing tested is no pass.
        (&["nothing"], "Cargo.toml: nothing was tested: no test called selvedge::explore or selvedge::object", 2),
    ] {
        let tests = run(cargo_selvedge(project, &[&["--test", "objects", "--"], names].concat()));
        if skipped(&tests) {
            return;
        }
        let tests = tests.expect(code);
        let told = if code == 0 { &tests.stdout } else { &tests.stderr };
        assert!(told.contains(says), "{told}");
        assert_eq!(tests.stdout.contains("PASS  right"), names.contains(&"right"), "{}", tests.stdout);
    }
}

#[test]
fn the_example_of_the_page() {
    let project = project("cargo-example");
    let _ = std::fs::remove_dir_all(project.join("selvedge-findings"));
    let all = run(cargo_selvedge(&project, &["--time-max", "50s"]));
    if skipped(&all) {
        return;
    }
    let all = all.expect(1);
    assert!(part_of(&all, "every_count_counts").starts_with("PASS  "), "{}", all.stdout);
    let failed = part_of(&all, "a_count_is_lost");
    assert!(failed.starts_with("FAIL  ") && failed.contains("an update is lost, left: 1, right: 2"), "{failed}");
    assert!(all.stdout.contains("test every_count_counts ... ok"), "{}", all.stdout);
    assert!(all.stdout.contains("test a_count_is_lost ... FAILED"), "{}", all.stdout);
    replays(&project, finding_in(failed));

    // From elsewhere, with cargo's arguments and those of the test program.
    let manifest = project.join("Cargo.toml");
    let manifest = manifest.to_str().expect("a plain name");
    let dpor = ["--manifest-path", manifest, "--strategy", "dpor", "--test", "counter", "--", "every_count"];
    let one = run(cargo_selvedge(root(), &dpor)).expect(0);
    let part = part_of(&one, "every_count_counts");
    assert!(part.starts_with("PASS  ") && part.contains("  exhaustive: "), "{part}");
    assert!(!one.stdout.contains("a_count_is_lost"), "{}", one.stdout);

    // Optimisation at link time would need the bitcode that is not instrumented.
    let lto = std::fs::read_to_string(manifest).expect("the manifest") + "\n[profile.release]\nlto = true\n";
    std::fs::write(manifest, lto).expect("writable");
    let optimised = run(cargo_selvedge(&project, &["--release", "--test", "counter", "lost"])).expect(1);
    assert!(part_of(&optimised, "a_count_is_lost").starts_with("FAIL  "), "{}", optimised.stdout);

    let cut = run(cargo_selvedge(&project, &["--runs", "1", "--test", "counter", "every_count"])).expect(3);
    let part = part_of(&cut, "every_count_counts");
    assert!(part.starts_with("UNKNOWN  ") && part.contains("stopped after 1 run"), "{part}");

    let wrong = run(cargo_selvedge(&project, &["--frobnicate"])).expect(2);
    assert!(wrong.stderr.contains("--frobnicate"), "{}", wrong.stderr);
    std::fs::write(project.join("tests/broken.rs"), "#[test] fn broken() { nothing }").expect("writable");
    let broken = run(cargo_selvedge(&project, &[])).expect(2);
    std::fs::remove_file(project.join("tests/broken.rs")).expect("writable");
    assert!(broken.stderr.contains("cannot find value `nothing`"), "{}", broken.stderr);
}

/// The finding replays as it is; when the code has changed, that is said instead.
fn replays(project: &Path, finding: &str) {
    let replay = |args: &[&str]| {
        let mut replay = command(&[&["replay", finding], args].concat());
        replay.current_dir(project).env("SELVEDGE_CACHE", cache()).env("CARGO_NET_OFFLINE", "true");
        replay.env("CARGO_TARGET_DIR", scratch("cargo-target")).env_remove("RUSTFLAGS");
        run(replay)
    };
    let again = replay(&["--json"]).expect(1).json();
    assert_eq!((&again["same"], &again["findings"][0]["kind"]), (&true.into(), &"panic".into()), "{again}");
    if has(has_program("gdb"), Need::Gdb, "nothing stops in it") {
        let shown = replay(&["--break"]).expect(0).stdout;
        assert!(shown.contains("SIGTRAP") && shown.contains("tests/counter.rs:11"), "{shown}");
    }
    let library = project.join("src/lib.rs");
    let text = std::fs::read_to_string(&library).expect("the library");
    std::fs::write(&library, text.replace("seen + 1", "seen + 1 + 0 * counter.load(SeqCst)")).expect("writable");
    let other = replay(&[]).expect(2);
    assert!(other.stderr.contains("the finding was made by another build"), "{}", other.stderr);
    std::fs::write(&library, text).expect("writable");
}

#[test]
fn the_document_has_what_is_promised() {
    let project = project("cargo-document");
    let run = run(cargo_selvedge(&project, &["--json", "--strategy", "bounded", "--test", "counter"]));
    if skipped(&run) {
        return;
    }
    let document = run.expect(1).json();
    let alone = ["--json", "--strategy", "bounded", "--jobs", "1", "--test", "counter"];
    let alone = self::run(cargo_selvedge(&project, &alone)).expect(1).json();
    assert_eq!(timeless(&document), timeless(&alone), "the number of workers does not matter");
    for (field, value) in
        [("verdict", "fail"), ("criterion", "assertions"), ("strategy", "bounded"), ("compiler", "rustc")]
    {
        assert_eq!(document[field], value, "{field}");
    }
    assert_eq!(document["version"], env!("CARGO_PKG_VERSION"));
    for field in ["seconds", "cpu_seconds", "runs", "redundant", "blocked", "points", "histories"] {
        assert!(document[field].as_f64().is_some_and(|number| number >= 0.0), "{field}");
    }
    let found = &document["findings"][0];
    assert_eq!(found["kind"], "panic");
    assert!(found["message"].as_str().is_some_and(|message| message.contains("an update is lost")), "{found}");
    assert_eq!(found["file"], "tests/counter.rs", "where it panics");
    assert!(found["line"].as_u64().is_some_and(|line| line > 0), "{found}");
    let path = found["path"].as_str().expect("a path");
    assert!(project.join(path).is_file(), "{path}");
    let functions: Vec<&str> =
        document["tests"].as_array().expect("tests").iter().filter_map(|test| test["function"].as_str()).collect();
    assert_eq!(functions, ["every_count_counts", "a_count_is_lost"]);
}

#[test]
fn an_interrupt_ends_the_search_with_what_is_known() {
    use std::io::{BufRead, Read};
    let project = project("cargo-interrupt");
    let test = "#[test]\nfn endless() {\n    selvedge::explore(|| {\n        let x = std::sync::atomic::AtomicU32::new(0);\n        \
                let add = || (0..40).for_each(|_| counter::increment(&x));\n        std::thread::scope(|scope| {\n            \
                scope.spawn(add);\n            scope.spawn(add);\n        });\n    });\n}\n";
    std::fs::write(project.join("tests/endless.rs"), test).expect("writable");
    let endless = ["--strategy", "dfs", "--time-max", "none", "--test", "endless"];
    let mut command = cargo_selvedge(&project, &endless);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary runs");
    let mut stdout = std::io::BufReader::new(child.stdout.take().expect("a pipe"));
    let mut text = String::new();
    while !text.ends_with("running 1 test\n") && stdout.read_line(&mut text).expect("text") > 0 {}
    std::thread::sleep(std::time::Duration::from_secs(2));
    signal(child.id(), Signal::INT);
    stdout.read_to_string(&mut text).expect("text");
    let output = child.wait_with_output().expect("it ends");
    let run = Run { stdout: text, ..Run::new(output) };
    if skipped(&run) {
        return;
    }
    let run = run.expect(3);
    assert!(run.stdout.contains("\nUNKNOWN  endless (tests/endless.rs:3): "), "{}", run.stdout);
    assert!(run.stdout.contains("\n  interrupted\n"), "{}", run.stdout);
    assert!(!run.stdout.contains("\n  0 runs"), "what was done is counted: {}", run.stdout);
}

#[test]
fn help_of_cargo_selvedge() {
    for (name, words) in
        [("cargo_selvedge", vec!["selvedge", "--help"]), ("cargo_selvedge_test", vec!["selvedge", "test", "--help"])]
    {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-selvedge"));
        let help = Run::new(command.args(words).env("COLUMNS", "80").output().expect("the binary runs")).expect(0);
        for line in help.stdout.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        insta::assert_snapshot!(name, help.stdout);
    }
}

#[test]
fn plain_cargo_says_what_to_use() {
    let project = project("cargo-plain");
    let mut plain = Command::new(env!("CARGO"));
    plain.args(["test", "--offline", "--test", "counter"]).current_dir(&project);
    let plain = Run::new(plain.env("CARGO_TARGET_DIR", scratch("cargo-plain-target")).output().expect("cargo runs"));
    let plain = plain.expect(101);
    let sentence = "this test explores schedules: run it with `cargo selvedge test`";
    assert_eq!(plain.stdout.matches(sentence).count(), 2, "{}", plain.stdout);
}

#[test]
fn what_is_missing_is_told() {
    let mut command = cargo_selvedge(root(), &[]);
    command.env("SELVEDGE_RUNTIME", "/nowhere/libselvedge_runtime.so");
    let none = run(command).expect(2);
    if !skipped(&none) {
        let said = "error: the runtime was not found; it was looked for at `/nowhere/libselvedge_runtime.so`";
        assert!(none.stderr.starts_with(said), "{}", none.stderr);
    }
    let target = run(cargo_selvedge(root(), &["--target", "x86_64-unknown-linux-musl"])).expect(2);
    assert!(target.stderr.contains("controlled on x86_64-unknown-linux-gnu only"), "{}", target.stderr);
    let threads = run(cargo_selvedge(root(), &["--", "--test-threads=2"])).expect(2);
    assert!(threads.stderr.contains("--test-threads can only be 1"), "{}", threads.stderr);
    let usage = run(cargo_selvedge(root(), &["--strategy", "guess"])).expect(2);
    assert!(usage.stderr.contains("portfolio"), "{}", usage.stderr);
}

/// What is said with a toolchain that has only the given files in the directory of its libraries.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn with_toolchain(name: &str, files: Option<&[(&str, &str)]>) -> String {
    use std::os::unix::fs::PermissionsExt;
    let toolchain = scratch(name);
    let _ = std::fs::remove_dir_all(&toolchain);
    std::fs::create_dir_all(&toolchain).expect("writable");
    if let Some(files) = files {
        let libraries = toolchain.join("lib/rustlib/x86_64-unknown-linux-gnu/lib");
        std::fs::create_dir_all(&libraries).expect("writable");
        for (file, text) in files {
            std::fs::write(libraries.join(file), text).expect("writable");
        }
    }
    let rustc = toolchain.join("rustc");
    let path = toolchain.display();
    let script = format!("#!/bin/sh\ncase $1 in -vV) echo commit-hash: none;; *) echo '{path}';; esac\n");
    std::fs::write(&rustc, script).expect("writable");
    std::fs::set_permissions(&rustc, std::fs::Permissions::from_mode(0o755)).expect("its owner may");
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::env::join_paths([toolchain.clone()].into_iter().chain(std::env::split_paths(&paths)));
    let mut command = cargo_selvedge(root(), &[]);
    command.env("PATH", paths.expect("plain names")).env("SELVEDGE_CACHE", toolchain.join("cache"));
    let run = run(command).expect(2);
    let left = std::fs::read_dir(toolchain.join("cache")).map_or(0, |entries| entries.count());
    assert_eq!(left, 0, "nothing half-made is left behind");
    run.stderr
}

/// A toolchain for another target; one without the standard library; one whose standard library is an archive without any object.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[test]
fn what_the_toolchain_lacks_is_told() {
    let empty = [("libstd-0.rlib", "!<arch>\n")];
    for (number, (files, lacks)) in [
        (None, "the standard library for x86_64-unknown-linux-gnu"),
        (Some(&[][..]), "the crate `std` for x86_64-unknown-linux-gnu"),
        (Some(&empty[..]), "the bitcode of `std`"),
    ]
    .into_iter()
    .enumerate()
    {
        let said = with_toolchain(&format!("cargo-toolchain-{number}"), files);
        let expected = format!(
            "error: the standard library cannot be instrumented: the Rust toolchain lacks {lacks}\n  the toolchains that"
        );
        assert!(said.starts_with(&expected), "{said}");
    }
}

#[test]
fn without_a_compiler_what_is_missing_is_told() {
    let mut command = cargo_selvedge(root(), &[]);
    command.env("PATH", "/nowhere").env("SELVEDGE_CACHE", scratch("cargo-no-rustc"));
    let run = run(command).expect(2);
    let is_told = run.stderr.contains("`rustc` failed: ") || run.stderr.contains("tests can be controlled on");
    assert!(is_told, "{}", run.stderr);
}
