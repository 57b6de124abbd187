//! Executes a page from top to bottom in a directory of its own, and compares what is printed with what the page shows.
//!
//! `...` stands for lines that are left out. Beside the directory lies `selvedge`, a copy of this repository; where a page speaks of `examples`, `corpus` or `crates`, it is
//! meant to be read at the root of that copy, and finds them. `SELVEDGE_UPDATE=1` writes what is printed now into the pages.

use std::ops::Range;

use super::page::{Kind, blocks, commands, is_excerpt};
use crate::*;

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
fn comparable<S: AsRef<str>>(lines: &[S]) -> Vec<String> {
    let mut lines: Vec<String> = lines.iter().map(|line| timeless(line.as_ref())).collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    let first = lines.iter().position(|line| !line.is_empty()).unwrap_or(0);
    lines.split_off(first)
}

/// What a command of the page prints, or why it cannot be run here.
pub fn printed(command: &str, directory: &Path) -> Result<String, String> {
    let binaries = Path::new(env!("CARGO_BIN_EXE_selvedge")).parent().expect("it lies in a directory");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("sh");
    // What cargo would build and run is built already.
    let command = command.replace("cargo run --release -- ", "selvedge ");
    shell.args(["-c", &command]).current_dir(directory).stdin(Stdio::null());
    shell.env("PATH", format!("{}:{path}", binaries.display()));
    shell.env("SELVEDGE_CACHE", cache()).env("CARGO_NET_OFFLINE", "true").env("RUST_BACKTRACE", "0");
    shell.env("CARGO_TARGET_DIR", scratch("cargo-target"));
    for variable in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "SELVEDGE_RUNTIME", "RUST_TEST_THREADS", "CLICOLOR_FORCE"]
    {
        shell.env_remove(variable);
    }
    let run = Run::new(shell.output().expect("there is a shell"));
    if run.code == 2 && run.stderr.contains("the Rust toolchain lacks") {
        return Err(run.stderr);
    }
    assert!([0, 1, 3].contains(&run.code), "`{command}` ends with {}:\n{}\n{}", run.code, run.stdout, run.stderr);
    Ok(run.stdout)
}

/// The directory in which a page is executed.
fn place(name: &str, text: &str) -> PathBuf {
    let beside = scratch(&format!("manual-{}", name.replace(['/', '.'], "-")));
    let _ = std::fs::remove_dir_all(&beside);
    let directory = beside.join("project");
    std::fs::create_dir_all(&directory).expect("the scratch directory is writable");
    let link = |from: &Path, to: PathBuf| std::os::unix::fs::symlink(from, to).expect("a link can be made");
    let root = root().canonicalize().expect("the repository");
    link(&root, beside.join("selvedge"));
    let folders = ["examples", "corpus", "crates"];
    let at_the_root =
        |line: &str| line.starts_with("$ ") && folders.iter().any(|folder| line.contains(&format!(" {folder}/")));
    if text.lines().any(at_the_root) {
        folders.iter().for_each(|folder| link(&root.join(folder), directory.join(folder)));
    }
    // The versions that are known to this workspace need no network.
    std::fs::copy(root.join("Cargo.lock"), directory.join("Cargo.lock")).expect("the lock file is copied");
    directory
}

/// Runs the commands of one block; answers what it should be, if that is not what it is.
fn run_block(name: &str, lines: &[&str], directory: &Path) -> Result<Option<String>, String> {
    let mut shown = Vec::new();
    let mut differs = false;
    for (command, output) in commands(lines) {
        let printed = printed(&command, directory)?;
        let lines: Vec<&str> = printed.lines().collect();
        let right = matches(&comparable(&output), &comparable(&lines));
        differs |= !right;
        let said = if right { output.join("\n") } else { printed.trim_end().to_owned() };
        shown.push(format!("$ {command}\n{said}").trim_end().to_owned());
        assert!(
            right || std::env::var_os("SELVEDGE_UPDATE").is_some(),
            "{name}: `{command}` prints\n{printed}\nand the page says\n{}",
            output.join("\n")
        );
    }
    Ok(differs.then(|| shown.join("\n")))
}

/// Whether something on the page uses the file: a command names it, another file does, or cargo knows it by its place.
fn is_used(file: &str, page: &[&str]) -> bool {
    let base = file.rsplit('/').next().unwrap_or(file);
    let of_cargo = file == "Cargo.toml" || file.starts_with("src/") || file.starts_with("tests/");
    page.iter().any(|line| {
        let command = line.strip_prefix("$ ").or_else(|| line.strip_prefix("#include "));
        command.is_some_and(|command| command.contains(base) || of_cargo && command.starts_with("cargo "))
    })
}

/// Executes the page; with `SELVEDGE_UPDATE` the outputs that differ are written anew.
#[track_caller]
pub fn execute(name: &str) {
    let path = root().join(name);
    let text = std::fs::read_to_string(&path).expect("the page");
    let page: Vec<&str> = text.lines().collect();
    if text.lines().any(|line| line.starts_with("$ selvedge test ") && line.contains(".cc"))
        && !has(has_cpp(), Need::Cpp, name)
    {
        return;
    }
    if text.lines().any(|line| line.starts_with("$ cmake "))
        && !(has(has_program("cmake"), Need::CMake, name) && has(has_cpp(), Need::Cpp, name))
    {
        return;
    }
    let directory = place(name, &text);
    let mut updates: Vec<(Range<usize>, String)> = Vec::new();
    for block in blocks(&page) {
        let lines = &page[block.lines.clone()];
        match block.kind {
            Kind::NotRun(_) => {}
            Kind::Unclear => panic!("{name}:{}: nothing says what this block is", block.lines.start),
            Kind::Elsewhere(file) => {
                let test =
                    std::fs::read_to_string(root().join(&file)).unwrap_or_else(|error| panic!("{file}: {error}"));
                assert!(test.contains(&format!("{name}\")")), "{file} does not read {name}");
            }
            Kind::Excerpt(file) => {
                let whole =
                    std::fs::read_to_string(root().join(&file)).unwrap_or_else(|error| panic!("{file}: {error}"));
                assert!(is_excerpt(lines, &whole), "{name}:{}: not in {file}", block.lines.start);
            }
            Kind::File(file) => {
                assert!(is_used(&file, &page), "{name}: no command uses {file}");
                let file = directory.join(file);
                std::fs::create_dir_all(file.parent().expect("it is in the directory")).expect("writable");
                // A project in this workspace's directory would belong to it.
                let alone = if file.ends_with("Cargo.toml") { "\n[workspace]\n" } else { "" };
                std::fs::write(file, format!("{}\n{alone}", lines.join("\n"))).expect("writable");
            }
            Kind::Console => match run_block(name, lines, &directory) {
                Ok(update) => updates.extend(update.map(|shown| (block.lines, shown))),
                Err(lacks) => return skip(Need::StandardLibrary, &format!("the rest of {name}: {lacks}")),
            },
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
fn a_page_that_is_wrong_is_noticed() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert!(matches(&lines("a\n...\nc"), &lines("a\nb\nb\nc")));
    assert!(matches(&lines("..."), &lines("")) && matches(&lines("a"), &lines("a")));
    for (shown, printed) in [("a", "b"), ("a", "a\nb"), ("a\nb", "a"), ("...\nc", "c\nd"), ("", "a")] {
        assert!(!matches(&lines(shown), &lines(printed)), "{shown:?} {printed:?}");
    }
    assert_eq!(timeless("took 0.25 s, (x-12345678.json)"), timeless("took 1.5 s, (x-87654321.json)"));
    assert_ne!(timeless("6 runs"), timeless("7 runs"));
    for (file, used) in [("queue.jsonl", true), ("stack.jsonl", false), ("ring.h", true), ("src/lib.rs", false)] {
        assert_eq!(is_used(file, &["$ selvedge check queue.jsonl", "#include \"ring.h\""]), used, "{file}");
    }
}
