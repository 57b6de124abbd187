//! Rust sources as far as the rules need them: code without comments and texts, tests apart, functions and how long they are.

/// Code with comments and the content of texts and characters left out, line by line.
pub fn code(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    // Inside of a text, and with how many `#` it ends if it is a raw one.
    let mut inside: Option<Option<usize>> = None;
    for line in text.lines() {
        let mut kept = String::new();
        let mut rest = line;
        while !rest.is_empty() {
            rest = match inside {
                Some(raw) => after_text(rest, raw, &mut inside),
                None => after_code(rest, &mut kept, &mut inside),
            };
        }
        lines.push(kept);
    }
    lines
}

/// What follows the end of the text in this line; nothing if it goes on.
fn after_text<'a>(rest: &'a str, raw: Option<usize>, inside: &mut Option<Option<usize>>) -> &'a str {
    if let Some(hashes) = raw {
        let end = format!("\"{}", "#".repeat(hashes));
        let Some(at) = rest.find(&end) else { return "" };
        *inside = None;
        return &rest[at + end.len()..];
    }
    let mut escaped = false;
    for (at, letter) in rest.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => {
                *inside = None;
                return &rest[at + 1..];
            }
            _ => {}
        }
    }
    ""
}

/// What follows the next piece of code, which is kept; a comment ends the line.
fn after_code<'a>(rest: &'a str, kept: &mut String, inside: &mut Option<Option<usize>>) -> &'a str {
    if rest.starts_with("//") {
        return "";
    }
    let raw = rest.strip_prefix('r').map(|tail| (tail.len() - tail.trim_start_matches('#').len(), tail));
    let of_a_name = kept.ends_with(|letter: char| letter.is_alphanumeric() || letter == '_') && !kept.ends_with('b');
    if let Some((hashes, tail)) = raw
        && !of_a_name
        && tail[hashes..].starts_with('"')
    {
        *inside = Some(Some(hashes));
        return &tail[hashes + 1..];
    }
    if let Some(tail) = rest.strip_prefix('"') {
        *inside = Some(None);
        return tail;
    }
    // A quotation mark as a character is no text.
    for character in ["'\"'", "b'\"'", "'\\''", "'\\\\'"] {
        if let Some(tail) = rest.strip_prefix(character) {
            return tail;
        }
    }
    let letter = rest.chars().next().expect("it is not empty");
    kept.push(letter);
    &rest[letter.len_utf8()..]
}

/// The lines of code that are no tests: what follows `#[cfg(test)]` at the beginning of a line is not looked at.
pub fn without_tests(text: &str) -> Vec<String> {
    let code = code(text);
    let end = code.iter().position(|line| line == "#[cfg(test)]" || line == "#![cfg(test)]").unwrap_or(code.len());
    code[..end].to_vec()
}

/// Whether a line has that word, not as a part of another.
pub fn has_word(line: &str, word: &str) -> bool {
    let of_a_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    line.match_indices(word)
        .any(|(at, _)| !line[..at].ends_with(of_a_word) && !line[at + word.len()..].starts_with(of_a_word))
}

/// The functions of a formatted source: their names, the lines they begin at, and how many lines they have.
pub fn functions(text: &str) -> Vec<(String, usize, usize)> {
    let lines = code(text);
    let mut found = Vec::new();
    for (first, line) in lines.iter().enumerate() {
        let indent = line.len() - line.trim_start().len();
        let Some(at) = line.find("fn ").filter(|_| has_word(line, "fn")) else { continue };
        let modifiers = ["pub", "const", "unsafe", "extern", "async", "default"];
        let is_modifier = |word: &str| modifiers.iter().any(|modifier| word.starts_with(modifier));
        if !line[..at].split_whitespace().all(is_modifier) {
            continue;
        }
        let name: String =
            line[at + 3..].chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect();
        // What ends it is as far to the right as it is: its last bracket, or a semicolon if it is only declared.
        let ends = |line: &String| {
            let inner = line.get(indent..).unwrap_or_default();
            line.trim_start() == inner && (inner.starts_with('}') || inner.ends_with(';'))
        };
        let one_line = line.trim_end().ends_with(['}', ';']);
        let more = lines[first + 1..].iter().position(ends).map_or(0, |more| more + 1);
        let length = if one_line { 1 } else { 1 + more };
        found.push((name, first + 1, length));
    }
    found
}

#[test]
fn comments_and_texts_are_no_code() {
    for (text, expected) in [
        ("a(); // unsafe", "a(); "),
        ("a(\"unsafe \\\" unsafe\", b)", "a(, b)"),
        ("a(r#\"unsafe \" unsafe\"#, b)", "a(, b)"),
        ("let quote = '\"'; unsafe {}", "let quote = ; unsafe {}"),
        ("let number = 1;", "let number = 1;"),
    ] {
        assert_eq!(code(text).join("\n"), expected, "{text}");
    }
    assert_eq!(code("\"a\n b\" c"), ["", " c"]);
    assert!(has_word("unsafe { x }", "unsafe") && !has_word("unsafe_code", "unsafe"));
}

#[test]
fn functions_are_as_long_as_they_are() {
    let text = "fn a() {\n    x();\n}\n\nimpl B {\n    pub fn b() -> u8 {\n        if x {\n        }\n        1\n    }\n    fn c() {}\n}\n";
    let expected = [("a".to_owned(), 1, 3), ("b".to_owned(), 6, 5), ("c".to_owned(), 11, 1)];
    assert_eq!(functions(text), expected);
}
