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

#[test]
fn a_c_program_is_watched() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = std::env::temp_dir().join(format!("selvedge-monitor-{}", std::process::id()));
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let compiled = Command::new(compiler)
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-I"])
        .arg(directory.join("include"))
        .arg(directory.join("tests/it/queue.c"))
        .arg(library())
        .args(["-lpthread", "-ldl", "-lm", "-o"])
        .arg(&program)
        .output()
        .expect("there is a C compiler");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let run = Command::new(&program).output().expect("it starts");
    let _ = std::fs::remove_file(&program);
    let text = String::from_utf8_lossy(&run.stdout);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    // Empty answers that overlap with other operations may be undecided.
    assert!(lines[0].starts_with("right queue: 0 violations, "), "{text}");
    assert!(lines[1].starts_with("wrong queue: 1 violations, 0 unchecked: overtaken: a value that thread "), "{text}");
    assert_eq!(lines[2], "wrong register: 1 violations");
    assert_eq!(lines[3], "wrong lock: 1 violations");
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
    let source = std::env::temp_dir().join(format!("selvedge-manual-{}.c", std::process::id()));
    std::fs::write(&source, code).expect("it can be written");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let compiled = Command::new(compiler)
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I"])
        .arg(directory.join("include"))
        .arg(&source)
        .output()
        .expect("there is a C compiler");
    let _ = std::fs::remove_file(&source);
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
}
