//! The quick way to read the lines that most programs print: calls and returns without escapes.
//!
//! Invariant: whatever this reads, the general parser reads as the same event. In any doubt it answers `None` and
//! leaves the line to the general parser, the errors included.

use std::borrow::Cow;

use super::Event;
use crate::{Outcome, Value};

/// The event of a plain line.
pub(super) fn parse(line: &str) -> Option<(Event<'_>, Option<i64>)> {
    let mut cursor = Cursor { line, at: 0 };
    let (mut method, mut result, mut thread) = (None, None, None);
    let (mut object, mut key, mut argument, mut time) = (None, None, None, None);
    cursor.take(b'{')?;
    loop {
        match cursor.name()? {
            "call" => once(&mut method, cursor.string()?)?,
            "return" => once(&mut result, cursor.value()?)?,
            "thread" => once(&mut thread, cursor.thread()?)?,
            "value" => once(&mut argument, cursor.value()?)?,
            "key" => once(&mut key, cursor.value()?)?,
            "object" => once(&mut object, cursor.string()?)?,
            "time" => once(&mut time, cursor.scalar()?.as_int()?)?,
            _ => return None,
        }
        if !cursor.more()? {
            break;
        }
    }
    let thread = thread?;
    let event = match (method, result, object, key, argument) {
        (Some(method), None, object, key, argument) => Event::Call {
            thread,
            method: Cow::Borrowed(method),
            object: Cow::Borrowed(object.unwrap_or_default()),
            key: key.unwrap_or_default(),
            argument: argument.unwrap_or_default(),
        },
        (None, Some(result), None, None, None) => Event::Outcome { thread, outcome: Outcome::Return(result) },
        _ => return None,
    };
    Some((event, time))
}

/// Fills a field, unless it is there already.
fn once<T>(field: &mut Option<T>, value: T) -> Option<()> {
    field.replace(value).is_none().then_some(())
}

struct Cursor<'a> {
    line: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn peek(&mut self) -> Option<u8> {
        loop {
            match self.line.as_bytes().get(self.at) {
                Some(b' ') => self.at += 1,
                other => return other.copied(),
            }
        }
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn take(&mut self, expected: u8) -> Option<()> {
        (self.next()? == expected).then_some(())
    }

    /// The name of a field with its colon.
    fn name(&mut self) -> Option<&'a str> {
        let name = self.string()?;
        self.take(b':')?;
        Some(name)
    }

    /// Whether another field follows; if not, the line must end.
    fn more(&mut self) -> Option<bool> {
        match self.next()? {
            b',' => Some(true),
            b'}' if self.at == self.line.len() => Some(false),
            _ => None,
        }
    }

    fn thread(&mut self) -> Option<Value> {
        self.scalar().filter(|thread| matches!(thread, Value::Int(_) | Value::Text(_)))
    }

    /// A string without escapes.
    fn string(&mut self) -> Option<&'a str> {
        self.take(b'"')?;
        let begin = self.at;
        let length = self.line.as_bytes()[begin..].iter().position(|&byte| matches!(byte, b'"' | b'\\' | 0..0x20))?;
        self.at = begin + length + 1;
        let quoted = self.line.as_bytes()[begin + length] == b'"';
        quoted.then(|| &self.line[begin..begin + length])
    }

    /// A value that is no list.
    fn scalar(&mut self) -> Option<Value> {
        match self.peek()? {
            b'"' => self.string().map(Value::text),
            b'-' | b'0'..=b'9' => self.integer(),
            b'n' => self.literal("null", Value::Nil),
            b't' => self.literal("true", Value::Bool(true)),
            b'f' => self.literal("false", Value::Bool(false)),
            _ => None,
        }
    }

    /// A scalar or a list of scalars.
    fn value(&mut self) -> Option<Value> {
        if self.peek()? != b'[' {
            return self.scalar();
        }
        self.at += 1;
        let mut items = Vec::with_capacity(2);
        if self.peek()? == b']' {
            self.at += 1;
            return Some(Value::list(items));
        }
        loop {
            items.push(self.scalar()?);
            match self.next()? {
                b',' => {}
                b']' => return Some(Value::list(items)),
                _ => return None,
            }
        }
    }

    fn literal(&mut self, word: &str, value: Value) -> Option<Value> {
        let rest = &self.line.as_bytes()[self.at..];
        rest.starts_with(word.as_bytes()).then(|| {
            self.at += word.len();
            value
        })
    }

    /// An integer of at most 18 digits, which cannot overflow.
    fn integer(&mut self) -> Option<Value> {
        let rest = &self.line.as_bytes()[self.at..];
        let negative = rest[0] == b'-';
        let digits = &rest[usize::from(negative)..];
        let mut int = 0i64;
        let mut length = 0;
        for digit in digits {
            if !digit.is_ascii_digit() {
                break;
            }
            if length == 18 {
                return None;
            }
            int = 10 * int + i64::from(digit - b'0');
            length += 1;
        }
        let leading_zero = length > 1 && digits[0] == b'0';
        // "-0" is a float to the general parser, and so is what goes on with a fraction or an exponent.
        if length == 0
            || leading_zero
            || (negative && int == 0)
            || matches!(digits.get(length), Some(b'.' | b'e' | b'E'))
        {
            return None;
        }
        self.at += usize::from(negative) + length;
        Some(Value::Int(if negative { -int } else { int }))
    }
}
