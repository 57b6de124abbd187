//! What the formats with one event or operation a line have in common.

use super::error::operation;
use super::recognise::operation_format;
use super::source::{Line, Source, column};
use super::{Format, ReadError, Reason};
use crate::{Log, LogError};

/// Reads one format, line by line.
pub(super) trait LineReader {
    /// The format it reads.
    const FORMAT: Format;

    /// Takes the next line.
    fn line(&mut self, line: &Line<'_>) -> Result<(), Fault>;

    /// Whether no operation and nothing that stands for one was taken yet.
    fn is_empty(&self) -> bool;

    /// The log of all lines.
    fn finish(self) -> Result<Log, LogError>;
}

/// What is wrong with a line.
#[derive(Debug)]
pub(super) struct Fault {
    /// The offset into the line, where it says more than the line.
    pub at: Option<usize>,
    pub reason: Reason,
}

impl Fault {
    pub fn at(at: usize, reason: Reason) -> Self {
        Fault { at: Some(at), reason }
    }

    /// Something else than what belongs there stands at the offset.
    pub fn syntax(line: &str, at: usize, expected: &'static str) -> Self {
        Fault::at(at, Reason::syntax(expected, line.get(at..).unwrap_or_default()))
    }
}

impl From<LogError> for Fault {
    fn from(error: LogError) -> Self {
        Fault { at: None, reason: Reason::Log(error) }
    }
}

impl From<Reason> for Fault {
    fn from(reason: Reason) -> Self {
        Fault { at: None, reason }
    }
}

/// Reads a file of lines.
pub(super) fn read<R: LineReader>(source: &mut Source<'_>, mut reader: R) -> Result<Log, ReadError> {
    let mut last = 0;
    let mut content = false;
    while let Some(line) = source.next_line()? {
        if let Err(fault) = reader.line(&line) {
            return Err(explain(&line, fault, R::FORMAT, reader.is_empty()));
        }
        last = line.number;
        content |= !line.text.trim_ascii().is_empty();
    }
    if reader.is_empty() {
        let reason = if content { Reason::NoOperation(R::FORMAT) } else { Reason::Empty };
        return Err(ReadError::new(last.max(1), None, reason));
    }
    reader.finish().map_err(|error| ReadError::new(last, None, Reason::Log(error)))
}

/// The error for a fault: a line that cannot be read may be one of another format, or one that was cut off.
fn explain(line: &Line<'_>, fault: Fault, file: Format, first: bool) -> ReadError {
    let at = fault.at.map(|at| column(line.text.as_bytes(), at));
    let malformed = matches!(fault.reason, Reason::Syntax { .. } | Reason::Json(_) | Reason::UnknownMethod(_));
    if malformed {
        match operation_format(line.text) {
            Some(other) if other != file && first => {
                return ReadError::new(line.number, None, Reason::OtherFormat { file, line: other });
            }
            Some(other) if other != file => {
                return ReadError::new(line.number, None, Reason::Mixed { file, line: other });
            }
            _ => {}
        }
    }
    let reason = match fault.reason {
        Reason::Syntax { .. } if !line.terminated && !first => Reason::Truncated { expected: operation(file) },
        reason => reason,
    };
    ReadError::new(line.number, at, reason)
}
