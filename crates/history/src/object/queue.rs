//! First in, first out.
//!
//! Invariant: a state never holds nil, which is the answer of an empty queue.

use std::collections::VecDeque;

use super::method::{self, Method};
use super::{Misuse, Object, applied, shown, taken};
use crate::{Elements, Spec, Traffic, Value};

/// An unbounded queue. Removing from an empty one answers nil.
#[derive(Clone, Copy, Debug, Default)]
pub struct Queue;

/// A call of a queue.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// Puts a value at the end.
    Enq(Value),
    /// Takes the value at the front.
    Deq,
    /// Looks at the value at the front.
    Peek,
}

const METHODS: &[Method] = &[
    Method::new("enq", &["enqueue", "add", "offer", "put", "push", "send"]),
    Method::new("deq", &["dequeue", "remove", "poll", "take", "pop", "recv", "receive"]),
    Method::new("peek", &["front"]),
];

impl Spec for Queue {
    type State = VecDeque<Value>;
    type Input = Input;
    type Output = Value;

    fn initial(&self) -> Self::State {
        VecDeque::new()
    }

    fn apply(&self, state: &Self::State, input: &Input, out: &mut Vec<(Value, Self::State)>) {
        applied(self, state, input, out);
    }

    fn step(&self, state: &Self::State, input: &Input, output: Option<&Value>, next: &mut Vec<Self::State>) {
        match input {
            Input::Enq(value) => {
                let mut after = state.clone();
                after.push_back(value.clone());
                next.push(after);
            }
            Input::Deq => {
                if output.is_none_or(|seen| *seen == *state.front().unwrap_or(&Value::Nil)) {
                    let mut after = state.clone();
                    after.pop_front();
                    next.push(after);
                }
            }
            Input::Peek => {
                if output.is_none_or(|seen| *seen == *state.front().unwrap_or(&Value::Nil)) {
                    next.push(state.clone());
                }
            }
        }
    }

    fn answers(&self, state: &Self::State, input: &Input, answers: &mut Vec<Value>) {
        answers.push(match input {
            Input::Enq(_) => Value::Nil,
            Input::Deq | Input::Peek => state.front().cloned().unwrap_or_default(),
        });
    }

    fn is_pure(&self, input: &Input, output: &Value) -> bool {
        match input {
            Input::Enq(_) => false,
            Input::Deq => output.is_nil(),
            Input::Peek => true,
        }
    }
}

impl Object for Queue {
    fn methods(&self) -> &'static [Method] {
        METHODS
    }

    fn input(&self, method: &str, argument: &Value) -> Result<Input, Misuse> {
        match method::find(METHODS, method)? {
            "enq" => method::value(argument).map(Input::Enq),
            "deq" => method::nothing(argument, Input::Deq),
            _ => method::nothing(argument, Input::Peek),
        }
    }

    fn admits(&self, input: &Input, output: &Value) -> Result<(), Misuse> {
        match input {
            Input::Enq(_) => method::acknowledged(output),
            Input::Deq | Input::Peek => Ok(()),
        }
    }
}

impl Elements for Queue {
    type Element = Value;

    fn traffic<'a>(&'a self, input: &'a Input, output: Option<&'a Value>) -> Traffic<&'a Value> {
        match input {
            Input::Enq(value) => Traffic::In(value),
            Input::Deq => taken(output),
            Input::Peek => shown(output),
        }
    }

    fn calls(&self) -> Vec<Input> {
        vec![Input::Deq, Input::Peek]
    }

    fn insertion(&self, element: &Value) -> Option<Input> {
        Some(Input::Enq(element.clone()))
    }

    fn ahead(&self, state: &Self::State, element: &Value) -> usize {
        state.iter().position(|other| other == element).unwrap_or(0)
    }

    fn is_first_in_first_out(&self) -> bool {
        true
    }

    fn method_name(&self, input: &Input) -> String {
        let name = match input {
            Input::Enq(_) => "enq",
            Input::Deq => "deq",
            Input::Peek => "peek",
        };
        name.to_owned()
    }
}
