//! What can be wrong with a file, in words that say what was expected.

use std::{fmt, io};

use super::Format;
use crate::{Limit, LogError, Value};

/// Why a file could not be read.
#[non_exhaustive]
#[derive(Debug)]
pub enum ReadError {
    /// Something is wrong with the text.
    At {
        /// The line, counted from 1.
        line: u32,
        /// The column, in characters from 1, where it says more than the line.
        column: Option<u32>,
        /// What is wrong.
        reason: Reason,
    },
    /// The bytes could not be had.
    Io(io::Error),
    /// The budget was spent before the end.
    Limit(Limit),
}

impl ReadError {
    pub(super) fn new(line: u32, column: Option<u32>, reason: Reason) -> Self {
        ReadError::At { line, column, reason }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::At { line, column: Some(column), reason } => write!(f, "line {line}, column {column}: {reason}"),
            ReadError::At { line, column: None, reason } => write!(f, "line {line}: {reason}"),
            ReadError::Io(error) => error.fmt(f),
            ReadError::Limit(limit) => limit.fmt(f),
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ReadError::At { reason: Reason::Log(error), .. } => Some(error),
            ReadError::Io(error) => Some(error),
            _ => None,
        }
    }
}

/// What is wrong with a line of a file.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// There is nothing in the file.
    Empty,
    /// There are comments or headers in the file, and no operation.
    NoOperation(Format),
    /// The beginning is of no known format.
    Unrecognised,
    /// A NUL byte.
    Binary,
    /// Bytes that are not UTF-8.
    NotUtf8,
    /// A line longer than [`LINE_MAX`](super::LINE_MAX).
    LineTooLong,
    /// An EDN form or comment longer than [`LINE_MAX`](super::LINE_MAX).
    FormTooLong,
    /// A line of one format in a file of another.
    Mixed {
        /// The format that the file began as.
        file: Format,
        /// The format that the line looks like.
        line: Format,
    },
    /// The file begins in another format than it was said to have.
    OtherFormat {
        /// The format that it was said to have.
        file: Format,
        /// The format that the line looks like.
        line: Format,
    },
    /// Something else than what belongs there.
    Syntax {
        /// What belongs there.
        expected: &'static str,
        /// What is there, shortened.
        found: String,
    },
    /// The file ends in the middle of something.
    Truncated {
        /// What is missing.
        expected: &'static str,
    },
    /// Not the JSON that the format wants; the words of the JSON parser.
    Json(String),
    /// A header of a version that this program does not know.
    Version(u64),
    /// A line that has none of the fields that make an event.
    NoEvent,
    /// A field that an event of that kind needs.
    MissingField(&'static str),
    /// A field that an event of that kind does not have.
    StrayField {
        /// The field.
        field: &'static str,
        /// The kind of event.
        event: &'static str,
    },
    /// A field that occurs twice.
    RepeatedField(String),
    /// A header that is not in the first line, or comes after an operation.
    LateHeader,
    /// An event after the end of the history.
    AfterEnd,
    /// Lists within lists, deeper than any value needs.
    Nesting,
    /// A number that is not an integer.
    NotAnInteger(String),
    /// An integer of more than 64 bits.
    OutOfRange(String),
    /// A map where a value belongs.
    MapValue,
    /// A method of which the format does not tell whether its value is an argument or a result.
    UnknownMethod(String),
    /// A value that stands for nothing elsewhere in the file is put in.
    NothingPutIn {
        /// The line that puts it in or takes it out.
        line: u32,
    },
    /// An operation that ends before it starts.
    EndsBeforeStart {
        /// When it starts.
        start: i64,
        /// When it ends.
        end: i64,
    },
    /// A completion with another key than its call.
    OtherKey {
        /// The key of the call.
        called: Value,
        /// The key of the completion.
        completed: Value,
    },
    /// A removal that returned something else than its call announced.
    OtherResult {
        /// What the call announced.
        announced: Value,
        /// What was returned.
        returned: Value,
    },
    /// Two statements about the object that the file is about.
    OtherObject {
        /// The first.
        first: String,
        /// The second.
        second: String,
    },
    /// The events do not make a history.
    Log(LogError),
}

impl Reason {
    pub(super) fn syntax(expected: &'static str, found: &str) -> Self {
        Reason::Syntax { expected, found: excerpt(found) }
    }
}

impl Reason {
    /// The words of a reason that has nothing to add to them.
    fn fixed(&self) -> &'static str {
        match self {
            Reason::Empty => "the file is empty, expected a history",
            Reason::Binary => "a NUL byte: the file is binary, expected text",
            Reason::NotUtf8 => "bytes that are not UTF-8, expected UTF-8 text",
            Reason::LineTooLong => "a line longer than 16 MiB, expected one event a line",
            Reason::FormTooLong => "a form longer than 16 MiB, expected one map an event",
            Reason::NoEvent => "expected one of the fields `call`, `return`, `fail`, `unknown`, `end` or `selvedge`",
            Reason::LateHeader => "the header should stand before the first event",
            Reason::AfterEnd => "text after the end of the history, expected nothing more",
            Reason::Nesting => "lists nested too deeply, expected a value of at most a few levels",
            Reason::MapValue => "a map cannot be a value, expected an integer, a text, a truth value or a list",
            _ => "",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::NoOperation(format) => write!(f, "no operation in the file, expected {}", operation(*format)),
            Reason::Mixed { file, line } => {
                write!(f, "a line of the format {line} in a file that began as {file}; expected {}", operation(*file))
            }
            Reason::OtherFormat { file, line } => {
                write!(f, "the file looks like {line}, but is to be read as {file}; expected {}", operation(*file))
            }
            Reason::Syntax { expected, found } if found.is_empty() => {
                write!(f, "expected {expected}, found the end of the line")
            }
            Reason::Syntax { expected, found } => write!(f, "expected {expected}, found `{found}`"),
            Reason::Truncated { expected } => {
                write!(f, "the file seems truncated: it ends where {expected} should follow")
            }
            Reason::Json(message) => f.write_str(message),
            Reason::Version(version) => {
                write!(f, "version {version} of the format is not known, expected version 1; use a newer selvedge")
            }
            Reason::MissingField(field) => write!(f, "the field `{field}` is missing"),
            Reason::StrayField { field, event } => write!(f, "the field `{field}` does not belong to {event}"),
            Reason::RepeatedField(field) => write!(f, "the field `{field}` occurs twice"),
            Reason::NotAnInteger(number) => write!(
                f,
                "`{number}` is not an integer; values are integers, texts, truth values or lists: write it as a text"
            ),
            Reason::OutOfRange(number) => {
                write!(f, "the number {number} does not fit in a signed 64-bit integer; write it as a text")
            }
            Reason::UnknownMethod(method) => write!(f, "`{method}` is not a method whose value is known to be {ROLES}"),
            Reason::NothingPutIn { line } => {
                write!(
                    f,
                    "-1 stands for nothing where values are taken out, so it cannot be put in too; see line {line}"
                )
            }
            Reason::EndsBeforeStart { start, end } => {
                write!(f, "the operation ends at {end}, before it starts at {start}")
            }
            Reason::OtherKey { called, completed } => {
                write!(f, "a completion with the key {completed} for a call with the key {called}")
            }
            Reason::OtherResult { announced, returned } => {
                write!(f, "the call says that {announced} will be removed, but the return says {returned}")
            }
            Reason::OtherObject { first, second } => {
                write!(f, "the file says that it is about a {first}, and then about a {second}")
            }
            Reason::Log(error) => error.fmt(f),
            Reason::Unrecognised => {
                write!(f, "not a history in a known format ({}); if it is one of these, name the format", formats())
            }
            Reason::Empty
            | Reason::Binary
            | Reason::NotUtf8
            | Reason::LineTooLong
            | Reason::FormTooLong
            | Reason::NoEvent
            | Reason::LateHeader
            | Reason::AfterEnd
            | Reason::Nesting
            | Reason::MapValue => f.write_str(self.fixed()),
        }
    }
}

const ROLES: &str =
    "an argument (enq, push, insert, add, write, ...) or a result (deq, pop, poll, remove, peek, read, ...)";

fn formats() -> String {
    Format::ALL.iter().map(|format| format.name()).collect::<Vec<_>>().join(", ")
}

/// What an operation looks like in a format.
pub(super) fn operation(format: Format) -> &'static str {
    match format {
        Format::Jsonl => r#"an event such as {"call":"enq","thread":0,"value":5}"#,
        Format::JepsenLog => "an operation such as `INFO  jepsen.util - 0 :invoke :read nil`",
        Format::Edn => "an operation such as {:process 0, :type :invoke, :f :read, :value nil}",
        Format::Fastlin => "an operation such as `enq 5 1 3` (method, value, start, end)",
        Format::Limo => "an event such as `[1] call enq(5)` or `[1] return`",
    }
}

/// The beginning of a text, fit for an error message of one line.
pub(super) fn excerpt(text: &str) -> String {
    const CHARACTERS: usize = 40;
    let text = text.trim();
    let mut short: String = text.chars().take(CHARACTERS).flat_map(char::escape_debug).collect();
    short = short.replace("\\\"", "\"").replace("\\'", "'");
    if text.chars().nth(CHARACTERS).is_some() {
        short.push('…');
    }
    short
}
