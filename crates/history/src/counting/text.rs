//! Words, numbers and marks of the two small languages of this module: kernel grammars and counting formulas.
//!
//! Invariant: every token knows its line and column (both from 1, columns in characters), so every error can point at its place.

use std::fmt;

/// A place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Where.
    pub place: Place,
    /// What.
    pub reason: Reason,
}

/// The ways in which a text can be wrong.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Something else was expected.
    Expected {
        /// What would have been right.
        expected: &'static str,
        /// What is there.
        found: String,
    },
    /// A character that means nothing.
    Character(char),
    /// A quoted text that does not end in its line.
    Unclosed,
    /// A number that does not fit.
    Number,
    /// A label that cannot be read.
    Label(String),
    /// A name that stands for nothing.
    Undefined(String),
    /// A name that stands for two things.
    Twice(String),
    /// A predicate or function with another number of arguments.
    Arguments {
        /// Its name.
        name: String,
        /// How many it takes.
        takes: usize,
        /// How many it was given.
        given: usize,
    },
    /// A grammar without any word.
    NoWord,
    /// A grammar without any rule.
    NoRule,
    /// More of something than can be handled.
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many at most.
        most: usize,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Expected { expected, found } => write!(f, "expected {expected}, found {found}"),
            Reason::Character(c) => write!(f, "the character {c:?} means nothing here"),
            Reason::Unclosed => f.write_str("a quoted text should end in the line where it begins"),
            Reason::Number => f.write_str("the number is too large"),
            Reason::Label(why) => write!(f, "an operation should be written `method(argument) -> result`: {why}"),
            Reason::Undefined(name) => write!(f, "`{name}` is not defined"),
            Reason::Twice(name) => write!(f, "`{name}` is defined twice"),
            Reason::Arguments { name, takes, given } => write!(f, "`{name}` takes {takes} arguments, not {given}"),
            Reason::NoWord => f.write_str("no serial execution can be derived from this rule: it never ends"),
            Reason::NoRule => f.write_str("expected at least one rule, such as `Free = nothing | \"acquire\" Held`"),
            Reason::TooMany { what, most } => write!(f, "more than {most} {what}"),
        }
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.place.line, self.place.column, self.reason)
    }
}

impl std::error::Error for SyntaxError {}

impl SyntaxError {
    /// The line that is wrong, with a caret under the place.
    pub fn excerpt(&self, source: &str) -> String {
        const BEFORE: usize = 50;
        let line = source.lines().nth(self.place.line as usize - 1).unwrap_or("");
        let column = self.place.column as usize - 1;
        let skipped = column.saturating_sub(BEFORE);
        let blank = |c: char| if c.is_control() { ' ' } else { c };
        let shown: String = line.chars().skip(skipped).take(BEFORE + 20).map(blank).collect();
        format!("{shown}\n{}^", " ".repeat(column - skipped))
    }
}

/// A word, number or mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Name(String),
    Text(String),
    Number(u64),
    Mark(&'static str),
    End,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Name(name) => write!(f, "`{name}`"),
            Token::Text(text) => write!(f, "{text:?}"),
            Token::Number(number) => write!(f, "{number}"),
            Token::Mark(mark) => write!(f, "`{mark}`"),
            Token::End => f.write_str("the end"),
        }
    }
}

/// Longer marks before their beginnings.
const MARKS: [&str; 20] =
    ["<=", ">=", "!=", "==", "..", "=", "<", ">", "|", ":", ",", "(", ")", "+", "-", "#", "[", "]", ";", "."];

/// The tokens of a text, each with its place; the last is [`Token::End`]. `//` begins a comment.
pub(super) fn tokens(source: &str) -> Result<Vec<(Token, Place)>, SyntaxError> {
    let mut out = Vec::new();
    for (line, text) in (1..).zip(source.split('\n')) {
        line_tokens(text, line, &mut out)?;
    }
    let last = source.lines().count().max(1) as u32;
    let column = source.lines().last().map_or(0, |line| line.chars().count()) as u32 + 1;
    out.push((Token::End, Place { line: last, column }));
    Ok(out)
}

fn line_tokens(text: &str, line: u32, out: &mut Vec<(Token, Place)>) -> Result<(), SyntaxError> {
    let mut rest = text;
    let mut column = 1;
    while let Some(c) = rest.chars().next() {
        let place = Place { line, column };
        let error = |reason| SyntaxError { place, reason };
        let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '\'';
        let length = if rest.starts_with("//") {
            return Ok(());
        } else if c.is_whitespace() {
            c.len_utf8()
        } else if c == '"' {
            let end = rest[1..].find('"').ok_or(error(Reason::Unclosed))?;
            out.push((Token::Text(rest[1..1 + end].to_owned()), place));
            end + 2
        } else if c.is_ascii_digit() {
            let length = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let number = rest[..length].parse().map_err(|_| error(Reason::Number))?;
            out.push((Token::Number(number), place));
            length
        } else if c.is_alphabetic() || c == '_' {
            let length = rest.find(|c: char| !is_name(c)).unwrap_or(rest.len());
            out.push((Token::Name(rest[..length].to_owned()), place));
            length
        } else {
            let mark = MARKS.iter().find(|mark| rest.starts_with(**mark)).ok_or(error(Reason::Character(c)))?;
            out.push((Token::Mark(mark), place));
            mark.len()
        };
        column += rest[..length].chars().count() as u32;
        rest = &rest[length..];
    }
    Ok(())
}

/// A reader of tokens.
pub(super) struct Reader {
    tokens: Vec<(Token, Place)>,
    at: usize,
}

impl Reader {
    pub fn new(source: &str) -> Result<Self, SyntaxError> {
        Ok(Reader { tokens: tokens(source)?, at: 0 })
    }

    pub fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    /// The token after the next one.
    pub fn peek_second(&self) -> &Token {
        &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].0
    }

    pub fn place(&self) -> Place {
        self.tokens[self.at].1
    }

    pub fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    /// Takes the mark if it is next.
    pub fn take(&mut self, mark: &str) -> bool {
        let found = matches!(self.peek(), Token::Mark(found) if *found == mark);
        if found {
            self.next();
        }
        found
    }

    /// Takes the word if it is next.
    pub fn take_name(&mut self, name: &str) -> bool {
        let found = matches!(self.peek(), Token::Name(found) if found == name);
        if found {
            self.next();
        }
        found
    }

    pub fn expect(&mut self, mark: &str, expected: &'static str) -> Result<(), SyntaxError> {
        if self.take(mark) { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    pub fn name(&mut self, expected: &'static str) -> Result<String, SyntaxError> {
        match self.peek() {
            Token::Name(name) => {
                let name = name.clone();
                self.next();
                Ok(name)
            }
            _ => Err(self.unexpected(expected)),
        }
    }

    pub fn unexpected(&self, expected: &'static str) -> SyntaxError {
        self.error(Reason::Expected { expected, found: self.peek().to_string() })
    }

    pub fn error(&self, reason: Reason) -> SyntaxError {
        SyntaxError { place: self.place(), reason }
    }
}
