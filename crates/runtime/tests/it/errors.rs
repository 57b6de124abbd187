//! What is wrong with a test is said in a sentence.

use std::path::{Path, PathBuf};

use selvedge_driver::{CompileError, Compiler, Program, RunError, compile, run};
use selvedge_protocol::{Search, SearchTrouble, Settings};

use crate::build::{build, root, runtime, scratch, settings};

fn compiler() -> Compiler {
    let include = root().join("crates/driver/include");
    Compiler { cc: "gcc".into(), flags: vec![], include, runtime: runtime() }
}

fn refused(compiler: &Compiler, sources: &[PathBuf], directory: &Path, expect: &str) -> CompileError {
    let error = compile(compiler, sources, &directory.join("program")).expect_err(expect);
    assert!(error.to_string().contains(expect), "{error}");
    error
}

fn file(directory: &Path, name: &str, text: &str) -> PathBuf {
    let path = directory.join(name);
    std::fs::write(&path, text).expect("a file");
    path
}

#[test]
fn what_cannot_be_compiled() {
    let directory = scratch("errors");
    let good = file(&directory, "good.c", "int x;");
    refused(&compiler(), &[], &directory, "expected at least one C or C++ file");
    refused(&compiler(), &[directory.join("x.rs")], &directory, "ends in .c, .cc, .cpp or .cxx");
    let missing = Compiler { cc: "no-such-compiler".into(), ..compiler() };
    refused(&missing, std::slice::from_ref(&good), &directory, "install it or name another with --cc");
    let nowhere = Compiler { runtime: "/nowhere/lib.so".into(), ..compiler() };
    refused(&nowhere, &[good], &directory, "build the whole workspace");
    let wrong = file(&directory, "wrong.c", "int main(void) { return undeclared_name; }");
    let error = refused(&compiler(), &[wrong], &directory, "undeclared_name");
    assert!(matches!(error, CompileError::Refused(_)));
}

#[test]
fn a_program_without_tests() {
    let directory = scratch("errors-no-tests");
    let program = build(&file(&directory, "none.c", "int unused;"), &[], &directory);
    let session = run(&program, &settings(Search::Dpor), &directory).expect("a report");
    assert_eq!(session.report.error, Some(SearchTrouble::NoTest));
    let path = root().join("corpus/programs/pass/peterson.c");
    let program = build(&path, &[], &directory);
    let other = Settings { test: Some("other".into()), ..settings(Search::Dpor) };
    assert!(run(&program, &other, &directory).expect("a report").report.error.is_some());
}

#[test]
fn a_program_without_the_runtime() {
    let directory = scratch("errors-no-runtime");
    let missing = Program { path: directory.join("missing"), arguments: vec![], identity: String::new() };
    assert!(matches!(run(&missing, &Settings::default(), &directory), Err(RunError::Start(..))));
    let other = Program { path: "/bin/true".into(), arguments: vec![], identity: String::new() };
    assert!(matches!(run(&other, &Settings::default(), &directory), Err(RunError::NoReport { .. })));
}

#[test]
fn a_limit_is_not_a_pass() {
    let directory = scratch("errors-limit");
    let program = build(&root().join("corpus/programs/pass/michael_scott.c"), &[], &directory);
    let few = Settings { runs_max: 50, ..settings(Search::Dpor) };
    let test = &run(&program, &few, &directory).expect("a report").report.tests[0];
    assert_eq!((test.runs, test.coverage), (50, selvedge_protocol::CoverageRecord::Partial));
}
