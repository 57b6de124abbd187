//! Inline assembly without an instruction that names memory as changed keeps the compiler from moving accesses across it, and leaves nothing in what the compiler writes. Here
//! a comment is put into it, so that [`super::assembly`] finds the place. That is done to preprocessed text, and only where a file of a program has such a barrier.
//!
//! Invariant: nothing but the empty text of such a statement is changed.

use std::path::{Path, PathBuf};

/// What is put there: the beginning of a comment.
const COMMENT: &str = "\"#\"";

/// The files that a rule of make says something depends on.
pub fn files(rule: &str) -> Vec<PathBuf> {
    let rule = rule.replace("\\\n", " ");
    let Some((_, names)) = rule.split_once(": ") else { return vec![] };
    let names = names.replace("\\ ", "\u{0}");
    names.split_whitespace().map(|name| PathBuf::from(name.replace('\u{0}', " "))).collect()
}

/// Whether any of these has a barrier, or a macro that looks like one.
pub fn any(files: &[PathBuf]) -> bool {
    let has = |file: &Path| std::fs::read(file).is_ok_and(|text| !found(&String::from_utf8_lossy(&text)).is_empty());
    files.iter().any(|file| has(file))
}

/// The text with comments in its barriers.
pub fn marked(text: &str) -> String {
    let (mut out, mut from) = (String::with_capacity(text.len()), 0);
    for at in found(text) {
        out.push_str(&text[from..at]);
        out.push_str(COMMENT);
        from = at + 2;
    }
    out + &text[from..]
}

/// Where the empty texts of barriers are.
fn found(text: &str) -> Vec<usize> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let (bytes, mut all) = (text.as_bytes(), Vec::new());
    for (at, _) in text.match_indices("asm") {
        let end = at + 3 + if text[at + 3..].starts_with("__") { 2 } else { 0 };
        let before = text[..at].trim_end_matches('_');
        let whole = !before.bytes().last().is_some_and(is_word) && !bytes.get(end).copied().is_some_and(is_word);
        if let Some(place) = whole.then(|| empty(text, end)).flatten() {
            all.push(place);
        }
    }
    all
}

/// Where the empty text of the statement is whose qualifiers begin there, if it is a barrier.
fn empty(text: &str, from: usize) -> Option<usize> {
    let blank = |one: char| one.is_whitespace() || one == '\\';
    let mut rest = text[from..].trim_start_matches(blank);
    while let Some(more) = ["__volatile__", "__volatile", "volatile", "inline", "__inline__", "goto"]
        .iter()
        .find_map(|word| rest.strip_prefix(word))
    {
        rest = more.trim_start_matches(blank);
    }
    rest = rest.strip_prefix('(')?.trim_start_matches(blank);
    let operands = rest.strip_prefix("\"\"")?.trim_start_matches(blank);
    let end = operands.strip_prefix(':')?.find(';').unwrap_or(operands.len() - 1);
    operands[..=end].contains("\"memory\"").then(|| text.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn barriers_are_marked() {
        let check = |text: &str, expected: &str| assert_eq!(marked(text), expected);
        check("asm volatile(\"\" : : : \"memory\");", "asm volatile(\"#\" : : : \"memory\");");
        check("__asm__ __volatile__ ( \"\":::\"memory\")", "__asm__ __volatile__ ( \"#\":::\"memory\")");
        check(
            "#define barrier() __asm__ \\\n __volatile__(\"\" ::: \"cc\", \"memory\"); x",
            "#define barrier() __asm__ \\\n __volatile__(\"#\" ::: \"cc\", \"memory\"); x",
        );
        // Names of functions, values that are hidden from the compiler, instructions, other words.
        for same in [
            "int f(void) __asm__ (\"\" \"g\"); char *memory = \"memory\";",
            "asm volatile(\"\" : \"+r\"(x)); f(\"memory\");",
            "asm volatile(\"nop\" ::: \"memory\");",
            "plasm(\"\" ::: \"memory\"); asm_(\"\" ::: \"memory\");",
            "asm",
        ] {
            check(same, same);
        }
    }

    #[test]
    fn rules_of_make_are_read() {
        let names = files("out.s: a.c dir/b.h \\\n /with\\ space/c.h\n");
        assert_eq!(names, ["a.c", "dir/b.h", "/with space/c.h"].map(PathBuf::from));
        assert!(files("").is_empty());
    }
}
