//! Ordinary programs at the border of what is controlled: the verdict is the directory, with every compiler and level of optimisation.
//!
//! `corpus/boundary/VERDICT/NAME.c` or `.cc` is written as a user would write it. A line `// settings: {"reuse": "lifo"}` changes settings, `// flags: -lm` is added to the command
//! line of the compiler, `// only: gcc` and `// only: clang` name the compiler that has what the program is about. Numbers of runs are not compared: they are the compiler's.
//! `// apart: object` and `// apart: library` compile it once more with `-DAPART` and without instrumentation, and link it with that, as others' objects and shared libraries are.
//!
//! `corpus/boundary/VERDICT/NAME.rs` is a Rust test, a module of `corpus/rust/tests/boundary.rs`.
//!
//! Each program is tried with one level per compiler, and its neighbours with others; `SELVEDGE_CAMPAIGN=1` tries all levels. `SELVEDGE_BOUNDARY=WORD` takes those whose path
//! contains the word, with all levels.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use selvedge_protocol::{CoverageRecord, Finding, Search, Settings};

use crate::build::{
    build_with, campaign, compilers_with_clang, programs_of, root, scratch, session, settings, sources_of,
};
use crate::rust::{RUNS_MAX, cargo_test, is_possible, read_reports};

const LEVELS: [&str; 3] = ["-O0", "-O1", "-O2"];

/// What a program says of itself in lines that begin so.
fn said<'a>(source: &'a str, key: &'a str) -> impl Iterator<Item = &'a str> {
    source.lines().filter_map(move |line| line.strip_prefix("// ")?.strip_prefix(key)?.strip_prefix(": "))
}

fn asked(source: &str, search: Search) -> Settings {
    // What is not set is not written.
    let all = Settings { memory_max: Some(4 << 30), ..settings(search) };
    let mut asked = serde_json::to_value(all).expect("settings");
    for line in said(source, "settings") {
        let serde_json::Value::Object(more) = serde_json::from_str(line).expect("settings in JSON") else {
            panic!("settings are an object: {line}")
        };
        for (name, value) in more {
            // This one is written only where it is not what it is by default.
            assert!(name == "spurious" || asked.get(&name).is_some(), "there is no setting {name}");
            asked[&name] = value;
        }
    }
    serde_json::from_value(asked).expect("settings")
}

/// Compiles a part of the program as somebody else would; the flags that link it.
pub fn build_apart(cc: &str, path: &Path, kind: &str, directory: &Path) -> Vec<String> {
    let (flags, output): (&[&str], _) = match kind {
        "object" => (&["-c"], directory.join("apart.o")),
        "library" => (&["-shared", "-fPIC"], directory.join("libapart.so")),
        _ => panic!("{kind} is neither an object nor a library"),
    };
    let built = Command::new(cc).args(["-O2", "-DAPART"]).args(flags).arg(path).arg("-o").arg(&output).status();
    assert!(built.is_ok_and(|status| status.success()), "{} is compiled apart", path.display());
    vec![output.display().to_string(), format!("-Wl,-rpath,{}", directory.display())]
}

/// The levels that a program is tried with: all, or one that its name draws.
fn levels(path: &Path, cc: &str, all: bool) -> Vec<&'static str> {
    let drawn: usize = path
        .file_stem()
        .unwrap_or_default()
        .as_encoded_bytes()
        .iter()
        .chain(cc.as_bytes())
        .map(|&byte| usize::from(byte))
        .sum();
    if all { LEVELS.to_vec() } else { vec![LEVELS[drawn % LEVELS.len()]] }
}

fn check(path: &Path, verdict: &str, cc: &str, all: bool) {
    let source = std::fs::read_to_string(path).expect("the program");
    if said(&source, "only").any(|compiler| !cc.starts_with(compiler)) {
        return;
    }
    let stem = path.file_stem().expect("a name").to_string_lossy();
    for level in levels(path, cc, all) {
        let name = format!("{verdict}/{stem} ({cc} {level})");
        let directory = scratch(&format!("boundary-{cc}{level}-{verdict}-{stem}"));
        let mut flags = vec![level];
        flags.extend(said(&source, "flags").flat_map(str::split_whitespace));
        let apart = said(&source, "apart").next().map(|kind| build_apart(cc, path, kind, &directory));
        flags.extend(apart.iter().flatten().map(String::as_str));
        let program = build_with(cc, path, &flags, &directory);
        let session = session(&program, &asked(&source, Search::Portfolio), &directory);
        assert!(!session.report.tests.is_empty(), "{name} has no tests");
        for test in &session.report.tests {
            let seen: Vec<&Finding> = test.findings.iter().chain(&test.unknowns).collect();
            let kinds: Vec<&str> = seen.iter().map(|finding| finding.kind.name()).collect();
            let expected: &[&str] = if verdict == "pass" { &[] } else { &[verdict] };
            assert_eq!(kinds, expected, "{name} {}: {:?}", test.test, seen.first().map(|finding| &finding.cause));
            if verdict == "pass" {
                assert_eq!(test.coverage, CoverageRecord::Exhaustive, "{name} {}", test.test);
            }
        }
    }
}

/// By two threads: most of the time goes to compilers.
#[test]
fn boundary() {
    let word = std::env::var("SELVEDGE_BOUNDARY").unwrap_or_default();
    let all = campaign() || !word.is_empty();
    let mut cases: Vec<(PathBuf, String, String)> = Vec::new();
    let mut compilers = compilers_with_clang();
    compilers.truncate(2);
    for (path, verdict) in programs_of("boundary") {
        if path.to_string_lossy().contains(&word) {
            cases.extend(compilers.iter().map(|cc| (path.clone(), verdict.clone(), cc.clone())));
        }
    }
    assert!(!cases.is_empty(), "no program is called {word}");
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some((path, verdict, cc)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            if std::panic::catch_unwind(|| check(path, verdict, cc, all)).is_err() {
                failed.lock().expect("a list").push(format!("{} ({cc})", path.display()));
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    let failed = failed.into_inner().expect("a list");
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn boundary_in_rust() {
    if !is_possible() {
        return;
    }
    let project = root().join("corpus/rust");
    let list = std::fs::read_to_string(project.join("tests/boundary.rs")).expect("the list of programs");
    let asked = Settings { runs_max: RUNS_MAX, memory_max: Some(1 << 30), ..settings(Search::Portfolio) };
    let (reports, printed) = cargo_test(&project, "boundary", &scratch("rust-rust"), &asked, &[], &[]);
    let tests: Vec<_> = read_reports(&reports).into_iter().flat_map(|report| report.tests).collect();
    let programs = sources_of("boundary", &["rs"]);
    assert!(programs.len() >= 20, "{}", programs.len());
    let mut wrong = Vec::new();
    for (path, verdict) in programs {
        let file = format!("boundary/{verdict}/{}", path.file_name().expect("a name").to_string_lossy());
        assert!(list.contains(&format!("#[path = \"../../{file}\"]")), "{file} is in the list");
        let test = tests.iter().find(|test| test.test.contains(&format!("{file}:")));
        let Some(test) = test else { panic!("{file} has no report\n{printed}") };
        let seen: Vec<&Finding> = test.findings.iter().chain(&test.unknowns).collect();
        let kinds: Vec<&str> = seen.iter().map(|finding| finding.kind.name()).collect();
        let covered = verdict != "pass" || test.coverage.reaches(&asked);
        if !covered || kinds != if verdict == "pass" { vec![] } else { vec![verdict.as_str()] } {
            let causes: Vec<_> = seen.iter().map(|finding| &finding.cause).collect();
            wrong.push(format!("{file}: {:?} after {} runs: {causes:?}", test.coverage, test.runs));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
