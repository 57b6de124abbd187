//! LiMo: `[thread] call method(argument)` and `[thread] return value`.
//!
//! The order of the lines is the order of the events. `# @object atomic-queue` says what the history is about. A
//! removal may be called with the value that it is going to return; then a bare `return` returns that value.
//!
//! Two calls open on one thread are an error, with one exception that a published history needs: a call line that
//! stands twice in a row. Whether it was logged twice or made twice, reading the first as pending is right.

use hashbrown::HashMap;

use super::lines::{Fault, LineReader};
use super::source::Line;
use super::{Format, Reason, word};
use crate::{Call, Log, LogError, LogRecorder, Outcome, Symbol, Value};

#[derive(Default)]
pub(super) struct Reader {
    recorder: LogRecorder,
    /// The value that the open removal of a thread announced.
    announced: HashMap<Value, Value, foldhash::fast::RandomState>,
    /// The thread of the last event, if that was a call.
    called: Option<Value>,
}

impl LineReader for Reader {
    const FORMAT: Format = Format::Limo;

    fn line(&mut self, line: &Line<'_>) -> Result<(), Fault> {
        let text = line.text.trim_ascii();
        if text.is_empty() {
            return Ok(());
        }
        if text.starts_with('#') {
            return object(text).map_or(Ok(()), |object| self.declare(object));
        }
        let event = Event::parse(line.text)?;
        let (at, thread) = event.thread;
        let thread = word::name(thread).map_err(|reason| Fault::at(at, reason))?;
        match event.kind {
            Kind::Call { method, arguments } => self.call(line, &thread, method, arguments),
            Kind::Return { value: (at, value) } => self.ret(line, &thread, at, value),
        }
    }

    fn is_empty(&self) -> bool {
        self.recorder.is_empty()
    }

    fn finish(self) -> Result<Log, LogError> {
        self.recorder.finish(None)
    }
}

impl Reader {
    fn declare(&mut self, object: &str) -> Result<(), Fault> {
        let object = object.strip_prefix("atomic-").unwrap_or(object);
        if !self.recorder.is_empty() {
            return Err(Reason::LateHeader.into());
        }
        match &self.recorder.declared {
            Some(first) if first != object => {
                let (first, second) = (first.clone(), super::error::excerpt(object));
                Err(Reason::OtherObject { first, second }.into())
            }
            _ => {
                self.recorder.declared = Some(object.to_owned());
                Ok(())
            }
        }
    }

    fn call(&mut self, line: &Line<'_>, thread: &Value, method: &str, arguments: Span<'_>) -> Result<(), Fault> {
        let mut argument = read_arguments(line.text, arguments)?;
        let announces = !argument.is_nil() && is_removal(method, self.recorder.declared.as_deref());
        let announced = if announces { std::mem::take(&mut argument) } else { Value::Nil };
        let method = self.recorder.symbol(method);
        let call = Call { object: Symbol::NONE, method, key: Value::Nil, argument };
        if self.called.as_ref() == Some(thread)
            && self.recorder.open(thread) == Some(&call)
            && self.announced.get(thread) == announces.then_some(&announced)
        {
            self.recorder.outcome(line.number, thread, None, Outcome::Unknown)?;
        }
        self.recorder.call(line.number, thread, call)?;
        if announces {
            self.announced.insert(thread.clone(), announced);
        }
        self.called = Some(thread.clone());
        Ok(())
    }

    fn ret(&mut self, line: &Line<'_>, thread: &Value, at: usize, value: &str) -> Result<(), Fault> {
        let mut result = match value {
            "" | "empty" | "EMPTY" => Value::Nil,
            _ if value.contains(|c: char| c.is_ascii_whitespace()) => {
                return Err(Fault::syntax(line.text, at, "one value after `return`"));
            }
            _ => word::value(value).map_err(|reason| Fault::at(at, reason))?,
        };
        if !self.announced.is_empty()
            && let Some(announced) = self.announced.remove(thread)
        {
            if value.is_empty() {
                result = announced;
            } else if result != announced {
                return Err(Fault::at(at, Reason::OtherResult { announced, returned: result }));
            }
        }
        self.recorder.outcome(line.number, thread, None, Outcome::Return(result))?;
        self.called = None;
        Ok(())
    }
}

/// A part of a line with its offset.
type Span<'a> = (usize, &'a str);

struct Event<'a> {
    thread: Span<'a>,
    kind: Kind<'a>,
}

enum Kind<'a> {
    Call {
        method: &'a str,
        /// With the parentheses, where there are any.
        arguments: Span<'a>,
    },
    Return {
        value: Span<'a>,
    },
}

const EVENT: &str = "`[thread] call method(argument)` or `[thread] return value`";

impl<'a> Event<'a> {
    fn parse(line: &'a str) -> Result<Self, Fault> {
        let open = line.len() - line.trim_ascii_start().len();
        let inside = line[open..].strip_prefix('[').ok_or_else(|| Fault::syntax(line, open, EVENT))?;
        let close = memchr::memchr(b']', inside.as_bytes()).ok_or_else(|| Fault::syntax(line, open, EVENT))?;
        let thread = inside[..close].trim_ascii();
        if thread.is_empty() || thread.contains('[') {
            return Err(Fault::syntax(line, open, "a thread between `[` and `]`"));
        }
        let (at, rest) = trimmed(line, open + 1 + close + 1);
        let split = rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len());
        let after = trimmed(line, at + split);
        let kind = match &rest[..split] {
            "return" => Kind::Return { value: after },
            "call" => {
                let (at, rest) = after;
                let split = rest.find(|c: char| c == '(' || c.is_ascii_whitespace()).unwrap_or(rest.len());
                if split == 0 {
                    return Err(Fault::syntax(line, at, "a method after `call`"));
                }
                Kind::Call { method: &rest[..split], arguments: trimmed(line, at + split) }
            }
            _ => return Err(Fault::syntax(line, at, "`call` or `return`")),
        };
        Ok(Event { thread: (open + 1, thread), kind })
    }
}

/// The rest of the line from an offset, without white space around it.
fn trimmed(line: &str, from: usize) -> Span<'_> {
    let rest = &line[from..];
    (from + rest.len() - rest.trim_ascii_start().len(), rest.trim_ascii())
}

/// The argument of a call: nothing, one value, or a list of them.
fn read_arguments(line: &str, (at, text): Span<'_>) -> Result<Value, Fault> {
    if text.is_empty() {
        return Ok(Value::Nil);
    }
    let mut values = Vec::new();
    if let Some(inside) = text.strip_prefix('(') {
        let inside = inside.strip_suffix(')').ok_or_else(|| Fault::syntax(line, at, "`)` at the end of the call"))?;
        if inside.trim_ascii().is_empty() {
            return Ok(Value::Nil);
        }
        for part in split_at_commas(inside) {
            let part = part.trim_ascii();
            if part.is_empty() {
                return Err(Fault::syntax(line, at, "a value before and after each comma"));
            }
            values.push(word::value(part).map_err(|reason| Fault::at(at, reason))?);
        }
    } else {
        for (offset, part) in word::words(text) {
            values.push(word::value(part).map_err(|reason| Fault::at(at + offset, reason))?);
        }
    }
    Ok(match values.len() {
        1 => values.swap_remove(0),
        _ => Value::list(values),
    })
}

/// Splits at the commas that stand in no brackets: `?<1,2>` is one value.
fn split_at_commas(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0i32;
    text.split(move |c| {
        match c {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' | ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        c == ',' && depth <= 0
    })
}

/// Whether the method takes an element out of an object of that kind, so that a value in its call is the one that it
/// is going to return.
fn is_removal(method: &str, object: Option<&str>) -> bool {
    let ordered = matches!(object, Some("queue" | "stack" | "deque" | "priority-queue"));
    match method {
        "pop" | "deq" | "dequeue" => true,
        "remove" | "poll" | "take" | "recv" => ordered,
        _ => false,
    }
}

/// The object that a line declares.
pub(super) fn object(line: &str) -> Option<&str> {
    let rest = line.trim_ascii().strip_prefix('#')?.trim_ascii_start().strip_prefix("@object")?;
    if !rest.starts_with(|c: char| c.is_ascii_whitespace()) {
        return None;
    }
    Some(rest.trim_ascii()).filter(|object| !object.is_empty())
}

/// Whether the line is an event of this format, or begins like one.
pub(super) fn is_event(line: &str) -> bool {
    Event::parse(line).is_ok()
}

#[cfg(test)]
mod tests;
