//! Every environment variable is in the table of `CONTRIBUTING.md`, and every one in the table is used.

use std::collections::BTreeSet;

use super::{quoted, table, texts};

/// What is the name of a variable in a line of a source: a text that is one of ours, or what a call that reads the environment is given.
fn names(line: &str) -> Vec<String> {
    let is_name = |text: &str| {
        text.len() > 1
            && text.chars().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_')
    };
    // The last one is how closures are called that read one.
    let reads = ["env::var(", "var_os(", "option_env!(", "getenv(", " set("];
    let mut found = Vec::new();
    let pieces: Vec<&str> = line.split('"').collect();
    for at in (1..pieces.len()).step_by(2) {
        let before = pieces[at - 1].trim_end_matches('c');
        let ours = pieces[at].strip_prefix("SELVEDGE_").is_some_and(|rest| !rest.is_empty());
        if is_name(pieces[at]) && (ours || reads.iter().any(|read| before.ends_with(read))) {
            found.push(pieces[at].to_owned());
        }
    }
    found
}

/// Macros of the headers have such names too, and are no variables.
fn macros() -> BTreeSet<String> {
    let headers = texts(&["crates"], &[".h"]);
    let lines = headers.iter().flat_map(|text| text.text.lines());
    let defined = lines.filter_map(|line| line.trim_start().strip_prefix("#define ")).filter_map(|rest| {
        rest.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').next().map(str::to_owned)
    });
    defined.collect()
}

#[test]
fn every_variable_is_in_the_table() {
    let macros = macros();
    let mut used = BTreeSet::new();
    for text in texts(&["crates", "corpus", "benches", "fuzz"], &[".rs"]) {
        // Programs under test look at whatever they like, build scripts at what cargo tells them.
        let of_cargo = text.path.ends_with("/build.rs") && text.path.matches('/').count() == 2;
        let ours = !text.path.starts_with("corpus/programs") && !of_cargo;
        used.extend(text.text.lines().filter(|_| ours).flat_map(names).filter(|name| !macros.contains(name)));
    }
    for text in texts(&[".ci"], &["run"]) {
        let words = text.text.split(|letter: char| !letter.is_ascii_uppercase() && letter != '_');
        used.extend(words.filter(|word| word.starts_with("SELVEDGE_")).map(str::to_owned));
    }
    let rows = table("CONTRIBUTING.md", "variable").into_iter().chain(table("CONTRIBUTING.md", "variable of the tool"));
    let told: BTreeSet<String> = rows.flat_map(|cells| quoted(&cells[0])).collect();
    let missing: Vec<&String> = used.difference(&told).collect();
    assert!(missing.is_empty(), "CONTRIBUTING.md does not say what these are: {missing:?}");
    let unused: Vec<&String> = told.difference(&used).collect();
    assert!(unused.is_empty(), "CONTRIBUTING.md has variables that nothing reads: {unused:?}");
}

/// What tests can be skipped for is told where the variables are.
#[test]
fn every_need_is_in_the_table() {
    let told: Vec<String> = table("CONTRIBUTING.md", "need").iter().flat_map(|cells| quoted(&cells[0])).collect();
    assert_eq!(told, selvedge_needs::Need::ALL.map(|need| need.name().to_owned()));
}

#[test]
fn names_of_variables_are_found() {
    for (line, expected) in [
        ("std::env::var(\"CC\").is_ok()", &["CC"][..]),
        ("number(\"SELVEDGE_FIRST\")", &["SELVEDGE_FIRST"]),
        ("libc::getenv(c\"HOME\".as_ptr())", &["HOME"]),
        ("println!(\"CC\", \"SELVEDGE_A b\")", &[]),
    ] {
        assert_eq!(names(line), expected, "{line}");
    }
}
