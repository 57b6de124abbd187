//! Usage: help texts, and errors before anything runs.

use insta::assert_snapshot;

use crate::*;

/// Every command, and none for the tool itself.
const COMMANDS: [&str; 15] = [
    "",
    "test",
    "replay",
    "check",
    "monitor",
    "model",
    "verify",
    "convert",
    "generate",
    "formula",
    "doctor",
    "cflags",
    "header",
    "completions",
    "man",
];

#[test]
fn help() {
    let listed = selvedge(&["--help"]).expect(0).stdout;
    let listed = listed.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).expect("a list");
    // What a command does may go on in lines that are indented further.
    let commands = listed.lines().filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
    for command in commands.filter_map(|line| line.split_whitespace().next()) {
        assert!(COMMANDS.contains(&command) || command == "help", "the help of {command} is not looked at");
    }
    for command in COMMANDS {
        let args: Vec<&str> = [command, "--help"].into_iter().filter(|arg| !arg.is_empty()).collect();
        let run = selvedge(&args).expect(0);
        for line in run.stdout.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        assert_snapshot!(format!("help_{command}").trim_end_matches('_'), run.stdout);
    }
}

#[test]
fn wrong_usage_is_exit_code_2() {
    for (args, words) in [
        (vec![], "Usage"),
        (vec!["check"], "<FILE>"),
        (vec!["frobnicate"], "frobnicate"),
        (vec!["check", PASS, "--frobnicate"], "--frobnicate"),
        (vec!["check", PASS, "--time-max", "60"], "a unit is missing"),
        (vec!["check", PASS, "--memory-max", "4 gigs"], "is not known"),
        (vec!["check", PASS, "--object", "quue"], "queue"),
        (vec!["check", PASS, "--format", "xml"], "jsonl"),
        (vec!["check", PASS, "--initial", "1.5"], "integer"),
        (vec!["check", PASS, FAIL, "--certificate", "x"], "give one file"),
        (vec!["check", "-", "-"], "only once"),
        (vec!["verify", "-", "-"], "only once"),
        (vec!["verify", PASS], "<CERTIFICATE>"),
        (vec!["convert", PASS], "--to"),
        (vec!["generate"], "--object"),
        (vec!["generate", "--object", "queue", "--processes", "0"], "0"),
        (vec!["generate", "--object", "queue", "--operations", "1", "--violation"], "at least"),
    ] {
        let run = selvedge(&args).expect(2);
        assert!(run.stderr.contains(words), "{args:?}: expected `{words}` in {}", run.stderr);
        assert_eq!(run.stdout, "", "{args:?}");
    }
}

#[test]
fn the_version_is_told() {
    let run = selvedge(&["--version"]).expect(0);
    assert_eq!(run.stdout, format!("selvedge {}\n", env!("CARGO_PKG_VERSION")));
}
