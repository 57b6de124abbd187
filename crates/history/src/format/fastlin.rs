//! fastlin: one operation a line, `method value start end`.
//!
//! The first comment may say what the history is about (`# queue`). The value is the argument of an insertion and the
//! result of a removal, where -1 says that there was nothing to remove. Operations of a set take their value as the
//! argument and are recorded only when they succeed, except for `contains_true` and `contains_false`; the older
//! variant with one more column for the result, 0 or 1, is read too. Intervals are half-open, as the programs read them
//! that this format comes from: an operation that ends when another starts precedes it.

use hashbrown::HashMap;

use super::error::excerpt;
use super::lines::{Fault, LineReader};
use super::source::Line;
use super::{Format, Reason, word};
use crate::{Call, Log, LogError, LogRecorder, Symbol, Touching, Value};

#[derive(Default)]
pub(super) struct Reader {
    recorder: LogRecorder,
    /// The first line that puts -1 in, and the first that takes nothing out, which is written -1 too.
    minus_one: [Option<u32>; 2],
    /// The methods seen so far.
    methods: HashMap<String, (Role, Symbol), foldhash::fast::RandomState>,
}

const OPERATION: &str = "`method value start end`, such as `enq 5 1 3`";

/// A word with its offset into the line.
type Word<'a> = (usize, &'a str);

impl LineReader for Reader {
    const FORMAT: Format = Format::Fastlin;

    fn line(&mut self, line: &Line<'_>) -> Result<(), Fault> {
        let text = line.text;
        let mut words = word::words(text);
        let Some((at, name)) = words.next() else {
            return Ok(());
        };
        if name.starts_with('#') {
            return self.comment(text);
        }
        let (role, method) = self.method(name).map_err(|reason| Fault::at(at, reason))?;
        let mut next = || words.next().ok_or_else(|| Fault::syntax(text, text.len(), OPERATION));
        let (value, second, third) = (next()?, next()?, next()?);
        let (answer, start, end) = match (words.next(), role) {
            (None, Role::Member(Answer::Column)) => return Err(Fault::syntax(text, at, ANSWER)),
            (None, _) => (None, second, third),
            (Some(end), Role::Member(Answer::Column | Answer::Success)) => (Some(second), third, end),
            (Some((at, _)), _) => return Err(Fault::syntax(text, at, "the end of the line after the end time")),
        };
        if let Some((at, _)) = words.next() {
            return Err(Fault::syntax(text, at, "the end of the line after the end time"));
        }
        let at = value.0;
        let value = word::value(value.1).map_err(|reason| Fault::at(at, reason))?;
        self.minus_one(role, &value, line.number).map_err(|reason| Fault::at(at, reason))?;
        let (argument, result) = role.place(value, answer).map_err(|at| Fault::syntax(text, at, "0 or 1"))?;
        let (start, end) = times(start, end)?;
        let call = Call { object: Symbol::NONE, method, key: Value::Nil, argument };
        self.recorder.interval(line.number, call, start, Some((end, result)));
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.recorder.is_empty()
    }

    fn finish(mut self) -> Result<Log, LogError> {
        self.recorder.touching = Touching::Precede;
        self.recorder.finish(None)
    }
}

impl Reader {
    fn comment(&mut self, text: &str) -> Result<(), Fault> {
        let Some(object) = object(text) else {
            return Ok(());
        };
        match &self.recorder.declared {
            Some(first) if first != object => {
                let (first, second) = (first.clone(), object.to_owned());
                Err(Reason::OtherObject { first, second }.into())
            }
            None if !self.recorder.is_empty() => Err(Reason::LateHeader.into()),
            _ => {
                self.recorder.declared = Some(object.to_owned());
                Ok(())
            }
        }
    }

    /// Refuses a file in which -1 is a value as well as nothing: no reading of it is right.
    fn minus_one(&mut self, role: Role, value: &Value, line: u32) -> Result<(), Reason> {
        let this = match role {
            _ if *value != Value::Int(-1) => return Ok(()),
            Role::Argument => 0,
            Role::Removed => 1,
            Role::Read | Role::Member(_) => return Ok(()),
        };
        self.minus_one[this].get_or_insert(line);
        self.minus_one[1 - this].map_or(Ok(()), |line| Err(Reason::NothingPutIn { line }))
    }

    fn method(&mut self, name: &str) -> Result<(Role, Symbol), Reason> {
        if let Some(&known) = self.methods.get(name) {
            return Ok(known);
        }
        let set = self.recorder.declared.as_deref() == Some("set");
        let role = Role::of(name, set).ok_or_else(|| Reason::UnknownMethod(excerpt(name)))?;
        let contains = name.to_ascii_lowercase().starts_with("contains");
        let symbol = self.recorder.symbol(if contains { "contains" } else { name });
        self.methods.insert(name.to_owned(), (role, symbol));
        Ok((role, symbol))
    }
}

fn times(start: Word<'_>, end: Word<'_>) -> Result<(i64, i64), Fault> {
    let time = |(at, word)| word::integer(word).map_err(|reason| Fault::at(at, reason));
    let (from, to) = (time(start)?, time(end)?);
    if to < from {
        return Err(Fault::at(end.0, Reason::EndsBeforeStart { start: from, end: to }));
    }
    Ok((from, to))
}

/// What the value of an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// The argument; there is no result.
    Argument,
    /// The result, -1 for nothing; there is no argument.
    Removed,
    /// The result; there is no argument.
    Read,
    /// The argument; the result is a truth value.
    Member(Answer),
}

/// Where the result of an operation of a set comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    /// It succeeded, unless a column says otherwise.
    Success,
    /// From the name of the method.
    Named(bool),
    /// Only from a column.
    Column,
}

const ANSWER: &str = "`contains_true`, `contains_false`, or `contains value result start end`";

impl Role {
    fn of(method: &str, set: bool) -> Option<Role> {
        let name = method.to_ascii_lowercase();
        match name.as_str() {
            "contains_true" => return Some(Role::Member(Answer::Named(true))),
            "contains_false" => return Some(Role::Member(Answer::Named(false))),
            "contains" => return Some(Role::Member(Answer::Column)),
            "add" | "insert" | "remove" | "delete" if set => return Some(Role::Member(Answer::Success)),
            "read" | "get" | "load" => return Some(Role::Read),
            _ => {}
        }
        let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
        if begins(&["enq", "push", "insert", "add", "offer", "put", "write", "store", "send", "append"]) {
            Some(Role::Argument)
        } else if begins(&["deq", "pop", "poll", "remove", "take", "recv", "peek", "front", "top", "back"]) {
            Some(Role::Removed)
        } else {
            None
        }
    }

    /// The argument and the result; the error is the offset of an answer that is none.
    fn place(self, value: Value, answer: Option<Word<'_>>) -> Result<(Value, Value), usize> {
        Ok(match self {
            Role::Argument => (value, Value::Nil),
            Role::Removed if value == Value::Int(-1) => (Value::Nil, Value::Nil),
            Role::Removed | Role::Read => (Value::Nil, value),
            Role::Member(known) => {
                let answer = match (answer, known) {
                    (Some((_, "1")), _) => true,
                    (Some((_, "0")), _) => false,
                    (Some((at, _)), _) => return Err(at),
                    (None, Answer::Named(answer)) => answer,
                    (None, Answer::Success | Answer::Column) => true,
                };
                (value, Value::Bool(answer))
            }
        })
    }
}

/// The object that a comment declares, under the name that the program has for it.
pub(super) fn object(line: &str) -> Option<&'static str> {
    Some(match line.trim_ascii().strip_prefix('#')?.trim_ascii() {
        "queue" => "queue",
        "stack" => "stack",
        "deque" => "deque",
        "priorityqueue" | "priority-queue" | "pqueue" => "priority-queue",
        "set" => "set",
        "bag" => "bag",
        "register" => "register",
        _ => return None,
    })
}

/// Whether the line is an operation of this format.
pub(super) fn is_operation(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace();
    let known = words.next().is_some_and(|method| Role::of(method, false).is_some());
    known && words.next().is_some() && {
        let rest: Vec<&str> = words.take(4).collect();
        matches!(rest.len(), 2 | 3) && rest.iter().all(|word| word::is_integer(word))
    }
}

#[cfg(test)]
mod tests;
