//! The C header, with a C compiler and the static library.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The static library, which cargo builds along with the one that the tests are linked with: the newest beside them.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("tests have a path");
    let directory = test.parent().expect("tests lie in target/PROFILE/deps");
    let files = std::fs::read_dir(directory).expect("it can be read").flatten().map(|entry| entry.path());
    let is_library = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name.starts_with("libselvedge_monitor") && name.ends_with(".a")
    };
    let changed = |path: &PathBuf| path.metadata().and_then(|about| about.modified()).ok();
    files.filter(is_library).max_by_key(changed).expect("cargo builds the static library")
}

/// What a C program prints that is linked with the library, line by line.
fn lines_of(source: &str) -> Vec<String> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR"));
    let made = tempfile::tempdir().expect("a temporary directory");
    let program = made.path().join("program");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let compiled = Command::new(compiler)
        .args(["-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-O1", "-I"])
        .arg(directory.join("include"))
        .arg(directory.join("tests/it").join(source))
        .arg(library())
        .args(["-lpthread", "-ldl", "-lm", "-o"])
        .arg(&program)
        .output()
        .expect("there is a C compiler");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let run = Command::new(&program).output().expect("it starts");
    assert!(run.status.success(), "{:?}", run.status);
    String::from_utf8_lossy(&run.stdout).lines().map(str::to_owned).collect()
}

#[test]
fn a_c_program_is_watched() {
    let lines = lines_of("queue.c");
    assert_eq!(lines.len(), 4, "{lines:?}");
    // Empty answers that overlap with other operations may be undecided.
    assert!(lines[0].starts_with("right queue: 0 violations, "), "{lines:?}");
    let wrong = "wrong queue: 1 violations, 0 unchecked: overtaken: a value that thread ";
    assert!(lines[1].starts_with(wrong), "{lines:?}");
    assert_eq!(lines[2..], ["wrong register: 1 violations", "wrong lock: 1 violations"]);
}

/// Operations inside others, coroutines, signals, threads that end in between or hand an operation on: nothing of that is a violation, and what is not followed is counted.
#[test]
fn operations_inside_others_are_no_alarm() {
    let lines = lines_of("nested.c");
    let expected = [
        "queue nested: 0 violations, some unchecked",
        "queue interleaved: 0 violations, some unchecked",
        "queue handed on: 0 violations, some unchecked",
        "queue left open: 0 violations, some unchecked",
        "queue cancelled: 0 violations, none unchecked",
        "queue unstamped: 0 violations, some unchecked",
        "queue ended twice: 0 violations, some unchecked",
        "stack nested: 0 violations, none unchecked",
        "stack interleaved: 0 violations, none unchecked",
        "stack handed on: 0 violations, some unchecked",
        "stack left open: 0 violations, some unchecked",
        "stack cancelled: 0 violations, none unchecked",
        "stack unstamped: 0 violations, some unchecked",
        "stack ended twice: 0 violations, some unchecked",
        "interrupted: 0 violations",
        "interrupted: 0 violations",
        "interrupted: 0 violations",
    ];
    assert_eq!(lines[..expected.len()], expected);
    let [stack, queue] = &lines[expected.len()..] else { panic!("{lines:?}") };
    assert!(stack.starts_with("stack wrong: 1 violations, none unchecked: from-below: "), "{stack}");
    assert!(queue.contains("none unchecked: overtaken: "), "{queue}");
}

/// The example of the manual, as far as a compiler can tell.
#[test]
fn the_example_of_the_manual_compiles() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manual = std::fs::read_to_string(directory.join("../../docs/monitor.md")).expect("there is a manual");
    let code = manual
        .split("\n```c (")
        .nth(1)
        .and_then(|rest| rest.split_once('\n'))
        .map(|(_, rest)| rest)
        .and_then(|rest| rest.split("```").next())
        .expect("it has an example");
    let made = tempfile::tempdir().expect("a temporary directory");
    let source = made.path().join("manual.c");
    std::fs::write(&source, code).expect("it can be written");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let compiled = Command::new(compiler)
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I"])
        .arg(directory.join("include"))
        .arg(&source)
        .output()
        .expect("there is a C compiler");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
}
