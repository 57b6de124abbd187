//! What pages and sources refer to exists, and is part of the repository.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::{Text, texts};
use crate::root;

/// The path without `.` and `..`; none if it leads out of where it starts.
fn inside(path: &Path) -> Option<PathBuf> {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if parts.pop() => {}
            Component::Normal(part) => parts.push(part),
            _ => return None,
        }
    }
    Some(parts)
}

/// How a heading is called in a link: small letters, digits, hyphens for blanks.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.map(|letter| if letter == ' ' { '-' } else { letter.to_ascii_lowercase() }).collect()
}

/// The headings of a page, outside of blocks.
fn headings(page: &str) -> Vec<String> {
    let mut in_block = false;
    let mut found = Vec::new();
    for line in page.lines() {
        in_block ^= line.trim_start().starts_with("```");
        if !in_block && line.starts_with('#') {
            found.push(line.trim_start_matches('#').trim().to_owned());
        }
    }
    found
}

/// Where the links of a page lead, with blocks and quoted words left out.
fn links(page: &str) -> Vec<String> {
    let mut in_block = false;
    let mut found = Vec::new();
    for line in page.lines() {
        in_block ^= line.trim_start().starts_with("```");
        if in_block {
            continue;
        }
        // A link's own words may be in backticks, its address may not.
        for (at, _) in line.match_indices("](") {
            if line[..at].matches('`').count() % 2 == 0 {
                found.extend(line[at + 2..].split(')').next().map(str::to_owned));
            }
        }
    }
    found
}

fn pages() -> Vec<Text> {
    texts(&["."], &[".md"])
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_link_leads_somewhere_inside() {
    let mut followed = 0;
    for page in pages() {
        for link in links(&page.text).iter().filter(|link| !link.contains("://") && !link.starts_with("mailto:")) {
            let (file, part) = link.split_once('#').map_or((link.as_str(), None), |(file, part)| (file, Some(part)));
            let beside = Path::new(&page.path).parent().unwrap_or(Path::new(""));
            let path = if file.is_empty() { PathBuf::from(&page.path) } else { beside.join(file) };
            let path = inside(&path).unwrap_or_else(|| panic!("{}: {link} leads out of the repository", page.path));
            assert!(root().join(&path).exists(), "{}: {link} leads nowhere", page.path);
            if let Some(part) = part {
                let there = headings(&read(&path)).iter().any(|heading| anchor(heading) == part);
                assert!(there, "{}: {link}: there is no such heading", page.path);
            }
            followed += 1;
        }
    }
    assert!(followed > 100, "{followed} links");
}

/// Words of a line that could be paths: letters, digits, and what stands inside of names.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|letter: char| !letter.is_ascii_alphanumeric() && !"_-./+".contains(letter))
        .map(|word| word.trim_end_matches(['.', '/']))
}

/// Whether a page can be meant: a page of the manual by its path, or one whose name is in capital letters.
fn is_page(word: &str) -> bool {
    let capitals =
        |name: &str| name.len() > 3 && name.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_');
    word.starts_with("docs/") && word.ends_with(".md") || word.strip_suffix(".md").is_some_and(capitals)
}

#[test]
fn pages_that_are_named_are_there() {
    let everything =
        texts(&["."], &[".rs", ".md", ".toml", ".c", ".cc", ".h", ".js", ".css", ".sh", ".ci/run", ".yml"]);
    let mut named = 0;
    for text in &everything {
        let lines: Vec<&str> = text.text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let place = format!("{}:{}", text.path, at + 1);
            for word in words(line).filter(|word| is_page(word)) {
                let there = ["", "docs/"].iter().any(|folder| root().join(folder).join(word).is_file());
                assert!(there, "{place}: {word} does not exist");
                named += 1;
            }
            // A page and a heading of it, which may stand in the next line of a comment.
            let next = lines.get(at + 1).map_or("", |next| next.trim_start_matches(['/', '!', '#', ' ']));
            let both = format!("{} {next}", line.trim_end());
            if let Some((before, after)) = both.split_once(".md, *").filter(|(before, _)| before.contains("docs/")) {
                let page = format!("docs/{}.md", before.rsplit("docs/").next().unwrap_or_default());
                let heading = after.split('*').next().unwrap_or_default();
                let there = headings(&read(Path::new(&page))).iter().any(|other| other == heading);
                assert!(there, "{place}: {page} has no heading {heading:?}");
            }
        }
    }
    assert!(named > 50, "{named} pages are named");
}

/// Pages name files and directories of the repository by their path from its root.
#[test]
fn files_that_pages_name_are_there() {
    let folders = ["crates/", "docs/", "examples/", "corpus/", "benches/", "fuzz/", ".ci/"];
    // What the pages are about to make, and what is only built.
    let made = |word: &str| word.contains("/target/") || word.contains("...") || word.ends_with("-findings");
    let mut missing = BTreeSet::new();
    for page in pages() {
        let in_backticks = page.text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
        for word in in_backticks.flat_map(words).filter(|word| folders.iter().any(|folder| word.starts_with(folder))) {
            if !made(word) && !root().join(word).exists() {
                missing.insert(format!("{}: {word}", page.path));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// Nothing is read from beside the repository.
#[test]
fn nothing_outside_is_referred_to() {
    let beside = ["../", "shared"].concat();
    let up = ["../", "../", ".."].concat();
    for text in texts(&["."], &[".rs", ".md", ".toml", ".sh", ".ci/run", ".yml"]) {
        for (at, line) in text.text.lines().enumerate() {
            let leaves = line.contains("CARGO_MANIFEST_DIR") && line.contains(&up) && text.path.starts_with("crates/");
            assert!(!leaves && !line.contains(&beside), "{}:{}: {line}", text.path, at + 1);
        }
    }
}

#[test]
fn links_and_headings_are_found() {
    let page = "# One, *two*\n[a](b.md) `[c](d.md)` [`e`](f.md#g)\n```\n# no\n[h](i.md)\n```\n## A built-in object: in place of `x`\n";
    assert_eq!(links(page), ["b.md", "f.md#g"]);
    assert_eq!(headings(page), ["One, *two*", "A built-in object: in place of `x`"]);
    assert_eq!(anchor("A built-in object: in place of `x`"), "a-built-in-object-in-place-of-x");
    for (path, expected) in
        [("a/../b", Some("b")), ("a/./b", Some("a/b")), ("../b", None), ("a/../../b", None), ("/b", None)]
    {
        assert_eq!(inside(Path::new(path)), expected.map(PathBuf::from), "{path}");
    }
}
