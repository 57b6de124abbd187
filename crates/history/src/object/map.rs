//! One key of a map.
//!
//! A map is as many independent objects as it has keys, so a log is split by key and the specification knows no key.
//! Invariant: a state holds no nil; an absent key is `None`.

use super::method::{self, Method};
use super::{Misuse, Object, applied};
use crate::{History, Normal, Spec, Value};

/// One key of a map, absent unless stated otherwise.
///
/// - `get` of an absent key answers nil or the empty text: stores that append to texts do not tell the two apart.
/// - `append` puts a text after the text that is there, or after the empty text where the key is absent. To a value that
///   is not a text nothing can be appended: such a call cannot return.
/// - `remove` answers the old value, or whether there was one (true, false), or nil where the log does not record it. So nil
///   says nothing. A removal whose nil means "was absent" is called `take`.
#[derive(Clone, Debug, Default)]
pub struct Map {
    initial: Option<Value>,
}

/// A call of one key of a map.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// Looks at the value.
    Get,
    /// Replaces the value.
    Put(Value),
    /// Puts a text after the text that is there.
    Append(String),
    /// Takes the value out; the answer need not be recorded.
    Remove,
    /// Takes the value out and answers it, nil when there is none.
    Take,
    /// Asks whether there is a value.
    Contains,
}

const METHODS: &[Method] = &[
    Method::new("get", &["lookup"]),
    Method::new("put", &["set", "insert"]),
    Method::new("append", &[]),
    Method::new("remove", &["delete", "del", "erase"]),
    Method::new("take", &["get_and_remove"]),
    Method::new("contains", &["contains_key", "has", "has_key", "exists"]),
];

impl Map {
    /// A key that holds `initial` at first; nil stands for an absent one.
    pub fn new(initial: Value) -> Self {
        Map { initial: Some(initial).filter(|value| !value.is_nil()) }
    }
}

fn is_empty_text(value: &Value) -> bool {
    value.as_text() == Some("")
}

/// The text after `tail` was appended, `None` where there is a value that is no text.
fn appended(state: Option<&Value>, tail: &str) -> Option<Value> {
    match state {
        None => Some(Value::text(tail)),
        Some(Value::Text(text)) => {
            let mut whole = String::with_capacity(text.len() + tail.len());
            whole.push_str(text);
            whole.push_str(tail);
            Some(Value::text(whole))
        }
        Some(_) => None,
    }
}

/// Whether `seen` is an answer to taking out what is there.
fn removal_fits(state: Option<&Value>, seen: &Value) -> bool {
    match state {
        _ if seen.is_nil() => true,
        Some(value) => seen == value || *seen == Value::Bool(true),
        None => *seen == Value::Bool(false),
    }
}

impl Spec for Map {
    type State = Option<Value>;
    type Input = Input;
    type Output = Value;

    fn initial(&self) -> Self::State {
        self.initial.clone()
    }

    fn apply(&self, state: &Self::State, input: &Input, out: &mut Vec<(Value, Self::State)>) {
        applied(self, state, input, out);
    }

    fn step(&self, state: &Self::State, input: &Input, output: Option<&Value>, next: &mut Vec<Self::State>) {
        let value = state.as_ref();
        match input {
            Input::Get => {
                let fits = |seen: &Value| match value {
                    Some(value) => seen == value,
                    None => seen.is_nil() || is_empty_text(seen),
                };
                if output.is_none_or(fits) {
                    next.push(state.clone());
                }
            }
            Input::Put(value) => next.push(Some(value.clone())),
            Input::Append(tail) => next.extend(appended(value, tail).map(Some)),
            Input::Remove => {
                if output.is_none_or(|seen| removal_fits(value, seen)) {
                    next.push(None);
                }
            }
            Input::Take => {
                if output.is_none_or(|seen| seen == value.unwrap_or(&Value::Nil)) {
                    next.push(None);
                }
            }
            Input::Contains => {
                if output.is_none_or(|seen| *seen == Value::Bool(value.is_some())) {
                    next.push(state.clone());
                }
            }
        }
    }

    fn answers(&self, state: &Self::State, input: &Input, answers: &mut Vec<Value>) {
        match (input, state) {
            (Input::Get, None) => answers.extend([Value::Nil, Value::text("")]),
            (Input::Get | Input::Remove | Input::Take, Some(value)) => answers.push(value.clone()),
            (Input::Remove, None) => answers.push(Value::Bool(false)),
            (Input::Take, None) | (Input::Put(_), _) => answers.push(Value::Nil),
            (Input::Append(tail), _) => {
                answers.extend(appended(state.as_ref(), tail).map(|_| Value::Nil));
            }
            (Input::Contains, _) => answers.push(Value::Bool(state.is_some())),
        }
    }

    // A removal that answered false is not pure: the old value may have been false.
    fn is_pure(&self, input: &Input, output: &Value) -> bool {
        match input {
            Input::Get | Input::Contains => true,
            Input::Take => output.is_nil(),
            Input::Put(_) | Input::Append(_) | Input::Remove => false,
        }
    }

    /// A text that is no beginning of any text read will not be read, nor what is appended to it: all such texts are one.
    fn normal<'h>(&self, history: &'h History<Input, Value>) -> Option<Normal<'h, Self::State>> {
        let mut read: Vec<&str> = Vec::new();
        for operation in history.operations() {
            match operation.input {
                Input::Get => read.extend(operation.output().and_then(Value::as_text)),
                Input::Put(_) | Input::Append(_) | Input::Contains => {}
                Input::Remove | Input::Take => return None,
            }
        }
        read.sort_unstable();
        read.dedup();
        // Longer than every text read, so it is no beginning of any.
        let longest = read.iter().max_by_key(|text| text.len()).copied().unwrap_or("");
        let unread = Value::text(format!("{longest}\0"));
        Some(Box::new(move |state| match &state {
            Some(Value::Text(text)) => {
                let at = read.partition_point(|other| **other < ***text);
                let is_beginning = read.get(at).is_some_and(|other| other.starts_with(text.as_str()));
                if is_beginning || text.is_empty() { state } else { Some(unread.clone()) }
            }
            _ => state,
        }))
    }
}

impl Object for Map {
    fn methods(&self) -> &'static [Method] {
        METHODS
    }

    fn input(&self, method: &str, argument: &Value) -> Result<Input, Misuse> {
        match method::find(METHODS, method)? {
            "get" => method::nothing(argument, Input::Get),
            "put" => method::value(argument).map(Input::Put),
            "append" => match argument {
                Value::Text(text) => Ok(Input::Append(text.to_string())),
                found => Err(Misuse::Argument { expected: "a text", found: found.clone() }),
            },
            "remove" => method::nothing(argument, Input::Remove),
            "take" => method::nothing(argument, Input::Take),
            _ => method::nothing(argument, Input::Contains),
        }
    }

    fn admits(&self, input: &Input, output: &Value) -> Result<(), Misuse> {
        match input {
            Input::Put(_) | Input::Append(_) => method::acknowledged(output),
            Input::Get | Input::Remove | Input::Take => Ok(()),
            Input::Contains => method::truth(output),
        }
    }
}
