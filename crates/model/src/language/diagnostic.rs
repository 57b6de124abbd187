//! What is wrong with a model's text: a code, where, what was expected, and what to do about it.
//!
//! Invariant: a diagnostic points into the text that it came from; it can be shown without the rest of the front end.

use std::fmt::{self, Write as _};

/// A place in the text: byte offsets of where something begins and ends.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// One after the last byte.
    pub end: u32,
}

impl Span {
    /// From the beginning of `self` to the end of `other`.
    pub(crate) fn to(self, other: Span) -> Span {
        Span { start: self.start, end: other.end.max(self.start) }
    }
}

/// The kinds of mistakes. The code (`M001`) stays the same from version to version.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Code {
    /// A character or a token that cannot stand here.
    Syntax,
    /// Brackets or expressions that nest deeper than is read.
    TooDeep,
    /// A text, a range or an expansion that is too large.
    TooLarge,
    /// A name that nothing was given.
    Unknown,
    /// A name that was given twice.
    Twice,
    /// Too many or too few arguments.
    Arity,
    /// A value of the wrong type.
    Type,
    /// An expression that must be constant and is not.
    NotConstant,
    /// An index or a value that is out of its range, known before the model runs.
    Range,
    /// A process or a definition that refers to itself without a step in between.
    Recursion,
    /// The alphabet of a process cannot be told from its text.
    Alphabet,
    /// A feature of PAT that is answered in another way here.
    Unsupported,
}

impl Code {
    /// The code as printed.
    pub fn name(self) -> &'static str {
        match self {
            Code::Syntax => "M001",
            Code::TooDeep => "M002",
            Code::TooLarge => "M003",
            Code::Unknown => "M004",
            Code::Twice => "M005",
            Code::Arity => "M006",
            Code::Type => "M007",
            Code::NotConstant => "M008",
            Code::Range => "M009",
            Code::Recursion => "M010",
            Code::Alphabet => "M011",
            Code::Unsupported => "M012",
        }
    }
}

/// One mistake.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Which kind.
    pub code: Code,
    /// What is wrong, in a sentence.
    pub message: String,
    /// Where.
    pub span: Span,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    pub(crate) fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Diagnostic { code, message: message.into(), span, help: None }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Line and column, counted from one, in characters.
    pub fn place(&self, text: &str) -> (u32, u32) {
        Places::new(text).place(self.span.start)
    }

    /// The diagnostic with its line and a caret below it.
    pub fn show(&self, file: &str, text: &str) -> String {
        let (line, column) = self.place(text);
        let mut out = format!("error[{}]: {}\n", self.code.name(), self.message);
        let _ = writeln!(out, "  --> {file}:{line}:{column}");
        let source = text.lines().nth(line as usize - 1).unwrap_or("");
        let skipped = (column as usize - 1).saturating_sub(60);
        let shown: String = source.chars().skip(skipped).take(100).map(|c| if c == '\t' { ' ' } else { c }).collect();
        let number = line.to_string();
        let pad = " ".repeat(number.len());
        let before = " ".repeat(column as usize - 1 - skipped);
        let length = text
            .get(self.span.start as usize..self.span.end as usize)
            .map_or(1, |s| s.lines().next().map_or(1, |l| l.chars().count()).clamp(1, 100));
        let _ = writeln!(out, " {pad} |\n {number} | {shown}\n {pad} | {before}{}", "^".repeat(length));
        if let Some(help) = &self.help {
            let _ = writeln!(out, " {pad} = help: {help}");
        }
        out
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Diagnostic {}

/// Where lines begin, to turn offsets into lines and columns.
pub(crate) struct Places<'a> {
    text: &'a str,
    lines: Vec<u32>,
}

impl<'a> Places<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let after = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at as u32 + 1);
        Places { text, lines: std::iter::once(0).chain(after).collect() }
    }

    pub(crate) fn place(&self, offset: u32) -> (u32, u32) {
        let line = self.lines.partition_point(|&start| start <= offset) - 1;
        let start = self.lines[line] as usize;
        let before = self.text.get(start..offset as usize).unwrap_or("");
        (line as u32 + 1, before.chars().count() as u32 + 1)
    }
}

/// The name among `known` that `name` is most likely meant to be.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    if name.len() > 40 {
        return None;
    }
    known
        .take(10_000)
        .filter(|other| other.len() <= 40)
        .map(|other| (distance(name, other), other))
        .filter(|&(far, other)| far <= 2 && far < other.len().max(2))
        .min()
        .map(|(_, other)| other.to_owned())
}

/// How many letters must be changed, added or dropped.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let next = (corner + usize::from(x != *y)).min(row[j] + 1).min(row[j + 1] + 1);
            corner = row[j + 1];
            row[j + 1] = next;
        }
    }
    row[b.len()]
}
