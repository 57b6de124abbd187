//! The manual does what it says: a page is executed from top to bottom in an empty directory, by its text alone.
//!
//! A block below a line such as "`ring.h`:" is a file, and is written. A block of `console` has commands behind `$`, each followed by what it prints;
//! `...` stands for lines that are left out. Every file of a page that is executed is used by a command, so every block is compiled or read.
//! `SELVEDGE_UPDATE=1` writes what is printed now into the pages.

use crate::*;

/// One block of a page: where it stands, and what it is.
struct Block {
    /// The first line of its content, and the one behind the last, counted from 0.
    lines: std::ops::Range<usize>,
    kind: Kind,
}

enum Kind {
    File(String),
    Console,
    /// Only shown.
    Other,
}

/// The name of the file that a paragraph announces: "`src/lib.rs`:" or "`Cargo.toml`, where ...:".
fn announced(line: &str) -> Option<String> {
    let name = line.strip_prefix('`')?.split('`').next()?;
    (line.ends_with(':') && name.contains('.')).then(|| name.to_owned())
}

fn blocks(page: &[&str]) -> Vec<Block> {
    let mut found = Vec::new();
    let (mut paragraph, mut at) = ("", 0);
    while at < page.len() {
        if let Some(language) = page[at].strip_prefix("```") {
            let length = page[at + 1..].iter().position(|line| *line == "```").expect("blocks are closed");
            let kind = match (language, announced(paragraph)) {
                ("console", _) => Kind::Console,
                (_, Some(name)) => Kind::File(name),
                _ => Kind::Other,
            };
            found.push(Block { lines: at + 1..at + 1 + length, kind });
            at += length + 1;
            paragraph = "";
        } else if !page[at].is_empty() {
            paragraph = page[at];
        }
        at += 1;
    }
    found
}

/// The commands of a block with the lines below each.
fn commands<'a>(lines: &[&'a str]) -> Vec<(&'a str, Vec<&'a str>)> {
    let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in lines {
        match (line.strip_prefix("$ "), found.last_mut()) {
            (Some(command), _) => found.push((command, vec![])),
            (None, Some((_, output))) => output.push(line),
            (None, None) => panic!("a block of commands starts with one: {line}"),
        }
    }
    found
}

/// Whether the lines are as shown, where `...` stands for any number of them.
fn matches(shown: &[String], printed: &[String]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((first, rest)) if first.trim() == "..." => (0..=printed.len()).any(|skip| matches(rest, &printed[skip..])),
        Some((first, rest)) => printed.split_first().is_some_and(|(line, below)| first == line && matches(rest, below)),
    }
}

/// A line without what depends on the clock (numbers with a fraction) and on the build (the end of a finding's name).
fn timeless(line: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in line.split(' ') {
        let number = word.trim_matches(|letter: char| !letter.is_ascii_digit());
        let fraction = number.contains('.') && number.chars().all(|letter| letter.is_ascii_digit() || letter == '.');
        words.push(match (word.trim_end_matches(')').strip_suffix(".json"), fraction) {
            (Some(name), _) if name.len() > 8 && name.is_char_boundary(name.len() - 8) => {
                name[..name.len() - 8].to_owned()
            }
            (_, true) => word.replace(number, "#"),
            _ => word.to_owned(),
        });
    }
    words.join(" ").trim_end().to_owned()
}

/// Lines that can be compared, without empty ones at either end.
fn comparable(lines: &[&str]) -> Vec<String> {
    let mut lines: Vec<String> = lines.iter().map(|line| timeless(line)).collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    let first = lines.iter().position(|line| !line.is_empty()).unwrap_or(0);
    lines.split_off(first)
}

/// What a command of the page prints, or why it cannot be run here.
fn printed(command: &str, directory: &Path) -> Result<String, String> {
    let binaries = Path::new(env!("CARGO_BIN_EXE_selvedge")).parent().expect("it lies in a directory");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(directory).stdin(Stdio::null());
    shell.env("PATH", format!("{}:{path}", binaries.display()));
    shell.env("SELVEDGE_CACHE", scratch("cargo-cache")).env("CARGO_NET_OFFLINE", "true").env("RUST_BACKTRACE", "0");
    shell.env("CARGO_TARGET_DIR", scratch("manual-target"));
    for variable in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "SELVEDGE_RUNTIME", "RUST_TEST_THREADS", "CLICOLOR_FORCE"]
    {
        shell.env_remove(variable);
    }
    let run = Run::new(shell.output().expect("there is a shell"));
    if run.code == 2 && run.stderr.contains("the Rust toolchain lacks") {
        return Err(run.stderr);
    }
    assert!([0, 1].contains(&run.code), "`{command}` ends with {}:\n{}\n{}", run.code, run.stdout, run.stderr);
    Ok(run.stdout)
}

/// Executes the page; with `SELVEDGE_UPDATE` the outputs that differ are written anew.
fn execute(name: &str) {
    let path = root().join("docs").join(name);
    let text = std::fs::read_to_string(&path).expect("the page");
    let page: Vec<&str> = text.lines().collect();
    let beside = scratch(&format!("manual-{}", name.replace(['/', '.'], "-")));
    let _ = std::fs::remove_dir_all(&beside);
    let directory = beside.join("project");
    std::fs::create_dir_all(&directory).expect("the scratch directory is writable");
    std::os::unix::fs::symlink(root().canonicalize().unwrap(), beside.join("selvedge")).expect("a link can be made");
    // The versions that are known to this workspace need no network.
    std::fs::copy(root().join("Cargo.lock"), directory.join("Cargo.lock")).expect("the lock file is copied");
    let mut updates: Vec<(std::ops::Range<usize>, String)> = Vec::new();
    for block in blocks(&page) {
        let lines = &page[block.lines.clone()];
        match block.kind {
            Kind::Other => {}
            Kind::File(file) => {
                let file = directory.join(file);
                std::fs::create_dir_all(file.parent().expect("it is in the directory")).expect("writable");
                // A project in this workspace's directory would belong to it.
                let alone = if file.ends_with("Cargo.toml") { "\n[workspace]\n" } else { "" };
                std::fs::write(file, format!("{}\n{alone}", lines.join("\n"))).expect("writable");
            }
            Kind::Console => {
                let mut shown = Vec::new();
                let mut differs = false;
                for (command, output) in commands(lines) {
                    let printed = match printed(command, &directory) {
                        Ok(printed) => printed,
                        Err(lacks) => return println!("the rest of {name} is skipped: {}", lacks.trim()),
                    };
                    let lines: Vec<&str> = printed.lines().collect();
                    let right = matches(&comparable(&output), &comparable(&lines));
                    differs |= !right;
                    let said = if right { output.join("\n") } else { printed.trim_end().to_owned() };
                    shown.push(format!("$ {command}\n{said}").trim_end().to_owned());
                    let update = std::env::var_os("SELVEDGE_UPDATE").is_some();
                    assert!(
                        right || update,
                        "{name}: `{command}` prints\n{printed}\nand the page says\n{}",
                        output.join("\n")
                    );
                }
                if differs {
                    updates.push((block.lines, shown.join("\n")));
                }
            }
        }
    }
    if !updates.is_empty() {
        let mut page: Vec<String> = page.iter().map(|line| (*line).to_owned()).collect();
        for (lines, shown) in updates.into_iter().rev() {
            page.splice(lines, [shown]);
        }
        std::fs::write(path, page.join("\n") + "\n").expect("the page can be written");
    }
}

#[test]
fn the_tutorial_for_cpp_works() {
    execute("tutorials/cpp.md");
}

#[test]
fn the_tutorial_for_rust_works() {
    execute("tutorials/rust.md");
}

#[test]
fn the_tutorial_for_databases_works() {
    execute("tutorials/database.md");
}

#[test]
fn the_tutorial_for_algorithms_works() {
    execute("tutorials/algorithm.md");
}

#[test]
fn the_page_on_installing_works() {
    execute("install.md");
}

#[test]
fn the_page_on_checking_works() {
    execute("checking.md");
}

#[test]
fn the_page_on_continuous_integration_works() {
    execute("ci.md");
}

/// What an example ends with, and a word that its report has.
#[test]
fn the_examples_are_as_they_say() {
    let findings = scratch("example-findings");
    let findings = findings.to_str().unwrap();
    for (args, code, words) in [
        (vec!["test", "examples/c/treiber.c"], 1, "use-after-free"),
        (vec!["test", "examples/cpp/ticket.cc"], 1, "assertion"),
        (vec!["test", "examples/cpp/ring.cc"], 1, "not-linearizable"),
        (vec!["test", "examples/cpp/ring_fixed.cc", "--auto", "2"], 0, "all 48 up to 2x2"),
        (vec!["model", "examples/models/tickets.csp"], 1, "refuted"),
        (vec!["model", "examples/models/tickets_atomic.csp"], 0, "proved"),
    ] {
        let more = if args[0] == "test" { vec!["--findings", findings] } else { vec![] };
        let run = selvedge(&[args.clone(), more].concat()).expect(code);
        assert!(run.stdout.contains(words), "{args:?}: {}", run.stdout);
    }
    let project = root().join("examples/rust").canonicalize().unwrap();
    for (test, words) in [("oneshot", "lost-wakeup"), ("oneshot_fixed", "exhaustive"), ("stack", "use-after-free")] {
        let command = format!("cargo selvedge test --findings {findings} --test {test}");
        match printed(&command, &project) {
            Ok(report) => assert!(report.contains(words), "{test}: {report}"),
            Err(lacks) => return println!("the examples in Rust are skipped: {}", lacks.trim()),
        }
    }
}

#[test]
fn every_page_is_in_the_manual() {
    let summary = std::fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let mut links: Vec<&str> = summary.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    links.sort_unstable();
    let mut pages = Vec::new();
    for directory in ["", "tutorials/"] {
        let entries = std::fs::read_dir(root().join("docs").join(directory)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        pages.extend(
            names.filter(|name| name.ends_with(".md") && name != "SUMMARY.md").map(|name| format!("{directory}{name}")),
        );
    }
    pages.sort_unstable();
    assert_eq!(links, pages);
}

#[test]
fn a_page_that_is_wrong_is_noticed() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert!(matches(&lines("a\n...\nc"), &lines("a\nb\nb\nc")));
    assert!(matches(&lines("..."), &lines("")) && matches(&lines("a"), &lines("a")));
    for (shown, printed) in [("a", "b"), ("a", "a\nb"), ("a\nb", "a"), ("...\nc", "c\nd"), ("", "a")] {
        assert!(!matches(&lines(shown), &lines(printed)), "{shown:?} {printed:?}");
    }
}
