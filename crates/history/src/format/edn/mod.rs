//! Histories of Jepsen and Knossos in EDN: one map an event, `{:process 0, :type :invoke, :f :read, :value nil}`.
//!
//! The maps may be enclosed in one vector or list, and may span lines or share one. They are read one at a time, so
//! memory holds one map (at most [`LINE_MAX`] bytes of it), never the file. Fields other than `:process`, `:type`,
//! `:f`, `:key` and `:value` are skipped, and so are the events of processes that are no integers.

use super::error::operation;
use super::jepsen::{Event, Kind, record, settle};
use super::recognise::operation_format;
use super::source::{LINE_MAX, Source, text};
use super::{Format, ReadError, Reason, limo};
use crate::{Log, LogRecorder, Value};

pub(super) mod syntax;

use syntax::{Flaw, Form, Parser, Stop};

/// Reads a file of this format.
pub(super) fn read(source: &mut Source<'_>) -> Result<Log, ReadError> {
    let mut reader = Reader::default();
    loop {
        let mut parser = Parser::new(source.window(), source.ended());
        let step = reader.step(&mut parser, source.line());
        let length = parser.at();
        match step {
            Ok(true) => source.advance(length),
            Ok(false) => break,
            Err(Stop::More) if source.window().len() > LINE_MAX => {
                return Err(ReadError::new(source.line(), None, Reason::FormTooLong));
            }
            Err(Stop::More) => source.fill()?,
            Err(Stop::Fault(flaw)) => return Err(reader.explain(source, *flaw)),
        }
    }
    let (line, _) = source.position(0);
    // A run in which only the nemesis did something is a history, of no operation.
    if !reader.events {
        let reason = if reader.content { Reason::NoOperation(Format::Edn) } else { Reason::Empty };
        return Err(ReadError::new(line, None, reason));
    }
    let mut log = reader.recorder.finish(None).map_err(|error| ReadError::new(line, None, Reason::Log(error)))?;
    settle(&mut log);
    Ok(log)
}

#[derive(Default)]
struct Reader {
    recorder: LogRecorder,
    place: Place,
    /// Whether there was anything but white space.
    content: bool,
    /// Whether there was an event, be it one that is skipped.
    events: bool,
}

/// Where in the file the reader stands.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    /// Before the first event.
    #[default]
    Beginning,
    /// After an event that nothing encloses.
    Open,
    /// Inside of what this byte closes.
    Enclosed(u8),
    /// After what enclosed the events.
    After,
}

impl Reader {
    /// Reads what is blank, a bracket, or an event. False at the end of the file.
    fn step(&mut self, parser: &mut Parser<'_>, line: u32) -> Result<bool, Stop> {
        parser.blank(0)?;
        if parser.at() > 0 {
            self.content |= parser.consumed().iter().any(|byte| !byte.is_ascii_whitespace() && *byte != b',');
            return Ok(true);
        }
        let byte = parser.peek()?;
        self.content |= byte.is_some();
        match (byte, self.place) {
            (None, Place::Enclosed(b']')) => Err(Stop::fault(0, Reason::Truncated { expected: "the closing `]`" })),
            (None, Place::Enclosed(_)) => Err(Stop::fault(0, Reason::Truncated { expected: "the closing `)`" })),
            (None, _) => return Ok(false),
            (Some(_), Place::After) => Err(Stop::fault(0, Reason::AfterEnd)),
            (Some(b'['), Place::Beginning) if !limo::is_event(&parser.line()) => {
                self.bracket(parser, Place::Enclosed(b']'))
            }
            (Some(b'('), Place::Beginning) => self.bracket(parser, Place::Enclosed(b')')),
            (Some(byte), Place::Enclosed(close)) if byte == close => self.bracket(parser, Place::After),
            (Some(b'{' | b'#'), _) => self.event(parser, line),
            (Some(_), _) => Err(parser.expected(operation(Format::Edn))),
        }?;
        Ok(true)
    }

    fn bracket(&mut self, parser: &mut Parser<'_>, place: Place) -> Result<(), Stop> {
        parser.bump();
        self.place = place;
        Ok(())
    }

    fn event(&mut self, parser: &mut Parser<'_>, line: u32) -> Result<(), Stop> {
        while parser.peek()? == Some(b'#') {
            parser.tag()?;
            parser.blank(0)?;
        }
        let fields = Fields::parse(parser)?;
        if self.place == Place::Beginning {
            self.place = Place::Open;
        }
        let Some(process) = fields.process()? else {
            self.events = true;
            return Ok(());
        };
        let kind = fields.kind()?;
        let f = match &fields.f {
            Some(Form::Word(name)) => name,
            Some(Form::Value(Value::Text(name))) => name.as_str(),
            Some(other) => return Err(other.unexpected("a keyword as :f, such as :read")),
            // Elle's histories are of transactions only.
            None if !kind.has_value() || fields.is_transaction() => "txn",
            None => return Err(Stop::fault(0, Reason::MissingField(":f"))),
        };
        let key = fields.key.map(Form::into_value).transpose().map_err(Stop::Fault)?;
        let value = fields.value.filter(|_| kind.has_value());
        let value = value.map_or(Ok(Value::Nil), Form::into_value).map_err(Stop::Fault)?;
        record(&mut self.recorder, line, Event { process, kind, f, key, value })
            .map_err(|fault| Stop::fault(fault.at.unwrap_or(0), fault.reason))?;
        self.events = true;
        Ok(())
    }

    /// The error for a fault: what cannot be read may be no text, or a line of another format.
    fn explain(&self, source: &Source<'_>, Flaw { at, reason }: Flaw) -> ReadError {
        let window = source.window();
        let end = memchr::memchr(b'\n', window).unwrap_or(window.len());
        let malformed = matches!(reason, Reason::Syntax { .. } | Reason::MissingField(_) | Reason::Truncated { .. });
        let other = operation_format(&String::from_utf8_lossy(&window[..end.min(1000)]));
        match (other, text(&window[..end])) {
            (_, Err((at, reason))) if malformed => {
                let (line, column) = source.position(at);
                ReadError::new(line, Some(column), reason)
            }
            (Some(other), _) if malformed && other != Format::Edn => {
                let (file, line) = (Format::Edn, other);
                let reason =
                    if self.events { Reason::Mixed { file, line } } else { Reason::OtherFormat { file, line } };
                ReadError::new(source.line(), None, reason)
            }
            _ => {
                let (line, column) = source.position(at);
                ReadError::new(line, Some(column), reason)
            }
        }
    }
}

/// The fields of an event, as they are written.
#[derive(Default)]
struct Fields<'a> {
    process: Option<Form<'a>>,
    kind: Option<Form<'a>>,
    f: Option<Form<'a>>,
    key: Option<Form<'a>>,
    value: Option<Form<'a>>,
}

impl<'a> Fields<'a> {
    fn parse(parser: &mut Parser<'a>) -> Result<Self, Stop> {
        if parser.peek()? != Some(b'{') {
            return Err(parser.expected(operation(Format::Edn)));
        }
        parser.bump();
        let mut fields = Fields::default();
        loop {
            parser.blank(1)?;
            let at = parser.at();
            match parser.peek()? {
                None => return Err(parser.cut_off("the end of a map")),
                Some(b'}') => {
                    parser.bump();
                    return Ok(fields);
                }
                Some(b']' | b')') => return Err(parser.expected("a field or the end of a map")),
                Some(_) => {}
            }
            let key = parser.form(1)?;
            let value = parser.form(1)?;
            let field = match key {
                Form::Word("process") => &mut fields.process,
                Form::Word("type") => &mut fields.kind,
                Form::Word("f") => &mut fields.f,
                Form::Word("key") => &mut fields.key,
                Form::Word("value") => &mut fields.value,
                _ => continue,
            };
            if field.replace(value).is_some() {
                let Form::Word(name) = key else { continue };
                return Err(Stop::fault(at, Reason::RepeatedField(format!(":{name}"))));
            }
        }
    }

    /// Whether the value is a list of lists, the steps of a transaction.
    fn is_transaction(&self) -> bool {
        let Some(Form::Value(Value::List(steps))) = &self.value else { return false };
        steps.iter().all(|step| step.as_list().is_some())
    }

    /// The process, `None` for one that is no client, such as the nemesis.
    fn process(&self) -> Result<Option<i64>, Stop> {
        match &self.process {
            None => Err(Stop::fault(0, Reason::MissingField(":process"))),
            Some(Form::Value(Value::Int(process))) => Ok(Some(*process)),
            Some(Form::Word(_) | Form::Value(Value::Text(_) | Value::Nil)) => Ok(None),
            Some(other) => Err(other.unexpected("an integer or a keyword as :process")),
        }
    }

    fn kind(&self) -> Result<Kind, Stop> {
        let Some(form) = &self.kind else {
            return Err(Stop::fault(0, Reason::MissingField(":type")));
        };
        let kind = if let Form::Word(name) = form { Kind::from_name(name) } else { None };
        kind.ok_or_else(|| form.unexpected(":invoke, :ok, :fail or :info as :type"))
    }
}

#[cfg(test)]
mod tests;
