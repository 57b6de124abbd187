//! A pool: what is put in comes out once, in any order.
//!
//! Invariant: a state is sorted, so equal contents are equal states; it never holds nil, which is the answer of an empty
//! bag. Removing is nondeterministic: one successor for each different value inside.

use super::method::{self, Method};
use super::{Misuse, Object, applied};
use crate::{Spec, Value};

/// A multiset from which any value may be taken. Removing from an empty one answers nil.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bag;

/// A call of a bag.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// Puts a value in.
    Add(Value),
    /// Takes some value out.
    Remove,
    /// Asks for a value.
    Contains(Value),
}

const METHODS: &[Method] = &[
    Method::new("add", &["put", "insert", "push", "offer", "enq", "enqueue", "send"]),
    Method::new("remove", &["take", "poll", "pop", "deq", "dequeue", "remove_any", "recv"]),
    Method::new("contains", &["has", "member"]),
];

fn without(state: &[Value], place: usize) -> Vec<Value> {
    [&state[..place], &state[place + 1..]].concat()
}

/// The places of the first of each run of equal values.
fn different(state: &[Value]) -> impl Iterator<Item = usize> + '_ {
    (0..state.len()).filter(|&i| i == 0 || state[i - 1] != state[i])
}

impl Spec for Bag {
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
        match (input, output) {
            (Input::Add(value), _) => {
                let mut after = state.clone();
                after.insert(state.partition_point(|other| other < value), value.clone());
                next.push(after);
            }
            (Input::Remove, None | Some(Value::Nil)) if state.is_empty() => next.push(Vec::new()),
            (Input::Remove, None) => next.extend(different(state).map(|place| without(state, place))),
            (Input::Remove, Some(value)) => {
                if let Ok(place) = state.binary_search(value) {
                    next.push(without(state, place));
                }
            }
            (Input::Contains(value), _) => {
                let present = Value::Bool(state.binary_search(value).is_ok());
                if output.is_none_or(|seen| *seen == present) {
                    next.push(state.clone());
                }
            }
        }
    }

    fn answers(&self, state: &Self::State, input: &Input, answers: &mut Vec<Value>) {
        match input {
            Input::Add(_) => answers.push(Value::Nil),
            Input::Remove if state.is_empty() => answers.push(Value::Nil),
            Input::Remove => answers.extend(different(state).map(|place| state[place].clone())),
            Input::Contains(value) => answers.push(Value::Bool(state.binary_search(value).is_ok())),
        }
    }

    fn is_pure(&self, input: &Input, output: &Value) -> bool {
        match input {
            Input::Add(_) => false,
            Input::Remove => output.is_nil(),
            Input::Contains(_) => true,
        }
    }
}

impl Object for Bag {
    fn methods(&self) -> &'static [Method] {
        METHODS
    }

    fn input(&self, method: &str, argument: &Value) -> Result<Input, Misuse> {
        match method::find(METHODS, method)? {
            "add" => method::value(argument).map(Input::Add),
            "remove" => method::nothing(argument, Input::Remove),
            _ => method::value(argument).map(Input::Contains),
        }
    }

    fn admits(&self, input: &Input, output: &Value) -> Result<(), Misuse> {
        match input {
            Input::Add(_) => method::acknowledged(output),
            Input::Remove => Ok(()),
            Input::Contains(_) => method::truth(output),
        }
    }
}
