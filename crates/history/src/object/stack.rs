//! Last in, first out.
//!
//! Invariant: a state never holds nil, which is the answer of an empty stack.

use super::method::{self, Method};
use super::{Misuse, Object, applied, shown, taken};
use crate::{Elements, Spec, Traffic, Value};

/// An unbounded stack. Removing from an empty one answers nil.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stack;

/// A call of a stack.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// Puts a value on top.
    Push(Value),
    /// Takes the value on top.
    Pop,
    /// Looks at the value on top.
    Peek,
}

const METHODS: &[Method] =
    &[Method::new("push", &["add", "put"]), Method::new("pop", &["remove", "take"]), Method::new("peek", &["top"])];

impl Spec for Stack {
    /// From the bottom to the top.
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
        let fits = || output.is_none_or(|seen| *seen == *state.last().unwrap_or(&Value::Nil));
        match input {
            Input::Push(value) => {
                let mut after = Vec::with_capacity(state.len() + 1);
                after.extend_from_slice(state);
                after.push(value.clone());
                next.push(after);
            }
            Input::Pop if fits() => next.push(state[..state.len().saturating_sub(1)].to_vec()),
            Input::Peek if fits() => next.push(state.clone()),
            Input::Pop | Input::Peek => {}
        }
    }

    fn answers(&self, state: &Self::State, input: &Input, answers: &mut Vec<Value>) {
        answers.push(match input {
            Input::Push(_) => Value::Nil,
            Input::Pop | Input::Peek => state.last().cloned().unwrap_or_default(),
        });
    }

    fn is_pure(&self, input: &Input, output: &Value) -> bool {
        match input {
            Input::Push(_) => false,
            Input::Pop => output.is_nil(),
            Input::Peek => true,
        }
    }
}

impl Object for Stack {
    fn methods(&self) -> &'static [Method] {
        METHODS
    }

    fn input(&self, method: &str, argument: &Value) -> Result<Input, Misuse> {
        match method::find(METHODS, method)? {
            "push" => method::value(argument).map(Input::Push),
            "pop" => method::nothing(argument, Input::Pop),
            _ => method::nothing(argument, Input::Peek),
        }
    }

    fn admits(&self, input: &Input, output: &Value) -> Result<(), Misuse> {
        match input {
            Input::Push(_) => method::acknowledged(output),
            Input::Pop | Input::Peek => Ok(()),
        }
    }
}

impl Elements for Stack {
    type Element = Value;

    fn traffic<'a>(&'a self, input: &'a Input, output: Option<&'a Value>) -> Traffic<&'a Value> {
        match input {
            Input::Push(value) => Traffic::In(value),
            Input::Pop => taken(output),
            Input::Peek => shown(output),
        }
    }

    fn calls(&self) -> Vec<Input> {
        vec![Input::Pop, Input::Peek]
    }

    fn insertion(&self, element: &Value) -> Option<Input> {
        Some(Input::Push(element.clone()))
    }

    fn ahead(&self, state: &Self::State, element: &Value) -> usize {
        state.iter().rev().position(|other| other == element).unwrap_or(0)
    }

    fn method_name(&self, input: &Input) -> String {
        let name = match input {
            Input::Push(_) => "push",
            Input::Pop => "pop",
            Input::Peek => "peek",
        };
        name.to_owned()
    }
}
