//! The project's own format: JSON Lines, one event a line, so that a program can append to it while it runs.
//!
//! Version 1. A header is optional, an end too; between them calls and returns, in the order in which they happened.
//! Lines in the plain form that most programs print are read by [`plain`]; every other line by `serde_json`, which is
//! also what decides in doubt and words the errors. Both give the same [`Event`].

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};

use super::error::operation;
use super::lines::{Fault, LineReader};
use super::source::Line;
use super::{Format, ReadError, Reason};
use crate::{Call, End, Log, LogError, LogRecorder, Outcome, Symbol, Value};

mod plain;
mod write;

pub use write::write_jsonl;

const VERSION: u64 = 1;
const HISTORY: &str = "history";

#[derive(Default)]
pub(super) struct Reader {
    recorder: LogRecorder,
    /// Whether a line was read that is not blank.
    begun: bool,
    end: Option<End>,
}

impl LineReader for Reader {
    const FORMAT: Format = Format::Jsonl;

    fn line(&mut self, line: &Line<'_>) -> Result<(), Fault> {
        // The order of the lines counts here; times are for those who merge several writers.
        let event = match plain::parse(line.text) {
            Some((event, _)) => event,
            None if line.text.trim_ascii().is_empty() => return Ok(()),
            None => general(line)?.0,
        };
        if self.end.is_some() {
            return Err(Reason::AfterEnd.into());
        }
        let first = !std::mem::replace(&mut self.begun, true);
        match event {
            Event::Call { thread, method, object, key, argument } => {
                let object = if object.is_empty() { Symbol::NONE } else { self.recorder.symbol(&object) };
                let method = self.recorder.symbol(&method);
                self.recorder.call(line.number, &thread, Call { object, method, key, argument })?;
            }
            Event::Outcome { thread, outcome } => {
                self.recorder.outcome(line.number, &thread, None, outcome)?;
            }
            Event::End(end) => self.end = Some(end),
            Event::Header { .. } if !first => return Err(Reason::LateHeader.into()),
            Event::Header { object, initial } => {
                self.recorder.declared = object;
                self.recorder.initial = initial;
            }
        }
        Ok(())
    }

    /// An end says that the recording is whole, even if nothing was recorded.
    fn is_empty(&self) -> bool {
        self.recorder.is_empty() && self.end.is_none()
    }

    fn finish(self) -> Result<Log, LogError> {
        self.recorder.finish(self.end)
    }
}

/// What a line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A thread calls.
    Call {
        /// Which thread.
        thread: Value,
        /// The method.
        method: Cow<'a, str>,
        /// Which object, empty where there is one.
        object: Cow<'a, str>,
        /// Which key, nil where there is none.
        key: Value,
        /// The argument.
        argument: Value,
    },
    /// A thread's operation ends.
    Outcome {
        /// Which thread.
        thread: Value,
        /// How.
        outcome: Outcome,
    },
    /// Nothing follows.
    End(End),
    /// What the history is about.
    Header {
        /// The name of the object.
        object: Option<String>,
        /// What it starts with.
        initial: Option<Value>,
    },
}

/// Reads one line by itself: the event and its time, or nothing for a blank line. For those who read as it is written.
pub fn read_line(text: &str) -> Result<Option<(Event<'_>, Option<i64>)>, ReadError> {
    if let Some(read) = plain::parse(text) {
        return Ok(Some(read));
    }
    if text.trim_ascii().is_empty() {
        return Ok(None);
    }
    let read = general(&Line { number: 1, text, terminated: true });
    read.map(Some).map_err(|fault| {
        let column = fault.at.map(|at| super::source::column(text.as_bytes(), at));
        ReadError::new(1, column, fault.reason)
    })
}

/// The fields of a line; which of them belong together depends on the event.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "an event as a JSON object")]
struct Fields<'a> {
    #[serde(borrow, deserialize_with = "text")]
    call: Option<Cow<'a, str>>,
    #[serde(rename = "return", deserialize_with = "value")]
    result: Option<Value>,
    #[serde(deserialize_with = "stated")]
    fail: Option<Stated>,
    #[serde(deserialize_with = "stated")]
    unknown: Option<Stated>,
    #[serde(deserialize_with = "end")]
    end: Option<EndName>,
    #[serde(deserialize_with = "thread")]
    thread: Option<Value>,
    #[serde(deserialize_with = "value")]
    value: Option<Value>,
    #[serde(borrow, deserialize_with = "text")]
    object: Option<Cow<'a, str>>,
    #[serde(deserialize_with = "value")]
    key: Option<Value>,
    #[serde(borrow, deserialize_with = "text")]
    selvedge: Option<Cow<'a, str>>,
    #[serde(deserialize_with = "version")]
    version: Option<u64>,
    #[serde(deserialize_with = "value")]
    initial: Option<Value>,
    #[serde(deserialize_with = "time")]
    time: Option<i64>,
}

impl<'a> Fields<'a> {
    /// The event that the fields make up; every field belongs to it.
    fn event(mut self) -> Result<(Event<'a>, Option<i64>), Reason> {
        let (event, name) = if let Some(method) = self.call.take() {
            let call = Event::Call {
                thread: self.take_thread()?,
                method,
                object: self.object.take().unwrap_or_default(),
                key: self.key.take().unwrap_or_default(),
                argument: self.value.take().unwrap_or_default(),
            };
            (call, "a call")
        } else if let Some(result) = self.result.take() {
            (self.outcome(Outcome::Return(result))?, "a return")
        } else if self.fail.take().is_some() {
            (self.outcome(Outcome::Fail)?, "a failure")
        } else if self.unknown.take().is_some() {
            (self.outcome(Outcome::Unknown)?, "an unknown outcome")
        } else if let Some(EndName(end)) = self.end.take() {
            (Event::End(end), "an end")
        } else if let Some(what) = self.selvedge.take() {
            (self.header(&what)?, "a header")
        } else {
            return Err(Reason::NoEvent);
        };
        let timed = matches!(event, Event::Call { .. } | Event::Outcome { .. });
        let time = if timed { self.time.take() } else { None };
        self.nothing_left(name)?;
        Ok((event, time))
    }

    fn outcome(&mut self, outcome: Outcome) -> Result<Event<'a>, Reason> {
        Ok(Event::Outcome { thread: self.take_thread()?, outcome })
    }

    fn header(&mut self, what: &str) -> Result<Event<'a>, Reason> {
        if what != HISTORY {
            return Err(Reason::syntax("`history` as the kind of the file", what));
        }
        match self.version.take() {
            Some(VERSION) => {}
            Some(version) => return Err(Reason::Version(version)),
            None => return Err(Reason::MissingField("version")),
        }
        Ok(Event::Header { object: self.object.take().map(Cow::into_owned), initial: self.initial.take() })
    }

    fn take_thread(&mut self) -> Result<Value, Reason> {
        self.thread.take().ok_or(Reason::MissingField("thread"))
    }

    /// Refuses the fields that the event did not take.
    fn nothing_left(&self, event: &'static str) -> Result<(), Reason> {
        let left = [
            ("call", self.call.is_some()),
            ("return", self.result.is_some()),
            ("fail", self.fail.is_some()),
            ("unknown", self.unknown.is_some()),
            ("end", self.end.is_some()),
            ("thread", self.thread.is_some()),
            ("value", self.value.is_some()),
            ("object", self.object.is_some()),
            ("key", self.key.is_some()),
            ("selvedge", self.selvedge.is_some()),
            ("version", self.version.is_some()),
            ("initial", self.initial.is_some()),
            ("time", self.time.is_some()),
        ];
        match left.into_iter().find(|(_, left)| *left) {
            Some((field, _)) => Err(Reason::StrayField { field, event }),
            None => Ok(()),
        }
    }
}

/// Reads any line.
fn general<'a>(line: &Line<'a>) -> Result<(Event<'a>, Option<i64>), Fault> {
    // The derived reader would take a list of fields without their names as well.
    let begin = line.text.len() - line.text.trim_ascii_start().len();
    if !line.text[begin..].starts_with('{') {
        return Err(Fault::syntax(line.text, begin, operation(Format::Jsonl)));
    }
    let fields: Fields<'a> = serde_json::from_str(line.text).map_err(|error| {
        let at = error.column().saturating_sub(1);
        if error.is_eof() && !line.terminated {
            return Fault::at(at, Reason::Truncated { expected: "the rest of an event" });
        }
        if error.is_eof() {
            return Fault::at(at, Reason::Json("the line ends in an event, expected a whole event a line".to_owned()));
        }
        let message = error.to_string();
        let suffix = format!(" at line {} column {}", error.line(), error.column());
        let message = message.strip_suffix(&suffix).unwrap_or(&message);
        if message.starts_with("recursion limit") {
            return Fault::at(at, Reason::Nesting);
        }
        Fault::at(at, Reason::Json(message.to_owned()))
    })?;
    fields.event().map_err(Fault::from)
}

/// That something happened: `true`, or a text that says why.
struct Stated;

struct EndName(End);

/// Reads a field that is there: absent is not the same as null.
fn value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Cow<'de, str>>, D::Error> {
    deserializer.deserialize_str(Text).map(Some)
}

fn thread<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    deserializer.deserialize_any(Thread).map(Some)
}

fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    i64::deserialize(deserializer).map(Some)
}

fn version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    u64::deserialize(deserializer).map(Some)
}

fn stated<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Stated>, D::Error> {
    deserializer.deserialize_any(Stated).map(Some)
}

fn end<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<EndName>, D::Error> {
    let name = deserializer.deserialize_str(Text)?;
    let end = match &*name {
        "complete" => End::Complete,
        "stuck" => End::Stuck,
        "truncated" => End::Truncated,
        _ => return Err(de::Error::unknown_variant(&name, &["complete", "stuck", "truncated"])),
    };
    Ok(Some(EndName(end)))
}

struct Text;

impl<'de> Visitor<'de> for Text {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a text")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

struct Thread;

impl Visitor<'_> for Thread {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an integer or a text as thread")
    }

    fn visit_i64<E>(self, int: i64) -> Result<Value, E> {
        Ok(Value::Int(int))
    }

    fn visit_u64<E: de::Error>(self, int: u64) -> Result<Value, E> {
        i64::try_from(int)
            .map(Value::Int)
            .map_err(|_| E::custom("the thread does not fit in a signed 64-bit integer; write it as a text"))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::text(text))
    }
}

impl Visitor<'_> for Stated {
    type Value = Stated;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("true, or a text that says why")
    }

    fn visit_bool<E: de::Error>(self, happened: bool) -> Result<Stated, E> {
        if happened { Ok(Stated) } else { Err(E::invalid_value(de::Unexpected::Bool(false), &self)) }
    }

    fn visit_str<E>(self, _: &str) -> Result<Stated, E> {
        Ok(Stated)
    }
}

#[cfg(test)]
mod tests;
