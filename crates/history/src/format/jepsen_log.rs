//! The log that Jepsen prints while it runs: `INFO  jepsen.util - 0 :invoke :read nil`, among the lines of others.
//!
//! An operation is `process :type :f value`, separated by tabs or spaces, alone on its line or after the name of the
//! logger. What other loggers print is skipped; a line of `jepsen.util` that begins like an operation must be one.

use super::edn::syntax::{Parser, Stop};
use super::error::operation;
use super::jepsen::{Event, Kind, record, settle};
use super::lines::{Fault, LineReader};
use super::recognise::operation_format;
use super::source::Line;
use super::{Format, word};
use crate::{Log, LogError, LogRecorder, Value};

#[derive(Default)]
pub(super) struct Reader {
    recorder: LogRecorder,
    /// Whether there was an operation, be it one that is skipped.
    content: bool,
}

impl LineReader for Reader {
    const FORMAT: Format = Format::JepsenLog;

    fn line(&mut self, line: &Line<'_>) -> Result<(), Fault> {
        let Some(found) = Found::parse(line.text)? else {
            // Something that another format would read is more than the line of another logger.
            return match operation_format(line.text) {
                Some(Format::JepsenLog) | None => Ok(()),
                Some(_) => Err(Fault::syntax(line.text, 0, operation(Format::JepsenLog))),
            };
        };
        self.content = true;
        if !word::is_integer(found.process.1) {
            return Ok(());
        }
        let process = word::integer(found.process.1).map_err(|reason| Fault::at(found.process.0, reason))?;
        let value = if found.kind.has_value() { value(line.text, found.rest)? } else { Value::Nil };
        record(&mut self.recorder, line.number, Event { process, kind: found.kind, f: found.f, key: None, value })
    }

    /// A run in which only the nemesis did something is a history, of no operation.
    fn is_empty(&self) -> bool {
        !self.content
    }

    fn finish(self) -> Result<Log, LogError> {
        let mut log = self.recorder.finish(None)?;
        settle(&mut log);
        Ok(log)
    }
}

/// The parts of an operation.
struct Found<'a> {
    process: (usize, &'a str),
    kind: Kind,
    f: &'a str,
    /// Where the value begins.
    rest: usize,
}

impl<'a> Found<'a> {
    /// The operation in a line, `None` where the line is another logger's.
    fn parse(line: &'a str) -> Result<Option<Self>, Fault> {
        let Some((before, process)) = process(line) else {
            return Ok(None);
        };
        let after = process.0 + process.1.len();
        let (at, name) = next_word(line, after);
        let kind = name.strip_prefix(':').and_then(Kind::from_name);
        let Some(kind) = kind else {
            let own = before.trim_ascii().is_empty() || before.contains("jepsen.util");
            if own && word::is_integer(process.1) && (name.starts_with(':') || name.is_empty()) {
                return Err(Fault::syntax(line, at, "`:invoke`, `:ok`, `:fail` or `:info` after the process"));
            }
            return Ok(None);
        };
        let (at, f) = next_word(line, at + name.len());
        match f.strip_prefix(':').filter(|f| !f.is_empty()) {
            Some(name) => Ok(Some(Found { process, kind, f: name, rest: at + f.len() })),
            None => Err(Fault::syntax(line, at, "the method as a keyword, such as `:read`, after the type")),
        }
    }
}

/// The word where the process of an operation would stand, and what comes before it: the first word, or the one after
/// the name of the logger.
fn process(line: &str) -> Option<(&str, (usize, &str))> {
    let (at, first) = next_word(line, 0);
    if word::is_integer(first) || first.starts_with(':') {
        return Some(("", (at, first)));
    }
    let logger = line.find("jepsen.util")?;
    let (mut at, mut next) = next_word(line, logger);
    for separator in ["jepsen.util", "-"] {
        if next.trim_end_matches([':', ']']) == separator {
            (at, next) = next_word(line, at + next.len());
        }
    }
    Some((&line[..at], (at, next)))
}

/// The word that begins at or after an offset; empty at the end of the line.
fn next_word(line: &str, from: usize) -> (usize, &str) {
    let rest = &line[from..];
    let at = from + rest.len() - rest.trim_ascii_start().len();
    let word = line[at..].split(|c: char| c.is_ascii_whitespace()).next().unwrap_or_default();
    (at, word)
}

/// The value that stands from an offset to the end of the line.
fn value(line: &str, from: usize) -> Result<Value, Fault> {
    let mut parser = Parser::new(&line.as_bytes()[from..], true);
    match parser.last_value().and_then(|form| form.into_value().map_err(Stop::Fault)) {
        Ok(value) => Ok(value),
        Err(Stop::Fault(flaw)) => Err(Fault::at(from + flaw.at, flaw.reason)),
        Err(Stop::More) => Err(Fault::syntax(line, line.len(), "a value")),
    }
}

/// Whether the line is an operation of this format.
pub(super) fn is_operation(line: &str) -> bool {
    matches!(Found::parse(line), Ok(Some(_)))
}

#[cfg(test)]
mod tests;
