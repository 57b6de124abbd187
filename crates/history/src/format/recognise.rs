//! Tells the formats apart by what their lines look like.
//!
//! The first line that can only be an operation or a header of one format decides. Comments and log lines are hints,
//! which count when no line decides.

use super::source::{column, text};
use super::{Format, ReadError, Reason, fastlin, jepsen_log, limo};

/// The format of a file that begins so; 64 KiB are plenty. `None` when nothing in it looks like a history.
pub fn recognise(start: &[u8]) -> Option<Format> {
    let start = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start);
    let mut hint = None;
    for line in start.split(|&byte| byte == b'\n') {
        // A line cut by the end of the window may end inside a character.
        let line = line.utf8_chunks().next().map_or("", |chunk| chunk.valid()).trim_ascii();
        if let Some(format) = operation_format(line).or_else(|| limo::object(line).map(|_| Format::Limo)) {
            return Some(format);
        }
        hint = hint.or_else(|| hint_format(line));
    }
    hint
}

/// The format in which the line is an operation or an event, or the beginning of one.
pub(super) fn operation_format(line: &str) -> Option<Format> {
    let line = line.trim_ascii();
    let opened = line.trim_start_matches(['[', '(', ' ']);
    if let Some(inside) = opened.strip_prefix('{') {
        let inside = inside.trim_ascii_start();
        if inside.starts_with('"') {
            return Some(Format::Jsonl);
        }
        return names_edn_field(inside).then_some(Format::Edn);
    }
    if line.starts_with('[') && limo::is_event(line) {
        return Some(Format::Limo);
    }
    if line.starts_with('#') {
        let tagged = line.split_once('{').is_some_and(|(_, inside)| names_edn_field(inside));
        return tagged.then_some(Format::Edn);
    }
    if fastlin::is_operation(line) {
        return Some(Format::Fastlin);
    }
    jepsen_log::is_operation(line).then_some(Format::JepsenLog)
}

fn names_edn_field(inside: &str) -> bool {
    const FIELDS: [&str; 8] = [":process", ":type", ":f", ":value", ":key", ":time", ":index", ":error"];
    let word = inside.split([' ', ',', '\t']).next().unwrap_or_default();
    FIELDS.contains(&word)
}

/// The format that the line may belong to, if no later line says otherwise.
fn hint_format(line: &str) -> Option<Format> {
    if line.starts_with('<') {
        return None;
    }
    if fastlin::object(line).is_some() {
        return Some(Format::Fastlin);
    }
    if line.contains(" jepsen.") || line.contains("[jepsen") {
        return Some(Format::JepsenLog);
    }
    if matches!(line.as_bytes().first(), Some(b'{' | b';')) || matches!(line, "[" | "(") {
        return Some(Format::Edn);
    }
    None
}

/// Why a file that begins so is of no known format.
pub(super) fn refusal(start: &[u8]) -> ReadError {
    if start.iter().all(u8::is_ascii_whitespace) {
        return ReadError::new(1, None, Reason::Empty);
    }
    for (number, line) in (1..).zip(start.split(|&byte| byte == b'\n')) {
        match text(line) {
            // The window may have cut the last line inside a character.
            Err((at, Reason::NotUtf8)) if number > 1 && line.len() - at < 4 && is_last(start, line) => {}
            Err((at, reason)) => return ReadError::new(number, Some(column(line, at)), reason),
            Ok(_) => {}
        }
    }
    let comments =
        start.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).all(|line| matches!(line, [] | [b'#', ..]));
    let reason = if comments { Reason::NoOperation(Format::Limo) } else { Reason::Unrecognised };
    ReadError::new(1, None, reason)
}

fn is_last(start: &[u8], line: &[u8]) -> bool {
    start.ends_with(line) && !start.ends_with(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Option<Format>) {
        assert_eq!(recognise(text.as_bytes()), expect, "{text}");
    }

    #[test]
    fn every_format_by_its_first_lines() {
        use Format::{Edn, Fastlin, JepsenLog, Jsonl, Limo};
        check(r#"{"selvedge":"history","version":1}"#, Some(Jsonl));
        check("\n { \"call\": \"enq\"}", Some(Jsonl));
        check("[{\"call\":\"enq\"}]", Some(Jsonl));
        check("{:process 0, :type :invoke}", Some(Edn));
        check("; a comment\n[{:type :invoke,\n", Some(Edn));
        check("({:f :read}", Some(Edn));
        check("[\n\n  {:process 1}", Some(Edn));
        check("#jepsen.history.Op{:process 1}", Some(Edn));
        check("; only a comment", Some(Edn));
        check("INFO  jepsen.util - 0\t:invoke\t:read\tnil", Some(JepsenLog));
        check("INFO  jepsen.core - hello\nINFO  jepsen.util - :nemesis :info :start nil", Some(JepsenLog));
        check("0 :invoke :read nil", Some(JepsenLog));
        check("INFO  jepsen.core - hello\n", Some(JepsenLog));
        check("# queue\nenq 1 2 3", Some(Fastlin));
        check("# queue", Some(Fastlin));
        check("enq 1 2 3", Some(Fastlin));
        check("# stack\n[1] call push(1)", Some(Limo));
        check("# @object atomic-queue\n[1] call enq(1)", Some(Limo));
        check("# Dodds, Haas, Kirsch\n\n   [1] call push(a)", Some(Limo));
        check("[t1] return", Some(Limo));
        check("\u{FEFF}[t1] return", Some(Limo));
    }

    #[test]
    fn what_is_no_history_is_not_recognised() {
        for text in [
            "",
            "\n\n",
            "# a comment",
            "hello world",
            "<html><head>",
            "\\call{1}{\\pop}",
            "[1, 2, 3]",
            "{}x",
            "1 2 3 4",
        ] {
            let expect = (text == "{}x").then_some(Format::Edn);
            check(text, expect);
        }
        assert_eq!(recognise(b"\x7FELF\x02\x01\x00\xFF\xFE"), None);
    }

    #[test]
    fn says_why_nothing_was_recognised() {
        let check = |bytes: &[u8], expect: &str| assert_eq!(refusal(bytes).to_string(), expect);
        check(b" \n", "line 1: the file is empty, expected a history");
        check(b"\x7FELF\n\x02\x00", "line 2, column 2: a NUL byte: the file is binary, expected text");
        check(b"\xFF\xFEa", "line 1, column 1: bytes that are not UTF-8, expected UTF-8 text");
        check(
            b"# a comment",
            "line 1: no operation in the file, expected an event such as `[1] call enq(5)` or `[1] return`",
        );
        check(
            b"<html>",
            "line 1: not a history in a known format (jsonl, jepsen-log, edn, fastlin, limo); if it is one of these, \
             name the format",
        );
    }
}
