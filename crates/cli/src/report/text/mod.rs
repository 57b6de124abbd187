//! Text for a terminal: what may be printed, how wide it is, where it breaks, which colour it has; and a file for each kind of outcome that says it.
//!
//! Invariant: nothing that comes from a file reaches a terminal without going through [`clean`].

mod certificate;
mod counted;
mod history;
pub mod model;
pub mod monitor;
mod nothing;
pub mod objects;
mod quasi;
mod replayed;
pub mod tested;
mod timeline;
mod wrong;

use std::fmt::Display;

use anstyle::{AnsiColor, Style};
use selvedge_history::Limit;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::Outcome;
use crate::limits::Limits;
use crate::quantity::{show_size, show_time};

/// The report on an outcome, and the one line of it that stands for it among several.
pub fn of(outcome: &Outcome<'_>) -> (String, String) {
    match outcome {
        Outcome::Decided(decided) => (decided.text(), decided.line()),
        Outcome::Counted(counted) => (counted.text(), counted.line()),
        Outcome::Quasi(decided) => (decided.text(), decided.line()),
        Outcome::Nothing(nothing) => (nothing.text(), nothing.line()),
        Outcome::Verified(verified) => (verified.text(), verified.line()),
        Outcome::Modelled(modelled) => (modelled.report(), modelled.line()),
        Outcome::WrongModel(wrong) => (wrong.report(), wrong.line()),
        Outcome::Monitored(monitored) => (monitored.text(), monitored.line()),
        Outcome::Tested(session) => (session.text(), session.line()),
        Outcome::Replayed(replayed) => (replayed.text(), replayed.line()),
        Outcome::Wrong(wrong) | Outcome::Bug(wrong) => (wrong.text(), wrong.line()),
        Outcome::Cut(cut) => (cut.text(), cut.line()),
    }
}

/// How wide a report may be.
pub const WIDTH: usize = 80;

/// The colour of a pass.
pub const PASS: Style = AnsiColor::Green.on_default().bold();
/// The colour of a violation.
pub const FAIL: Style = AnsiColor::Red.on_default().bold();
/// The colour of an unknown.
pub const UNKNOWN: Style = AnsiColor::Yellow.on_default().bold();
/// The colour of what matters less.
pub const FAINT: Style = Style::new().dimmed();

/// The text in a colour. Colours are taken out again where the output is no terminal.
pub fn paint(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// The text without what would steer a terminal or turn the direction of writing: such characters are written as
/// escapes.
pub fn clean(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
        {
            clean.extend(c.escape_default());
        } else {
            clean.push(c);
        }
    }
    clean
}

/// Without colours.
pub fn strip(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

/// The text cut to a width, with `…` where something is missing.
pub fn truncate(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut cut = String::new();
    let mut used = 0;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used >= width {
            break;
        }
        cut.push(c);
    }
    cut.push('…');
    cut
}

/// Breaks the text into lines of the given width, between words where it can.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let mut word = word;
        if used > 0 && used + 1 + word.width() > width {
            lines.push(String::new());
            used = 0;
        }
        let line = lines.last_mut().expect("never empty");
        if used > 0 {
            line.push(' ');
            used += 1;
        }
        // A word that is longer than a line is broken anywhere.
        while used + word.width() > width {
            let (fits, rest) = word.split_at(fitting(word, width - used));
            lines.last_mut().expect("never empty").push_str(fits);
            word = rest;
            if word.is_empty() {
                break;
            }
            lines.push(String::new());
            used = 0;
        }
        lines.last_mut().expect("never empty").push_str(word);
        used += word.width();
    }
    lines
}

/// How many bytes of the word fit the width: whole characters, and at least one.
fn fitting(word: &str, width: usize) -> usize {
    let mut used = 0;
    let mut end = 0;
    for (start, c) in word.char_indices() {
        used += c.width().unwrap_or(0);
        if used > width && end > 0 {
            break;
        }
        end = start + c.len_utf8();
    }
    end
}

/// A paragraph: wrapped and indented.
pub fn paragraph(text: &str, indent: usize) -> String {
    let indent = " ".repeat(indent);
    wrap(text, WIDTH - indent.len()).iter().map(|line| format!("{indent}{line}\n")).collect()
}

/// The limit with its number.
pub fn limit_text(limit: Limit, limits: &Limits) -> String {
    match (limit, limits.time_max) {
        (Limit::Time, Some(time)) => format!("the time limit of {} was reached", show_time(time)),
        (Limit::Memory, _) => format!("the memory limit of {} was reached", show_size(limits.memory_max)),
        (limit, _) => limit.to_string(),
    }
}

/// The limits that held, and how to raise the one that was reached.
pub fn advice(limit: Limit, limits: &Limits) -> String {
    let time = limits.time_max.map_or("no limit on time".to_owned(), show_time);
    let more = match limit {
        Limit::Time => " More time: --time-max TIME, for all files together (none for no limit).",
        Limit::Memory => " More memory: --memory-max SIZE.",
        _ => "",
    };
    paragraph(&format!("Limits: {time}, {}.{more}", show_size(limits.memory_max)), 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_the_terminal() {
        assert_eq!(clean("a\x1b[31mb\r\n\u{202e}c"), "a\\u{1b}[31mb\\r\\n\\u{202e}c");
        assert_eq!(clean("größe→漢字"), "größe→漢字");
    }

    #[test]
    fn truncation_counts_columns() {
        assert_eq!(truncate("abcdef", 6), "abcdef");
        assert_eq!(truncate("abcdefg", 6), "abcde…");
        assert_eq!(truncate("漢字漢字", 6), "漢字…");
    }

    #[test]
    fn paragraphs_are_wrapped() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("a abcdefghij b", 4), ["a", "abcd", "efgh", "ij b"]);
        assert_eq!(wrap("漢字漢字", 3), ["漢", "字", "漢", "字"]);
        assert_eq!(wrap("漢字", 1), ["漢", "字"]);
        assert_eq!(wrap("", 5), [""]);
        for line in paragraph(&"word ".repeat(60), 2).lines() {
            assert!(line.width() <= WIDTH, "{line}");
        }
    }
}
