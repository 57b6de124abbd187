//! Every sentence that says what is wrong, as people read it, and a list of all kinds of errors with where each is shown.
//!
//! The snapshot `errors` has commands and what they say. `INVENTORY` has every variant of every error that a command can come upon: either words of the snapshot, or a
//! test elsewhere that makes one. A variant that is new, and is in neither, fails the test.

use insta::assert_snapshot;

use crate::*;

/// Files that commands of the snapshot read: names and contents.
const FILES: &[(&str, &str)] = &[
    ("empty.jsonl", ""),
    ("prose.txt", "Nothing that is a history.\n"),
    ("cut.jsonl", "{\"call\":\"enq\",\"thread\":0,\"val"),
    ("newer.jsonl", "{\"selvedge\":\"history\",\"version\":9,\"object\":\"queue\"}\n"),
    ("again.jsonl", "{\"call\":\"enq\",\"thread\":0,\"value\":1}\n{\"call\":\"enq\",\"thread\":0,\"value\":2}\n"),
    ("uncalled.jsonl", "{\"return\":null,\"thread\":0}\n"),
    ("other.limo", "# @object atomic-queue\n[1] call enq(5)\n[1] return deq\n"),
    (
        "complete.jsonl",
        "{\"selvedge\":\"history\",\"version\":1,\"object\":\"queue\"}\n{\"call\":\"enq\",\"thread\":0,\"value\":1}\n{\"end\":\"complete\"}\n",
    ),
    (
        "stuck.jsonl",
        "{\"selvedge\":\"history\",\"version\":1,\"object\":\"queue\"}\n{\"call\":\"enq\",\"thread\":0,\"value\":1}\n{\"return\":null,\"thread\":0}\n{\"end\":\"stuck\"}\n",
    ),
    ("backwards.fl", "# queue\nenq 1 5 3\n"),
    (
        "method.jsonl",
        "{\"selvedge\":\"history\",\"version\":1,\"object\":\"queue\"}\n{\"call\":\"explode\",\"thread\":0}\n",
    ),
    (
        "argument.jsonl",
        "{\"selvedge\":\"history\",\"version\":1,\"object\":\"queue\"}\n{\"call\":\"deq\",\"thread\":0,\"value\":5}\n",
    ),
    (
        "result.jsonl",
        "{\"selvedge\":\"history\",\"version\":1,\"object\":\"queue\"}\n{\"call\":\"enq\",\"thread\":0,\"value\":5}\n{\"return\":\"yes\",\"thread\":0}\n",
    ),
    ("queue.jsonl", "{\"call\":\"enq\",\"thread\":0,\"value\":1}\n{\"return\":null,\"thread\":0}\n"),
    (
        "bag.jsonl",
        "{\"selvedge\":\"history\",\"version\":1,\"object\":\"bag\"}\n{\"call\":\"add\",\"thread\":0,\"value\":1}\n{\"return\":null,\"thread\":0}\n",
    ),
    (
        "counter.jsonl",
        "{\"selvedge\":\"history\",\"version\":1,\"object\":\"deque\"}\n{\"call\":\"push_back\",\"thread\":0,\"value\":1}\n{\"return\":null,\"thread\":0}\n",
    ),
    ("no.cert", "{\"selvedge\":\"history\",\"version\":1}\n"),
    ("old.cert", "{\"selvedge\":\"certificate\",\"version\":7}\n"),
    ("wrong.grammar", "Free = nothing | \"acquire\" Held\n"),
    ("undefined.csp", "P() = a -> Q();\n#assert P() deadlockfree;\n"),
    ("syntax.csp", "P() = a -> ;\n"),
    ("zero.csp", "var x = 0;\nP() = a{x = 1 / x} -> Stop;\n#assert P() deadlockfree;\n"),
    ("range.csp", "var x:{0..3} = 3;\nP() = a{x = x + 1} -> Stop;\n#assert P() deadlockfree;\n"),
    ("include.csp", "#include \"other.csp\";\n"),
    ("wrong.c", "#include <selvedge.h>\nSELVEDGE_TEST(t) { nothing; }\n"),
    ("test.pl", "print 1;\n"),
    ("finding.json", "{\"format\":\"selvedge-finding\",\"version\":1}\n"),
    ("other.json", "{\"format\":\"something\",\"version\":1}\n"),
    ("cut.json", "{\"format\":"),
    ("version.xml", "<observationset version=\"2\" object=\"queue\" matrix=\"enq(1)\"></observationset>\n"),
    ("text.xml", "serial histories\n"),
];

/// Commands that are wrong in some way, each with its own way.
const COMMANDS: &[&str] = &[
    // How it is called.
    "frobnicate",
    "check",
    "check queue.jsonl --frobnicate",
    "check queue.jsonl --time-max 60",
    "check queue.jsonl --memory-max 4gigs",
    "check queue.jsonl --object quue",
    "check queue.jsonl --format xml",
    "check queue.jsonl --initial 1.5",
    "check queue.jsonl bag.jsonl --certificate x",
    "check - -",
    "convert queue.jsonl",
    "generate",
    "generate --object queue --operations 1 --violation",
    "monitor",
    "monitor --object queue --listen nowhere",
    // Files.
    "check nowhere.jsonl",
    "check .",
    "check empty.jsonl",
    "check prose.txt",
    "check cut.jsonl",
    "check newer.jsonl",
    "check again.jsonl",
    "check uncalled.jsonl",
    "check other.limo",
    "check complete.jsonl",
    "check stuck.jsonl",
    "check backwards.fl --object queue",
    "check method.jsonl",
    "check argument.jsonl",
    "check result.jsonl",
    "check queue.jsonl --object register --initial nil",
    "check queue.jsonl --object counter --initial five",
    "monitor --object queue nowhere.jsonl",
    "verify queue.jsonl nowhere.cert",
    "verify queue.jsonl prose.txt",
    "verify queue.jsonl no.cert",
    "verify queue.jsonl old.cert",
    // Criteria.
    "check queue.jsonl --quasi deq",
    "check queue.jsonl --quasi deq=-1",
    "check queue.jsonl --quasi deq=100000",
    "check queue.jsonl --quasi =2",
    "check queue.jsonl --quasi kettle=2",
    "check queue.jsonl --quasi deq=1,*=2",
    "check bag.jsonl --quasi remove=1",
    "check counter.jsonl --approximate k=2",
    "check queue.jsonl --approximate k=9",
    "check queue.jsonl --kernel wrong.grammar",
    "check queue.jsonl --kernel mutex",
    "formula nowhere.grammar",
    // Models.
    "model undefined.csp",
    "model syntax.csp",
    "model zero.csp",
    "model range.csp",
    "model include.csp",
    "model nowhere.csp",
    // Code.
    "test",
    "test nowhere.c",
    "test test.pl",
    "test wrong.c",
    "test wrong.c --cc no-such-compiler",
    "test wrong.c --strategy guess",
    "test /bin/sh",
    "replay nowhere.json",
    "replay finding.json",
    "replay other.json",
    "replay cut.json",
    // Objects; `queue` is examples/c/queue.c, built before.
    "test queue --matrix dec()",
    "test queue --matrix |",
    "test queue --matrix a;b;c;d",
    "test queue --threads 0",
    "test queue --samples 0",
    "test queue --observations nowhere.xml",
    "test queue --observations text.xml",
    "test queue --observations version.xml",
    "test queue --quasi pop=2",
    "test queue --quasi deq=2 --specification kettle",
    "test queue --quasi pop=2 --specification stack",
    "test queue --quasi deq=2 --shape 3*",
    "test queue --quasi deq=2 --shape 8*8",
    "test queue --quasi deq=2 --shape pop*deq",
    "test queue --quasi deq=2 --shape enq*enq+0",
    "test queue --reading closed",
    "test queue -- -DN=3",
];

/// Where the commands run, with the files, and with a program that was built before.
fn place() -> PathBuf {
    let directory = scratch("errors");
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).expect("the scratch directory is writable");
    for (name, text) in FILES {
        std::fs::write(directory.join(name), text).expect("writable");
    }
    let source = root().join("examples/c/queue.c").canonicalize().expect("the example");
    let build = format!(
        "gcc $(selvedge cflags) -c '{0}' -o queue.o && gcc queue.o $(selvedge cflags --link) -o queue",
        source.display()
    );
    crate::manual::printed(&build, &directory).expect("a C compiler is there");
    directory
}

/// What a command says, and how it ends.
fn said(words: &str, directory: &Path) -> String {
    let args: Vec<&str> = words.split_whitespace().collect();
    let mut command = command(&args);
    let run = Run::new(command.current_dir(directory).stdin(Stdio::null()).output().expect("the binary runs"));
    assert_eq!((run.code, &*run.stdout), (2, ""), "{words}: {}", run.stderr);
    assert!(!run.stderr.contains("panicked"), "{words}: {}", run.stderr);
    // Where the files happen to be is none of the tool's words.
    run.stderr.replace(&format!("{}/", directory.display()), "")
}

/// Nobody is blamed, no name out of the program's own code is shown, and a sentence begins small and has no full stop.
fn check_manners(words: &str, said: &str) {
    let first = said.lines().find(|line| line.contains("error")).unwrap_or_else(|| panic!("{words}: {said}"));
    assert!(!first.ends_with('.'), "{words}: {first}");
    for word in ["your ", "illegal", "stupid", "forgot", "sorry", "oops", "unwrap", "None)", "Some(", "Err("] {
        assert!(!said.to_lowercase().contains(&word.to_lowercase()), "{words}: `{word}` in {said}");
    }
    // `ReadError`, `selvedge_history::Log`: what no message is about.
    for word in said.split(|letter: char| !(letter.is_alphanumeric() || "_:".contains(letter))) {
        let inner = word.starts_with(|first: char| first.is_ascii_uppercase())
            && word.as_bytes().windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
        assert!(!inner && !word.contains("::"), "{words}: `{word}` is a name of the program's own, in {said}");
    }
}

#[test]
fn what_is_wrong_is_said() {
    let directory = place();
    let mut all = String::new();
    for words in COMMANDS {
        let said = said(words, &directory);
        check_manners(words, &said);
        all += format!("$ selvedge {words}").trim_end();
        all += &format!("\n{said}\n");
    }
    assert_snapshot!("errors", all);
}

/// Where errors get their sentences: the file, and the error.
const ERRORS: &[(&str, &str)] = &[
    ("crates/cli/src/cargo/test.rs", "Trouble"),
    ("crates/driver/src/compile.rs", "CompileError"),
    ("crates/driver/src/run.rs", "RunError"),
    ("crates/protocol/src/schedule.rs", "ScheduleError"),
    ("crates/driver/src/rust.rs", "RustError"),
    ("crates/protocol/src/finding.rs", "FindingError"),
    ("crates/history/src/object/mod.rs", "Misuse"),
    ("crates/history/src/history.rs", "IllFormed"),
    ("crates/history/src/format/error.rs", "ReadError"),
    ("crates/history/src/log.rs", "LogError"),
    ("crates/history/src/verify/refusal.rs", "Refusal"),
    ("crates/history/src/counting/approximate.rs", "Unapproximated"),
    ("crates/history/src/quasi/relaxation.rs", "RelaxationError"),
    ("crates/lineup/src/observation/file.rs", "FileError"),
    ("crates/lineup/src/built_in/mod.rs", "BuiltInError"),
    ("crates/lineup/src/calls.rs", "CallsError"),
    ("crates/lineup/src/matrix.rs", "MatrixError"),
    ("crates/lineup/src/options.rs", "OptionsError"),
    ("crates/protocol/src/options.rs", "OptionError"),
    ("crates/protocol/src/words/complaint.rs", "Complaint"),
    ("crates/lineup/src/quasi/rules.rs", "RelaxedError"),
    ("crates/lineup/src/quasi/shape.rs", "ShapeError"),
    ("crates/model/src/answer.rs", "Trouble"),
];

/// Sentences that no test can bring about, and why.
const NEVER: &[(&str, &str)] =
    &[("the certificate does not show what it claims", "the last arm of a match whose other arms have all variants")];

/// The texts between quotes in a piece of Rust, as they are printed.
fn literals(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = code;
    while let Some(start) = rest.find('"') {
        let mut text = String::new();
        let mut letters = rest[start + 1..].char_indices();
        let mut end = rest.len();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    end = start + 1 + at + 1;
                    break;
                }
                '\\' => match letters.next() {
                    // A text that goes on in the next line, behind its blanks.
                    Some((_, '\n')) => {
                        let here = letters.as_str();
                        let blanks = here.len() - here.trim_start().len();
                        letters.by_ref().take(blanks).for_each(drop);
                    }
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, other)) => text.push(other),
                    None => {}
                },
                _ => text.push(letter),
            }
        }
        found.push(text);
        rest = &rest[end..];
    }
    found
}

/// The longest part of a text that has no place for a value in it.
fn fixed_part(text: &str) -> &str {
    text.split(['{', '}', '\n'])
        .enumerate()
        .filter(|(number, _)| number % 2 == 0 || !text.contains('{'))
        .map(|(_, part)| part)
        .max_by_key(|part| part.len())
        .unwrap_or("")
        .trim()
}

/// All that tests say: sources of tests, and snapshots.
fn all_tests() -> String {
    let mut all = String::new();
    let mut folders = vec![root().join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("readable").flatten() {
            let path = entry.path();
            let name = path.strip_prefix(root()).expect("below the root").display().to_string();
            if path.is_dir() {
                folders.push(path);
            } else if name.ends_with(".snap") || name.ends_with(".rs") && !name.ends_with("errors.rs") {
                let text = std::fs::read_to_string(&path).expect("a text");
                let is_test = name.contains("/tests/") || name.ends_with("tests.rs") || name.ends_with(".snap");
                // The lines of a text may be broken anywhere.
                all += if is_test { &text } else { text.split_once("#[cfg(test)]").map_or("", |(_, tests)| tests) };
            }
        }
    }
    all.replace("\\\"", "\"")
}

/// Each sentence of each error is in a snapshot or in a test, or it is said why it cannot be.
#[test]
fn no_sentence_is_without_a_test() {
    let tests = all_tests();
    let mut missing = Vec::new();
    let mut sentences = 0;
    for (file, name) in ERRORS {
        let code = std::fs::read_to_string(root().join(file)).expect("the source");
        let parts: Vec<&str> = code
            .split("\nimpl ")
            .filter(|part| {
                let head = part.lines().next().unwrap_or_default();
                head.contains(&format!("Display for {name}"))
                    || head.starts_with(&format!("{name} ")) && part.contains("fn fmt_")
            })
            .collect();
        assert!(!parts.is_empty(), "{file} has no sentences of {name}");
        for text in parts.iter().flat_map(|part| literals(part.split("\n}\n").next().unwrap_or_default())) {
            let part = fixed_part(&text);
            if part.len() < 12 {
                continue;
            }
            sentences += 1;
            let never = NEVER.iter().any(|(words, why)| part.contains(words) && why.len() > 10);
            if !never && !tests.contains(part) {
                missing.push(format!("{name}: {part}"));
            }
        }
    }
    assert!(sentences > 100, "only {sentences} sentences were found");
    assert!(missing.is_empty(), "no test has these:\n{}", missing.join("\n"));
}

#[test]
fn texts_are_found_in_code() {
    let code = r#"write!(f, "one {a} and two"); f.write_str("a \"b\" \
                   goes on")"#;
    assert_eq!(literals(code), ["one {a} and two", "a \"b\" goes on"]);
    assert_eq!(fixed_part("the {what} should be {expected}, not {}"), "should be");
    assert_eq!(fixed_part("nothing to fill in"), "nothing to fill in");
}
