//! The project's own format: JSON Lines, one event a line, so that a program can append to it while it runs.
//!
//! Version 1. A header is optional, an end too; between them calls and returns, in the order in which they happened.
//! Lines in the plain form that most programs print are read by [`plain`]; every other line by `serde_json`, which is
//! also what decides in doubt and words the errors. Both fill the same [`Fields`].

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};

use super::lines::{Fault, LineReader};
use super::source::Line;
use super::{Format, Reason};
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
        if line.text.trim_ascii().is_empty() {
            return Ok(());
        }
        let fields = match plain::parse(line.text) {
            Some(fields) => fields,
            None => general(line)?,
        };
        if self.end.is_some() {
            return Err(Reason::AfterEnd.into());
        }
        let first = !std::mem::replace(&mut self.begun, true);
        self.event(line.number, fields, first)
    }

    /// An end says that the recording is whole, even if nothing was recorded.
    fn is_empty(&self) -> bool {
        self.recorder.is_empty() && self.end.is_none()
    }

    fn finish(self) -> Result<Log, LogError> {
        self.recorder.finish(self.end)
    }
}

impl Reader {
    fn event(&mut self, line: u32, mut fields: Fields<'_>, first: bool) -> Result<(), Fault> {
        if let Some(method) = fields.call.take() {
            let thread = fields.take_thread()?;
            let call = Call {
                object: fields.object.take().map_or(Symbol::NONE, |object| self.recorder.symbol(&object)),
                method: self.recorder.symbol(&method),
                key: fields.key.take().unwrap_or_default(),
                argument: fields.value.take().unwrap_or_default(),
            };
            fields.nothing_left("a call")?;
            self.recorder.call(line, &thread, call)?;
            return Ok(());
        }
        let (outcome, event) = if let Some(result) = fields.result.take() {
            (Outcome::Return(result), "a return")
        } else if fields.fail.take().is_some() {
            (Outcome::Fail, "a failure")
        } else if fields.unknown.take().is_some() {
            (Outcome::Unknown, "an unknown outcome")
        } else if let Some(EndName(end)) = fields.end.take() {
            fields.nothing_left("an end")?;
            self.end = Some(end);
            return Ok(());
        } else if let Some(what) = fields.selvedge.take() {
            return self.header(&what, fields, first);
        } else {
            return Err(Reason::MissingField("call` (or `return`, `fail`, `unknown`, `end").into());
        };
        let thread = fields.take_thread()?;
        fields.nothing_left(event)?;
        self.recorder.outcome(line, &thread, None, outcome)?;
        Ok(())
    }

    fn header(&mut self, what: &str, mut fields: Fields<'_>, first: bool) -> Result<(), Fault> {
        if what != HISTORY {
            return Err(Reason::syntax("`history` as the kind of the file", what).into());
        }
        match fields.version.take() {
            Some(VERSION) => {}
            Some(version) => return Err(Reason::Version(version).into()),
            None => return Err(Reason::MissingField("version").into()),
        }
        if !first {
            return Err(Reason::LateHeader.into());
        }
        self.recorder.declared = fields.object.take().map(Cow::into_owned);
        self.recorder.initial = fields.initial.take();
        fields.nothing_left("a header")?;
        Ok(())
    }
}

/// The fields of a line; which of them belong together depends on the event.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
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
}

impl Fields<'_> {
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
        ];
        match left.into_iter().find(|(_, left)| *left) {
            Some((field, _)) => Err(Reason::StrayField { field, event }),
            None => Ok(()),
        }
    }
}

/// Reads any line.
fn general<'a>(line: &Line<'a>) -> Result<Fields<'a>, Fault> {
    serde_json::from_str(line.text).map_err(|error| {
        let at = error.column().saturating_sub(1);
        if error.is_eof() && !line.terminated {
            return Fault::at(at, Reason::Truncated { expected: "the rest of an event" });
        }
        let message = error.to_string();
        let suffix = format!(" at line {} column {}", error.line(), error.column());
        let message = message.strip_suffix(&suffix).unwrap_or(&message);
        if message.starts_with("recursion limit") {
            return Fault::at(at, Reason::Nesting);
        }
        Fault::at(at, Reason::Json(message.to_owned()))
    })
}

/// That something happened: `true`, or a text that says why.
#[derive(Debug, PartialEq, Eq)]
struct Stated;

#[derive(Debug, PartialEq, Eq)]
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
