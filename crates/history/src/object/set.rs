//! Each value is inside once or not at all.
//!
//! Invariant: a state is sorted and without duplicates. A log of a set is split by element before it is checked, so a
//! state rarely holds more than one.

use super::method::{self, Method};
use super::{Misuse, Object, applied};
use crate::{Elements, Spec, Traffic, Value};

/// A set. Adding answers whether the value was absent, removing whether it was present; a log that does not record these
/// answers has nil for them, which fits both.
#[derive(Clone, Copy, Debug, Default)]
pub struct Set;

/// A call of a set.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// Puts a value in.
    Add(Value),
    /// Takes a value out.
    Remove(Value),
    /// Asks for a value.
    Contains(Value),
}

const METHODS: &[Method] = &[
    Method::new("add", &["insert", "put"]),
    Method::new("remove", &["delete", "erase", "del"]),
    Method::new("contains", &["has", "member", "is_member", "exists", "find", "search", "lookup"]),
];

impl Spec for Set {
    type State = Vec<Value>;
    type Input = Input;
    type Output = Value;

    fn initial(&self) -> Self::State {
        Vec::new()
    }

    fn apply(&self, state: &Self::State, input: &Input, out: &mut Vec<(Value, Self::State)>) {
        applied(self, state, input, out);
    }

    fn step(&self, state: &Self::State, input: &Input, output: Option<&Value>, next: &mut Vec<Self::State>) {
        let (Input::Add(value) | Input::Remove(value) | Input::Contains(value)) = input;
        let place = state.binary_search(value);
        if !output.is_none_or(|seen| seen.is_nil() || *seen == answer(input, place.is_ok())) {
            return;
        }
        let mut after = state.clone();
        match (input, place) {
            (Input::Add(_), Err(place)) => after.insert(place, value.clone()),
            (Input::Remove(_), Ok(place)) => {
                after.remove(place);
            }
            _ => {}
        }
        next.push(after);
    }

    fn answers(&self, state: &Self::State, input: &Input, answers: &mut Vec<Value>) {
        let (Input::Add(value) | Input::Remove(value) | Input::Contains(value)) = input;
        answers.push(answer(input, state.binary_search(value).is_ok()));
    }

    fn is_pure(&self, input: &Input, output: &Value) -> bool {
        match input {
            Input::Add(_) | Input::Remove(_) => *output == Value::Bool(false),
            Input::Contains(_) => true,
        }
    }
}

/// What the call answers when its value is present or not.
fn answer(input: &Input, present: bool) -> Value {
    Value::Bool(match input {
        Input::Add(_) => !present,
        Input::Remove(_) | Input::Contains(_) => present,
    })
}

impl Object for Set {
    fn methods(&self) -> &'static [Method] {
        METHODS
    }

    fn input(&self, method: &str, argument: &Value) -> Result<Input, Misuse> {
        match method::find(METHODS, method)? {
            "add" => method::value(argument).map(Input::Add),
            "remove" => method::value(argument).map(Input::Remove),
            _ => method::value(argument).map(Input::Contains),
        }
    }

    fn admits(&self, input: &Input, output: &Value) -> Result<(), Misuse> {
        match input {
            Input::Add(_) | Input::Remove(_) => method::truth_or_nothing(output),
            Input::Contains(_) => method::truth(output),
        }
    }
}

impl Elements for Set {
    type Element = Value;

    fn traffic<'a>(&'a self, input: &'a Input, output: Option<&'a Value>) -> Traffic<&'a Value> {
        match (input, output) {
            (Input::Add(value), Some(Value::Bool(false))) | (Input::Contains(value), Some(Value::Bool(true))) => {
                Traffic::Seen(value)
            }
            (Input::Add(value), _) => Traffic::In(value),
            (Input::Remove(value), Some(Value::Bool(true))) => Traffic::Out(value),
            _ => Traffic::None,
        }
    }

    fn insertion(&self, element: &Value) -> Option<Input> {
        Some(Input::Add(element.clone()))
    }

    fn method_name(&self, input: &Input) -> String {
        let name = match input {
            Input::Add(_) => "add",
            Input::Remove(_) => "remove",
            Input::Contains(_) => "contains",
        };
        name.to_owned()
    }
}
