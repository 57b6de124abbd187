//! What stands on a page of the manual: its blocks, and what is to be done with each.
//!
//! Every block is one of: commands (`console`), a file that the line above announces ("`ring.h`:"), an excerpt of a file of this repository
//! ("c (from examples/c/queue.c)"), one that a test of another crate reads ("rust (tested by crates/monitor/src/lib.rs)"), or something that is not run, with the reason behind its language ("yaml (not run: for other machines)"). Nothing else is a block.

use std::ops::Range;

/// One block of a page: where it stands, and what it is.
pub struct Block {
    /// The first line of its content, and the one behind the last, counted from 0.
    pub lines: Range<usize>,
    pub kind: Kind,
}

#[derive(Debug, PartialEq)]
pub enum Kind {
    /// Is written to the directory in which the page is executed.
    File(String),
    /// Commands behind `$`, each with what it prints.
    Console,
    /// Lines of a file of the repository, which other tests compile and run.
    Excerpt(String),
    /// A test of another crate takes it from the page; this is its file.
    Elsewhere(String),
    /// Is only shown, for this reason.
    NotRun(String),
    /// Nothing says what it is.
    Unclear,
}

/// The name of the file that a paragraph announces: "`src/lib.rs`:" or "`Cargo.toml`, where ...:".
fn announced(line: &str) -> Option<String> {
    let name = line.strip_prefix('`')?.split('`').next()?;
    (line.ends_with(':') && name.contains('.') && !name.contains(' ')).then(|| name.to_owned())
}

/// What a block is, by the line that opens it and the paragraph before.
fn kind(info: &str, paragraph: &str) -> Kind {
    let note = info.split_once(" (").and_then(|(_, note)| note.strip_suffix(')'));
    let Some(note) = note else {
        let file = announced(paragraph).map_or(Kind::Unclear, Kind::File);
        return if info == "console" { Kind::Console } else { file };
    };
    let after = |words: &str| note.strip_prefix(words).map(str::to_owned);
    let reason = after("not run: ").filter(|reason| reason.len() > 8).map(Kind::NotRun);
    let file = after("from ").map(Kind::Excerpt).or_else(|| after("tested by ").map(Kind::Elsewhere));
    reason.or(file).unwrap_or(Kind::Unclear)
}

/// The blocks of a page, in order; those of a list are indented.
pub fn blocks(page: &[&str]) -> Vec<Block> {
    let mut found = Vec::new();
    let (mut paragraph, mut at) = ("", 0);
    while at < page.len() {
        if let Some(info) = page[at].trim_start().strip_prefix("```") {
            let length = page[at + 1..].iter().position(|line| line.trim() == "```").expect("blocks are closed");
            found.push(Block { lines: at + 1..at + 1 + length, kind: kind(info, paragraph) });
            at += length + 1;
            paragraph = "";
        } else if !page[at].is_empty() {
            paragraph = page[at];
        }
        at += 1;
    }
    found
}

/// The commands of a block with the lines below each; one that ends in `\` goes on in the next line.
pub fn commands(lines: &[&str]) -> Vec<(String, Vec<String>)> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for line in lines {
        match (line.strip_prefix("$ "), found.last_mut()) {
            (Some(command), _) => found.push((command.to_owned(), vec![])),
            (None, Some((command, output))) if command.ends_with('\\') && output.is_empty() => {
                *command = format!("{command}\n{line}");
            }
            (None, Some((_, output))) => output.push((*line).to_owned()),
            (None, None) => panic!("a block of commands starts with one: {line}"),
        }
    }
    found
}

/// Lines without the spaces that all of them begin with, and without empty ones at either end.
fn flush(lines: &[&str]) -> Vec<String> {
    let indent = |line: &&str| line.len() - line.trim_start().len();
    let least = lines.iter().filter(|line| !line.trim().is_empty()).map(indent).min().unwrap_or(0);
    lines.iter().map(|line| line.get(least..).unwrap_or("").trim_end().to_owned()).collect()
}

/// Whether the lines stand in the text, one below the other, however far they are indented there; a line of `...` stands for any number of lines.
pub fn is_excerpt(lines: &[&str], text: &str) -> bool {
    let text: Vec<&str> = text.lines().collect();
    let mut at = 0;
    lines.split(|line| line.trim() == "...").filter(|part| !part.is_empty()).all(|part| {
        let wanted = flush(part);
        let place = (at..text.len())
            .find(|from| text.get(*from..from + part.len()).is_some_and(|there| flush(there) == wanted));
        place.inspect(|place| at = place + part.len()).is_some()
    })
}

#[test]
fn blocks_are_what_they_say() {
    for (info, paragraph, expected) in [
        ("console", "", Kind::Console),
        ("c", "`a.c`:", Kind::File("a.c".into())),
        ("toml", "`Cargo.toml`, where this is needed:", Kind::File("Cargo.toml".into())),
        ("c (from a/b.c)", "`a.c`:", Kind::Excerpt("a/b.c".into())),
        ("jsonl x=1 (tested by a/t.rs)", "", Kind::Elsewhere("a/t.rs".into())),
        ("console (not run: takes an hour)", "", Kind::NotRun("takes an hour".into())),
        ("console (not run: no)", "", Kind::Unclear),
        ("console (later)", "", Kind::Unclear),
        ("c", "A file:", Kind::Unclear),
        ("c", "`queue_new()`:", Kind::Unclear),
        ("", "", Kind::Unclear),
    ] {
        assert_eq!(kind(info, paragraph), expected, "{info}");
    }
    let page = "- one\n\n  ```c\n  int x;\n  ```\n";
    let lines: Vec<&str> = page.lines().collect();
    assert_eq!(blocks(&lines).len(), 1, "indented ones count");
}

#[test]
fn an_excerpt_is_found_only_where_it_is() {
    let text = "fn a() {\n    one();\n    two();\n\n    three();\n}\n";
    for (lines, there) in [
        (&["one();", "two();"][..], true),
        (&["  one();", "  two();", "", "  three();"], true),
        (&["one();", "...", "three();"], true),
        (&["one();", "three();"], false),
        (&["three();", "...", "one();"], false),
        (&["one();", "  two();"], false),
        (&["four();"], false),
    ] {
        assert_eq!(is_excerpt(lines, text), there, "{lines:?}");
    }
}
